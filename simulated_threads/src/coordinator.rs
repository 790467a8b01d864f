//! The function that a world asks, where it is one of several processes.
//!
//! It is set once, before `main`, and read by the thread that hands over; see `coordination`.

use crate::current::current;
use crate::world::World;
use std::sync::OnceLock;

/// A world of which all threads wait.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Rest {
    /// Its time, in nanoseconds since 1970.
    pub now: u64,
    /// The earliest time for which a thread waits; `u64::MAX` if none does.
    pub deadline: u64,
    /// How often threads took turns.
    pub switches: u64,
    /// A digest of which thread ran when.
    pub digest: u64,
}

/// How a world continues.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Next {
    /// The time, which is not after the earliest deadline.
    pub now: u64,
    /// Whether the threads that wait for other processes are woken.
    pub wakes: bool,
}

/// Decides how the world continues.
pub(crate) type Coordinator = extern "C" fn(Rest) -> Next;

/// The coordinator, the time of the begin, and the number of the process.
static COORDINATOR: OnceLock<(Coordinator, u64, u32)> = OnceLock::new();

/// Sets the coordinator; false if there is one.
pub(crate) extern "C" fn join(coordinator: Coordinator, start: u64, process: u32) -> bool {
    let is_first = COORDINATOR.set((coordinator, start, process)).is_ok();
    if let Some((world, _)) = current().filter(|_| is_first) {
        begin(world);
    }
    is_first
}

/// Begins the world of the program as the coordinator says, if there is one.
pub(crate) fn begin(world: &World) {
    if let Some((_, start, process)) = COORDINATOR.get() {
        world.begin_as(*start, *process);
    }
}

/// The coordinator, if there is one.
pub(crate) fn get() -> Option<Coordinator> {
    COORDINATOR.get().map(|(coordinator, ..)| *coordinator)
}
