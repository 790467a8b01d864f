//! The Autoware reference system on ringspin: the standard workload to compare ROS 2 executors.
//!
//! The graph (24 nodes, [`description`]), its message ([`message`]) and its work ([`crunch`])
//! follow the reference system of the ROS 2 real-time working group, so that the measurements here
//! ([`kpi`]) stand beside [those of other executors](ringspin_report::peers) in one [`table`], and
//! on one page with charts ([`ringspin_report::render`]).
//!
//! Beside it is a workload that tests the order of callbacks, with a published result
//! ([`determinism`]).
//!
//! The nodes deliberately know no mode and no thread. All modes use the same nodes and the same
//! collector; otherwise they could not be compared.

#![forbid(unsafe_code)]

pub mod bench;
pub mod crunch;
pub mod description;
pub mod determinism;
pub mod dot;
pub mod kpi;
pub mod message;
pub mod middleware;
pub mod optimize;
pub mod rclcpp;
pub mod run;
mod sleep;
pub mod system;
pub mod table;
pub mod trace;
