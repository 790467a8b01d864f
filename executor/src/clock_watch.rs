//! Reactions of a worker to a clock that begins, goes back, or gets another source.

use crate::notifier::Notifier;
use crate::time::{Clock, Time};
use crate::timers::Timers;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The notifiers that look again when the clock begins, by token.
type Waiting = BTreeMap<u32, Arc<Notifier>>;

/// The state of the clock when the worker looked last.
#[derive(Default)]
pub(crate) struct ClockWatch {
    /// The latest time that was noted.
    noted: Time,
    /// The value of [`Clock::switches`] then.
    switches: u64,
    waits_for_begin: bool,
}

impl ClockWatch {
    /// The worker starts at `anchor`.
    pub(crate) fn start(&mut self, anchor: Time, clock: &dyn Clock) {
        self.noted = anchor;
        self.switches = clock.switches();
        self.waits_for_begin = !clock.has_begun();
    }

    /// Notes `now`, a reading of `clock`. Returns the time, which is another one if the clock got
    /// another source since the worker looked last. When the clock begins, `waiting` look again.
    pub(crate) fn note(
        &mut self,
        now: Time,
        clock: &dyn Clock,
        timers: &mut Timers,
        waiting: &Waiting,
    ) -> Time {
        let switches = clock.switches();
        if switches != self.switches {
            return self.switched(switches, clock, timers, waiting);
        }
        if self.waits_for_begin
            && let Some(begun_at) = clock.begun_at()
        {
            self.waits_for_begin = false;
            // The clock may have begun after `now` was read.
            timers.start_again(begun_at);
            look_again(waiting);
        } else if now < self.noted {
            timers.start_again(now);
        }
        self.noted = now;
        now
    }

    #[cold]
    fn switched(
        &mut self,
        switches: u64,
        clock: &dyn Clock,
        timers: &mut Timers,
        waiting: &Waiting,
    ) -> Time {
        self.switches = switches;
        self.waits_for_begin = !clock.has_begun();
        // Read after the count: a reading from before belongs to the source before.
        self.noted = clock.now();
        timers.start_again(self.noted);
        if !self.waits_for_begin {
            look_again(waiting);
        }
        self.noted
    }
}

fn look_again(waiting: &Waiting) {
    waiting.values().for_each(|notifier| notifier.notify());
}
