//! A subscription that comes and goes, and new notifiers, while two threads publish and a worker
//! works and sleeps. An event that is lost leaves the worker asleep, which Shuttle reports as a
//! deadlock.

use super::join;
use crate::explore::Model;
use crate::shared::changing::{Graph, Source};
use shuttle::thread::spawn;
use std::sync::Arc;

/// Each message is dispatched, or counted when the token of its subscription is freed; each
/// notifier is started once.
#[test]
fn messages_of_subscriptions_that_come_and_go_are_counted() {
    let model = Model::new(2_000).kills("changes.connect_under_lock").kills("commit.lease");
    model.kills("commit.push_first").kills("commit.wake_last").check(|| {
        const ROUNDS: u32 = 4;
        let (graph, worker) = Graph::new();
        let publish = |graph: Arc<Graph>| {
            move || {
                let place = graph.place();
                ((0..4).map(|_| graph.publish(&place)).sum::<u32>(), place)
            }
        };
        let publishers = [0, 1].map(|_| spawn(publish(graph.clone())));
        let changer = spawn({
            let graph = graph.clone();
            move || {
                for _ in 0..ROUNDS {
                    let token = graph.subscribe();
                    graph.set.wake(); // as a request to stop does
                    graph.unsubscribe(token);
                    graph.change();
                }
            }
        });
        let creators = [0, 1].map(|_| {
            let graph = graph.clone();
            spawn(move || graph.add_notifier(Source::notifier()))
        });
        let worker = worker.start();
        let worker = spawn(move || {
            worker.run_until(|of| (of.notices, of.freed, of.others) == (2, ROUNDS, ROUNDS))
        });
        join([changer]);
        join(creators);
        let publishers = join(publishers);
        let mut worker = join([worker]).pop().unwrap();
        worker.drain();
        let published: u32 = publishers.iter().map(|(published, _)| published).sum();
        assert_eq!(worker.dispatched + worker.drained, published);
        graph.close();
        drop((publishers, worker));
    });
}
