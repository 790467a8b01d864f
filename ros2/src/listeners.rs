//! Subscriptions within this process: a message for them alone is not serialized.

use ringspin_executor::{Durability, QoS};
use ringspin_ringbuf::Counter;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The endpoints that this process has in rcl, by topic.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<BTreeMap<String, Local>>);

/// The endpoints of one topic.
#[derive(Clone, Debug, Default)]
struct Local {
    /// Held by each subscription.
    listeners: Arc<()>,
    /// The messages that publishers of this process gave to rcl.
    sent: Arc<Counter>,
}

/// Held by a subscription.
#[derive(Clone, Debug)]
pub(crate) struct Listener(#[expect(dead_code, reason = "it is counted, not looked at")] Arc<()>);

/// The number of subscriptions of a topic in this process.
#[derive(Debug)]
pub(crate) struct ListenerCount(Weak<()>);

impl Listeners {
    fn of(&self, topic: &str) -> Local {
        let mut topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        topics.entry(topic.into()).or_default().clone()
    }

    /// Counts another subscription of `topic`.
    pub(crate) fn add(&self, topic: &str) -> Listener {
        Listener(self.of(topic).listeners)
    }

    /// The current number of subscriptions of `topic`.
    pub(crate) fn count(&self, topic: &str) -> ListenerCount {
        ListenerCount(Arc::downgrade(&self.of(topic).listeners))
    }

    /// The number of messages of `topic` that publishers of this process gave to rcl. Each counts
    /// before it gives one.
    pub(crate) fn sent(&self, topic: &str) -> Arc<Counter> {
        self.of(topic).sent
    }
}

/// Counts the announced messages that a subscription did not get because they were overwritten.
///
/// A subscription that [ignores](crate::rcl::Locals::Ignore) the publishers of its process is
/// called for their messages all the same, and its takes skip them. At most so many of the missing
/// messages are theirs as they have sent; the others were overwritten.
#[derive(Debug)]
pub(crate) struct Missing {
    /// `None` where messages of the process are not ignored, or do not come.
    sent: Option<Arc<Counter>>,
    /// Messages of the process that are accounted for.
    skipped: u64,
}

impl Missing {
    /// For a subscription with `qos` that is called for messages of its process, which `sent`
    /// counts, only to ignore them; without `sent`, for any other one.
    pub(crate) fn new(sent: Option<Arc<Counter>>, qos: &QoS) -> Self {
        // Older ones come only to a subscription that asks for them.
        let is_late = qos.durability() == Durability::Volatile;
        let skipped = sent.as_ref().filter(|_| is_late).map_or(0, |sent| sent.get());
        Self { sent, skipped }
    }

    /// The least number of `missing` messages that were overwritten.
    pub(crate) fn overwritten(&mut self, missing: u64) -> u64 {
        let sent = self.sent.as_ref().map_or(self.skipped, |sent| sent.get());
        let skipped = missing.min(sent - self.skipped);
        self.skipped += skipped;
        missing - skipped
    }
}

impl ListenerCount {
    pub(crate) fn get(&self) -> usize {
        // One reference is that of the list.
        self.0.strong_count().saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_count_by_topic_as_long_as_they_are_there() {
        let listeners = Listeners::default();
        let (count, other) = (listeners.count("/a"), listeners.count("/b"));
        assert_eq!(count.get(), 0);
        let first = listeners.add("/a");
        let second = listeners.add("/a");
        assert_eq!((count.get(), other.get()), (2, 0));
        drop(first);
        assert_eq!((count.get(), listeners.count("/a").get()), (1, 1));
        drop(second);
        assert_eq!(count.get(), 0);
    }

    #[test]
    fn missing_messages_are_overwritten_unless_the_process_may_have_sent_them() {
        let listeners = Listeners::default();
        let sent = listeners.sent("/a");
        sent.add(3);
        let mut late = Missing::new(Some(listeners.sent("/a")), &QoS::default());
        let latched = QoS::default().transient_local();
        let mut latched = Missing::new(Some(sent.clone()), &latched);
        let mut exact = Missing::new(None, &QoS::default());
        sent.add(2);
        assert_eq!([1, 4].map(|missing| late.overwritten(missing)), [0, 3]);
        assert_eq!([1, 6].map(|missing| latched.overwritten(missing)), [0, 2]);
        assert_eq!(exact.overwritten(4), 4);
        sent.add(1);
        assert_eq!(late.overwritten(1), 0);
    }
}
