//! The keep-last queue.

use super::{BEFORE_WRAP, Senders};
use crate::explore::Model;
use crate::keep_last::{Pushed, queue_at};
use crate::pool::Pool;

/// Messages of different producers, `PRODUCERS * EACH` in total, differ in their tens digit.
const PRODUCERS: u32 = 3;
const EACH: u32 = 5;

/// Three producers and a consumer of the newest messages: each message is taken or overwritten
/// once; `Grew` counts the taken ones; messages of one producer stay in order; the newest is kept.
fn race(depth: usize) {
    let pool = Pool::new();
    pool.reserve(4);
    let (producer, mut consumer) = queue_at(&pool, depth, BEFORE_WRAP);
    let senders = Senders::spawn(PRODUCERS, |id| {
        let (producer, pool) = (producer.clone(), pool.clone());
        move || {
            let push = |n| match producer.push(pool.insert(id * 10 + n)) {
                Pushed::Grew => None,
                Pushed::Overwrote(message) => Some(*message),
            };
            (0..EACH).map(push).collect::<Vec<_>>()
        }
    });
    let mut taken = Vec::new();
    let pushed = senders.receive(|| {
        while let Some(message) = consumer.take() {
            taken.push(*message);
        }
    });
    let overwritten: Vec<u32> = pushed.iter().flatten().copied().flatten().collect();
    let grew = pushed.iter().flatten().filter(|pushed| pushed.is_none()).count();
    assert_eq!(grew, taken.len(), "one take for each `Grew`");
    for id in 0..PRODUCERS {
        assert!(taken.iter().filter(|n| **n / 10 == id).is_sorted(), "producer {id}: {taken:?}");
    }
    assert_eq!(taken.last().map(|n| n % 10), Some(EACH - 1), "the newest is kept");
    let mut all = [taken, overwritten].concat();
    all.sort();
    let sent = (0..PRODUCERS).flat_map(|id| (0..EACH).map(move |n| id * 10 + n));
    assert_eq!(all, sent.collect::<Vec<_>>());
}

#[test]
fn three_producers_keep_the_newest_three() {
    Model::new(1_000).kills("keep_last.commit").kills("keep_last.take").check(|| race(3));
}

#[test]
fn three_producers_keep_the_newest() {
    Model::new(1_000).kills("keep_last.commit").kills("keep_last.take").check(|| race(1));
}
