//! What is random or takes time in the deterministic mode: the way of a message, and callbacks.
//!
//! Every model is resolved against the graph before a run, so that a misspelt name is an error and
//! not a message without delay. All numbers come from [`random`]: what is drawn for a message or a
//! call depends on the seed, the names of its edge or callback, and its own number, and on nothing
//! else.

pub mod distribution;
pub mod durations;
pub mod links;
pub(crate) mod names;
pub mod profile;
pub mod profile_file;
mod quantity;
pub mod random;

pub use distribution::{Distribution, DistributionError};
pub use durations::labels as callback_labels;
pub use durations::{DurationError, DurationRule, DurationTable, Durations, Execution};
pub use links::{LinkError, LinkRule, LinkTable, Links};
pub use profile::{CallbackProfile, DurationProfile, ProfileError, Profiler};
pub use profile_file::ProfileFileError;
pub(crate) use quantity::Nanos;
pub use quantity::{Bandwidth, QuantityError};
pub use random::{Purpose, Stream};
