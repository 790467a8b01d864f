//! Timers: callbacks in every form, and their exchange, cancellation and clocks.

mod common;

use common::{LONG, node, spin_until};
use futures::channel::oneshot;
use rclrs::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(1);

/// Spins for `calls` periods of a timer.
fn spin_for_periods(executor: &mut Executor, node: &Node, calls: usize) {
    let (sender, promise) = oneshot::channel();
    let (mut sender, mut count) = (Some(sender), 0);
    let count = move || {
        count += 1;
        if count >= calls {
            sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
        }
    };
    let timer = node.create_timer_repeating(PERIOD, count).unwrap();
    spin_until(executor, promise);
    drop(timer);
}

/// The number of calls of each callback.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Calls {
    fn note(&self, name: &'static str) {
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }

    fn of(&self, name: &'static str) -> usize {
        self.0.lock().unwrap().get(name).copied().unwrap_or(0)
    }

    /// A callback that is counted.
    fn counted(&self, name: &'static str) -> impl Fn() + Send + use<> {
        let calls = self.clone();
        move || calls.note(name)
    }
}

fn is_error<T: std::fmt::Debug>(result: Result<T, RclrsError>, wanted: RclReturnCode) -> bool {
    matches!(result, Err(RclrsError::RclError { code, .. }) if code == wanted)
}

#[test]
fn callbacks_of_a_node_are_called_in_every_form() {
    let (mut executor, node) = node();
    let calls = Calls::default();
    let (r_timer, r_time) = (calls.counted("r timer"), calls.counted("r time"));
    let (o_timer, o_time) = (calls.counted("o timer"), calls.counted("o time"));
    let _timers = [
        node.create_timer_repeating(PERIOD, calls.counted("r")),
        node.create_timer_repeating(PERIOD, move |timer: &Timer| {
            assert_eq!(timer.get_timer_period(), Ok(PERIOD));
            r_timer();
        }),
        node.create_timer_repeating(PERIOD, move |time: Time| {
            assert!(time.nsec > 0);
            r_time();
        }),
        node.create_timer_oneshot(PERIOD, calls.counted("o")),
        node.create_timer_oneshot(PERIOD, move |_: &Timer| o_timer()),
        node.create_timer_oneshot(PERIOD, move |_: Time| o_time()),
    ]
    .map(Result::unwrap);
    while ["r", "r timer", "r time"].iter().any(|name| calls.of(name) < 3) {
        spin_for_periods(&mut executor, &node, 3);
    }
    assert_eq!(["o", "o timer", "o time"].map(|name| calls.of(name)), [1, 1, 1]);
}

#[test]
fn callbacks_of_a_worker_are_called_in_every_form() {
    let (mut executor, node) = node();
    let worker = node.create_worker::<BTreeMap<&'static str, usize>>(BTreeMap::new());
    type Payload = BTreeMap<&'static str, usize>;
    fn note(payload: &mut Payload, name: &'static str) {
        *payload.entry(name).or_default() += 1;
    }
    let calls = Calls::default();
    let _timers = [
        worker.create_timer_repeating(PERIOD, calls.counted("r")),
        worker.create_timer_repeating(PERIOD, |it: &mut Payload| note(it, "r payload")),
        worker.create_timer_repeating(PERIOD, |it: &mut Payload, _: &WorkerTimer<Payload>| {
            note(it, "r timer");
        }),
        worker.create_timer_repeating(PERIOD, |it: &mut Payload, _: Time| note(it, "r time")),
        worker.create_timer_oneshot(PERIOD, calls.counted("o")),
        worker.create_timer_oneshot(PERIOD, |it: &mut Payload| note(it, "o payload")),
        worker.create_timer_oneshot(PERIOD, |it: &mut Payload, _: &WorkerTimer<Payload>| {
            note(it, "o timer");
        }),
        worker.create_timer_oneshot(PERIOD, |it: &mut Payload, _: Time| note(it, "o time")),
    ]
    .map(Result::unwrap);
    // A listener sees the payload after each call.
    let names = ["r payload", "r timer", "r time"];
    let all = worker.listen_until(move |payload| {
        let is_called = |name| payload.get(name).is_some_and(|calls| *calls >= 3);
        names.iter().all(is_called).then(|| payload.clone())
    });
    let (mut all, notice) = executor.commands().create_notice(all);
    spin_until(&mut executor, notice);
    let payload = all.try_recv().unwrap().unwrap();
    assert_eq!(["o payload", "o timer", "o time"].map(|name| payload[name]), [1, 1, 1]);
    assert!(calls.of("r") >= 2);
    assert_eq!(calls.of("o"), 1);
}

