//! The event loops of a worker that have work, as a bitmap, and the worker's sleep until one has.
//!
//! In a set that is created for up to 62 loops, the summary word holds one bit per loop. Loops that
//! are [added](ReadySet::reserve) later share the other bits, and those of a larger set share them
//! all: each such bit stands for a group of leaf words that hold the loops' bits, so that finding
//! the next loop stays cheap with ten thousand of them. One further bit of the summary says that
//! the worker sleeps:
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

use crate::leaves::{LEAF_BITS, Leaves};
use crate::sleeper::Sleeper;
use crate::sync::{AtomicU64, order, park_timeout, step, total_order};
use crossbeam_utils::CachePadded;
use std::sync;
use std::time::Duration;

const SLEEPING: u64 = 1 << 63;
const SUMMARY_BITS: usize = 63;
/// The number of loops with a separate bit in a set that is created for no more than these.
const DIRECT_MIN: usize = 31;

/// The ready loops of one worker: marked by any thread, searched, cleared and slept on by the
/// worker.
#[derive(Debug)]
pub struct ReadySet {
    summary: CachePadded<AtomicU64>,
    /// The loops below this number have a separate bit in the summary. Bit `direct + n` stands for
    /// group `n` of the leaves.
    direct: usize,
    /// The bits of the summary from `direct` on.
    groups: u64,
    leaves: Leaves,
    /// The thread to unpark.
    sleeper: Sleeper,
}

impl ReadySet {
    /// A set for loops `0..loops`, none of them ready.
    pub fn new(loops: usize) -> Self {
        let is_direct = loops < SUMMARY_BITS;
        let direct = if is_direct { loops.max(DIRECT_MIN) } else { 0 };
        Self {
            summary: CachePadded::new(AtomicU64::new(0)),
            direct,
            groups: u64::MAX << direct,
            leaves: Leaves::new(if is_direct { 0 } else { loops }, SUMMARY_BITS - direct),
            sleeper: Sleeper::new(),
        }
    }

    /// Makes room for loops `0..loops`. May run while loops of the set are marked and searched, but
    /// calls must not overlap.
    ///
    /// # Panics
    /// If `loops` is above 2^24.
    pub fn reserve(&self, loops: usize) {
        if loops > self.direct {
            self.leaves.reserve(loops);
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

    /// Adds the lines that a mark touches.
    #[cfg(not(ringbuf_loom))]
    pub fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        lines.add(self);
        self.sleeper.add_to(lines);
    }

    /// The first half of [`mark`](Self::mark): true if the worker has to be woken.
    #[inline]
    pub(crate) fn set_mark(&self, index: usize) -> bool {
        let bit = if index < self.direct { index } else { self.mark_leaf(index) };
        // "ready_set.mark": pairs with "ready_set.next", "ready_set.clear" and
        // "ready_set.group_clear": either this comes first, and the worker that clears the bit then
        // sees the events that the marker pushed before, or the bit is set afterwards. Acquires
        // from "ready_set.register" which thread it is that sleeps.
        self.summary.fetch_or(1 << bit, order!(AcqRel, "ready_set.mark")) & SLEEPING != 0
    }

    /// Sets the bit in the leaf of `index`, and returns the bit of its group in the summary.
    #[inline]
    fn mark_leaf(&self, index: usize) -> usize {
        let (leaf, group) = self.leaves.leaf(index / LEAF_BITS);
        // "ready_set.leaf": pairs with "leaves.next" and "ready_set.leaf_clear".
        leaf.fetch_or(1 << (index % LEAF_BITS), order!(Release, "ready_set.leaf"));
        step!("mark.leaf");
        self.direct + group
    }

    /// Whether `index` is marked, and the worker does not sleep: then a [`mark`](Self::mark) would
    /// change nothing. Always false for a loop without a separate bit in the summary.
    #[inline]
    pub(crate) fn is_marked_awake(&self, index: usize) -> bool {
        // "ready_set.glance": in the total order for the sake of `Announcer::try_announce`.
        let summary = self.summary.load(total_order!(Relaxed, "ready_set.glance"));
        index < self.direct && summary & (SLEEPING | 1 << index) == 1 << index
    }

    /// Wakes the worker in any state: a sleeping one looks again, one that is about to park does
    /// not.
    #[cold]
    pub fn wake(&self) {
        // "ready_set.wake": pairs with "ready_set.register". Either this comes first, and the
        // worker sees the earlier work of the caller, or the worker's thread is seen here.
        self.summary.fetch_or(0, order!(AcqRel, "ready_set.wake"));
        self.sleeper.wake();
    }

    /// Whether no loop is ready.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // "ready_set.peek": a hint for spinning; the next look acquires.
        self.summary.load(order!(Relaxed, "ready_set.peek")) & !SLEEPING == 0
    }

