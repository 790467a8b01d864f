//! Facts of the machine: random numbers, processors, number of the process, signals.

use super::interpose;
use crate::original::original;
use crate::wait::Slot;
use crate::world::World;
use libc::{
    c_char, c_int, c_long, c_uint, c_void, cpu_set_t, pid_t, posix_spawn_file_actions_t,
    posix_spawnattr_t, sigaction as action, sighandler_t, size_t, ssize_t,
};
use std::ptr;

/// The number of the process and of its first thread: greater than `PID_MAX_LIMIT` of Linux, so
/// that no process has it.
pub(super) const FIRST_ID: c_long = 4_194_305;

/// The number of the thread at `me`: the same in every run.
pub(super) fn thread_id(world: &World, me: Slot) -> c_long {
    FIRST_ID + world.number(me) as c_long
}

/// # Safety
/// `bytes` points to `count` bytes.
pub(super) unsafe fn fill(world: &World, bytes: *mut c_void, count: size_t) {
    // SAFETY: the caller's promise; bytes that were not written are not read.
    unsafe {
        ptr::write_bytes(bytes.cast::<u8>(), 0, count);
        world.fill(std::slice::from_raw_parts_mut(bytes.cast(), count));
    }
}

fn random(world: &World) -> u32 {
    let mut bytes = [0; 4];
    world.fill(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// Whether the signal ends a program.
fn is_end(signal: c_int) -> bool {
    matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGHUP)
}

interpose! {
    /// Random bytes of the world's seed.
    fn getrandom(bytes: *mut c_void, count: size_t, flags: c_uint) -> ssize_t = |world, _| {
        let _ = flags;
        // SAFETY: the caller passes a buffer of this length.
        unsafe { fill(world, bytes, count) };
        count as ssize_t
    }

    /// Random bytes of the world's seed.
    fn getentropy(bytes: *mut c_void, count: size_t) -> c_int = |world, _| {
        // SAFETY: the caller passes a buffer of this length.
        unsafe { fill(world, bytes, count) };
        0
    }

    /// A random number of the world's seed.
    fn arc4random() -> u32 = |world, _| {
        random(world)
    }

    /// Random bytes of the world's seed.
    fn arc4random_buf(bytes: *mut c_void, count: size_t) = |world, _| {
        // SAFETY: the caller passes a buffer of this length.
        unsafe { fill(world, bytes, count) };
    }

    /// A random number of the world's seed, less than `bound`.
    fn arc4random_uniform(bound: u32) -> u32 = |world, _| {
        ((u64::from(random(world)) * u64::from(bound)) >> 32) as u32
    }

    /// The processors on which threads may run: as many as the world has.
    fn sched_getaffinity(
        process: pid_t,
        bytes: size_t,
        set: *mut cpu_set_t,
    ) -> c_int = |world, _| {
        let _ = process;
        // SAFETY: the caller passes a set of this size.
        unsafe {
            ptr::write_bytes(set.cast::<u8>(), 0, bytes);
            (0..world.processors().min(8 * bytes)).for_each(|n| libc::CPU_SET(n, &mut *set));
        }
        0
    }

    /// Threads of a world stay on their core.
    fn sched_setaffinity(
        process: pid_t,
        bytes: size_t,
        set: *const cpu_set_t,
    ) -> c_int = |_, _| {
        let _ = (process, bytes, set);
        0
    }

    /// Threads of a world stay on their core.
    fn pthread_setaffinity_np(
        thread: libc::pthread_t,
        bytes: size_t,
        set: *const cpu_set_t,
    ) -> c_int = |_, _| {
        let _ = (thread, bytes, set);
        0
    }

    /// The processor on which the thread runs: always the first.
    fn sched_getcpu() -> c_int = |_, _| { 0 }

    /// A limit of the system; the number of processors is the world's.
    fn sysconf(name: c_int) -> c_long = |world, _| {
        match name {
            libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF => world.processors() as c_long,
            _ => {
                let sysconf = original!(sysconf: fn(c_int) -> c_long);
                // SAFETY: takes a number.
                unsafe { sysconf(name) }
            }
        }
    }

    /// The number of the process: the same in every run.
    fn getpid() -> pid_t = |_, _| { FIRST_ID as pid_t }

    /// The number of the thread: the same in every run.
    fn gettid() -> pid_t = |world, me| { thread_id(world, me) as pid_t }

    /// Creates a child process, whose times no other run repeats.
    fn fork() -> pid_t = |world, _| {
        world.note_child();
        let fork = original!(fork: fn() -> pid_t);
        // SAFETY: the caller's promise.
        unsafe { fork() }
    }

    /// Creates a child process, whose times no other run repeats.
    fn posix_spawn(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int = |world, _| {
        world.note_child();
        let spawn = original!(
            posix_spawn:
                fn(
                    *mut pid_t,
                    *const c_char,
                    *const posix_spawn_file_actions_t,
                    *const posix_spawnattr_t,
                    *const *mut c_char,
                    *const *mut c_char,
                ) -> c_int
        );
        // SAFETY: the caller's promise.
        unsafe { spawn(child, path, actions, attributes, arguments, environment) }
    }

    /// Creates a child process, whose times no other run repeats.
    fn posix_spawnp(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int = |world, _| {
        world.note_child();
        let spawn = original!(
            posix_spawnp:
                fn(
                    *mut pid_t,
                    *const c_char,
                    *const posix_spawn_file_actions_t,
                    *const posix_spawnattr_t,
                    *const *mut c_char,
                    *const *mut c_char,
                ) -> c_int
        );
        // SAFETY: the caller's promise.
        unsafe { spawn(child, path, actions, attributes, arguments, environment) }
    }

    /// Sets what a signal does, as `sigaction` does.
    fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t = |_, _| {
        match is_end(signal) {
            true => libc::SIG_DFL,
            false => {
                let set = original!(signal: fn(c_int, sighandler_t) -> sighandler_t);
                // SAFETY: the caller's promise.
                unsafe { set(signal, handler) }
            }
        }
    }

    /// Sets what a signal does. Those that end a program end a run, whatever the program sets:
    /// they come at times that no other run repeats.
    fn sigaction(signal: c_int, new: *const action, old: *mut action) -> c_int = |_, _| {
        let new = if is_end(signal) { ptr::null() } else { new };
        let set = original!(sigaction: fn(c_int, *const action, *mut action) -> c_int);
        // SAFETY: the caller's promise.
        unsafe { set(signal, new, old) }
    }
}
