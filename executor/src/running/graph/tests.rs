//! Tests of descriptions and names while a graph changes or is locked.

use super::checks::{MARGIN, SPARE_EVENTS};
use super::*;
use crate::base::stop::{StopHandle, running_node};
use crate::base::time::{LiveClock, Time};
use crate::delivery::message::Message;
use crate::features::synchronize::{Input, Latest, Trigger};
use crate::running::change::{BEHIND_MAX, GARBAGE_MAX, WorkerLink};
use crate::running::node::Node;
use ringspin_ringbuf::MAX_TOKEN;

fn freeze(graph: &Graph) -> Frozen {
    freeze_in(graph, ReadyOrder::RoundRobin)
}

fn freeze_in(graph: &Graph, order: ReadyOrder) -> Frozen {
    let workers = vec![graph.info().topological_order()];
    let plan = Plan::new(workers, order);
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

/// To connect a topic touches each of its subscriptions.
#[test]
fn topic_is_connected_once_however_many_ends_it_has() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    for topic in ["left", "right"].repeat(100) {
        node.create_subscription(topic, QoS::default(), |_, _: &Message<u8>, _| {}).unwrap();
    }
    let changed = || graph.builder().changed_topics.take().len();
    assert_eq!(changed(), 2);
    node.create_publisher::<u8>("left", QoS::default()).unwrap();
    assert_eq!((changed(), changed()), (1, 0), "it has changed again");
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

/// The numbers of entries of the graph's tables.
fn sizes(graph: &Graph) -> [usize; 17] {
    let builder = graph.builder();
    let running = builder.running.as_ref().unwrap();
    let [places, tokens] = running.sizes();
    [
        builder.node_names.len(),
        builder.loops.len(),
        builder.bodies.len(),
        builder.entities.len(),
        builder.callbacks.len(),
        builder.callback_specs.len(),
        builder.loop_names.len(),
        builder.topics.len(),
        builder.services.len(),
        builder.all_topics.get().len(),
        builder.publishers.len(),
        builder.owned.len(),
        builder.policies.len(),
        builder.left.len(),
        builder.trash.len(),
        places,
        tokens,
    ]
}

#[test]
fn tables_do_not_grow_with_names_that_come_and_go() {
    let cycles = if cfg!(miri) { 20 } else { 1_000 };
    let graph = Graph::new();
    let keeper = graph.create_node("keeper", ()).unwrap();
    let Frozen { mut workers, monitor, .. } = freeze(&graph);
    let _mark = workers[0].enter();
    workers[0].start(Time::ZERO);
    let (mut before, mut kept) = (None, None);
    for n in 0..cycles {
        let node = graph.create_node(&format!("node_{n}"), ()).unwrap();
        let group = node.create_callback_group("group", ()).unwrap();
        let topic = format!("topic_{n}");
        let out = keeper.create_publisher::<u8>(&topic, QoS::keep_all(1)).unwrap();
        let ignore = |_: &mut (), _: &Message<u8>, _: &mut crate::Context<'_>| {};
        let subscription = group.create_subscription(&topic, QoS::keep_all(1), ignore).unwrap();
        let service = format!("service_{n}");
        let server = keeper.create_service(&service, QoS::services(), |(), n: &u8, _| *n).unwrap();
        let client = node.create_client::<u8, u8>(&service, QoS::services()).unwrap();
        node.create_random("dice").unwrap();
        node.on_parameter_change(|(), _, _| ()).unwrap();
        let lifecycle = keeper.lifecycle().create().unwrap();
        let other = keeper.create_publisher::<u16>("misfit", QoS::default()).unwrap();
        assert!(keeper.create_publisher::<u8>("misfit", QoS::default()).is_err());
        let mut numbers = keeper.create_stream::<u8>(&topic, QoS::keep_all(1)).unwrap();
        let interval = keeper.create_interval(Duration::from_secs(1)).unwrap();
        let read = async move {
            numbers.next().await;
            drop(interval);
        };
        let task = keeper.spawn("read", read).unwrap();
        out.publish(1).unwrap();
        assert!(out.publish(2).is_err(), "it is full");
        while workers[0].dispatch_next().is_some() {}
        assert!(task.is_finished());
        subscription.destroy();
        // Its topic stays with it, for subscriptions to come.
        let again = keeper.create_subscription(&topic, QoS::keep_all(1), ignore).unwrap();
        assert!(again.topic() == out.topic() && out.publish(3).is_ok());
        again.destroy();
        server.destroy();
        lifecycle.destroy();
        node.destroy();
        drop((out, other, client));
        while workers[0].dispatch_next().is_some() {}
        workers[0].adopt();
        kept = Some(node); // handles of destroyed ends do no harm
        let sizes = sizes(&graph);
        assert_eq!(*before.get_or_insert(sizes), sizes, "cycle {n}");
        assert_eq!((graph.info().topics, graph.info().services), (Vec::new(), Vec::new()));
    }
    assert!(kept.is_some_and(|node| node.create_callback_group("late", ()).is_err()));
    let refused = monitor.statistics().refused;
    assert_eq!(refused, [("removed topics".to_string(), cycles)]);
}

/// A graph with one node that runs on one worker.
fn running_graph(order: ReadyOrder) -> (Graph, Frozen, Node<()>) {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let frozen = freeze_in(&graph, order);
    (graph, frozen, node)
}

/// A running graph; its worker has room for so many more events in queues.
fn with_room(room: usize) -> (Frozen, Node<()>) {
    let (graph, frozen, node) = running_graph(ReadyOrder::RoundRobin);
    let mut builder = graph.builder();
    let running = builder.running.as_mut().unwrap();
    let left = running.room(node.event_loop()).unwrap() - SPARE_EVENTS;
    running.withheld = left - room;
    drop(builder);
    (frozen, node)
}

/// The errors of adding a timer, a guard condition, a task and a group to `node`, and a node.
fn refusals(graph: &Graph, node: &Node<()>) -> [String; 5] {
    [
        node.create_timer(Duration::from_secs(1), |_, _| {}).unwrap_err().to_string(),
        node.create_guard_condition("guard", |_, _| {}).unwrap_err().to_string(),
        node.spawn("task", async {}).unwrap_err().to_string(),
        node.create_callback_group("group", ()).unwrap_err().to_string(),
        graph.create_node("other", ()).unwrap_err().to_string(),
    ]
}

#[test]
fn callback_beyond_the_events_of_a_running_worker_is_refused() {
    let (graph, _frozen, node) = running_graph(ReadyOrder::Fifo);
    let room = graph.builder().running.as_ref().unwrap().room(node.event_loop()).unwrap();
    let withhold = |events| graph.builder().running.as_mut().unwrap().withheld = events;
    withhold(room - MARGIN + 1);
    for refused in refusals(&graph, &node) {
        assert!(refused.contains("as many queued events as it can number"), "{refused}");
    }
    withhold(room - MARGIN);
    let timer = node.create_timer(Duration::from_secs(1), |_, _| {}).unwrap();
    assert!(node.create_timer(Duration::from_secs(1), |_, _| {}).is_err());
    timer.destroy(); // needs no room
}

#[test]
fn callback_beyond_the_tokens_of_a_running_worker_is_refused() {
    for order in [ReadyOrder::Fifo, ReadyOrder::RoundRobin] {
        let (graph, _frozen, node) = running_graph(order);
        let mut builder = graph.builder();
        builder.running.as_mut().unwrap().withheld_tokens = MAX_TOKEN as usize - MARGIN + 1;
        drop(builder);
        for refused in refusals(&graph, &node) {
            assert!(refused.contains("as many callbacks as it can number"), "{refused}");
        }
        graph.builder().running.as_mut().unwrap().withheld_tokens = 0;
        node.create_timer(Duration::from_secs(1), |_, _| {}).unwrap();
    }
}

#[test]
fn nothing_is_added_once_all_ids_were_used() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    graph.builder().callback_ids = u32::MAX - MARGIN as u32;
    node.create_timer(Duration::from_secs(1), |_, _| {}).unwrap();
    let refusals = refusals(&graph, &node);
    assert_eq!(
        refusals[0],
        "failed to add timer 1s of node /node: 2^32 callbacks, publishers or groups were created; \
         start the program again"
    );
    assert!(refusals.iter().all(|refused| refused.contains("2^32")), "{refusals:?}");
}

