//! Clocks and sleeping.

use super::{SECOND, fail, interpose, nanos, to_timespec};
use crate::output;
use crate::wait::{NEVER, Nanos};
use libc::{
    c_int, c_uint, c_void, clock_t, clockid_t, itimerval, rusage, sigevent, time_t, timer_t,
    timespec, timeval, tms,
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

/// The reading of the clock of processor time at a time of the world.
fn processor_time(now: Nanos) -> Nanos {
    from_world(libc::CLOCK_PROCESS_CPUTIME_ID, now)
}

fn to_timeval(nanos: Nanos) -> timeval {
    let micros = (nanos % SECOND / 1000) as libc::suseconds_t;
    timeval { tv_sec: (nanos / SECOND) as time_t, tv_usec: micros }
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
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(to_timeval(world.read_clock(me))) };
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
        (processor_time(world.read_clock(me)) / 1000) as clock_t
    }

    /// Reads the clock of processor time, in ticks: it shows the world's time.
    fn times(used: *mut tms) -> clock_t = |world, me| {
        let now = processor_time(world.read_clock(me));
        // SAFETY: takes a number.
        let ticks = now / (SECOND / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as Nanos);
        if !used.is_null() {
            let read = tms {
                tms_utime: ticks as clock_t,
                tms_stime: 0,
                tms_cutime: 0,
                tms_cstime: 0,
            };
            // SAFETY: a place for the times, unless it is null.
            unsafe { used.write(read) };
        }
        ticks as clock_t
    }

    /// Reads the clock of processor time: it shows the world's time. The rest of what the process
    /// has used, which no other run repeats, is zero.
    fn getrusage(of: c_int, usage: *mut rusage) -> c_int = |world, me| {
        let _ = of;
        let now = processor_time(world.read_clock(me));
        // SAFETY: the caller passes a place; what it is for is plain data.
        unsafe {
            usage.write_bytes(0, 1);
            (*usage).ru_utime = to_timeval(now);
        }
        0
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
