//! A worker that several threads run in turns. A lost event leaves a thread parked for ever, which
//! loom reports as a deadlock.

use super::join;
use crate::model::{Model, Plain};
use crate::ready_set::ReadySet;
use crate::strand::Strand;
use crate::sync;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::{JoinHandle, spawn};
use std::sync::Arc;
use std::time::Duration;

/// The strand of a worker that counts the events it handled; one thread at a time does.
struct System {
    threads: Vec<sync::Arc<ReadySet>>,
    strand: Strand<Plain<u32>>,
    set: sync::Arc<ReadySet>,
    /// Counting is relaxed, so that only sets and strand order events.
    waiting: AtomicU32,
    handled: AtomicU32,
}

impl System {
    /// A strand that marks wake at thread 0.
    fn new() -> Arc<Self> {
        let threads: Vec<_> = (0..2).map(|_| sync::Arc::new(ReadySet::new(1))).collect();
        let set = sync::Arc::new(ReadySet::new(1));
        let strand = Strand::new(Plain::new(0), set.clone(), 0);
        threads[0].mark(0);
        let (waiting, handled) = (AtomicU32::new(0), AtomicU32::new(0));
        let system = Self { threads, strand, set, waiting, handled };
        system.wake_at(0);
        Arc::new(system)
    }

    fn wake_at(&self, thread: usize) {
        let thread = self.threads[thread].clone();
        self.set.wake_by(Arc::new(move || thread.mark(0)));
    }

    fn publisher(self: &Arc<Self>) -> JoinHandle<()> {
        let system = self.clone();
        spawn(move || {
            system.waiting.fetch_add(1, Relaxed);
            system.set.mark(0);
        })
    }

    /// Handles the events that are visible, and clears the mark of the worker's set.
    fn handle(&self, worker: &Plain<u32>) {
        while self.set.next(0).is_some() {
            let seen = self.waiting.swap(0, Relaxed);
            worker.set(worker.get() + seen);
            self.handled.fetch_add(seen, Relaxed);
            self.set.clear(0);
            if self.waiting.load(Relaxed) > 0 {
                self.set.mark(0);
            }
        }
    }

    /// A thread that works until it has seen `events` handled.
    fn thread(self: &Arc<Self>, thread: usize, events: u32) -> JoinHandle<()> {
        let system = self.clone();
        spawn(move || {
            let set = &system.threads[thread];
            set.register_sleeper();
            let mut seen = 0;
            while seen < events {
                if set.next(0).is_none() {
                    set.sleep(Duration::MAX);
                } else if let Some(worker) = system.strand.take_marked(set) {
                    system.handle(&worker);
                    seen = worker.get();
                    system.strand.rest(worker, set);
                }
            }
        })
    }
}

/// Two threads take the worker, and one at a time has it.
#[test]
fn one_thread_at_a_time_has_the_worker() {
    Model::new(3).kills("strand.take", Release).kills("strand.put", Acquire).check(|| {
        let system = System::new();
        let threads = [(); 2].map(|()| {
            let system = system.clone();
            spawn(move || {
                let worker = system.strand.take()?;
                let count = worker.get() + 1;
                worker.set(count);
                system.strand.put(worker);
                Some(count)
            })
        });
        let counts = join(threads);
        assert!(counts.contains(&Some(1)), "{counts:?}");
    });
}

/// Another thread runs the strand once while an event comes, and its mark finds the worker taken.
/// Then the other thread marks the strand for itself, and hands that on.
#[test]
fn an_event_is_not_lost_between_two_threads() {
    let model = Model::new(1_000).preemptions(3);
    let model = model.kills("strand.take", Acquire).kills("strand.put", Release);
    model.needs("strand.second_look").needs("strand.second_try").check(|| {
        let system = System::new();
        let waiting = system.thread(0, 1);
        let other = spawn({
            let system = system.clone();
            move || {
                let set = &system.threads[1];
                if let Some(worker) = system.strand.take() {
                    let handled = worker.get();
                    system.strand.rest(worker, set);
                    if handled == 0 && set.next(0).is_some() {
                        system.strand.hand_on(set, &system.threads[0]);
                    }
                }
            }
        });
        let publisher = system.publisher();
        join([waiting, other, publisher]);
    });
}

/// A thread hands the strand on, and the other one marks it here again, as a timer does that is
/// due: without an event.
#[test]
fn a_mark_is_not_lost_while_the_strand_is_handed_on() {
    Model::new(5).check(|| {
        let system = System::new();
        let other = spawn({
            let system = system.clone();
            move || {
                let [back, set] = &system.threads[..] else { panic!("two threads") };
                set.register_sleeper();
                while set.next(0).is_none() {
                    set.sleep(Duration::MAX);
                }
                let worker = system.strand.take_marked(set).expect("the other one handed it on");
                system.strand.rest(worker, set);
                back.mark(0);
            }
        });
        let [set, to] = &system.threads[..] else { panic!("two threads") };
        set.register_sleeper();
        system.strand.hand_on(set, to);
        while set.next(0).is_none() {
            set.sleep(Duration::MAX);
        }
        other.join().unwrap();
    });
}

/// Events come while the strand goes to rest.
#[test]
fn an_event_is_not_lost_while_the_strand_goes_to_rest() {
    Model::new(100).preemptions(3).check(|| {
        let system = System::new();
        let thread = system.thread(0, 2);
        let publishers = [(); 2].map(|()| system.publisher());
        thread.join().unwrap();
        join(publishers);
    });
}

/// A publisher that finds a strand at rest calls the function that was registered before.
#[test]
fn an_event_wakes_by_the_function_that_was_registered() {
    Model::new(20).kills("ready_set.wake_by", Relaxed).check(|| {
        let system = System::new();
        let thread = spawn({
            let system = system.clone();
            move || {
                let worker = system.strand.take().expect("no other thread has it");
                system.wake_at(1);
                system.handle(&worker);
                let handled = worker.get();
                system.strand.rest(worker, &system.threads[1]);
                handled
            }
        });
        let publisher = system.publisher();
        let handled = thread.join().unwrap();
        publisher.join().unwrap();
        assert!(handled == 1 || system.threads[1].next(0).is_some(), "the event is lost");
    });
}
