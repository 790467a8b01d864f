//! Workloads with known results, which test the deterministic mode.
//!
//! | module | content |
//! |---|---|
//! | [`determinism`] | the synthetic determinism benchmark of RSLCPP, with its published result |
//! | [`random_graph`] | random graphs that use every feature, one for each seed |
//!
//! Both run through the public API only. The tests of this crate compare their digests with pinned
//! values; the commands `determinism` and `random-graph` of `reference-system` compare builds and
//! machines.

#![forbid(unsafe_code)]

pub mod determinism;
pub mod random_graph;
mod sleep;

pub use sleep::sleep_up_to;
