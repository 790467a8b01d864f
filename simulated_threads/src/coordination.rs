//! The coordinator of a run of several processes, of which each has a world.
//!
//! Once all threads of the process wait, the world asks the coordinator, by a function that the
//! process has set before `main`: it lets things happen to the process at this instant, or at a
//! later time up to the next deadline. It may wait in real time for other processes meanwhile,
//! which the watchdog does not count. Threads that wait for other processes all wait for one
//! event, and look whether it was for them.
//!
//! A library that is loaded into a program, as a middleware is, and the program itself may both
//! have a copy of this crate. The world is then the program's, whose functions all libraries call.
//! The library's copy finds it through one of them: `syscall` with a number that no kernel has
//! answers with the functions of the copy to which it belongs.

pub use crate::coordinator::{Next, Rest};

use crate::current::current;
use crate::wait::{NEVER, Wait, Woken};
use crate::{armed, coordinator, interpose};
use std::sync::OnceLock;
use std::time::Duration;

/// The number with which `syscall` answers with the [`Functions`]: "ring", and the version of
/// their types.
pub(crate) const NUMBER: i64 = -0x7269_6e67_0001;

/// The functions of a copy of the crate. All times are in nanoseconds.
#[repr(C)]
pub(crate) struct Functions {
    join: extern "C" fn(extern "C" fn(Rest) -> Next, u64, u32) -> bool,
    now: extern "C" fn() -> u64,
    wait: extern "C-unwind" fn(u64) -> bool,
    wake: extern "C" fn(),
    finish: extern "C" fn() -> !,
}

/// The functions of this copy.
pub(crate) static OWN: Functions = Functions {
    join: coordinator::join,
    now: own_now,
    wait: own_wait,
    wake: own_wake,
    finish: own_finish,
};

/// The functions of the copy whose world the program is in.
fn called() -> &'static Functions {
    static CALLED: OnceLock<&Functions> = OnceLock::new();
    CALLED.get_or_init(|| match interpose::is_called() {
        true => &OWN,
        false => interpose::other().unwrap_or(&OWN),
    })
}

/// Has the world of the whole program ask `coordinator` whenever all of its threads wait. It begins
/// at `start`, in nanoseconds since 1970, as the process of this number: each has its own numbers
/// of threads. Called before `main`; if the world is made later, it begins so. False if there is a
/// coordinator.
pub fn join(coordinator: extern "C" fn(Rest) -> Next, start: u64, process: u32) -> bool {
    (called().join)(coordinator, start, process)
}

/// Whether this program is a process of a run.
pub fn is_joined() -> bool {
    coordinator::get().is_some()
}

/// The time of the calling thread's world, in nanoseconds since 1970; `None` outside of one.
pub fn now() -> Option<u64> {
    Some((called().now)()).filter(|now| *now != NEVER)
}

/// The calling thread waits until something happens in the process or to it, or this time has
/// passed; false if it has. Nothing happens between a look before the call and the begin of the
/// wait. Returns at once on a thread of no world.
pub fn wait(timeout: Option<Duration>) -> bool {
    let nanos = |timeout: Duration| u64::try_from(timeout.as_nanos()).unwrap_or(NEVER);
    (called().wait)(timeout.map_or(NEVER, nanos))
}

/// Wakes all threads in [`wait`].
pub fn wake() {
    (called().wake)();
}

/// Ends the process at the end of its time, as by a signal.
pub fn finish() -> ! {
    (called().finish)()
}

extern "C" fn own_now() -> u64 {
    current().map_or(NEVER, |(world, _)| world.now())
}

extern "C-unwind" fn own_wait(nanos: u64) -> bool {
    let Some((world, me)) = current() else { return true };
    let deadline = world.now().saturating_add(nanos);
    world.wait(me, Wait::Process, deadline) != Woken::TimedOut
}

extern "C" fn own_wake() {
    if let Some((world, _)) = current() {
        world.state().wake(Wait::Process, usize::MAX);
    }
}

extern "C" fn own_finish() -> ! {
    armed::finish()
}
