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

pub use distribution::Distribution;
pub use durations::{DurationRule, DurationTable, Durations};
pub use histogram::DurationHistogram;
pub use links::{Link, LinkRule, LinkTable, Links};
pub use profile::{CallbackProfile, Calls, Hop, Profile, ProfiledMachine, Profiler};
