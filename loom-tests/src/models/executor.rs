//! Events that come from a notice, put together as `executor/src/notifier.rs` and
//! `executor/src/worker.rs` do, and what else crosses threads in the executor.

use super::join;
use crate::counter::{Counter, Flag, Notice};
use crate::inbox::{Announce, Announcer, Inbox, notify};
use crate::model::{Model, Plain};
use crate::ready::ring_at;
use crate::ready_set::ReadySet;
use loom::sync::Mutex;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// A notifier, whose ready ring has a place for its one token and no more.
struct Event {
    notice: Notice,
    ready: Announcer,
}

impl Event {
    /// As the worker starts it: given, with a token in the ring.
    fn started() -> (Self, Inbox) {
        let (event, inbox) = Self::connected();
        event.ready.announce();
        (event, inbox)
    }

    fn connected() -> (Self, Inbox) {
        let mut inbox = Inbox::new(&[1], 1);
        let ready = inbox.announcer(0, 0);
        (Self { notice: Notice::given(), ready }, inbox)
    }

    fn notify(&self) {
        notify(&self.notice, || Some(&self.ready));
    }

    /// What a worker does until `done`: pop, handle, clear, look once more, sleep.
    fn work(&self, inbox: &mut Inbox, done: impl Fn() -> bool, handle: impl Fn()) {
        inbox.set().register_sleeper();
        while !done() {
            if inbox.set().next(0).is_none() {
                inbox.set().sleep(Duration::MAX);
                continue;
            }
            let turn = inbox.next(0, |_| usize::from(self.notice.is_given()));
            if turn.is_some() && self.notice.take() {
                handle();
            }
            inbox.clear_if_idle(0);
        }
    }
}

/// Two threads wake a task whose worker polls it and is about to park: both wakes are followed by a
/// poll that sees what was done before them, and there is never more than one token.
#[test]
fn a_task_is_polled_after_every_wake() {
    let model = Model::new(1_000).preemptions(2);
    model.kills("notice.give", Acquire).kills("notice.take", Release).check(|| {
        let (event, mut ring) = Event::started();
        let shared = Arc::new((event, [0, 0].map(AtomicU32::new), AtomicU32::new(0)));
        let wakers = [0, 1].map(|n| {
            let shared = shared.clone();
            spawn(move || {
                shared.1[n].store(1, Relaxed);
                shared.0.notify();
            })
        });
        let worker = spawn(move || {
            let (event, work, polled) = &*shared;
            let done = || polled.load(Relaxed) == 2;
            let poll = || {
                polled.store(work.iter().map(|work| work.load(Relaxed)).sum(), Relaxed);
            };
            event.work(&mut ring, done, poll);
            ring
        });
        join(wakers);
        drop(worker.join().unwrap());
    });
}

/// A trigger while the graph is frozen and started: it may find the notifier without a worker, and
/// the notice taken a moment later. It is answered all the same.
#[test]
fn a_trigger_during_the_start_is_answered() {
    let model = Model::new(20).preemptions(2);
    model.kills("notice.give", Release).kills("notice.take", Acquire).check(|| {
        let (event, mut ring) = Event::connected();
        let shared = Arc::new((event, Flag::default(), Counter::default(), AtomicU32::new(0)));
        let trigger = spawn({
            let shared = shared.clone();
            move || {
                let (event, connected, triggers, _) = &*shared;
                triggers.happen();
                notify(&event.notice, || connected.is_raised().then_some(&event.ready));
            }
        });
        let worker = spawn(move || {
            let (event, connected, triggers, answered) = &*shared;
            connected.raise();
            event.ready.announce();
            let answer = || answered.store(triggers.happened() as u32, Relaxed);
            event.work(&mut ring, || answered.load(Relaxed) == 1, answer);
            ring
        });
        trigger.join().unwrap();
        drop(worker.join().unwrap());
    });
}

/// A guard condition is triggered while the stop is requested, which ends the worker's sleep
/// whatever else happens. The trigger is answered by this spin or by the next one, and its call
/// sees what came before it.
#[test]
fn a_trigger_during_the_stop_is_answered_by_the_next_spin() {
    let model = Model::new(1_000).preemptions(2);
    model.kills("counter.happen", Relaxed).kills("counter.happened", Relaxed).check(|| {
        let (event, mut ring) = Event::started();
        let guard = (Counter::default(), Plain::new(0), AtomicU32::new(0));
        let shared = Arc::new((event, Flag::default(), guard));
        let trigger = spawn({
            let shared = shared.clone();
            move || {
                let (event, _, (triggers, payload, _)) = &*shared;
                payload.set(7);
                triggers.happen();
                event.notify();
            }
        });
        let set = ring.set().clone();
        let stopper = spawn({
            let shared = shared.clone();
            move || {
                shared.1.raise();
                set.wake();
            }
        });
        let worker = spawn(move || {
            let (event, stop, (triggers, payload, answered)) = &*shared;
            let answer = || {
                if triggers.happened() > u64::from(answered.load(Relaxed)) {
                    assert_eq!(payload.get(), 7);
                    answered.fetch_add(1, Relaxed);
                }
            };
            event.work(&mut ring, || stop.is_raised(), answer);
            event.work(&mut ring, || answered.load(Relaxed) == 1, answer);
            ring
        });
        join([trigger, stopper]);
        drop(worker.join().unwrap());
    });
}