    /// The one loop that is marked, if it is the only one and has a separate bit in the summary.
    #[inline]
    pub(crate) fn only(&self) -> Option<usize> {
        // A hint, like the look of `is_empty`.
        let summary = self.summary.load(order!(Relaxed, "ready_set.peek")) & !SLEEPING;
        let is_one = summary.is_power_of_two() && summary & self.groups == 0;
        is_one.then(|| summary.trailing_zeros() as usize)
    }

    /// The first ready loop at or after `start`, else the first from the beginning. The earlier
    /// work of its marker is visible to the caller. Only the worker asks. Takes a constant number
    /// of steps for up to 4,000 loops, then a few more; a few more also among loops that were
    /// added.
    #[inline]
    pub fn next(&self, start: usize) -> Option<usize> {
        let summary = self.summary.load(order!(Acquire, "ready_set.next")) & !SLEEPING;
        if summary == 0 {
            return None;
        }
        if summary & self.groups == 0 {
            return Some(cyclic_bit(summary, start));
        }
        let all = |_| u64::MAX;
        let found = self.leaves.near(start, all).or_else(|| self.find(summary, start, all));
        if found.is_none() {
            self.clear_empty_groups(summary);
        }
        found
    }

    /// Searches like [`next`](Self::next), among the `members` only.
    #[inline]
    pub fn next_in(&self, start: usize, members: &Members) -> Option<usize> {
        // "ready_set.next_in": pairs with "ready_set.mark".
        let summary = self.summary.load(order!(Acquire, "ready_set.next_in")) & !SLEEPING;
        if summary & self.groups == 0 {
            let summary = summary & members.word(0);
            return (summary != 0).then(|| cyclic_bit(summary, start));
        }
        let members = |leaf| members.word(leaf);
        self.leaves.near(start, members).or_else(|| self.find(summary, start, members))
    }

    fn find(
        &self,
        summary: u64,
        start: usize,
        members: impl Fn(usize) -> u64 + Copy,
    ) -> Option<usize> {
        let own = summary & !self.groups & members(0);
        let marked = summary >> self.direct;
        let first = |start: usize| {
            let rest = own & u64::MAX.checked_shl(start as u32).unwrap_or(0);
            match rest {
                0 => self.leaves.first(marked, start, members),
                _ => Some(rest.trailing_zeros() as usize),
            }
        };
        first(start).or_else(|| first(0))
    }

    /// Takes the marks off groups without a loop. A marker sets leaf and summary in two steps. If
    /// its loop was found and cleared in between, the second step left a mark on an empty group,
    /// which would forbid sleep.
    #[cold]
    fn clear_empty_groups(&self, summary: u64) {
        let mut marked = summary >> self.direct;
        while marked != 0 {
            self.clear_group_if_empty(marked.trailing_zeros() as usize);
            marked &= marked - 1;
        }
    }

    /// Takes the mark off `index`. Only the worker calls it, and looks afterwards once more whether
    /// the loop's ring is empty; if not, it [marks](Self::mark) the loop again.
    #[inline]
    pub fn clear(&self, index: usize) {
        if index < self.direct {
            // In the total order for the sake of `Inbox::clear_idle`.
            self.summary.fetch_and(!(1 << index), total_order!(Acquire, "ready_set.clear"));
            return;
        }
        let (leaf, group) = self.leaves.leaf(index / LEAF_BITS);
        let bit = 1 << (index % LEAF_BITS);
        let before = leaf.fetch_and(!bit, order!(Acquire, "ready_set.leaf_clear"));
        if before & !bit == 0 {
            self.clear_group_if_empty(group);
        }
    }

