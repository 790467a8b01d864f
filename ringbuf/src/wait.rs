//! How a thread waits for its next item, and how it is woken.
//!
//! | [strategy](WaitStrategy) | wake-up latency | cost while idle |
//! |---|---|---|
//! | `Spin` | one cache-line transfer | a whole core |
//! | `Yield` | a scheduler pass; long if others compute | a whole core, offered to others |
//! | `SpinThenPark` | as `Spin` at first, then a futex wake | nothing after the spin |
//!
//! A strategy only chooses the next step of a worker ([`Waiter::idle`]), which parks in its
//! [`ReadySet`](crate::ReadySet). A [`Signal`] beside a ring parks its consumer at once.

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

/// The choice of a strategy, as configuration names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStrategy {
    /// Busy-waits.
    Spin,
    /// Busy-waits, and offers the core to other threads each time.
    Yield,
    /// Busy-waits for this long, then parks; zero parks at once.
    SpinThenPark(Duration),
}

impl Default for WaitStrategy {
    /// Spins for 10 microseconds (about the cost of a futex wake-up), then parks.
    fn default() -> Self {
        Self::SpinThenPark(Duration::from_micros(10))
    }
}

impl WaitStrategy {
    /// A waiter that has not waited yet.
    pub fn waiter(self) -> Waiter {
        Waiter { strategy: self, since: None }
    }
}

/// A thread that waits by a strategy, one moment at a time.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    strategy: WaitStrategy,
    /// The start of this wait, for a strategy with a limit.
    since: Option<Instant>,
}

impl Waiter {
    /// There was no work: waits a moment in place, or tells the caller to park.
    #[inline]
    pub fn idle(&mut self) -> Idle {
        match self.strategy {
            WaitStrategy::Yield => std::thread::yield_now(),
            WaitStrategy::SpinThenPark(limit) if has_waited(&mut self.since, limit) => {
                return Idle::Park;
            }
            WaitStrategy::Spin | WaitStrategy::SpinThenPark(_) => std::hint::spin_loop(),
        }
        Idle::Retry
    }

    /// There was work: the next wait starts from its beginning.
    #[inline]
    pub fn reset(&mut self) {
        self.since = None;
    }
}

#[inline]
fn has_waited(since: &mut Option<Instant>, limit: Duration) -> bool {
    if limit.is_zero() {
        return true;
    }
    let now = Instant::now();
    now.duration_since(*since.get_or_insert(now)) >= limit
}

const AWAKE: u32 = 0;
/// The waiting thread is about to park, or parked.
const SLEEPING: u32 = 1;

/// Wakes the one consumer of a ring.
///
/// The producer pushes, then [notifies](Self::notify); the consumer [waits](Self::wait_for), parked
/// if it finds nothing. Both announce themselves by a read-modify-write of one word, so either
/// the consumer sees the pushed item or the producer sees that it sleeps: no wake-up is lost, and
/// notifying a consumer that is awake costs no system call.
///
/// ```
/// use ringspin_ringbuf::{Signal, spsc};
/// let (mut producer, mut consumer) = spsc::ring(4);
/// let signal = Signal::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         producer.push(42).unwrap();
///         signal.notify();
///     });
///     assert_eq!(signal.wait_for(|| consumer.pop()), 42);
/// });
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
        // "signal.notify": releases the pushed item to "signal.sleep", if this comes first; else it
        // acquires from there which thread sleeps. It leaves the state as it is: should this thread
        // be suspended before it wakes the consumer, the next one does.
        if self.state.fetch_or(AWAKE, order!(AcqRel, "signal.notify")) == SLEEPING {
            step!("notify.seen");
            self.sleeper.wake();
        }
    }

    /// Asks `next` until it returns something, and parks in between. Only one thread at a time may
    /// wait; only it is woken.
    pub fn wait_for<T>(&self, mut next: impl FnMut() -> Option<T>) -> T {
        if let Some(item) = next() {
            return item;
        }
        self.sleeper.register();
        loop {
            // "signal.sleep": pairs with "signal.notify".
            self.state.swap(SLEEPING, order!(AcqRel, "signal.sleep"));
            let item = next();
            if item.is_none() {
                park_timeout(Duration::MAX);
            }
            // "signal.awake": a read-modify-write, not a store, so that a notification which came
            // in between still reaches the next "signal.sleep".
            self.state.swap(AWAKE, order!(Relaxed, "signal.awake"));
            if let Some(item) = item {
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
        let idle = |strategy: WaitStrategy| {
            let mut waiter = strategy.waiter();
            [(); 100].map(|()| waiter.idle())
        };
        let never = [WaitStrategy::Spin, WaitStrategy::Yield];
        let patient = WaitStrategy::SpinThenPark(Duration::MAX);
        assert!(never.into_iter().chain([patient]).flat_map(idle).all(|next| next == Idle::Retry));
        let zero = idle(WaitStrategy::SpinThenPark(Duration::ZERO));
        assert!(zero.into_iter().all(|next| next == Idle::Park));
        let mut brief = WaitStrategy::SpinThenPark(Duration::from_nanos(1)).waiter();
        while brief.idle() == Idle::Retry {}
        assert_eq!(brief.idle(), Idle::Park);
    }

    #[test]
    fn every_item_wakes_the_consumer() {
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
            for n in 0..2_000 {
                assert_eq!(signal.wait_for(|| consumer.pop()), n);
            }
        });
    }
}
