//! A thread is suspended while it changes the graph, or begins to read it, and others publish.

use crate::harness::{Log, Running, Suspended, eventually, returns};
use ringspin_executor::{Graph, Message, QoS, ReadyOrder};

/// Publishers on threads that read the graph for the first time, and a worker that sees a change,
/// frees memory and sleeps, do not wait for a thread that is suspended at `step` of a change.
fn others_go_on(step: &'static str, is_change: bool) {
    let graph = Graph::new();
    let log = Log::new();
    let qos = QoS::keep_last(1);
    let node = graph.create_node("listener", log.clone()).unwrap();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let talker = graph.create_node("talker", ()).unwrap();
    let publisher = talker.create_publisher::<u32>("numbers", qos).unwrap();
    let other = talker.create_publisher::<u32>("others", qos).unwrap();
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
    let _suspended = Suspended::at(step, move || match is_change {
        true => drop(talker.create_publisher::<u32>("others", qos).unwrap()),
        false => other.publish(0).unwrap(),
    });
    for n in 0..10 {
        let out = publisher.clone();
        assert!(returns(move || out.publish(n).unwrap()), "step {step}: publishing waits");
        assert!(eventually(|| log.has(&n)), "step {step}: the message is lost");
    }
}

#[test]
fn suspended_change_delays_no_message() {
    others_go_on("reclaim.retiring", true);
    others_go_on("reclaim.collecting", true);
}

#[test]
fn thread_suspended_in_its_first_publish_delays_no_message() {
    others_go_on("reclaim.joining", false);
}
