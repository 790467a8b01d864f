//! The multiplexer.

use super::join;
use crate::model::Model;
use crate::multiplexer::{Consumer, Producer, multiplexer, multiplexer_at};
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::{spawn, yield_now};
use std::sync::Arc;

/// One push before the stored sequence of an entry wraps to zero.
const BEFORE_WRAP: u64 = (1 << 40) - 1;

/// Pushes `items`, retrying those that are handed back, with at most `tries` attempts in all.
fn push_all(producer: &mut Producer<u32>, items: &[u32], tries: usize) -> usize {
    let mut pushed = 0;
    for _ in 0..tries {
        let Some(item) = items.get(pushed) else { break };
        pushed += usize::from(producer.push(*item).is_ok());
    }
    pushed
}

/// Reads up to `reads` times, one by one.
fn read_some(consumer: &mut Consumer<u32>, reads: usize) -> Vec<u32> {
    (0..reads).filter_map(|_| consumer.read().map(|item| *item)).collect()
}

fn read_rest(consumer: &mut Consumer<u32>, mut read: Vec<u32>) -> Vec<u32> {
    consumer.read_batch(usize::MAX, |item| read.push(*item));
    read
}

/// A slot is not refilled before it was read, nor read before it is filled.
#[test]
fn one_consumer() {
    Model::new(600)
        .kills("gating.commit", Relaxed)
        .kills("gating.look", Relaxed)
        .kills("gating.pass", Relaxed)
        .kills("gating.scan", Relaxed)
        .check(|| {
            let (mut producer, multiplexer) = multiplexer_at(1, 1, BEFORE_WRAP);
            let mut consumer = multiplexer.join().unwrap();
            let pusher = spawn(move || (push_all(&mut producer, &[1, 2, 3], 3), producer));
            let reader = spawn(move || (read_some(&mut consumer, 3), consumer));
            let (pushed, producer) = pusher.join().unwrap();
            let (read, mut consumer) = reader.join().unwrap();
            assert_eq!(read_rest(&mut consumer, read), [1, 2, 3][..pushed]);
            drop((producer, multiplexer));
        });
}

/// Two consumers see the same items independently; the slower one gates.
#[test]
fn two_consumers() {
    Model::new(2_500).preemptions(2).check(|| {
        let (mut producer, multiplexer) = multiplexer(2, 2);
        let consumers = [(); 2].map(|()| multiplexer.join().unwrap());
        let pusher = spawn(move || (push_all(&mut producer, &[1, 2, 3, 4], 4), producer));
        let readers = consumers.map(|mut consumer| {
            spawn(move || {
                let mut read = Vec::new();
                consumer.read_batch(1, |item| read.push(*item));
                consumer.read_batch(2, |item| read.push(*item));
                (read, consumer)
            })
        });
        let (pushed, producer) = pusher.join().unwrap();
        for (read, mut consumer) in join(readers) {
            assert_eq!(read_rest(&mut consumer, read), [1, 2, 3, 4][..pushed]);
        }
        drop((producer, multiplexer));
    });
}

/// Batches across the blocks, for several laps: they are complete when they become visible, and a
/// consumer that stops in the middle of one continues there.
#[test]
fn batches() {
    Model::new(500).preemptions(3).check(|| {
        let (mut producer, multiplexer) = multiplexer_at(3, 1, BEFORE_WRAP);
        let mut consumer = multiplexer.join().unwrap();
        let pusher = spawn(move || {
            let mut items = 1..=5;
            let pushed = [2, 3].map(|most| producer.push_batch(&mut items.by_ref().take(most)));
            (pushed, producer)
        });
        let reader = spawn(move || {
            let mut read = Vec::new();
            consumer.read_batch(1, |item| read.push(*item));
            read.extend(consumer.read().map(|item| *item));
            consumer.read_batch(2, |item| read.push(*item));
            (read, consumer)
        });
        let (pushed, producer) = pusher.join().unwrap();
        let (read, mut consumer) = reader.join().unwrap();
        let all = [1, 2, 3, 4, 5];
        assert_eq!(read_rest(&mut consumer, read), all[..pushed.iter().sum()]);
        drop((producer, multiplexer));
    });
}

/// A consumer that joins a running stream sees it from some item on without a gap, and no item is
/// overwritten while it reads. It misses no item that is pushed after it joined.
#[test]
fn join_against_push() {
    let model = Model::new(250).preemptions(3);
    model.kills("gating.ask", Relaxed).kills("gating.answer", Relaxed).check(|| {
        let (mut producer, multiplexer) = multiplexer(2, 1);
        let pusher = spawn(move || (push_all(&mut producer, &[1, 2, 3, 4], 4), producer));
        let joiner = spawn(move || {
            let mut consumer = multiplexer.join().unwrap();
            (read_some(&mut consumer, 2), consumer, multiplexer)
        });
        let (pushed, mut producer) = pusher.join().unwrap();
        let (read, mut consumer, multiplexer) = joiner.join().unwrap();
        let read = read_rest(&mut consumer, read);
        assert!([1, 2, 3, 4][..pushed].ends_with(&read), "{read:?} of {pushed}");
        producer.push(5).unwrap();
        assert_eq!(consumer.read().as_deref(), Some(&5));
        drop((producer, multiplexer));
    });
}

