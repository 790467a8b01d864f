//! Who listens within this process: for them alone nothing has to be serialized.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The subscriptions that this process has in rcl, by topic.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<BTreeMap<String, Arc<()>>>);

/// Held by a subscription as long as it is there.
#[derive(Clone, Debug)]
pub(crate) struct Listener(#[expect(dead_code, reason = "it is counted, not looked at")] Arc<()>);

/// How many subscriptions of a topic there are in this process.
#[derive(Debug)]
pub(crate) struct ListenerCount(Weak<()>);

impl Listeners {
    fn of(&self, topic: &str) -> Arc<()> {
        let mut topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        topics.entry(topic.into()).or_default().clone()
    }

    /// For another subscription of `topic`.
    pub(crate) fn add(&self, topic: &str) -> Listener {
        Listener(self.of(topic))
    }

    /// The number of those of `topic`, as it is at each time.
    pub(crate) fn count(&self, topic: &str) -> ListenerCount {
        ListenerCount(Arc::downgrade(&self.of(topic)))
    }
}

impl ListenerCount {
    pub(crate) fn get(&self) -> usize {
        // The list holds it, too.
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
}
