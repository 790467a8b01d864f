//! A lock-free ring-buffer executor for ROS 2 nodes, with a deterministic mode.
//!
//! A node is state plus callbacks. The mode, chosen by configuration alone, decides on which thread
//! and at which time they run: all on one thread, on pinned cores, or in one sequence under
//! simulated time, with the same result on every machine.
//!
//! ```
//! use ringspin::{Executor, FromEnv, Message, QoS};
//! use std::time::Duration;
//!
//! let mut executor = Executor::from_env()?; // RINGSPIN_MODE = single, multi or deterministic
//! let talker = executor.create_node("talker", 0u64)?;
//! let chatter = talker.create_publisher("chatter", QoS::default())?;
//! talker.create_timer(Duration::from_millis(10), move |count, _| {
//!     *count += 1;
//!     chatter.publish(*count)
//! })?;
//! let listener = executor.create_node("listener", ())?;
//! listener.create_subscription("chatter", QoS::keep_last(1), |_, n: &Message<u64>, cx| {
//!     println!("{}: {} heard {}", cx.now(), cx.node(), **n);
//! })?;
//! executor.spin_for(Duration::from_millis(100))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`Executor`], [`Node`], [`Publisher`] and [`Context`]; for tests, with [`Job`]. The
//! guide is in the repository's `docs` folder.
//!
//! # Features
//! * `simulation` (default): [`Job`], verification, exploration, models, simulation files.
//! * `toml`: mapping files; part of `simulation`.
//! * `cli`: ready-made commands for programs whose job files choose nodes, module `cli`.
//! * `ros2`: live ROS 2. A ROS 2 must be sourced when this is built.

#![forbid(unsafe_code)]

mod from_env;

pub use from_env::FromEnv;
pub use ringspin_executor::*;
pub use ringspin_modes::*;

#[cfg(feature = "simulation")]
pub use ringspin_simulation::*;

#[cfg(feature = "cli")]
pub use ringspin_cli as cli;

#[cfg(feature = "ros2")]
pub use ringspin_ros2 as ros2;

/// Compiles and runs the snippets of the README and of the guide.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/getting_started.md")]
    struct GettingStarted;
    #[doc = include_str!("../docs/deterministic.md")]
    struct Deterministic;
    #[doc = include_str!("../docs/parameters.md")]
    struct Parameters;
}
