//! The ready set. A lost wake-up or mark leaves the worker parked for ever, which loom reports as a
//! deadlock.

use super::join;
use crate::model::{Model, Plain};
use crate::ready_set::{Members, ReadySet};
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// A set, with the number of pending events of each loop in use. Counting is relaxed, so that only
/// the set orders events.
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

    /// Runs a worker until it has handled `events`: clears the mark of an idle loop, checks once
    /// more, sleeps when no loop is marked.
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

    /// Takes the visible events of `index`.
    fn take(&self, index: usize) -> u32 {
        let seen = self.waiting(index).load(Relaxed);
        if seen > 0 {
            self.waiting(index).fetch_sub(seen, Relaxed);
        }
        seen
    }
}

/// One marker thread for each of `marked`, and the worker; afterwards the set allows sleep again.
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
    // A mark may be left of an event that was handled early; the worker would clear it next.
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
        .kills("ready_set.mark", Acquire)
        .kills("ready_set.clear", Relaxed)
        .check(|| race(2, [0, 0]));
}

/// Two loops in one word.
#[test]
fn two_loops_are_marked_while_the_worker_goes_to_sleep() {
    Model::new(800).preemptions(3).kills("ready_set.mark", Release).check(|| race(2, [0, 1]));
}

/// A marker is suspended for ever before it wakes the worker that it saw asleep: the next one wakes
/// it.
#[test]
fn a_marker_that_never_wakes_the_worker_hides_no_other() {
    Model::new(20).check(|| {
        let shared = Loops::new(2, &[0, 1]);
        let suspended = spawn({
            let shared = shared.clone();
            move || {
                shared.set.set_mark(0);
            }
        });
        let marker = spawn({
            let shared = shared.clone();
            move || shared.post(1)
        });
        let worker = spawn(move || shared.work(1));
        join([suspended, marker, worker]);
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

/// One loop is marked while the last other mark of its leaf is cleared.
#[test]
fn clearing_the_last_loop_keeps_a_concurrent_mark_of_the_leaf() {
    Model::new(3_000)
        .preemptions(3)
        .kills("ready_set.mark", Acquire)
        .kills("ready_set.group_clear", Relaxed)
        .check(|| race(64, [5, 6]));
}

/// The same across two leaves that share a bit of the summary.
#[test]
fn clearing_the_last_leaf_keeps_a_concurrent_mark_of_the_group() {
    Model::new(400).preemptions(2).check(|| race(63 * 64 + 1, [5, 64 + 5]));
}

/// Two loops are marked; the marker's earlier writes are visible to the worker that finds its loop
/// when it searches from `start` on.
fn publish(loops: usize, start: usize) {
    let shared = Arc::new((ReadySet::new(loops), [Plain::new(0), Plain::new(0)]));
    let markers = [0, 1].map(|index| {
        let shared = shared.clone();
        spawn(move || {
            shared.1[index].set(7);
            shared.0.mark(index);
        })
    });
    let worker = spawn(move || {
        if let Some(index) = shared.0.next(start) {
            assert_eq!(shared.1[index].get(), 7);
        }
    });
    join(markers);
    worker.join().unwrap();
}

/// The marker's earlier writes are visible to the worker that finds its mark.
#[test]
fn a_mark_publishes_earlier_writes() {
    Model::new(400).kills("ready_set.next", Relaxed).check(|| publish(62, 0));
}

/// The same through a leaf, which the worker may find before the summary is marked.
#[test]
fn a_mark_in_a_leaf_publishes_earlier_writes() {
    Model::new(2_000).kills("leaves.near", Relaxed).check(|| publish(64, 0));
}

/// The same when the search starts in another leaf.
#[test]
fn a_mark_in_another_leaf_publishes_earlier_writes() {
    Model::new(2_000).kills("leaves.next", Relaxed).check(|| publish(128, 64));
}

/// A stop request, a relaxed flag with a wake-up, ends every sleep.
#[test]
fn a_wake_reaches_a_worker_that_is_about_to_sleep() {
    let model = Model::new(10).kills("ready_set.wake", Acquire).kills("ready_set.wake", Release);
    let model = model.kills("ready_set.register", Acquire).kills("ready_set.register", Release);
    model.check(|| {
        let shared = Arc::new((ReadySet::new(1), AtomicU32::new(0)));
        let stopper = spawn({
            let shared = shared.clone();
            move || {
                shared.1.store(1, Relaxed);
                shared.0.wake();
                shared
            }
        });
        let worker = spawn(move || {
            shared.0.register_sleeper();
            while shared.1.load(Relaxed) == 0 {
                shared.0.sleep(Duration::MAX);
            }
            shared
        });
        drop((stopper.join().unwrap(), worker.join().unwrap()));
    });
}

/// The same, for a worker that searches among some loops.
#[test]
fn a_mark_publishes_earlier_writes_to_a_search_among_members() {
    Model::new(5).kills("ready_set.next_in", Relaxed).check(|| {
        let shared = Arc::new((ReadySet::new(2), Plain::new(0)));
        let marker = spawn({
            let shared = shared.clone();
            move || {
                shared.1.set(7);
                shared.0.mark(1);
            }
        });
        let worker = spawn(move || {
            let mut members = Members::default();
            members.insert(1);
            if shared.0.next_in(0, &members).is_some() {
                assert_eq!(shared.1.get(), 7);
            }
        });
        marker.join().unwrap();
        worker.join().unwrap();
    });
}

/// A thread adds a loop in a new block of leaves, and marks it, while another one marks a loop in
/// the same group that was there before. The worker finds both, and may sleep in between.
#[test]
fn a_loop_is_added_while_the_worker_searches_and_sleeps() {
    let model = Model::new(1_000).preemptions(2);
    model.kills("leaves.add", Relaxed).kills("leaves.block", Relaxed).check(|| {
        const OLD: usize = 64;
        const NEW: usize = 3 * 64;
        let shared = Loops::new(62, &[OLD, NEW]);
        shared.set.reserve(OLD + 1);
        let grower = spawn({
            let shared = shared.clone();
            move || {
                shared.set.reserve(NEW + 1);
                shared.post(NEW);
            }
        });
        let marker = spawn({
            let shared = shared.clone();
            move || shared.post(OLD)
        });
        let worker = spawn({
            let shared = shared.clone();
            move || shared.work(2)
        });
        join([grower, marker]);
        worker.join().unwrap();
        while let Some(index) = shared.set.next(0) {
            shared.set.clear(index);
        }
        assert!(shared.set.is_empty(), "a phantom mark forbids sleep");
    });
}
