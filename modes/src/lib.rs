//! The schedulers of ringspin: the same graph single-core, multi-core, or deterministic.
//!
//! [`Executor`] is the entry point. A mode decides which event is next, on which thread, and what
//! time it is. The dispatch core does everything else, and is the same for all modes.
//!
//! | module | contents |
//! |---|---|
//! | `chains` | latencies along paths of the graph |
//! | `configuration` | mode and connection from the environment |
//! | [`deterministic`] | one sequencer under simulated time, with its digest and trace |
//! | `edges` | the edges of a graph |
//! | [`executor`] | chooses the scheduler of the mode, freezes the graph, spins |
//! | [`exploration`] | choices of an explored run, and shrinking of its schedule |
//! | [`flight`] | the record of a live run, and its replay |
//! | `live_clock` | the end of a spin there, by a clock that may be switched to `/clock` and back |
//! | [`mapping`] | which core runs which event loops |
//! | `memory` | locked pages |
//! | `mode` | the modes and their names |
//! | [`names`] | names of nodes, callbacks and publishers in configuration |
//! | `options` | further options of an executor |
//! | `pace` | when a busy worker of the live modes reads the clock |
//! | [`plan`] | the effect of a mapping on a graph |
//! | [`quantity`] | durations and rates as text |
//! | [`random`] | random numbers by event |
//! | `toml_text` | TOML files, with errors that name line and nearest key |
//! | `schedule` | deviations from the default order, as text |
//! | `scheduler` | the interface of all schedulers, and one implementation for each mode |
//!
//! # Features
//! * `toml`: mappings are read from and written to TOML files.

#![forbid(unsafe_code)]

mod chains;
mod configuration;
pub mod deterministic;
mod edges;
mod error;
pub mod executor;
pub mod exploration;
pub mod flight;
mod live_clock;
pub mod mapping;
mod memory;
mod middleware;
mod mode;
pub mod names;
mod options;
mod pace;
pub mod plan;
pub mod quantity;
pub mod random;
mod schedule;
mod scheduler;
mod signal;
mod spin;
pub mod thread;
#[cfg(feature = "toml")]
pub mod toml_text;

pub use chains::{Chain, ChainReader, ChainSamples};
pub use configuration::{SimulationReader, no_simulation_files};
pub use deterministic::threads;
pub use deterministic::{
    Candidate, Contention, Cores, DelayPerturbation, Deviation, InstantEvent, Jitter, Loss,
    Postponement, ProcessFault, RunDigest, Schedule, ScheduleEntry, Simulation, TieBreaker,
    TiePolicy,
};
pub use edges::{GraphEdge, graph_edges};
pub use error::catch_part;
pub use executor::{Executor, Mode};
pub use flight::{FlightRecord, FlightWriter};
pub use mapping::{Machine, Mapping, Optimize};
pub use memory::may_lock_memory;
pub use middleware::Connection;
pub use thread::allowed_cores;
