//! Locks of files, of all three kinds of Linux.
//!
//! The kernel keeps them, and a thread that has to wait tries again in the world: whenever a thread
//! of the process changes a lock or closes a file, and in a run whenever another process does. So
//! a process that locks a file takes turns with the others, as one with sockets does.

use super::{errno, fail, interpose, sockets};
use crate::descriptors;
use crate::wait::{NEVER, Slot, Wait, Woken};
use crate::world::World;
use libc::{c_int, off_t};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process has changed a lock: it may have some from then on.
static MAY_HAVE: AtomicBool = AtomicBool::new(false);

/// A lock may be free now: one was changed, or a file was closed.
pub(super) fn changed(world: &World) {
    if MAY_HAVE.load(Ordering::Relaxed) {
        world.state().wake(Wait::File, usize::MAX);
        descriptors::note_files();
    }
}

/// Tries to change a lock, until that succeeds if the caller `waits`.
pub(super) fn change(
    (world, me): (&World, Slot),
    waits: bool,
    attempt: impl Fn() -> c_int,
) -> c_int {
    sockets::wait_for_turn(world, me);
    MAY_HAVE.store(true, Ordering::Relaxed);
    let mut result = attempt();
    // A change of a lock gives the old one up, also if it fails.
    changed(world);
    while result == -1 && errno() == libc::EAGAIN && waits {
        if let Woken::Interrupted { restarts: false } = world.wait(me, Wait::File, NEVER) {
            fail(libc::EINTR);
            break;
        }
        result = attempt();
    }
    if result == -1 && errno() == libc::EAGAIN {
        world.pause(me); // the thread may try again in a loop
        fail(libc::EAGAIN);
    }
    result
}

interpose! {
    /// Locks a file, or unlocks it.
    fn flock(descriptor: c_int, operation: c_int) -> c_int = |world, me, flock| {
        // SAFETY: takes numbers.
        let attempt = || unsafe { flock(descriptor, operation | libc::LOCK_NB) };
        change((world, me), operation & libc::LOCK_NB == 0, attempt)
    }

    /// Locks a part of a file, or unlocks it.
    fn lockf(descriptor: c_int, operation: c_int, length: off_t) -> c_int = |world, me, lockf| {
        let waits = operation == libc::F_LOCK;
        let tried = if waits { libc::F_TLOCK } else { operation };
        // SAFETY: takes numbers.
        change((world, me), waits, || unsafe { lockf(descriptor, tried, length) })
    }
}
