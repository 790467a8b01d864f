//! Where a random graph's choices come from: one stream of numbers, the same on every machine.

use ringspin_modes::models::random::{Purpose, Stream};
use std::time::Duration;

/// Draws one number after another.
pub(super) struct Dice {
    stream: Stream,
    drawn: u64,
}

impl Dice {
    /// Equal seeds draw equal numbers.
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "random graph"), drawn: 0 }
    }

    /// Every number below `limit` is as probable; zero if there is none.
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

    /// Whether something happens that has so many percent.
    pub(super) fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// `value` with so many percent.
    pub(super) fn maybe<T>(
        &mut self,
        percent: usize,
        value: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        self.happens(percent).then(|| value(self))
    }

    /// One of `choices`, of which there is at least one.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
