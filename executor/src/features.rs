//! Services, actions, parameters, lifecycle, synchronizers, tasks, QoS events, the middleware seam.
//!
//! Each is built from topics, timers and notices, and adds methods to `Node` or `Graph`. No other
//! wing imports this one.

pub mod action;
pub(crate) mod create_node;
mod domain;
pub(crate) mod endpoints;
pub(crate) mod graph_arguments;
pub(crate) mod guard_condition;
pub(crate) mod input_entity;
pub(crate) mod internal_topic;
pub mod lifecycle;
mod message_checks;
pub(crate) mod middleware;
mod node;
pub mod parameter;
pub(crate) mod qos_events;
pub(crate) mod random;
pub(crate) mod reentrant;
pub(crate) mod service;
pub(crate) mod sim_time;
pub(crate) mod synchronize;
pub(crate) mod task;