#[test]
fn an_inert_timer_is_given_callbacks() {
    let (mut executor, node) = node();
    let calls = Calls::default();
    let timer = node.create_timer_inert(PERIOD).unwrap();
    spin_for_periods(&mut executor, &node, 3);
    assert!(matches!(timer.set_repeating(calls.counted("first")), Some(AnyTimerCallback::Inert)));
    while calls.of("first") < 2 {
        spin_for_periods(&mut executor, &node, 1);
    }
    let before = timer.set_oneshot(calls.counted("second"));
    assert!(matches!(before, Some(AnyTimerCallback::Repeating(_))));
    let first = calls.of("first");
    while calls.of("second") < 1 {
        spin_for_periods(&mut executor, &node, 1);
    }
    spin_for_periods(&mut executor, &node, 3);
    assert_eq!((calls.of("first"), calls.of("second")), (first, 1));
    assert!(matches!(timer.set_repeating(calls.counted("third")), Some(AnyTimerCallback::Inert)));
    let before = timer.set_inert();
    assert!(matches!(before, Some(AnyTimerCallback::Repeating(_))));
    spin_for_periods(&mut executor, &node, 3);
    assert_eq!(calls.of("third"), 0);
    assert!(!timer.is_canceled().unwrap());
}

#[test]
fn a_callback_replaces_itself() {
    let (mut executor, node) = node();
    let (sender, promise) = oneshot::channel();
    let calls = Calls::default();
    let noted = calls.clone();
    let _timer = node.create_timer_repeating(PERIOD, {
        let mut sender = Some(sender);
        move |timer: &Timer| {
            noted.note("first");
            let (noted, sender) = (noted.clone(), sender.take());
            let before = timer.set_oneshot(move |timer: &Timer| {
                noted.note("second");
                let mut sender = sender;
                let before = timer.set_repeating(move || {
                    noted.note("third");
                    sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
                });
                assert!(before.is_none());
            });
            assert!(before.is_none());
        }
    });
    spin_until(&mut executor, promise);
    assert_eq!(["first", "second"].map(|name| calls.of(name)), [1, 1]);
    assert!(calls.of("third") >= 1);
}

#[test]
fn a_callback_of_a_worker_replaces_itself() {
    let (mut executor, node) = node();
    let worker = node.create_worker::<Vec<usize>>(Vec::new());
    type Payload = Vec<usize>;
    let timer = worker.create_timer_inert(PERIOD).unwrap();
    let before = timer.set_worker_oneshot(|seen: &mut Payload, timer: &WorkerTimer<Payload>| {
        seen.push(1);
        let before = timer.set_worker_repeating(|seen: &mut Payload| seen.push(2));
        assert!(before.is_none());
    });
    assert!(matches!(before, Some(AnyTimerCallback::Inert)));
    let full = worker.listen_until(|seen| (seen.len() >= 3).then(|| seen.clone()));
    let (mut full, notice) = executor.commands().create_notice(full);
    spin_until(&mut executor, notice);
    assert_eq!(full.try_recv().unwrap().unwrap(), [1, 2, 2]);
}

#[test]
fn a_cancelled_timer_waits_for_its_reset() {
    let (mut executor, node) = node();
    let calls = Calls::default();
    let early = node.create_timer_repeating(PERIOD, calls.counted("early")).unwrap();
    early.cancel().unwrap();
    let noted = calls.clone();
    let cancels = move |timer: &Timer| {
        timer.cancel().unwrap();
        assert!(timer.is_canceled().unwrap());
        noted.note("own");
    };
    let own = node.create_timer_repeating(PERIOD, cancels).unwrap();
    assert!(early.is_canceled().unwrap() && !own.is_canceled().unwrap());
    while calls.of("own") < 1 {
        spin_for_periods(&mut executor, &node, 1);
    }
    spin_for_periods(&mut executor, &node, 3);
    assert_eq!((calls.of("early"), calls.of("own")), (0, 1));
    for timer in [&early, &own] {
        assert!(timer.is_canceled().unwrap() && !timer.is_ready().unwrap());
        assert!(is_error(timer.time_until_next_call(), RclReturnCode::TimerCanceled));
        timer.reset().unwrap();
        assert!(!timer.is_canceled().unwrap());
    }
    while calls.of("early") < 2 || calls.of("own") < 2 {
        spin_for_periods(&mut executor, &node, 1);
    }
    assert!(own.is_canceled().unwrap() && !early.is_canceled().unwrap());
}

