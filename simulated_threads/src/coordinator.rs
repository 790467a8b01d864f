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

/// Something that happens to the process and not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Event {
    /// Nothing more.
    None,
    /// The child that is this process of the run has ended.
    Ended(u32),
    /// Another process sends this signal.
    Signal(i32),
}

impl Event {
    pub(crate) fn known(self) -> Option<Self> {
        (self != Self::None).then_some(self)
    }
}

/// The coordinator, as a world sees it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Coordinator {
    /// All threads wait: decides how the world continues.
    pub rest: extern "C" fn(Rest) -> Next,
    /// Tells the next event of the process.
    pub event: extern "C" fn() -> Event,
    /// A thread is about to create a child, and needs its number.
    pub ask_for_child: extern "C" fn(),
    /// The number that was asked for; zero if it is not known yet.
    pub child: extern "C" fn() -> u32,
    /// The child of this number was created, or not.
    pub created: extern "C" fn(u32, bool),
    /// In the child: begins as this process, once it has its first turn; returns the time.
    pub begin_child: extern "C" fn(u32) -> u64,
    /// Sends this signal to a process, or to all of its group.
    pub signal: extern "C" fn(u32, i32, bool),
    /// The process is about to end, without what libc does at the end of a program.
    pub end: extern "C" fn(),
    /// Writes the variable with the place of this process, which is the calling one or a new one,
    /// to so many bytes; returns its length.
    pub variable: extern "C" fn(u32, bool, *mut u8, usize) -> usize,
}

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
    /// The number of the process that has started it; -1 if it is none of the run.
    pub parent: i64,
    /// The number of the run, for names that only its processes have.
    pub network: u32,
    /// The descriptors of the run, which the program does not close.
    pub descriptors: [i32; 2],
    /// Is called with the path of each file that the program opens for reading, and its length.
    pub opened: Option<extern "C" fn(*const u8, usize)>,
}

/// The functions of a program for its coordinator, which need those of libc that are defined here.
pub(crate) struct Program {
    /// Ends it at the end of its time.
    pub(crate) finish: fn() -> !,
    /// The signal that it gets for an event, if it gets one.
    pub(crate) signal_of: fn(Event) -> Option<i32>,
    /// Replaces its standard streams that are pipes of other processes.
    pub(crate) replace_streams: fn(),
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

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

/// The descriptors of the run, which the program does not close.
pub(crate) fn descriptors() -> [i32; 2] {
    place().map_or([-1; 2], |place| place.descriptors)
}

/// The variable with the place of a process.
pub(crate) fn variable(process: u32, is_itself: bool) -> String {
    let mut bytes = [0; 256];
    let length =
        get().map_or(0, |all| (all.variable)(process, is_itself, bytes.as_mut_ptr(), bytes.len()));
    String::from_utf8_lossy(&bytes[..length.min(bytes.len())]).into_owned()
}

/// Tells the path of a file that the program has opened, if that is asked for.
pub(crate) fn tell_opened(path: &Path) {
    let path = path.as_os_str().as_bytes();
    let tell = place().and_then(|place| place.opened);
    tell.into_iter().for_each(|tell| tell(path.as_ptr(), path.len()));
}

/// Sets the functions of the program.
pub(crate) fn set_program(program: Program) {
    let _ = PROGRAM.set(program);
}

/// The functions of the program, if it is in a world of its own.
pub(crate) fn program() -> Option<&'static Program> {
    PROGRAM.get()
}

/// Ends the program at the end of its time.
pub(crate) extern "C" fn finish() -> ! {
    match PROGRAM.get() {
        Some(program) => (program.finish)(),
        None => std::process::exit(0), // it is in no world
    }
}
