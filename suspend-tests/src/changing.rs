//! A thread is suspended while it creates or destroys entities, and the worker works.

use crate::harness::{Log, Running, Suspended, eventually, returns};
use ringspin_executor::{Context, Graph, Message, QoS, ReadyOrder};
use ringspin_ringbuf::inbox::Turn;
use ringspin_ringbuf::{Announce, Counter, Inbox, Notice};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The worker adopts earlier tokens, though another thread is suspended while it adds one or frees
/// one.
#[test]
fn suspended_thread_that_adds_a_token_delays_no_adoption() {
    for step in ["locked", "list.adding"] {
        let mut inbox = Inbox::with_room(1, 1);
        let registrar = inbox.registrar();
        let ring = registrar.add_ring(1, None);
        let announcer = registrar.add_token(ring, 1);
        let suspended = Suspended::at(step, {
            let registrar = registrar.clone();
            move || registrar.remove_token(registrar.add_token(ring, 1).token())
        });
        assert!(
            returns(move || {
                announcer.announce();
                let token = announcer.token();
                assert_eq!(inbox.next(ring as usize, |_| 1), Some(Turn::Announced(token)));
                registrar.remove_token(token);
                inbox.adopt();
            }),
            "step {step}"
        );
        suspended.resume();
    }
}

/// Messages and timers of a worker do not wait for a thread that is suspended at `step`, after some
/// passes, while it creates or destroys a guard condition, a timer and a subscription. All of them
/// work afterwards.
fn worker_goes_on(step: &'static str, passes: usize, order: ReadyOrder) {
    let graph = Graph::new();
    let log = Log::new();
    let qos = QoS::keep_last(1);
    let node = graph.create_node("listener", log.clone()).unwrap();
    node.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let ticks = Arc::new(Counter::default());
    let ticker = graph.create_node("ticker", ticks.clone()).unwrap();
    let tick = Duration::from_millis(1);
    ticker.create_timer(tick, |ticks, _| ticks.add_by_owner(1)).unwrap();
    let talker = graph.create_node("talker", ()).unwrap();
    let publisher = talker.create_publisher::<u32>("numbers", qos).unwrap();
    let running = Running::start(&graph, order, || ());
    let suspended = Suspended::after(step, passes, {
        let (graph, log) = (graph.clone(), log.clone());
        move || {
            let node = graph.create_node("new", log.clone()).unwrap();
            let condition = node.create_guard_condition("new", |log, _| log.push(1_000)).unwrap();
            condition.trigger();
            node.create_timer(Duration::from_secs(1), |_, _| ()).unwrap().reset();
            node.create_subscription("news", qos, |_, _: &Message<u32>, _| ()).unwrap();
            node.destroy();
        }
    });
    for n in 0..3 {
        graph.domain().announce(); // the worker adopts what there is
        let (out, before) = (publisher.clone(), ticks.get());
        assert!(
            returns(move || out.publish(n).unwrap()),
            "step {step}, {passes}: publishing waits"
        );
        assert!(eventually(|| log.has(&n)), "step {step}, {passes}: the message is lost");
        assert!(eventually(|| ticks.get() > before), "step {step}, {passes}: the timer waits");
    }
    suspended.resume();
    let node = graph.create_node("last", log.clone()).unwrap();
    let condition = node.create_guard_condition("last", |log, _| log.push(2_000)).unwrap();
    condition.trigger();
    assert!(eventually(|| log.has(&2_000)), "after step {step}, {passes}");
    assert!(running.monitor.failures().is_empty());
}

/// More than one round of the change has of each step.
const PASSES: usize = 100;

#[test]
fn suspended_change_delays_no_event() {
    for step in ["locked", "list.adding", "notifier.connecting", "notifier.connected"] {
        for passes in 0..PASSES {
            let order = [ReadyOrder::RoundRobin, ReadyOrder::Fifo][passes % 2];
            worker_goes_on(step, passes, order);
        }
    }
}

/// A publisher is suspended with the ports of a moment ago, one of which is destroyed meanwhile:
/// the message that comes there is counted, though the worker frees the token before it looks.
#[test]
fn message_that_comes_with_the_end_of_its_token_is_discarded() {
    let graph = Graph::new();
    let log = Log::new();
    let qos = QoS::keep_last(3);
    let first = graph.create_node("first", log.clone()).unwrap();
    first.create_subscription("numbers", qos, |log, n: &Message<u32>, _| log.push(**n)).unwrap();
    let second = graph.create_node("second", ()).unwrap();
    let destroyed = second.create_subscription("numbers", qos, |_, _: &Message<u32>, _| ());
    let (go, wait) = channel::<()>();
    let begun = Arc::new(Counter::default());
    let blocker = graph.create_node("blocker", (begun.clone(), wait)).unwrap();
    let block = |(begun, wait): &mut (Arc<Counter>, Receiver<()>), _: &mut Context<'_>| {
        begun.add_by_owner(1);
        wait.recv().unwrap();
    };
    let block = blocker.create_guard_condition("block", block).unwrap();
    let talker = graph.create_node("talker", ()).unwrap();
    let publisher = talker.create_publisher::<u32>("numbers", qos).unwrap();
    let running = Running::start(&graph, ReadyOrder::RoundRobin, || ());

    // The message is in the first queue.
    let suspended = Suspended::at("message.queued", move || publisher.publish(1).unwrap());
    destroyed.unwrap().destroy();
    go.send(()).unwrap();
    for n in 1..=2 {
        block.trigger();
        assert!(eventually(|| begun.get() == n)); // the second time the worker has adopted
    }
    suspended.resume();
    graph.domain().collect(); // ends the lease of the token
    go.send(()).unwrap();
    let counted = || running.monitor.statistics().removed;
    assert!(eventually(|| counted().discarded == 1), "{:?}", counted());
}

/// The last handle of a publisher is dropped while another thread has the graph, and has handled
/// the departures before: it looks once more.
#[test]
fn departure_during_a_change_is_handled_at_its_end() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    let _running = Running::start(&graph, ReadyOrder::RoundRobin, || ());
    let publisher = node.create_publisher::<u32>("numbers", QoS::default()).unwrap();
    let suspended = Suspended::at("notifier.connecting", {
        let (node, first) = (node.clone(), Notice::given());
        move || {
            if first.take() {
                node.create_guard_condition("condition", |_, _| ()).unwrap();
            }
        }
    });
    drop(publisher);
    suspended.resume();
    assert!(graph.info().topics.iter().all(|topic| topic.publishers.is_empty()));
}