#[test]
fn a_reset_before_the_spin_counts_from_now() {
    let (mut executor, node) = node();
    let calls = Calls::default();
    let timer = node.create_timer_repeating(LONG, calls.counted("late")).unwrap();
    assert_eq!(timer.time_until_next_call(), Ok(LONG));
    timer.cancel().unwrap();
    timer.reset().unwrap();
    spin_for_periods(&mut executor, &node, 3);
    assert_eq!(calls.of("late"), 0);
    let left = timer.time_until_next_call().unwrap();
    assert!(!timer.is_ready().unwrap() && left > Duration::ZERO && left <= LONG);
}

#[test]
fn times_of_calls_are_noted() {
    let (mut executor, node) = node();
    let timer = node.create_timer_inert(PERIOD).unwrap();
    assert_eq!(timer.last_elapse(), Duration::ZERO);
    let (sender, promise) = oneshot::channel();
    let (mut sender, mut is_second) = (Some(sender), false);
    timer.set_repeating(move |timer: &Timer| {
        if !std::mem::replace(&mut is_second, true) {
            return;
        }
        let (elapse, since) = (timer.last_elapse(), timer.time_since_last_call().unwrap());
        assert!(elapse > Duration::ZERO && elapse < LONG && since < LONG);
        assert!(timer.time_until_next_call().unwrap() <= PERIOD);
        sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
    });
    spin_until(&mut executor, promise);
    assert!(timer.last_elapse() > Duration::ZERO);
    let first = timer.time_since_last_call().unwrap();
    assert!(timer.time_since_last_call().unwrap() >= first);
}

#[test]
fn the_last_handle_ends_a_timer() {
    let (mut executor, node) = node();
    let calls = Calls::default();
    let timer = node.create_timer_repeating(PERIOD, calls.counted("dropped")).unwrap();
    let handle = Arc::new(Mutex::new(None));
    let own = handle.clone();
    let noted = calls.clone();
    let drops = move || {
        noted.note("own");
        drop(own.lock().unwrap().take());
    };
    *handle.lock().unwrap() = Some(node.create_timer_repeating(PERIOD, drops).unwrap());
    drop(timer);
    while calls.of("own") < 1 {
        spin_for_periods(&mut executor, &node, 1);
    }
    spin_for_periods(&mut executor, &node, 3);
    assert_eq!((calls.of("dropped"), calls.of("own")), (0, 1));
}

#[test]
fn a_timer_shows_its_clock() {
    let (_executor, node) = node();
    let create = |options: TimerOptions<'_>| node.create_timer_inert(options);
    let of_node = node.get_clock();
    let (given, source) = Clock::with_source();
    for (timer, clock) in [
        (create(PERIOD.into_timer_options()), ClockType::SteadyTime),
        (create(PERIOD.steady_time()), ClockType::SteadyTime),
        (create(PERIOD.system_time()), ClockType::SystemTime),
        (create(PERIOD.node_time()), ClockType::RosTime),
        (create(PERIOD.clock(&of_node)), ClockType::RosTime),
    ] {
        let timer = timer.unwrap();
        assert_eq!(timer.clock().clock_type() as usize, clock as usize);
        assert!(timer.time_since_last_call().unwrap() < LONG);
        assert!(timer == timer.clone());
    }
    assert!(is_error(create(PERIOD.clock(&given)), RclReturnCode::Unsupported));
    drop(source);
    assert!(create(PERIOD.clock(&given)).is_ok());
    assert!(TimerOptions::new(PERIOD).node_time().clock.is_node_time());
}

#[test]
fn periods_of_no_length_are_errors() {
    let (_executor, node) = node();
    let worker = node.create_worker::<()>(());
    for period in [Duration::ZERO, Duration::MAX] {
        let of_node = node.create_timer_inert(period);
        assert!(is_error(of_node, RclReturnCode::InvalidArgument));
        let of_worker = worker.create_timer_inert(period);
        assert!(is_error(of_worker, RclReturnCode::InvalidArgument));
    }
}
