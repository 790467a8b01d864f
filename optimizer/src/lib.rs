//! Finds a node-to-core mapping for the multi-core mode of ringspin.
//!
//! ```text
//! profile --> cost model --> search --> assignment --> mapping file
//! ```
//!
//! * [`Profile`]: how busy each node is, what flows between them, which chains have to be fast.
//! * [`CostModel`]: what an [`Assignment`] costs. [`LoadModel`] estimates it from the profile.
//! * [`search`]: a seeded genetic search, never worse than [`longest_processing_time`] and
//!   [`round_robin`], reproducible from its seed.
//! * [`Assignment::to_mapping`]: the result as a [`ringspin_modes::Mapping`].
//!
//! ```
//! use ringspin_optimizer::{NodeLoad, Profile, SearchOptions, search};
//!
//! let node = |name: &str, utilization| NodeLoad { name: name.into(), utilization };
//! let profile = Profile {
//!     nodes: vec![node("/lidar", 0.1), node("/fusion", 0.5), node("/planner", 0.4)],
//!     ..Profile::default()
//! };
//! let found = search(&profile, &SearchOptions::new(2))?;
//! assert_eq!(found.cost.peak_percent, 50);
//! println!("{}", found.assignment.to_mapping(&[2, 3]).to_toml_string());
//! # Ok::<(), ringspin_optimizer::OptimizeError>(())
//! ```
#![forbid(unsafe_code)]

mod model;
mod profile;
mod search;

pub use model::{Assignment, Cost, CostModel, LoadModel};
pub use profile::{Chain, Edge, NodeLoad, Profile, ProfileError, ProfileFileError};
pub use search::{
    Found, OptimizeError, SearchOptions, longest_processing_time, round_robin, search, search_with,
};
