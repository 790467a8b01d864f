//! Finds a node-to-core mapping for the multi-core mode of ringspin.
//!
//! ```text
//!             Model + Objective ─▶ Judge ─┐
//!                                         ├─▶ CostModel ─▶ Search ─▶ Assignment ─▶ mapping file
//! Loads ──┬──────────────────▶ LoadModel ─┘                  ▲
//!         └─▶ heuristics: where the search starts ───────────┘
//! ```
//!
//! * [`Assignment`]: which event loop runs on which core. [`Assignment::to_mapping`] is the result.
//! * [`Model`]: evaluates an assignment: latencies of [chains](Chain), drops, loads of the cores.
//! * [`Objective`]: what of that counts, in which order. [`Judge`] makes a [`CostModel`] of both.
//! * [`Loads`]: how busy each loop is and what flows between them. [`LoadModel`] estimates costs
//!   from them alone, in a microsecond.
//! * [`Search`]: a genetic search, reproducible from its seed whatever the number of threads, and
//!   the [strategies](Strategy) that it has to beat; [`Search::compare`] lets it.
//! * [`bounds`]: how long a chain can take at the very worst, where that can be told;
//!   [`Twin::bounds`] tells it beside the simulation.
//! * [`Profile`]: what a machine needs for a graph, measured live, as a file.
//! * [`Twin`]: a [`Model`] that evaluates an assignment by simulation, with the times of a profile.
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
mod calls;
mod chain;
mod confirm;
mod cost_model;
mod evaluation;
mod hop;
mod load_model;
mod loads;
mod objective;
mod observer;
mod profile;
mod search;
mod spread;
mod twin;

pub use assignment::Assignment;
pub use calls::Calls;
pub use chain::Chain;
pub use confirm::{Confirmed, confirm};
pub use cost_model::{CostModel, Judge};
pub use evaluation::{ChainLatency, Evaluation, Model, ModelError};
pub use hop::Hop;
pub use load_model::{Cost, LoadModel};
pub use loads::{Edge, Loads, LoadsError, LoopLoad};
pub use objective::{Objective, ObjectiveError, Score, Term};
pub use observer::Observer;
pub use profile::{Profile, ProfileError, ProfiledMachine};
pub use search::{
    Comparison, Convergence, Entry, Found, OptimizeError, Progress, Search, SearchOptions, Stop,
    Strategy, chain_clustering, longest_processing_time, round_robin, search,
};
pub use spread::Spread;
pub use twin::{Twin, TwinError};
