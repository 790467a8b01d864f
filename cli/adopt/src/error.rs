//! The error of a step.

use std::fmt;
use std::path::Path;

/// A step that failed, with the way out: "failed to X: cause; do Y".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// "failed to `action`: `cause`; `remedy`".
    pub fn new(action: impl fmt::Display, cause: impl fmt::Display, remedy: &str) -> Self {
        Self(format!("failed to {action}: {cause}; {remedy}"))
    }

    /// A file that could not be read or written.
    pub fn file(verb: &str, path: &Path, cause: impl fmt::Display) -> Self {
        Self::new(format!("{verb} {}", path.display()), cause, "check the path and its permissions")
    }

    /// Several errors of one step, one a line.
    pub fn all(errors: Vec<Error>) -> Self {
        let lines: Vec<_> = errors.into_iter().map(|error| error.0).collect();
        Self(lines.join("\n"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
