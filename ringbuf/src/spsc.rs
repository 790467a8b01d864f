//! The single-producer, single-consumer ring, with batches.
//!
//! Items lie beside words that say how far the stream is published, so a small item and the word
//! that announces it travel in one cache line: the consumer polls the line that it reads next.
//! (With a shared tail cursor, as in Lamport's ring of 1977 and most of its descendants, each item
//! costs the transfer of two lines.) A batch is published by one store, after its last item. The
//! producer learns of free slots from the consumer's cursor, which it remembers and loads again
//! only when the remembered value says that the ring is full.
//!
//! # Progress
//! Every operation is wait-free, apart from the caller's closure or iterator in a batch. A peer
//! that is pre-empted never blocks the other side; it only keeps its slots full or empty.

use crate::blocks::Blocks;
use crate::cells::{Cell, POSITIONS_WRAP, Place};
use crate::drops::drop_value;
use crate::sync::{Arc, AtomicUsize, order};
use core::mem::MaybeUninit;
use core::ops::ControlFlow;
use core::ptr;
use crossbeam_utils::CachePadded;

/// Creates a ring on the heap for `capacity` items.
///
/// # Panics
/// If `capacity` is zero, or too large for the address space.
///
/// ```
/// let (mut producer, mut consumer) = ringspin_ringbuf::spsc::ring(2);
/// producer.push("a").unwrap();
/// producer.push("b").unwrap();
/// assert!(producer.push("c").is_err());
/// assert_eq!(consumer.pop(), Some("a"));
/// ```
pub fn ring<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    ring_at(capacity, 0)
}

/// Creates a [`ring`] with a stream that starts at `origin`, so that tests reach every wrap-around.
pub(crate) fn ring_at<T: Send>(capacity: usize, origin: usize) -> (Producer<T>, Consumer<T>) {
    assert!(capacity > 0 && capacity <= 1 << (usize::BITS - 4), "the capacity is out of range");
    let blocks = Blocks::new(capacity, || AtomicUsize::new(origin));
    let head = CachePadded::new(AtomicUsize::new(origin));
    let ring = Arc::new(Ring { head, origin, capacity, blocks });
    (Producer::new(ring.clone()), Consumer::new(ring))
}

/// The ring had no free slot; the item is handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> core::fmt::Display for Full<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the ring is full")
    }
}

impl<T: core::fmt::Debug> core::error::Error for Full<T> {}

/// The pushing side; there is exactly one.
#[derive(Debug)]
pub struct Producer<T> {
    ring: Arc<Ring<T>>,
    /// The position of the next item.
    tail: usize,
    /// Where the next item goes.
    place: Place,
    /// Cells before it may be filled without another look at the consumer's head.
    limit: usize,
}

impl<T> Producer<T> {
    fn new(ring: Arc<Ring<T>>) -> Self {
        let (tail, limit) = (ring.origin, ring.origin.wrapping_add(ring.capacity));
        Self { ring, tail, place: Place::FIRST, limit }
    }

    /// How many items could be pushed now. Looks at the consumer's cursor only if fewer than
    /// `wanted` are known to fit.
    #[inline(always)]
    fn free(&mut self, wanted: usize) -> usize {
        if self.limit.wrapping_sub(self.tail) < wanted {
            // "spsc.free": pairs with "spsc.release"; the consumer is done with the slots before.
            let head = self.ring.head.load(order!(Acquire, "spsc.free"));
            self.limit = head.wrapping_add(self.ring.capacity);
        }
        self.limit.wrapping_sub(self.tail)
    }

