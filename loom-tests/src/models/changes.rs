//! Sources of events that come and go while a worker dispatches, sleeps, starts and stops.

use super::join;
use crate::changing::{Graph, Source};
use crate::counter::Flag;
use crate::model::Model;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::sync::Arc;

/// Two threads create a notifier each. The worker is woken by one of them, and may adopt the other
/// change a moment before its thread is done: it starts both sources, and handles both events.
#[test]
fn source_that_is_adopted_early_is_connected() {
    let model = Model::new(1_000).preemptions(1).needs("notifier.connect_late");
    model.needs("adopt.start").check(|| {
        let (graph, worker) = Graph::new();
        let creators = [0, 1].map(|_| {
            let graph = graph.clone();
            spawn(move || {
                let source = Source::notifier();
                graph.add_notifier(source.clone());
                source
            })
        });
        let worker = worker.start();
        let worker = spawn(move || worker.run_until(|worker| worker.notices == 2));
        drop((join(creators), worker.join().unwrap()));
    });
}

/// A worker publishes while another thread creates the subscription: it knows the token of the
/// message, and dispatches it if the subscription got it.
#[test]
fn message_of_a_subscription_in_creation_is_dispatched() {
    let model = Model::new(300).preemptions(2);
    model.needs("commit.push_first").check(|| {
        let (graph, worker) = Graph::new();
        let creator = spawn({
            let graph = graph.clone();
            move || graph.subscribe()
        });
        let (worker, place) = (worker.start(), graph.place());
        let worker = spawn({
            let graph = graph.clone();
            move || {
                let published = graph.publish(&place);
                let mut worker = worker.run_until(|worker| worker.added == 1);
                worker.drain();
                assert_eq!(worker.dispatched, published);
                (worker, place)
            }
        });
        creator.join().unwrap();
        let ended = worker.join().unwrap();
        graph.close();
        drop(ended);
    });
}

/// The same, with the publisher on a separate thread.
#[test]
#[ignore = "slow: two preemptions among three threads"]
fn slow_message_of_a_subscription_in_creation_is_dispatched() {
    Model::new(10_000).preemptions(2).needs("commit.push_first").check(|| {
        let (graph, worker) = Graph::new();
        let publish = |graph: Arc<Graph>, place| move || (graph.publish(&place), place);
        let publisher = spawn(publish(graph.clone(), graph.place()));
        let creator = spawn({
            let graph = graph.clone();
            let publish = publish(graph.clone(), graph.place());
            move || {
                graph.subscribe();
                publish()
            }
        });
        let worker = worker.start();
        let worker = spawn(move || worker.run_until(|worker| worker.dispatched > 0));
        let joined = join([creator, publisher]);
        let mut worker = worker.join().unwrap();
        worker.drain();
        let published: u32 = joined.iter().map(|(published, _)| published).sum();
        assert_eq!(worker.dispatched, published);
        graph.close();
        drop((joined, worker));
    });
}

/// A callback destroys a subscription while another thread publishes: the message is dispatched, or
/// counted when the token is freed, or there was no subscription any more. A second subscription
/// may have the token of the first one, but gets none of its events.
#[test]
fn message_of_a_subscription_in_destruction_is_counted() {
    let model = Model::new(1_000).preemptions(2).needs("commit.lease").needs("commit.push_first");
    model.needs("inbox.wait_until_popped").check(|| {
        let (graph, worker) = Graph::new();
        let token = graph.subscribe();
        let publisher = spawn({
            let graph = graph.clone();
            let place = graph.place();
            move || (graph.publish(&place), place)
        });
        let worker = worker.start();
        let worker = spawn({
            let graph = graph.clone();
            move || {
                graph.unsubscribe(token);
                let mut worker = worker.run_until(|worker| worker.freed == 1);
                graph.subscribe();
                worker.drain();
                worker
            }
        });
        let (published, place) = publisher.join().unwrap();
        let mut worker = worker.join().unwrap();
        worker.drain();
        assert_eq!(worker.dispatched + worker.drained, published);
        graph.close();
        drop((place, worker));
    });
}

/// The same, with the change on a separate thread.
#[test]
#[ignore = "slow: two preemptions among three threads"]
fn slow_message_of_a_subscription_in_destruction_is_counted() {
    Model::new(10_000).preemptions(2).needs("commit.lease").check(|| {
        let (graph, worker) = Graph::new();
        let token = graph.subscribe();
        let changer = spawn({
            let graph = graph.clone();
            move || graph.unsubscribe(token)
        });
        let publisher = spawn({
            let graph = graph.clone();
            let place = graph.place();
            move || (graph.publish(&place), place)
        });
        let worker = worker.start();
        let worker = spawn(move || worker.run_until(|worker| worker.freed == 1));
        changer.join().unwrap();
        let (published, place) = publisher.join().unwrap();
        let mut worker = worker.join().unwrap();
        worker.drain();
        assert_eq!(worker.dispatched + worker.drained, published);
        drop((place, worker));
    });
}

/// A change that brings no event reaches a worker that is about to park.
#[test]
fn change_without_an_event_wakes_the_worker() {
    let model = Model::new(10).preemptions(3).needs("changes.wake").needs("changes.announce");
    model.needs("commit.wake_last").check(|| {
        let (graph, worker) = Graph::new();
        let changer = spawn({
            let graph = graph.clone();
            move || graph.change()
        });
        let worker = worker.start();
        let worker = spawn(move || worker.run_until(|worker| worker.others == 1));
        changer.join().unwrap();
        drop(worker.join().unwrap());
    });
}

/// A source is created while the worker starts: it is started once, by one of the two.
#[test]
fn source_that_is_created_during_the_start_is_started() {
    let model = Model::new(10).preemptions(2).needs("notifier.connect_late").needs("adopt.start");
    model.kills("notifier.connect", Relaxed).kills("notifier.adopt", Relaxed).check(|| {
        let (graph, worker) = Graph::new();
        let creator = spawn({
            let graph = graph.clone();
            move || {
                let source = Source::notifier();
                graph.add_notifier(source.clone());
                source
            }
        });
        let worker = spawn(move || worker.start().run_until(|worker| worker.notices == 1));
        drop((creator.join().unwrap(), worker.join().unwrap()));
    });
}

/// A change while the worker stops is adopted by this spin or by the next one.
#[test]
fn change_during_the_stop_is_adopted_by_the_next_spin() {
    let model = Model::new(10).preemptions(2).needs("changes.announce");
    model.check(|| {
        let (graph, worker) = Graph::new();
        let changer = spawn({
            let graph = graph.clone();
            move || graph.change()
        });
        let stop = Arc::new(Flag::default());
        let stopper = spawn({
            let (graph, stop) = (graph.clone(), stop.clone());
            move || {
                stop.raise();
                graph.set.wake();
            }
        });
        let worker = worker.start();
        let worker = spawn(move || {
            let worker = worker.run_until(|_| stop.is_raised());
            worker.run_until(|worker| worker.others == 1)
        });
        join([changer, stopper]);
        drop(worker.join().unwrap());
    });
}

/// A source is created while the worker ends: loom reports memory that is used late or lost.
#[test]
fn source_that_no_worker_adopts_is_freed() {
    Model::new(2).preemptions(2).check(|| {
        let (graph, worker) = Graph::new();
        let creator = spawn({
            let graph = graph.clone();
            move || {
                let source = Source::notifier();
                graph.add_notifier(source.clone());
                source
            }
        });
        let worker = spawn(move || drop(worker.start()));
        drop(creator.join().unwrap());
        worker.join().unwrap();
    });
}
