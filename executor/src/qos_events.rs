//! The events of quality of service, and their callbacks.

pub(crate) mod attach;
mod conditions;
mod peers;
mod watch;

use crate::context::Context;
use crate::event_loop::{BoxError, CallbackResult};
use crate::qos::{IncompatiblePeer, QosPolicy};
use std::fmt;

/// Periods passed without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineMissed {
    /// Periods without a message since the start.
    pub total_count: u64,
    /// Periods without a message since the last event: more than one if the executor was late.
    pub total_count_change: u64,
}

/// Publishers of a topic became alive, or are not alive any more.
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
    /// The number of such losses since the start.
    pub total_count: u64,
}

/// Peers outside of the process are incompatible: no message goes between them and this end.
///
/// Within the process such a pair is an error when the second end is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompatibleQos {
    /// Incompatible peers since the start.
    pub total_count: u64,
    /// Those since the last event.
    pub total_count_change: u64,
    /// The incompatible policy of the last one; `None` for a policy that only the middleware has.
    pub last_policy: Option<QosPolicy>,
    /// The last one, if it is still there.
    pub last_peer: Option<IncompatiblePeer>,
}

/// Messages were published and are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLost {
    /// Messages lost since the start.
    pub total_count: u64,
    /// Those since the last event.
    pub total_count_change: u64,
}

/// Peers came or went: subscriptions of a publisher, publishers of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Peers since the start, those that went included.
    pub total_count: u64,
    /// New ones since the last event.
    pub total_count_change: u64,
    /// Peers now.
    pub current_count: u64,
    /// The change of `current_count` since the last event.
    pub current_count_change: i64,
}

/// The callback for an event `E`.
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
    pub(crate) incompatible_qos: Option<EventCallback<S, IncompatibleQos>>,
    pub(crate) message_lost: Option<EventCallback<S, MessageLost>>,
    pub(crate) matched: Option<EventCallback<S, Matched>>,
}

impl<S> SubscriptionEvents<S> {
    /// Creates an empty set of callbacks.
    pub fn new() -> Self {
        Self {
            deadline_missed: None,
            liveliness_changed: None,
            incompatible_qos: None,
            message_lost: None,
            matched: None,
        }
    }

    /// Calls `callback` when the deadline that the subscription requests has passed since the last
    /// message of the topic, from any publisher, or since the start; and again for every further
    /// period. Without a deadline, never.
    ///
    /// A message counts when it is published; one from outside of the process, when it comes in.
    /// One that comes while the loop is busy past the deadline ends the wait before it is seen to
    /// be missed.
    #[must_use]
    pub fn on_deadline_missed<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, DeadlineMissed, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.deadline_missed = boxed(callback);
        self
    }

    /// Calls `callback` when publishers of the topic become alive (those with automatic liveliness
    /// at the start, those with manual liveliness at their first sign), and when they are not alive
    /// any more: a lease has passed without a sign, or their node is isolated after a failure. Of
    /// publishers outside of the process, those count that the middleware has found.
    #[must_use]
    pub fn on_liveliness_changed<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, LivelinessChanged, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.liveliness_changed = boxed(callback);
        self
    }

    /// Calls `callback` when publishers outside of the process offer less than the subscription
    /// requests, so that their messages do not come. Without a callback that is a warning in the
    /// log.
    #[must_use]
    pub fn on_incompatible_qos<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, IncompatibleQos, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.incompatible_qos = boxed(callback);
        self
    }

    /// Calls `callback` when messages were lost on their way: by the middleware, or in a simulated
    /// network, or because they could not be read. Those that newer ones displaced because they
    /// were not handled in time are not lost in this sense, as in ROS 2: the depth is a choice, and
    /// the statistics count them as overwritten.
    #[must_use]
    pub fn on_message_lost<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, MessageLost, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.message_lost = boxed(callback);
        self
    }

    /// Calls `callback` when publishers of the topic come or go: those of the process all at once
    /// at the start, as one event, those outside as they are found.
    #[must_use]
    pub fn on_matched<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, Matched, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.matched = boxed(callback);
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
            .field("incompatible_qos", &self.incompatible_qos.is_some())
            .field("message_lost", &self.message_lost.is_some())
            .field("matched", &self.matched.is_some())
            .finish()
    }
}

/// The event callbacks of a publisher; see
/// [`create_publisher_with_events`](crate::Node::create_publisher_with_events).
pub struct PublisherEvents<S> {
    pub(crate) deadline_missed: Option<EventCallback<S, DeadlineMissed>>,
    pub(crate) liveliness_lost: Option<EventCallback<S, LivelinessLost>>,
    pub(crate) incompatible_qos: Option<EventCallback<S, IncompatibleQos>>,
    pub(crate) matched: Option<EventCallback<S, Matched>>,
}

impl<S> PublisherEvents<S> {
    /// Creates an empty set of callbacks.
    pub fn new() -> Self {
        Self { deadline_missed: None, liveliness_lost: None, incompatible_qos: None, matched: None }
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

    /// Calls `callback` when subscriptions outside of the process request more than the publisher
    /// offers, so that they get none of its messages. Without a callback that is a warning in the
    /// log.
    #[must_use]
    pub fn on_incompatible_qos<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, IncompatibleQos, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.incompatible_qos = boxed(callback);
        self
    }

    /// Calls `callback` when subscriptions of the topic come or go: those of the process all at
    /// once at the start, as one event, those outside as they are found. A
    /// [late subscription](crate::LateSubscription) counts from the start.
    #[must_use]
    pub fn on_matched<F, R>(mut self, callback: F) -> Self
    where
        F: FnMut(&mut S, Matched, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult,
    {
        self.matched = boxed(callback);
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
            .field("incompatible_qos", &self.incompatible_qos.is_some())
            .field("matched", &self.matched.is_some())
            .finish()
    }
}
