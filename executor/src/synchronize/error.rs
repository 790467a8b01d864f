//! Errors of synchronized subscriptions, and checks of their parameters.

use super::matcher::INPUTS_MAX;
use crate::graph::CreateSubscriptionError;
use std::time::Duration;
use thiserror::Error;

const SIZE_MAX: usize = ringspin_ringbuf::keep_last::MAX_DEPTH;

/// The reason why a synchronized subscription was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SynchronizeError {
    /// The parameters of the policy make no sense.
    #[error("failed to create a synchronized subscription of node {node}: {error}")]
    Policy {
        /// The node.
        node: String,
        /// The fault of the parameters.
        error: PolicyError,
    },
    /// One of the inputs was not subscribed.
    #[error(transparent)]
    Subscription(#[from] CreateSubscriptionError),
}

/// A fault in the parameters of a [`Policy`](super::Policy).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Nothing, or too much, would be kept of each input.
    #[error("a queue size of {0} is out of range; use 1 to {max}", max = SIZE_MAX)]
    QueueSize(usize),
    /// The age penalty is no number, or negative.
    #[error("an age penalty of {0} is out of range; use 0 or a little more, such as 0.1")]
    AgePenalty(String),
    /// A parameter names an input that does not exist.
    #[error("there is no input {input}: they are numbered from 0 to {last}")]
    NoSuchInput {
        /// The input as given.
        input: usize,
        /// The last one.
        last: usize,
    },
    /// An interval is longer than 584 years.
    #[error("an interval of {0:?} is out of range; use less than 584 years")]
    Interval(Duration),
    /// No input can trigger the callback, so it would never be called.
    #[error("no input can trigger the callback: {0}; give the trigger an input that is not cached")]
    NothingTriggers(&'static str),
}

/// Checks how many messages are kept of each input.
pub(crate) fn check_size(size: usize) -> Result<(), PolicyError> {
    match size {
        1..=SIZE_MAX => Ok(()),
        _ => Err(PolicyError::QueueSize(size)),
    }
}

/// Checks the number of an input.
pub(crate) fn check_input(input: usize, inputs: usize) -> Result<(), PolicyError> {
    debug_assert!(inputs <= INPUTS_MAX);
    match input < inputs {
        true => Ok(()),
        false => Err(PolicyError::NoSuchInput { input, last: inputs - 1 }),
    }
}
