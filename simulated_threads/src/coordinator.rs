//! The function that a world asks, where it is one of several processes.
//!
//! It is set once, before `main`, and read by the thread that hands over; see `coordination`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
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
    /// Whether it has sockets of the loopback interface or named pipes.
    pub has_sockets: bool,
    /// Whether one was used since the last rest.
    pub used_sockets: bool,
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

/// The coordinator, and the place of the process.
static COORDINATOR: OnceLock<(Coordinator, Place)> = OnceLock::new();

/// The place of a process in a run.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Place {
    /// The time at which it begins, in nanoseconds since 1970.
    pub start: u64,
    /// Its number: each process has its own numbers of threads.
    pub process: u32,
    /// The number of the run, for names that only its processes have.
    pub network: u32,
    /// Is called with the path of each file that the program opens for reading, and its length.
    pub opened: Option<extern "C" fn(*const u8, usize)>,
}

/// The function that ends the program at the end of its time.
static FINISH: OnceLock<fn() -> !> = OnceLock::new();

/// Sets the coordinator; false if there is one.
pub(crate) fn set(coordinator: Coordinator, place: Place) -> bool {
    COORDINATOR.set((coordinator, place)).is_ok()
}

/// The coordinator, if there is one.
pub(crate) fn get() -> Option<Coordinator> {
    COORDINATOR.get().map(|(coordinator, _)| *coordinator)
}

/// The place of the process, if there is a coordinator.
pub(crate) fn place() -> Option<Place> {
    COORDINATOR.get().map(|(_, place)| *place)
}

/// The number of the run, if there is a coordinator.
pub(crate) fn network() -> Option<u32> {
    place().map(|place| place.network)
}

/// Tells the path of a file that the program has opened, if that is asked for.
pub(crate) fn tell_opened(path: &Path) {
    let path = path.as_os_str().as_bytes();
    let tell = place().and_then(|place| place.opened);
    tell.into_iter().for_each(|tell| tell(path.as_ptr(), path.len()));
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
