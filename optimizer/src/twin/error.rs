//! Why there is no such twin, or no such evaluation.

use crate::profile::ProfileError;
use ringspin_modes::ChainError;
use std::time::Duration;
use thiserror::Error;

/// Why a twin could not be made, or could not evaluate an assignment.
#[derive(Debug, Error)]
pub enum TwinError {
    /// The graph could not be built.
    #[error("the graph of the twin could not be built: {0}")]
    Build(String),
    /// The profile is not of this graph.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The graph does not have a callback of the profile.
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
    /// The profile does not say what a message costs from core to core.
    #[error(
        "the profile of machine `{machine}` has no message that went from core to core: measure it \
         with two cores at least, and for longer"
    )]
    NothingCrosses {
        /// Where it was measured.
        machine: String,
    },
    /// A chain is not one of the graph.
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
        /// The sum of the least durations of its callbacks.
        least: Duration,
    },
    /// The span of an evaluation is zero.
    #[error("a twin with a horizon of zero simulates nothing: give it a span of simulated time")]
    NoHorizon,
    /// An assignment is of other loops.
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
