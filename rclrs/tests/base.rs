//! Times and clocks, errors, and quality of service.

use rclrs::{
    Clock, ClockType, IntoPrimitiveOptions, PrimitiveOptions, QOS_PROFILE_CLOCK,
    QoSDurabilityPolicy, QoSDuration, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy,
    RclReturnCode, RclrsError, RclrsErrorFilter, TakeFailedAsNone, Time,
};
use std::error::Error;
use std::ffi::CString;
use std::sync::Weak;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn error(code: RclReturnCode) -> RclrsError {
    RclrsError::RclError { code, msg: None }
}

fn time(nsec: i64) -> Time {
    Time { nsec, clock: Weak::new() }
}

#[test]
fn a_clock_with_a_source_shows_its_time_and_then_the_system_time() {
    let (clock, source) = Clock::with_source();
    let clone = clock.clone();
    assert_eq!(clock.now().nsec, 0);
    source.set_ros_time_override(1234);
    assert_eq!((clock.now().nsec, clone.now().nsec), (1234, 1234));
    source.set_ros_time_override(-5);
    assert_eq!(clock.now().nsec, -5);
    drop(source);
    assert!(clock.now().nsec > 1_700_000_000_000_000_000);
}

#[test]
fn only_clocks_of_ros_time_have_a_source() {
    assert!(Clock::new(ClockType::SystemTime).1.is_none());
    assert!(Clock::new(ClockType::SteadyTime).1.is_none());
    let (first, second) = (Clock::new(ClockType::RosTime), Clock::new(ClockType::RosTime));
    assert!(matches!(first.0.clock_type(), ClockType::RosTime));
    assert!(first.1.is_some() && first.1 == first.1 && first.1 != second.1);
}

#[test]
fn times_compare_only_within_one_clock() {
    for (clock, other) in [(Clock::system(), Clock::system()), (Clock::steady(), Clock::steady())] {
        let (first, second) = (clock.now(), clock.clone().now());
        assert_eq!(first.compare_with(&second, |first, second| first <= second), Some(true));
        assert_eq!((first + MS).compare_with(&(second + 2 * MS), |a, b| a < b), Some(true));
        assert_eq!(clock.now().compare_with(&other.now(), |_, _| ()), None);
    }
}

#[test]
fn sums_and_differences_of_times_saturate() {
    let (clock, _source) = Clock::with_source();
    let later = clock.now() + Duration::from_secs(1);
    assert_eq!(later.nsec, 1_000_000_000);
    assert_eq!((later.clone() - Duration::from_secs(3)).nsec, -2_000_000_000);
    assert_eq!((later.clone() + Duration::MAX).nsec, i64::MAX);
    assert_eq!((time(-2) - Duration::MAX).nsec, i64::MIN);
    assert_eq!((time(i64::MIN) - MS).nsec, i64::MIN);
}

#[test]
fn messages_have_nanoseconds_after_rounded_down_seconds() {
    assert_eq!(time(1_000_000_100).to_sec_nanosec(), Ok((1, 100)));
    assert_eq!(time(-500_000_000).to_sec_nanosec(), Ok((-1, 500_000_000)));
    let message = time(7_000_000_008).to_ros_msg().unwrap();
    assert_eq!((message.sec, message.nanosec), (7, 8));
    assert!(time(i64::MAX).to_ros_msg().is_err());
    assert!(time(i64::MIN).to_ros_msg().is_err());
}

#[test]
fn filters_drop_timeouts_and_failed_takes() {
    let errors = || {
        vec![
            error(RclReturnCode::Timeout),
            error(RclReturnCode::ClientTakeFailed),
            error(RclReturnCode::NodeInvalid),
            error(RclReturnCode::ServiceTakeFailed),
        ]
    };
    let node = || error(RclReturnCode::NodeInvalid);
    assert_eq!(errors().first_error(), Err(error(RclReturnCode::Timeout)));
    assert_eq!(errors().timeout_ok().len(), 3);
    assert_eq!(errors().take_failed_ok(), [error(RclReturnCode::Timeout), node()]);
    assert_eq!(errors().ignore_non_errors().first_error(), Err(node()));
    assert_eq!(Vec::new().ignore_non_errors().first_error(), Ok(()));
    assert_eq!(Err(error(RclReturnCode::Timeout)).timeout_ok(), Ok(()));
    assert_eq!(Err(error(RclReturnCode::EventTakeFailed)).ignore_non_errors(), Ok(()));
    assert_eq!(Err(node()).ignore_non_errors().first_error(), Err(node()));
}

