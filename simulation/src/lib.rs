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

#![forbid(unsafe_code)]

mod job;
pub mod job_file;
pub mod models;
mod registry;
pub mod timeline;

pub use job::{
    CallbackCounts, Certificate, CertificateError, CheckFailed, Counterexample, Counts, Difference,
    Divergence, EndError, Exploration, ExploreError, Explored, FreshProcess, Job, NoEndError,
    Order, Platform, Ran, Report, Session, StateError, Step, Uncontrolled, VerifyError,
    WatchdogTimeout, describe,
};
pub use job_file::{JobFile, JobFileError, load_simulation};
pub use registry::{NodeConfig, Registry, RegistryError};