/// A consumer leaves without having released its item (its guard is forgotten), and another one
/// takes its place: the producer overwrites nothing that the first one still reads, and
/// distinguishes the place's new owner from the old one.
#[test]
fn leave_and_join_against_push() {
    let model = Model::new(3_000).preemptions(3);
    model.kills("gating.leave", Relaxed).kills("gating.admit", Relaxed).check(|| {
        let (mut producer, multiplexer) = multiplexer(2, 1);
        let mut first = multiplexer.join().unwrap();
        producer.push(1).unwrap();
        let leaver = spawn(move || {
            let guard = first.read().unwrap();
            let item = *guard;
            std::mem::forget(guard);
            item
        });
        let joiner = spawn(move || {
            let second = multiplexer.join().ok().map(|mut consumer| {
                yield_now(); // loom's search would not place a push here
                (read_some(&mut consumer, 2), consumer)
            });
            (second, multiplexer)
        });
        let pusher = spawn(move || (push_all(&mut producer, &[2, 3], 2), producer));
        let (pushed, producer) = pusher.join().unwrap();
        assert_eq!(leaver.join().unwrap(), 1);
        let (second, multiplexer) = joiner.join().unwrap();
        if let Some((read, mut consumer)) = second {
            let read = read_rest(&mut consumer, read);
            assert!([2, 3][..pushed].ends_with(&read), "{read:?} of {pushed}");
        }
        drop((producer, multiplexer));
    });
}

/// A consumer that leaves before its admission leaves no gate behind.
#[test]
fn leave_before_admission() {
    Model::new(20).check(|| {
        let (mut producer, multiplexer) = multiplexer(1, 1);
        let pusher = spawn(move || {
            let pushed = push_all(&mut producer, &[1], 1);
            (pushed, producer)
        });
        let visitor = spawn(move || {
            drop(multiplexer.join().unwrap());
            multiplexer
        });
        let (pushed, mut producer) = pusher.join().unwrap();
        let multiplexer = visitor.join().unwrap();
        assert_eq!(pushed, 1);
        assert_eq!(push_all(&mut producer, &[2, 3], 2), 2);
        drop(multiplexer.join().unwrap());
    });
}

/// Two consumers join at the same time, and each gets its own place.
#[test]
fn two_join_at_once() {
    Model::new(3_000).preemptions(3).check(|| {
        let (mut producer, multiplexer) = multiplexer(2, 2);
        let joiners = [(); 2].map(|()| {
            let multiplexer = multiplexer.clone();
            spawn(move || multiplexer.join().unwrap())
        });
        let pusher = spawn(move || (producer.push(1), producer));
        let (pushed, mut producer) = pusher.join().unwrap();
        let consumers = join(joiners);
        assert!(pushed.is_ok() && multiplexer.join().is_err());
        producer.push(2).unwrap();
        for mut consumer in consumers {
            assert_eq!(read_rest(&mut consumer, Vec::new()).last(), Some(&2));
        }
    });
}

/// A consumer that observes the producer's end finds all its items.
#[test]
fn abandoned() {
    let model = Model::new(13);
    model.kills("gating.abandon", Relaxed).kills("gating.abandoned", Relaxed).check(|| {
        let (mut producer, multiplexer) = multiplexer(1, 1);
        let mut consumer = multiplexer.join().unwrap();
        let pusher = spawn(move || producer.push(1).unwrap()); // drops the producer
        let reader = spawn(move || {
            assert!(!consumer.is_abandoned() || !consumer.is_empty());
            assert!(!consumer.is_abandoned() || consumer.read().is_some());
            consumer
        });
        pusher.join().unwrap();
        drop(reader.join().unwrap());
    });
}

/// Each item is dropped once, by the producer or with the ring, on any thread.
#[test]
fn items_are_dropped() {
    Model::new(1_900).check(|| {
        let witness = Arc::new(());
        let (mut producer, multiplexer) = multiplexer(1, 1);
        let mut consumer = multiplexer.join().unwrap();
        drop(multiplexer);
        let items = [0; 3].map(|_| witness.clone());
        let pusher = spawn(move || {
            for item in items {
                drop(producer.push(item));
            }
        });
        let reader = spawn(move || {
            for _ in 0..2 {
                assert!(consumer.read().is_none_or(|item| Arc::strong_count(&item) > 1));
            }
        });
        pusher.join().unwrap();
        reader.join().unwrap();
        assert_eq!(Arc::strong_count(&witness), 1);
    });
}