#[test]
fn a_failed_take_is_none() {
    let failed = Err::<u8, _>(error(RclReturnCode::SubscriptionTakeFailed));
    assert_eq!(failed.take_failed_as_none(), Ok(None));
    assert_eq!(Ok(3).take_failed_as_none(), Ok(Some(3)));
    let timeout = error(RclReturnCode::Timeout);
    assert_eq!(Err::<u8, _>(timeout.clone()).take_failed_as_none(), Err(timeout));
}

#[test]
fn codes_have_their_numbers_and_constants() {
    assert_eq!(RclReturnCode::try_from(103), Ok(RclReturnCode::TopicNameInvalid));
    assert_eq!(RclReturnCode::try_from(3001), Ok(RclReturnCode::LifecycleStateNotRegistered));
    assert_eq!(RclReturnCode::try_from(12), Err(12));
    assert_eq!(RclReturnCode::ActionServerTakeFailed as i32, 2201);
    let text = error(RclReturnCode::NodeInvalidName).to_string();
    assert_eq!(text, "invalid node name (RCL_RET_NODE_INVALID_NAME)");
}

#[test]
fn a_nul_byte_is_named_with_its_position() {
    let err = CString::new("a\0b").unwrap_err();
    let error = RclrsError::StringContainsNul { s: "a\0b".into(), err };
    assert_eq!(error.to_string(), r#"failed to use "a\0b": it contains a nul byte at 1"#);
    assert!(error.source().is_some());
}

#[test]
fn options_replace_only_policies_that_are_set() {
    let mut qos = QoSProfile::sensor_data_default();
    "scan".into_primitive_options().apply_to(&mut qos);
    assert_eq!(qos, QoSProfile::sensor_data_default());
    let topic = String::from("scan");
    let options = topic.keep_last(3).transient_local().deadline_duration(MS);
    options.no_deadline().lifespan_duration(2 * MS).apply_to(&mut qos);
    assert_eq!(qos.history, QoSHistoryPolicy::KeepLast { depth: 3 });
    assert_eq!(qos.reliability, QoSReliabilityPolicy::BestEffort);
    assert_eq!(qos.durability, QoSDurabilityPolicy::TransientLocal);
    assert_eq!(qos.deadline, QoSDuration::Infinite);
    assert_eq!(qos.lifespan, QoSDuration::Custom(2 * MS));
}

#[test]
fn a_profile_sets_all_policies_of_the_options() {
    let mut qos = QoSProfile::best_available();
    PrimitiveOptions::new("clock").keep_all().qos(QOS_PROFILE_CLOCK).apply_to(&mut qos);
    assert_eq!(qos, QoSProfile::sensor_data_default().keep_last(1));
    assert!("raw".avoid_ros_namespace_conventions().topics_qos().reliable().name == "raw");
}

#[test]
fn profiles_have_the_values_of_rclrs() {
    let default = QoSProfile::default();
    assert_eq!(default, QoSProfile::topics_default());
    assert_eq!(default, QoSProfile::services_default());
    assert_eq!(default.keep_last(1000), QoSProfile::parameter_services_default());
    assert_eq!(default.keep_all(), QoSProfile::parameter_events_default());
    assert_eq!(default.keep_last(1).transient_local(), QoSProfile::action_status_default());
    assert_eq!(default.keep_last(5).best_effort(), QoSProfile::sensor_data_default());
    let system = QoSProfile::system_default().keep_last(10).reliable().volatile();
    assert_eq!(system, default);
}
