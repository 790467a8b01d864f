//! The single-producer, single-consumer ring.

use super::join;
use crate::model::Model;
use crate::spsc::{Full, ring_at};
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::sync::Arc;

/// Single items and a batch pass through rings of one and of two blocks, past the wrap of the
/// positions: all arrive complete and in order, and a slot is rewritten only after its item was
/// moved out.
///
/// Kills the relaxed commit and pop (an item is seen before it is written) and the relaxed release
/// and check for room (a slot is overwritten while it is read).
#[test]
fn items_pass_in_order_and_slots_are_reused() {
    for capacity in [1, 2, 3] {
        Model::new(30)
            .preemptions(3)
            .kills("spsc.commit", Relaxed)
            .kills("spsc.available", Relaxed)
            .kills("spsc.release", Relaxed)
            .kills("spsc.free", Relaxed)
            .check(move || {
                let (mut producer, mut consumer) = ring_at(capacity, usize::MAX);
                let pusher = spawn(move || {
                    let mut pushed = producer.push_batch([10, 11].map(Box::new));
                    for _ in 0..2 {
                        match producer.push(Box::new(10 + pushed)) {
                            Ok(()) => pushed += 1,
                            Err(Full(item)) => assert_eq!(*item, 10 + pushed),
                        }
                    }
                    (pushed, producer)
                });
                let popper = spawn(move || {
                    let mut popped = Vec::new();
                    popped.extend(consumer.pop());
                    consumer.pop_batch(|item| popped.push(item));
                    (popped, consumer)
                });
                let (pushed, _producer) = pusher.join().unwrap();
                let (mut popped, mut consumer) = popper.join().unwrap();
                consumer.pop_batch(|item| popped.push(item));
                let popped: Vec<_> = popped.into_iter().map(|item| *item).collect();
                assert_eq!(popped, (10..10 + pushed).collect::<Vec<_>>());
                assert!(consumer.is_empty());
            });
    }
}

/// A full ring refuses an item, but never after the consumer's pop has happened.
#[test]
fn a_full_ring_refuses_the_item() {
    Model::new(4).check(|| {
        let (mut producer, mut consumer) = ring_at(1, 0);
        producer.push(1).unwrap();
        let threads = [
            spawn(move || match producer.push(2) {
                Ok(()) => 1,
                Err(Full(item)) => {
                    assert_eq!(item, 2);
                    0
                }
            }),
            spawn(move || {
                assert_eq!(consumer.pop(), Some(1));
                usize::from(consumer.pop().is_some())
            }),
        ];
        let [pushed, popped] = join(threads);
        assert!(popped <= pushed);
    });
}

/// Batches of two and three are written and read in place, across blocks for several laps, while
/// the consumer stops in the middle of a published batch.
#[test]
fn batches_pass_in_place() {
    Model::new(30).preemptions(3).check(|| {
        let (mut producer, mut consumer) = ring_at(3, usize::MAX);
        let pusher = spawn(move || {
            let mut next = 0;
            for items_max in [2, 3] {
                producer.write_batch(items_max, |slot| {
                    next += 1;
                    slot.write(Box::new(next))
                });
            }
            (next, producer)
        });
        let popper = spawn(move || {
            let mut popped = Vec::new();
            consumer.read_batch(1, |item| popped.push(**item));
            popped.extend(consumer.pop().map(|item| *item));
            consumer.read_batch(2, |item| popped.push(**item));
            (popped, consumer)
        });
        let (pushed, _producer) = pusher.join().unwrap();
        let (mut popped, mut consumer) = popper.join().unwrap();
        consumer.read_batch(usize::MAX, |item| popped.push(**item));
        assert_eq!(popped, (1..=pushed).collect::<Vec<_>>());
    });
}

/// The ends are dropped in either order with items inside, of which the first block may be read:
/// each item is dropped once, although the second block's word does not show the batch.
#[test]
fn remaining_items_are_dropped_with_the_ring() {
    Model::new(4).check(|| {
        let witness = Arc::new(());
        let (mut producer, mut consumer) = ring_at(3, 0);
        let item = witness.clone();
        let threads = [
            spawn(move || {
                assert_eq!(producer.push_batch([item.clone(), item.clone(), item]), 3);
            }),
            spawn(move || drop((consumer.pop(), consumer.pop()))),
        ];
        join(threads);
        assert_eq!(Arc::strong_count(&witness), 1);
    });
}
