//! The signs of life of a topic's publishers, and who wants to know when they change.

use crate::lock::lock;
use crate::notifier::Notifier;
use crate::qos::{Liveliness, QoS};
use crate::time::Time;
use ringspin_ringbuf::Counter;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Told when a publisher comes back to life, or its node goes out of service.
type Watchers = Mutex<Vec<Arc<Notifier>>>;

/// All publishers of a topic.
#[derive(Debug, Default)]
pub(crate) struct LivelinessRegistry {
    publishers: Mutex<Vec<Arc<PublisherLiveliness>>>,
    watchers: Arc<Watchers>,
    /// How many subscriptions the topic has.
    pub(crate) subscriptions: Counter,
}

impl LivelinessRegistry {
    /// Adds a publisher of node `node_index`.
    pub(crate) fn add(&self, node_index: usize, qos: QoS) -> Arc<PublisherLiveliness> {
        let manual = qos.liveliness() == Liveliness::ManualByTopic;
        let liveliness = Arc::new(PublisherLiveliness {
            node_index,
            manual,
            lease: if manual { qos.lease() } else { None },
            signs: Mutex::new(Signs { published: Time::ZERO, asserted: None, lost: manual }),
            watchers: self.watchers.clone(),
        });
        lock(&self.publishers).push(liveliness.clone());
        liveliness
    }

    pub(crate) fn watch(&self, watcher: Arc<Notifier>) {
        lock(&self.watchers).push(watcher);
    }

    /// The publishers, in order of creation.
    pub(crate) fn publishers(&self) -> MutexGuard<'_, Vec<Arc<PublisherLiveliness>>> {
        lock(&self.publishers)
    }

    pub(crate) fn watchers(&self) -> Vec<Arc<Notifier>> {
        lock(&self.watchers).clone()
    }
}

/// One publisher's signs of life. Ordinary publishers have one, but never touch it.
#[derive(Debug)]
pub(crate) struct PublisherLiveliness {
    pub(crate) node_index: usize,
    manual: bool,
    lease: Option<Duration>,
    signs: Mutex<Signs>,
    watchers: Arc<Watchers>,
}

#[derive(Debug)]
struct Signs {
    /// Zero before the first message: the start of the executor is never earlier.
    published: Time,
    asserted: Option<Time>,
    /// Whether somebody saw it without life, who has to hear of the next sign.
    lost: bool,
}

/// What a publisher's signs of life say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// There was none yet.
    Unborn,
    /// It is alive up to and including this moment.
    Until(Time),
    /// Its lease is over.
    Lost,
}

impl PublisherLiveliness {
    /// A message was published at `now`.
    pub(crate) fn published(&self, now: Time) {
        let mut signs = lock(&self.signs);
        signs.published = signs.published.max(now);
        self.sign(signs, now);
    }

    /// The publisher said at `now` that it is alive.
    pub(crate) fn asserted(&self, now: Time) {
        self.sign(lock(&self.signs), now);
    }

    fn sign(&self, mut signs: MutexGuard<'_, Signs>, now: Time) {
        if !self.manual {
            return;
        }
        signs.asserted = signs.asserted.max(Some(now));
        let revived = std::mem::replace(&mut signs.lost, false);
        drop(signs);
        if revived {
            lock(&self.watchers).iter().for_each(|watcher| watcher.notify());
        }
    }

    /// When the last message was published; zero if there is none.
    pub(crate) fn last_published(&self) -> Time {
        lock(&self.signs).published
    }

    /// Whether it is alive at `now`, as far as this depends on its signs. Those before `start`
    /// count as given then.
    pub(crate) fn life(&self, start: Time, now: Time) -> Life {
        if !self.manual {
            return Life::Until(Time::MAX);
        }
        let mut signs = lock(&self.signs);
        let Some(asserted) = signs.asserted else {
            return Life::Unborn;
        };
        let until = self.lease.map_or(Time::MAX, |lease| asserted.max(start) + lease);
        if now <= until {
            return Life::Until(until);
        }
        signs.lost = true;
        Life::Lost
    }
}
