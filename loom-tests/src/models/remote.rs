//! What a middleware announces, as `executor/src/middleware.rs` (`Arrivals::announce`) and
//! `executor/src/middleware/remote.rs` (`Remote::fetch`) do, with the queue of the process beside
//! it (`Inlet::take_either` in `executor/src/topic/inlet.rs`): one token stands for all that came
//! from outside, and every token for one item of either.

use super::join;
use crate::counter::{Counter, Notice};
use crate::inbox::{Announce, Announcer, Inbox, notify};
use crate::model::Model;
use loom::sync::Mutex;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// One subscription, whose messages are counted: behind a lock, as a middleware keeps them, and in
/// the process without any ordering, so that only a token can make them visible in time.
struct Inlet {
    notice: Notice,
    announced: Counter,
    outside: Mutex<u64>,
    inside: AtomicU32,
    ready: Announcer,
}

/// What the event loop knows of it.
#[derive(Default)]
struct Taker {
    handled: u64,
    has_turn: bool,
}

impl Inlet {
    /// Started: given, with a token in the ring, which has exactly `places`.
    fn started(places: usize) -> (Arc<Self>, Inbox) {
        let mut inbox = Inbox::new(&[places], 1);
        let ready = inbox.announcer(0, 0);
        let inlet = Self {
            notice: Notice::given(),
            announced: Counter::default(),
            outside: Mutex::new(0),
            inside: AtomicU32::new(0),
            ready,
        };
        inlet.ready.announce();
        (Arc::new(inlet), inbox)
    }

    fn notify(&self) {
        notify(&self.notice, || Some(&self.ready));
    }

    /// How many units wait for a token.
    fn pending(&self) -> usize {
        usize::from(self.notice.is_given()) + self.inside.load(Relaxed) as usize
    }

    /// A middleware brings a message.
    fn bring(&self) {
        *self.outside.lock().unwrap() += 1;
        self.announced.add(1);
        self.notify();
    }

    /// A publisher of the process.
    fn publish(&self) {
        self.inside.fetch_add(1, Relaxed);
        self.ready.announce();
    }

    /// What a token leads to: one message, or none because another token has brought it.
    fn take_either(&self, taker: &mut Taker) -> u64 {
        if taker.has_turn && self.notice.take() {
            return self.fetch(taker);
        }
        if self.inside.load(Relaxed) > 0 {
            self.inside.fetch_sub(1, Relaxed);
            taker.has_turn = true;
            return 1;
        }
        // A token that comes late stands for nothing any more.
        if self.notice.take() { self.fetch(taker) } else { 0 }
    }

    fn fetch(&self, taker: &mut Taker) -> u64 {
        taker.has_turn = false;
        let announced = self.announced.get();
        let waiting = announced - taker.handled;
        if waiting == 0 {
            return 0;
        }
        taker.handled += 1;
        let mut outside = self.outside.lock().unwrap();
        *outside = outside.checked_sub(1).expect("what was announced is there");
        drop(outside);
        if waiting > 1 {
            self.notify();
        }
        1
    }

    /// What a worker does until it has `messages`. One that is left without a token leaves it
    /// asleep for ever, which loom reports as a deadlock.
    fn work(&self, inbox: &mut Inbox, messages: u64) {
        inbox.set().register_sleeper();
        let (mut taken, mut taker) = (0, Taker::default());
        while taken < messages {
            if inbox.set().next(0).is_none() {
                inbox.set().sleep(Duration::MAX);
                continue;
            }
            if inbox.next(0, |_| self.pending()).is_some() {
                taken += self.take_either(&mut taker);
                inbox.look_again(0, |_| self.pending());
            }
            inbox.clear_if_idle(0);
        }
    }
}

/// Two threads of a middleware announce a message each, while the loop takes what it finds and
/// passes the token on: both are taken, and there is never more than one token.
#[test]
fn what_is_announced_is_taken_by_one_token_that_is_passed_on() {
    let model = Model::new(500).preemptions(1);
    model.kills("notice.give", Acquire).kills("notice.take", Release).check(|| {
        let (inlet, mut ring) = Inlet::started(1);
        let bringing = [(); 2].map(|()| {
            let inlet = inlet.clone();
            spawn(move || inlet.bring())
        });
        let worker = spawn(move || {
            inlet.work(&mut ring, 2);
            ring
        });
        join(bringing);
        drop(worker.join().unwrap());
    });
}

/// A middleware brings a message while a publisher of the process has one: either token may take
/// either, and the ring needs one place beyond those of the queue.
#[test]
fn both_sources_share_their_tokens() {
    let model = Model::new(1_000).preemptions(1);
    model.kills("ready.commit", Relaxed).kills("ready.pop", Relaxed).check(|| {
        let (inlet, mut ring) = Inlet::started(2);
        let threads = [Inlet::bring, Inlet::publish].map(|act| {
            let inlet = inlet.clone();
            spawn(move || act(&inlet))
        });
        let worker = spawn(move || {
            inlet.work(&mut ring, 2);
            ring
        });
        join(threads);
        drop(worker.join().unwrap());
    });
}
