//! Workloads with known results, which test the deterministic mode.
//!
//! No application depends on this member. It is a library, not only a test program, because its
//! tests run the workloads in one process, and the commands of `reference-system` run the same ones
//! from a release build on another machine, where there is no cargo.
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
