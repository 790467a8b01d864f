//! Errors of twins and their evaluations.

use crate::profile::ProfileError;
use ringspin_modes::ChainError;
use std::time::Duration;
use thiserror::Error;

/// The reason why a twin could not be created or could not evaluate an assignment.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TwinError {
    /// The graph failed to build.
    #[error("the graph of the twin could not be built: {0}")]
    Build(String),
    /// The profile does not match this graph.
    #[error(transparent)]
    Profile(#[from] ProfileError),
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
    /// The profile has no cross-core hop.
    #[error(
        "the profile of machine `{machine}` has no message that went from core to core: measure it \
         with two cores at least, and for longer"
    )]
    NothingCrosses {
        /// The machine of the profile.
        machine: String,
    },
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
    /// The span of an evaluation is zero.
    #[error("a twin with a horizon of zero simulates nothing: give it a span of simulated time")]
    NoHorizon,
    /// The assignment has other loops than the twin.
    #[error(
        "the assignment is of other event loops than the twin's, {}: make it from its `loops`",
        expected.join(", ")
    )]
    OtherLoops {
        /// The loops of the twin.
        expected: Vec<String>,
    },
    /// An assignment without cores.
    #[error("the assignment has no cores: give it one at least")]
    NoCores,
    /// The simulation failed.
    #[error("the simulation failed: {0}")]
    Run(String),
}
