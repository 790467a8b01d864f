//! The schedulers of ringspin: the same graph single-core, multi-core, or deterministic.
//!
//! [`Executor`] is what an application uses; [`Job`] is its short form for tests. A mode decides
//! who is next, on which thread, and what time it is. Everything else is the dispatch core's, which
//! is the same for all of them.
//!
//! | module | mode |
//! |---|---|
//! | [`command`] | a command line for programs whose nodes job files choose |
//! | `configuration` | the mode and ROS arguments from environment and command line |
//! | [`executor`] | chooses the mode, freezes the graph, spins |
//! | `options` | what else can be chosen |
//! | `plan` | what a mapping means for a graph |
//! | `live` | single-core and multi-core: worker threads on the real clock |
//! | [`deterministic`] | one sequencer under simulated time, with its digest and trace |
//! | `job`, `job_file`, `registry` | a deterministic run, from code or from a file |
//! | `edges` | who feeds whom |
//! | `live_clock` | the end of a spin there, by a clock that may be switched to `/clock` and back |
//! | [`mapping`] | which core runs which event loops |
//! | `memory` | pages that stay where they are |
//! | `mode` | the names of the modes |
//! | `pace` | when a busy worker of the live modes reads the clock |
//! | [`models`] | how long messages travel and callbacks run in simulated time |
//! | [`timeline`] | who ran when on which core, also for trace viewers |

#![forbid(unsafe_code)]

pub mod command;
mod configuration;
pub mod deterministic;
mod edges;
mod error;
pub mod executor;
mod job;
pub mod job_file;
mod live;
mod live_clock;
pub mod mapping;
mod memory;
mod middleware;
mod mode;
pub mod models;
mod options;
mod pace;
mod plan;
mod registry;
mod signal;
mod spin;
pub mod timeline;

pub use configuration::ConfigurationError;
pub use deterministic::{
    Candidate, ChainError, ChainPath, ChainSamples, Cores, Deviation, InstantEvent, Jitter, Jolt,
    NotApplied, Postponement, RunDigest, Schedule, ScheduleError, Simulation, TieBreaker,
    TiePolicy,
};
pub use edges::{GraphEdge, graph_edges};
pub use error::{Panicked, SpinError};
pub use executor::{Executor, Mode, ModeError, allowed_cores};
pub use job::{
    CallbackCounts, Certificate, CertificateError, CheckFailed, Counterexample, Counts, Difference,
    Divergence, EndError, Exploration, ExploreError, Explored, FreshProcess, Job, Order, Platform,
    Report, Session, StateError, Step, Stuck, Uncontrolled, VerifyError,
};
pub use job_file::{JobFile, JobFileError};
pub use mapping::{Machine, Mapping, MappingError};
pub use middleware::{Connection, ConnectionError};
pub use registry::{Place, Registry, RegistryError};
pub use signal::SignalError;
