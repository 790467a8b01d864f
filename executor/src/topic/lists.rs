//! Lists of the topics of a graph.

use super::AnyTopic;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Arc, Mutex};

/// A topic with its name.
type NamedTopic = (String, Arc<dyn AnyTopic>);

/// The topics that have new ends.
#[derive(Clone, Default)]
pub(crate) struct ChangedTopics(Arc<Mutex<Vec<Arc<dyn AnyTopic>>>>);

impl ChangedTopics {
    pub(crate) fn add(&self, topic: Arc<dyn AnyTopic>) {
        lock(&self.0).push(topic);
    }

    pub(crate) fn take(&self) -> Vec<Arc<dyn AnyTopic>> {
        take(&mut *lock(&self.0))
    }
}

/// All topics of a graph and their names, those of services and clients included; clones share
/// them.
#[derive(Clone, Default)]
pub(crate) struct AllTopics(Arc<Mutex<Topics>>);

#[derive(Default)]
struct Topics {
    by_number: BTreeMap<u64, NamedTopic>,
    /// The number of topics so far.
    added: u64,
    /// The messages that removed topics handed back.
    refused: u64,
}

impl AllTopics {
    /// Adds a topic, and returns its number.
    pub(crate) fn add(&self, name: String, topic: Arc<dyn AnyTopic>) -> u64 {
        let mut topics = lock(&self.0);
        topics.added += 1;
        let number = topics.added;
        topics.by_number.insert(number, (name, topic));
        number
    }

    /// Removes and closes the topic with this number.
    pub(crate) fn remove(&self, number: u64) -> Option<NamedTopic> {
        let mut topics = lock(&self.0);
        let removed = topics.by_number.remove(&number)?;
        removed.1.close();
        topics.refused += removed.1.refused();
        Some(removed)
    }

    /// The topics, in order of creation.
    pub(crate) fn get(&self) -> Vec<NamedTopic> {
        lock(&self.0).by_number.values().cloned().collect()
    }

    /// The messages that topics handed back, and those of all removed topics.
    pub(crate) fn refused(&self) -> Vec<(String, u64)> {
        let topics = lock(&self.0);
        let each = topics.by_number.values().map(|(name, topic)| (&**name, topic.refused()));
        let all = each.chain([("removed topics", topics.refused)]);
        let all = all.filter(|(_, refused)| *refused > 0);
        all.map(|(name, refused)| (name.into(), refused)).collect()
    }
}
