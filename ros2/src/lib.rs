//! Live ROS 2 under ringspin's event loops.
//!
//! The middleware's own threads say that something has come; a node's event loop then takes it
//! itself, on its own core. There is no thread that polls, no second queue, and no wait set but one
//! for changes of the graph, by which clients learn that a server is gone.
//!
//! All of it needs feature `rcl`, and a sourced ROS 2 to build against. Without the feature this
//! library is empty, so that a workspace without ROS builds.

#![cfg(feature = "rcl")]
#![deny(unsafe_code)]

mod action;
mod client;
mod clock;
mod connection;
mod late_responses;
mod lifecycle;
mod listeners;
mod log_layer;
mod middleware;
mod named;
mod node;
mod occurrences;
mod parameters;
mod queries;
mod raw;
pub mod rcl;
mod reports;
mod stamp;
mod types;

pub use connection::Traffic;
pub use log_layer::RosoutLayer;
pub use middleware::{Builder, Ros2};
pub use raw::RawTopicError;
pub use ringspin_messages::RawMessage;
pub use types::Types;
