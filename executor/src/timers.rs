//! A worker's timers: phase-anchored, each pending at most once, ordered by deadline, then
//! creation.

use crate::control::CallbackCounters;
use crate::time::Time;
use crate::topic::Ready;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A timer of the frozen graph.
pub(crate) struct Timer {
    /// Nanoseconds, not zero.
    pub(crate) period: u64,
    pub(crate) ready: Ready,
    pub(crate) counters: Arc<CallbackCounters>,
    /// Whether an expiry waits in the ready ring.
    pub(crate) pending: bool,
    /// Whether it has expired before, so that a late expiry means missed periods.
    pub(crate) expired: bool,
}

/// The timers of one worker.
#[derive(Default)]
pub(crate) struct Timers {
    timers: Vec<Timer>,
    /// Deadline in nanoseconds, then index, which is in order of creation.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Timers {
    /// Adds a timer, created after those before; returns its index.
    pub(crate) fn add(&mut self, timer: Timer) -> usize {
        self.timers.push(timer);
        self.timers.len() - 1
    }

    /// Starts every timer, with its first deadline a period after `anchor`.
    pub(crate) fn start(&mut self, anchor: Time) {
        let deadline = |timer: &Timer| anchor.as_nanos().saturating_add(timer.period);
        let first = self.timers.iter().enumerate().map(|(n, timer)| Reverse((deadline(timer), n)));
        self.heap = first.collect();
    }

    /// When the next timer is due.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((deadline, _))| Time::from_nanos(*deadline))
    }

    /// Makes the first timer that is due at `now` ready, and moves it to the first multiple of its
    /// period after `now`. Returns false if none is due. Logarithmic in the number of timers.
    #[inline]
    pub(crate) fn expire_one(&mut self, now: Time) -> bool {
        match self.heap.peek() {
            Some(Reverse((deadline, _))) if *deadline <= now.as_nanos() => {}
            _ => return false,
        }
        let Some(mut first) = self.heap.peek_mut() else {
            return false;
        };
        let Reverse((deadline, index)) = *first;
        let timer = &mut self.timers[index];
        let skipped = (now.as_nanos() - deadline) / timer.period;
        let periods = timer.period.saturating_mul(skipped + 1);
        *first = Reverse((deadline.saturating_add(periods), index));
        drop(first);
        let mut missed = if timer.expired { skipped } else { 0 };
        timer.expired = true;
        if timer.pending {
            missed += 1;
        } else {
            timer.pending = true;
            timer.ready.announce();
        }
        timer.counters.missed.add_by_owner(missed);
        true
    }

    /// The expiry of timer `index` left the ready ring.
    #[inline]
    pub(crate) fn handled(&mut self, index: usize) {
        self.timers[index].pending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_ringbuf::{ReadySet, ready};

    fn timers(periods: &[u64]) -> (Timers, ready::Consumer) {
        let (ring, consumer) = ready::ring(8);
        let set = Arc::new(ReadySet::new(1));
        let mut timers = Timers::default();
        for (token, &period) in periods.iter().enumerate() {
            let ready =
                Ready { ring: ring.clone(), set: set.clone(), index: 0, token: token as u32 };
            let counters = Arc::default();
            timers.add(Timer { period, ready, counters, pending: false, expired: false });
        }
        (timers, consumer)
    }

    fn expire_all(timers: &mut Timers, ring: &mut ready::Consumer, now: u64) -> Vec<u32> {
        while timers.expire_one(Time::from_nanos(now)) {}
        let fired: Vec<u32> = std::iter::from_fn(|| ring.pop()).collect();
        fired.iter().for_each(|&token| timers.handled(token as usize));
        fired
    }

    #[test]
    fn overdue_timers_fire_once_in_the_order_of_their_deadlines() {
        let (mut timers, mut ring) = timers(&[100, 50, 40]);
        timers.start(Time::ZERO);
        assert_eq!(expire_all(&mut timers, &mut ring, 10_000), [2, 1, 0]);
        assert_eq!(timers.next_deadline(), Some(Time::from_nanos(10_040)));
        assert!(timers.timers.iter().all(|timer| timer.counters.missed.get() == 0));
    }

    #[test]
    fn equal_deadlines_fire_in_order_of_creation() {
        let (mut timers, mut ring) = timers(&[30, 20, 60]);
        timers.start(Time::ZERO);
        for now in [20, 30, 40] {
            expire_all(&mut timers, &mut ring, now);
        }
        assert_eq!(expire_all(&mut timers, &mut ring, 60), [0, 1, 2]);
    }

    #[test]
    fn a_stall_costs_periods_but_never_the_phase() {
        let (mut timers, mut ring) = timers(&[10]);
        timers.start(Time::from_nanos(3));
        assert_eq!(expire_all(&mut timers, &mut ring, 13), [0]);
        assert_eq!(expire_all(&mut timers, &mut ring, 58), [0], "23, and 33, 43, 53 are missed");
        assert_eq!(timers.next_deadline(), Some(Time::from_nanos(63)));
        assert_eq!(timers.timers[0].counters.missed.get(), 3);
    }

    #[test]
    fn an_expiry_that_still_waits_is_not_queued_twice() {
        let (mut timers, mut ring) = timers(&[10]);
        timers.start(Time::ZERO);
        while timers.expire_one(Time::from_nanos(10)) {}
        while timers.expire_one(Time::from_nanos(20)) {}
        assert_eq!((ring.pop(), ring.pop()), (Some(0), None));
        assert_eq!(timers.timers[0].counters.missed.get(), 1);
    }

    #[test]
    fn a_million_periods_do_not_drift() {
        let (mut timers, mut ring) = timers(&[1_000]);
        timers.start(Time::ZERO);
        for n in 1..=1_000_000u64 {
            let late = n % 7 * 100;
            assert_eq!(expire_all(&mut timers, &mut ring, n * 1_000 + late), [0]);
        }
        assert_eq!(timers.next_deadline(), Some(Time::from_nanos(1_000_001_000)));
        assert_eq!(timers.timers[0].counters.missed.get(), 0);
    }
}
