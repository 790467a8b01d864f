//! Items that a middleware announces: `ringbuf/src/announcements.rs` with what surrounds it in
//! `executor/src/middleware/remote.rs` (`Remote::fetch`) and `executor/src/topic/subscription_receiver.rs`
//! (`SubscriptionReceiver::take_either`). One token stands for all that came from outside, and every other token
//! for one message of the process.

use super::join;
use crate::announcements::{Announcements, Attempt, Round, Takes};
use crate::counter::Notice;
use crate::inbox::{Announce, Announcer, Inbox, notify};
use crate::model::Model;
use loom::sync::Mutex;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;
use std::time::Duration;

/// An item as the reader of Fast DDS holds it.
struct Sample {
    /// Items are held in this order, whenever they come.
    published_at: u32,
    /// Whether it has been counted for an announcement.
    is_counted: bool,
    /// Whether it is for this end; else a take removes it, and yields nothing.
    is_own: bool,
}

/// One subscription or client. Its items are behind a lock, as a middleware keeps them; those of
/// the process are counted without any ordering, so that only a token can make them visible.
struct Inlet {
    notice: Notice,
    announced: Announcements,
    outside: Mutex<Vec<Sample>>,
    inside: AtomicU32,
    ready: Announcer,
}

/// The event loop's state of it.
#[derive(Default)]
struct Taker {
    takes: Takes,
    has_turn: bool,
    /// Announced items that were not there.
    missing: u64,
}

impl Inlet {
    /// Started: given, with a token in the ring, which has exactly `places`.
    fn started(places: usize) -> (Arc<Self>, Inbox) {
        let mut inbox = Inbox::new(&[places], 1);
        let ready = inbox.announcer(0, 0);
        let inlet = Self {
            notice: Notice::given(),
            announced: Announcements::default(),
            outside: Mutex::new(Vec::new()),
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

    /// A middleware receives an item.
    fn receive(&self, published_at: u32, is_own: bool) {
        let mut outside = self.outside.lock().unwrap();
        let place = outside.iter().take_while(|held| held.published_at < published_at).count();
        outside.insert(place, Sample { published_at, is_counted: false, is_own });
    }

    /// The middleware announces the items that have not been counted, if there are any.
    fn announce(&self) {
        let mut outside = self.outside.lock().unwrap();
        let new = outside.iter_mut().filter(|held| !held.is_counted);
        let count = new.map(|held| held.is_counted = true).count();
        drop(outside);
        if count > 0 {
            self.announced.add(count as u64);
            self.notify();
        }
    }

    fn bring(&self, published_at: u32, is_own: bool) {
        self.receive(published_at, is_own);
        self.announce();
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
        let take = || {
            let mut outside = self.outside.lock().unwrap();
            match (!outside.is_empty()).then(|| outside.remove(0)) {
                Some(Sample { is_own: true, .. }) => Attempt::Item,
                _ => Attempt::Empty,
            }
        };
        let Round { has_item, missing, .. } =
            taker.takes.round(&self.announced, || self.notify(), take);
        taker.missing += missing;
        u64::from(has_item)
    }

    /// A worker until it has `messages`; returns how many announced items were not there. A message
    /// that is left without a token leaves it asleep for ever, which loom reports as a deadlock.
    fn work(&self, inbox: &mut Inbox, messages: u64) -> u64 {
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
        taker.missing
    }
}

/// Two threads of a middleware announce a message each, while the loop takes what it finds and
/// passes the token on: both are taken, and there is never more than one token.
#[test]
fn what_is_announced_is_taken_by_one_token_that_is_passed_on() {
    Model::new(500).preemptions(1).check(|| {
        let (inlet, mut ring) = Inlet::started(1);
        let bringing = [1, 2].map(|at| {
            let inlet = inlet.clone();
            spawn(move || inlet.bring(at, true))
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
        let threads = [|inlet: &Inlet| inlet.bring(1, true), Inlet::publish].map(|act| {
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

/// Two clients of one service: each is announced the responses to both, and its take drops those to
/// the other one. The own response is taken, whatever lies before it and however it is announced.
#[test]
fn responses_to_other_clients_hide_no_own_one() {
    let model = Model::new(500).preemptions(1);
    let model = model.kills("notice.give", Acquire).kills("notice.take", Release);
    model.needs("announcements.keep_rest").needs("announcements.pass_on_at_limit").check(|| {
        let (inlet, mut ring) = Inlet::started(1);
        let first = spawn({
            let inlet = inlet.clone();
            move || {
                // One announcement for two items: that many may lie before an own one.
                inlet.receive(1, false);
                inlet.receive(2, false);
                inlet.announce();
                inlet.bring(3, true);
            }
        });
        let second = spawn({
            let inlet = inlet.clone();
            move || inlet.bring(4, false)
        });
        let worker = spawn(move || {
            inlet.work(&mut ring, 1);
            ring
        });
        join([first, second]);
        drop(worker.join().unwrap());
    });
}

/// Of two publishers, the second one's message comes first. The first one's is taken in its place
/// before it is counted, and is then never announced: the other one is taken all the same.
#[test]
fn a_message_that_is_never_announced_hides_no_other_one() {
    let model = Model::new(500).preemptions(1);
    model.needs("announcements.last_attempt").check(|| {
        let (inlet, mut ring) = Inlet::started(1);
        let publishers = [1, 2].map(|at| {
            let inlet = inlet.clone();
            spawn(move || inlet.bring(at, true))
        });
        let worker = spawn(move || {
            let missing = inlet.work(&mut ring, 2);
            assert_eq!(missing, 0, "a message that is taken early is not missing");
            ring
        });
        join(publishers);
        drop(worker.join().unwrap());
    });
}
