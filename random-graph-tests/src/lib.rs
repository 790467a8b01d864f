//! Random graphs that test the deterministic mode: one for each seed, with every feature.
//!
//! The tests of this crate run each graph in several ways, and the program `random-graphs` prints
//! digests, to compare builds and machines.
//!
//! ```
//! use ringspin_random_graph_tests::RandomGraph;
//!
//! let random = RandomGraph::new(7);
//! let digest = random.job().run()?.digest();
//! assert_eq!(random.job().run()?.digest(), digest);
//! assert_ne!(RandomGraph::new(8).job().run()?.digest(), digest);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

#![forbid(unsafe_code)]

mod random_graph;

pub use random_graph::{Handles, Published, RandomGraph, Sample, State};
