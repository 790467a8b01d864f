//! A message as a subscription sees it: shared, immutable, with its origin. The publisher writes
//! the envelope once, in its slot of the topic's pool, before any queue has it; receivers only read
//! it and count references, and the last one frees the slot.

use crate::base::digest::{Digest, DigestHasher};
use crate::base::event::{CallbackId, EventId};
use crate::base::message_times::{MessageTimes, Times};
use crate::base::time::Time;
use crate::delivery::control::CallbackCounters;
use ringspin_ringbuf::Shared;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// A message and its origin, as stored in its topic's pool.
///
/// In this order: so a message starts at a multiple of 16 bytes in its slot. Elsewhere, copying one
/// of 4 KiB takes a third longer.
#[repr(C)]
pub(crate) struct Envelope<M> {
    pub(crate) id: EventId,
    pub(crate) expiry: Expiry,
    pub(crate) message: M,
}

impl<M> Envelope<M> {
    /// An envelope that never expires.
    #[inline]
    pub(crate) fn lasting(id: EventId, message: M) -> Self {
        Self { id, expiry: Expiry::NEVER, message }
    }
}

impl<M: Default> Default for Envelope<M> {
    fn default() -> Self {
        Self::lasting(EventId::default(), M::default())
    }
}

/// The last moment of a message's lifespan, in nanoseconds.
///
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expiry(NonZeroU64);

impl Expiry {
    pub(crate) const NEVER: Self = Self(NonZeroU64::MAX);

    /// Creates the expiry of a message that is published at `now`.
    pub(crate) fn of(now: Time, lifespan: Option<Duration>) -> Self {
        let end = lifespan.and_then(|lifespan| NonZeroU64::new((now + lifespan).as_nanos()));
        end.map_or(Self::NEVER, Self)
    }

    /// Whether it has passed; `now` is asked only if there is a lifespan.
    #[inline]
    pub(crate) fn has_passed(self, now: impl FnOnce() -> Time) -> bool {
        self != Self::NEVER && now().as_nanos() > self.0.get()
    }
}

/// A received message. All subscriptions share one copy; clone it to keep it, at the cost of two
/// reference counts. A clone takes up a slot of its topic until it is dropped: how many may be kept
/// is declared by [`QoS::held`](crate::QoS::held).
pub struct Message<M>(pub(crate) Shared<Envelope<M>>, pub(crate) Option<Arc<Holder>>);

impl<M> Message<M> {
    /// A message that no subscription holds.
    #[inline]
    pub(crate) fn new(envelope: Shared<Envelope<M>>) -> Self {
        Self(envelope, None)
    }

    /// The times of publication and reception, if its subscription asks for them by
    /// [`QoS::message_times`](crate::QoS::message_times); else `None`. Corresponds to
    /// `rmw_message_info_t` of ROS 2.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS};
    /// # let graph = Graph::new();
    /// let node = graph.create_node("monitor", ())?;
    /// let qos = QoS::sensor_data().message_times();
    /// node.create_subscription("scan", qos, |_, scan: &Message<Vec<f32>>, cx| {
    ///     if let Some(times) = scan.times() {
    ///         let on_its_way = times.received_timestamp - times.source_timestamp;
    ///         println!("{on_its_way:?}, then {:?}", cx.now() - times.received_timestamp);
    ///     }
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn times(&self) -> Option<MessageTimes> {
        let times = self.1.as_ref()?.times.as_ref()?;
        Some(times.get(self.slot()))
    }

    /// The index of its slot in the topic's pool.
    pub(crate) fn slot(&self) -> usize {
        self.0.slot_index()
    }

    /// The publisher of the message, and its sequence number there.
    pub fn id(&self) -> EventId {
        self.0.id
    }
}

impl<M> Clone for Message<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), self.1.clone())
    }
}

impl<M> std::ops::Deref for Message<M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.0.message
    }
}

impl<M: std::fmt::Debug> std::fmt::Debug for Message<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<M: Digest> Digest for Message<M> {
    fn digest(&self, hasher: &mut DigestHasher) {
        (**self).digest(hasher);
    }
}

/// A subscription, as its messages know it: every message that it holds has a reference.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) callback: CallbackId,
    pub(crate) counters: Arc<CallbackCounters>,
    /// The number of messages that it may hold, with the one that it handles.
    pub(crate) messages_max: usize,
    /// If it asks for the times of messages.
    pub(crate) times: Option<Arc<Times>>,
}

/// The number of references to a holder that are no messages: the topic's, and two of the receiver.
const OWN_REFERENCES: usize = 3;

impl Holder {
    /// The number of messages that it holds, or held a moment ago.
    pub(crate) fn messages(self: &Arc<Self>) -> usize {
        Arc::strong_count(self).saturating_sub(OWN_REFERENCES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_expires_after_its_lifespan_not_at_its_end() {
        let expiry = Expiry::of(Time::from_nanos(10), Some(Duration::from_nanos(5)));
        assert!(!expiry.has_passed(|| Time::from_nanos(15)));
        assert!(expiry.has_passed(|| Time::from_nanos(16)));
        assert!(!Expiry::of(Time::MAX, None).has_passed(|| unreachable!("the clock is not read")));
    }
}
