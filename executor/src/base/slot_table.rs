//! A table with one entry for each slot of a message pool.
//!
//! It holds data beside messages that only some subscriptions need, at the number of the slot in
//! which the message lies, so that the others pay nothing and the data stays as long as the
//! message. It grows with the pool, by segments that double, and no entry ever moves.

use std::sync::OnceLock;

/// Segment `n` has the entries of `FIRST_SEGMENT << n` slots.
const FIRST_SEGMENT: usize = 4;
/// For the 2^24 slots of the largest pool.
const SEGMENTS: usize = 23;

#[derive(Debug)]
pub(crate) struct SlotTable<T>([OnceLock<Box<[T]>>; SEGMENTS]);

impl<T> Default for SlotTable<T> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; SEGMENTS])
    }
}

/// The segment of a slot, and its place in there.
fn locate(slot: usize) -> (usize, usize) {
    let shifted = slot + FIRST_SEGMENT;
    let segment = (shifted.ilog2() - FIRST_SEGMENT.ilog2()) as usize;
    (segment, shifted - (FIRST_SEGMENT << segment))
}

impl<T: Default> SlotTable<T> {
    /// Allocates the entries of the first `slots` slots.
    pub(crate) fn reserve(&self, slots: usize) {
        (0..=locate(slots.saturating_sub(1)).0.min(SEGMENTS - 1)).for_each(|n| _ = self.segment(n));
    }

    /// The entry of a slot; its segment is allocated if the pool has grown beyond the others.
    pub(crate) fn get(&self, slot: usize) -> &T {
        let (segment, offset) = locate(slot);
        &self.segment(segment)[offset]
    }

    fn segment(&self, segment: usize) -> &[T] {
        let entries = || (0..FIRST_SEGMENT << segment).map(|_| T::default()).collect();
        self.0[segment].get_or_init(entries)
    }
}
