//! The event loops of a worker that have work, as a bitmap, and the worker's sleep until one has.
//!
//! With up to 63 loops the summary word holds one bit per loop. With more, each summary bit stands
//! for a few leaf words that hold the loops' bits, so that finding the next loop stays cheap with
//! ten thousand of them. One further bit of the summary says that the worker sleeps:
//!
//! | bit | set if | can't be set when |
//! |-----|--------|-------------------|
//! | 0..62 | a loop was marked and not yet [cleared](ReadySet::clear) | |
//! | 63, `SLEEPING` | the worker parks or is about to | the worker ran since its last sleep |
//!
//! Marking is one or two unconditional read-modify-writes: it sets the bit and learns in the same
//! instruction whether the worker has to be woken. A wake-up can therefore not be lost, waking a
//! worker that is awake costs no system call, and a producer that is suspended halfway hides
//! nothing: every other producer sets the whole path itself, and wakes the worker itself as long as
//! that sleeps.

use crate::sleeper::Sleeper;
use crate::sync::{AtomicU64, order, park_timeout, step, total_order};
use crossbeam_utils::CachePadded;
use std::time::Duration;

const SLEEPING: u64 = 1 << 63;
const SUMMARY_BITS: usize = 63;
const LEAF_BITS: usize = 64;

/// The ready loops of one worker: marked by any thread, searched, cleared and slept on by the
/// worker.
#[derive(Debug)]
pub struct ReadySet {
    summary: CachePadded<AtomicU64>,
    leaves: Box<[AtomicU64]>,
    leaves_per_bit: usize,
    /// The thread to unpark.
    sleeper: Sleeper,
}

impl ReadySet {
    /// A set for loops `0..loops`, none of them ready.
    pub fn new(loops: usize) -> Self {
        let leaves = if loops <= SUMMARY_BITS { 0 } else { loops.div_ceil(LEAF_BITS) };
        Self {
            summary: CachePadded::new(AtomicU64::new(0)),
            leaves: (0..leaves).map(|_| AtomicU64::new(0)).collect(),
            leaves_per_bit: leaves.div_ceil(SUMMARY_BITS).max(1),
            sleeper: Sleeper::new(),
        }
    }

    /// Marks `index` ready and wakes the worker if it sleeps. Wait-free, but for the system call
    /// that wakes.
    #[inline]
    pub fn mark(&self, index: usize) {
        if self.set_mark(index) {
            step!("mark.set");
            self.sleeper.wake();
        }
    }

    /// The first half of [`mark`](Self::mark): true if the worker has to be woken.
    #[inline]
    pub(crate) fn set_mark(&self, index: usize) -> bool {
        let bit = if self.leaves.is_empty() {
            index
        } else {
            let leaf = index / LEAF_BITS;
            // "ready_set.leaf": pairs with "ready_set.leaf_next" and "ready_set.leaf_clear".
            self.leaves[leaf].fetch_or(1 << (index % LEAF_BITS), order!(Release, "ready_set.leaf"));
            step!("mark.leaf");
            leaf / self.leaves_per_bit
        };
        // "ready_set.mark": pairs with "ready_set.next", "ready_set.clear" and
        // "ready_set.group_clear": either this comes first, and the worker that clears the bit then
        // sees what the marker pushed before, or the bit is set afterwards. Acquires from
        // "ready_set.register" which thread it is that sleeps.
        self.summary.fetch_or(1 << bit, order!(AcqRel, "ready_set.mark")) & SLEEPING != 0
    }

    /// Whether `index` is marked, and the worker does not sleep: then a [`mark`](Self::mark) would
    /// change nothing. Always false for a set with leaves.
    #[inline]
    pub(crate) fn is_marked_awake(&self, index: usize) -> bool {
        // "ready_set.glance": in the total order for the sake of `Announcer::try_announce`.
        let summary = self.summary.load(total_order!(Relaxed, "ready_set.glance"));
        self.leaves.is_empty() && summary & (SLEEPING | 1 << index) == 1 << index
    }

