//! The ready ring.

use super::join;
use crate::model::{Model, Plain};
use crate::ready::{Consumer, Full, Producer, ring_at};
use crate::ready_set::ReadySet;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::iter::from_fn;
use std::sync::Arc;
use std::time::Duration;

/// One push before the stored sequence of an entry wraps to zero.
const BEFORE_WRAP: u64 = (1 << 40) - 1;

/// Two producers push `batches` while a consumer pops; afterwards every token was either popped or
/// handed back, in order per producer, and the ring still works.
fn race(capacity: usize, batches: [&'static [u32]; 2], pops: usize) {
    let (producer, mut consumer) = ring_at(capacity, BEFORE_WRAP);
    let producers = batches.map(|batch| {
        let producer = producer.clone();
        spawn(move || {
            let rejected = batch.iter().filter_map(|token| producer.push(*token).err());
            (rejected.map(|Full(token)| token).collect::<Vec<_>>(), producer)
        })
    });
    let taker = spawn(move || {
        let popped: Vec<_> = (0..pops).filter_map(|_| consumer.pop()).collect();
        (popped, consumer)
    });
    let rejected = join(producers).map(|(result, _)| result).concat();
    let (mut popped, mut consumer) = taker.join().unwrap();
    popped.extend(from_fn(|| consumer.pop()));

    for batch in batches {
        assert!(popped.iter().filter(|token| batch.contains(token)).is_sorted());
    }
    let mut all = [popped, rejected].concat();
    all.sort();
    assert_eq!(all, batches.concat());
    check_sequentially(capacity, &producer, &mut consumer);
}

fn check_sequentially(capacity: usize, producer: &Producer, consumer: &mut Consumer) {
    for token in 0..capacity as u32 {
        assert_eq!(producer.push(token), Ok(()));
    }
    assert_eq!(producer.push(99), Err(Full(99)));
    for token in 0..capacity as u32 {
        assert_eq!(consumer.pop(), Some(token));
    }
    assert!(consumer.is_empty() && consumer.pop().is_none());
}

/// No token is lost, duplicated or reordered, past the wrap of the sequence.
#[test]
fn two_producers_and_a_consumer() {
    Model::new(3_000).preemptions(2).check(|| race(2, [&[1, 2], &[11]], 2));
}

/// The same in the smallest ring, which is full after every push.
#[test]
fn two_producers_and_a_consumer_in_a_ring_of_one() {
    Model::new(6_000).preemptions(3).check(|| race(1, [&[1], &[11, 12]], 2));
}

/// The producer's writes before a push are visible to the consumer that pops the token.
#[test]
fn a_token_publishes_its_producers_writes() {
    Model::new(7).kills("ready.commit", Relaxed).kills("ready.pop", Relaxed).check(|| {
        let (producer, mut consumer) = ring_at(1, 0);
        let payload = Arc::new(Plain::new(0));
        let written = payload.clone();
        let pusher = spawn(move || {
            written.set(7);
            producer.push(1).unwrap();
            producer
        });
        let popper = spawn(move || {
            if consumer.pop().is_some() {
                assert_eq!(payload.get(), 7);
            }
            consumer
        });
        drop((pusher.join().unwrap(), popper.join().unwrap()));
    });
}

/// A ring of one accepts one of two tokens and hands the other back.
#[test]
fn a_full_ring_refuses_the_token() {
    Model::new(20).check(|| {
        let (producer, mut consumer) = ring_at(1, BEFORE_WRAP);
        let pushers = [1, 2].map(|token| {
            let producer = producer.clone();
            spawn(move || (producer.push(token), producer))
        });
        let results = join(pushers).map(|(result, _)| result);
        match consumer.pop().unwrap() {
            1 => assert_eq!(results, [Ok(()), Err(Full(2))]),
            _ => assert_eq!(results, [Err(Full(1)), Ok(())]),
        }
    });
}

/// A producer with an outdated hint walks past entries that were filled and emptied since. It
/// acquires everything before the position that it reaches, so that it finds the free entry.
#[test]
fn a_producer_with_an_old_hint_finds_the_free_entry() {
    let model = Model::new(1_000).preemptions(3);
    model.kills("ready.hint", Relaxed).kills("ready.publish", Relaxed).check(|| {
        let (producer, mut consumer) = ring_at(2, 0);
        let walker = producer.clone();
        let ahead = spawn(move || {
            for token in 1..=3 {
                producer.push(token).unwrap();
                assert!(consumer.pop().is_some());
            }
            (producer, consumer)
        });
        let walker = spawn(move || {
            walker.push(9).unwrap();
            walker
        });
        let (_, mut consumer) = ahead.join().unwrap();
        drop(walker.join().unwrap());
        assert!(consumer.pop().is_some() && consumer.pop().is_none());
    });
}

/// A producer may stall for ever at any point of its push before it announces the token: a token of
/// another producer is found as soon as it is announced.
#[test]
fn a_stalled_producer_does_not_hide_other_tokens() {
    let model = Model::new(2_000).preemptions(3);
    model.kills("ready.hint", Relaxed).kills("ready.publish", Relaxed).check(|| {
        let (producer, mut consumer) = ring_at(2, 0);
        let silent = producer.clone();
        let set = Arc::new(ReadySet::new(1));
        let marked = set.clone();
        let stalled = spawn(move || (silent.push(2), silent));
        let prompt = spawn(move || {
            producer.push(1).unwrap();
            marked.mark(0);
            producer
        });
        let worker = spawn(move || {
            set.register_sleeper();
            while set.next(0).is_none() {
                set.sleep(Duration::MAX);
            }
            assert!(from_fn(|| consumer.pop()).any(|token| token == 1), "the token is hidden");
            consumer
        });
        drop((worker.join().unwrap(), prompt.join().unwrap(), stalled.join().unwrap()));
    });
}

/// A producer pushes while the ring grows twice, and so does a handle that knows a later ring: each
/// one's tokens come in its order, and none is lost.
#[test]
fn tokens_keep_their_order_while_the_ring_grows() {
    let model = Model::new(1_000).preemptions(2);
    model.kills("ready.closed", Relaxed).check(|| {
        let (producer, mut consumer) = ring_at(1, BEFORE_WRAP);
        let pusher = spawn({
            let producer = producer.clone();
            move || {
                let pushed: Vec<_> = [1, 2].map(|token| producer.push(token).is_ok()).into();
                (pushed, producer)
            }
        });
        let grower = spawn(move || {
            let grew = producer.reserve(2) && producer.reserve(4);
            let newest = producer.newest();
            (vec![newest.push(11).is_ok()], grew, producer)
        });
        let taker = spawn(move || {
            let popped: Vec<_> = (0..2).filter_map(|_| consumer.pop()).collect();
            (popped, consumer)
        });
        let (pushed, producer) = pusher.join().unwrap();
        let (later, grew, _) = grower.join().unwrap();
        let (mut popped, mut consumer) = taker.join().unwrap();
        popped.extend(from_fn(|| consumer.pop()));
        let mut expected: Vec<u32> = Vec::new();
        expected.extend([1, 2].iter().zip(&pushed).filter(|(_, ok)| **ok).map(|(token, _)| *token));
        assert!(popped.iter().filter(|token| **token < 11).copied().eq(expected.iter().copied()));
        expected.extend(later[0].then_some(11));
        popped.sort_unstable();
        assert_eq!(popped, expected);
        if grew {
            check_sequentially(4, &producer, &mut consumer);
        }
    });
}
