//! Live ROS 2 under ringspin's event loops.
//!
//! The middleware's own threads announce new items; a node's event loop then takes it itself, on
//! its own core. There is no thread that polls, no second queue, and no wait set but one for
//! changes of the graph, by which clients learn that a server no longer exists.
//!
//! It is built against the ROS 2 that is sourced. Where none is, this library is empty, so that a
//! workspace without ROS builds; feature `required` makes that an error. Build scripts of
//! dependents learn from the variable `DEP_RINGSPIN_ROS2_IS_SOURCED` whether there is one.

#![cfg(ros_is_sourced)]
#![deny(unsafe_code)]

mod client;
mod clock;
mod connection;
mod late_responses;
mod listeners;
mod log_layer;
mod middleware;
mod node;
mod noted;
mod occurrences;
mod parameters;
mod queries;
pub mod rcl;
mod reports;

pub use connection::Traffic;
pub use log_layer::RosoutLayer;
pub use middleware::{Builder, Ros2};
pub use ringspin_messages::{RawMessage, Types};
