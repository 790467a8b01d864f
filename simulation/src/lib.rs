//! Simulation with ringspin: deterministic runs from code and from files.
//!
//! [`Job`] runs a graph in simulated time, verifies that it repeats, and explores orders. The
//! scheduler of the deterministic mode is in `ringspin-modes`; this crate has the models and the
//! tools around it.
//!
//! | module | contents |
//! |---|---|
//! | `job` | a deterministic run, from code: sessions, verification, exploration, certificates |
//! | [`job_file`] | the same from a file |
//! | [`models`] | how long messages travel and callbacks run in simulated time |
//! | `registry` | node types by name, for job files |
//! | [`timeline`] | which callback ran when on which core, also for trace viewers |
//!
//! Feature `json` (default, but not of the facade): certificates and Chrome traces.

#![forbid(unsafe_code)]

mod job;
pub mod job_file;
pub mod models;
mod registry;
pub mod timeline;

pub use job::{
    CallbackCounts, CheckFailed, Counterexample, Counts, Difference, Divergence, Exploration,
    Explored, FreshProcess, Job, Order, Ran, Report, Session, Step, Uncontrolled, WatchdogTimeout,
    describe,
};
#[cfg(feature = "json")]
pub use job::{Certificate, Platform, certificate_differences};
pub use job_file::{JobFile, load_simulation};
pub use registry::{NodeConfig, Registry};
