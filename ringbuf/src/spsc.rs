//! The single-producer, single-consumer ring, with batches.
//!
//! Each slot carries the sequence of the item in it, so an item and the news of it travel in one
//! cache line: the consumer polls the very slot that it is going to read. (With a shared tail
//! cursor instead, as in Lamport's ring of 1977 and most of its descendants, each item costs the
//! transfer of two lines. Measured here as one-way latency of a `u64`, medians in one run: 144 ns
//! with sequences, 197 ns with cursors, 147 ns for two bare cache lines.) Room is found by the
//! consumer's cursor, which the producer remembers and looks at again only when its memory says
//! that the ring is full.
//!
//! The slots live on the heap ([`ring`]) or, without any heap, in the ring itself ([`Static`]),
//! which may be a `static`.
//!
//! # Progress
//! Every operation is wait-free. A peer that is pre-empted never blocks the other side; it only
//! keeps its slots full or empty.

#[cfg(feature = "alloc")]
use crate::sync::Arc;
use crate::sync::{AtomicU32, AtomicUsize, UnsafeCell, order};
#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::mem::MaybeUninit;
use core::ops::Deref;
use crossbeam_utils::CachePadded;

/// Creates a ring on the heap for at least `capacity` items (rounded up to a power of two).
///
/// # Panics
/// If `capacity` is zero or above a quarter of the address space.
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

/// As [`ring`], with the stream starting at `origin`: tests reach every wrap-around this way.
#[cfg(feature = "alloc")]
pub(crate) fn ring_at<T: Send>(
    capacity: usize,
    origin: usize,
) -> (Producer<HeapRing<T>>, Consumer<HeapRing<T>>) {
    assert!(capacity > 0 && capacity <= 1 << (usize::BITS - 2), "the capacity is out of range");
    // Any sequence will do that is not the first position's: here, of the lap before.
    let slots = (0..capacity.next_power_of_two()).map(|_| Slot::new(origin)).collect();
    let ring = Arc::new(Ring {
        head: CachePadded::new(AtomicUsize::new(origin)),
        split: AtomicU32::new(1),
        slots,
    });
    let producer = Producer { ring: ring.clone(), tail: origin, head_seen: origin };
    (producer, Consumer { ring, head: origin })
}

/// A ring whose slots are on the heap, shared by its two ends.
#[cfg(feature = "alloc")]
pub type HeapRing<T> = Arc<Ring<Box<[Slot<T>]>>>;

/// A ring that holds its `N` slots itself, for a `static` or a stack frame.
pub type Static<T, const N: usize> = Ring<[Slot<T>; N]>;

/// A ring with its slots in `S`.
#[derive(Debug)]
pub struct Ring<S: Slots> {
    /// Where the consumer reads next; only the consumer stores it.
    head: CachePadded<AtomicUsize>,
    /// Not zero once the two ends were handed out.
    split: AtomicU32,
    slots: S,
}

/// One place of a ring.
#[derive(Debug)]
pub struct Slot<T> {
    /// One more than the position of the last item that was written here.
    sequence: AtomicUsize,
    item: UnsafeCell<MaybeUninit<T>>,
}

/// Where slots are kept: in the ring, or in a box. Nothing else implements it.
///
/// # Safety
/// `slots` always returns the same slice, whose length is a power of two.
pub unsafe trait Slots: sealed::Sealed {
    /// What a slot holds.
    type Item;

    #[doc(hidden)]
    fn slots(&self) -> &[Slot<Self::Item>];
}

mod sealed {
    pub trait Sealed {}
    impl<T, const N: usize> Sealed for [super::Slot<T>; N] {}
    #[cfg(feature = "alloc")]
    impl<T> Sealed for alloc::boxed::Box<[super::Slot<T>]> {}
}

// SAFETY: an array is one slice; `Static::new` checks its length.
unsafe impl<T, const N: usize> Slots for [Slot<T>; N] {
    type Item = T;

    #[inline]
    fn slots(&self) -> &[Slot<T>] {
        self
    }
}

#[cfg(feature = "alloc")]
// SAFETY: a box is one slice; `ring_at` rounds its length up.
unsafe impl<T> Slots for Box<[Slot<T>]> {
    type Item = T;

    #[inline]
    fn slots(&self) -> &[Slot<T>] {
        self
    }
}

