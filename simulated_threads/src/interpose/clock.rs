//! Clocks and sleeping.
//!
//! All clocks show the time of the world, those of processor time as well, since real readings
//! differ from run to run. The time changes only when no thread is ready, so all readings of one
//! turn are the same, unless the settings give each a step. Reading too often at one instant takes
//! time, because a loop that polls the clock would never end otherwise. A sleep is a wait in the
//! world with a deadline.

use super::{SECOND, fail, interpose, nanos, to_timespec};
use crate::current::current;
use crate::wait::{NEVER, Nanos, Slot};
use crate::world::World;
use libc::{c_int, c_uint, c_void, clock_t, clockid_t, rusage, time_t, timespec, timeval, tms};
use std::ptr;

/// The monotonic clock is a day ahead of the time since 1970, so that a program may go back from
/// it by a duration in the first day.
const MONOTONIC_AHEAD: Nanos = 24 * 3600 * SECOND;

fn is_calendar(clock: clockid_t) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI)
}

/// How far the calendar is ahead of the world's time.
fn ahead(world: &World, now: Nanos) -> i64 {
    let jumps = world.settings.clock_jumps.iter();
    let past = jumps.filter(|(at, _)| at.as_nanos() <= u128::from(now));
    past.fold(0, |sum, (_, by)| sum.saturating_add(*by))
}

/// Reads the clock of the calendar, which may have jumped.
fn read_calendar(world: &World, me: Slot) -> Nanos {
    let now = world.read_clock(me);
    now.saturating_add_signed(ahead(world, now))
}

/// The world's time of a reading of `clock`.
pub(super) fn to_world(clock: clockid_t, reading: Nanos) -> Nanos {
    match is_calendar(clock) {
        true => {
            let ahead = current().map_or(0, |(world, _)| ahead(world, world.now()));
            reading.saturating_sub_signed(ahead)
        }
        false => reading.saturating_sub(MONOTONIC_AHEAD),
    }
}

/// The reading of the monotonic clock, and of those of processor time, at a time of the world.
fn monotonic_of(now: Nanos) -> Nanos {
    now.saturating_add(MONOTONIC_AHEAD)
}

/// The counter of the processor's cycles, which has one a nanosecond in a world. Reading it counts
/// as a yield, because it takes longer than reading a clock, and loops wait for it.
#[cfg(target_arch = "x86_64")]
pub(super) fn read_cycles(world: &World, me: Slot) -> u64 {
    world.pass(me);
    world.pause(me);
    monotonic_of(world.step())
}

pub(super) fn to_timeval(nanos: Nanos) -> timeval {
    let micros = (nanos % SECOND / 1000) as libc::suseconds_t;
    timeval { tv_sec: (nanos / SECOND) as time_t, tv_usec: micros }
}

/// The time of the world after a duration; `None` of a bad one.
pub(super) fn after(now: Nanos, duration: timespec) -> Option<Nanos> {
    Some(now.saturating_add(nanos(duration)?).min(NEVER - 1))
}

/// A deadline after a duration, or none; `None` of a bad one.
///
/// # Safety
/// `timeout` points to a duration, or is null.
pub(super) unsafe fn deadline_after(world: &World, timeout: *const timespec) -> Option<Nanos> {
    // SAFETY: the caller's promise.
    match unsafe { timeout.as_ref() } {
        None => Some(NEVER),
        Some(&duration) => after(world.now(), duration),
    }
}

/// The world's time of a deadline of `clock`; `None` of a bad one.
///
/// # Safety
/// `time` points to a time.
pub(super) unsafe fn until(clock: clockid_t, time: *const timespec) -> Option<Nanos> {
    // SAFETY: the caller's promise.
    nanos(unsafe { *time }).map(|reading| to_world(clock, reading))
}

/// Sleeps; false if a signal has ended that.
///
/// # Safety
/// `left` is a place for the time that is left, or null.
unsafe fn sleep_until((world, me): (&World, Slot), until: Nanos, left: *mut timespec) -> bool {
    let rest = world.sleep(me, until);
    if rest > 0 && !left.is_null() {
        // SAFETY: the caller's promise.
        unsafe { left.write(to_timespec(rest)) };
    }
    rest == 0
}

interpose! {
    /// Reads a clock: all of them, those of processor time as well, show the world's time.
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int = |world, me| {
        let now = match is_calendar(clock) {
            true => read_calendar(world, me),
            false => monotonic_of(world.read_clock(me)),
        };
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(to_timespec(now)) };
        0
    }

    /// Reads the clock of the calendar.
    fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int = |world, me| {
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(to_timeval(read_calendar(world, me))) };
        0
    }

    /// Reads the clock of the calendar.
    fn time(time: *mut time_t) -> time_t = |world, me| {
        let now = (read_calendar(world, me) / SECOND) as time_t;
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
        unsafe { time.write(to_timespec(read_calendar(world, me))) };
        base
    }

    /// Reads the clock of processor time, in microseconds: it shows the world's time.
    fn clock() -> clock_t = |world, me| {
        (monotonic_of(world.read_clock(me)) / 1000) as clock_t
    }

    /// Reads the clock of processor time, in ticks: it shows the world's time.
    fn times(used: *mut tms) -> clock_t = |world, me| {
        let now = monotonic_of(world.read_clock(me));
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

    /// Reads the clock of processor time: it shows the world's time. The other fields of the usage,
    /// which no other run repeats, are zero.
    fn getrusage(of: c_int, usage: *mut rusage) -> c_int = |world, me| {
        let now = monotonic_of(world.read_clock(me));
        // SAFETY: the caller passes a place; the struct is plain data.
        unsafe {
            usage.write_bytes(0, 1);
            (*usage).ru_utime = to_timeval(now);
        }
        0
    }

    /// Sleeps.
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int = |world, me| {
        // SAFETY: the caller passes a time.
        let Some(until) = after(world.now(), unsafe { *time }) else { return fail(libc::EINVAL) };
        // SAFETY: the caller passes a place or null.
        match unsafe { sleep_until((world, me), until, left) } {
            true => 0,
            false => fail(libc::EINTR),
        }
    }

    /// Sleeps.
    fn clock_nanosleep(
        clock: clockid_t,
        flags: c_int,
        time: *const timespec,
        left: *mut timespec,
    ) -> c_int = |world, me| {
        // SAFETY: the caller passes a time.
        let time = unsafe { *time };
        let until = match flags & libc::TIMER_ABSTIME {
            0 => after(world.now(), time),
            _ => nanos(time).map(|reading| to_world(clock, reading)),
        };
        let Some(until) = until else { return libc::EINVAL };
        let left = if flags & libc::TIMER_ABSTIME == 0 { left } else { ptr::null_mut() };
        // SAFETY: the caller passes a place or null.
        match unsafe { sleep_until((world, me), until, left) } {
            true => 0,
            false => libc::EINTR,
        }
    }

    /// Sleeps.
    fn usleep(micros: c_uint) -> c_int = |world, me| {
        match world.sleep(me, world.now().saturating_add(Nanos::from(micros) * 1000)) {
            0 => 0,
            _ => fail(libc::EINTR),
        }
    }

    /// Sleeps.
    fn sleep(seconds: c_uint) -> c_uint = |world, me| {
        let left = world.sleep(me, world.now().saturating_add(Nanos::from(seconds) * SECOND));
        left.div_ceil(SECOND) as c_uint
    }

    /// Lets other threads run.
    fn sched_yield() -> c_int = |world, me| {
        world.yield_now(me);
        0
    }
}
