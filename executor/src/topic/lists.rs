//! Lists of the topics of a graph.

use super::AnyTopic;
use crate::lock::lock;
use std::mem::take;
use std::sync::{Arc, Mutex};

/// Topics with their names.
pub(crate) type NamedTopics = Vec<(String, Arc<dyn AnyTopic>)>;

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
pub(crate) struct AllTopics(Arc<Mutex<NamedTopics>>);

impl AllTopics {
    pub(crate) fn add(&self, name: String, topic: Arc<dyn AnyTopic>) {
        lock(&self.0).push((name, topic));
    }

    /// Removes a topic that ended before the graph.
    pub(crate) fn remove(&self, topic: &Arc<dyn AnyTopic>) {
        remove(&mut lock(&self.0), topic);
    }

    /// The topics so far, in order of creation.
    pub(crate) fn get(&self) -> NamedTopics {
        lock(&self.0).clone()
    }
}

/// Removes `topic` from a list.
pub(crate) fn remove(list: &mut NamedTopics, topic: &Arc<dyn AnyTopic>) {
    let is_same =
        |other: &Arc<dyn AnyTopic>| Arc::as_ptr(other).addr() == Arc::as_ptr(topic).addr();
    if let Some(place) = list.iter().rposition(|(_, other)| is_same(other)) {
        list.remove(place);
    }
}
