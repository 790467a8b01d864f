//! The coordinator of a run of several processes, of which each has a world.
//!
//! Once all threads of the process wait, the world asks the coordinator, by a function that the
//! process has set before `main`: it lets things happen to the process at this instant, or at a
//! later time up to the next deadline. It may wait in real time for other processes meanwhile,
//! which the watchdog does not count. Threads that wait for other processes all wait for one
//! event, and look whether it was for them.

pub use crate::coordinator::{Next, Rest};

use crate::coordinator;
use crate::current::current;
use crate::wait::{NEVER, Wait, Woken};
use std::time::Duration;

/// Has the world of the whole program ask `coordinator` whenever all of its threads wait. It begins
/// at `start`, in nanoseconds since 1970, as the process of this number: each has its own numbers
/// of threads. Called before `main`; false if the program is not in a world.
pub fn join(coordinator: fn(Rest) -> Next, start: u64, process: u32) -> bool {
    let Some((world, _)) = current() else { return false };
    world.begin_as(start, process);
    coordinator::set(coordinator)
}

/// The calling thread waits until something happens in the process or to it, or this time has
/// passed; false if it has. Nothing happens between a look before the call and the begin of the
/// wait. Returns at once on a thread of no world.
pub fn wait(timeout: Option<Duration>) -> bool {
    let Some((world, me)) = current() else { return true };
    let nanos = |timeout: Duration| u64::try_from(timeout.as_nanos()).unwrap_or(NEVER);
    let deadline = timeout.map_or(NEVER, |timeout| world.now().saturating_add(nanos(timeout)));
    world.wait(me, Wait::Process, deadline) != Woken::TimedOut
}

/// Wakes all threads in [`wait`].
pub fn wake() {
    if let Some((world, _)) = current() {
        world.state().wake(Wait::Process, usize::MAX);
    }
}
