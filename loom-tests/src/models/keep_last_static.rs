//! The keep-last queue that stores its items in place.

use crate::keep_last_static::KeepLast;
use crate::model::Model;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;

/// Pushes `pushes` boxed items into a queue of `N` while the other side pops twice. Every item is
/// taken or overwritten once, in order; the newest is never lost; each cell is used by one side at
/// a time. In the models a sequence wraps after four pushes.
fn race<const N: usize>(pushes: u32) {
    // loom's threads need `'static` data; the queue is freed at the end.
    let queue: &'static KeepLast<Box<u32>, N> = Box::leak(Box::new(KeepLast::new()));
    let (mut producer, mut consumer) = queue.split().unwrap();
    let pusher = spawn(move || {
        let lost: Vec<_> = (0..pushes).filter_map(|n| producer.push(Box::new(n))).collect();
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
    assert_eq!(taken.last().map(|item| **item), Some(pushes - 1), "the newest is never lost");
    let mut all: Vec<_> = taken.into_iter().chain(lost).map(|item| *item).collect();
    all.sort();
    assert_eq!(all, (0..pushes).collect::<Vec<_>>());
    // SAFETY: leaked above, and both ends are gone.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(queue).cast_mut()) });
}

/// Depth 1, a triple buffer: kills every weakening of the exchanges. The fifth item gets the first
/// one's word: a pop that was suspended in between takes it, complete.
#[test]
fn a_queue_of_one_is_a_triple_buffer() {
    Model::new(30)
        .preemptions(3)
        .kills("keep_last_static.push", Acquire)
        .kills("keep_last_static.push", Release)
        .kills("keep_last_static.take", Acquire)
        .kills("keep_last_static.take", Release)
        .check(|| race::<1>(5));
}

/// Depth 2: the consumer skips overwritten items, and is lapped by a whole turn of the sequence.
/// Kills the relaxed peek (the item before the one found is not seen, and delivered after it).
#[test]
fn a_queue_of_two_keeps_the_newest_two() {
    Model::new(30).preemptions(3).kills("keep_last_static.peek", Relaxed).check(|| race::<2>(5));
}

/// A lag of four and of six items, which the sequences do not show: the newest two items are found
/// in order, also while the producer goes on.
#[test]
fn a_consumer_lapped_by_a_whole_turn_finds_the_newest_in_order() {
    for lag in [4, 5, 6, 8] {
        Model::new(5).preemptions(3).check(move || {
            let queue: &'static KeepLast<Box<u32>, 2> = Box::leak(Box::new(KeepLast::new()));
            let (mut producer, mut consumer) = queue.split().unwrap();
            for n in 0..lag {
                drop(producer.push(Box::new(n)));
            }
            let pusher = spawn(move || drop(producer.push(Box::new(lag))));
            let popper = spawn(move || {
                let taken: Vec<_> = (0..2).filter_map(|_| consumer.pop()).collect();
                (taken, consumer)
            });
            pusher.join().unwrap();
            let (mut taken, mut consumer) = popper.join().unwrap();
            taken.extend(std::iter::from_fn(|| consumer.pop()));
            let taken: Vec<_> = taken.into_iter().map(|item| *item).collect();
            assert!(taken.ends_with(&[lag - 1, lag]), "{taken:?}");
            assert!(taken.len() == 2 || taken == [lag - 2, lag - 1, lag], "{taken:?}");
            // SAFETY: leaked above, and both ends are gone.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(queue).cast_mut()) });
        });
    }
}
