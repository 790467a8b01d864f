//! A message as a subscription sees it: shared, immutable, with its origin.

use crate::event::EventId;
use crate::time::Time;
use ringspin_ringbuf::Shared;
use std::num::NonZeroU64;
use std::time::Duration;

/// A message and where it comes from, as it lies in its topic's pool.
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
    /// Without a lifespan.
    #[inline]
    pub(crate) fn lasting(id: EventId, message: M) -> Self {
        Self { id, expiry: Expiry::NEVER, message }
    }
}

/// The last moment of a message's lifespan, in nanoseconds.
///
/// Never zero, so that the `Option` around an envelope in its pool needs no room of its own: the
/// lifespan takes the place of its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expiry(NonZeroU64);

impl Expiry {
    pub(crate) const NEVER: Self = Self(NonZeroU64::MAX);

    /// Of a message that is published at `now`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_expires_after_its_lifespan_not_at_its_end() {
        let expiry = Expiry::of(Time::from_nanos(10), Some(Duration::from_nanos(5)));
        assert!(!expiry.has_passed(|| Time::from_nanos(15)));
        assert!(expiry.has_passed(|| Time::from_nanos(16)));
        assert!(!Expiry::of(Time::MAX, None).has_passed(|| unreachable!("nobody has to know")));
    }

    #[test]
    fn a_lifespan_takes_no_room_in_the_pool() {
        struct Without {
            _id: EventId,
            _message: u64,
        }
        assert_eq!(size_of::<Option<Envelope<u64>>>(), size_of::<Option<Without>>());
    }
}
