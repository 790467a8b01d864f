//! The single-producer, single-consumer ring, with batches.
//!
//! Items lie beside words that say how far the stream is published, so a small item and the news of
//! it travel in one cache line: the consumer polls the very line that it is going to read. (With a
//! shared tail cursor instead, as in Lamport's ring of 1977 and most of its descendants, each item
//! costs the transfer of two lines.) A batch is published by one store, after its last item. Room
//! is found by the consumer's cursor, which the producer remembers and looks at again only when its
//! memory says that the ring is full.
//!
//! The items live on the heap ([`ring`]) or, without any heap, in the ring itself ([`Static`]),
//! which may be a `static`.
//!
//! # Progress
//! Every operation is wait-free, apart from what the caller does in a batch. A peer that is
//! pre-empted never blocks the other side; it only keeps its slots full or empty.

use crate::cells::{Cell, POSITIONS_WRAP, Place};
use crate::drops::drop_value;
#[cfg(feature = "alloc")]
pub use crate::spsc_ring::HeapRing;
use crate::spsc_ring::is_after;
pub use crate::spsc_ring::{Ring, Slot, Slots, Static};
use crate::sync::{AtomicU32, AtomicUsize, order};
#[cfg(feature = "alloc")]
use crate::{blocks::Blocks, sync::Arc};
use core::mem::MaybeUninit;
use core::ops::{ControlFlow, Deref};
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
#[cfg(feature = "alloc")]
pub fn ring<T: Send>(capacity: usize) -> (Producer<HeapRing<T>>, Consumer<HeapRing<T>>) {
    ring_at(capacity, 0)
}

/// Creates a [`ring`] whose stream starts at `origin`, so that tests reach every wrap-around.
#[cfg(feature = "alloc")]
pub(crate) fn ring_at<T: Send>(
    capacity: usize,
    origin: usize,
) -> (Producer<HeapRing<T>>, Consumer<HeapRing<T>>) {
    assert!(capacity > 0 && capacity <= 1 << (usize::BITS - 4), "the capacity is out of range");
    let blocks = Blocks::new(capacity, || AtomicUsize::new(origin));
    let head = CachePadded::new(AtomicUsize::new(origin));
    let ring = Arc::new(Ring { head, split: AtomicU32::new(1), origin, capacity, slots: blocks });
    (Producer::new(ring.clone()), Consumer::new(ring))
}

#[cfg(not(ringbuf_loom))]
impl<T: Send, const N: usize> Static<T, N> {
    const POWER_OF_TWO: () = assert!(N.is_power_of_two(), "N has to be a power of two");

    /// An empty ring; N has to be a power of two, which the compiler checks.
    pub const fn new() -> Self {
        let () = Self::POWER_OF_TWO;
        Self {
            head: CachePadded::new(AtomicUsize::new(0)),
            split: AtomicU32::new(0),
            origin: 0,
            capacity: N,
            slots: [const { Slot::new() }; N],
        }
    }

