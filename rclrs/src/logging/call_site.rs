//! The state of one log call in the source.

use super::{LogOccurrence, LogParams, ThrottleClock};
use ringspin_adapter::lock;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// A log call in the source, which decides whether its message is logged this time.
#[doc(hidden)]
#[derive(Debug)]
pub struct LogCallSite(Mutex<State>);

/// The occurrences so far. Each kind of clock has the time of the last message that was not
/// throttled, or of the first one that was.
#[derive(Debug)]
struct State {
    has_occurred: bool,
    steady: Option<Instant>,
    system: Option<SystemTime>,
    /// In nanoseconds.
    clock: Option<i64>,
}

impl LogCallSite {
    /// A call that has not occurred.
    #[expect(clippy::new_without_default, reason = "macros make it, in a static")]
    pub const fn new() -> Self {
        let has_occurred = false;
        Self(Mutex::new(State { has_occurred, steady: None, system: None, clock: None }))
    }

    /// Whether the message of this occurrence is logged. An occurrence that the caller's filter
    /// keeps out does not count.
    pub fn passes(&self, params: &LogParams<'_>) -> bool {
        if !params.get_user_filter() {
            return false;
        }
        let mut state = lock(&self.0);
        let is_first = !std::mem::replace(&mut state.has_occurred, true);
        match params.get_occurence() {
            // Not throttled: there is no other message.
            LogOccurrence::Once => is_first,
            LogOccurrence::SkipFirst if is_first => false,
            LogOccurrence::SkipFirst | LogOccurrence::All => {
                state.is_over(params.get_throttle_clock(), params.get_throttle(), is_first)
            }
        }
    }
}

impl State {
    /// Whether the last message was at least `throttle` ago; if so, this one is now the last. The
    /// first occurrence passes. If it was skipped, it left no time, and the interval starts with
    /// the second one, which does not pass.
    fn is_over(&mut self, clock: ThrottleClock<'_>, throttle: Duration, is_first: bool) -> bool {
        if throttle.is_zero() {
            return true;
        }
        match clock {
            ThrottleClock::SteadyTime => {
                let is_over = |now: Instant, last| now.saturating_duration_since(last) >= throttle;
                update(&mut self.steady, Instant::now(), is_first, is_over)
            }
            ThrottleClock::SystemTime => {
                let is_over = |now: SystemTime, last| {
                    now.duration_since(last).is_ok_and(|passed| passed >= throttle)
                };
                update(&mut self.system, SystemTime::now(), is_first, is_over)
            }
            ThrottleClock::Clock(clock) => {
                let is_over = |now: i64, last| {
                    let passed = u128::try_from(i128::from(now) - i128::from(last));
                    passed.is_ok_and(|passed| passed >= throttle.as_nanos())
                };
                update(&mut self.clock, clock.now().nsec, is_first, is_over)
            }
        }
    }
}

/// Replaces the time of the `last` message, if the one at `now` `is_over` the interval.
fn update<T: Copy>(
    last: &mut Option<T>,
    now: T,
    is_first: bool,
    is_over: impl FnOnce(T, T) -> bool,
) -> bool {
    let passes = is_first || is_over(now, *last.get_or_insert(now));
    if passes {
        *last = Some(now);
    }
    passes
}
