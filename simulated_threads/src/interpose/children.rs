//! Creation of child processes, their programs, and waits for them.
//!
//! In a run of several processes a child is one of them. Its parent asks the coordinator for the
//! number of the child first; the child connects to the coordinator, and waits for its first turn.
//! A child that was forked is in a new world, with its one thread. A program that replaces another
//! one gets the variables with which it finds its place beside those that it is given. Pipes
//! between the two are own descriptors of both.
//!
//! Elsewhere a child runs in real time: see `children` of the crate.

use super::thread::adopt;
use super::{descriptors, errno, fail, interpose, sockets, traps};
use crate::coordinator::{self, Coordinator};
use crate::original::original;
use crate::settings::Settings;
use crate::wait::{NEVER, Slot, Wait, Woken};
use crate::world::World;
use crate::{backtrace, current, environment, family};
use libc::{
    c_char, c_int, c_uint, pid_t, posix_spawn_file_actions_t, posix_spawnattr_t, rusage, siginfo_t,
};
use std::collections::BTreeSet;

/// The number that `fork` returns if it has failed; also that of a child of unknown number.
pub(super) const NO_CHILD: pid_t = -1;

/// Asks the coordinator for the number of a new child, which shares the descriptors.
fn number_of_child((world, me): (&World, Slot), all: Coordinator) -> u32 {
    sockets::wait_for_turn(world, me);
    (all.ask_for_child)();
    loop {
        match (all.child)() {
            0 => drop(world.wait(me, Wait::Process, NEVER)),
            number => {
                crate::descriptors::share();
                return number;
            }
        }
    }
}

/// The child that was asked for exists, unless there was an error.
fn created(world: &World, all: Coordinator, process: u32, real: pid_t) {
    (all.created)(process, real > 0);
    if real > 0 {
        world.state().family.add(process, real);
    }
}

/// Begins the world of a child, which the process of `parent` has forked, on its only thread.
fn begin(parent: &World, process: u32, all: Coordinator) {
    let now = (all.begin_child)(process);
    let seed = environment::seed_of(parent.settings.seed, process);
    let settings = Settings { seed, ..parent.settings.clone() };
    let world = World::new(settings, true, None, |stuck| backtrace::die(&stuck));
    world.begin_as(now, process, Some(parent.process()));
    adopt(world);
}

/// A way to start a program, as `posix_spawn`.
type Spawn = unsafe extern "C-unwind" fn(
    *mut pid_t,
    *const c_char,
    *const posix_spawn_file_actions_t,
    *const posix_spawnattr_t,
    *const *mut c_char,
    *const *mut c_char,
) -> c_int;

/// Starts a program by `spawn`.
///
/// # Safety
/// The caller keeps the rules of `posix_spawn`.
unsafe fn start(
    caller: (&World, Slot),
    spawn: Spawn,
    child: *mut pid_t,
    path: *const c_char,
    (actions, attributes): (*const posix_spawn_file_actions_t, *const posix_spawnattr_t),
    (arguments, variables): (*const *mut c_char, *const *mut c_char),
) -> c_int {
    let (world, _) = caller;
    let all = world.coordinator();
    let process = all.map(|all| number_of_child(caller, all));
    let mut number = NO_CHILD;
    // SAFETY: the caller's promise; the variables live until the call returns.
    let error = unsafe {
        let own = process.map(|process| environment::of_program(variables.cast(), process, false));
        let variables = own.as_ref().map_or(variables, |own| own.list().cast());
        traps::release();
        let error = spawn(&raw mut number, path, actions, attributes, arguments, variables);
        traps::catch();
        error
    };
    if error != 0 {
        number = NO_CHILD;
    }
    match (all, process) {
        (Some(all), Some(process)) => {
            created(world, all, process, number);
            number = family::id_of(process);
        }
        _ if error == 0 => world.add_child(number),
        _ => {}
    }
    if error == 0 && !child.is_null() {
        // SAFETY: the caller passes a place for the number, or null.
        unsafe { child.write(number) };
    }
    error
}

/// A way to replace the program, as `execve`.
type Replace =
    unsafe extern "C-unwind" fn(*const c_char, *const *const c_char, *const *const c_char) -> c_int;

/// Replaces the program by `replace`.
///
/// # Safety
/// The caller keeps the rules of `execve`.
unsafe fn become_program(
    world: &World,
    replace: Replace,
    path: *const c_char,
    arguments: *const *const c_char,
    variables: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise; the variables live until the call returns.
    unsafe {
        let own =
            world.coordinator().map(|_| environment::of_program(variables, world.process(), true));
        let variables = own.as_ref().map_or(variables, |own| own.list());
        traps::release();
        let result = replace(path, arguments, variables);
        traps::catch();
        result
    }
}

unsafe extern "C" {
    /// The environment of the program.
    pub(super) static environ: *const *const c_char;
}

/// Waits for a child that is a process of the run: its number in the kernel and for the program.
/// `None` if there is no such child, and the kernel may know one. Zero if none has ended, and the
/// call does not wait.
fn ended(
    (world, me): (&World, Slot),
    id: pid_t,
    options: c_int,
) -> Option<Result<[pid_t; 2], c_int>> {
    world.coordinator()?;
    let errno = errno();
    loop {
        let first = world.state().family.first_ended(id).ok()?;
        if let Some(child) = first {
            if options & libc::WNOWAIT == 0 {
                world.state().family.remove(child.process);
            }
            fail(errno);
            return Some(Ok([child.real, family::id_of(child.process)]));
        }
        if options & libc::WNOHANG != 0 {
            world.pause(me); // the thread may try again in a loop
            fail(errno);
            return Some(Ok([0, 0]));
        }
        if world.wait(me, Wait::Process, NEVER) == (Woken::Interrupted { restarts: false })
            && !matches!(world.state().family.first_ended(id), Ok(Some(_)))
        {
            return Some(Err(libc::EINTR));
        }
    }
}

