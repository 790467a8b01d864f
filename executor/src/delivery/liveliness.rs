//! Liveliness of a topic's publishers, and the watchers that are notified of changes.
//!
//! Publishers give signs of life, from any thread and without a lock: each sign raises the time in
//! one word. The event loop of a watcher reads that word, and marks it when the lease is over. Time
//! and mark are one word, so either the watcher sees the new sign, or the publisher finds the mark
//! and notifies the watchers; with a separate mark, a sign between the look and the mark would
//! notify none. The lists of publishers and watchers change when ends are created or end, and are
//! read without a lock.

use crate::base::lock::SharedList;
use crate::base::observed;
use crate::base::qos::{Liveliness, QoS};
use crate::base::time::Time;
use crate::delivery::ready::Notifier;
use ringspin_ringbuf::reclaim::{Domain, Guard};
use ringspin_ringbuf::{Counter, Latest};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The watchers: notified when a publisher is alive again, its node is isolated, or an end joins.
type Watchers = SharedList<Weak<Notifier>>;

#[derive(Debug)]
pub(crate) struct LivelinessRegistry {
    publishers: SharedList<Arc<PublisherLiveliness>>,
    /// The number of publishers so far.
    advertised: Counter,
    /// The publication time of the last message of those that have ended.
    last_ended: Latest,
    watchers: Arc<Watchers>,
    /// The number of subscriptions of the topic so far.
    subscriptions: Counter,
    /// The number of those that have ended.
    ended: Counter,
}

impl LivelinessRegistry {
    /// Of a topic without ends. Threads read its lists in `domain`.
    pub(crate) fn new(domain: &Arc<Domain>) -> Self {
        Self {
            publishers: SharedList::new(domain),
            advertised: Counter::default(),
            last_ended: Latest::default(),
            watchers: Arc::new(SharedList::new(domain)),
            subscriptions: Counter::default(),
            ended: Counter::default(),
        }
    }

    pub(crate) fn add(&self, node_index: usize, qos: QoS) -> Arc<PublisherLiveliness> {
        let manual = qos.liveliness() == Liveliness::ManualByTopic;
        let liveliness = Arc::new(PublisherLiveliness {
            node_index,
            number: self.advertised.next(),
            manual,
            lease: if manual { qos.lease() } else { None },
            published: Latest::default(),
            asserted: Latest::default(),
            watchers: self.watchers.clone(),
        });
        self.publishers.push(liveliness.clone());
        self.notify();
        liveliness
    }

    pub(crate) fn remove(&self, publisher: &Arc<PublisherLiveliness>) {
        self.last_ended.raise(publisher.published.get());
        self.publishers.retain(|other| !Arc::ptr_eq(other, publisher));
        self.notify();
    }

    /// The publication time of the last message; zero if there is none.
    pub(crate) fn last_published(&self) -> Time {
        let publishers = self.publishers();
        let published = publishers.iter().map(|publisher| publisher.published.get());
        Time::from_nanos(published.fold(self.last_ended.get(), u64::max))
    }

    /// The number of publishers so far, and of those that exist.
    pub(crate) fn advertised(&self) -> (u64, u64) {
        let present = self.publishers().len() as u64;
        (self.advertised.get(), present)
    }

    pub(crate) fn subscribed(&self) {
        self.subscriptions.next();
        self.notify();
    }

    pub(crate) fn unsubscribed(&self) {
        self.ended.next();
        self.notify();
    }

    /// The number of subscriptions so far, and of those that exist.
    pub(crate) fn subscriptions(&self) -> (u64, u64) {
        let ended = self.ended.get();
        let all = self.subscriptions.get();
        (all, all - ended)
    }

    /// Has all watchers look again.
    pub(crate) fn notify(&self) {
        notify(&self.watchers);
    }

    /// Notifies `watcher` of changes as long as it exists.
    pub(crate) fn watch(&self, watcher: &Arc<Notifier>) {
        self.watchers.retain(|other| other.strong_count() > 0);
        self.watchers.push(Arc::downgrade(watcher));
    }

    /// The publishers, in order of creation.
    pub(crate) fn publishers(&self) -> Guard<'_, Vec<Arc<PublisherLiveliness>>> {
        self.publishers.load()
    }
}

fn notify(watchers: &Watchers) {
    let watchers = watchers.load();
    watchers.iter().filter_map(Weak::upgrade).for_each(|watcher| watcher.notify());
}

/// One publisher's signs of life. Ordinary publishers have one, but never touch it.
#[derive(Debug)]
pub(crate) struct PublisherLiveliness {
    pub(crate) node_index: usize,
    /// Tells it from the others of the topic.
    pub(crate) number: u64,
    manual: bool,
    lease: Option<Duration>,
    /// Nanoseconds. Zero before the first message: the start of the executor is never earlier.
    published: Latest,
    /// Nanoseconds plus one; zero before the first sign. Marked if a watcher found it too old: the
    /// next sign has to notify the watchers.
    asserted: Latest,
    watchers: Arc<Watchers>,
}

/// The state of a publisher that its signs of life show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// There was no sign yet.
    Unborn,
    /// It is alive up to and including this moment.
    Until(Time),
    /// Its lease is over.
    Lost,
}

impl PublisherLiveliness {
    /// A message was published at `now`. Lock-free.
    pub(crate) fn published(&self, now: Time) {
        self.published.raise(now.as_nanos());
        self.asserted(now);
    }

    /// The publisher asserted at `now` that it is alive. Lock-free.
    pub(crate) fn asserted(&self, now: Time) {
        if self.manual && self.asserted.raise(now.as_nanos().saturating_add(1)) {
            notify(&self.watchers);
        }
    }

    /// The publication time of the last message; zero if there is none.
    pub(crate) fn last_published(&self) -> Time {
        Time::from_nanos(self.published.get())
    }

    fn mark(&self, sign: u64) -> bool {
        observed::reading(|| self.asserted.mark(sign).into()) > 0
    }

    /// Whether it is alive at `now`, as far as this depends on its signs. Those before `start`
    /// count as given then. Lock-free.
    pub(crate) fn life(&self, start: Time, now: Time) -> Life {
        if !self.manual {
            return Life::Until(Time::MAX);
        }
        loop {
            let sign = observed::reading(|| self.asserted.get());
            // The first sign notifies the watchers, too.
            let Some(asserted) = sign.checked_sub(1).map(Time::from_nanos) else {
                if self.mark(sign) {
                    return Life::Unborn;
                }
                continue;
            };
            let until = self.lease.map_or(Time::MAX, |lease| asserted.max(start) + lease);
            if now <= until {
                return Life::Until(until);
            }
            if self.mark(sign) {
                return Life::Lost;
            }
        }
    }
}
