//! Finds a node-to-core mapping for the multi-core mode of ringspin.
//!
//! ```text
//!             Model + Objective ─▶ Judge ─┐
//!                                         ├─▶ CostModel ─▶ Search ─▶ Assignment ─▶ mapping file
//! Loads ──┬──────────────────▶ LoadModel ─┘                  ▲
//!         └─▶ heuristics: where the search starts ───────────┘
//! ```
//!
//! * [`Assignment`]: a core for each event loop. [`Assignment::to_mapping`] is the result.
//! * [`Model`]: evaluates an assignment: latencies of [chains](Chain), jitter of
//!   [timers](PeriodicTimer), drops, core loads.
//! * [`Objective`]: orders the figures by importance. [`Judge`] makes a [`CostModel`] of both.
//! * [`Loads`]: the utilization of each loop and the message rates between loops. [`LoadModel`]
//!   estimates costs from them alone, in a microsecond.
//! * [`Search`]: a genetic search, reproducible from its seed with any number of threads, and the
//!   baseline [strategies](Strategy); [`Search::compare`] runs them at equal budgets.
//! * [`ParetoFront`]: the candidates of a search of which none is better in everything.
//! * [`bounds`]: worst-case latency bounds of chains; [`Twin::bounds`] computes them with the
//!   durations of the simulation.
//! * [`Profile`]: the measured durations and hop costs of a graph on one machine, as a file.
//! * [`Twin`]: a [`Model`] that evaluates an assignment by simulation with the times of a profile.
//!
//! ```
//! use ringspin_optimizer::{Loads, LoopLoad, SearchOptions, search};
//!
//! let node = |name: &str, utilization| LoopLoad { name: name.into(), utilization };
//! let loads = Loads {
//!     loops: vec![node("/lidar", 0.1), node("/fusion", 0.5), node("/planner", 0.4)],
//!     ..Loads::default()
//! };
//! let found = search(&loads, &SearchOptions::new(2))?;
//! assert_eq!(found.assignment.cores(), [0, 1, 0]);
//! println!("{}", found.assignment.to_mapping(&[2, 3]).to_toml_string());
//! # Ok::<(), ringspin_optimizer::OptimizeError>(())
//! ```
#![forbid(unsafe_code)]

mod assignment;
pub mod bounds;
mod chain;
mod confirm;
mod cost_model;
mod evaluation;
mod jitter;
mod load_model;
mod loads;
mod objective;
mod pareto;
mod search;
mod twin;

pub use assignment::Assignment;
pub use chain::Chain;
pub use confirm::{Confirmed, confirm};
pub use cost_model::{CostModel, Judge};
pub use evaluation::{ChainLatency, Evaluation, Latency, Model, ModelError, lost_samples};
pub use jitter::{JitterRecorder, PeriodicTimer};
pub use load_model::{Cost, LoadModel};
pub use loads::{Edge, Loads, LoadsError, LoopLoad};
pub use objective::{Objective, ObjectiveError, Score, Term, TermUnit};
pub use pareto::{ParetoFront, TradeOff};
pub use ringspin_simulation::models::{Profile, Profiler};
pub use search::{
    CandidateError, Comparison, Convergence, Entry, Found, OptimizeError, Progress, Search,
    SearchError, SearchOptions, SearchSetupError, Stop, Strategy, chain_clustering,
    longest_processing_time, round_robin, search,
};
pub use twin::{
    AssignmentError, EvaluationError, OtherLoopsError, PhaseAdvice, Twin, TwinError,
    UnknownTimerError,
};
