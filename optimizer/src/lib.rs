//! Finds a node-to-core mapping for the multi-core mode of ringspin.
//!
//! ```text
//! Profile ─▶ Twin (a Model) ─┐
//!                            ├─▶ search ─▶ Assignment ─▶ confirm, live ─▶ mapping file
//!                Objective ──┘
//! ```
//!
//! * [`Assignment`]: a core for each event loop. [`Assignment::to_mapping`] is the result.
//! * [`Model`]: evaluates an assignment: latencies of [chains](Chain), jitter of
//!   [timers](PeriodicTimer), drops, core loads.
//! * [`Objective`]: orders the figures by importance.
//! * [`search`]: a genetic search, reproducible from its seed with any number of threads.
//! * [`Profile`]: the measured durations and hop costs of a graph on one machine, as a file.
//! * [`Twin`]: a [`Model`] that evaluates an assignment by simulation with the times of a profile.
//! * [`Online`]: all of that for an executor while it runs.
//!
//! ```
//! use ringspin_optimizer::{Assignment, Chain, Evaluation, Model, Result, SearchOptions, search};
//! use std::ops::ControlFlow;
//!
//! /// Nodes that only load their core: a lidar, a fusion and a planner.
//! struct Loads([String; 3]);
//!
//! impl Model for Loads {
//!     fn loops(&self) -> &[String] { &self.0 }
//!     fn chains(&self) -> &[Chain] { &[] }
//!     fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation> {
//!         let mut core_loads = vec![0.0; assignment.core_count()];
//!         for (&core, load) in assignment.cores().iter().zip([0.1, 0.5, 0.4]) {
//!             core_loads[core] += load;
//!         }
//!         let cores_used = assignment.cores_used();
//!         Ok(Evaluation { core_loads, cores_used, ..Evaluation::default() })
//!     }
//! }
//!
//! let nodes = Loads(["/lidar", "/fusion", "/planner"].map(String::from));
//! let peak = "peak".parse()?;
//! let found = search(&nodes, &peak, &SearchOptions::new(2), &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(found.assignment.cores(), [0, 1, 0]);
//! println!("{}", found.assignment.to_mapping(&[2, 3]).to_toml_string());
//! # Ok::<(), ringspin_optimizer::Error>(())
//! ```
#![forbid(unsafe_code)]

mod assignment;
mod confirm;
mod evaluation;
mod jitter;
mod objective;
mod online;
mod search;
mod twin;

pub use assignment::Assignment;
pub use confirm::{Confirmed, confirm};
pub use evaluation::{ChainLatency, Evaluation, Latency, Model};
pub use jitter::{JitterRecorder, PeriodicTimer};
pub use objective::{Objective, Score, Term, TermUnit};
pub use online::{Decision, Online, OnlineOptions};
pub use ringspin_executor::{Error, ErrorKind, Result};
pub use ringspin_modes::Chain;
pub use ringspin_simulation::models::{Profile, Profiler};
pub use search::{Convergence, Found, SearchOptions, SearchProgress, round_robin, search};
pub use twin::{PhaseAdvice, Twin};
