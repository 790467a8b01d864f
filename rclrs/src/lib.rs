//! Applications of rclrs 0.8.0 on the executor of ringspin, without a change of their source:
//!
//! ```toml
//! [patch.crates-io]
//! rclrs = { path = "../ringspin/rclrs" }
//! ros-env = { path = "../ringspin/rclrs/ros-env" }
//! rosidl_runtime_rs = { path = "../ringspin/rclrs/rosidl_runtime_rs" }
//! ```
//!
//! Items have the names, signatures and meaning that they have there; `docs/rclrs.md` lists
//! improvements and refused items. `RINGSPIN_MODE` chooses the mode.
//!
//! A [`Context`] creates an [`Executor`], which has a graph of ringspin. A [`Node`] and each of its
//! workers is an event loop of that graph: the payload of a [`Worker`] is its state, and the
//! futures of asynchronous callbacks are polled by it. What an application creates while it spins
//! takes part at once.

#![forbid(unsafe_code)]

mod action;
mod app;
mod arguments;
mod client;
mod clock;
mod context;
mod create;
mod dynamic_message;
mod error;
mod event_loop;
mod executor;
mod introspection;
mod logging;
mod node;
mod parameter;
mod parameter_services;
mod publisher;
mod qos;
mod service;
mod subscription;
mod tasks;
mod timer;
mod worker;

pub use action::*;
pub use arguments::*;
pub use client::*;
pub use clock::*;
pub use context::*;
pub use create::*;
pub use dynamic_message::*;
pub use error::*;
pub use executor::*;
pub use introspection::*;
pub use logging::*;
pub use node::*;
pub use parameter::*;
pub use publisher::*;
pub use qos::*;
pub use rosidl_runtime_rs;
pub use rosidl_runtime_rs::{
    Action as ActionIDL, Message as MessageIDL, RmwMessage as RmwMessageIDL, Service as ServiceIDL,
};
pub use service::*;
pub use subscription::*;
pub use timer::*;
pub use worker::*;
