//! Creation, end and joining of threads.
//!
//! The creating thread adds the new one to the world before the operating system has started it, so
//! the order of threads does not depend on how soon it starts: it waits for its first turn, and
//! begins with it. A thread ends in its world by the destructor of a thread-local key, in the last
//! of the rounds in which glibc calls destructors, because those of other keys may still wait or
//! lock. To join, a thread waits in the world for that end, and then calls libc, which returns at
//! once. If a thread ended where its function returns, its destructors would run outside of a turn.

use super::clock;
use super::{interpose, traps};
use crate::current;
use crate::original::original;
use crate::os;
use crate::turn::Turn;
use crate::wait::{NEVER, Nanos, Slot, Wait, Woken};
use crate::world::World;
use libc::{
    c_char, c_int, c_ulong, c_void, clockid_t, pthread_attr_t, pthread_key_t, pthread_t, timespec,
};
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// The begin of a new thread.
struct Start {
    world: &'static World,
    slot: Slot,
    turn: Arc<Turn>,
    routine: Routine,
    argument: *mut c_void,
}

/// How often glibc calls the destructors of a thread's keys at most:
/// `PTHREAD_DESTRUCTOR_ITERATIONS`.
const ROUNDS: usize = 4;

/// The key with the destructor that ends a thread in its world.
fn key() -> pthread_key_t {
    static KEY: OnceLock<pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a place for the key; the destructor is a function of the process.
        match unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } {
            0 => key,
            error => crate::output::die(&format!("no key for threads: error {error}")),
        }
    })
}

/// Ends the calling thread in its world, after the destructors of all other keys.
unsafe extern "C" fn end(round: *mut c_void) {
    let round = round.addr();
    if round < ROUNDS {
        // SAFETY: the key exists; its value is a number.
        unsafe { libc::pthread_setspecific(key(), ptr::without_provenance_mut(round + 1)) };
        return;
    }
    if let Some((world, me)) = current::current() {
        current::leave();
        world.end(me);
    }
}

/// The calling thread, which has the turn, belongs to `world` from now on.
pub(crate) fn adopt(world: &'static World) {
    let (slot, turn) = world.add(false);
    turn.belongs_to_this_thread();
    world.set_name(slot, &os::thread_name(os::this_thread()));
    // SAFETY: takes no argument.
    world.state().set_handle(slot, unsafe { libc::pthread_self() } as usize);
    current::enter(world, slot);
    end_at_last();
    traps::catch();
}

/// Has the calling thread end in its world when the operating system's thread does.
fn end_at_last() {
    // SAFETY: the key exists; its value is a number.
    unsafe { libc::pthread_setspecific(key(), ptr::without_provenance(1)) };
}

extern "C-unwind" fn begin(start: *mut c_void) -> *mut c_void {
    let start = start.cast::<Start>();
    // SAFETY: `pthread_create` below made the box for this thread alone.
    let Start { world, turn, .. } = unsafe { &*start };
    turn.belongs_to_this_thread();
    world.take(turn);
    // Only now: which heap the thread uses depends on those that others use.
    // SAFETY: as before.
    let Start { world, slot, routine, argument, .. } = *unsafe { Box::from_raw(start) };
    current::enter(world, slot);
    end_at_last();
    traps::catch();
    routine(argument)
}

interpose! {
    /// Creates a thread in the world of the calling one.
    fn pthread_create(
        thread: *mut pthread_t,
        attributes: *const pthread_attr_t,
        routine: Routine,
        argument: *mut c_void,
    ) -> c_int = |world, me, create| {
        let (slot, turn) = world.add(true);
        let start = Box::into_raw(Box::new(Start { world, slot, turn, routine, argument }));
        // SAFETY: the caller's promise; the box lives until the thread takes it.
        let result = unsafe { create(thread, attributes, begin, start.cast()) };
        match result {
            // SAFETY: it was written.
            0 => world.state().set_handle(slot, unsafe { *thread } as usize),
            _ => {
                world.state().forget(slot);
                // SAFETY: no thread has it.
                drop(unsafe { Box::from_raw(start) });
            }
        }
        world.pass(me);
        result
    }

    /// Names a thread, in reports as well.
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int = before |world, _| {
        if let Some(slot) = world.with_handle(thread as usize) {
            // SAFETY: the caller passes a name that ends with a zero.
            world.set_name(slot, &unsafe { CStr::from_ptr(name) }.to_string_lossy());
        }
    }

    /// Changes the calling thread: its name, in reports as well.
    ///
    /// libc declares it with variable arguments: see `syscall`.
    fn prctl(
        option: c_int,
        a: c_ulong,
        b: c_ulong,
        c: c_ulong,
        d: c_ulong,
    ) -> c_int = before |world, me| {
        if option == libc::PR_SET_NAME {
            let name = ptr::with_exposed_provenance(a as usize);
            // SAFETY: the caller passes a name that ends with a zero.
            world.set_name(me, &unsafe { CStr::from_ptr(name) }.to_string_lossy());
        }
    }

    /// Waits for the end of a thread.
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { join((world, me), thread, result, Some(NEVER)) }
    }

    /// Joins a thread that has ended. A thread that fails may try again in a loop: it yields.
    fn pthread_tryjoin_np(
        thread: pthread_t,
        result: *mut *mut c_void,
    ) -> c_int = before |world, me| {
        if world.with_handle(thread as usize).is_some() {
            world.pause(me);
            return libc::EBUSY;
        }
    }

    /// Waits for the end of a thread until a deadline.
    fn pthread_clockjoin_np(
        thread: pthread_t,
        result: *mut *mut c_void,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller's promise.
        unsafe { join((world, me), thread, result, clock::until(clock, time)) }
    }

    /// Asks a thread to end, which it does where it waits.
    fn pthread_cancel(thread: pthread_t) -> c_int = after |world, _, _| {
        if let Some(slot) = world.with_handle(thread as usize) {
            world.state().interrupt(slot);
        }
    }

    /// Calls a function once; others wait until it has returned.
    fn pthread_once(control: *mut c_int, routine: extern "C" fn()) -> c_int = |world, me| {
        // The states that glibc gives a control, which counts forks in the other bits.
        const RUNS: c_int = 1;
        const DONE: c_int = 2;
        // SAFETY: the caller passes a control, which only this function and glibc's change.
        let control = unsafe { AtomicI32::from_ptr(control) };
        let wait = Wait::Lock(control.as_ptr().addr());
        loop {
            let state = control.load(Ordering::Acquire);
            if state & DONE != 0 {
                break 0;
            }
            if state & RUNS == 0 {
                control.store(RUNS, Ordering::Relaxed);
                routine();
                control.store(DONE, Ordering::Release);
                world.state().wake(wait, usize::MAX);
                break 0;
            }
            world.wait(me, wait, NEVER);
        }
    }
}

/// Waits for the end of a thread until a deadline, and joins it.
///
/// # Safety
/// The caller keeps the rules of `pthread_join`.
unsafe fn join(
    (world, me): (&World, Slot),
    thread: pthread_t,
    result: *mut *mut c_void,
    deadline: Option<Nanos>,
) -> c_int {
    let Some(deadline) = deadline else { return libc::EINVAL };
    while let Some(slot) = world.with_handle(thread as usize) {
        if world.wait(me, Wait::Join(world.number(slot)), deadline) == Woken::TimedOut {
            return libc::ETIMEDOUT;
        }
    }
    // The thread is past its last turn: this is a moment.
    let join = original!(pthread_join: fn(pthread_t, *mut *mut c_void) -> c_int);
    // SAFETY: the caller's promise.
    unsafe { join(thread, result) }
}
