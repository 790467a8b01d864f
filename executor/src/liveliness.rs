//! Liveliness of a topic's publishers, and the watchers that are notified of changes.
//!
//! Publishers give signs and watchers look at them without a lock: each sign is one atomic word.

use crate::build_list::BuildList;
use crate::notifier::Notifier;
use crate::qos::{Liveliness, QoS};
use crate::time::Time;
use ringspin_ringbuf::{Counter, Latest};
use std::sync::Arc;
use std::time::Duration;

/// The watchers: notified when a publisher is alive again, or its node is isolated.
type Watchers = BuildList<Arc<Notifier>>;

/// All publishers of a topic.
#[derive(Debug, Default)]
pub(crate) struct LivelinessRegistry {
    publishers: BuildList<Arc<PublisherLiveliness>>,
    watchers: Arc<Watchers>,
    /// The number of subscriptions of the topic.
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
            published: Latest::default(),
            asserted: Latest::default(),
            watchers: self.watchers.clone(),
        });
        self.publishers.push(liveliness.clone());
        liveliness
    }

    pub(crate) fn watch(&self, watcher: Arc<Notifier>) {
        self.watchers.push(watcher);
    }

    /// The graph is frozen: publishers and watchers are all there.
    pub(crate) fn freeze(&self) {
        self.publishers.freeze();
        self.watchers.freeze();
    }

    /// The publishers of a frozen graph, in order of creation.
    pub(crate) fn publishers(&self) -> &[Arc<PublisherLiveliness>] {
        self.publishers.get()
    }

    /// The watchers of a frozen graph.
    pub(crate) fn watchers(&self) -> &[Arc<Notifier>] {
        self.watchers.get()
    }
}

/// One publisher's signs of life. Ordinary publishers have one, but never touch it.
#[derive(Debug)]
pub(crate) struct PublisherLiveliness {
    pub(crate) node_index: usize,
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
            self.watchers.get().iter().for_each(|watcher| watcher.notify());
        }
    }

    /// The publication time of the last message; zero if there is none.
    pub(crate) fn last_published(&self) -> Time {
        Time::from_nanos(self.published.get())
    }

    /// Whether it is alive at `now`, as far as this depends on its signs. Those before `start`
    /// count as given then. Lock-free.
    pub(crate) fn life(&self, start: Time, now: Time) -> Life {
        if !self.manual {
            return Life::Until(Time::MAX);
        }
        loop {
            let sign = self.asserted.get();
            // The first sign notifies the watchers, too.
            let Some(asserted) = sign.checked_sub(1).map(Time::from_nanos) else {
                if self.asserted.mark(sign) {
                    return Life::Unborn;
                }
                continue;
            };
            let until = self.lease.map_or(Time::MAX, |lease| asserted.max(start) + lease);
            if now <= until {
                return Life::Until(until);
            }
            if self.asserted.mark(sign) {
                return Life::Lost;
            }
        }
    }
}
