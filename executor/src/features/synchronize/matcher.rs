//! The choice of the messages that belong together, without access to the messages.
//!
//! A matcher mirrors the inputs' queues: it knows the stamps (or only the numbers) of the queued
//! messages, and returns the positions that form a set and those to remove. It is plain sequential
//! code, which is why the tests can compare it with a model directly.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::time::Time;

/// Limit of the inputs of a synchronized subscription, as in `message_filters`.
pub(crate) const INPUTS_MAX: usize = 9;

/// For each input, the place of the set's message in its queue, the oldest being 0.
pub(crate) type Positions = [usize; INPUTS_MAX];

/// The set is at the heads of the queues.
pub(crate) const HEADS: Positions = [0; INPUTS_MAX];

/// The reason why a message leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// It was handed over.
    Used,
    /// It fell out without ever being handed over.
    Unmatched,
}

/// Whether a message keeps the promise of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It does, or nothing is promised.
    Regular,
    /// Its stamp is before its predecessor's, or closer to it than the lower bound allows.
    Irregular,
}

/// The state machine of a policy.
///
/// After each [`arrive`](Self::arrive), [`next`](Self::next) is called until it returns `None`,
/// with a [`finish`](Self::finish) after each set. `remove(input, position, removal)` takes one
/// message out of the queue of `input` at once, so that those behind it move up.
pub trait Matcher: Send {
    /// A message was appended to the queue of `input`.
    fn arrive(&mut self, input: usize, stamp: Time) -> Arrival;

    /// The next set that is complete.
    fn next(&mut self, remove: &mut impl FnMut(usize, usize, Removal)) -> Option<Positions>;

    /// Removes the messages that the last set used up; nothing if that was done.
    fn finish(&mut self, remove: &mut impl FnMut(usize, usize, Removal));
}

const SIZE_MAX: usize = ringspin_ringbuf::keep_last::MAX_DEPTH;

/// A fault in the parameters; the node is added to it later.
pub(crate) fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

/// Checks how many messages are kept of each input.
pub(crate) fn check_size(size: usize) -> Result<()> {
    match size {
        1..=SIZE_MAX => Ok(()),
        _ => Err(invalid(format!("a queue size of {size} is out of range; use 1 to {SIZE_MAX}"))),
    }
}

pub(crate) fn check_input(input: usize, inputs: usize) -> Result<()> {
    if input < inputs {
        return Ok(());
    }
    let last = inputs - 1;
    Err(invalid(format!("there is no input {input}: they are numbered from 0 to {last}")))
}
