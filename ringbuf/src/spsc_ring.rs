//! The part of the [SPSC ring](crate::spsc) that its two ends share: the slots, wherever they are
//! kept, the words that publish them, and the consumer's cursor.

#[cfg(feature = "alloc")]
use crate::blocks::Blocks;
use crate::cells::{Cell, Place};
use crate::drops::drop_value;
#[cfg(feature = "alloc")]
use crate::sync::Arc;
use crate::sync::{AtomicU32, AtomicUsize, order};
use core::ops::ControlFlow;
use crossbeam_utils::CachePadded;

/// A ring whose items are on the heap, shared by its two ends.
#[cfg(feature = "alloc")]
pub type HeapRing<T> = Arc<Ring<Blocks<AtomicUsize, T>>>;

/// A ring that holds its `N` slots itself, for a `static` or a stack frame.
pub type Static<T, const N: usize> = Ring<[Slot<T>; N]>;

/// A ring with its slots in `S`.
#[derive(Debug)]
pub struct Ring<S: Slots> {
    /// Where the consumer reads next; only the consumer stores it.
    pub(crate) head: CachePadded<AtomicUsize>,
    /// Not zero once the two ends were handed out.
    pub(crate) split: AtomicU32,
    /// Where the stream started: at the first slot.
    pub(crate) origin: usize,
    /// How many items it holds at most.
    pub(crate) capacity: usize,
    pub(crate) slots: S,
}

/// A slot of a [`Static`] ring: a block of one item.
#[derive(Debug)]
#[repr(C)]
pub struct Slot<T> {
    word: AtomicUsize,
    item: Cell<T>,
}

impl<T> Slot<T> {
    #[cfg(not(ringbuf_loom))]
    pub(crate) const fn new() -> Self {
        Self { word: AtomicUsize::new(0), item: Cell::new() }
    }

    #[cfg(all(test, not(ringbuf_loom)))]
    pub(crate) fn start_at(&mut self, origin: usize) {
        self.word = AtomicUsize::new(origin);
    }
}

/// Where slots are kept: in the ring, or on the heap. Nothing else implements it.
pub trait Slots: sealed::Storage {}

pub(crate) mod sealed {
    use super::*;

    /// Blocks of items behind words that publish them.
    ///
    /// # Safety
    /// `blocks` is constant; a block has one word and `PER_BLOCK` cells, always the same.
    pub unsafe trait Storage {
        /// The content of a slot.
        type Item;
        /// How many items share a word.
        const PER_BLOCK: usize;

        /// How many blocks there are.
        fn blocks(&self) -> usize;

        /// The word of a block.
        ///
        /// # Safety
        /// There are more than `block` blocks.
        unsafe fn word(&self, block: usize) -> &AtomicUsize;

        /// The cells of a block.
        ///
        /// # Safety
        /// There are more than `block` blocks.
        unsafe fn cells(&self, block: usize) -> &[Cell<Self::Item>];
    }
}

impl<T, const N: usize> Slots for [Slot<T>; N] {}

// SAFETY: an array of blocks of one cell.
unsafe impl<T, const N: usize> sealed::Storage for [Slot<T>; N] {
    type Item = T;
    const PER_BLOCK: usize = 1;

    #[inline(always)]
    fn blocks(&self) -> usize {
        N
    }

    #[inline(always)]
    unsafe fn word(&self, block: usize) -> &AtomicUsize {
        // SAFETY: by the contract.
        unsafe { &self.get_unchecked(block).word }
    }

    #[inline(always)]
    unsafe fn cells(&self, block: usize) -> &[Cell<T>] {
        // SAFETY: by the contract.
        core::slice::from_ref(unsafe { &self.get_unchecked(block).item })
    }
}

#[cfg(feature = "alloc")]
impl<T> Slots for Blocks<AtomicUsize, T> {}

#[cfg(feature = "alloc")]
// SAFETY: what the blocks promise.
unsafe impl<T> sealed::Storage for Blocks<AtomicUsize, T> {
    type Item = T;
    const PER_BLOCK: usize = Self::PER_BLOCK;

    #[inline(always)]
    fn blocks(&self) -> usize {
        self.count()
    }

    #[inline(always)]
    unsafe fn word(&self, block: usize) -> &AtomicUsize {
        // SAFETY: by the contract.
        unsafe { self.word(block) }
    }

    #[inline(always)]
    unsafe fn cells(&self, block: usize) -> &[Cell<T>] {
        // SAFETY: by the contract.
        unsafe { self.cells(block) }
    }
}

