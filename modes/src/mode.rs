//! Modes: how an executor runs its graph, and how that is called.

use crate::deterministic::Simulation;
use crate::mapping::{Mapping, MappingFileError};
use ringspin_executor::BoxError;
use std::str::FromStr;
use thiserror::Error;

/// How an executor runs its graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    /// Every event loop on the thread that spins.
    #[default]
    SingleCore,
    /// Event loops on pinned cores; without a mapping, nodes are dealt out to the allowed cores in
    /// turn, in order of creation.
    MultiCore(Option<Mapping>),
    /// Every event loop in one sequence under simulated time.
    Deterministic(Box<Simulation>),
}

/// A name that is not one of a [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown mode {0:?}; use `single`, `multi` or `deterministic`")]
pub struct UnknownModeError(
    /// The name as given.
    pub String,
);

/// The reason why a mode was not read from the environment.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModeError {
    /// There is no such mode.
    #[error(transparent)]
    Unknown(#[from] UnknownModeError),
    /// The mapping file of `RINGSPIN_MAPPING` is not usable.
    #[error(transparent)]
    Mapping(#[from] MappingFileError),
    /// A mapping was given to a mode that has only one core.
    #[error(
        "RINGSPIN_MAPPING is set, but mode {0:?} has no cores to map to; unset it or use `multi`"
    )]
    NeedsMultiCore(String),
    /// The file of `RINGSPIN_SIMULATION` is not usable.
    #[error("{0}")]
    Simulation(BoxError),
    /// A simulation was given to a mode that runs in real time.
    #[error(
        "RINGSPIN_SIMULATION is set, but mode {0:?} simulates nothing; unset it or use \
         `deterministic`"
    )]
    NeedsDeterministic(String),
}

impl FromStr for Mode {
    type Err = UnknownModeError;

    /// Reads `single`, `multi` or `deterministic`.
    fn from_str(name: &str) -> Result<Self, UnknownModeError> {
        match name {
            "single" => Ok(Self::SingleCore),
            "multi" => Ok(Self::MultiCore(None)),
            "deterministic" => Ok(Self::Deterministic(Box::default())),
            _ => Err(UnknownModeError(name.into())),
        }
    }
}
