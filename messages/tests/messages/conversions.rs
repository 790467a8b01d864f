//! Values of messages that executors have in another form.

use ringspin_executor::Time;
use ringspin_executor::action::GoalStatus;
use ringspin_executor::action::messages::{
    CancelGoalResponse, CancelReturnCode, GoalId, GoalInfo, GoalStatusArray,
};
use ringspin_messages::action_msgs::{msg, srv::CancelGoal};
use ringspin_messages::builtin_interfaces::msg::Time as Stamp;
use ringspin_messages::rcl_interfaces::msg::{Parameter, ParameterDescriptor, ParameterValue};
use ringspin_messages::rcl_interfaces::srv::ListParameters;
use ringspin_messages::unique_identifier_msgs::msg::UUID;
use ringspin_messages::{ParameterService, ParameterStore, goal_status};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn stamps_are_nanoseconds_since_the_epoch() {
    for (sec, nanosec, ns) in [(0, 0, 0), (0, 1, 1), (1, 2, 1_000_000_002)] {
        let stamp = Stamp { sec, nanosec };
        assert_eq!(stamp.checked_to_time(), Some(Time::from_nanos(ns)));
        assert_eq!(Stamp::from_time(Time::from_nanos(ns)), stamp);
    }
    let last = Time::from_nanos(i32::MAX as u64 * SECOND_NS + 999_999_999);
    assert_eq!(Stamp::from_time(last).to_time(), last);
    assert_eq!(Stamp::from_time(Time::MAX).sec, i32::MAX);
    for nanosec in [5, u32::MAX] {
        let before = Stamp { sec: -1, nanosec };
        assert_eq!((before.checked_to_time(), before.to_time()), (None, Time::ZERO));
    }
}

#[test]
fn values_of_goals_out_of_range_are_converted() {
    let info = |sec, nanosec| {
        let stamp = Stamp { sec, nanosec };
        GoalInfo::from(&msg::GoalInfo { stamp, goal_id: UUID { uuid: vec![1; 3] } })
    };
    // Not zero: that would cancel all goals.
    assert_eq!([5, u32::MAX].map(|nanosec| info(-1, nanosec).stamp), [Time::from_nanos(1); 2]);
    let last = i32::MAX as u64 * SECOND_NS + u64::from(u32::MAX);
    assert_eq!(info(i32::MAX, u32::MAX).stamp.as_nanos(), last);
    assert_eq!(info(0, 0).goal_id, GoalId::ZERO);
    let status_list = vec![msg::GoalStatus { status: 7, ..Default::default() }];
    let array = GoalStatusArray::from(msg::GoalStatusArray { status_list });
    assert_eq!(array.status_list[0].status, GoalStatus::Unknown);
    let response = CancelGoal::Response { return_code: -1, ..Default::default() };
    assert_eq!(CancelGoalResponse::from(response).return_code, CancelReturnCode::Rejected);
}

struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines that `log` writes.
fn logged(log: impl FnOnce()) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let writer = lines.clone();
    let writer = move || Lines(writer.clone());
    let subscriber = tracing_subscriber::fmt().with_writer(writer).without_time().with_ansi(false);
    tracing::subscriber::with_default(subscriber.finish(), log);
    let text = String::from_utf8(lines.lock().unwrap().clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_code_comes_back_and_only_an_unknown_one_is_logged() {
    let cancel = |return_code| {
        let response = CancelGoal::Response { return_code, ..Default::default() };
        CancelGoalResponse::from(response).return_code as i8
    };
    let known = logged(|| {
        (0..4).for_each(|code| assert_eq!(cancel(code), code));
        (0..7).for_each(|code| assert_eq!(goal_status(code).to_rcl(), code));
    });
    assert_eq!(known, [""; 0]);
    let unknown = logged(|| {
        cancel(9);
        goal_status(-3);
    });
    assert_eq!(unknown.len(), 2, "{unknown:?}");
    assert!(unknown[0].contains("WARN") && unknown[0].contains("code=9"), "{unknown:?}");
    assert!(unknown[1].contains("WARN") && unknown[1].contains("code=-3"), "{unknown:?}");
}

struct Names;

impl ParameterStore for Names {
    fn names(&self) -> Vec<String> {
        ["a", "a.b", "a.b.c", "ab", "d.e"].map(String::from).into()
    }

    fn get(&self, _: &[String]) -> Vec<ParameterValue> {
        Vec::new()
    }

    fn describe(&self, _: &[String]) -> Vec<ParameterDescriptor> {
        Vec::new()
    }

    fn set_all(&self, _: Vec<Parameter>) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn prefixes_and_depth_choose_the_listed_parameters() {
    let listed = |prefixes: &[&str], depth| {
        let prefixes = prefixes.iter().map(ToString::to_string).collect();
        let request = ListParameters::Request { prefixes, depth };
        <ListParameters::Service as ParameterService>::answer(&Names, request).result
    };
    assert_eq!(listed(&[], 0).names.join(" "), "a a.b a.b.c ab d.e");
    assert_eq!(listed(&[], 0).prefixes, ["a", "a.b", "d"]);
    assert_eq!(listed(&[], 1).names.join(" "), "a ab");
    assert_eq!(listed(&[], 2).names.join(" "), "a a.b ab d.e");
    assert_eq!(listed(&["a"], 0).names.join(" "), "a a.b a.b.c");
    assert_eq!(listed(&["a"], 1).names.join(" "), "a a.b");
    assert_eq!(listed(&["a.b", "d"], 1).names.join(" "), "a.b a.b.c d.e");
    assert_eq!(listed(&["c"], 0).names.join(" "), "");
}
