//! A publisher is suspended at each step, while another one publishes to the same subscription.

use crate::harness::{Log, Running, Suspended, eventually, returns};
use ringspin_executor::{Graph, Message, QoS, ReadyOrder};
use std::mem::forget;

/// The steps of a message that finds a place, and a worker that sleeps.
const GROWING: [&str; 6] =
    ["message.pushed", "message.queued", "token.pushed", "token.queued", "mark.set", "wake.found"];
/// The steps of a message that takes the place of another one.
const OVERWRITING: [&str; 2] = ["message.overwrote", "attention.called"];

/// From the one that is suspended.
const SUSPENDED: u32 = 1_000_000;

/// Whatever one publisher is suspended in, each message of another one that waits for it to be
/// handled is handled, and so is what comes in bursts, in order; when the first one goes on, too.
fn others_are_heard(step: &'static str, qos: QoS, order: ReadyOrder, loops: usize) {
    let graph = Graph::new();
    let log = Log::new();
    for n in 1..loops {
        graph.create_node(&format!("silent_{n}"), ()).unwrap();
    }
    let node = graph.create_node("listener", log.clone()).unwrap();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let talker = graph.create_node("talker", ()).unwrap();
    let publisher = talker.create_publisher::<u32>("numbers", qos).unwrap();
    let running = Running::start(&graph, order, || ());

    let out = publisher.clone();
    let suspended = Suspended::at(step, move || drop(out.publish(SUSPENDED)));
    let what = format!("step {step}, {qos:?}, {order:?}");
    let mut next = 0;
    let mut talk = |when: &str| {
        for _ in 0..5 {
            let sent = eventually(|| publisher.publish(next).is_ok());
            assert!(sent && eventually(|| log.has(&next)), "{what}: {next} is lost {when}");
            next += 1;
        }
        for _ in 0..3 * qos.depth() as u32 {
            assert!(eventually(|| publisher.publish(next).is_ok()));
            next += 1;
        }
        assert!(eventually(|| log.has(&(next - 1))), "{what}: a burst is lost {when}");
    };
    talk("while the other one is suspended");
    suspended.resume();
    talk("afterwards");

    let handled: Vec<u32> = log.all().into_iter().filter(|n| *n < SUSPENDED).collect();
    assert!(handled.is_sorted_by(|a, b| a < b), "{what}: {handled:?}");
    let statistics = running.monitor.statistics();
    assert_eq!(statistics.dispatched(), log.all().len() as u64);
}

fn at_each(steps: &[&'static str], kinds: &[QoS]) {
    for step in steps {
        for qos in kinds {
            for order in [ReadyOrder::RoundRobin, ReadyOrder::Fifo] {
                others_are_heard(step, *qos, order, 2);
            }
        }
    }
}

#[test]
fn a_suspended_publisher_hides_no_message_of_another_one() {
    at_each(&GROWING, &[QoS::keep_last(1), QoS::keep_last(3), QoS::keep_all(4)]);
}

#[test]
fn a_publisher_suspended_while_it_overwrites_hides_no_message() {
    at_each(&OVERWRITING, &[QoS::keep_last(1), QoS::keep_last(3)]);
}

#[test]
fn a_publisher_suspended_between_two_levels_of_the_ready_set_hides_no_message() {
    others_are_heard("mark.leaf", QoS::keep_last(1), ReadyOrder::RoundRobin, 70);
}

/// Each step, for another publisher of the topic. Clones of the one that is suspended wait.
#[test]
fn suspended_transient_local_publisher_delays_no_other_message() {
    let graph = Graph::new();
    let log = Log::new();
    let qos = QoS::keep_last(1).transient_local();
    let node = graph.create_node("listener", log.clone()).unwrap();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let talker = graph.create_node("talker", ()).unwrap();
    let first = talker.create_publisher::<u32>("numbers", qos).unwrap();
    let second = talker.create_publisher::<u32>("numbers", qos).unwrap();
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
    for (n, step) in GROWING.into_iter().enumerate() {
        let out = first.clone();
        let _suspended = Suspended::at(step, move || drop(out.publish(SUSPENDED)));
        let (out, n) = (second.clone(), n as u32);
        assert!(returns(move || out.publish(n).unwrap()), "step {step}: publishing waits");
        assert!(eventually(|| log.has(&n)), "step {step}: the message is lost");
    }
}

/// A topic without free slots grows by whichever thread needs one, although another thread is
/// suspended while it adds slots.
#[test]
fn suspended_growth_of_a_pool_delays_no_other_message() {
    let graph = Graph::new();
    let log = Log::new();
    let qos = QoS::keep_last(1).held(0);
    let node = graph.create_node("listener", log.clone()).unwrap();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let publisher = node.create_publisher::<u32>("numbers", qos).unwrap();
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
    let out = publisher.clone();
    // Loans that are never given back use up all slots.
    let _suspended = Suspended::at("pool.grew", move || forget(out.loan().unwrap()));
    for n in 0..3 {
        let out = publisher.clone();
        assert!(returns(move || out.publish(n).unwrap()), "publishing waits");
        assert!(eventually(|| log.has(&n)), "the message is lost");
    }
}

/// One publisher is suspended before it announces a message, another one after it has replaced the
/// message and called for attention: an event of another node lets the worker find the message.
#[test]
fn message_is_handled_although_both_publishers_that_could_announce_it_are_suspended() {
    let graph = Graph::new();
    let (log, qos) = (Log::new(), QoS::keep_last(1));
    let node = graph.create_node("listener", log.clone()).unwrap();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let other = graph.create_node("other", log.clone()).unwrap();
    other.create_subscription("beats", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let publisher = other.create_publisher::<u32>("numbers", qos).unwrap();
    let beats = other.create_publisher::<u32>("beats", qos).unwrap();
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
    // The worker has looked at both nodes, and sleeps or polls the other one.
    for n in 10..20 {
        publisher.publish(n).unwrap();
        assert!(eventually(|| log.has(&n)));
        beats.publish(n + 10).unwrap();
        assert!(eventually(|| log.has(&(n + 10))));
    }
    let (first, second) = (publisher.clone(), publisher);
    let _first = Suspended::at("message.queued", move || first.publish(1).unwrap());
    let _second = Suspended::at("attention.called", move || second.publish(2).unwrap());
    let found = eventually(|| beats.publish(0).is_ok() && log.has(&2));
    assert!(found, "the message waits for a suspended thread");
}
