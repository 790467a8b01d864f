//! Who listens within this process: for them alone nothing has to be serialized.

use ringspin_ringbuf::Counter;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many subscriptions of the process each topic has in rcl.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Mutex<BTreeMap<String, Arc<Counter>>>);

impl Listeners {
    /// The number of those of `topic`, as it is at each time.
    pub(crate) fn of(&self, topic: &str) -> Arc<Counter> {
        let mut topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        topics.entry(topic.into()).or_default().clone()
    }
}
