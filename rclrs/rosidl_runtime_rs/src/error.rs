//! Errors of values that exceed the bound of their type.

use thiserror::Error;

/// An error for a text that is too long for a [`BoundedString`](crate::BoundedString) or
/// [`BoundedWString`](crate::BoundedWString).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a string of length {len} exceeds the bound {upper_bound} of its type; shorten the text or \
     raise the bound in the definition"
)]
pub struct StringExceedsBoundsError {
    /// The length of the text, in bytes or, for wide strings, in UTF-16 units.
    pub len: usize,
    /// The bound.
    pub upper_bound: usize,
}

/// An error for more elements than a [`BoundedSequence`](crate::BoundedSequence) can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a sequence of {len} elements exceeds the bound {upper_bound} of its type; remove elements or \
     raise the bound in the definition"
)]
pub struct SequenceExceedsBoundsError {
    /// The number of elements.
    pub len: usize,
    /// The bound.
    pub upper_bound: usize,
}
