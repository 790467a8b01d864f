//! Applications of r2r 0.9.7 on the executor of ringspin, without a change of their source:
//!
//! ```toml
//! [patch.crates-io]
//! r2r = { git = "...ringspin" }
//! ```
//!
//! Items have the names, signatures and meaning that they have there; `docs/r2r.md` lists
//! improvements and refused items. `RINGSPIN_MODE` chooses the mode; in deterministic mode the
//! application's threads and tasks run under simulated time, too.
//!
//! A [`Context`] has the graph and its executor, which runs on a separate thread. An end of a topic
//! or service is an entity of that graph; the streams and futures of this API take its messages,
//! polled on any runtime, and [`Node::spin_once`] waits until one arrives.

#![forbid(unsafe_code)]

pub extern crate indexmap;
pub extern crate uuid;

mod action;
mod action_codec;
mod client;
mod clock;
mod context;
mod error;
#[cfg(ros_is_sourced)]
mod installed_types;
mod link;
mod log;
mod message;
mod native;
mod node;
mod node_shared;
mod parameter;
mod publisher;
pub mod qos;
mod service;
mod stream;
mod time_source;
mod timer;
mod types;
mod untyped;

pub use action::{
    ActionClient, ActionClientGoal, ActionClientGoalUntyped, ActionClientUntyped,
    ActionServerCancelRequest, ActionServerGoal, ActionServerGoalRequest, GoalStatus,
};
pub use client::{Client, ClientUntyped};
pub use clock::{Clock, ClockType};
pub use context::Context;
pub use error::{Error, Result};
pub use log::{LogSeverity, log};
pub use message::{WrappedActionTypeSupport, WrappedServiceTypeSupport, WrappedTypesupport};
pub use native::{NativeMsg, WrappedNativeMsgUntyped};
pub use node::{Node, TopicEndpointInfo};
pub use node_shared::IsAvailablePollable;
pub use parameter::{Parameter, ParameterValue, RosParams, WrongParameterType};
pub use publisher::{Publisher, PublisherUntyped};
pub use qos::QosProfile;
pub use r2r_macros::RosParams;
pub use service::ServiceRequest;
pub use time_source::TimeSource;
pub use timer::Timer;
pub use types::*;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Says at compile time that an application has this crate as its r2r.
impl ringspin::PatchedR2r for Context {}

/// The ROS 2 whose types are built in.
pub const ROS_DISTRO: &str = "jazzy";

/// Locks, also after a panic of another thread.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
