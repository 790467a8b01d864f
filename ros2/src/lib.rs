//! Live ROS 2 under ringspin's event loops.
//!
//! The middleware's own threads say that something has come; a node's event loop then takes it
//! itself, on its own core. There is no thread that polls, no second queue, and no wait set but one
//! for changes of the graph, by which clients learn that a server is gone.
//!
//! All of it needs feature `rcl`, and a sourced ROS 2 to build against. Without the feature this
//! library is empty, so that a workspace without ROS builds.

#![deny(unsafe_code)]

#[cfg(feature = "rcl")]
pub mod action;
#[cfg(feature = "rcl")]
mod clock;
#[cfg(feature = "rcl")]
pub mod fast_dds;
#[cfg(feature = "rcl")]
mod late;
#[cfg(feature = "rcl")]
mod listeners;
#[cfg(feature = "rcl")]
mod log_layer;
#[cfg(feature = "rcl")]
mod middleware;
#[cfg(feature = "rcl")]
mod node;
#[cfg(feature = "rcl")]
mod occurrences;
#[cfg(feature = "rcl")]
mod parameters;
#[cfg(feature = "rcl")]
mod primitives;
#[cfg(feature = "rcl")]
mod queries;
#[cfg(feature = "rcl")]
mod raw;
#[cfg(feature = "rcl")]
pub mod rcl;
#[cfg(feature = "rcl")]
mod reports;
#[cfg(feature = "rcl")]
mod servers;
#[cfg(feature = "rcl")]
pub mod types;

#[cfg(feature = "rcl")]
pub use log_layer::RosoutLayer;
#[cfg(feature = "rcl")]
pub use middleware::{Builder, Ros2, Traffic};
#[cfg(feature = "rcl")]
pub use r2r;
#[cfg(feature = "rcl")]
pub use raw::{RawMessage, RawTopicError};
#[cfg(feature = "rcl")]
pub use types::Types;
