//! The common core of the drop-ins for r2r and rclrs.
//!
//! Both have the API of another library over the graph of ringspin. This crate has the parts that
//! do not depend on that API: [`Carried`] messages, the [`TypedGraph`] of an application and its
//! connection with ROS 2, the goals of [action] servers, the [mode](environment::mode), the
//! [clocks](clock) and the [log].

#![forbid(unsafe_code)]

pub mod action;
mod carried;
pub mod clock;
pub mod environment;
pub mod log;
mod typed_graph;

pub use carried::{Carried, Payload};
pub use typed_graph::{Type, TypedGraph, Use};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of another thread.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
