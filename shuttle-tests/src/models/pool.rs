//! The message pool.

use super::join;
use crate::explore::Model;
use crate::pool::Pool;
use shuttle::thread::spawn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Counts its drops.
struct Message(u32, Arc<AtomicU32>);

impl Drop for Message {
    fn drop(&mut self) {
        self.1.fetch_add(1, SeqCst);
    }
}

/// Three threads fill slots, share one message and drop theirs in another order: a slot has one
/// owner at a time, and at most nine are in use, so the pool does not grow.
#[test]
fn three_threads_share_the_slots_without_growth() {
    let model = Model::new(1_000).kills("pool.take").kills("pool.free");
    model.kills("pool.clone").kills("pool.drop").check(|| {
        let drops = Arc::new(AtomicU32::new(0));
        let pool = Pool::new();
        pool.reserve(9);
        let reserved = pool.capacity();
        let shared = pool.insert(Message(99, drops.clone()));
        let threads = [0, 1, 2].map(|id| {
            let (pool, shared, drops) = (pool.clone(), shared.clone(), drops.clone());
            spawn(move || {
                for n in 0..4 {
                    let first = pool.insert(Message(id * 10 + n, drops.clone()));
                    let copy = shared.clone();
                    let second = pool.insert(Message(id * 10 + n + 5, drops.clone()));
                    assert_eq!(first.0, id * 10 + n);
                    drop(first);
                    assert_eq!((second.0, copy.0), (id * 10 + n + 5, 99));
                }
            })
        });
        drop(shared);
        join(threads);
        assert_eq!(drops.load(SeqCst), 1 + 3 * 4 * 2);
        assert_eq!(pool.capacity(), reserved);
    });
}

/// The pool and its messages are dropped in any order, the slots with the last of them.
#[test]
fn messages_outlive_their_pool() {
    let model = Model::new(1_000).kills("pool.last").kills("pool.settle");
    model.check(|| {
        let drops = Arc::new(AtomicU32::new(0));
        let pool = Pool::new();
        let threads = [0, 1, 2].map(|id| {
            let message = pool.insert(Message(id, drops.clone()));
            spawn(move || {
                let copy = message.clone();
                drop(message);
                assert_eq!(copy.0, id);
            })
        });
        drop(pool);
        join(threads);
        assert_eq!(drops.load(SeqCst), 3);
    });
}