    /// Appends `item`. Wait-free.
    ///
    /// # Errors
    /// [`Full`] hands the item back.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Full<T>> {
        if self.free(1) == 0 {
            return Err(Full(item));
        }
        // SAFETY: the slots from tail to head + capacity are free, and only this side writes.
        self.ring.cell(self.place).with_mut(|cell| unsafe { _ = (*cell).write(item) });
        self.tail = self.tail.wrapping_add(1);
        self.ring.publish(self.place.block, self.tail);
        self.place = self.ring.after(self.place);
        Ok(())
    }

    /// Appends items from `items` while there is room, and returns how many. Takes no item that it
    /// cannot append. The consumer sees them together, after the last one (and those before it,
    /// if `items` panics). Wait-free, apart from the iterator.
    #[inline]
    pub fn push_batch(&mut self, items: impl IntoIterator<Item = T>) -> usize {
        let mut items = items.into_iter();
        let free = self.free(items.size_hint().0.clamp(1, self.ring.capacity));
        self.write(free, |cell| {
            let Some(item) = items.next() else { return ControlFlow::Break(()) };
            // SAFETY: the cell is free, as `write` says.
            cell.with_mut(|cell| unsafe { _ = (*cell).write(item) });
            ControlFlow::Continue(())
        })
    }

    /// Appends up to `items_max` items while there is room, and returns how many. Each is written
    /// in its slot by `fill`, so that a large item need not be moved there. The consumer sees them
    /// together, after the last one (and those before it, if `fill` panics). Wait-free, apart from
    /// `fill`.
    ///
    /// # Panics
    /// If `fill` does, or returns another reference than that to the filled slot.
    ///
    /// ```
    /// let (mut producer, mut consumer) = ringspin_ringbuf::spsc::ring(4);
    /// assert_eq!(producer.write_batch(9, |slot| slot.write([7; 512])), 4);
    /// let mut sum = 0;
    /// assert_eq!(consumer.read_batch(9, |item| sum += item[0]), 4);
    /// assert_eq!(sum, 28);
    /// ```
    #[inline]
    pub fn write_batch(
        &mut self,
        items_max: usize,
        mut fill: impl FnMut(&mut MaybeUninit<T>) -> &mut T,
    ) -> usize {
        let free = self.free(items_max.clamp(1, self.ring.capacity)).min(items_max);
        self.write(free, |cell| {
            cell.with_mut(|cell| {
                // SAFETY: the cell is free, as `write` says.
                let filled: *const T = fill(unsafe { &mut *cell });
                // A valid reference to the slot proves that it holds an item.
                assert!(ptr::eq(filled, cell.cast()), "`fill` has to return the slot it filled");
            });
            ControlFlow::Continue(())
        })
    }

    /// Lets `fill` write up to `free` items, which fit, until it answers `None`, and publishes
    /// them. Returns how many.
    #[inline(always)]
    fn write(&mut self, free: usize, mut fill: impl FnMut(&Cell<T>) -> ControlFlow<()>) -> usize {
        if free == 0 {
            return 0;
        }
        let (ring, first) = (&*self.ring, self.place);
        let mut run = Batch { ring, tail: &mut self.tail, place: &mut self.place, items: 0 };
        ring.walk(first, free, |cell| {
            fill(cell)?;
            run.items += 1;
            ControlFlow::Continue(())
        });
        run.items
    }

    /// How many items the ring holds at most.
    pub fn capacity(&self) -> usize {
        self.ring.capacity
    }
}

/// Publishes the written items when it is dropped, even by a panic.
struct Batch<'a, T> {
    ring: &'a Ring<T>,
    tail: &'a mut usize,
    place: &'a mut Place,
    items: usize,
}

impl<T> Drop for Batch<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.items == 0 {
            return;
        }
        let (first, blocks) = (*self.place, self.ring.blocks.count());
        *self.tail = self.tail.wrapping_add(self.items);
        *self.place = first.behind(self.items, Ring::<T>::PER_BLOCK, blocks);
        if POSITIONS_WRAP {
            let mut block = first.block;
            for _ in 1..(first.offset + self.items).div_ceil(Ring::<T>::PER_BLOCK) {
                block = if block + 1 == blocks { 0 } else { block + 1 };
                self.ring.publish(block, *self.tail);
            }
        }
        self.ring.publish(first.block, *self.tail);
    }
}

