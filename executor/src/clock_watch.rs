//! Reactions of a worker to a clock that begins, goes back, or gets another source.

use crate::notifier::Notifier;
use crate::time::{Clock, Time};
use crate::timers::Timers;
use std::sync::Arc;

/// The state of the clock when the worker looked last.
#[derive(Default)]
pub(crate) struct ClockWatch {
    /// The latest time that was noted.
    noted: Time,
    /// The value of [`Clock::switches`] then.
    switches: u64,
    waits_for_begin: bool,
    /// Look again when the clock begins.
    waiting: Vec<Arc<Notifier>>,
}

impl ClockWatch {
    /// The worker starts at `anchor`, and with it `starts`.
    pub(crate) fn start(&mut self, anchor: Time, clock: &dyn Clock, starts: &[Arc<Notifier>]) {
        self.noted = anchor;
        self.switches = clock.switches();
        self.waits_for_begin = !clock.has_begun();
        self.waiting = starts.to_vec();
    }

    /// Notes `now`, a reading of `clock`. Returns the time, which is another one if the clock got
    /// another source since the worker looked last.
    pub(crate) fn note(&mut self, now: Time, clock: &dyn Clock, timers: &mut Timers) -> Time {
        let switches = clock.switches();
        if switches != self.switches {
            return self.switched(switches, clock, timers);
        }
        if self.waits_for_begin
            && let Some(begun_at) = clock.begun_at()
        {
            self.waits_for_begin = false;
            // The clock may have begun after `now` was read.
            timers.start_again(begun_at);
            self.look_again();
        } else if now < self.noted {
            timers.start_again(now);
        }
        self.noted = now;
        now
    }

    #[cold]
    fn switched(&mut self, switches: u64, clock: &dyn Clock, timers: &mut Timers) -> Time {
        self.switches = switches;
        self.waits_for_begin = !clock.has_begun();
        // Read after the count: a reading from before belongs to the source before.
        self.noted = clock.now();
        timers.start_again(self.noted);
        if !self.waits_for_begin {
            self.look_again();
        }
        self.noted
    }

    fn look_again(&self) {
        self.waiting.iter().for_each(|notifier| notifier.notify());
    }
}
