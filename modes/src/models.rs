//! What is random or takes time in the deterministic mode: the way of a message, and callbacks.
//!
//! Every model is resolved against the graph before a run, so that a misspelt name is an error and
//! not a message without delay. All numbers come from [`random`]: the fate of a message depends on
//! the seed, its edge and its own number, and on nothing else.

pub mod distribution;
pub mod durations;
pub mod links;
mod names;
mod quantity;
pub mod random;

pub use distribution::{Distribution, DistributionError};
pub use links::{LinkError, LinkRule, LinkTable, Links};
pub use quantity::{Bandwidth, QuantityError};
pub use random::{Purpose, Stream};