    /// The two ends of the ring; `None` if they were handed out before.
    ///
    /// ```
    /// use ringspin_ringbuf::spsc::Static;
    /// static RING: Static<u32, 8> = Static::new();
    /// let (mut producer, mut consumer) = RING.split().unwrap();
    /// producer.push(1).unwrap();
    /// assert_eq!(consumer.pop(), Some(1));
    /// assert!(RING.split().is_none(), "each end exists once");
    /// ```
    pub fn split(&self) -> Option<(Producer<&Self>, Consumer<&Self>)> {
        // "spsc.split": nothing is handed over, there is nothing in the ring yet.
        if self.split.swap(1, order!(Relaxed, "spsc.split")) != 0 {
            return None;
        }
        Some((Producer::new(self), Consumer::new(self)))
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
impl<T: Send, const N: usize> Static<T, N> {
    /// Starts the stream of an unused ring at `origin`, as [`ring_at`] does.
    fn start_at(&mut self, origin: usize) {
        self.origin = origin;
        *self.head = AtomicUsize::new(origin);
        self.slots.iter_mut().for_each(|slot| slot.start_at(origin));
    }
}

#[cfg(not(ringbuf_loom))]
impl<T: Send, const N: usize> Default for Static<T, N> {
    fn default() -> Self {
        Self::new()
    }
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
pub struct Producer<R> {
    ring: R,
    /// The position of the next item.
    tail: usize,
    /// Where the next item goes.
    place: Place,
    /// Cells before it may be filled without another look at the consumer's head.
    limit: usize,
}

impl<S: Slots, R: Deref<Target = Ring<S>>> Producer<R> {
    fn new(ring: R) -> Self {
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
    pub fn push(&mut self, item: S::Item) -> Result<(), Full<S::Item>> {
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
    pub fn push_batch(&mut self, items: impl IntoIterator<Item = S::Item>) -> usize {
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
        mut fill: impl FnMut(&mut MaybeUninit<S::Item>) -> &mut S::Item,
    ) -> usize {
        let free = self.free(items_max.clamp(1, self.ring.capacity)).min(items_max);
        self.write(free, |cell| {
            cell.with_mut(|cell| {
                // SAFETY: the cell is free, as `write` says.
                let filled: *const S::Item = fill(unsafe { &mut *cell });
                // A valid reference to the slot proves that it holds an item.
                assert!(ptr::eq(filled, cell.cast()), "`fill` has to return the slot it filled");
            });
            ControlFlow::Continue(())
        })
    }

    /// Lets `fill` write up to `free` items, which fit, until it answers `None`, and publishes
    /// them. Returns how many.
    #[inline(always)]
    fn write(
        &mut self,
        free: usize,
        mut fill: impl FnMut(&Cell<S::Item>) -> ControlFlow<()>,
    ) -> usize {
        if free == 0 {
            return 0;
        }
        let (ring, first) = (&*self.ring, self.place);
        let mut run = Run { ring, tail: &mut self.tail, place: &mut self.place, items: 0 };
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

/// Publishes what was written when it goes, even by a panic.
struct Run<'a, S: Slots> {
    ring: &'a Ring<S>,
    tail: &'a mut usize,
    place: &'a mut Place,
    items: usize,
}

impl<S: Slots> Drop for Run<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.items == 0 {
            return;
        }
        let (first, blocks) = (*self.place, self.ring.slots.blocks());
        *self.tail = self.tail.wrapping_add(self.items);
        *self.place = first.behind(self.items, S::PER_BLOCK, blocks);
        if POSITIONS_WRAP {
            let mut block = first.block;
            for _ in 1..(first.offset + self.items).div_ceil(S::PER_BLOCK) {
                block = if block + 1 == blocks { 0 } else { block + 1 };
                self.ring.publish(block, *self.tail);
            }
        }
        self.ring.publish(first.block, *self.tail);
    }
}

/// The popping side; there is exactly one.
#[derive(Debug)]
pub struct Consumer<R> {
    ring: R,
    /// The position of the next item: the ring's own head, which only this side stores.
    head: usize,
    /// Where the next item lies.
    place: Place,
    /// Items before it are known to be published.
    published: usize,
}

impl<S: Slots, R: Deref<Target = Ring<S>>> Consumer<R> {
    fn new(ring: R) -> Self {
        let head = ring.origin;
        Self { ring, head, place: Place::FIRST, published: head }
    }

    /// Takes the oldest item. Wait-free.
    #[inline]
    pub fn pop(&mut self) -> Option<S::Item> {
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
    /// Should `take` panic, the items that it was given are gone and the others stay. (This is a
    /// closure and not an iterator because an iterator could be forgotten before it frees slots.)
    #[inline]
    pub fn pop_batch(&mut self, mut take: impl FnMut(S::Item)) -> usize {
        self.read(usize::MAX, |cell| {
            // SAFETY: the cell holds an item, as `read` says.
            take(cell.with(|cell| unsafe { (*cell).assume_init_read() }));
        })
    }

    /// Shows `see` the next items where they lie, up to `items_max` of them, and drops them there:
    /// unlike [`pop_batch`](Self::pop_batch), it does not move large items. The other half is
    /// [`Producer::write_batch`].
    #[inline]
    pub fn read_batch(&mut self, items_max: usize, mut see: impl FnMut(&mut S::Item)) -> usize {
        self.read(items_max, |cell| {
            cell.with_mut(|cell| {
                // SAFETY: the cell holds an item, as `read` says.
                let item = unsafe { DropInPlace(&mut *cell.cast()) };
                see(item.0);
            });
        })
    }

    /// Calls `f` with the cells of up to `items_max` items that are there; whatever `f` does, an
    /// item with which it was called is gone. Returns how many.
    #[inline(always)]
    fn read(&mut self, items_max: usize, mut f: impl FnMut(&Cell<S::Item>)) -> usize {
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

/// Frees the slots of what was read when it goes, even by a panic.
struct Part<'a, S: Slots> {
    ring: &'a Ring<S>,
    head: &'a mut usize,
    place: &'a mut Place,
    items: usize,
}

impl<S: Slots> Drop for Part<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.head = self.head.wrapping_add(self.items);
        *self.place = self.place.behind(self.items, S::PER_BLOCK, self.ring.slots.blocks());
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

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn remaining_items_are_dropped_with_the_ring() {
        let witness = Arc::new(());
        let (mut producer, mut consumer) = ring(4);
        assert_eq!(producer.push_batch((0..9).map(|_| witness.clone())), 4);
        drop(consumer.pop());
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    /// Where positions wrap, and where the sign of a position changes.
    const ORIGINS: [usize; 4] = [0, usize::MAX - 20, usize::MAX, isize::MAX as usize - 20];

    /// Pushes batches of `pushed` and pops `popped` items one by one in turns, then drops the ends.
    /// Every item was dropped then.
    fn fill_and_drop<S: Slots<Item = (Arc<()>, [u64; WORDS])>, R, const WORDS: usize>(
        (mut producer, mut consumer): (Producer<R>, Consumer<R>),
        witness: &Arc<()>,
        [pushed, popped]: [usize; 2],
    ) where
        R: Deref<Target = Ring<S>>,
    {
        let mut inside = 0;
        for _ in 0..3 {
            inside += producer.push_batch((0..pushed).map(|_| (witness.clone(), [0; WORDS])));
            inside -= (0..popped).filter_map(|_| consumer.pop()).count();
            assert_eq!(Arc::strong_count(witness), 1 + inside);
        }
    }

    fn batches_of_every_size_are_dropped<const WORDS: usize>() {
        for (capacity, origin) in [1, 2, 8, 40].into_iter().flat_map(|c| ORIGINS.map(|o| (c, o))) {
            for pushed in 0..=capacity {
                for popped in 0..=pushed {
                    let witness = Arc::new(());
                    let ends = ring_at(capacity, origin);
                    fill_and_drop::<_, _, WORDS>(ends, &witness, [pushed, popped]);
                    assert_eq!(
                        Arc::strong_count(&witness),
                        1,
                        "{capacity} slots from {origin}, {pushed} pushed and {popped} popped"
                    );
                }
            }
        }
    }

    #[test]
    fn dropped_ring_drops_the_rest_of_every_batch() {
        batches_of_every_size_are_dropped::<0>();
        batches_of_every_size_are_dropped::<8>();
    }

    #[test]
    fn dropped_static_ring_drops_the_rest_of_every_batch() {
        for origin in ORIGINS {
            for [pushed, popped] in (0..=8).flat_map(|n| (0..=n).map(move |m| [n, m])) {
                let witness = Arc::new(());
                let mut ring = Static::<_, 8>::new();
                ring.start_at(origin);
                fill_and_drop::<_, _, 1>(ring.split().unwrap(), &witness, [pushed, popped]);
                drop(ring);
                let left = Arc::strong_count(&witness) - 1;
                assert_eq!(left, 0, "from {origin}, {pushed} pushed and {popped} popped");
            }
        }
    }

    #[test]
    fn ring_drops_all_items_even_if_a_drop_panics() {
        struct Bomb(bool, #[expect(dead_code)] Arc<()>);
        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(!self.0, "an item that panics when it is dropped");
            }
        }
        let witness = Arc::new(());
        let (mut producer, mut consumer) = ring(40);
        producer.push_batch((0..40).map(|n| Bomb(n == 17, witness.clone())));
        (0..5).for_each(|_| drop(consumer.pop()));
        assert!(catch_unwind(AssertUnwindSafe(|| drop((producer, consumer)))).is_err());
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn items_read_in_place_are_dropped_there_even_by_a_panic() {
        let witness = Arc::new(());
        let (mut producer, mut consumer) = ring(20);
        assert_eq!(producer.write_batch(30, |slot| slot.write(Some(witness.clone()))), 20);
        assert_eq!(consumer.read_batch(2, |item| drop(item.take())), 2);
        assert_eq!(Arc::strong_count(&witness), 19);
        let mut seen = 0;
        let panicking = AssertUnwindSafe(|| {
            consumer.read_batch(9, |_| {
                seen += 1;
                assert!(seen < 3);
            })
        });
        assert!(catch_unwind(panicking).is_err());
        assert_eq!(Arc::strong_count(&witness), 16, "three were shown");
        assert_eq!(producer.push_batch((0..9).map(|_| None)), 5, "and their slots are free");
        assert_eq!(consumer.read_batch(usize::MAX, |_| ()), 20);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn a_slot_counts_as_filled_only_if_it_was() {
        let (mut producer, mut consumer) = ring(4);
        let mut filled = 0;
        let forge = AssertUnwindSafe(|| {
            producer.write_batch(4, |slot| {
                filled += 1;
                if filled < 3 { slot.write(filled) } else { Box::leak(Box::new(0)) }
            })
        });
        assert!(catch_unwind(forge).is_err());
        assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some(1), Some(2), None]);
    }

    #[test]
    fn static_ring_splits_once_and_needs_no_heap() {
        static RING: Static<&str, 2> = Static::new();
        let (mut producer, mut consumer) = RING.split().unwrap();
        assert!(RING.split().is_none());
        producer.push("a").unwrap();
        producer.push("b").unwrap();
        assert_eq!(producer.push("c"), Err(Full("c")));
        assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some("a"), Some("b"), None]);
    }

    #[test]
    fn panic_in_a_batch_loses_only_taken_items() {
        let (mut producer, mut consumer) = ring(8);
        producer.push_batch([Box::new(1), Box::new(2), Box::new(3)]);
        let result = catch_unwind(AssertUnwindSafe(|| {
            consumer.pop_batch(|item| assert_ne!(*item, 2));
        }));
        assert!(result.is_err());
        assert_eq!(consumer.pop().as_deref(), Some(&3));
        let items = std::iter::once(Box::new(4)).chain(std::iter::from_fn(|| panic!("no fifth")));
        assert!(catch_unwind(AssertUnwindSafe(|| producer.push_batch(items))).is_err());
        assert_eq!(consumer.pop().as_deref(), Some(&4));
    }

    #[test]
    fn threads_pass_everything_on_in_order() {
        const ITEMS: u64 = 100_000;
        let (mut producer, mut consumer) = ring_at(16, usize::MAX - 50_000);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut next = 0;
                while next < ITEMS {
                    let single = next % 3 == 0 && producer.push(Box::new(next)).is_ok();
                    next += u64::from(single);
                    let batch = next..ITEMS.min(next + 5);
                    next += producer.push_batch(batch.map(Box::new)) as u64;
                    std::thread::yield_now();
                }
            });
            let mut expected = 0;
            while expected < ITEMS {
                if let Some(item) = consumer.pop() {
                    assert_eq!(*item, expected);
                    expected += 1;
                }
                consumer.pop_batch(|item| {
                    assert_eq!(*item, expected);
                    expected += 1;
                });
                std::thread::yield_now();
            }
        });
    }

    proptest! {
        #[test]
        fn behaves_like_a_bounded_deque(
            capacity in prop_oneof![1usize..9, 14usize..50],
            origin in prop_oneof![Just(0), Just(usize::MAX - 13), Just(usize::MAX / 2 - 12)],
            actions in proptest::collection::vec((0u8..7, 0usize..40), 0..200),
        ) {
            let witness = Arc::new(());
            let item = |n: usize| (n, witness.clone());
            let (mut producer, mut consumer) = ring_at(capacity, origin);
            prop_assert_eq!(producer.capacity(), capacity);
            let mut model = VecDeque::new();
            for (n, (action, count)) in actions.into_iter().enumerate() {
                let room = capacity - model.len();
                match action {
                    0 | 1 => {
                        prop_assert_eq!(producer.push(item(n)).is_ok(), room > 0);
                        model.extend((room > 0).then_some(n));
                    }
                    2 => {
                        let pushed = producer.push_batch((n..).take(count).map(item));
                        prop_assert_eq!(pushed, room.min(count));
                        model.extend((n..).take(pushed));
                    }
                    3 => {
                        let mut popped = Vec::new();
                        consumer.pop_batch(|item| popped.push(item.0));
                        prop_assert_eq!(popped, model.drain(..).collect::<Vec<_>>());
                    }
                    4 => {
                        let mut numbers = n..;
                        let written = producer.write_batch(count, |slot| {
                            slot.write(item(numbers.next().expect("numbers do not end")))
                        });
                        prop_assert_eq!(written, room.min(count));
                        model.extend((n..).take(written));
                    }
                    5 => {
                        let mut seen = Vec::new();
                        let due = count.min(model.len());
                        prop_assert_eq!(consumer.read_batch(count, |item| seen.push(item.0)), due);
                        prop_assert_eq!(seen, model.drain(..due).collect::<Vec<_>>());
                    }
                    _ => {
                        prop_assert_eq!(consumer.pop().map(|item| item.0), model.pop_front());
                    }
                }
                prop_assert_eq!(consumer.is_empty(), model.is_empty());
                prop_assert_eq!(Arc::strong_count(&witness), 1 + model.len());
            }
            drop((producer, consumer));
            prop_assert_eq!(Arc::strong_count(&witness), 1, "the ring drops what is left in it");
        }
    }
}