    /// Takes the mark off a group of leaves unless one of them has a bit.
    fn clear_group_if_empty(&self, group: usize) {
        if !self.leaves.is_occupied(group) {
            let bit = 1 << (self.direct + group);
            self.summary.fetch_and(!bit, order!(Acquire, "ready_set.group_clear"));
            if self.leaves.is_occupied(group) {
                self.summary.fetch_or(bit, order!(Relaxed, "ready_set.restore"));
            }
        }
    }

    /// Makes the calling thread the one that [`mark`](Self::mark) wakes. Call before sleeping.
    /// Lock-free.
    pub fn register_sleeper(&self) {
        self.sleeper.register();
        // "ready_set.register": pairs with "ready_set.mark" and "ready_set.wake".
        self.summary.fetch_or(0, order!(AcqRel, "ready_set.register"));
    }

    /// Has `waker` called where a thread would be woken, for a worker that several threads run in
    /// turns. Lock-free.
    pub fn wake_by(&self, waker: sync::Arc<dyn Fn() + Send + Sync>) {
        self.sleeper.register_function(waker);
        // "ready_set.wake_by": pairs with "ready_set.mark".
        self.summary.fetch_or(0, order!(Release, "ready_set.wake_by"));
    }

    /// How many loops are marked, of those with a separate bit in the summary.
    #[inline]
    pub fn marked(&self) -> u32 {
        // A hint, like the look of `is_empty`.
        let summary = self.summary.load(order!(Relaxed, "ready_set.peek"));
        (summary & !SLEEPING & !self.groups).count_ones()
    }

    /// Whether no loop is marked; if so, the next mark wakes. Only the worker calls it.
    #[inline]
    pub fn rest(&self) -> bool {
        // "ready_set.sleep": fails if a bit was set before; a bit set afterwards sees `SLEEPING`.
        // All of these being read-modify-writes of one word, that holds without any ordering.
        let exchanged = self.summary.compare_exchange(
            0,
            SLEEPING,
            order!(Relaxed, "ready_set.sleep"),
            order!(Relaxed, "ready_set.peek"),
        );
        exchanged.is_ok()
    }

    /// Ends a [rest](Self::rest).
    #[inline]
    pub fn rise(&self) {
        self.summary.fetch_and(!SLEEPING, order!(Relaxed, "ready_set.awake"));
    }

    /// Parks the calling thread until a loop is marked, [`wake`](Self::wake) is called, `timeout`
    /// has passed, or, now and then, for no reason. Returns at once if a loop is ready.
    pub fn sleep(&self, timeout: Duration) {
        if self.rest() {
            park_timeout(timeout);
            self.rise();
        }
    }
}

/// Some loops of a set, to [search](ReadySet::next_in) among.
#[derive(Clone, Debug, Default)]
pub struct Members {
    words: Vec<u64>,
}

impl Members {
    /// Adds a loop, unless it is a member.
    pub fn insert(&mut self, index: usize) {
        let word = index / LEAF_BITS;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (index % LEAF_BITS);
    }

    /// Removes a loop. Returns whether it was a member.
    pub fn remove(&mut self, index: usize) -> bool {
        let was_member = self.contains(index);
        if was_member {
            self.words[index / LEAF_BITS] &= !(1 << (index % LEAF_BITS));
        }
        was_member
    }

    /// Whether a loop is a member.
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.word(index / LEAF_BITS) & 1 << (index % LEAF_BITS) != 0
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.words.len() * LEAF_BITS).filter(|index| self.contains(*index))
    }

    /// The members among 64 loops.
    #[inline]
    fn word(&self, word: usize) -> u64 {
        self.words.get(word).copied().unwrap_or(0)
    }
}

/// The lowest set bit of `word` at or after `start`, else the lowest one.
#[inline]
fn cyclic_bit(word: u64, start: usize) -> usize {
    let rest = word & u64::MAX.checked_shl(start as u32).unwrap_or(0);
    (if rest != 0 { rest } else { word }).trailing_zeros() as usize
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
