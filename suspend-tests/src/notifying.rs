//! A thread is suspended while it triggers a guard condition, changes a timer, calls a service,
//! asserts its liveliness, or awaits a message or tick.

use crate::harness::{Log, Running, Suspended, eventually, returns};
use ringspin_executor::{Graph, Message, QoS, ReadyOrder, SubscriptionEvents, Time};
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread::sleep;
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
        let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
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
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
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
        let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
        let first = timer.clone();
        let _suspended = Suspended::at(step, move || first.reset());
        for n in 0..3 {
            timer.start_at(Time::ZERO); // long overdue
            assert!(eventually(|| log.has(&n)), "step {step}");
            assert!(!timer.is_cancelled());
        }
        timer.cancel();
        assert!(timer.is_cancelled() && timer.time_until_next().is_none());
    }
}

/// A publisher whose lease was over notifies the watchers of its next sign of life. While one is
/// suspended there, another one's signs reach them.
#[test]
fn suspended_sign_of_life_hides_no_sign_of_another_publisher() {
    for step in STEPS {
        let graph = Graph::new();
        let log = Log::new();
        let lease = Duration::from_millis(2);
        let qos = QoS::keep_last(1).liveliness_manual_by_topic(lease);
        let node = graph.create_node("watcher", log.clone()).unwrap();
        let events = SubscriptionEvents::new().on_liveliness_changed(|log: &mut Log<_>, e, _| {
            log.push((e.alive_count, e.not_alive_count));
        });
        node.create_subscription_with_events("signs", qos, events, |_, _: &Message<u32>, _| ())
            .unwrap();
        let [first, second] = [(); 2].map(|()| node.create_publisher::<u32>("signs", qos).unwrap());
        let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
        second.assert_liveliness();
        let _suspended = Suspended::at(step, move || {
            sleep(3 * lease);
            first.assert_liveliness();
        });
        for _ in 0..3 {
            // While one lives, signs within its lease change nothing.
            assert!(eventually(|| log.all().last().is_some_and(|(alive, _)| *alive == 0)));
            let (seen, out) = (log.all().len(), second.clone());
            let news = log.clone();
            let is_seen = returns(move || {
                let changed = || news.all()[seen..].iter().any(|(alive, _)| *alive > 0);
                assert!(eventually(|| {
                    out.assert_liveliness();
                    changed()
                }));
            });
            assert!(is_seen, "step {step}");
        }
    }
}

/// Suspends the thread that drops it, until the other end of the second channel is gone.
struct SlowDrop(Mutex<(Sender<()>, Receiver<()>)>);

impl Wake for SlowDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for SlowDrop {
    fn drop(&mut self) {
        let (dropping, gate) = self.0.get_mut().unwrap();
        dropping.send(()).unwrap();
        let _ = gate.recv();
    }
}

/// `poll` polls a stream or an interval on a separate thread, which is suspended while it changes
/// the waker; `is_handled` says whether the loop handles events meanwhile.
fn loop_goes_on_beside(
    mut poll: impl FnMut(&mut Context<'_>) + Send + 'static,
    is_handled: impl Fn() -> bool,
) {
    let (dropping, dropped) = channel();
    let (opener, gate) = channel::<()>();
    let poller = std::thread::spawn(move || {
        let slow = Waker::from(Arc::new(SlowDrop(Mutex::new((dropping, gate)))));
        poll(&mut Context::from_waker(&slow));
        drop(slow); // the stream or interval has the last one
        poll(&mut Context::from_waker(Waker::noop()));
    });
    dropped.recv().unwrap();
    assert!(eventually(is_handled), "the loop waits for the thread that polls");
    drop(opener);
    poller.join().unwrap();
}

#[test]
fn suspended_poll_of_a_stream_or_an_interval_delays_no_event() {
    let graph = Graph::new();
    let log = Log::new();
    let node = graph.create_node("sum", log.clone()).unwrap();
    let qos = QoS::keep_last(2);
    let mut stream = node.create_stream::<u32>("numbers", qos).unwrap();
    let mut interval = node.create_interval(Duration::from_secs(3600)).unwrap();
    let timer = interval.timer().clone();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let out = node.create_publisher::<u32>("numbers", qos).unwrap();
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
    let publishes = |n| {
        let (out, log) = (out.clone(), log.clone());
        move || {
            out.publish(n).unwrap();
            log.has(&n)
        }
    };
    let polls = move |cx: &mut Context<'_>| drop(pin!(stream.next()).poll(cx));
    loop_goes_on_beside(polls, publishes(1));
    let polls = move |cx: &mut Context<'_>| {
        let _ = pin!(interval.tick()).poll(cx);
    };
    loop_goes_on_beside(polls, || {
        timer.start_at(Time::ZERO);
        publishes(2)()
    });
}
