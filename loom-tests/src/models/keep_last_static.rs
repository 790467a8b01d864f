//! The keep-last queue that stores its items in place.

use crate::keep_last_static::KeepLast;
use crate::model::Model;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;

/// Pushes four boxed items into a queue of `N` while the other side pops twice. Every item is taken
/// or overwritten once, in order; the newest is never lost; each cell is used by one side at a
/// time.
fn race<const N: usize>() {
    // loom's threads need `'static` data; the queue is freed at the end.
    let queue: &'static KeepLast<Box<u32>, N> = Box::leak(Box::new(KeepLast::new()));
    let (mut producer, mut consumer) = queue.split().unwrap();
    let pusher = spawn(move || {
        let lost: Vec<_> = (0..4).filter_map(|n| producer.push(Box::new(n))).collect();
        assert_eq!(producer.overwritten(), lost.len() as u64);
        lost
    });
    let popper = spawn(move || {
        let taken: Vec<_> = (0..2).filter_map(|_| consumer.pop()).collect();
        (taken, consumer)
    });
    let lost = pusher.join().unwrap();
    let (mut taken, mut consumer) = popper.join().unwrap();
    taken.extend(std::iter::from_fn(|| consumer.pop()));
    assert!(taken.is_sorted() && lost.is_sorted());
    assert_eq!(taken.last().map(|item| **item), Some(3), "the newest is never lost");
    let mut all: Vec<_> = taken.into_iter().chain(lost).map(|item| *item).collect();
    all.sort();
    assert_eq!(all, [0, 1, 2, 3]);
    // SAFETY: leaked above, and both ends are gone.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(queue).cast_mut()) });
}

/// Depth 1, a triple buffer: kills every weakening of the three exchanges.
#[test]
#[expect(clippy::redundant_closure, reason = "the closure tells the model its test's name")]
fn a_queue_of_one_is_a_triple_buffer() {
    Model::new(30)
        .preemptions(3)
        .kills("keep_last_static.push", Acquire)
        .kills("keep_last_static.push", Release)
        .kills("keep_last_static.peek", Relaxed)
        .kills("keep_last_static.take", Relaxed)
        .check(|| race::<1>());
}

/// Depth 2: the consumer skips overwritten items.
#[test]
#[expect(clippy::redundant_closure, reason = "the closure tells the model its test's name")]
fn a_queue_of_two_keeps_the_newest_two() {
    Model::new(30).preemptions(3).check(|| race::<2>());
}
