//! Errors of duration models.

use thiserror::Error;

/// The reason why durations do not fit a graph.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DurationError {
    /// No such node or callback group in the graph.
    #[error(
        "{rule}: the graph has no such node; {way_out} \
         (set `later = true` if it is created while the graph runs)"
    )]
    UnknownNode {
        /// The rule's number, from one, and for what it is.
        rule: String,
        /// The names that exist.
        way_out: String,
    },
    /// The node has no such callback.
    #[error(
        "{rule}: the node has no such callback; {way_out} \
         (set `later = true` if it is created while the graph runs)"
    )]
    UnknownCallback {
        /// The rule's number, from one, and for what it is.
        rule: String,
        /// The names that exist.
        way_out: String,
    },
    /// A rule that changes nothing.
    #[error("{rule} has no effect; give a `duration`, a `scale` or a `logical` execution time")]
    Nothing {
        /// The rule's number, from one, and for what it is.
        rule: String,
    },
    /// A factor that makes no time.
    #[error("{rule}: the scale is {scale}; give a finite factor that is not negative")]
    Scale {
        /// The rule's number, from one, and for what it is.
        rule: String,
        /// The given value.
        scale: f64,
    },
    /// A factor for callbacks that take no time.
    #[error(
        "{rule}: none of its callbacks has a duration to scale; give them one, or load a recorded \
         profile"
    )]
    NothingToScale {
        /// The rule's number, from one, and for what it is.
        rule: String,
    },
}