/// The worker and its ring go while a guard condition is triggered: the trigger finds memory that
/// is still there, and a place for its token. (Loom reports memory that is used late or lost.)
#[test]
fn a_trigger_after_the_worker_is_gone_does_no_harm() {
    Model::new(500).check(|| {
        let (event, mut ring) = Event::started();
        let shared = Arc::new(event);
        let triggers = [0, 1].map(|_| {
            let event = shared.clone();
            spawn(move || event.notify())
        });
        let worker = spawn(move || {
            if ring.pop(0).is_some() {
                shared.notice.take();
            }
            drop((ring, shared));
        });
        join(triggers);
        worker.join().unwrap();
    });
}

/// The calls of a client, as `executor/src/service/client.rs` keeps them: one slot.
struct Calls {
    /// How many ends the call in the slot has; `None` if the slot is free.
    slot: Option<Option<()>>,
    freed: u32,
    stopped: bool,
}

impl Calls {
    fn take_end(&mut self) -> bool {
        self.slot.as_mut().is_some_and(|end| end.take().is_some())
    }

    /// As `Calls::end`: what is to be called, and the slot is free.
    fn end(&mut self) -> bool {
        let end = self.take_end();
        assert!(self.slot.take().is_some(), "a slot is freed by its own response only");
        self.freed += 1;
        end
    }
}

/// A thread calls, another one answers, and the client's worker meanwhile lets the call time out or
/// retires: the call ends once, whatever comes first, its slot is freed by its response, and the
/// response brings what the server did before it.
#[test]
fn a_call_ends_once_whether_by_response_timeout_or_retirement() {
    let model = Model::new(500).preemptions(3);
    model.kills("ready.commit", Relaxed).kills("ready.pop", Relaxed).check(|| {
        let (requests, mut requested) = ring_at(1, 0);
        let (responses, mut responded) = ring_at(1, 0);
        let calls = Calls { slot: None, freed: 0, stopped: false };
        let shared = Arc::new((Mutex::new(calls), Plain::new(0), ReadySet::new(1)));
        let caller = spawn({
            let shared = shared.clone();
            move || {
                // Under the lock, until the request is in its queue.
                let mut calls = shared.0.lock().unwrap();
                if calls.stopped {
                    return (requests, false);
                }
                requests.push(0).unwrap();
                calls.slot = Some(Some(()));
                shared.2.mark(0);
                (requests, true)
            }
        });
        let server = spawn({
            let shared = shared.clone();
            move || {
                if requested.pop().is_some() {
                    shared.1.set(7);
                    responses.push(0).unwrap();
                }
                (requested, responses)
            }
        });
        let worker = spawn({
            let shared = shared.clone();
            move || {
                // The timeout, then the response if there is one, then the retirement.
                let mut ends = u32::from(shared.0.lock().unwrap().take_end());
                let response = responded.pop();
                if response.is_some() {
                    assert_eq!(shared.1.get(), 7);
                    ends += u32::from(shared.0.lock().unwrap().end());
                }
                let mut calls = shared.0.lock().unwrap();
                calls.stopped = true;
                ends += u32::from(calls.take_end());
                drop(calls);
                (responded, ends)
            }
        });
        let (requests, called) = caller.join().unwrap();
        let mut server = server.join().unwrap();
        let (mut responded, ends) = worker.join().unwrap();
        assert_eq!(ends, u32::from(called), "once, and without a call never");
        // What was not answered is answered by its discarding, what came late is discarded.
        if server.0.pop().is_some() {
            server.1.push(0).unwrap();
        }
        let mut calls = shared.0.lock().unwrap();
        if responded.pop().is_some() {
            assert!(!calls.end(), "a late response is nobody's");
        }
        assert_eq!((calls.freed, calls.slot.is_none()), (u32::from(called), true));
        drop(calls);
        drop((requests, server, responded));
    });
}

/// A clock that is followed, as in `executor/src/ros_clock.rs`.
#[derive(Default)]
struct RosClock {
    now: Counter,
    begun_at: Counter,
    has_begun: Flag,
}

impl RosClock {
    fn set(&self, time: u64) {
        self.now.set(time);
        if !self.has_begun.is_raised() {
            self.begun_at.set(time);
            self.has_begun.raise();
        }
    }

    fn now(&self) -> u64 {
        if self.has_begun.is_raised() { self.now.get() } else { 0 }
    }

    fn begun_at(&self) -> Option<u64> {
        self.has_begun.is_raised().then(|| self.begun_at.get())
    }
}

/// A worker that sees a time also sees that it has begun, and when, so that it starts its timers
/// before it looks whether any is due.
#[test]
fn a_time_is_seen_only_of_a_clock_that_has_begun() {
    Model::new(10).kills("flag.raise", Relaxed).kills("flag.read", Relaxed).check(|| {
        let clock = Arc::new(RosClock::default());
        let follower = spawn({
            let clock = clock.clone();
            move || [5, 6].map(|time| clock.set(time))
        });
        let worker = spawn(move || {
            let now = clock.now();
            let begun_at = clock.begun_at();
            assert!(begun_at.is_none_or(|time| time == 5), "begun at {begun_at:?}");
            assert!(now == 0 || begun_at.is_some(), "{now} of a clock that has not begun");
        });
        follower.join().unwrap();
        worker.join().unwrap();
    });
}
