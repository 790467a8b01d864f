//! Facts of the machine: processors, and numbers of process and threads.
//!
//! Each function answers from the settings of the world, on the thread that has the turn. Numbers
//! of process and threads lie above those that Linux gives, so they never name a real process.

use super::interpose;
use crate::family;
use crate::original::original;
use crate::os;
use crate::wait::Slot;
use crate::world::World;
use libc::{c_int, c_long, cpu_set_t, pid_t, size_t};
use std::ptr;

/// The number of the process: the same in every run.
pub(super) fn process_id(world: &World) -> pid_t {
    family::id_of(world.process())
}

/// The number of the thread at `me`: the same in every run.
pub(super) fn thread_id(world: &World, me: Slot) -> c_long {
    c_long::from(process_id(world)) + world.number(me) as c_long
}

/// The number that the kernel gave the process or a child; others stay.
fn real_id(world: &World, id: pid_t) -> pid_t {
    match world.state().family.child(id) {
        Some(child) => child.real,
        None if id == process_id(world) => os::this_process(),
        None => id,
    }
}

/// The number of the group of the process or a child, as the program sees it.
pub(super) fn group_of(world: &World, process: pid_t) -> pid_t {
    let get = original!(getpgid: fn(pid_t) -> pid_t);
    // SAFETY: takes a number.
    let group = unsafe { get(real_id(world, process)) };
    match group {
        -1 => -1,
        _ if group == os::this_process() => process_id(world),
        _ if group == real_id(world, process) => process,
        _ => family::FIRST_ID - 1,
    }
}

interpose! {
    /// The processors on which threads may run: as many as the world has.
    fn sched_getaffinity(
        process: pid_t,
        bytes: size_t,
        set: *mut cpu_set_t,
    ) -> c_int = |world, _| {
        // SAFETY: the caller passes a set of this size.
        unsafe {
            ptr::write_bytes(set.cast::<u8>(), 0, bytes);
            let processors = world.settings.processors.get().min(8 * bytes);
            (0..processors).for_each(|n| libc::CPU_SET(n, &mut *set));
        }
        0
    }

    /// Threads of a world stay on their core.
    fn sched_setaffinity(
        process: pid_t,
        bytes: size_t,
        set: *const cpu_set_t,
    ) -> c_int = |_, _| { 0 }

    /// Threads of a world stay on their core.
    fn pthread_setaffinity_np(
        thread: libc::pthread_t,
        bytes: size_t,
        set: *const cpu_set_t,
    ) -> c_int = |_, _| { 0 }

    /// The processor on which the thread runs: always the first.
    fn sched_getcpu() -> c_int = |_, _| { 0 }

    /// A limit of the system; the number of processors is the world's.
    fn sysconf(name: c_int) -> c_long = before |world, _| {
        if matches!(name, libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF) {
            return world.settings.processors.get() as c_long;
        }
    }

    /// The number of the process: the same in every run.
    fn getpid() -> pid_t = |world, _| { process_id(world) }

    /// The number of the parent: the same in every run; that of no process outside of a run.
    fn getppid() -> pid_t = |world, _| {
        world.parent().map_or(family::FIRST_ID - 1, family::id_of)
    }

    /// The number of the group of a process: that of a child or of the process itself if one leads
    /// it, else that of no process.
    fn getpgid(process: pid_t) -> pid_t = before |world, _| {
        if world.coordinator().is_some() {
            return group_of(world, process);
        }
    }

    /// Sets the group of the process or of a child.
    fn setpgid(process: pid_t, group: pid_t) -> c_int = |world, _, set| {
        // SAFETY: takes numbers.
        unsafe { set(real_id(world, process), real_id(world, group)) }
    }

    /// The number of the thread: the same in every run.
    fn gettid() -> pid_t = |world, me| { thread_id(world, me) as pid_t }
}
