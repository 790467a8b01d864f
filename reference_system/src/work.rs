//! The work of a callback: a crunch, or an amount of processor time.
//!
//! Crunches are the work of the reference system, given as a number. The costs of LaME are given in
//! milliseconds. They are spent by small crunches until the *thread's own* clock of processor time
//! has advanced by that amount. A calibrated number of crunches would be wrong on a core that
//! changes its frequency. With the wall clock, a pre-empted callback would do less than its work,
//! and a busy machine would look better than it is.

use crate::crunch::number_cruncher;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The limit of a crunch between two readings of the clock: under a microsecond of work.
const STEP_CRUNCH: u64 = 24;

/// The cost of one callback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    /// Nothing.
    #[default]
    Nothing,
    /// One crunch up to this limit.
    Crunch(u64),
    /// This amount of its thread's processor time.
    Busy(Duration),
}

impl Cost {
    /// Does the work; returns the number of primes found, for the message.
    ///
    /// Does nothing on systems without a clock of a thread's processor time.
    pub fn spend(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::Crunch(n) => number_cruncher(n) as i64,
            Self::Busy(duration) => busy(duration),
        }
    }
}

/// Computes for `duration` of this thread's processor time. Overruns by half a step on average,
/// less than a microsecond.
fn busy(duration: Duration) -> i64 {
    let Some(start) = thread_time() else { return 0 };
    let mut primes = 0;
    while thread_time().is_some_and(|now| now.saturating_sub(start) < duration) {
        primes += number_cruncher(STEP_CRUNCH) as i64;
    }
    primes
}

/// The processor time of this thread.
fn thread_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_work_uses_the_given_processor_time() {
        let start = thread_time().unwrap();
        let primes = Cost::Busy(Duration::from_millis(3)).spend();
        let used = thread_time().unwrap() - start;
        assert!(used >= Duration::from_millis(3) && primes > 0, "{used:?}, {primes}");
    }

    #[test]
    fn a_crunch_returns_its_count_and_no_work_returns_zero() {
        assert_eq!(Cost::Nothing.spend(), 0);
        assert_eq!(Cost::Busy(Duration::ZERO).spend(), 0);
        assert_eq!(Cost::Crunch(10).spend(), 4);
    }
}
