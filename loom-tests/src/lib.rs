//! Loom models of everything in `ringbuf` that crosses threads.
//!
//! The modules of that crate are compiled here a second time, on loom's atomics, and every model
//! runs under all schedules and weak-memory outcomes that loom covers. A passing model proves
//! little unless it can fail. Each one therefore names *mutants*, single orderings made one step
//! weaker, and must fail under each of them. `coverage` requires a mutant for every ordering in
//! `ringbuf` that is stronger than `Relaxed`.
//!
//! | module | content |
//! |---|---|
//! | `model` | runs a model, counts its schedules, runs its mutants |
//! | `mutant` | weakens the ordering under test |
//! | `models` | the models, one module per module of `ringbuf` |
//! | `shared` | scaffolding that the Shuttle tests use, too |
//! | `coverage` | no ordering without a model that needs it |
//!
//! To list the models that need a given ordering:
//! ```sh
//! RINGSPIN_LOOM_MUTANT=ready.commit=Relaxed cargo test -p ringspin-loom-tests -- --include-ignored
//! ```
//!
//! # Limits
//! Loom explores a subset of the C++20 memory model: a load cannot return a value that is stored
//! later, at most seven stores of an atomic are remembered, and weak exchanges do not fail
//! spuriously. Where a model bounds the number of preemptions, schedules beyond it are not
//! explored.

#[cfg(test)]
extern crate alloc;

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod model;
#[cfg(test)]
mod models;
#[cfg(test)]
mod mutant;
#[cfg(test)]
mod shared;

#[cfg(test)]
use loom as checker;
#[cfg(test)]
use shared::{once, rings::*};