#[test]
fn queue_beyond_the_room_of_a_running_worker_is_refused() {
    let (_frozen, node) = with_room(100);
    let ignore = |_: &mut (), _: &Message<u8>, _: &mut crate::Context<'_>| {};
    let fits = node.create_subscription("topic", QoS::keep_all(60), ignore).unwrap();
    let refused = node.create_subscription("other", QoS::keep_all(41), ignore).unwrap_err();
    let text = "failed to create a queue of /other: its depth of 41 is out of range; use 1 to 40 \
                (the other queues of its worker leave no more), or less there";
    assert_eq!(refused.to_string(), text);
    assert!(node.create_stream::<u8>("other", QoS::keep_all(41)).is_err());
    assert!(node.create_service("echo", QoS::keep_all(41), |(), n: &u8, _| *n).is_err());
    assert!(node.create_client::<u8, u8>("echo", QoS::keep_all(41)).is_err());
    let input = |topic: &str, depth| Input::<u8>::new(topic, QoS::keep_last(depth));
    let join = |depth| {
        let inputs = (input("one", 20), input("two", depth));
        node.create_synchronized_subscription(inputs, Latest::new(Trigger::All), |_, _, _| {})
    };
    assert!(join(21).is_err());
    join(20).unwrap().destroy();
    node.create_timer(Duration::from_secs(1), |_, _| {}).unwrap(); // has its own room
    fits.destroy();
}

