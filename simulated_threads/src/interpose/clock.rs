//! Clocks and sleeping.

use super::{SECOND, fail, interpose, nanos, to_timespec};
use crate::output;
use crate::wait::{NEVER, Nanos};
use libc::{
    c_int, c_uint, c_void, clock_t, clockid_t, itimerval, sigevent, time_t, timer_t, timespec,
    timeval,
};

/// The monotonic clock is a day ahead of the time since 1970, so that a program may go back from
/// it by a duration in the first day.
const MONOTONIC_AHEAD: Nanos = 24 * 3600 * SECOND;

fn is_calendar(clock: clockid_t) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI)
}

/// The world's time of a reading of `clock`.
pub(super) fn to_world(clock: clockid_t, reading: Nanos) -> Nanos {
    match is_calendar(clock) {
        true => reading,
        false => reading.saturating_sub(MONOTONIC_AHEAD),
    }
}

/// The reading of the monotonic clock at a time of the world.
fn monotonic_of(now: Nanos) -> Nanos {
    now.saturating_add(MONOTONIC_AHEAD)
}

/// The reading of `clock` at a time of the world.
pub(super) fn from_world(clock: clockid_t, now: Nanos) -> Nanos {
    match is_calendar(clock) {
        true => now,
        false => monotonic_of(now),
    }
}

/// The time of the world after a duration; `None` of a bad one.
pub(super) fn after(now: Nanos, duration: timespec) -> Option<Nanos> {
    Some(now.saturating_add(nanos(duration)?).min(NEVER - 1))
}

/// The world's time of a deadline of `clock`; `None` of a bad one.
///
/// # Safety
/// `time` points to a time.
pub(super) unsafe fn until(clock: clockid_t, time: *const timespec) -> Option<Nanos> {
    // SAFETY: the caller's promise.
    nanos(unsafe { *time }).map(|reading| to_world(clock, reading))
}

fn refuse_signals(function: &str) {
    output::refuse(
        &format!("`{function}`"),
        "its signals come in real time",
        "wait with `timerfd_create`, or sleep on a thread",
    );
}

interpose! {
    /// Reads a clock: all of them, those of processor time as well, show the world's time.
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int = |world, me| {
        let now = from_world(clock, world.read_clock(me));
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(to_timespec(now)) };
        0
    }

    /// Reads the clock of the calendar.
    fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int = |world, me| {
        let _ = zone;
        let now = world.read_clock(me);
        let micros = (now % SECOND / 1000) as libc::suseconds_t;
        let read = timeval { tv_sec: (now / SECOND) as time_t, tv_usec: micros };
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(read) };
        0
    }

    /// Reads the clock of the calendar.
    fn time(time: *mut time_t) -> time_t = |world, me| {
        let now = (world.read_clock(me) / SECOND) as time_t;
        if !time.is_null() {
            // SAFETY: a place for the time, unless it is null.
            unsafe { time.write(now) };
        }
        now
    }

    /// Reads the clock of the calendar, as C11 has it.
    fn timespec_get(time: *mut timespec, base: c_int) -> c_int = |world, me| {
        const TIME_UTC: c_int = 1;
        if base != TIME_UTC {
            return 0; // there is no such clock
        }
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(to_timespec(world.read_clock(me))) };
        base
    }

    /// Reads the clock of processor time, in microseconds: it shows the world's time.
    fn clock() -> clock_t = |world, me| {
        (from_world(libc::CLOCK_PROCESS_CPUTIME_ID, world.read_clock(me)) / 1000) as clock_t
    }

    /// Refuses an interval after which a signal comes in real time.
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int = |_, _| {
        let _ = (which, new, old);
        refuse_signals("setitimer");
        fail(libc::ENOSYS)
    }

    /// Refuses a timer whose signals come in real time.
    fn timer_create(
        clock: clockid_t,
        event: *mut sigevent,
        timer: *mut timer_t,
    ) -> c_int = |_, _| {
        let _ = (clock, event, timer);
        refuse_signals("timer_create");
        fail(libc::ENOSYS)
    }

    /// Refuses a signal after a real time: none comes.
    fn alarm(seconds: c_uint) -> c_uint = |_, _| {
        if seconds > 0 {
            refuse_signals("alarm");
        }
        0
    }

    /// Sleeps.
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int = |world, me| {
        let _ = left; // nothing interrupts the sleep
        // SAFETY: the caller passes a time.
        let Some(until) = after(world.now(), unsafe { *time }) else { return fail(libc::EINVAL) };
        world.sleep(me, until);
        0
    }

    /// Sleeps.
    fn clock_nanosleep(
        clock: clockid_t,
        flags: c_int,
        time: *const timespec,
        left: *mut timespec,
    ) -> c_int = |world, me| {
        let _ = left;
        // SAFETY: the caller passes a time.
        let time = unsafe { *time };
        let until = match flags & libc::TIMER_ABSTIME {
            0 => after(world.now(), time),
            _ => nanos(time).map(|reading| to_world(clock, reading)),
        };
        let Some(until) = until else { return libc::EINVAL };
        world.sleep(me, until);
        0
    }

    /// Sleeps.
    fn usleep(micros: c_uint) -> c_int = |world, me| {
        world.sleep(me, world.now().saturating_add(Nanos::from(micros) * 1000));
        0
    }

    /// Sleeps.
    fn sleep(seconds: c_uint) -> c_uint = |world, me| {
        world.sleep(me, world.now().saturating_add(Nanos::from(seconds) * SECOND));
        0
    }

    /// Lets other threads run.
    fn sched_yield() -> c_int = |world, me| {
        world.yield_now(me);
        0
    }
}
