//! The function that a world asks, where it is one of several processes.
//!
//! It is set once, before `main`, and read by the thread that hands over; see `coordination`.

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

/// The function that ends the program at the end of its time.
static FINISH: OnceLock<fn() -> !> = OnceLock::new();

/// Sets the coordinator; false if there is one.
pub(crate) fn set(coordinator: Coordinator, start: u64, process: u32) -> bool {
    COORDINATOR.set((coordinator, start, process)).is_ok()
}

/// The coordinator, if there is one.
pub(crate) fn get() -> Option<Coordinator> {
    COORDINATOR.get().map(|(coordinator, ..)| *coordinator)
}

/// The time of the begin and the number of the process, if there is a coordinator.
pub(crate) fn place() -> Option<(u64, u32)> {
    COORDINATOR.get().map(|(_, start, process)| (*start, *process))
}

/// Sets the function that ends the program.
pub(crate) fn set_finish(finish: fn() -> !) {
    let _ = FINISH.set(finish);
}

/// Ends the program at the end of its time.
pub(crate) extern "C" fn finish() -> ! {
    match FINISH.get() {
        Some(finish) => finish(),
        None => std::process::exit(0), // it is in no world
    }
}
