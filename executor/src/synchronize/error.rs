//! Errors in the parameters of a synchronized subscription.

use super::matcher::INPUTS_MAX;
pub(super) use crate::graph::SynchronizeError;

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
