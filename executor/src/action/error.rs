//! Errors of goals, at the server and at the client.

use super::status::{GoalEvent, GoalStatus};
use crate::graph::{CreatePublisherError, CreateSubscriptionError};
use crate::service::{CreateClientError, CreateServiceError, RequestError};
use std::fmt;
use thiserror::Error;

/// The reason why an action server was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateActionServerError {
    /// The name or a limit of the action is not valid, or one of its services was not created.
    #[error(transparent)]
    Service(#[from] CreateServiceError),
    /// A publisher, of feedback or status, was not created.
    #[error(transparent)]
    Publisher(#[from] CreatePublisherError),
}

/// The reason why an action client was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CreateActionClientError {
    /// The name or a limit of the action is not valid, or one of its clients was not created.
    #[error(transparent)]
    Client(#[from] CreateClientError),
    /// The subscription to feedback was not created.
    #[error(transparent)]
    Subscription(#[from] CreateSubscriptionError),
}

/// The reason why a server's call about a goal had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GoalError {
    /// The goal is in a state in which this cannot happen.
    #[error(
        "failed to {event} a goal that is {status}: a goal is executed once, ends once after that, \
         and its cancellation can only complete when a request to cancel it was accepted"
    )]
    Illegal {
        /// The event that was refused.
        event: GoalEvent,
        /// The status of the goal.
        status: GoalStatus,
    },
    /// The goal has ended, so no client waits for feedback on it.
    #[error("the goal is {0}: publish feedback before it ends")]
    Ended(
        /// Its final status; unknown if its result was forgotten since.
        GoalStatus,
    ),
    /// A keep-all subscription to the feedback holds as many messages as its limit.
    #[error(
        "a keep-all subscription to the feedback is full: raise its limit or publish more slowly"
    )]
    FeedbackFull,
}

/// A result or feedback that was not taken, and is handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GoalRefused<T> {
    /// The value that was refused.
    pub value: T,
    /// The reason.
    pub reason: GoalError,
}

impl<T> fmt::Debug for GoalRefused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalRefused").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for GoalRefused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<T> std::error::Error for GoalRefused<T> {}

/// The reason why a goal that was sent is not pursued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendGoalError {
    /// The server does not accept the goal, or has reached its limit. ROS 2 does not tell which.
    #[error(
        "the action's server rejected the goal: it does not accept such goals, or pursues as many \
         as it can"
    )]
    Rejected,
    /// The server did not answer.
    #[error(transparent)]
    Request(#[from] RequestError),
}
