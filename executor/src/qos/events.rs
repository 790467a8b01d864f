//! The events of quality of service, and their callbacks.

use crate::context::Context;
use crate::event_loop::{BoxError, CallbackResult};
use std::fmt;

/// Periods passed without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineMissed {
    /// Periods without a message since the start.
    pub total_count: u64,
    /// Periods without a message since the last event: more than one if the executor was late.
    pub total_count_change: u64,
}

/// Publishers of a topic came to life, or lost it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivelinessChanged {
    /// Publishers that are alive.
    pub alive_count: u64,
    /// Publishers that were, and are not any more.
    pub not_alive_count: u64,
    /// The change of `alive_count` since the last event.
    pub alive_count_change: i64,
    /// The change of `not_alive_count` since the last event.
    pub not_alive_count_change: i64,
}

/// A publisher gave no sign of life within its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivelinessLost {
    /// How often that happened since the start.
    pub total_count: u64,
}

/// What is called for an event `E`.
pub(crate) type EventCallback<S, E> =
    Box<dyn FnMut(&mut S, E, &mut Context<'_>) -> Result<(), BoxError> + Send>;

fn boxed<S, E, F, R>(mut callback: F) -> Option<EventCallback<S, E>>
where
    F: FnMut(&mut S, E, &mut Context<'_>) -> R + Send + 'static,
    R: CallbackResult,
{
    Some(Box::new(move |state, event, cx| callback(state, event, cx).into_result()))
}

/// The event callbacks of a subscription; see
/// [`create_subscription_with_events`](crate::Node::create_subscription_with_events).
pub struct SubscriptionEvents<S> {
    pub(crate) deadline_missed: Option<EventCallback<S, DeadlineMissed>>,
    pub(crate) liveliness_changed: Option<EventCallback<S, LivelinessChanged>>,
}

impl<S> SubscriptionEvents<S> {
    /// No callbacks.
    pub fn new() -> Self {
        Self { deadline_missed: None, liveliness_changed: None }
    }

    /// Calls `callback` when the deadline that the subscription requests has passed since the last
    /// message of the topic, from any publisher, or since the start; and again for every further
    /// period. Without a deadline, never.
    ///
    /// A message counts when it is published. One that comes while the loop is busy past the
    /// deadline ends the wait before it is seen to be missed.
    #[must_use]
    pub fn on_deadline_missed<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, DeadlineMissed, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.deadline_missed = boxed(callback);
        self
    }

    /// Calls `callback` when publishers of the topic come to life (those with automatic liveliness
    /// at the start, those with manual liveliness at their first sign), and when they lose it: a
    /// lease of theirs has passed without a sign, or their node is isolated after a failure.
    #[must_use]
    pub fn on_liveliness_changed<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, LivelinessChanged, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.liveliness_changed = boxed(callback);
        self
    }
}

impl<S> Default for SubscriptionEvents<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for SubscriptionEvents<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionEvents")
            .field("deadline_missed", &self.deadline_missed.is_some())
            .field("liveliness_changed", &self.liveliness_changed.is_some())
            .finish()
    }
}

/// The event callbacks of a publisher; see
/// [`create_publisher_with_events`](crate::Node::create_publisher_with_events).
pub struct PublisherEvents<S> {
    pub(crate) deadline_missed: Option<EventCallback<S, DeadlineMissed>>,
    pub(crate) liveliness_lost: Option<EventCallback<S, LivelinessLost>>,
}

impl<S> PublisherEvents<S> {
    /// No callbacks.
    pub fn new() -> Self {
        Self { deadline_missed: None, liveliness_lost: None }
    }

    /// Calls `callback` when the deadline that the publisher offers has passed since its last
    /// message, or since the start; and again for every further period. Without a deadline, never.
    #[must_use]
    pub fn on_deadline_missed<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, DeadlineMissed, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.deadline_missed = boxed(callback);
        self
    }

    /// Calls `callback` when the publisher gave a sign of life, and then none within its lease.
    /// With automatic liveliness, or without a lease, never.
    #[must_use]
    pub fn on_liveliness_lost<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, LivelinessLost, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.liveliness_lost = boxed(callback);
        self
    }
}

impl<S> Default for PublisherEvents<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for PublisherEvents<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublisherEvents")
            .field("deadline_missed", &self.deadline_missed.is_some())
            .field("liveliness_lost", &self.liveliness_lost.is_some())
            .finish()
    }
}
