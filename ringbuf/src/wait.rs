//! How a thread waits for its next item, and how it is woken.
//!
//! | strategy | wake-up latency | cost while idle |
//! |---|---|---|
//! | [`Spin`] | one cache-line transfer | a whole core |
//! | [`Yield`] | a scheduler pass; long if others compute | a whole core, offered to others |
//! | [`SpinThenPark`] | as `Spin` at first, then a futex wake | nothing after the spin |
//! | [`Park`] | a futex wake | nothing |
//!
//! A strategy says only what to do in the next moment ([`Wait`]); what is waited for, and who
//! wakes, is the business of a [`Signal`] beside a ring, or of an executor's
//! [`ReadySet`](crate::ReadySet).

use crate::sleeper::Sleeper;
use crate::sync::{AtomicU32, order, park_timeout, step};
use std::time::{Duration, Instant};

/// The next step of a waiting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Look again: the strategy has waited a moment in place.
    Retry,
    /// Park until woken.
    Park,
}

/// How a thread waits, one moment at a time.
pub trait Wait {
    /// There was no work: waits a moment in place, or tells the caller to park.
    fn idle(&mut self) -> Idle;

    /// There was work: the next wait starts from its beginning.
    fn reset(&mut self) {}
}

/// Busy-waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin;

impl Wait for Spin {
    #[inline]
    fn idle(&mut self) -> Idle {
        std::hint::spin_loop();
        Idle::Retry
    }
}

/// Busy-waits, and offers the core to other threads each time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Yield;

impl Wait for Yield {
    #[inline]
    fn idle(&mut self) -> Idle {
        std::thread::yield_now();
        Idle::Retry
    }
}

/// Parks at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Park;

impl Wait for Park {
    #[inline]
    fn idle(&mut self) -> Idle {
        Idle::Park
    }
}

/// Busy-waits for a while, then parks.
#[derive(Clone, Copy, Debug)]
pub struct SpinThenPark {
    limit: Duration,
    since: Option<Instant>,
}

impl SpinThenPark {
    /// Busy-waits for `limit` first.
    pub fn new(limit: Duration) -> Self {
        Self { limit, since: None }
    }
}

impl Wait for SpinThenPark {
    #[inline]
    fn idle(&mut self) -> Idle {
        let now = Instant::now();
        if now.duration_since(*self.since.get_or_insert(now)) >= self.limit {
            return Idle::Park;
        }
        std::hint::spin_loop();
        Idle::Retry
    }

    #[inline]
    fn reset(&mut self) {
        self.since = None;
    }
}

/// The choice of a strategy, as configuration names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStrategy {
    /// [`Spin`].
    Spin,
    /// [`Yield`].
    Yield,
    /// [`SpinThenPark`] with this limit; zero parks at once.
    SpinThenPark(Duration),
}

impl Default for WaitStrategy {
    /// Spins for 10 microseconds (about what a futex wake-up costs), then parks.
    fn default() -> Self {
        Self::SpinThenPark(Duration::from_micros(10))
    }
}

impl WaitStrategy {
    /// A waiter that has not waited yet.
    pub fn waiter(self) -> Waiter {
        match self {
            Self::Spin => Waiter::Spin(Spin),
            Self::Yield => Waiter::Yield(Yield),
            Self::SpinThenPark(limit) if limit.is_zero() => Waiter::Park(Park),
            Self::SpinThenPark(limit) => Waiter::SpinThenPark(SpinThenPark::new(limit)),
        }
    }
}

/// One of the strategies of this module, chosen at run time.
#[derive(Clone, Copy, Debug)]
pub enum Waiter {
    /// Busy-waits.
    Spin(Spin),
    /// Busy-waits politely.
    Yield(Yield),
    /// Parks at once.
    Park(Park),
    /// Busy-waits, then parks.
    SpinThenPark(SpinThenPark),
}

impl Wait for Waiter {
    #[inline]
    fn idle(&mut self) -> Idle {
        match self {
            Self::Spin(wait) => wait.idle(),
            Self::Yield(wait) => wait.idle(),
            Self::Park(wait) => wait.idle(),
            Self::SpinThenPark(wait) => wait.idle(),
        }
    }

    #[inline]
    fn reset(&mut self) {
        if let Self::SpinThenPark(wait) = self {
            wait.reset();
        }
    }
}

const AWAKE: u32 = 0;
/// The waiting thread is about to park, or parked.
const SLEEPING: u32 = 1;

