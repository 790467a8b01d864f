//! Tests of descriptions and names while a graph changes or is locked.

use super::*;
use crate::message::Message;
use crate::stop::{StopHandle, running_node};
use crate::time::LiveClock;

fn freeze(graph: &Graph) -> Frozen {
    let workers = vec![graph.info().topological_order()];
    let plan = Plan::new(workers, ReadyOrder::RoundRobin);
    let time = TimeSource::Live(Arc::new(LiveClock::start()));
    graph.freeze(&plan, &StopHandle::default(), FailurePolicy::IsolateNode, &time).unwrap()
}

#[test]
fn snapshot_is_shared_until_the_graph_changes() {
    let graph = Graph::new();
    let snapshot = || graph.builder().snapshot();
    let mut last = snapshot();
    let mut has_changed = |what: &str| {
        let next = snapshot();
        assert!(next.version > last.version, "{what}");
        assert!(Arc::ptr_eq(&next, &snapshot()), "{what}");
        assert_eq!(*next, graph.info(), "{what}");
        last = next;
    };
    let node = graph.create_node("node", ()).unwrap();
    has_changed("a node");
    let out = node.create_publisher::<u8>("topic", QoS::default()).unwrap();
    has_changed("a publisher");
    let _out = out.named("front");
    has_changed("the name of a publisher");
    node.create_subscription("topic", QoS::default(), |_, _: &Message<u8>, _| {}).unwrap();
    has_changed("a subscription");
    node.set_priority(1).unwrap();
    has_changed("a priority");
    graph.set_priority(LoopId(0), 2).unwrap();
    has_changed("a priority by a tool");
}

#[test]
fn monitor_keeps_the_description_of_a_closed_graph() {
    let graph = Graph::new();
    graph.create_node("node", ()).unwrap();
    let monitor = freeze(&graph).monitor;
    let before = monitor.info();
    graph.close();
    assert!(Arc::ptr_eq(&before, &monitor.info()));
    assert_eq!(before.loops[LoopId(0)].node, "/node");
    assert!(graph.info().loops.is_empty());
}

#[test]
fn names_are_known_while_the_graph_is_locked() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let out = node.create_publisher::<u8>("topic", QoS::default()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_in_callback = seen.clone();
    let callback = move |_: &mut (), _: &Message<u8>, _: &mut crate::Context<'_>| {
        lock(&seen_in_callback).extend(running_node());
        panic!("to be reported with its names");
    };
    node.create_subscription("topic", QoS::default(), callback).unwrap();
    let Frozen { mut workers, monitor, .. } = freeze(&graph);
    let _mark = workers[0].enter();
    out.publish(1).unwrap();
    let locked = graph.builder();
    assert!(workers[0].dispatch_next().is_some());
    assert_eq!(*lock(&seen), ["/node"]);
    let [failure] = &monitor.failures()[..] else { panic!("{:?}", monitor.failures()) };
    assert_eq!((&*failure.node, &*failure.callback), ("/node", "subscription /topic"));
    drop(locked);
}
