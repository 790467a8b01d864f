//! The keep-last queue.

use super::join;
use crate::keep_last::{Consumer, Pushed, queue, queue_at};
use crate::model::{Model, Plain};
use crate::pool::{Pool, Shared};
use crate::ready;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::iter::from_fn;
use std::sync::Arc;

/// One push before the stored sequence of an entry wraps to zero.
const BEFORE_WRAP: u64 = (1 << 40) - 1;

/// A pool with enough slots, so that models spend no schedules on its growth.
fn pool<T>() -> Pool<T> {
    let pool = Pool::new();
    pool.reserve(4);
    pool
}

/// Producers push `batches` while a consumer takes; afterwards every message was either taken or
/// overwritten, `Grew` counts the taken ones, messages of one producer are in order, and the newest
/// one is kept.
fn race<const N: usize>(depth: usize, batches: [&'static [u32]; N], takes: usize) {
    let pool = pool();
    let (producer, mut consumer) = queue_at(&pool, depth, BEFORE_WRAP);
    let producers = batches.map(|batch| {
        let producer = producer.clone();
        let messages: Vec<_> = batch.iter().map(|n| pool.insert(*n)).collect();
        spawn(move || {
            let pushed: Vec<_> = messages.into_iter().map(|m| producer.push(m)).collect();
            (pushed, producer)
        })
    });
    let taker = spawn(move || {
        let taken: Vec<_> = (0..takes).filter_map(|_| consumer.take()).collect();
        (taken, consumer)
    });
    let pushed = join(producers).map(|(result, _)| result);
    let (mut taken, mut consumer) = taker.join().unwrap();
    taken.extend(from_fn(|| consumer.take()));

    let taken: Vec<u32> = taken.iter().map(|message| **message).collect();
    let overwritten: Vec<u32> = pushed.iter().flatten().filter_map(message_of).collect();
    let grew = pushed.iter().flatten().count() - overwritten.len();
    assert_eq!(grew, taken.len(), "one take for each `Grew`");
    for batch in batches {
        assert!(taken.iter().filter(|n| batch.contains(n)).is_sorted());
    }
    assert!(batches.iter().any(|batch| batch.last() == taken.last()), "the newest is kept");
    let mut all = [taken, overwritten].concat();
    all.sort();
    assert_eq!(all, batches.concat());
}

fn message_of(pushed: &Pushed<u32>) -> Option<u32> {
    match pushed {
        Pushed::Grew => None,
        Pushed::Overwrote(message) => Some(**message),
    }
}

/// A queue of one is overwritten during a take.
#[test]
fn a_queue_of_one() {
    Model::new(400).check(|| race(1, [&[1, 2, 3]], 2));
}

/// The consumer falls behind by more than a lap.
#[test]
fn a_queue_of_two() {
    Model::new(400).check(|| race(2, [&[1, 2, 3, 4]], 2));
}

/// Two producers overwrite each other.
#[test]
fn two_producers_and_a_queue_of_one() {
    Model::new(2_000).preemptions(2).check(|| race(1, [&[1, 2], &[11]], 1));
}

/// Two producers and a consumer that falls behind.
#[test]
fn two_producers_and_a_queue_of_two() {
    Model::new(6_000).preemptions(2).check(|| race(2, [&[1, 2], &[11, 12]], 1));
}

/// The producer's writes before a push are visible to the thread that takes or displaces the
/// message.
#[test]
fn a_message_is_complete_when_taken_or_displaced() {
    let model = Model::new(2_000).preemptions(3).kills("keep_last.peek", Relaxed);
    let model = model.kills("keep_last.commit", Acquire).kills("keep_last.commit", Release);
    model.check(|| {
        let pool = pool::<Plain<u32>>();
        let (producer, mut consumer) = queue(&pool, 1);
        let producers = [1, 2].map(|n| {
            let (producer, message) = (producer.clone(), pool.insert(Plain::new(0)));
            spawn(move || {
                message.set(n);
                let pushed = producer.push(message);
                if let Pushed::Overwrote(older) = &pushed {
                    assert_eq!(older.get(), 3 - n);
                }
                (pushed, producer)
            })
        });
        let taker = spawn(move || {
            let taken = consumer.take();
            assert!(taken.as_ref().is_none_or(|message| message.get() > 0));
            (taken, consumer)
        });
        drop(join(producers));
        drop(taker.join().unwrap());
    });
}

/// Pushes `messages`, with one token for each that grows the queue. The ring never refuses a token:
/// it has as many entries as the queue, and an entry is refilled only after its token was popped.
fn push_with_tokens(
    queue: &crate::keep_last::Producer<u32>,
    ring: &ready::Producer,
    messages: Vec<Shared<u32>>,
) -> Vec<Pushed<u32>> {
    let push = |message| {
        let pushed = queue.push(message);
        if let Pushed::Grew = pushed {
            ring.push(1).expect("there is room for a token");
        }
        pushed
    };
    messages.into_iter().map(push).collect()
}

/// Polls for a token `looks` times; each token must find its message.
fn take_by_token(
    queue: &mut Consumer<u32>,
    ring: &mut ready::Consumer,
    looks: usize,
) -> Vec<Shared<u32>> {
    let tokens = (0..looks).filter_map(|_| ring.pop());
    tokens.map(|_| queue.take().expect("a token means a message")).collect()
}

/// Producers push `batches` and tokens while a consumer takes by token.
fn race_with_tokens<const N: usize>(batches: [&'static [u32]; N], looks: usize) {
    let pool = pool();
    let (queue, mut taker) = queue(&pool, 2);
    let (ring, mut popper) = ready::ring_at(2, 0);
    let producers = batches.map(|batch| {
        let (queue, ring) = (queue.clone(), ring.clone());
        let messages: Vec<_> = batch.iter().map(|n| pool.insert(*n)).collect();
        spawn(move || (push_with_tokens(&queue, &ring, messages), queue, ring))
    });
    let consumer = spawn(move || (take_by_token(&mut taker, &mut popper, looks), taker, popper));
    let pushed = join(producers);
    let (taken, mut taker, mut popper) = consumer.join().unwrap();
    while popper.pop().is_some() {
        assert!(taker.take().is_some());
    }
    assert!(taker.take().is_none());
    drop((pushed, taken));
}

/// One token per `Grew`: there is always room for it, and it always finds its message, even if the
/// consumer has to skip overwritten ones.
#[test]
fn a_token_finds_its_message() {
    Model::new(100)
        .preemptions(3)
        .kills("keep_last.commit", Acquire)
        .kills("keep_last.peek", Relaxed)
        .check(|| race_with_tokens([&[1, 2, 3, 4]], 2));
}

/// The same with two producers: each passes on its view of the other's messages.
#[test]
fn a_token_finds_its_message_among_two_producers() {
    Model::new(4_000)
        .preemptions(2)
        .kills("keep_last.hint", Relaxed)
        .kills("keep_last.publish", Relaxed)
        .check(|| race_with_tokens([&[1, 2], &[11]], 1));
}

/// Messages that remain in the queue are dropped with its last handle, on any thread.
#[test]
fn remaining_messages_are_dropped_with_the_queue() {
    Model::new(20).check(|| {
        let witness = Arc::new(());
        let pool = pool();
        let (producer, mut consumer) = queue(&pool, 2);
        let messages = [0; 2].map(|_| pool.insert(witness.clone()));
        drop(pool);
        let pusher = spawn(move || {
            for message in messages {
                assert!(matches!(producer.push(message), Pushed::Grew));
            }
        });
        let taker = spawn(move || drop(consumer.take()));
        pusher.join().unwrap();
        taker.join().unwrap();
        assert_eq!(Arc::strong_count(&witness), 1);
    });
}
