//! Merging of sorted parts by time: the chunks of a file, and the files of a recording.
//!
//! Most parts of a long recording do not overlap in time. So a part is opened only when its first
//! time may be next, and only the parts that overlap there are open at once. The reader asks
//! [`due`](Merge::due) for parts to open until there is none, opens each, and takes the next item
//! from [`first`](Merge::first).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Parts by the time of their next item; parts of equal times by their numbers.
pub(crate) struct Merge<T> {
    /// The parts to be opened, the next one at the end: its earliest time, and its number.
    pending: Vec<Reverse<(u64, usize)>>,
    open: BinaryHeap<Part<T>>,
}

/// An open part.
pub(crate) struct Part<T> {
    /// The time of its next item.
    pub(crate) time: u64,
    pub(crate) number: usize,
    pub(crate) content: T,
}

impl<T> Merge<T> {
    /// Merges parts with these earliest times and numbers.
    pub(crate) fn new(parts: impl IntoIterator<Item = (u64, usize)>) -> Self {
        let mut pending: Vec<_> = parts.into_iter().map(Reverse).collect();
        pending.sort_unstable();
        Self { pending, open: BinaryHeap::new() }
    }

    /// The number of a part that has to be opened before the next item is known.
    pub(crate) fn due(&mut self) -> Option<usize> {
        let next = self.open.peek().map(Part::key);
        let is_due = |pending: &mut Reverse<(u64, usize)>| next.is_none_or(|next| pending.0 < next);
        self.pending.pop_if(is_due).map(|Reverse((_, number))| number)
    }

    /// Adds an open part.
    pub(crate) fn push(&mut self, part: Part<T>) {
        self.open.push(part);
    }

    /// The part with the next item; its time may be changed.
    pub(crate) fn first(&mut self) -> Option<PeekMut<'_, Part<T>>> {
        self.open.peek_mut()
    }

    /// Drops all parts.
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.open.clear();
    }
}

impl<T> Part<T> {
    fn key(&self) -> (u64, usize) {
        (self.time, self.number)
    }
}

impl<T> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Part<T> {}

impl<T> PartialOrd for Part<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Part<T> {
    /// The greatest part has the next item.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}
