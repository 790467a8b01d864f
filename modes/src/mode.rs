//! Modes: how an executor runs its graph, and how that is called.

use crate::deterministic::{Cores, Simulation};
use crate::flight::FlightRecord;
use crate::mapping::Mapping;
use ringspin_executor::{Error, ErrorKind, Result};
use std::str::FromStr;
use std::sync::Arc;

/// How an executor runs its graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mode {
    /// Every event loop on the thread that spins.
    #[default]
    SingleCore,
    /// Event loops on cores as a mapping says; those that it does not name, and all without one, on
    /// each core where there is time for them.
    MultiCore(Option<Mapping>),
    /// Every event loop in one sequence under simulated time.
    Deterministic(Box<Simulation>),
    /// The events of a recorded live run again, in one sequence.
    Replay(Arc<FlightRecord>),
}

impl Mode {
    /// The mapping of the cores, or of the virtual cores of the deterministic mode.
    pub fn mapping(&self) -> Option<&Mapping> {
        match self {
            Self::MultiCore(mapping) => mapping.as_ref(),
            Self::Deterministic(simulation) => match &simulation.cores {
                Cores::Mapped(mapping) => Some(mapping),
                Cores::Unlimited | Cores::Single => None,
            },
            Self::SingleCore | Self::Replay(_) => None,
        }
    }
}

impl FromStr for Mode {
    type Err = Error;

    /// Reads `single`, `multi` or `deterministic`.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "single" => Ok(Self::SingleCore),
            "multi" => Ok(Self::MultiCore(None)),
            "deterministic" => Ok(Self::Deterministic(Box::default())),
            _ => {
                let text =
                    format!("unknown mode {name:?}; use `single`, `multi` or `deterministic`");
                Err(Error::new(ErrorKind::Parse, text))
            }
        }
    }
}