    /// Wakes the worker whatever it does: a sleeping one looks again, one that is about to park
    /// does not.
    #[cold]
    pub fn wake(&self) {
        // "ready_set.wake": pairs with "ready_set.register". Either this comes first, and the
        // worker sees what the caller did before, or the worker's thread is seen here.
        self.summary.fetch_or(0, order!(AcqRel, "ready_set.wake"));
        self.sleeper.wake();
    }

    /// Whether no loop is ready.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // "ready_set.peek": a hint for spinning; what follows acquires.
        self.summary.load(order!(Relaxed, "ready_set.peek")) & !SLEEPING == 0
    }

    /// The one loop that is marked, if it is the only one; `None` also for a set with leaves.
    #[inline]
    pub(crate) fn only(&self) -> Option<usize> {
        // A hint, like the look of `is_empty`.
        let summary = self.summary.load(order!(Relaxed, "ready_set.peek")) & !SLEEPING;
        let is_one = self.leaves.is_empty() && summary.is_power_of_two();
        is_one.then(|| summary.trailing_zeros() as usize)
    }

    /// The first ready loop at or after `start`, else the first from the beginning. What its marker
    /// did before is visible to the caller. Only the worker asks. Takes a constant number of steps
    /// for up to 4,000 loops, then a few more.
    #[inline]
    pub fn next(&self, start: usize) -> Option<usize> {
        let summary = self.summary.load(order!(Acquire, "ready_set.next")) & !SLEEPING;
        if summary == 0 {
            return None;
        }
        if self.leaves.is_empty() {
            return Some(cyclic_bit(summary, start));
        }
        self.next_in_leaves(summary, start)
    }

    fn next_in_leaves(&self, summary: u64, start: usize) -> Option<usize> {
        let (leaf, offset) = (start / LEAF_BITS, start % LEAF_BITS);
        let read = |leaf: usize| match self.leaves.get(leaf) {
            Some(leaf) => leaf.load(order!(Acquire, "ready_set.leaf_next")),
            None => 0,
        };
        let rest = read(leaf) & (u64::MAX << offset);
        if rest != 0 {
            return Some(leaf * LEAF_BITS + rest.trailing_zeros() as usize);
        }
        let own_group = leaf / self.leaves_per_bit;
        let first_in = |leaves: std::ops::Range<usize>| {
            leaves
                .map(|at| (at, read(at)))
                .find(|(_, word)| *word != 0)
                .map(|(at, word)| at * LEAF_BITS + word.trailing_zeros() as usize)
        };
        // The rest of this group, then the marked groups after it in a cycle that ends with it.
        if let Some(found) = first_in(leaf + 1..(own_group + 1) * self.leaves_per_bit) {
            return Some(found);
        }
        let later = if own_group >= 62 { 0 } else { summary & (u64::MAX << (own_group + 1)) };
        let mut later = later;
        let mut earlier = summary & !later;
        while later | earlier != 0 {
            let word = if later != 0 { &mut later } else { &mut earlier };
            let group = word.trailing_zeros() as usize;
            *word &= *word - 1;
            let leaves = group * self.leaves_per_bit..(group + 1) * self.leaves_per_bit;
            if let Some(found) = first_in(leaves) {
                return Some(found);
            }
            // A marker sets leaf and summary in two steps. If its loop was found and cleared in
            // between, the second step left a mark on an empty group, which would forbid sleep.
            self.clear_group_if_empty(group);
        }
        None
    }

    /// Takes the mark off `index`. Only the worker calls it, and looks afterwards once more whether
    /// the loop's ring is empty; if not, it [marks](Self::mark) the loop again.
    #[inline]
    pub fn clear(&self, index: usize) {
        if self.leaves.is_empty() {
            // In the total order for the sake of `Inbox::clear_if_idle`.
            self.summary.fetch_and(!(1 << index), total_order!(Acquire, "ready_set.clear"));
            return;
        }
        let leaf = index / LEAF_BITS;
        let bit = 1 << (index % LEAF_BITS);
        let before = self.leaves[leaf].fetch_and(!bit, order!(Acquire, "ready_set.leaf_clear"));
        if before & !bit == 0 {
            self.clear_group_if_empty(leaf / self.leaves_per_bit);
        }
    }

    /// Takes the mark off a group of leaves unless one of them has a bit.
    fn clear_group_if_empty(&self, group: usize) {
        let end = self.leaves.len().min((group + 1) * self.leaves_per_bit);
        let leaves = &self.leaves[group * self.leaves_per_bit..end];
        // "ready_set.occupied": a guess before "ready_set.group_clear", but reliable after it.
        let occupied =
            || leaves.iter().any(|leaf| leaf.load(order!(Relaxed, "ready_set.occupied")) != 0);
        if !occupied() {
            self.summary.fetch_and(!(1 << group), order!(Acquire, "ready_set.group_clear"));
            if occupied() {
                self.summary.fetch_or(1 << group, order!(Relaxed, "ready_set.restore"));
            }
        }
    }

    /// Makes the calling thread the one that [`mark`](Self::mark) wakes. Call before sleeping.
    /// Lock-free; keeps some 32 bytes for each different thread.
    pub fn register_sleeper(&self) {
        self.sleeper.register();
        // "ready_set.register": pairs with "ready_set.mark" and "ready_set.wake".
        self.summary.fetch_or(0, order!(AcqRel, "ready_set.register"));
    }

    /// Parks the calling thread until a loop is marked, [`wake`](Self::wake) is called, `timeout`
    /// has passed, or, now and then, for no reason. Returns at once if a loop is ready.
    pub fn sleep(&self, timeout: Duration) {
        // "ready_set.sleep": fails if a bit was set before; a bit set afterwards sees `SLEEPING`.
        // All of these being read-modify-writes of one word, that holds without any ordering.
        let exchanged = self.summary.compare_exchange(
            0,
            SLEEPING,
            order!(Relaxed, "ready_set.sleep"),
            order!(Relaxed, "ready_set.peek"),
        );
        if exchanged.is_ok() {
            park_timeout(timeout);
            self.summary.fetch_and(!SLEEPING, order!(Relaxed, "ready_set.awake"));
        }
    }
}

