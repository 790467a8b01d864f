//! Errors of twins and their evaluations.

use ringspin_modes::ChainError;
use ringspin_simulation::models::OtherGraphError;
use std::time::Duration;
use thiserror::Error;

/// An assignment of other event loops than the twin's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the assignment is of other event loops than the twin's, {}: make it from its `loops`",
    expected.join(", ")
)]
pub struct OtherLoopsError {
    /// The loops of the twin.
    pub expected: Vec<String>,
}

/// The reason why a twin has no simulation of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AssignmentError {
    /// The assignment has other loops than the twin.
    #[error(transparent)]
    OtherLoops(#[from] OtherLoopsError),
    /// An assignment without cores.
    #[error("the assignment has no cores: give it one at least")]
    NoCores,
    /// The span of an evaluation is zero.
    #[error("a twin with a horizon of zero simulates nothing: give it a span of simulated time")]
    NoHorizon,
}

/// The reason why a twin did not evaluate an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// There is no simulation of the assignment.
    #[error(transparent)]
    Assignment(#[from] AssignmentError),
    /// The graph was not built.
    #[error("failed to build the graph of the twin: {0}")]
    Build(String),
    /// The simulation failed.
    #[error("failed to run the twin: {0}")]
    Run(String),
}

/// The graph of a twin has no such timer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the graph has no periodic timer `{name}`: use one of {}",
    if known.is_empty() { "none, it has no timers".to_owned() } else { known.join(", ") }
)]
pub struct UnknownTimerError {
    /// The requested name.
    pub name: String,
    /// The names of the graph's timers.
    pub known: Vec<String>,
}

/// The reason why a twin was not created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TwinError {
    /// The graph was not built.
    #[error("failed to build the graph of the twin: {0}")]
    Build(String),
    /// The profile does not match this graph.
    #[error(transparent)]
    OtherGraph(#[from] OtherGraphError),
    /// The profile has a callback that the graph does not have.
    #[error(
        "the profile has a callback `{callback}` of {node}, which the graph does not have: measure \
         it with this graph"
    )]
    OtherCallback {
        /// Its event loop.
        node: String,
        /// The callback.
        callback: String,
    },
    /// The profile has no durations.
    #[error("no callback ran while the profile was measured: measure it for longer")]
    NothingMeasured,
    /// A chain does not exist in the graph.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A deadline that no assignment can keep.
    #[error(
        "chain {chain:?} has a deadline of {deadline:?}, but its callbacks took {least:?} together \
         even when each was at its fastest: give it a longer deadline, or a shorter path"
    )]
    ImpossibleDeadline {
        /// The chain.
        chain: String,
        /// Its deadline.
        deadline: Duration,
        /// The sum of the shortest durations of its callbacks.
        least: Duration,
    },
    /// The simulation failed.
    #[error("failed to run the twin: {0}")]
    Run(String),
}
