//! What can be wrong with the parameters of a synchronized subscription.

use super::matcher::INPUTS_MAX;
use std::time::Duration;
use thiserror::Error;

/// Why a synchronized subscription was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SynchronizeError {
    /// Nothing, or too much, would be kept of each input.
    #[error("{0} messages of each input cannot be kept; use 1 to {max}", max = SIZE_MAX)]
    QueueSize(usize),
    /// The age penalty is no number, or negative.
    #[error("an age penalty of {0} is out of range; use 0 or a little more, such as 0.1")]
    AgePenalty(String),
    /// A parameter speaks of an input that does not exist.
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

const SIZE_MAX: usize = ringspin_ringbuf::keep_last::MAX_DEPTH;

/// Checks how many messages are kept of each input.
pub(crate) fn check_size(size: usize) -> Result<(), SynchronizeError> {
    match size {
        1..=SIZE_MAX => Ok(()),
        _ => Err(SynchronizeError::QueueSize(size)),
    }
}

/// Checks the number of an input.
pub(crate) fn check_input(input: usize, inputs: usize) -> Result<(), SynchronizeError> {
    debug_assert!(inputs <= INPUTS_MAX);
    match input < inputs {
        true => Ok(()),
        false => Err(SynchronizeError::NoSuchInput { input, last: inputs - 1 }),
    }
}
