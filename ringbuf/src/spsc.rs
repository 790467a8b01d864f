//! The single-producer, single-consumer ring, with batches.
//!
//! Lamport's ring (1977) with three refinements: each side's cursor has a cache line of its own,
//! each side remembers the other's cursor and looks again only when it must, and a batch of slots
//! is claimed and committed with one store.
//!
//! The slots live on the heap ([`ring`]) or, without any heap, in the ring itself ([`Static`]),
//! which may be a `static`.
//!
//! # Progress
//! Every operation is wait-free. A peer that is pre-empted never blocks the other side; it only
//! keeps its slots full or empty.

use crate::sync::{Arc, AtomicU32, AtomicUsize, UnsafeCell, order};
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
pub fn ring<T: Send>(capacity: usize) -> (Producer<HeapRing<T>>, Consumer<HeapRing<T>>) {
    ring_at(capacity, 0)
}

/// As [`ring`], with the stream starting at `origin`: tests reach every wrap-around this way.
pub(crate) fn ring_at<T: Send>(
    capacity: usize,
    origin: usize,
) -> (Producer<HeapRing<T>>, Consumer<HeapRing<T>>) {
    assert!(capacity > 0 && capacity <= 1 << (usize::BITS - 2), "the capacity is out of range");
    let slots = (0..capacity.next_power_of_two()).map(|_| Slot::new()).collect();
    let ring = Arc::new(Ring {
        tail: CachePadded::new(AtomicUsize::new(origin)),
        head: CachePadded::new(AtomicUsize::new(origin)),
        split: AtomicU32::new(1),
        slots,
    });
    let producer = Producer { ring: ring.clone(), tail: origin, head_seen: origin };
    (producer, Consumer { ring, head: origin, tail_seen: origin })
}

/// A ring whose slots are on the heap, shared by its two ends.
pub type HeapRing<T> = Arc<Ring<Box<[Slot<T>]>>>;

/// A ring that holds its `N` slots itself, for a `static` or a stack frame.
pub type Static<T, const N: usize> = Ring<[Slot<T>; N]>;

/// A ring with its slots in `S`.
#[derive(Debug)]
pub struct Ring<S: Slots> {
    /// Where the producer writes next; only the producer stores it.
    tail: CachePadded<AtomicUsize>,
    /// Where the consumer reads next; only the consumer stores it.
    head: CachePadded<AtomicUsize>,
    /// Not zero once the two ends were handed out.
    split: AtomicU32,
    slots: S,
}

/// One place of a ring.
#[derive(Debug)]
pub struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

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
    impl<T> Sealed for Box<[super::Slot<T>]> {}
}

// SAFETY: an array is one slice; `Static::new` checks its length.
unsafe impl<T, const N: usize> Slots for [Slot<T>; N] {
    type Item = T;

    #[inline]
    fn slots(&self) -> &[Slot<T>] {
        self
    }
}

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
    const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[cfg(ringbuf_loom)]
    fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

#[cfg(not(ringbuf_loom))]
impl<T: Send, const N: usize> Static<T, N> {
    const POWER_OF_TWO: () = assert!(N.is_power_of_two(), "N has to be a power of two");

