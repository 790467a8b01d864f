//! The pushing side of the multiplexer: it admits consumers and waits for the slowest.
//!
//! One thread pushes: it writes the item into its cell, then publishes the position by one release
//! store to the word of the block, which consumers acquire. It reads the cursors of the consumers,
//! with acquire, only when the items that it knows to be free are used up, and keeps the lowest as
//! its limit: a look at each cursor for each item would fetch their cache lines again and again. It
//! admits newcomers itself at the start of a push, so that none starts at an item which this push
//! overwrites. A batch has one store, in a guard that also publishes after a panic of the iterator.

use super::{PENDING, Ring};
use crate::cells::{Cell, Place};
use crate::sync::{Arc, order};
use core::mem::needs_drop;
use core::ops::ControlFlow;

/// The ring is full, since at least one consumer has not read its oldest item; the item is handed
/// back. Try again when that consumer has read on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> core::fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> core::fmt::Display for Full<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the slowest consumer is a whole ring behind; push again when it has read on")
    }
}

impl<T> core::error::Error for Full<T> {}

/// The pushing side; there is exactly one.
///
/// An item stays in the ring until another one takes its slot, a lap later, and is dropped then. A
/// lap is the capacity or a few items more, for the ring consists of equal blocks.
///
/// Items that can't be read by several threads don't leave their own:
/// ```compile_fail
/// let (mut producer, _) = ringspin_ringbuf::multiplexer::multiplexer(2, 1);
/// std::thread::spawn(move || producer.push(std::cell::Cell::new(1)));
/// ```
#[derive(Debug)]
pub struct Producer<T> {
    ring: Arc<Ring<T>>,
    /// The sequence of the next item.
    tail: u64,
    /// Where it goes.
    place: Place,
    /// Items before it may be pushed without another look at the cursors.
    limit: u64,
    /// Where the second lap starts, in which items replace others.
    second_lap: u64,
    /// How many joins were seen.
    joins: u64,
}

impl<T> Producer<T> {
    pub(super) fn new(ring: Arc<Ring<T>>) -> Self {
        let (tail, place) = (ring.origin, Place::FIRST);
        let (limit, second_lap) = (tail + ring.capacity, tail + ring.slots());
        Self { ring, tail, place, limit, second_lap, joins: 0 }
    }

    /// Appends `item`. It goes unread if there are no consumers. Wait-free.
    ///
    /// # Errors
    /// [`Full`] when the slot's item was not yet read by all consumers.
    ///
    /// # Panics
    /// If the drop of the item that lay in the slot does; the new one has been pushed then.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Full<T>> {
        self.admit();
        if self.room(1) == 0 {
            return Err(Full(item));
        }
        let mut run = self.run();
        let old = run.write(run.ring.cell(*run.place), item);
        drop(run);
        drop(old);
        Ok(())
    }

    /// Appends from `items` until they end, the ring is full, or a whole ring of them is pushed.
    /// Returns the number; items that were not pushed are still in `items`. Consumers see them
    /// together, after the last one (and those before it, if something panics).
    ///
    /// # Panics
    /// If [`push`](Self::push) or the iterator panics.
    ///
    /// ```
    /// let (mut producer, multiplexer) = ringspin_ringbuf::multiplexer::multiplexer(4, 1);
    /// let mut consumer = multiplexer.join().unwrap();
    /// let mut items = 1..=6;
    /// assert_eq!(producer.push_batch(&mut items), 4);
    /// assert_eq!(items, 5..=6);
    /// let mut sum = 0;
    /// assert_eq!(consumer.read_batch(usize::MAX, |item| sum += item), 4);
    /// assert_eq!(sum, 10);
    /// ```
    #[inline]
    pub fn push_batch(&mut self, items: &mut impl Iterator<Item = T>) -> usize {
        self.admit();
        let (mut pushed, capacity) = (0, self.capacity());
        let mut wanted = items.size_hint().0.clamp(1, capacity);
        loop {
            let most = self.room(wanted).min(capacity - pushed);
            let mut run = self.run();
            run.fill(most, |run, cell| {
                let Some(item) = items.next() else { return ControlFlow::Break(()) };
                drop(run.write(cell, item));
                ControlFlow::Continue(())
            });
            pushed += run.items;
            if run.items < most || most == 0 {
                return pushed;
            }
            wanted = 1;
        }
    }

    /// How many items fit.
    pub fn capacity(&self) -> usize {
        self.ring.capacity as usize
    }

    #[inline(always)]
    fn run(&mut self) -> Batch<'_, T> {
        let Self { ring, tail, place, second_lap, .. } = self;
        Batch { ring, start: *tail, tail, place, second_lap: *second_lap, items: 0 }
    }

    /// Admits the consumers that asked to join since the last push.
    #[inline(always)]
    fn admit(&mut self) {
        // "gating.glance": only whether it changed; "gating.answer" acquires. A join that happens
        // before this push is seen, and this push appends the newcomer's first item.
        if self.ring.joins.load(order!(Relaxed, "gating.glance")) != self.joins {
            self.admit_pending();
        }
    }

    #[cold]
    fn admit_pending(&mut self) {
        // "gating.answer": pairs with "gating.ask"; a join that was counted is found below.
        self.joins = self.ring.joins.load(order!(Acquire, "gating.answer"));
        for cursor in &self.ring.cursors {
            // "gating.find": a look that spares the cursors in use an exchange.
            if cursor.load(order!(Relaxed, "gating.find")) == PENDING {
                // "gating.admit": pairs with "gating.leave" by way of "gating.claim": the reads of
                // the cursor's last owner precede this push. If the newcomer has left again there
                // is nothing to do, and nothing to retry.
                let _ = cursor.compare_exchange(
                    PENDING,
                    self.tail,
                    order!(Acquire, "gating.admit"),
                    order!(Relaxed, "gating.gone"),
                );
            }
        }
    }

    /// How many items fit. Looks at the cursors only if fewer than `wanted` are known to.
    #[inline(always)]
    fn room(&mut self, wanted: usize) -> usize {
        if self.limit - self.tail < wanted as u64 {
            self.scan();
        }
        (self.limit - self.tail) as usize
    }

    #[inline(never)]
    fn scan(&mut self) {
        let mut lowest = self.tail;
        for cursor in &self.ring.cursors {
            // "gating.scan": pairs with "gating.pass" and "gating.leave": what consumers read
            // was read before it is overwritten.
            let position = cursor.load(order!(Acquire, "gating.scan"));
            if position < PENDING {
                lowest = lowest.min(position);
            }
        }
        self.limit = lowest + self.ring.capacity;
    }
}

