//! Digests of the messages and states that callbacks show, so that runs can be compared.
//!
//! The order of events is compared anyway. Their contents are compared only on request: of a
//! callback ([`Context::digest`](crate::Context::digest)), for a publisher
//! ([`Publisher::digested`](crate::Publisher::digested)) or for a group
//! ([`Node::digest_state`](crate::Node::digest_state)). Live, all of that costs a branch. Of a
//! message that no subscription receives, the identity is compared as well.

use super::{Digest, DigestHasher};
use crate::base::event::{EventId, SourceId};
use crate::base::lock::lock;
use crate::base::owner_thread::{ForeignEvent, OwnerThread};
use ringspin_ringbuf::{Counter, Flag};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

/// The digests that the running callback has added.
#[derive(Default)]
pub(crate) struct DigestCollector {
    /// Raised in simulated time.
    collecting: Flag,
    /// Raised if anything was shown so far: cheaper to read than taking the lock.
    any: Flag,
    /// Raised if any group shows its state.
    states: Arc<Flag>,
    shown: Mutex<Option<DigestHasher>>,
    publishers: Mutex<BTreeSet<SourceId>>,
    /// The names of the publishers that were given one.
    names: Mutex<BTreeMap<SourceId, String>>,
    /// The number of changes of these two.
    changes: Counter,
    /// Set in simulated time only.
    owner: OnceLock<Arc<OwnerThread>>,
}

impl DigestCollector {
    /// A collector for one worker of the graph: of the values of its callbacks and states, not of
    /// messages of digested publishers. Several workers can collect at once this way, also live.
    pub(crate) fn of_worker(&self) -> Self {
        let own = Self { states: self.states.clone(), ..Self::default() };
        own.collecting.raise();
        own
    }

    /// From now on, in simulated time, which `owner` runs.
    pub(crate) fn collect(&self, owner: &Arc<OwnerThread>) {
        self.owner.get_or_init(|| owner.clone());
        self.collecting.raise();
    }

    pub(crate) fn add<T: Digest + ?Sized>(&self, value: &T) {
        if self.collecting.is_raised() {
            self.any.raise(); // first, so that the values of a digest that panics are taken, too
            value.digest(lock(&self.shown).get_or_insert_default());
        }
    }

    pub(crate) fn is_collecting(&self) -> bool {
        self.collecting.is_raised()
    }

    /// Adds the identity of a message that no subscription receives, unless its publisher shows its
    /// messages.
    pub(crate) fn add_unheard(&self, EventId { source, sequence }: EventId) {
        if let Some(owner) = self.owner.get() {
            owner.note(|| ForeignEvent::Of(source));
        }
        if !self.is_digested(source) {
            self.add(&(source.0, sequence));
        }
    }

    pub(crate) fn is_digested(&self, publisher: SourceId) -> bool {
        lock(&self.publishers).contains(&publisher)
    }

    /// Records that a publisher shows its messages from now on.
    pub(crate) fn digest_publisher(&self, publisher: SourceId) {
        lock(&self.publishers).insert(publisher);
        self.changes.next();
    }

    pub(crate) fn name_publisher(&self, publisher: SourceId, name: &str) {
        lock(&self.names).insert(publisher, name.into());
        self.changes.next();
    }

    /// A publisher has ended.
    pub(crate) fn forget(&self, publisher: SourceId) {
        lock(&self.publishers).remove(&publisher);
        lock(&self.names).remove(&publisher);
    }

    /// The number of times that a publisher was named or began to show its messages.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// The name that a publisher was given, if it was given one.
    pub(crate) fn name_of(&self, publisher: SourceId) -> Option<String> {
        lock(&self.names).get(&publisher).cloned()
    }

    /// Records that groups show their states from now on.
    pub(crate) fn digest_states(&self) {
        self.states.raise();
    }

    /// Whether any group shows its state.
    #[inline]
    pub(crate) fn digests_states(&self) -> bool {
        self.states.is_raised()
    }

    /// Takes the digest of everything that was shown since the last call.
    #[inline]
    pub(crate) fn take(&self) -> Option<u64> {
        if self.any.is_raised() { self.take_shown() } else { None }
    }

    /// Returns the digest of everything that code outside of callbacks has shown since the last
    /// dispatch.
    pub(crate) fn pending(&self) -> Option<u64> {
        if !self.any.is_raised() {
            return None;
        }
        lock(&self.shown).as_ref().map(DigestHasher::finish)
    }

    #[inline(never)]
    fn take_shown(&self) -> Option<u64> {
        self.any.lower();
        lock(&self.shown).take().map(|hasher| hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use crate::base::qos::QoS;
    use crate::running::graph::Graph;

    #[test]
    fn graph_info_lists_digested_publishers_and_groups() {
        let graph = Graph::new();
        let node = graph.create_node("node", 0u8).unwrap();
        let plain = node.create_publisher::<u8>("a", QoS::default()).unwrap();
        let shown = node.create_publisher::<u8>("a", QoS::default()).unwrap().digested();
        node.create_callback_group("group", 1u8).unwrap().digest_state().unwrap();
        let info = graph.info();
        assert_eq!(info.topics[0].digested, [info.topics[0].publishers[1].1]);
        assert!(info.loops.values().map(|of| of.digested).eq([false, true]));
        drop((plain, shown));
        assert_eq!(graph.info().topics, []);
    }
}
