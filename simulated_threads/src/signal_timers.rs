//! Timers that send signals to the process: `alarm`, `setitimer` and those of POSIX.
//!
//! Their deadlines are times of the world, like those of sleeping threads, so a signal comes at the
//! same instant in every run: when all threads wait and time reaches the deadline. A program that
//! computes for ever gets none.

use crate::wait::{NEVER, Nanos};
use libc::{c_int, clockid_t};
use std::collections::BTreeMap;

/// A signal, and its cause as handlers see it (`si_code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal {
    pub(crate) number: c_int,
    pub(crate) code: c_int,
}

impl Signal {
    /// One of a thread of this process, or of another process.
    pub(crate) fn sent(number: c_int) -> Self {
        Self { number, code: libc::SI_TKILL }
    }
}

/// A timer, which is stopped while its deadline is [`NEVER`].
#[derive(Clone, Copy)]
pub(crate) struct SignalTimer {
    pub(crate) signal: Option<Signal>,
    pub(crate) clock: clockid_t,
    pub(crate) deadline: Nanos,
    /// Zero if it expires once.
    pub(crate) period: Nanos,
}

impl SignalTimer {
    pub(crate) fn new(signal: Option<Signal>, clock: clockid_t) -> Self {
        Self { signal, clock, deadline: NEVER, period: 0 }
    }

    /// The time until it expires; zero if it is stopped.
    pub(crate) fn left(&self, now: Nanos) -> Nanos {
        match self.deadline {
            NEVER => 0,
            deadline => deadline.saturating_sub(now).max(1),
        }
    }
}

/// The timers of a process. The numbers of the three interval timers are those of `setitimer`, and
/// the others follow.
pub(crate) struct SignalTimers {
    timers: BTreeMap<usize, SignalTimer>,
    created: usize,
}

impl Default for SignalTimers {
    fn default() -> Self {
        let signals = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
        let signals = signals.map(|number| Signal { number, code: libc::SI_KERNEL });
        let timers = signals.map(|signal| SignalTimer::new(Some(signal), libc::CLOCK_MONOTONIC));
        Self { created: timers.len(), timers: timers.into_iter().enumerate().collect() }
    }
}

impl SignalTimers {
    /// Adds a timer, and returns its number.
    pub(crate) fn add(&mut self, timer: SignalTimer) -> usize {
        let number = self.created;
        self.created += 1;
        self.timers.insert(number, timer);
        number
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut SignalTimer> {
        self.timers.get_mut(&number)
    }

    pub(crate) fn remove(&mut self, number: usize) -> Option<SignalTimer> {
        self.timers.remove(&number)
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let deadlines = self.timers.values().map(|timer| timer.deadline);
        deadlines.min().filter(|deadline| *deadline != NEVER)
    }

    /// The signals of the timers that are due at `now`, by deadline and number.
    pub(crate) fn expire(&mut self, now: Nanos) -> Vec<Signal> {
        let mut due: Vec<_> = self.timers.iter_mut().filter(|(_, of)| of.deadline <= now).collect();
        due.sort_by_key(|(number, timer)| (timer.deadline, **number));
        let expire = |(_, timer): (&usize, &mut SignalTimer)| {
            timer.deadline = match timer.period {
                0 => NEVER,
                period => now.saturating_add(period - (now - timer.deadline) % period),
            };
            timer.signal
        };
        due.into_iter().filter_map(expire).collect()
    }
}