/// The popping side; there is exactly one.
#[derive(Debug)]
pub struct Consumer<T> {
    ring: Arc<Ring<T>>,
    /// The position of the next item: the ring's own head, which only this side stores.
    head: usize,
    /// Where the next item lies.
    place: Place,
    /// Items before it are known to be published.
    published: usize,
}

impl<T> Consumer<T> {
    fn new(ring: Arc<Ring<T>>) -> Self {
        let head = ring.origin;
        Self { ring, head, place: Place::FIRST, published: head }
    }

    /// Takes the oldest item. Wait-free.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if !self.available() {
            return None;
        }
        let cell = self.ring.cell(self.place);
        // SAFETY: the slot holds the item of this position, and the head never comes back to it.
        // (Made an `Option` at once: a large item would be moved once more otherwise.)
        let item = cell.with(|cell| unsafe { Some((*cell).assume_init_read()) });
        self.head = self.head.wrapping_add(1);
        self.place = self.ring.after(self.place);
        self.ring.release(self.head);
        item
    }

    /// Hands the items that are in the ring to `take`, oldest first, at most the ring's capacity,
    /// and returns how many. Their slots become free in a few goes. Wait-free, apart from `take`.
    ///
    /// Should `take` panic, the items that it was given are dropped and the others stay. (This is a
    /// closure and not an iterator because an iterator could be forgotten before it frees slots.)
    #[inline]
    pub fn pop_batch(&mut self, mut take: impl FnMut(T)) -> usize {
        self.read(usize::MAX, |cell| {
            // SAFETY: the cell holds an item, as `read` says.
            take(cell.with(|cell| unsafe { (*cell).assume_init_read() }));
        })
    }

    /// Shows `see` the next items where they lie, up to `items_max` of them, and drops them there:
    /// unlike [`pop_batch`](Self::pop_batch), it does not move large items. The other half is
    /// [`Producer::write_batch`].
    #[inline]
    pub fn read_batch(&mut self, items_max: usize, mut see: impl FnMut(&mut T)) -> usize {
        self.read(items_max, |cell| {
            cell.with_mut(|cell| {
                // SAFETY: the cell holds an item, as `read` says.
                let item = unsafe { DropInPlace(&mut *cell.cast()) };
                see(item.0);
            });
        })
    }

    /// Calls `f` with the cells of up to `items_max` items that are there; whatever `f` does, an
    /// item with which it was called is consumed. Returns how many.
    #[inline(always)]
    fn read(&mut self, items_max: usize, mut f: impl FnMut(&Cell<T>)) -> usize {
        let items_max = items_max.min(self.ring.capacity);
        let mut total = 0;
        while total < items_max && self.available() {
            let (ring, first) = (&*self.ring, self.place);
            let known = self.published.wrapping_sub(self.head).min(items_max - total);
            let mut part = Part { ring, head: &mut self.head, place: &mut self.place, items: 0 };
            ring.walk(first, known, |cell| {
                part.items += 1;
                f(cell);
                ControlFlow::Continue(())
            });
            total += part.items;
        }
        total
    }

    /// Whether a pop would find nothing. Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // "spsc.empty": only a hint; "spsc.available" acquires.
        let word = self.ring.word(self.place.block).load(order!(Relaxed, "spsc.empty"));
        self.published == self.head && !is_after(word, self.head)
    }

    /// Whether there is an item at the head.
    #[inline(always)]
    fn available(&mut self) -> bool {
        if self.published != self.head {
            return true;
        }
        // "spsc.available": pairs with "spsc.commit".
        let word = self.ring.word(self.place.block).load(order!(Acquire, "spsc.available"));
        if !is_after(word, self.head) {
            return false;
        }
        self.published = word;
        true
    }
}

/// Frees the slots of the items read when it is dropped, even by a panic.
struct Part<'a, T> {
    ring: &'a Ring<T>,
    head: &'a mut usize,
    place: &'a mut Place,
    items: usize,
}

impl<T> Drop for Part<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.head = self.head.wrapping_add(self.items);
        *self.place = self.place.behind(self.items, Ring::<T>::PER_BLOCK, self.ring.blocks.count());
        self.ring.release(*self.head);
    }
}

