//! What a worker does while it has nothing to do.

use std::time::{Duration, Instant};

/// How a worker waits for its next event.
///
/// | strategy | wake-up latency | cost while idle |
/// |---|---|---|
/// | `Spin` | one cache-line transfer | a whole core |
/// | `Yield` | a scheduler pass; long if others compute | a whole core, given to whoever wants it |
/// | `SpinThenPark` | as `Spin` at first, then a futex wake | nothing after the spin |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStrategy {
    /// Busy-wait on the ready set.
    Spin,
    /// Busy-wait, and offer the core to other threads each time.
    Yield,
    /// Busy-wait for this long, then park the thread until it is woken.
    SpinThenPark(Duration),
}

impl Default for WaitStrategy {
    /// Spins for 20 microseconds (a few futex wake-ups), then parks.
    fn default() -> Self {
        Self::SpinThenPark(Duration::from_micros(20))
    }
}

/// One wait of a [`WaitStrategy`]: ask it what to do until there is work again.
#[derive(Debug)]
pub struct Waiter {
    strategy: WaitStrategy,
    since: Option<Instant>,
}

impl Waiter {
    /// A waiter that has not waited yet.
    pub fn new(strategy: WaitStrategy) -> Self {
        Self { strategy, since: None }
    }

    /// There was work: the next wait starts from its beginning.
    #[inline]
    pub fn reset(&mut self) {
        self.since = None;
    }

    /// Waits a moment in place and returns false, or returns true once the caller should park.
    #[inline]
    pub fn should_park(&mut self) -> bool {
        match self.strategy {
            WaitStrategy::Spin => std::hint::spin_loop(),
            WaitStrategy::Yield => std::thread::yield_now(),
            WaitStrategy::SpinThenPark(limit) => {
                let now = Instant::now();
                if now.duration_since(*self.since.get_or_insert(now)) >= limit {
                    return true;
                }
                std::hint::spin_loop();
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spin_then_park_ever_parks() {
        let mut spin = Waiter::new(WaitStrategy::Spin);
        let mut yielding = Waiter::new(WaitStrategy::Yield);
        assert!((0..100).all(|_| !spin.should_park() && !yielding.should_park()));
        assert!(Waiter::new(WaitStrategy::SpinThenPark(Duration::ZERO)).should_park());
        let mut patient = Waiter::new(WaitStrategy::SpinThenPark(Duration::MAX));
        assert!(!patient.should_park());
    }
}
