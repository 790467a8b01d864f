//! What a callback does besides passing messages on: a crunch, or so much time of the processor.
//!
//! Crunches are the work of the reference system, given as a number. The costs of LaME are given in
//! milliseconds. They are spent by small crunches until the *thread's own* clock of processor time
//! has moved on by as much. Not a number of crunches that was calibrated once, which a core that
//! changes its frequency makes wrong; and not the clock on the wall, by which a callback that was
//! pre-empted would do less than its work, and a busy machine look better than it is.

use crate::crunch::number_cruncher;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The limit of a crunch between two looks at the clock: under a microsecond of work.
const STEP_CRUNCH: u64 = 24;

/// What one callback costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Nothing.
    #[default]
    Nothing,
    /// One crunch up to this limit.
    Crunch(u64),
    /// So much time of its thread's processor.
    Busy(Duration),
}

impl Cost {
    /// Does the work; returns how many primes were counted, as a message carries it.
    ///
    /// Where the system has no clock of a thread's processor time, nothing is spent.
    pub fn spend(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::Crunch(n) => number_cruncher(n) as i64,
            Self::Busy(duration) => busy(duration),
        }
    }
}

/// Computes for `duration` of this thread's processor time. It goes on for half a step too long in
/// the mean, less than a microsecond.
fn busy(duration: Duration) -> i64 {
    let Some(start) = thread_time() else { return 0 };
    let mut primes = 0;
    while thread_time().is_some_and(|now| now.saturating_sub(start) < duration) {
        primes += number_cruncher(STEP_CRUNCH) as i64;
    }
    primes
}

/// How long this thread has had a processor.
fn thread_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_uses_its_processor_for_that_long() {
        let start = thread_time().unwrap();
        let primes = Cost::Busy(Duration::from_millis(3)).spend();
        let used = thread_time().unwrap() - start;
        assert!(used >= Duration::from_millis(3) && primes > 0, "{used:?}, {primes}");
    }

    #[test]
    fn nothing_costs_nothing_and_a_crunch_counts() {
        assert_eq!(Cost::Nothing.spend(), 0);
        assert_eq!(Cost::Busy(Duration::ZERO).spend(), 0);
        assert_eq!(Cost::Crunch(10).spend(), 4);
    }
}
