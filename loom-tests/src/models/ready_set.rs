//! The ready set. A wake-up or a mark that is lost leaves the worker parked for ever, which loom
//! reports as a deadlock.

use super::join;
use crate::model::{Model, Plain};
use crate::ready;
use crate::ready_set::ReadySet;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// A set, and for each loop in use how many events wait for it. Counting is relaxed, so that only
/// the set can make an event visible in time.
struct Loops {
    set: ReadySet,
    waiting: Vec<(usize, AtomicU32)>,
}

impl Loops {
    fn new(loops: usize, used: &[usize]) -> Arc<Self> {
        let waiting = used.iter().map(|index| (*index, AtomicU32::new(0))).collect();
        Arc::new(Self { set: ReadySet::new(loops), waiting })
    }

    fn waiting(&self, index: usize) -> &AtomicU32 {
        &self.waiting.iter().find(|(used, _)| *used == index).expect("only these are marked").1
    }

    fn post(&self, index: usize) {
        self.waiting(index).fetch_add(1, Relaxed);
        self.set.mark(index);
    }

    /// What a worker does until it has handled `events`: clear the mark of a loop without work,
    /// look once more, sleep when nothing is marked.
    fn work(&self, events: u32) {
        self.set.register_sleeper();
        let mut handled = 0;
        while handled < events {
            let Some(index) = self.set.next(0) else {
                self.set.sleep(Duration::MAX);
                continue;
            };
            handled += self.take(index);
            self.set.clear(index);
            if self.waiting(index).load(Relaxed) > 0 {
                self.set.mark(index);
            }
        }
    }

    /// Takes the events that are seen to wait for `index`.
    fn take(&self, index: usize) -> u32 {
        let seen = self.waiting(index).load(Relaxed);
        if seen > 0 {
            self.waiting(index).fetch_sub(seen, Relaxed);
        }
        seen
    }
}

/// One marker for each of `marked`, and the worker; afterwards the set allows sleep again.
fn race<const N: usize>(loops: usize, marked: [usize; N]) {
    let shared = Loops::new(loops, &marked);
    let markers = marked.map(|index| {
        let shared = shared.clone();
        spawn(move || shared.post(index))
    });
    let worker = spawn({
        let shared = shared.clone();
        move || shared.work(N as u32)
    });
    join(markers);
    worker.join().unwrap();
    // A mark may be left of an event that was handled early: the worker would now clear it.
    while let Some(index) = shared.set.next(0) {
        shared.set.clear(index);
    }
    assert!(shared.set.is_empty(), "a phantom mark forbids sleep");
}

/// A loop is marked while the worker clears it.
#[test]
fn a_mark_is_not_lost_between_clear_and_sleep() {
    Model::new(2_000)
        .preemptions(3)
        .kills("ready_set.mark", Relaxed)
        .kills("ready_set.clear", Relaxed)
        .check(|| race(2, [0, 0]));
}

/// Two loops, one word.
#[test]
fn two_loops_are_marked_while_the_worker_goes_to_sleep() {
    Model::new(800).preemptions(3).check(|| race(2, [0, 1]));
}

/// The whole path of an event: two producers push a token and mark its loop; the worker pops until
/// the ring is empty, clears the mark, looks once more, and sleeps.
#[test]
fn no_token_is_left_behind_by_a_sleeping_worker() {
    Model::new(3_000).preemptions(2).check(|| {
        let set = Arc::new(ReadySet::new(1));
        let (producer, mut consumer) = ready::ring_at(2, 0);
        let producers = [1, 2].map(|token| {
            let (producer, set) = (producer.clone(), set.clone());
            spawn(move || {
                producer.push(token).unwrap();
                set.mark(0);
                producer
            })
        });
        let worker = spawn(move || {
            set.register_sleeper();
            let mut tokens = Vec::new();
            while tokens.len() < 2 {
                if set.next(0).is_none() {
                    set.sleep(Duration::MAX);
                } else if let Some(token) = consumer.pop() {
                    tokens.push(token);
                } else {
                    set.clear(0);
                    if !consumer.is_empty() {
                        set.mark(0);
                    }
                }
            }
            tokens.sort();
            assert_eq!(tokens, [1, 2]);
            consumer
        });
        drop((join(producers), worker.join().unwrap()));
    });
}

/// More loops than the summary has bits: one is marked while its leaf is cleared.
#[test]
fn a_mark_in_a_leaf_is_not_lost() {
    Model::new(7_000)
        .preemptions(3)
        .kills("ready_set.leaf", Relaxed)
        .kills("ready_set.leaf_clear", Relaxed)
        .check(|| race(64, [5, 5]));
}

/// One loop is marked while the last other one of its leaf is cleared.
#[test]
fn a_leaf_is_not_forgotten_with_its_last_loop() {
    Model::new(3_000)
        .preemptions(3)
        .kills("ready_set.mark", Relaxed)
        .kills("ready_set.group_clear", Relaxed)
        .check(|| race(64, [5, 6]));
}

/// The same across two leaves that share a bit of the summary.
#[test]
fn a_group_is_not_forgotten_with_its_last_leaf() {
    Model::new(400).preemptions(2).check(|| race(63 * 64 + 1, [5, 64 + 5]));
}

/// Two loops are marked; what a marker did before is visible to the worker that finds its loop.
fn publish(loops: usize) {
    let shared = Arc::new((ReadySet::new(loops), [Plain::new(0), Plain::new(0)]));
    let markers = [0, 1].map(|index| {
        let shared = shared.clone();
        spawn(move || {
            shared.1[index].set(7);
            shared.0.mark(index);
        })
    });
    let worker = spawn(move || {
        if let Some(index) = shared.0.next(0) {
            assert_eq!(shared.1[index].get(), 7);
        }
    });
    join(markers);
    worker.join().unwrap();
}

/// What a marker did before is visible to the worker that finds its mark.
#[test]
fn a_mark_publishes_what_came_before_it() {
    Model::new(400).kills("ready_set.next", Relaxed).check(|| publish(63));
}

/// The same by way of a leaf, which may be marked for the worker before the summary is.
#[test]
fn a_mark_in_a_leaf_publishes_what_came_before_it() {
    Model::new(2_000).kills("ready_set.leaf_next", Relaxed).check(|| publish(64));
}

/// A request to stop, as a relaxed flag and a wake-up, ends every sleep.
#[test]
fn a_wake_reaches_a_worker_that_is_about_to_sleep() {
    Model::new(10).check(|| {
        let shared = Arc::new((ReadySet::new(1), AtomicU32::new(0)));
        let stopper = spawn({
            let shared = shared.clone();
            move || {
                shared.1.store(1, Relaxed);
                shared.0.wake();
            }
        });
        let worker = spawn(move || {
            shared.0.register_sleeper();
            while shared.1.load(Relaxed) == 0 {
                shared.0.sleep(Duration::MAX);
            }
        });
        stopper.join().unwrap();
        worker.join().unwrap();
    });
}
