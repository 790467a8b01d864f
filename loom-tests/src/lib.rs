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
//! | `rings` | the modules of `ringbuf`, compiled for loom |
//! | `once` | for `ringbuf/src/sync.rs`: an `OnceLock` on loom's atomics |
//! | `process` | runs a test once more, with a mutant |
//! | `changing` | a worker whose event sources are added and removed while it runs |
//! | `worker` | a worker that dispatches and sleeps, and its subscriptions |
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
mod changing;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod model;
#[cfg(test)]
mod models;
#[cfg(test)]
mod mutant;
#[cfg(test)]
mod once;
#[cfg(test)]
mod process;
#[cfg(test)]
mod rings;
#[cfg(test)]
mod worker;

#[cfg(test)]
use rings::*;
