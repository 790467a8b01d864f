//! The leaf words of a ready set: one bit for each loop, in blocks that are added and never move.
//!
//! ```text
//!            group 0        group 1        group 2
//! initial    0  1           2  3           4             as many rows as the first loops need
//! added 0    5  6           7  8           9  10
//! added 1    11 12 13 14    15 16 17 18    19 20 21 22   each block has twice the last one's rows
//! ```
//!
//! Loop `i` has bit `i % 64` of leaf `i / 64`. One bit of the set's summary stands for a group: its
//! rows in all blocks.

use crate::sync::{AtomicPtr, AtomicU64, order};
use std::ops::Range;
use std::ptr;

pub(crate) const LEAF_BITS: usize = 64;
/// Enough for 2^24 loops in one group.
const BLOCKS: usize = 19;

/// The leaves of a ready set.
#[derive(Debug)]
pub(crate) struct Leaves {
    initial: Box<[AtomicU64]>,
    /// The number of leaves of each group in the initial block, and in the first one added.
    rows: usize,
    groups: usize,
    /// The first leaf of each block that was added.
    added: [AtomicPtr<AtomicU64>; BLOCKS],
}

/// Leaves that lie side by side: so many rows of each group.
#[derive(Clone, Copy)]
struct Block<'a> {
    words: &'a [AtomicU64],
    /// The number of the first leaf.
    first: usize,
    rows: usize,
}

impl Block<'_> {
    /// The leaves of a group, as indices into the block.
    #[inline]
    fn of_group(&self, group: usize) -> Range<usize> {
        let end = ((group + 1) * self.rows).min(self.words.len());
        (group * self.rows).min(end)..end
    }
}

impl Leaves {
    /// Creates leaves for loops `0..loops` in up to `groups` groups.
    pub(crate) fn new(loops: usize, groups: usize) -> Self {
        let leaves = loops.div_ceil(LEAF_BITS);
        Self {
            initial: zeros(leaves),
            rows: leaves.div_ceil(groups).max(1),
            groups,
            added: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// Adds blocks until loops `0..loops` have a leaf. Calls must not overlap.
    ///
    /// # Panics
    /// If `loops` is above 2^24.
    pub(crate) fn reserve(&self, loops: usize) {
        assert!(loops <= 1 << 24, "a ready set has up to 2^24 loops");
        let needed = loops.div_ceil(LEAF_BITS);
        let mut block = 0;
        while self.first_of(block) < needed {
            if self.block(block).is_none() {
                let words = Box::into_raw(zeros(self.length_of(block)));
                // "leaves.add": pairs with "leaves.block".
                self.added[block].store(words.cast(), order!(Release, "leaves.add"));
            }
            block += 1;
        }
    }

    /// The number of leaves before an added block.
    fn first_of(&self, block: usize) -> usize {
        self.initial.len() + self.groups * self.rows * ((1 << block) - 1)
    }

    fn length_of(&self, block: usize) -> usize {
        self.groups * (self.rows << block)
    }

    /// An added block, if it was added by now.
    #[inline]
    fn block(&self, block: usize) -> Option<Block<'_>> {
        // "leaves.block": pairs with "leaves.add".
        let first = self.added.get(block)?.load(order!(Acquire, "leaves.block"));
        if first.is_null() {
            return None;
        }
        // SAFETY: `reserve` stored the address of so many leaves, which stay until the drop.
        let words = unsafe { std::slice::from_raw_parts(first, self.length_of(block)) };
        Some(Block { words, first: self.first_of(block), rows: self.rows << block })
    }

    #[inline]
    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let initial = Block { words: &self.initial, first: 0, rows: self.rows };
        let added = (0..BLOCKS).map_while(|block| self.block(block));
        std::iter::once(initial).chain(added)
    }

    /// A leaf that was reserved, and its group.
    #[inline]
    pub(crate) fn leaf(&self, leaf: usize) -> (&AtomicU64, usize) {
        match self.initial.get(leaf) {
            Some(word) => (word, leaf / self.rows),
            None => self.added_leaf(leaf),
        }
    }

    fn added_leaf(&self, leaf: usize) -> (&AtomicU64, usize) {
        let beyond = leaf - self.initial.len();
        let number = (beyond / (self.groups * self.rows) + 1).ilog2() as usize;
        let block = self.block(number).expect("a loop is reserved before it is used");
        let offset = leaf - block.first;
        (&block.words[offset], offset / block.rows)
    }

    /// The first loop at or after `start` with a bit in the same leaf, among the `members` of that
    /// leaf. Most searches end there: loops of a chain have numbers side by side.
    #[inline]
    pub(crate) fn near(&self, start: usize, members: impl Fn(usize) -> u64) -> Option<usize> {
        let leaf = start / LEAF_BITS;
        // "leaves.near": pairs with "ready_set.leaf".
        let found = self.initial.get(leaf)?.load(order!(Acquire, "leaves.near"));
        let found = found & members(leaf) & (u64::MAX << (start % LEAF_BITS));
        (found != 0).then(|| leaf * LEAF_BITS + found.trailing_zeros() as usize)
    }

    /// The first loop at or after `start` with a bit in a `marked` group, among those for which
    /// `members` of its leaf has a bit.
    #[inline]
    pub(crate) fn first(
        &self,
        marked: u64,
        start: usize,
        members: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let (start_leaf, offset) = (start / LEAF_BITS, start % LEAF_BITS);
        for block in self.blocks() {
            if start_leaf >= block.first + block.words.len() {
                continue;
            }
            let from = start_leaf.saturating_sub(block.first);
            let mut groups = marked & (u64::MAX << (from / block.rows));
            while groups != 0 {
                let leaves = block.of_group(groups.trailing_zeros() as usize);
                groups &= groups - 1;
                for at in leaves.start.max(from)..leaves.end {
                    let leaf = block.first + at;
                    // "leaves.next": pairs with "ready_set.leaf".
                    let found = block.words[at].load(order!(Acquire, "leaves.next"));
                    let after = if leaf == start_leaf { u64::MAX << offset } else { u64::MAX };
                    let found = found & after & members(leaf);
                    if found != 0 {
                        return Some(leaf * LEAF_BITS + found.trailing_zeros() as usize);
                    }
                }
            }
        }
        None
    }

    /// Whether a leaf of the group has a bit.
    pub(crate) fn is_occupied(&self, group: usize) -> bool {
        // "leaves.occupied": a guess before "ready_set.group_clear", but reliable after it.
        let has_bit = |leaf: &AtomicU64| leaf.load(order!(Relaxed, "leaves.occupied")) != 0;
        self.blocks().any(|block| block.words[block.of_group(group)].iter().any(has_bit))
    }
}

fn zeros(leaves: usize) -> Box<[AtomicU64]> {
    (0..leaves).map(|_| AtomicU64::new(0)).collect()
}

impl Drop for Leaves {
    fn drop(&mut self) {
        for (block, words) in self.added.iter().enumerate() {
            // "leaves.drop": no other thread has access any more.
            let words = words.load(order!(Relaxed, "leaves.drop"));
            if !words.is_null() {
                let words = ptr::slice_from_raw_parts_mut(words, self.length_of(block));
                // SAFETY: `reserve` took the words from a box of this length.
                drop(unsafe { Box::from_raw(words) });
            }
        }
    }
}
