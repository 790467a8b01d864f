//! The message pool.

use super::join;
use crate::model::Model;
use crate::pool::{Pool, Shared};
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;

/// A pool with four slots, of which `used` hold a message.
fn pool(used: usize) -> (Pool<u32>, Vec<Shared<u32>>) {
    let pool = Pool::new();
    pool.reserve(4);
    let messages = (0..used).map(|n| pool.insert(n as u32)).collect();
    (pool, messages)
}

/// The last of two readers drops the message, after the other reader has finished.
#[test]
fn the_last_reader_drops_the_message() {
    Model::new(4)
        .kills("pool.drop", Relaxed)
        .kills("pool.dead", Relaxed)
        .kills("pool.alone", Relaxed)
        .check(|| {
            let witness = Arc::new(7);
            let pool = Pool::new();
            let message = pool.insert(witness.clone());
            let readers = [message.clone(), message].map(|message| {
                spawn(move || assert_eq!(**message, 7)) // drops the message
            });
            join(readers);
            assert_eq!(Arc::strong_count(&witness), 1);
        });
}

/// Clones made on several threads are counted like others.
#[test]
fn clones_of_clones_are_counted() {
    Model::new(50).check(|| {
        let witness = Arc::new(7);
        let pool = Pool::new();
        let message = pool.insert(witness.clone());
        let readers = [message.clone(), message].map(|message| {
            spawn(move || {
                let copy = message.clone();
                drop(message);
                assert_eq!(**copy, 7);
            })
        });
        join(readers);
        assert_eq!(Arc::strong_count(&witness), 1);
    });
}

/// A slot freed by one thread can be filled by another.
#[test]
fn a_slot_is_refilled_by_another_thread() {
    let model = Model::new(9).kills("pool.free", Relaxed);
    model.kills("pool.look", Relaxed).kills("pool.relook", Relaxed).check(|| {
        let (pool, mut held) = pool(3);
        let given_back = held.pop();
        let dropper = spawn(move || drop(given_back));
        let inserter = spawn(move || {
            let message = pool.insert(9);
            assert_eq!(*message, 9);
            (message, pool)
        });
        dropper.join().unwrap();
        let (message, pool) = inserter.join().unwrap();
        assert_eq!(pool.capacity(), 4);
        assert_eq!([*message, *held[0], *held[1]], [9, 0, 1]);
    });
}

/// While one thread is about to remove the first free slot, another one removes it, removes the
/// next one, and returns the first one. Without the tag, the next one would be handed out twice.
#[test]
fn a_reused_slot_is_not_mistaken_for_unchanged() {
    Model::new(100).preemptions(3).kills("pool.claim", Relaxed).check(|| {
        let (pool, _) = pool(0);
        let pools = [pool.clone(), pool.clone()];
        let [slow, quick] = pools;
        let slow = spawn(move || (slow.insert(1), slow));
        let quick = spawn(move || {
            let (first, second) = (quick.insert(2), quick.insert(3));
            drop(first);
            let third = quick.insert(4);
            (second, third, quick)
        });
        let slow = slow.join().unwrap();
        let quick = quick.join().unwrap();
        assert_eq!([*slow.0, *quick.0, *quick.1], [1, 3, 4]);
        assert_eq!(pool.capacity(), 4);
    });
}

/// Two threads find an empty pool, and both get a slot. If one of them has added a segment whose
/// slots are not free yet, the other one adds the next segment instead of waiting. Three
/// preemptions are enough for each of its mutants to fail.
#[test]
fn two_threads_grow_the_pool() {
    let model = Model::new(90).preemptions(3).kills("pool.near", Relaxed);
    model.kills("pool.settle_near", Relaxed).check(|| {
        let pool = Pool::new();
        let threads = [1, 2].map(|n| {
            let pool = pool.clone();
            spawn(move || (pool.insert(n), pool))
        });
        let messages = join(threads).map(|(result, _)| result);
        assert_eq!(messages.map(|message| *message), [1, 2]);
        assert!([4, 12].contains(&pool.capacity()));
    });
}

/// The pool is dropped while `outstanding` messages remain, each dropped on its own thread.
fn close(outstanding: usize) {
    let witness = Arc::new(());
    let pool = Pool::new();
    let messages: Vec<_> = (0..outstanding).map(|_| pool.insert(witness.clone())).collect();
    let one_more = witness.clone();
    let closer = spawn(move || {
        let message = pool.insert(one_more);
        drop((message, pool));
    });
    let droppers: Vec<_> =
        messages.into_iter().map(|message| spawn(move || drop(message))).collect();
    droppers.into_iter().for_each(|thread| thread.join().unwrap());
    closer.join().unwrap();
    assert_eq!(Arc::strong_count(&witness), 1);
}

/// The slots are freed with the pool or with its last message, whichever comes last, after all use.
#[test]
fn a_message_outlives_its_pool() {
    Model::new(90)
        .kills("pool.orphan", Relaxed)
        .kills("pool.return", Relaxed)
        .kills("pool.last", Acquire)
        .kills("pool.last", Release)
        .kills("pool.settle", Acquire)
        .kills("pool.settle", Release)
        .check(|| close(1));
}

/// The same with two messages; any of them may still find the pool open.
#[test]
fn two_messages_outlive_their_pool() {
    Model::new(1_000).preemptions(2).kills("pool.close", Relaxed).check(|| close(2));
}
