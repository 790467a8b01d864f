//! Threads, mutexes and condition variables by their C11 names: in glibc those of POSIX, which it
//! calls past the definitions of this crate.

use super::interpose;
use super::{clock, locks, thread};
use libc::{c_int, c_void, pthread_cond_t, pthread_mutex_t, pthread_t, timespec};
use std::ptr;

type Routine = extern "C-unwind" fn(*mut c_void) -> c_int;

/// The routine of a new thread, and its argument.
type Start = (Routine, *mut c_void);

extern "C-unwind" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: `thrd_create` below made the box for this thread alone.
    let (routine, argument) = *unsafe { Box::from_raw(start.cast::<Start>()) };
    ptr::without_provenance_mut(routine(argument) as usize)
}

/// The result in C11 of a function of POSIX.
fn outcome(error: c_int) -> c_int {
    match error {
        0 => 0,               // thrd_success
        libc::EBUSY => 1,     // thrd_busy
        libc::ENOMEM => 3,    // thrd_nomem
        libc::ETIMEDOUT => 4, // thrd_timedout
        _ => 2,               // thrd_error
    }
}

interpose! {
    /// Creates a thread in the world of the calling one.
    fn thrd_create(
        thread: *mut pthread_t,
        routine: Routine,
        argument: *mut c_void,
    ) -> c_int = |_, _| {
        let start: *mut Start = Box::into_raw(Box::new((routine, argument)));
        // SAFETY: the caller passes a place; the box lives until the thread takes it.
        let error = unsafe { thread::pthread_create(thread, ptr::null(), begin, start.cast()) };
        if error != 0 {
            // SAFETY: no thread has it.
            drop(unsafe { Box::from_raw(start) });
        }
        outcome(error)
    }

    /// Waits for the end of a thread.
    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int = |_, _| {
        let mut returned = ptr::null_mut();
        // SAFETY: the caller's promise, and a place for the thread's result.
        let error = unsafe { thread::pthread_join(thread, &raw mut returned) };
        if !result.is_null() {
            // SAFETY: a place for the result, unless it is null.
            unsafe { result.write(returned.addr() as c_int) };
        }
        outcome(error)
    }

    /// Sleeps.
    fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int = |_, _| {
        const FAILED: c_int = -2;
        // SAFETY: the caller passes a time.
        match unsafe { clock::clock_nanosleep(libc::CLOCK_REALTIME, 0, time, left) } {
            0 => 0,
            libc::EINTR => -1,
            _ => FAILED,
        }
    }

    /// Lets other threads run.
    fn thrd_yield() = |world, me| {
        world.yield_now(me);
    }

    /// Calls a function once; others wait until it has returned.
    fn call_once(control: *mut c_int, routine: extern "C" fn()) = |_, _| {
        // SAFETY: the caller passes a control.
        unsafe { thread::pthread_once(control, routine) };
    }

    /// Locks a mutex.
    fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int = |_, _| {
        // SAFETY: the caller passes a mutex.
        outcome(unsafe { locks::pthread_mutex_lock(mutex) })
    }

    /// Tries to lock a mutex. A thread that fails yields: it may try again in a loop.
    fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int = |_, _| {
        // SAFETY: the caller passes a mutex.
        outcome(unsafe { locks::pthread_mutex_trylock(mutex) })
    }

    /// Locks a mutex before a deadline.
    fn mtx_timedlock(mutex: *mut pthread_mutex_t, time: *const timespec) -> c_int = |_, _| {
        // SAFETY: the caller passes a mutex and a time.
        outcome(unsafe { locks::pthread_mutex_timedlock(mutex, time) })
    }

    /// Unlocks a mutex.
    fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int = |_, _| {
        // SAFETY: the caller passes a mutex.
        outcome(unsafe { locks::pthread_mutex_unlock(mutex) })
    }

    /// Waits for a condition variable.
    fn cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int = |_, _| {
        // SAFETY: the caller's promise.
        outcome(unsafe { locks::pthread_cond_wait(condition, mutex) })
    }

    /// Waits for a condition variable until a deadline.
    fn cnd_timedwait(
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        time: *const timespec,
    ) -> c_int = |_, _| {
        // SAFETY: the caller's promise.
        outcome(unsafe { locks::pthread_cond_timedwait(condition, mutex, time) })
    }

    /// Wakes a thread that waits for a condition variable.
    fn cnd_signal(condition: *mut pthread_cond_t) -> c_int = |_, _| {
        // SAFETY: the caller passes a condition variable.
        outcome(unsafe { locks::pthread_cond_signal(condition) })
    }

    /// Wakes all threads that wait for a condition variable.
    fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int = |_, _| {
        // SAFETY: the caller passes a condition variable.
        outcome(unsafe { locks::pthread_cond_broadcast(condition) })
    }
}