    /// An empty ring; N has to be a power of two, which the compiler checks.
    pub const fn new() -> Self {
        let () = Self::POWER_OF_TWO;
        Self {
            tail: CachePadded::new(AtomicUsize::new(0)),
            head: CachePadded::new(AtomicUsize::new(0)),
            split: AtomicU32::new(0),
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
        let producer = Producer { ring: self, tail: 0, head_seen: 0 };
        Some((producer, Consumer { ring: self, head: 0, tail_seen: 0 }))
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
    fn slot(&self, position: usize) -> &UnsafeCell<MaybeUninit<S::Item>> {
        let slots = self.slots.slots();
        // SAFETY: the length is a power of two, so the mask keeps the index below it.
        unsafe { &slots.get_unchecked(position & (slots.len() - 1)).0 }
    }
}

impl<S: Slots> Drop for Ring<S> {
    fn drop(&mut self) {
        // "spsc.drop": whoever drops the ring has it alone.
        let mut head = self.head.load(order!(Relaxed, "spsc.drop"));
        let tail = self.tail.load(order!(Relaxed, "spsc.drop"));
        while head != tail {
            // SAFETY: the slots from head to tail hold items, and nobody else can reach them.
            self.slot(head).with_mut(|slot| unsafe { (*slot).assume_init_drop() });
            head = head.wrapping_add(1);
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
    /// The ring's own tail, which only this side stores.
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
        self.write(self.tail, item);
        self.tail = self.tail.wrapping_add(1);
        self.commit();
        Ok(())
    }

    /// Appends items from `items` while there is room, and commits them together. Returns how many.
    /// Takes no item that it cannot append. Wait-free, apart from the iterator.
    ///
    /// Should the iterator panic, the items taken before are still appended.
    #[inline]
    pub fn push_batch(&mut self, items: impl IntoIterator<Item = S::Item>) -> usize {
        let items = items.into_iter();
        let free = self.free(items.size_hint().0.clamp(1, self.ring.capacity()));
        let start = self.tail;
        let batch = Batch(self);
        for item in items.take(free) {
            batch.0.write(batch.0.tail, item);
            batch.0.tail = batch.0.tail.wrapping_add(1);
        }
        batch.0.tail.wrapping_sub(start)
    }

    #[inline]
    fn write(&self, position: usize, item: S::Item) {
        self.ring.slot(position).with_mut(|slot| {
            // SAFETY: the slots from tail to head + capacity are free, and only this side writes.
            unsafe { (*slot).write(item) };
        });
    }

    #[inline]
    fn commit(&self) {
        // "spsc.commit": releases the items to "spsc.available".
        self.ring.tail.store(self.tail, order!(Release, "spsc.commit"));
    }

    /// How many items the ring holds at most.
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }
}

/// Commits what was written when it goes, even by a panic.
struct Batch<'a, S: Slots, R: Deref<Target = Ring<S>>>(&'a mut Producer<R>);

impl<S: Slots, R: Deref<Target = Ring<S>>> Drop for Batch<'_, S, R> {
    #[inline]
    fn drop(&mut self) {
        self.0.commit();
    }
}

/// The popping side; there is exactly one.
#[derive(Debug)]
pub struct Consumer<R> {
    ring: R,
    /// The ring's own head, which only this side stores.
    head: usize,
    /// The producer's tail when it was last looked at.
    tail_seen: usize,
}

impl<S: Slots, R: Deref<Target = Ring<S>>> Consumer<R> {
    #[inline]
    fn look(&mut self) -> usize {
        // "spsc.available": pairs with "spsc.commit".
        self.tail_seen = self.ring.tail.load(order!(Acquire, "spsc.available"));
        self.tail_seen.wrapping_sub(self.head)
    }

    /// Takes the oldest item. Wait-free.
    #[inline]
    pub fn pop(&mut self) -> Option<S::Item> {
        if self.tail_seen == self.head && self.look() == 0 {
            return None;
        }
        let item = self.read(self.head);
        self.head = self.head.wrapping_add(1);
        self.release();
        Some(item)
    }

    /// Hands all items that are in the ring now to `take`, oldest first; their slots become free
    /// together, afterwards. Returns how many. Wait-free, apart from `take`.
    ///
    /// Should `take` panic, the items that it was given are gone and the others stay. (This is a
    /// closure and not an iterator because an iterator could be forgotten before it frees slots.)
    #[inline]
    pub fn pop_batch(&mut self, mut take: impl FnMut(S::Item)) -> usize {
        let available = self.look();
        let batch = Taken(self);
        for _ in 0..available {
            let item = batch.0.read(batch.0.head);
            batch.0.head = batch.0.head.wrapping_add(1);
            take(item);
        }
        available
    }

    #[inline]
    fn read(&self, position: usize) -> S::Item {
        // SAFETY: the slots from head to tail hold items, and each is read once.
        self.ring.slot(position).with(|slot| unsafe { (*slot).assume_init_read() })
    }

    #[inline]
    fn release(&self) {
        // "spsc.release": gives the slots back to "spsc.free".
        self.ring.head.store(self.head, order!(Release, "spsc.release"));
    }
}

/// Frees what was read when it goes, even by a panic.
struct Taken<'a, S: Slots, R: Deref<Target = Ring<S>>>(&'a mut Consumer<R>);

impl<S: Slots, R: Deref<Target = Ring<S>>> Drop for Taken<'_, S, R> {
    #[inline]
    fn drop(&mut self) {
        self.0.release();
    }
}