/// Drops an item where it lies when it goes.
struct DropInPlace<'a, T>(&'a mut T);

impl<T> Drop for DropInPlace<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the maker of this owns the item, and does not use it any more.
        unsafe { drop_value(self.0) };
    }
}

/// The blocks of items, the words that publish them, and the consumer's cursor, shared by the two
/// ends.
#[derive(Debug)]
struct Ring<T> {
    /// Where the consumer reads next; only the consumer stores it.
    head: CachePadded<AtomicUsize>,
    /// Where the stream started: at the first slot.
    origin: usize,
    /// How many items it holds at most.
    capacity: usize,
    blocks: Blocks<AtomicUsize, T>,
}

// SAFETY: each slot belongs to one side at a time, handed over by words and the cursor; items are
// moved between threads, never shared.
unsafe impl<T: Send> Sync for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T> Ring<T> {
    const PER_BLOCK: usize = Blocks::<AtomicUsize, T>::PER_BLOCK;

    #[inline(always)]
    fn after(&self, place: Place) -> Place {
        place.next(Self::PER_BLOCK, self.blocks.count())
    }

    #[inline(always)]
    fn cell(&self, place: Place) -> &Cell<T> {
        // SAFETY: places start at the first one and continue by `after`.
        unsafe { self.blocks.cells(place.block).get_unchecked(place.offset) }
    }

    #[inline(always)]
    fn word(&self, block: usize) -> &AtomicUsize {
        // SAFETY: as above.
        unsafe { self.blocks.word(block) }
    }

    /// Tells the consumer that everything before `tail` is there. `block` is the one in which the
    /// unpublished part starts or continues.
    #[inline(always)]
    fn publish(&self, block: usize, tail: usize) {
        // "spsc.commit": releases the items to "spsc.available".
        self.word(block).store(tail, order!(Release, "spsc.commit"));
    }

    /// Gives the slots before `head` back to the producer.
    #[inline(always)]
    fn release(&self, head: usize) {
        // "spsc.release": pairs with "spsc.free".
        self.head.store(head, order!(Release, "spsc.release"));
    }

    /// Calls `f` with the cells of `items` items from `place` on, or until it breaks.
    #[inline(always)]
    fn walk(&self, place: Place, items: usize, mut f: impl FnMut(&Cell<T>) -> ControlFlow<()>) {
        let blocks = self.blocks.count();
        let (Place { mut block, mut offset }, mut left) = (place, items);
        while left > 0 {
            let here = left.min(Self::PER_BLOCK - offset);
            // SAFETY: `block` stays below `blocks`, and the offsets in the block.
            for cell in unsafe { self.blocks.cells(block).get_unchecked(offset..offset + here) } {
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

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // "spsc.drop": this thread has the ring alone. Every publication stores the new end of the
        // stream to one word at least, so the word that is furthest ahead holds the end. (The word
        // at the head alone may be old: a batch stores only to the block in which it starts.)
        let head = self.head.load(order!(Relaxed, "spsc.drop"));
        let words = (0..self.blocks.count())
            .map(|block| self.word(block).load(order!(Relaxed, "spsc.drop")).wrapping_sub(head));
        let left = words.map(|ahead| ahead as isize).max().unwrap_or(0);
        drop(Left { ring: self, head, items: left.max(0) as usize });
    }
}

/// Drops the items from `head` on; the remaining ones also if a drop panics.
struct Left<'a, T> {
    ring: &'a Ring<T>,
    head: usize,
    items: usize,
}

impl<T> Drop for Left<'_, T> {
    fn drop(&mut self) {
        let slots = Ring::<T>::PER_BLOCK * self.ring.blocks.count();
        while self.items > 0 {
            let slot = self.head.wrapping_sub(self.ring.origin) % slots;
            let place =
                Place { block: slot / Ring::<T>::PER_BLOCK, offset: slot % Ring::<T>::PER_BLOCK };
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
fn is_after(position: usize, other: usize) -> bool {
    position.wrapping_sub(other) as isize > 0
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
