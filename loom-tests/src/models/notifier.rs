//! Events without data, whose worker handles them and sleeps.

use super::join;
use crate::counter::{Counter, Flag};
use crate::inbox::{Announcer, Inbox};
use crate::model::{Model, Plain};
use crate::notifier::Notifier;
use crate::worker::{Events, inbox, work};
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;

/// A notifier that was started, and its inbox, whose ready ring has a place for one token.
fn started() -> (Notifier<Announcer>, Inbox) {
    let (inbox, mut announcers) = inbox(1, 1, 1);
    let notifier = Notifier::new();
    notifier.connect(announcers.remove(0)).expect("the notifier is new");
    notifier.start();
    (notifier, inbox)
}

/// The worker's view of a notifier: `handle` is called for each notice that it takes.
struct Notified<'a, F> {
    notifier: &'a Notifier<Announcer>,
    handle: F,
}

impl<F: FnMut()> Events for Notified<'_, F> {
    fn pending(&self, _: u32) -> usize {
        usize::from(self.notifier.is_given())
    }

    fn handle(&mut self, _: u32) -> bool {
        if self.notifier.take() {
            (self.handle)();
        }
        false
    }
}

/// Handles the events of `notifier` until `done`.
fn handle_until(
    inbox: &mut Inbox,
    notifier: &Notifier<Announcer>,
    done: impl Fn() -> bool,
    handle: impl FnMut(),
) {
    work(inbox, &mut Notified { notifier, handle }, |_| done());
}

/// Two threads wake a task whose worker polls it and is about to park: each wake is followed by a
/// poll that sees the writes before the wake, and there is at most one token. One preemption is
/// enough for each of its mutants to fail.
#[test]
fn task_is_polled_after_every_wake() {
    let model = Model::new(1_000).preemptions(1);
    model.kills("notice.give", Acquire).kills("notice.take", Release).check(|| {
        let (notifier, mut inbox) = started();
        let shared = Arc::new((notifier, [0, 0].map(AtomicU32::new), AtomicU32::new(0)));
        let wakers = [0, 1].map(|n| {
            let shared = shared.clone();
            spawn(move || {
                shared.1[n].store(1, Relaxed);
                shared.0.notify();
            })
        });
        let worker = spawn(move || {
            let (notifier, work, polled) = &*shared;
            let done = || polled.load(Relaxed) == 2;
            let poll = || {
                polled.store(work.iter().map(|work| work.load(Relaxed)).sum(), Relaxed);
            };
            handle_until(&mut inbox, notifier, done, poll);
            inbox
        });
        join(wakers);
        drop(worker.join().unwrap());
    });
}

/// A trigger while the graph is frozen and started: it may find the notifier not connected, and the
/// notice taken a moment later.
#[test]
fn trigger_during_the_start_is_handled() {
    Model::new(20).preemptions(2).kills("notice.give", Release).check(|| {
        let (mut inbox, mut announcers) = inbox(1, 1, 1);
        let shared = Arc::new((Notifier::new(), Counter::default(), AtomicU32::new(0)));
        let trigger = spawn({
            let shared = shared.clone();
            move || {
                let (notifier, triggers, _) = &*shared;
                triggers.happen();
                notifier.notify();
            }
        });
        let worker = spawn(move || {
            let (notifier, triggers, handled) = &*shared;
            notifier.connect(announcers.remove(0)).expect("the notifier is new");
            notifier.start();
            let handle = || handled.store(triggers.happened() as u32, Relaxed);
            handle_until(&mut inbox, notifier, || handled.load(Relaxed) == 1, handle);
            inbox
        });
        trigger.join().unwrap();
        drop(worker.join().unwrap());
    });
}

/// A guard condition is triggered while a stop is requested, which ends the worker's sleep. The
/// trigger is handled by this spin or by the next one, and its callback sees the writes before it.
#[test]
fn trigger_during_the_stop_is_handled_by_the_next_spin() {
    let model = Model::new(1_000).preemptions(2);
    model.kills("counter.happen", Relaxed).kills("counter.happened", Relaxed).check(|| {
        let (notifier, mut inbox) = started();
        let guard = (Counter::default(), Plain::new(0), AtomicU32::new(0));
        let shared = Arc::new((notifier, Flag::default(), guard));
        let trigger = spawn({
            let shared = shared.clone();
            move || {
                let (notifier, _, (triggers, payload, _)) = &*shared;
                payload.set(7);
                triggers.happen();
                notifier.notify();
            }
        });
        let set = inbox.set().clone();
        let stopper = spawn({
            let shared = shared.clone();
            move || {
                shared.1.raise();
                set.wake();
            }
        });
        let worker = spawn(move || {
            let (notifier, stop, (triggers, payload, handled)) = &*shared;
            let handle = || {
                if triggers.happened() > u64::from(handled.load(Relaxed)) {
                    assert_eq!(payload.get(), 7);
                    handled.fetch_add(1, Relaxed);
                }
            };
            handle_until(&mut inbox, notifier, || stop.is_raised(), handle);
            handle_until(&mut inbox, notifier, || handled.load(Relaxed) == 1, handle);
            inbox
        });
        join([trigger, stopper]);
        drop(worker.join().unwrap());
    });
}

/// The worker and its ring are dropped while a guard condition is triggered: the trigger finds
/// valid memory, and a place for its token. (Loom reports memory that is used late or lost.)
#[test]
fn trigger_after_the_worker_is_dropped_finds_valid_memory() {
    Model::new(500).check(|| {
        let (notifier, mut inbox) = started();
        let shared = Arc::new(notifier);
        let triggers = [0, 1].map(|_| {
            let notifier = shared.clone();
            spawn(move || notifier.notify())
        });
        let worker = spawn(move || {
            if inbox.pop(0).is_some() {
                shared.take();
            }
            drop((inbox, shared));
        });
        join(triggers);
        worker.join().unwrap();
    });
}

/// A thread is suspended between a notice and its token; the notice of another thread is handled.
#[test]
fn notice_is_handled_after_one_without_a_token() {
    Model::new(20).preemptions(3).needs("inbox.attention").check(|| {
        let (mut inbox, mut announcers) = inbox(1, 1, 1);
        let notifier = Arc::new(Notifier::new());
        notifier.connect(announcers.remove(0)).expect("the notifier is new");
        let notifying = spawn({
            let notifier = notifier.clone();
            move || notifier.notify()
        });
        let worker = spawn(move || {
            let handled = std::cell::Cell::new(false);
            handle_until(&mut inbox, &notifier, || handled.get(), || handled.set(true));
            inbox
        });
        notifying.join().unwrap();
        drop(worker.join().unwrap());
    });
}
