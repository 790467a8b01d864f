//! The events of quality of service, and their callbacks.

mod conditions;
mod peers;
pub(crate) mod watch;

use self::conditions::{Deadline, OwnLiveliness, TopicLiveliness};
use self::peers::{Loss, Match, Misfit};
use self::watch::AddWatch;
use crate::base::qos::{IncompatiblePeer, QosPolicy};
use crate::delivery::context::Context;
use crate::running::event_loop::{BoxError, CallbackResult};
use std::fmt;
use std::marker::PhantomData;

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

pub(crate) type EventCallback<S, E> =
    Box<dyn FnMut(&mut S, E, &mut Context<'_>) -> Result<(), BoxError> + Send>;

/// A set of event callbacks: a field and a setter for each event.
macro_rules! event_callbacks {
    (
        $(#[$about:meta])* $events:ident, $callbacks:ident
        $($(#[$doc:meta])* $setter:ident, $field:ident: $event:ty, of $condition:ty;)*
    ) => {
        $(#[$about])*
        pub struct $events<S> {
            pub(crate) callbacks: $callbacks,
            state: PhantomData<fn(S)>,
        }

        #[derive(Default)]
        pub(crate) struct $callbacks {
            $($field: Option<AddWatch<$condition>>,)*
        }

        impl<S> $events<S> {
            /// Creates an empty set of callbacks.
            pub fn new() -> Self {
                Self { callbacks: $callbacks::default(), state: PhantomData }
            }

            $($(#[$doc])*
            #[must_use]
            pub fn $setter<F, R>(mut self, mut callback: F) -> Self
            where
                S: Send + 'static,
                F: FnMut(&mut S, $event, &mut Context<'_>) -> R + Send + 'static,
                R: CallbackResult,
            {
                let callback = Box::new(move |state: &mut S, event, cx: &mut Context<'_>| {
                    callback(state, event, cx).into_result()
                });
                self.callbacks.$field = Some(watch::calling::<S, _>(callback));
                self
            })*
        }

        impl<S> Default for $events<S> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<S> fmt::Debug for $events<S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($events))
                    $(.field(stringify!($field), &self.callbacks.$field.is_some()))*
                    .finish()
            }
        }
    };
}

event_callbacks! {
    /// The event callbacks of a subscription; see
    /// [`create_subscription_with_events`](crate::Node::create_subscription_with_events).
    SubscriptionEvents, SubscriptionCallbacks

    /// Calls `callback` when the deadline that the subscription requests has passed since the last
    /// message of the topic, from any publisher, or since the start; and again for every further
    /// period. Without a deadline, never.
    ///
    /// A message counts when it is published; one from outside of the process, when it comes in.
    /// One that comes while the loop is busy past the deadline ends the wait before it is seen to
    /// be missed.
    on_deadline_missed, deadline_missed: DeadlineMissed, of Deadline;

    /// Calls `callback` when publishers of the topic become alive (those with automatic liveliness
    /// at the start, those with manual liveliness at their first sign), and when they are not alive
    /// any more: a lease has passed without a sign, or their node is isolated after a failure. Of
    /// publishers outside of the process, those count that the middleware has found.
    on_liveliness_changed, liveliness_changed: LivelinessChanged, of TopicLiveliness;

    /// Calls `callback` when publishers outside of the process offer less than the subscription
    /// requests, so that their messages do not come. Without a callback that is a warning in the
    /// log.
    on_incompatible_qos, incompatible_qos: IncompatibleQos, of Misfit;

    /// Calls `callback` when messages were lost on their way: by the middleware, or in a simulated
    /// network, or because they could not be read. Those that newer ones displaced because they
    /// were not handled in time are not lost in this sense, as in ROS 2: the depth is a choice, and
    /// the statistics count them as overwritten.
    on_message_lost, message_lost: MessageLost, of Loss;

    /// Calls `callback` when publishers of the topic come or go: those of the process all at once
    /// at the start, as one event, those outside as they are found.
    on_matched, matched: Matched, of Match;
}

event_callbacks! {
    /// The event callbacks of a publisher; see
    /// [`create_publisher_with_events`](crate::Node::create_publisher_with_events).
    PublisherEvents, PublisherCallbacks

    /// Calls `callback` when the deadline that the publisher offers has passed since its last
    /// message, or since the start; and again for every further period. Without a deadline, never.
    on_deadline_missed, deadline_missed: DeadlineMissed, of Deadline;

    /// Calls `callback` when the publisher gave a sign of life, and then none within its lease.
    /// With automatic liveliness, or without a lease, never.
    on_liveliness_lost, liveliness_lost: LivelinessLost, of OwnLiveliness;

    /// Calls `callback` when subscriptions outside of the process request more than the publisher
    /// offers, so that they get none of its messages. Without a callback that is a warning in the
    /// log.
    on_incompatible_qos, incompatible_qos: IncompatibleQos, of Misfit;

    /// Calls `callback` when subscriptions of the topic come or go: those of the process that
    /// are there at the start as one event, those created later and those outside as they join.
    on_matched, matched: Matched, of Match;
}