/// Adds and removes a service, `changes` changes in all, and returns the most changes that the
/// worker was behind.
fn come_and_go(graph: &Graph, node: &Node<()>, changes: u64) -> u64 {
    let link = graph.builder().running.as_ref().unwrap().link(0);
    let (from, mut most) = (link.handed_over(), 0);
    while link.handed_over() - from < changes {
        let service = node.create_service("service", QoS::services(), |(), n: &u8, _| *n);
        service.unwrap().destroy();
        most = most.max(link.behind());
    }
    most
}

/// Changes a graph without a pause. Its worker passes a quiescent point only where `figure` is
/// above `limit`, after it has left this thread time for more changes. Returns the highest figure.
fn highest(limit: u64, adopts: bool, figure: fn(&WorkerLink) -> u64) -> u64 {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let mut worker = freeze(&graph).workers.remove(0);
    let link = graph.builder().running.as_ref().unwrap().link(0);
    let (is_done, entered) = (ringspin_ringbuf::Flag::default(), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        let (is_done, entered, link) = (&is_done, &entered, &link);
        let highest = scope.spawn(move || {
            let (mut thread, mut highest) = (worker.enter(), 0);
            worker.start(Time::ZERO);
            entered.wait();
            while !is_done.is_raised() {
                if adopts {
                    worker.adopt();
                }
                if figure(link) > limit {
                    let naps = (0..500).take_while(|_| figure(link) <= limit + limit / 4);
                    naps.for_each(|_| std::thread::sleep(Duration::from_millis(1)));
                    highest = highest.max(figure(link));
                    worker.pass(&mut thread);
                }
                std::thread::yield_now();
            }
            highest
        });
        entered.wait();
        come_and_go(&graph, &node, 6 * BEHIND_MAX);
        is_done.raise();
        highest.join().unwrap()
    })
}

#[test]
fn unpaced_changes_wait_for_a_worker_that_is_behind() {
    let behind = highest(BEHIND_MAX, false, WorkerLink::behind);
    assert!(behind <= BEHIND_MAX + BEHIND_MAX / 4, "{behind} changes wait for the worker");
}

#[test]
fn unpaced_changes_wait_for_memory_to_be_reclaimed() {
    let garbage = highest(GARBAGE_MAX, true, WorkerLink::garbage);
    assert!(
        garbage <= GARBAGE_MAX + GARBAGE_MAX / 4,
        "{garbage} items of garbage wait for the worker"
    );
    assert!(garbage > GARBAGE_MAX, "the changes are enough");
}

/// Neither a worker that is not run nor one in a callback that does not return keeps a change from
/// returning.
#[test]
fn changes_return_though_no_worker_adopts_them() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let worker = freeze(&graph).workers.remove(0);
    let changes = BEHIND_MAX + 8;
    assert!(come_and_go(&graph, &node, changes) >= changes, "the worker is not run");
    let [entered, done] = [2, 2].map(std::sync::Barrier::new);
    std::thread::scope(|scope| {
        let (entered, done) = (&entered, &done);
        scope.spawn(move || {
            let _thread = worker.enter();
            entered.wait();
            done.wait();
        });
        entered.wait();
        assert!(come_and_go(&graph, &node, 8) >= changes + 8, "the worker does not return");
        done.wait();
    });
}
