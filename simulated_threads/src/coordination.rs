//! The coordinator of a run of several processes, of which each has a world.
//!
//! Once all threads of the process wait, the world asks the coordinator, by a function that the
//! process has set before `main`: it lets things happen to the process at this instant, or at a
//! later time up to the next deadline. It may wait in real time for other processes meanwhile,
//! which the watchdog does not count. Threads that wait for other processes all wait for one
//! event, and look whether it was for them.

pub use crate::coordinator::{Coordinator, Event, Next, Place, Rest};

use crate::copies::{Functions, OWN};
use crate::wait::NEVER;
use crate::{coordinator, interpose, os};
use std::sync::OnceLock;
use std::time::Duration;

/// The functions of the copy whose world the program is in.
fn called() -> &'static Functions {
    static CALLED: OnceLock<&Functions> = OnceLock::new();
    CALLED.get_or_init(|| match interpose::is_called() {
        true => &OWN,
        false => interpose::other().unwrap_or(&OWN),
    })
}

/// Has the world of the whole program ask `coordinator` whenever all of its threads wait. It begins
/// at this place. Called before `main`; if the world is made later, it begins so. False if there is
/// a coordinator.
pub fn join(coordinator: Coordinator, place: Place) -> bool {
    (called().join)(coordinator, place)
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

/// The real time for which the calling thread has computed.
pub fn computed() -> Duration {
    os::time_of_thread()
}

/// Ends the process at the end of its time, as by a signal.
pub fn finish() -> ! {
    (called().finish)()
}