// SAFETY: each slot belongs to one side at a time, handed over by the cursors; items are moved
// between threads, never shared.
unsafe impl<S: Slots<Item: Send>> Sync for Ring<S> {}
// SAFETY: as above.
unsafe impl<S: Slots<Item: Send>> Send for Ring<S> {}

impl<T> Slot<T> {
    #[cfg(not(ringbuf_loom))]
    const fn new(sequence: usize) -> Self {
        let item = UnsafeCell::new(MaybeUninit::uninit());
        Self { sequence: AtomicUsize::new(sequence), item }
    }

    #[cfg(ringbuf_loom)]
    fn new(sequence: usize) -> Self {
        let item = UnsafeCell::new(MaybeUninit::uninit());
        Self { sequence: AtomicUsize::new(sequence), item }
    }
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
            slots: [const { Slot::new(0) }; N],
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
        let producer = Producer { ring: self, tail: 0, head_seen: 0 };
        Some((producer, Consumer { ring: self, head: 0 }))
    }
}

#[cfg(not(ringbuf_loom))]
impl<T: Send, const N: usize> Default for Static<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Slots> Ring<S> {
    #[inline]
    fn capacity(&self) -> usize {
        self.slots.slots().len()
    }

    #[inline]
    fn slot(&self, position: usize) -> &Slot<S::Item> {
        let slots = self.slots.slots();
        // SAFETY: the length is a power of two, so the mask keeps the index below it.
        unsafe { slots.get_unchecked(position & (slots.len() - 1)) }
    }
}

impl<S: Slots> Drop for Ring<S> {
    fn drop(&mut self) {
        // "spsc.drop": whoever drops the ring has it alone.
        let mut head = self.head.load(order!(Relaxed, "spsc.drop"));
        for _ in 0..self.capacity() {
            let slot = self.slot(head);
            head = head.wrapping_add(1);
            if slot.sequence.load(order!(Relaxed, "spsc.drop")) != head {
                return;
            }
            // SAFETY: its sequence says that the slot holds an item, which was not read: it lies at
            // or after the consumer's head. Nobody else can reach it.
            slot.item.with_mut(|item| unsafe { (*item).assume_init_drop() });
        }
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
    /// Where the next item goes.
    tail: usize,
    /// The consumer's head when it was last looked at.
    head_seen: usize,
}

impl<S: Slots, R: Deref<Target = Ring<S>>> Producer<R> {
    /// How many items could be pushed now. Looks at the consumer's cursor only if fewer than
    /// `wanted` are known to fit.
    #[inline]
    fn free(&mut self, wanted: usize) -> usize {
        let capacity = self.ring.capacity();
        let free = capacity - self.tail.wrapping_sub(self.head_seen);
        if free >= wanted {
            return free;
        }
        // "spsc.free": pairs with "spsc.release"; the consumer is done with the slots before.
        self.head_seen = self.ring.head.load(order!(Acquire, "spsc.free"));
        capacity - self.tail.wrapping_sub(self.head_seen)
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
        self.write(item);
        Ok(())
    }

    /// Appends items from `items` while there is room, and returns how many. Takes no item that it
    /// cannot append. Wait-free, apart from the iterator.
    #[inline]
    pub fn push_batch(&mut self, items: impl IntoIterator<Item = S::Item>) -> usize {
        let items = items.into_iter();
        let free = self.free(items.size_hint().0.clamp(1, self.ring.capacity()));
        let start = self.tail;
        for item in items.take(free) {
            self.write(item);
        }
        self.tail.wrapping_sub(start)
    }

    /// Writes into a slot that is known to be free.
    #[inline]
    fn write(&mut self, item: S::Item) {
        let slot = self.ring.slot(self.tail);
        slot.item.with_mut(|cell| {
            // SAFETY: the slots from tail to head + capacity are free, and only this side writes.
            unsafe { (*cell).write(item) };
        });
        self.tail = self.tail.wrapping_add(1);
        // "spsc.commit": releases the item to "spsc.available".
        slot.sequence.store(self.tail, order!(Release, "spsc.commit"));
    }

    /// How many items the ring holds at most.
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }
}

/// The popping side; there is exactly one.
#[derive(Debug)]
pub struct Consumer<R> {
    ring: R,
    /// The ring's own head, which only this side stores.
    head: usize,
}

