//! What a worker does when a clock that it follows begins, or goes back.

use crate::notifier::Notifier;
use crate::time::{Clock, Time};
use crate::timers::Timers;
use std::sync::Arc;

/// What is known of the time, and who waits for it to begin.
#[derive(Default)]
pub(crate) struct ClockWatch {
    /// The latest time that was noted.
    noted: Time,
    waits_for_begin: bool,
    /// Those that look again when it begins.
    waiting: Vec<Arc<Notifier>>,
}

impl ClockWatch {
    /// The worker starts at `anchor`, and with it `starts`.
    pub(crate) fn start(&mut self, anchor: Time, clock: &dyn Clock, starts: &[Arc<Notifier>]) {
        self.noted = anchor;
        self.waits_for_begin = !clock.has_begun();
        if self.waits_for_begin {
            self.waiting.extend_from_slice(starts);
        }
    }

    /// It is `now`.
    pub(crate) fn note(&mut self, now: Time, clock: &dyn Clock, timers: &mut Timers) {
        if self.waits_for_begin
            && let Some(begun_at) = clock.begun_at()
        {
            self.waits_for_begin = false;
            // It may have begun after `now` was read.
            timers.start_again(begun_at);
            self.waiting.drain(..).for_each(|notifier| notifier.notify());
        } else if now < self.noted {
            timers.start_again(now);
        }
        self.noted = now;
    }
}