/// Items that are published together when this goes, even by a panic.
struct Batch<'a, T> {
    ring: &'a Ring<T>,
    tail: &'a mut u64,
    place: &'a mut Place,
    start: u64,
    second_lap: u64,
    items: usize,
}

impl<T> Batch<'_, T> {
    /// Calls `f`, which writes an item or breaks, with up to `most` cells, which are free. With the
    /// iterator in here instead of in `f`, each large item was moved once more.
    #[inline(always)]
    fn fill(&mut self, most: usize, mut f: impl FnMut(&mut Self, &Cell<T>) -> ControlFlow<()>) {
        let (ring, blocks) = (self.ring, self.ring.blocks.count());
        let Place { mut block, mut offset } = *self.place;
        while self.items < most {
            let here = (most - self.items).min(ring.per_block - offset);
            // SAFETY: `block` stays below `blocks`, and the offsets in the block.
            let cells = unsafe { ring.blocks.cells(block).get_unchecked(offset..offset + here) };
            for cell in cells {
                if f(self, cell).is_break() {
                    return;
                }
            }
            block = if block + 1 == blocks { 0 } else { block + 1 };
            offset = 0;
        }
    }

    /// Writes the next item, to a cell that all consumers have passed, and returns the old one.
    #[inline(always)]
    fn write(&mut self, cell: &Cell<T>, item: T) -> Option<T> {
        // Remembered, not read from the word: a consumer polls that, and to load before the store
        // would fetch its cache line twice (measured: 50 ns one way). The old item is moved out and
        // dropped last, so that its drop neither delays the new one nor can leave the slot
        // half-done by a panic.
        let replaces = self.start + self.items as u64 >= self.second_lap;
        let old = cell.with_mut(|cell| {
            // SAFETY: every consumer has passed the slot's old item, so none refers to it: those
            // that `scan` saw because of `limit`, and those admitted since because they started
            // after it. The old item was written if the new one `replaces` it.
            unsafe {
                let old = (needs_drop::<T>() && replaces).then(|| (*cell).assume_init_read());
                (*cell).write(item);
                old
            }
        });
        self.items += 1;
        old
    }
}

impl<T> Drop for Batch<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.items == 0 {
            return;
        }
        let first = *self.place;
        *self.place = self.ring.behind(first, self.items);
        *self.tail = self.start + self.items as u64;
        // "gating.commit": pairs with "gating.look".
        self.ring.word(first.block).store(*self.tail, order!(Release, "gating.commit"));
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.ring.end.store(self.tail, order!(Relaxed, "gating.end"));
        // "gating.abandon": pairs with "gating.abandoned".
        self.ring.abandoned.store(1, order!(Release, "gating.abandon"));
    }
}
