//! The parts that the loom tests and the Shuttle tests have in common; both crates compile them.
//!
//! | module | content |
//! |---|---|
//! | `rings` | the modules of `ringbuf`, compiled for the model checker |
//! | `once` | for `ringbuf/src/sync.rs`: the checker's `OnceLock` |
//! | `process` | runs a test once more, with a mutant |
//! | `changing` | a worker whose sources of events come and go |
//! | `worker` | a worker that dispatches and sleeps, and its subscriptions |

pub(crate) mod changing;
pub(crate) mod once;
pub(crate) mod process;
pub(crate) mod rings;
pub(crate) mod worker;
