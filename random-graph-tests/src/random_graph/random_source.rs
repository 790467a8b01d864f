//! The source of random choices: a stream of numbers that is the same on every machine.

use ringspin_modes::random::{Purpose, Stream};
use std::time::Duration;

/// A generator of random choices.
pub(super) struct RandomSource {
    stream: Stream,
    drawn: u64,
}

impl RandomSource {
    /// Creates a generator; equal seeds give equal numbers.
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "random graph"), drawn: 0 }
    }

    /// A uniform number below `limit`; zero if `limit` is zero.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.drawn += 1;
        self.stream.below(self.drawn, Purpose::Tie, limit as u64) as usize
    }

    /// A number from `low` to `high`, inclusive.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// A duration from `low` to `high` microseconds.
    pub(super) fn micros(&mut self, low: usize, high: usize) -> Duration {
        Duration::from_micros(self.between(low, high) as u64)
    }

    /// Returns `true` with this probability in percent.
    pub(super) fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns `value` with this probability in percent.
    pub(super) fn maybe<T>(
        &mut self,
        percent: usize,
        value: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        self.happens(percent).then(|| value(self))
    }

    /// One of `choices`, which must not be empty.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
