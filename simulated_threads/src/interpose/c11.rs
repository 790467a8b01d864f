//! Threads by their C11 names: in glibc those of POSIX, which it calls past the definitions of this
//! crate. The other functions of C11 are in `names`.

use super::interpose;
use super::{clock, thread};
use libc::{c_int, c_void, pthread_t, timespec};
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
pub(super) fn outcome(error: c_int) -> c_int {
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
}
