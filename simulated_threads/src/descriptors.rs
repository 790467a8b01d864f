//! Descriptors that threads wait for, and timers that are descriptors.

use crate::os;
use crate::wait::{NEVER, Nanos};
use libc::{c_int, pollfd};
use std::collections::{BTreeMap, BTreeSet};

/// The descriptors of a world that threads wait for, and its timers.
#[derive(Default)]
pub(crate) struct Descriptors {
    /// By number of the thread that waits.
    awaited: BTreeMap<u64, Vec<pollfd>>,
    timers: BTreeMap<c_int, Timer>,
    /// Eventfds, timers included: only the world's own threads write to them.
    counters: BTreeSet<c_int>,
}

/// A timerfd, which is an eventfd here: both tell their reader a count.
#[derive(Clone, Copy)]
pub(crate) struct Timer {
    /// Its next expiry.
    pub(crate) deadline: Nanos,
    /// Zero if it expires once.
    pub(crate) interval: Nanos,
    /// Whether its clock is the one of the calendar.
    pub(crate) is_real: bool,
}

impl Timer {
    /// A timer that is not set.
    pub(crate) fn new(is_real: bool) -> Self {
        Self { deadline: NEVER, interval: 0, is_real }
    }
}

impl Descriptors {
    /// The thread with this number waits for any of these.
    pub(crate) fn wait(&mut self, thread: u64, descriptors: Vec<pollfd>) {
        self.awaited.insert(thread, descriptors);
    }

    /// The thread with this number waits no longer.
    pub(crate) fn end_wait(&mut self, thread: u64) {
        self.awaited.remove(&thread);
    }

    /// Whether a descriptor is ready for which the thread waits.
    pub(crate) fn is_ready(&mut self, thread: u64) -> bool {
        self.awaited.get_mut(&thread).is_some_and(|descriptors| os::poll(descriptors) != 0)
    }

    /// An eventfd was created.
    pub(crate) fn add_counter(&mut self, descriptor: c_int) {
        self.counters.insert(descriptor);
    }

    /// Whether a descriptor is an eventfd.
    pub(crate) fn is_counter(&self, descriptor: c_int) -> bool {
        self.counters.contains(&descriptor)
    }

    /// A timerfd was created.
    pub(crate) fn add_timer(&mut self, descriptor: c_int, is_real: bool) {
        self.timers.insert(descriptor, Timer::new(is_real));
        self.add_counter(descriptor);
    }

    /// The timer behind a descriptor, if it is one.
    pub(crate) fn timer(&mut self, descriptor: c_int) -> Option<&mut Timer> {
        self.timers.get_mut(&descriptor)
    }

    /// A descriptor was closed.
    pub(crate) fn close(&mut self, descriptor: c_int) {
        self.timers.remove(&descriptor);
        self.counters.remove(&descriptor);
    }

    /// When the next timer expires.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.timers.values().map(|timer| timer.deadline).filter(|time| *time != NEVER).min()
    }

    /// Lets the timers expire whose time has come.
    pub(crate) fn expire(&mut self, now: Nanos) {
        for (descriptor, timer) in &mut self.timers {
            if timer.deadline > now {
                continue;
            }
            let missed = (now - timer.deadline).checked_div(timer.interval).unwrap_or(0);
            os::signal_eventfd(*descriptor, 1 + missed);
            timer.deadline = match timer.interval {
                0 => NEVER,
                interval => timer.deadline + (1 + missed) * interval,
            };
        }
    }
}
