//! Scenarios of the rings that are too long for loom's exhaustive search, under random schedules of
//! Shuttle.
//!
//! Shuttle runs all atomic operations as sequentially consistent: it finds wrong interleavings, but
//! not orderings that are too weak. Its mutants therefore differ from loom's. Each model names
//! operations to *tear*: the read-modify-write becomes a load and then a store, with a possible
//! thread switch in between, and the model must fail. Unlike loom, Shuttle only covers schedules
//! that it draws.
//!
//! | module | content |
//! |---|---|
//! | `explore` | runs a model under random schedules, and its mutants |
//! | `facade` | for `ringbuf/src/sync.rs`: atomics to tear, a cell that detects overlapping use |
//! | `models` | the models, one module per module of `ringbuf` |
//! | `mutant` | the mutant of this process |
//! | `shared` | scaffolding of the loom tests, whose folder it is in |
//!
//! The schedules are the same in every run. For others, and more of them:
//! `SHUTTLE_RANDOM_SEED=7 RINGSPIN_SHUTTLE_FACTOR=100 cargo test -p ringspin-shuttle-tests`.

#[cfg(test)]
extern crate alloc;

#[cfg(test)]
mod explore;
#[cfg(test)]
mod facade;
#[cfg(test)]
mod models;
#[cfg(test)]
mod mutant;
#[cfg(test)]
#[path = "../../loom-tests/src/shared/mod.rs"]
mod shared;

#[cfg(test)]
use shared::{once, rings::*};
#[cfg(test)]
use shuttle as checker;
