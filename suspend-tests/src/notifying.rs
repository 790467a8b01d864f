//! A thread is suspended while it triggers a guard condition, changes a timer, or calls a service.

use crate::harness::{Log, Running, Suspended, eventually};
use ringspin_executor::{Graph, QoS, ReadyOrder};
use std::time::Duration;

const STEPS: [&str; 5] = ["notice.given", "token.pushed", "token.queued", "mark.set", "wake.found"];

#[test]
fn a_suspended_trigger_hides_no_other_trigger() {
    for step in STEPS {
        let graph = Graph::new();
        let log = Log::new();
        let node = graph.create_node("bumper", log.clone()).unwrap();
        let pressed = node
            .create_guard_condition("pressed", |log, cx| log.push(cx.event().sequence))
            .unwrap();
        let _running = Running::start(&graph, ReadyOrder::Sweep, || ());
        let first = pressed.clone();
        let suspended = Suspended::at(step, move || first.trigger());
        for _ in 0..5 {
            let before = log.all().len();
            pressed.trigger();
            assert!(eventually(|| log.all().len() > before), "step {step}");
        }
        suspended.resume();
        let before = log.all().len();
        pressed.trigger();
        assert!(eventually(|| log.all().len() > before), "after step {step}");
        assert!(log.all().is_sorted_by(|a, b| a < b), "a trigger is answered once");
    }
}

/// The steps of a call, with those of the request that it sends.
const CALLING: [&str; 8] = [
    "table.claimed",
    "table.filled",
    "message.pushed",
    "message.queued",
    "token.pushed",
    "token.queued",
    "mark.set",
    "wake.found",
];

/// One thread is suspended in a call; calls through another client, or through a clone of the same
/// one, with a timeout or without, are answered.
fn other_calls_are_answered(step: &'static str, is_same: bool, timeout: Option<Duration>) {
    let graph = Graph::new();
    let server = graph.create_node("server", ()).unwrap();
    let services = QoS::services();
    server.create_service("double", services, |(), n: &u32, _| 2 * n).unwrap();
    let [first, second] = ["first", "second"].map(|name| {
        let node = graph.create_node(name, ()).unwrap();
        let client = node.create_client::<u32, u32>("double", services).unwrap();
        match timeout {
            Some(timeout) => client.with_timeout(timeout),
            None => client,
        }
    });
    let _running = Running::start(&graph, ReadyOrder::Sweep, || ());
    let second = if is_same { first.clone() } else { second };
    let suspended = Suspended::at(step, move || {
        let _ = first.call(1, |(), _, _| ());
    });
    let call = |n, when| {
        let reply = second.call_and_wait(n, Duration::from_secs(60));
        assert_eq!(reply.map(|reply| *reply), Ok(2 * n), "step {step}, same: {is_same}, {when}");
    };
    (0..5).for_each(|n| call(n, "meanwhile"));
    suspended.resume();
    (0..30).for_each(|n| call(n, "afterwards")); // more than the client's depth
}

#[test]
fn suspended_caller_delays_no_call_of_another_client() {
    CALLING.into_iter().for_each(|step| other_calls_are_answered(step, false, None));
}

#[test]
fn suspended_caller_delays_no_call_through_a_clone_of_its_client() {
    CALLING.into_iter().for_each(|step| other_calls_are_answered(step, true, None));
}

#[test]
fn suspended_caller_delays_no_call_with_a_timeout() {
    let timeout = Some(Duration::from_secs(3600));
    CALLING.into_iter().for_each(|step| other_calls_are_answered(step, true, timeout));
}

/// A thread that is suspended while it changes a timer holds up neither that timer nor another
/// thread that changes it.
#[test]
fn a_suspended_change_of_a_timer_hides_no_other_change() {
    for step in STEPS {
        let graph = Graph::new();
        let log = Log::new();
        let node = graph.create_node("watchdog", log.clone()).unwrap();
        let hour = Duration::from_secs(3600);
        let timer = node.create_timer(hour, |log: &mut Log<u64>, cx| log.push(cx.event().sequence));
        let timer = timer.unwrap();
        let _running = Running::start(&graph, ReadyOrder::Sweep, || ());
        let first = timer.clone();
        let _suspended = Suspended::at(step, move || first.reset());
        for n in 0..3 {
            timer.start_at(ringspin_executor::Time::ZERO); // long overdue
            assert!(eventually(|| log.has(&n)), "step {step}");
            assert!(!timer.is_cancelled());
        }
        timer.cancel();
        assert!(timer.is_cancelled() && timer.time_until_next().is_none());
    }
}