// SAFETY: each slot belongs to one side at a time, handed over by words and the cursor; items are
// moved between threads, never shared.
unsafe impl<S: Slots<Item: Send>> Sync for Ring<S> {}
// SAFETY: as above.
unsafe impl<S: Slots<Item: Send>> Send for Ring<S> {}

impl<S: Slots> Ring<S> {
    #[inline(always)]
    pub(crate) fn after(&self, place: Place) -> Place {
        place.next(S::PER_BLOCK, self.slots.blocks())
    }

    #[inline(always)]
    pub(crate) fn cell(&self, place: Place) -> &Cell<S::Item> {
        // SAFETY: places start at the first one and go on by `after`.
        unsafe { self.slots.cells(place.block).get_unchecked(place.offset) }
    }

    #[inline(always)]
    pub(crate) fn word(&self, block: usize) -> &AtomicUsize {
        // SAFETY: as above.
        unsafe { self.slots.word(block) }
    }

    /// Tells the consumer that everything before `tail` is there. `block` is where the unpublished
    /// part starts, or one in which it goes on.
    #[inline(always)]
    pub(crate) fn publish(&self, block: usize, tail: usize) {
        // "spsc.commit": releases the items to "spsc.available".
        self.word(block).store(tail, order!(Release, "spsc.commit"));
    }

    /// Gives the slots before `head` back to the producer.
    #[inline(always)]
    pub(crate) fn release(&self, head: usize) {
        // "spsc.release": pairs with "spsc.free".
        self.head.store(head, order!(Release, "spsc.release"));
    }

    /// Calls `f` with the cells of `items` items from `place` on, or until it breaks.
    #[inline(always)]
    pub(crate) fn walk(
        &self,
        place: Place,
        items: usize,
        mut f: impl FnMut(&Cell<S::Item>) -> ControlFlow<()>,
    ) {
        let blocks = self.slots.blocks();
        let (Place { mut block, mut offset }, mut left) = (place, items);
        while left > 0 {
            let here = left.min(S::PER_BLOCK - offset);
            // SAFETY: `block` stays below `blocks`, and the offsets in the block.
            for cell in unsafe { self.slots.cells(block).get_unchecked(offset..offset + here) } {
                if f(cell).is_break() {
                    return;
                }
            }
            left -= here;
            block = if block + 1 == blocks { 0 } else { block + 1 };
            offset = 0;
        }
    }
}

impl<S: Slots> Drop for Ring<S> {
    fn drop(&mut self) {
        // "spsc.drop": this thread has the ring alone. Every publication stores the new end of the
        // stream to one word at least, so the word that is furthest ahead holds the end. (The word
        // at the head alone may be old: a batch stores only to the block in which it starts.)
        let head = self.head.load(order!(Relaxed, "spsc.drop"));
        let words = (0..self.slots.blocks())
            .map(|block| self.word(block).load(order!(Relaxed, "spsc.drop")).wrapping_sub(head));
        let left = words.map(|ahead| ahead as isize).max().unwrap_or(0);
        drop(Left { ring: self, head, items: left.max(0) as usize });
    }
}

/// Drops the items from `head` on; the remaining ones also if a drop panics.
struct Left<'a, S: Slots> {
    ring: &'a Ring<S>,
    head: usize,
    items: usize,
}

impl<S: Slots> Drop for Left<'_, S> {
    fn drop(&mut self) {
        let slots = S::PER_BLOCK * self.ring.slots.blocks();
        while self.items > 0 {
            let slot = self.head.wrapping_sub(self.ring.origin) % slots;
            let place = Place { block: slot / S::PER_BLOCK, offset: slot % S::PER_BLOCK };
            (self.head, self.items) = (self.head.wrapping_add(1), self.items - 1);
            let rest = Left { ring: self.ring, ..*self };
            // SAFETY: the item was published, and lies at or after the consumer's head, so it was
            // not read. Nothing else can reach it.
            self.ring.cell(place).with_mut(|item| unsafe { drop_value((*item).as_mut_ptr()) });
            core::mem::forget(rest);
        }
    }
}

/// Whether `position` lies after `other`. Where positions wrap they are two laps apart at most,
/// which is a quarter of all numbers.
#[inline(always)]
pub(crate) fn is_after(position: usize, other: usize) -> bool {
    position.wrapping_sub(other) as isize > 0
}
