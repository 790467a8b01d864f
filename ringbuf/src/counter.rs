//! Relaxed counters and flags: numbers that are read for statistics, never to order memory.

use crate::sync::{AtomicU32, AtomicU64, order};

/// A 64-bit counter that any thread may read.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one and returns the value before. Wait-free; safe from any number of threads.
    #[inline]
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, order!(Relaxed, "counter"))
    }

    /// Adds `n`, with a plain load and store: only one thread may write this counter.
    #[inline]
    pub fn add_by_owner(&self, n: u64) {
        self.set(self.get() + n);
    }

    /// Sets the value; only one thread may write this counter.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, order!(Relaxed, "counter"));
    }

    /// The value, perhaps a moment old.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(order!(Relaxed, "counter"))
    }
}

/// A flag that is raised once, for instance to ask threads to stop.
#[derive(Debug, Default)]
pub struct Flag(AtomicU32);

impl Flag {
    /// Raises the flag.
    #[inline]
    pub fn raise(&self) {
        self.0.store(1, order!(Release, "flag.raise"));
    }

    /// Lowers the flag, for the next use.
    #[inline]
    pub fn lower(&self) {
        self.0.store(0, order!(Relaxed, "flag.lower"));
    }

    /// Whether the flag is up. Sees what the raiser did before.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(order!(Acquire, "flag.read")) != 0
    }
}

/// A bounded number of permits, such as the free places of a queue.
#[derive(Debug)]
pub struct Permits(AtomicU32);

impl Permits {
    /// Starts with `permits` available.
    pub fn new(permits: u32) -> Self {
        Self(AtomicU32::new(permits))
    }

    /// Takes a permit if one is left. Lock-free.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        let take = |left: u32| left.checked_sub(1);
        // "permits.acquire": pairs with "permits.release"; the place behind the permit is free.
        let (success, failure) = (order!(Acquire, "permits.acquire"), order!(Relaxed, "permits"));
        self.0.fetch_update(success, failure, take).is_ok()
    }

    /// Puts a permit back. Wait-free.
    #[inline]
    pub fn release(&self) {
        self.0.fetch_add(1, order!(Release, "permits.release"));
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;

    #[test]
    fn permits_run_out_and_come_back() {
        let permits = Permits::new(2);
        assert!(permits.try_acquire() && permits.try_acquire() && !permits.try_acquire());
        permits.release();
        assert!(permits.try_acquire());
    }

    #[test]
    fn counters_count_and_flags_keep_their_state() {
        let counter = Counter::default();
        assert_eq!((counter.next(), counter.next()), (0, 1));
        counter.add_by_owner(3);
        assert_eq!(counter.get(), 5);
        let flag = Flag::default();
        assert!(!flag.is_raised());
        flag.raise();
        assert!(flag.is_raised());
        flag.lower();
        assert!(!flag.is_raised());
    }
}
