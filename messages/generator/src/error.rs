//! Errors in definitions, with file and line.

use std::fmt;
use thiserror::Error;

/// A definition that is not valid.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{origin}:{line}: {problem}")]
pub struct DefinitionError {
    /// The file, or another name of the text.
    pub origin: String,
    /// The line, from one.
    pub line: usize,
    /// The cause, and the way out.
    pub problem: String,
}

/// Is the same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl DefinitionError {
    pub(crate) fn new(origin: &str, line: usize, problem: String) -> Self {
        Self { origin: origin.into(), line, problem }
    }
}
