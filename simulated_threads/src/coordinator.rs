//! The function that a world asks, where it is one of several processes.
//!
//! It is set once, before `main`, and read by the thread that hands over; see `coordination`.

use std::sync::OnceLock;

/// A world of which all threads wait.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Its time, in nanoseconds since 1970.
    pub now: u64,
    /// The earliest time for which a thread waits.
    pub deadline: Option<u64>,
    /// How often threads took turns.
    pub switches: u64,
    /// A digest of which thread ran when.
    pub digest: u64,
}

/// How a world continues.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// The time, which is not after the earliest deadline.
    pub now: u64,
    /// Whether the threads that wait for other processes are woken.
    pub wakes: bool,
}

/// Decides how the world continues.
pub(crate) type Coordinator = fn(Rest) -> Next;

static COORDINATOR: OnceLock<Coordinator> = OnceLock::new();

/// Sets the coordinator; false if there is one.
pub(crate) fn set(coordinator: Coordinator) -> bool {
    COORDINATOR.set(coordinator).is_ok()
}

/// The coordinator, if there is one.
pub(crate) fn get() -> Option<Coordinator> {
    COORDINATOR.get().copied()
}
