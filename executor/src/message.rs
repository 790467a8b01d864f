//! A message as a subscription sees it: shared, immutable, with its origin.

use crate::event::EventId;
use crate::time::Time;
use ringspin_ringbuf::Shared;

/// A message and where it comes from, as it lies in its topic's pool.
pub(crate) struct Envelope<M> {
    pub(crate) id: EventId,
    /// The last moment of its lifespan; [`Time::MAX`] without one.
    pub(crate) expires: Time,
    pub(crate) message: M,
}

impl<M> Envelope<M> {
    /// Without a lifespan.
    #[inline]
    pub(crate) fn lasting(id: EventId, message: M) -> Self {
        Self { id, expires: Time::MAX, message }
    }
}

/// A received message. All subscriptions share one copy; clone it to keep it, at the cost of a
/// reference count.
pub struct Message<M>(pub(crate) Shared<Envelope<M>>);

impl<M> Message<M> {
    /// Which message of which publisher this is.
    pub fn id(&self) -> EventId {
        self.0.id
    }
}

impl<M> Clone for Message<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
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
