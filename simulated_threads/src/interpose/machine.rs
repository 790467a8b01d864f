//! Facts of the machine: processors, number of the process, child processes.
//!
//! Each function answers from the settings of the world, on the thread that has the turn. Numbers
//! of process and threads lie above those that Linux gives, so they never name a real process.
//! Child processes cannot be part of the world; they are counted, and the summary says that the run
//! was not controlled. They read the processor's counter by themselves.

use super::{interpose, traps};
use crate::current;
use crate::wait::Slot;
use crate::world::World;
use libc::{
    c_char, c_int, c_long, cpu_set_t, pid_t, posix_spawn_file_actions_t, posix_spawnattr_t, size_t,
};
use std::ptr;

/// The least number of a process and of its first thread: greater than `PID_MAX_LIMIT` of Linux, so
/// that no real process has it.
const FIRST_ID: c_long = 4_194_305;

/// The number that `fork` returns if it has failed; also that of a child whose number is unknown.
const NO_CHILD: pid_t = -1;

/// The number of the process: the same in every run.
pub(super) fn process_id(world: &World) -> pid_t {
    (FIRST_ID + world.first_id() as c_long) as pid_t
}

/// The number of the thread at `me`: the same in every run.
pub(super) fn thread_id(world: &World, me: Slot) -> c_long {
    c_long::from(process_id(world)) + world.number(me) as c_long
}

/// Creates a child process, which shares memory with this one only by its name: as `fork`, also
/// outside of worlds. A child that shared the stack would return from here before its parent, and
/// overwrite this frame.
///
/// # Safety
/// The caller keeps the rules of the function of this name in libc.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn vfork() -> pid_t {
    // SAFETY: takes no argument.
    unsafe { fork() }
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

    /// The number of the parent: the same in every run, and of no process.
    fn getppid() -> pid_t = |_, _| { (FIRST_ID - 1) as pid_t }

    /// The number of the thread: the same in every run.
    fn gettid() -> pid_t = |world, me| { thread_id(world, me) as pid_t }

    /// Creates a child process, which runs in real time: of the threads of the world it has one.
    fn fork() -> pid_t = after |world, _, child| {
        match child {
            0 => {
                current::leave();
                traps::release();
            }
            child => world.add_child(child),
        }
    }

    /// Creates a child process, which runs in real time.
    fn posix_spawn(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int = before |_, _| {
        traps::release();
    } after |world, _, error| {
        traps::catch();
        if error == 0 {
            // SAFETY: the caller passes a place for the number, or null.
            world.add_child(unsafe { child.as_ref() }.copied().unwrap_or(NO_CHILD));
        }
    }

    /// Creates a child process, which runs in real time.
    fn posix_spawnp(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int = before |_, _| {
        traps::release();
    } after |world, _, error| {
        traps::catch();
        if error == 0 {
            // SAFETY: the caller passes a place for the number, or null.
            world.add_child(unsafe { child.as_ref() }.copied().unwrap_or(NO_CHILD));
        }
    }

    /// Runs a command of the shell in real time.
    fn system(command: *const c_char) -> c_int = before |_, _| {
        traps::release();
    } after |world, _, _| {
        traps::catch();
        world.add_child(NO_CHILD);
    }

    /// Runs a command of the shell in real time, with a pipe.
    fn popen(command: *const c_char, kind: *const c_char) -> *mut libc::FILE = before |_, _| {
        traps::release();
    } after |world, _, _| {
        traps::catch();
        world.add_child(NO_CHILD);
    }

    /// Replaces the program.
    fn execve(
        path: *const c_char,
        arguments: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int = before |_, _| {
        traps::release();
    } after |_, _, _| {
        traps::catch();
    }

    /// Replaces the program.
    fn execv(path: *const c_char, arguments: *const *const c_char) -> c_int = before |_, _| {
        traps::release();
    } after |_, _, _| {
        traps::catch();
    }

    /// Replaces the program.
    fn execvp(path: *const c_char, arguments: *const *const c_char) -> c_int = before |_, _| {
        traps::release();
    } after |_, _, _| {
        traps::catch();
    }
}