/// The lowest set bit of `word` at or after `start`, else the lowest one.
#[inline]
fn cyclic_bit(word: u64, start: usize) -> usize {
    let rest = word & u64::MAX.checked_shl(start as u32).unwrap_or(0);
    (if rest != 0 { rest } else { word }).trailing_zeros() as usize
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn finds_what_a_sorted_set_finds(
            loops in prop_oneof![1usize..64, 64usize..300, 4000usize..9000],
            actions in proptest::collection::vec((any::<bool>(), any::<usize>()), 1..200),
        ) {
            let set = ReadySet::new(loops);
            let mut model = BTreeSet::new();
            for (mark, index) in actions {
                let index = index % loops;
                if mark {
                    set.mark(index);
                    model.insert(index);
                } else {
                    set.clear(index);
                    model.remove(&index);
                }
                let start = (index * 7 + 3) % (loops + 1);
                let expected = model.range(start..).chain(&model).next().copied();
                prop_assert_eq!(set.next(start), expected);
                prop_assert_eq!(set.is_empty(), model.is_empty());
            }
        }
    }

    #[test]
    fn a_mark_wakes_a_sleeping_worker() {
        let set = ReadySet::new(3);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                set.register_sleeper();
                loop {
                    if let Some(index) = set.next(0) {
                        return index;
                    }
                    set.sleep(Duration::from_secs(3600));
                }
            });
            set.mark(2);
            assert_eq!(worker.join().unwrap(), 2);
        });
    }
}