impl<S: Slots, R: Deref<Target = Ring<S>>> Consumer<R> {
    /// Takes the oldest item. Wait-free.
    #[inline]
    pub fn pop(&mut self) -> Option<S::Item> {
        let item = self.read()?;
        self.release();
        Some(item)
    }

    /// Hands the items that are in the ring to `take`, oldest first, at most the ring's capacity;
    /// their slots become free together, afterwards. Returns how many. Wait-free, apart from
    /// `take`.
    ///
    /// Should `take` panic, the items that it was given are gone and the others stay. (This is a
    /// closure and not an iterator because an iterator could be forgotten before it frees slots.)
    #[inline]
    pub fn pop_batch(&mut self, mut take: impl FnMut(S::Item)) -> usize {
        let start = self.head;
        let batch = Batch(self);
        for _ in 0..batch.0.ring.capacity() {
            match batch.0.read() {
                Some(item) => take(item),
                None => break,
            }
        }
        batch.0.head.wrapping_sub(start)
    }

    /// Whether a pop would find nothing. Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let slot = self.ring.slot(self.head);
        // "spsc.empty": an answer and no more; "spsc.available" acquires.
        slot.sequence.load(order!(Relaxed, "spsc.empty")) != self.head.wrapping_add(1)
    }

    /// Moves the next item out of its slot, which stays occupied until the release.
    #[inline]
    fn read(&mut self) -> Option<S::Item> {
        let slot = self.ring.slot(self.head);
        let next = self.head.wrapping_add(1);
        // "spsc.available": pairs with "spsc.commit".
        if slot.sequence.load(order!(Acquire, "spsc.available")) != next {
            return None;
        }
        self.head = next;
        // SAFETY: the slot holds the item of this position, and the head has left it for good.
        Some(slot.item.with(|item| unsafe { (*item).assume_init_read() }))
    }

    #[inline]
    fn release(&self) {
        // "spsc.release": gives the slots back to "spsc.free".
        self.ring.head.store(self.head, order!(Release, "spsc.release"));
    }
}

/// Frees what was read when it goes, even by a panic.
struct Batch<'a, S: Slots, R: Deref<Target = Ring<S>>>(&'a mut Consumer<R>);

impl<S: Slots, R: Deref<Target = Ring<S>>> Drop for Batch<'_, S, R> {
    #[inline]
    fn drop(&mut self) {
        self.0.release();
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_is_left_in_the_ring_is_dropped_with_it() {
        let witness = Arc::new(());
        let (mut producer, mut consumer) = ring(4);
        assert_eq!(producer.push_batch((0..9).map(|_| witness.clone())), 4);
        drop(consumer.pop());
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn a_static_ring_needs_no_heap_and_has_two_ends() {
        static RING: Static<&str, 2> = Static::new();
        let (mut producer, mut consumer) = RING.split().unwrap();
        assert!(RING.split().is_none());
        producer.push("a").unwrap();
        producer.push("b").unwrap();
        assert_eq!(producer.push("c"), Err(Full("c")));
        assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some("a"), Some("b"), None]);
    }

    #[test]
    fn a_panic_in_a_batch_loses_only_what_was_taken() {
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
            capacity in 1usize..9,
            origin in prop_oneof![Just(0), Just(usize::MAX - 3), Just(u32::MAX as usize - 2)],
            actions in proptest::collection::vec((0u8..5, 0usize..6), 0..200),
        ) {
            let (mut producer, mut consumer) = ring_at(capacity, origin);
            let mut model = VecDeque::new();
            for (n, (action, count)) in actions.into_iter().enumerate() {
                let room = producer.capacity() - model.len();
                match action {
                    0 | 1 => {
                        prop_assert_eq!(producer.push(n).is_ok(), room > 0);
                        model.extend((room > 0).then_some(n));
                    }
                    2 => {
                        let pushed = producer.push_batch((n..).take(count));
                        prop_assert_eq!(pushed, room.min(count));
                        model.extend((n..).take(pushed));
                    }
                    3 => {
                        let mut popped = Vec::new();
                        consumer.pop_batch(|item| popped.push(item));
                        prop_assert_eq!(popped, model.drain(..).collect::<Vec<_>>());
                    }
                    _ => prop_assert_eq!(consumer.pop(), model.pop_front()),
                }
                prop_assert_eq!(consumer.is_empty(), model.is_empty());
            }
        }
    }
}
