//! Items that a middleware announces, beside messages of the process. One token stands for all that
//! came from outside, and every other token for one message of the process.

use super::join;
use crate::announcements::{Announcements, Attempt, Next, Takes};
use crate::inbox::{Announce, Announcer, Inbox};
use crate::model::Model;
use crate::notifier::Notifier;
use crate::worker::{Events, inbox, work};
use loom::sync::Mutex;
use loom::sync::atomic::AtomicU32;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread::spawn;
use std::sync::Arc;

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
struct Source {
    notifier: Notifier<Announcer>,
    announced: Announcements,
    outside: Mutex<Vec<Sample>>,
    inside: AtomicU32,
}

impl Source {
    /// A source that was started, and its inbox, whose ready ring has exactly `places`.
    fn started(places: usize) -> (Arc<Self>, Inbox) {
        let (inbox, mut announcers) = inbox(1, 1, places);
        let source = Self {
            notifier: Notifier::new(),
            announced: Announcements::default(),
            outside: Mutex::new(Vec::new()),
            inside: AtomicU32::new(0),
        };
        source.notifier.connect(announcers.remove(0)).expect("the notifier is new");
        source.notifier.start();
        (Arc::new(source), inbox)
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
            self.announced.announce(count as u64, || self.notifier.notify());
        }
    }

    fn bring(&self, published_at: u32, is_own: bool) {
        self.receive(published_at, is_own);
        self.announce();
    }

    /// A publisher of the process.
    fn publish(&self) {
        self.inside.fetch_add(1, Relaxed);
        self.notifier.connection().expect("it is connected").announce();
    }

    fn take_queued(&self) -> Option<()> {
        (self.inside.load(Relaxed) > 0).then(|| {
            self.inside.fetch_sub(1, Relaxed);
        })
    }

    fn take_outside(&self) -> Attempt {
        let mut outside = self.outside.lock().unwrap();
        match (!outside.is_empty()).then(|| outside.remove(0)) {
            Some(Sample { is_own: true, .. }) => Attempt::Item,
            _ => Attempt::Empty,
        }
    }

    /// Works until `messages` were taken; returns how many announced items were not there.
    fn work(&self, inbox: &mut Inbox, messages: u64) -> u64 {
        let mut taker = Taker { source: self, takes: Takes::default(), taken: 0, missing: 0 };
        work(inbox, &mut taker, |taker| taker.taken == messages);
        taker.missing
    }
}

/// The event loop's end of a source.
struct Taker<'a> {
    source: &'a Source,
    takes: Takes,
    taken: u64,
    /// Announced items that were not there.
    missing: u64,
}

impl Events for Taker<'_> {
    fn pending(&self, _: u32) -> usize {
        let noticed = usize::from(self.source.notifier.is_given());
        noticed + self.source.inside.load(Relaxed) as usize
    }

    fn handle(&mut self, _: u32) -> bool {
        let Self { source, takes, .. } = self;
        match takes.next(|| source.notifier.take(), || source.take_queued()) {
            Next::Queued(()) => self.taken += 1,
            Next::Announced => {
                let notify = || source.notifier.notify();
                let round = takes.round(&source.announced, notify, || source.take_outside());
                self.taken += u64::from(round.has_item);
                self.missing += round.missing;
            }
            Next::Nothing => {}
        }
        true
    }
}

/// Two threads of a middleware announce a message each, while the loop takes what it finds and
/// passes the token on: both are taken, and there is never more than one token.
#[test]
fn announced_items_are_taken_by_one_token() {
    Model::new(500).preemptions(1).check(|| {
        let (source, mut inbox) = Source::started(1);
        let bringing = [1, 2].map(|at| {
            let source = source.clone();
            spawn(move || source.bring(at, true))
        });
        let worker = spawn(move || {
            source.work(&mut inbox, 2);
            inbox
        });
        join(bringing);
        drop(worker.join().unwrap());
    });
}

/// A middleware brings a message while a publisher of the process has one: either token may take
/// either, and the ring needs one place beyond those of the queue.
#[test]
#[ignore = "slow: a preemption beside a middleware"]
fn slow_token_leads_to_an_item_of_either_origin() {
    let model = Model::new(1_000).preemptions(1);
    model.kills("ready.commit", Relaxed).kills("ready.pop", Relaxed).check(|| {
        let (source, mut inbox) = Source::started(2);
        let threads = [|source: &Source| source.bring(1, true), Source::publish].map(|act| {
            let source = source.clone();
            spawn(move || act(&source))
        });
        let worker = spawn(move || {
            source.work(&mut inbox, 2);
            inbox
        });
        join(threads);
        drop(worker.join().unwrap());
    });
}

/// Two clients of one service: each is announced the responses to both, and its take drops those to
/// the other one. The own response is taken, whatever lies before it and however it is announced.
#[test]
#[ignore = "slow: two clients"]
fn slow_own_response_is_taken_behind_responses_to_other_clients() {
    let model = Model::new(500).preemptions(1);
    let model = model.kills("notice.give", Acquire).kills("notice.take", Release);
    model.needs("announcements.keep_rest").needs("announcements.pass_on_at_limit").check(|| {
        let (source, mut inbox) = Source::started(1);
        let first = spawn({
            let source = source.clone();
            move || {
                // One announcement for two items: that many may lie before an own one.
                source.receive(1, false);
                source.receive(2, false);
                source.announce();
                source.bring(3, true);
            }
        });
        let second = spawn({
            let source = source.clone();
            move || source.bring(4, false)
        });
        let worker = spawn(move || {
            source.work(&mut inbox, 1);
            inbox
        });
        join([first, second]);
        drop(worker.join().unwrap());
    });
}

/// Of two publishers, the second one's message comes first. The first one's is taken in its place
/// before it is counted, and is then never announced: the other one is taken all the same.
#[test]
fn message_is_taken_behind_one_that_is_never_announced() {
    let model = Model::new(500).preemptions(1);
    model.needs("announcements.last_attempt").check(|| {
        let (source, mut inbox) = Source::started(1);
        let publishers = [1, 2].map(|at| {
            let source = source.clone();
            spawn(move || source.bring(at, true))
        });
        let worker = spawn(move || {
            let missing = source.work(&mut inbox, 2);
            assert_eq!(missing, 0, "a message that is taken early is not missing");
            inbox
        });
        join(publishers);
        drop(worker.join().unwrap());
    });
}