/// Wakes the one consumer of a ring.
///
/// The producer pushes, then [notifies](Self::notify); the consumer [waits](Self::wait_for) with a
/// strategy of its choice. Both announce themselves by a read-modify-write of one word, so either
/// the consumer sees what was pushed or the producer sees that it sleeps: no wake-up is lost, and
/// notifying a consumer that is awake costs no system call.
///
/// ```
/// use ringspin_ringbuf::{spsc, wait::{Park, Signal}};
/// use std::time::Duration;
/// let (mut producer, mut consumer) = spsc::ring(4);
/// let signal = Signal::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         producer.push(42).unwrap();
///         signal.notify();
///     });
///     let item = signal.wait_for(&mut Park, Duration::MAX, || consumer.pop());
///     assert_eq!(item, Some(42));
/// });
/// let nothing = signal.wait_for(&mut Park, Duration::from_millis(1), || consumer.pop());
/// assert_eq!(nothing, None);
/// ```
#[derive(Debug)]
pub struct Signal {
    state: AtomicU32,
    /// The thread to unpark.
    sleeper: Sleeper,
}

impl Default for Signal {
    fn default() -> Self {
        Self::new()
    }
}

impl Signal {
    /// Creates a signal without a waiting thread.
    pub fn new() -> Self {
        Self { state: AtomicU32::new(AWAKE), sleeper: Sleeper::new() }
    }

    /// Wakes the consumer if it sleeps. Call it after pushing. Wait-free, but for the system call
    /// that wakes.
    #[inline]
    pub fn notify(&self) {
        // "signal.notify": releases what was pushed to "signal.sleep", if this comes first; else it
        // acquires from there which thread sleeps. It leaves the state as it is: should this thread
        // be suspended before it wakes the consumer, the next one does.
        if self.state.fetch_or(AWAKE, order!(AcqRel, "signal.notify")) == SLEEPING {
            step!("notify.seen");
            self.sleeper.wake();
        }
    }

    /// Asks `next` until it returns something or `timeout` has passed, and waits in between as
    /// `wait` says. Only one thread at a time may wait; only it is woken.
    pub fn wait_for<T>(
        &self,
        wait: &mut impl Wait,
        timeout: Duration,
        mut next: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let mut started = None;
        let mut registered = false;
        loop {
            if let Some(item) = next() {
                wait.reset();
                return Some(item);
            }
            let elapsed = started.get_or_insert_with(Instant::now).elapsed();
            if elapsed >= timeout {
                return None;
            }
            if wait.idle() == Idle::Retry {
                continue;
            }
            if !std::mem::replace(&mut registered, true) {
                self.sleeper.register();
            }
            // "signal.sleep": pairs with "signal.notify".
            self.state.swap(SLEEPING, order!(AcqRel, "signal.sleep"));
            let item = next();
            if item.is_none() {
                park_timeout(timeout - elapsed);
            }
            // "signal.awake": a read-modify-write, not a store, so that a notification which came
            // in between still reaches the next "signal.sleep".
            self.state.swap(AWAKE, order!(Relaxed, "signal.awake"));
            if item.is_some() {
                wait.reset();
                return item;
            }
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use crate::ready;

    #[test]
    fn strategies_park_after_their_spin_time() {
        assert!((0..100).all(|_| Spin.idle() == Idle::Retry && Yield.idle() == Idle::Retry));
        assert_eq!(Park.idle(), Idle::Park);
        assert_eq!(SpinThenPark::new(Duration::ZERO).idle(), Idle::Park);
        let mut patient = SpinThenPark::new(Duration::MAX);
        assert_eq!((patient.idle(), patient.idle()), (Idle::Retry, Idle::Retry));
        assert_eq!(WaitStrategy::SpinThenPark(Duration::ZERO).waiter().idle(), Idle::Park);
    }

    #[test]
    fn every_item_arrives_with_each_strategy() {
        for strategy in [
            WaitStrategy::Yield,
            WaitStrategy::SpinThenPark(Duration::ZERO),
            WaitStrategy::SpinThenPark(Duration::from_micros(5)),
        ] {
            let (producer, mut consumer) = ready::ring(4);
            let signal = Signal::new();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for n in 0..2_000 {
                        while producer.push(n).is_err() {
                            std::thread::yield_now();
                        }
                        signal.notify();
                    }
                });
                let mut wait = strategy.waiter();
                for n in 0..2_000 {
                    let item = signal.wait_for(&mut wait, Duration::MAX, || consumer.pop());
                    assert_eq!(item, Some(n), "{strategy:?}");
                }
            });
        }
    }
}