/// Waits as `wait4` does; `None` if there is no child here.
///
/// # Safety
/// The caller passes a place for the status, or null.
unsafe fn wait_for(
    caller: (&World, Slot),
    id: pid_t,
    status: *mut c_int,
    options: c_int,
) -> Option<pid_t> {
    let [real, own] = match ended(caller, id, options)? {
        Ok([0, _]) => return Some(0),
        Ok(numbers) => numbers,
        Err(error) => return Some(fail(error)),
    };
    // It ends at this moment. A program that ignores SIGCHLD has no status.
    let wait = original!(waitpid: fn(pid_t, *mut c_int, c_int) -> pid_t);
    // SAFETY: the caller's promise.
    while unsafe { wait(real, status, 0) } < 0 {
        if errno() != libc::EINTR {
            return Some(NO_CHILD);
        }
    }
    Some(own)
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
    /// Creates a child process. In a run it is a process of the run; elsewhere it runs in real
    /// time, and of the threads of the world it has one.
    fn fork() -> pid_t = |world, me, fork| {
        let all = world.coordinator();
        let process = all.map(|all| number_of_child((world, me), all));
        // SAFETY: takes no argument.
        let child = unsafe { fork() };
        match (child, process.zip(all)) {
            (0, Some((process, all))) => {
                current::leave();
                begin(world, process, all);
            }
            (0, None) => {
                current::leave();
                traps::release();
            }
            (child, Some((process, all))) => {
                created(world, all, process, child);
                if child > 0 {
                    return family::id_of(process);
                }
            }
            (child, None) => world.add_child(child),
        }
        child
    }

    /// Starts a program as a child.
    fn posix_spawn(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int = |world, me, spawn| {
        let program = (arguments, environment);
        // SAFETY: the caller's promise.
        unsafe { start((world, me), spawn, child, path, (actions, attributes), program) }
    }

    /// Starts a program as a child.
    fn posix_spawnp(
        child: *mut pid_t,
        path: *const c_char,
        actions: *const posix_spawn_file_actions_t,
        attributes: *const posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char,
    ) -> c_int = |world, me, spawn| {
        let program = (arguments, environment);
        // SAFETY: the caller's promise.
        unsafe { start((world, me), spawn, child, path, (actions, attributes), program) }
    }

    /// Replaces the program.
    fn execve(
        path: *const c_char,
        arguments: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int = |world, _, replace| {
        // SAFETY: the caller's promise.
        unsafe { become_program(world, replace, path, arguments, environment) }
    }

    /// Replaces the program.
    fn execvpe(
        file: *const c_char,
        arguments: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int = |world, _, replace| {
        // SAFETY: the caller's promise.
        unsafe { become_program(world, replace, file, arguments, environment) }
    }

    /// Ends the process.
    fn _exit(status: c_int) = before |world, _| {
        world.coordinator().iter().for_each(|all| (all.end)());
    }

    /// Waits for the end of a child. The resources that it has used are unknown.
    fn wait4(
        child: pid_t,
        status: *mut c_int,
        options: c_int,
        used: *mut rusage,
    ) -> pid_t = before |world, me| {
        // SAFETY: the caller passes places or null.
        unsafe {
            if let Some(result) = wait_for((world, me), child, status, options) {
                used.as_mut().into_iter().for_each(|used| *used = std::mem::zeroed());
                return result;
            }
        }
    }

    /// Waits for the end of a child.
    fn waitid(
        kind: c_uint,
        child: c_uint,
        info: *mut siginfo_t,
        options: c_int,
    ) -> c_int = before |world, me, wait| {
        let id = if kind == libc::P_PID { child as pid_t } else { NO_CHILD };
        let is_known = matches!(kind, libc::P_PID | libc::P_ALL);
        let ended = if is_known { ended((world, me), id, options) } else { None };
        match ended {
            Some(Err(error)) => return fail(error),
            // SAFETY: the caller passes a place or null.
            Some(Ok([0, _])) => unsafe {
                info.as_mut().into_iter().for_each(|info| *info = std::mem::zeroed());
                return 0;
            },
            // SAFETY: as before. The number of the child is at the third word, after the padding.
            Some(Ok([real, own])) => unsafe {
                let options = options & !libc::WNOHANG;
                let result = wait(libc::P_PID, real as c_uint, info, options);
                if result == 0 && !info.is_null() {
                    info.cast::<c_int>().add(4).write(own);
                }
                return result;
            },
            None => {}
        }
    }

    /// Closes a range of descriptors, but not those of the run.
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int = |world, _, close| {
        let mut begin = first;
        let ends = coordinator::descriptors().into_iter().map(|number| number as c_uint);
        let ends = ends.filter(|number| (first..=last).contains(number));
        if flags == 0 {
            descriptors::forget(world, first, last);
        }
        for end in ends.collect::<BTreeSet<_>>() {
            // SAFETY: takes numbers.
            if begin < end && unsafe { close(begin, end - 1, flags) } != 0 {
                return -1;
            }
            begin = end + 1;
        }
        // SAFETY: takes numbers.
        if begin <= last { unsafe { close(begin, last, flags) } } else { 0 }
    }
}
