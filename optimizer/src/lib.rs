//! Finds a node-to-core mapping for the multi-core mode of ringspin.
//!
//! ```text
//! profile --> cost model --> search --> assignment --> mapping file
//! ```
//!
//! * [`Loads`]: how busy each loop is, what flows between them, which chains have to be fast.
//! * [`CostModel`]: what an [`Assignment`] costs. [`LoadModel`] estimates it from the loads.
//! * [`search`]: a seeded genetic search, never worse than [`longest_processing_time`] and
//!   [`round_robin`], reproducible from its seed.
//! * [`Profile`]: what a machine needs for a graph, measured live, as a file.
//! * [`Twin`]: a [`Model`] that evaluates an assignment by simulation, with the times of a profile.
//! * [`Assignment::to_mapping`]: the result as a [`ringspin_modes::Mapping`].
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
//! assert_eq!(found.cost.peak_percent, 50);
//! println!("{}", found.assignment.to_mapping(&[2, 3]).to_toml_string());
//! # Ok::<(), ringspin_optimizer::OptimizeError>(())
//! ```
#![forbid(unsafe_code)]

mod assignment;
mod calls;
mod chain;
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
pub use evaluation::{ChainLatency, Evaluation, Model, ModelError};
pub use hop::Hop;
pub use load_model::{Cost, CostModel, LoadModel};
pub use loads::{Edge, Loads, LoadsError, LoopLoad};
pub use objective::{Objective, ObjectiveError, Score, Term};
pub use observer::Observer;
pub use profile::{Profile, ProfileError, ProfiledMachine};
pub use search::{
    Found, OptimizeError, SearchOptions, longest_processing_time, round_robin, search, search_with,
};
pub use spread::Spread;
pub use twin::{Twin, TwinError};
