//! Models of randomness and time in the deterministic mode: how messages travel, and how long
//! callbacks take.
//!
//! Every model is resolved against the graph before a run, so that a misspelt name is an error and
//! not a message without delay. All numbers come from [`random`](ringspin_modes::random): that
//! for a message or a call depends on the seed, the names of its edge or callback, and its own
//! number, and on nothing else.

#[macro_use]
mod rules;

pub mod distribution;
pub mod durations;
mod histogram;
pub mod links;
mod optional_time;
pub mod profile;

use thiserror::Error;

/// A TOML text without the rules of a model. The message carries line and column.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("failed to read the {model}: {}\ncorrect that line; the keys of {table} are {keys}",
    error.to_string().trim_end())]
pub struct RulesError {
    /// "links" or "durations".
    pub model: &'static str,
    /// The table of a rule.
    pub table: &'static str,
    /// The keys of that table.
    pub keys: &'static str,
    /// The error of the TOML parser, with its place.
    pub error: Box<toml::de::Error>,
}

pub use distribution::{Distribution, DistributionError};
pub use durations::{DurationError, DurationRule, DurationTable, Durations};
pub use histogram::DurationHistogram;
pub use links::{DelayFileError, LinkError, LinkRule, LinkTable, Links};
pub use profile::{
    CallbackProfile, Calls, Hop, MeasureError, MergeError, OtherGraphError, Profile, ProfileError,
    ProfileIoError, ProfiledMachine, Profiler,
};
