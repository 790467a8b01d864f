//! Timers that send signals, and waits for any signal.

use super::clock::{after, to_timeval, to_world};
use super::{SECOND, fail, interpose, nanos, signals, to_timespec};
use crate::signal_timers::{Signal, SignalTimer};
use crate::wait::{NEVER, Nanos};
use crate::world::World;
use crate::{os, output};
use libc::{c_int, c_uint, clockid_t, itimerspec, itimerval, sigevent, timer_t, timespec, timeval};
use std::ptr;

fn of_timeval(time: timeval) -> timespec {
    let micros = time.tv_usec;
    // Too many microseconds are too many nanoseconds.
    timespec { tv_sec: time.tv_sec, tv_nsec: micros.checked_mul(1000).unwrap_or(-1) }
}

/// The number of a timer as the program has it.
fn number_of(timer: timer_t) -> usize {
    timer.addr()
}

/// Sets a timer. Returns it as it was; a failure is the number of the error.
fn set(
    world: &World,
    number: usize,
    is_absolute: bool,
    [first, period]: [timespec; 2],
) -> Result<SignalTimer, c_int> {
    let (now, value) = (world.now(), nanos(first).ok_or(libc::EINVAL)?);
    let period = nanos(period).ok_or(libc::EINVAL)?;
    let mut state = world.state();
    let timer = state.signal_timers.get_mut(number).ok_or(libc::EINVAL)?;
    let before = *timer;
    timer.deadline = match value {
        0 => NEVER,
        reading if is_absolute => to_world(timer.clock, reading),
        _ => after(now, first).ok_or(libc::EINVAL)?,
    };
    timer.period = if value == 0 { 0 } else { period };
    Ok(before)
}

/// The time until a timer expires, and its period.
fn state_of(world: &World, number: usize) -> Option<[Nanos; 2]> {
    let timer = *world.state().signal_timers.get_mut(number)?;
    Some([timer.left(world.now()), timer.period])
}

/// Writes the time until a timer expires, and its period.
///
/// # Safety
/// `place` is one for the two, or null.
unsafe fn show(place: *mut itimerspec, [left, period]: [Nanos; 2]) {
    let shown = itimerspec { it_interval: to_timespec(period), it_value: to_timespec(left) };
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(shown) };
    }
}

/// Writes like [`show`], in microseconds; rounded up, because none left is a timer that is stopped.
///
/// # Safety
/// `place` is one for the two, or null.
unsafe fn show_interval(place: *mut itimerval, [left, period]: [Nanos; 2]) {
    let [left, period] = [left, period].map(|time| to_timeval(time.saturating_add(999)));
    let shown = itimerval { it_interval: period, it_value: left };
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(shown) };
    }
}

interpose! {
    /// Has SIGALRM sent once.
    fn alarm(seconds: c_uint) -> c_uint = |world, _| {
        let first = timespec { tv_sec: seconds.into(), tv_nsec: 0 };
        let before = set(world, libc::ITIMER_REAL as usize, false, [first, to_timespec(0)]);
        let left = before.map_or(0, |timer| timer.left(world.now()));
        // Linux rounds to the nearest second, but never down to none.
        if left == 0 { 0 } else { ((left + SECOND / 2) / SECOND).max(1) as c_uint }
    }

    /// Has a signal sent once or periodically. Processor time is the time of the world.
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int = |world, _| {
        let zero = timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the caller passes times or null.
        let new = unsafe { new.as_ref() };
        let new = new.map_or([zero, zero], |new| [new.it_value, new.it_interval]).map(of_timeval);
        if !(libc::ITIMER_REAL..=libc::ITIMER_PROF).contains(&which) {
            return fail(libc::EINVAL);
        }
        match set(world, which as usize, false, new) {
            Err(error) => fail(error),
            Ok(before) => {
                // SAFETY: the caller passes a place or null.
                unsafe { show_interval(old, [before.left(world.now()), before.period]) };
                0
            }
        }
    }

    /// Shows the state of an interval timer.
    fn getitimer(which: c_int, now: *mut itimerval) -> c_int = |world, _| {
        let known = (libc::ITIMER_REAL..=libc::ITIMER_PROF).contains(&which);
        let Some(state) = state_of(world, which as usize).filter(|_| known) else {
            return fail(libc::EINVAL);
        };
        // SAFETY: the caller passes a place.
        unsafe { show_interval(now, state) };
        0
    }

    /// Creates a timer that sends a signal to the process, or none.
    fn timer_create(
        clock: clockid_t,
        event: *mut sigevent,
        timer: *mut timer_t,
    ) -> c_int = |world, _| {
        // SAFETY: the caller passes an event or null.
        let event = unsafe { event.as_ref() };
        let signal = match event.map(|event| (event.sigev_notify, event.sigev_signo)) {
            None => Some(libc::SIGALRM),
            Some((libc::SIGEV_SIGNAL, signal)) if (1..=64).contains(&signal) => Some(signal),
            Some((libc::SIGEV_SIGNAL, _)) => return fail(libc::EINVAL),
            Some((libc::SIGEV_NONE, _)) => None,
            Some(_) => {
                output::refuse(
                    "a timer of `timer_create` that calls a function or signals one thread",
                    "it would do so in real time",
                    "let it signal the process, wait with `timerfd_create`, or sleep on a thread",
                );
                return fail(libc::ENOSYS);
            }
        };
        let signal = signal.map(|number| Signal { number, code: libc::SI_TIMER });
        let number = world.state().signal_timers.add(SignalTimer::new(signal, clock));
        // SAFETY: the caller passes a place.
        unsafe { timer.write(ptr::without_provenance_mut(number)) };
        0
    }

    /// Starts or stops a timer.
    fn timer_settime(
        timer: timer_t,
        flags: c_int,
        new: *const itimerspec,
        old: *mut itimerspec,
    ) -> c_int = |world, _| {
        // SAFETY: the caller passes times.
        let new = unsafe { *new };
        let is_absolute = flags & libc::TIMER_ABSTIME != 0;
        match set(world, number_of(timer), is_absolute, [new.it_value, new.it_interval]) {
            Err(error) => fail(error),
            Ok(before) => {
                // SAFETY: the caller passes a place or null.
                unsafe { show(old, [before.left(world.now()), before.period]) };
                0
            }
        }
    }

    /// Shows the state of a timer.
    fn timer_gettime(timer: timer_t, now: *mut itimerspec) -> c_int = |world, _| {
        let Some(state) = state_of(world, number_of(timer)) else { return fail(libc::EINVAL) };
        // SAFETY: the caller passes a place.
        unsafe { show(now, state) };
        0
    }

    /// The number of expirations without a signal: none is left out.
    fn timer_getoverrun(timer: timer_t) -> c_int = |world, _| {
        match state_of(world, number_of(timer)) {
            Some(_) => 0,
            None => fail(libc::EINVAL),
        }
    }

    /// Deletes a timer.
    fn timer_delete(timer: timer_t) -> c_int = |world, _| {
        match world.state().signal_timers.remove(number_of(timer)) {
            Some(_) => 0,
            None => fail(libc::EINVAL),
        }
    }

    /// Waits for a signal that has a handler.
    fn pause() -> c_int = |_, _| {
        let mask = os::mask();
        // SAFETY: a set.
        unsafe { signals::sigsuspend(&raw const mask) }
    }
}
