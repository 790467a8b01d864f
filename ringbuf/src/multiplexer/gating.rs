//! The gating multiplexer: the producer never overwrites an item that a consumer still has to read.
//!
//! Items lie in the ring's slots, each beside the sequence that says which one it is. Every
//! consumer publishes its position in a cursor of its own. The producer keeps the lowest of them,
//! and looks again only when the stream has come a whole lap further.
//!
//! # Joining
//! A consumer that chose its own start could be too late: the producer may have looked at the
//! cursors just before, and overwrite what the newcomer is about to read. Therefore it is the
//! producer that admits it, at the start of the next push, and so the lowest position is never
//! wrong. Until then there is nothing to read for the newcomer. A cursor is in one of three states:
//!
//! | cursor | set by | meaning |
//! |---|---|---|
//! | `FREE` | a consumer that leaves | nobody's |
//! | `PENDING` | [`Multiplexer::join`] | a consumer's that waits to be admitted; gates nothing |
//! | a position | the producer to admit, then the consumer | what lies before it was read |
//!
//! # Progress
//! * [`Producer::push`]: wait-free, at most two looks at every cursor. When full it answers so; how
//!   long that lasts is up to the slowest consumer, and for ever if that one is forgotten
//!   (`mem::forget`).
//! * [`Producer::push_batch`]: wait-free but for the caller's iterator.
//! * [`Consumer::read`], dropping its guard, [`Consumer::read_batch`], leaving: wait-free. A
//!   producer that stalls anywhere hides no complete item.
//! * [`Multiplexer::join`]: wait-free, at most one exchange on every cursor.
//!
//! Positions have 64 bits and never wrap: that takes five centuries of a push each nanosecond.

mod consumer;
mod producer;

pub use consumer::{Consumer, Guard};
pub use producer::{Full, Producer};

use crate::sync::{Arc, AtomicU32, AtomicU64, UnsafeCell, order};
use alloc::boxed::Box;
use core::mem::MaybeUninit;
use crossbeam_utils::CachePadded;

/// The most items that a ring can hold.
pub const MAX_CAPACITY: usize = 1 << 24;
/// The most consumers that a ring can admit at the same time.
pub const MAX_CONSUMERS: usize = 1 << 16;

const FREE: u64 = u64::MAX;
const PENDING: u64 = u64::MAX - 1;
/// The sequence word of a slot that was never filled.
const VACANT: u64 = 0;

/// Creates a multiplexer for at least `capacity` items (rounded up to a power of two) and up to
/// `consumers_max` consumers at a time.
///
/// # Panics
/// If `capacity` is zero or above [`MAX_CAPACITY`], or `consumers_max` is zero or above
/// [`MAX_CONSUMERS`].
///
/// ```
/// use ringspin_ringbuf::multiplexer::gating;
/// let (mut producer, multiplexer) = gating::multiplexer(2, 8);
/// let mut logger = multiplexer.join().unwrap();
/// let mut filter = multiplexer.join().unwrap();
/// producer.push("scan 1").unwrap();
/// producer.push("scan 2").unwrap();
/// assert_eq!(*filter.read().unwrap(), "scan 1");
/// assert_eq!(producer.push("scan 3").unwrap_err().0, "scan 3", "the logger has read nothing yet");
/// assert_eq!(*logger.read().unwrap(), "scan 1");
/// producer.push("scan 3").unwrap();
/// assert_eq!(*filter.read().unwrap(), "scan 2");
/// assert_eq!(*filter.read().unwrap(), "scan 3");
/// assert!(filter.read().is_none());
/// ```
pub fn multiplexer<T>(capacity: usize, consumers_max: usize) -> (Producer<T>, Multiplexer<T>) {
    multiplexer_at(capacity, consumers_max, 0)
}

/// As [`multiplexer`], with the stream starting at `origin`: for tests.
pub(crate) fn multiplexer_at<T>(
    capacity: usize,
    consumers_max: usize,
    origin: u64,
) -> (Producer<T>, Multiplexer<T>) {
    assert!(capacity > 0 && capacity <= MAX_CAPACITY, "a multiplexer holds 1 to 2^24 items");
    let consumers_fit = consumers_max > 0 && consumers_max <= MAX_CONSUMERS;
    assert!(consumers_fit, "a gating multiplexer has 1 to 2^16 consumers");
    let capacity = capacity.next_power_of_two();
    let vacant =
        || Slot { sequence: AtomicU64::new(VACANT), item: UnsafeCell::new(MaybeUninit::uninit()) };
    let ring = Arc::new(Ring {
        slots: (0..capacity).map(|_| vacant()).collect(),
        cursors: (0..consumers_max).map(|_| CachePadded::new(AtomicU64::new(FREE))).collect(),
        joins: AtomicU64::new(0),
        abandoned: AtomicU32::new(0),
    });
    (Producer::new(ring.clone(), origin), Multiplexer { ring })
}

/// All places for consumers are taken. Let one leave, or plan for more at construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyConsumers;

impl core::fmt::Display for TooManyConsumers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("all of the multiplexer's places for consumers are taken")
    }
}

impl core::error::Error for TooManyConsumers {}

/// Where consumers join; clones are handles to the same multiplexer.
#[derive(Debug)]
pub struct Multiplexer<T> {
    ring: Arc<Ring<T>>,
}

impl<T> Clone for Multiplexer<T> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone() }
    }
}

impl<T> Multiplexer<T> {
    /// A consumer of every item whose push starts from now on; it leaves by being dropped.
    /// Wait-free.
    ///
    /// # Errors
    /// [`TooManyConsumers`] when no place was free.
    pub fn join(&self) -> Result<Consumer<T>, TooManyConsumers> {
        for (index, cursor) in self.ring.cursors.iter().enumerate() {
            // "gating.claim": an exchange even where nothing is acquired, so that "gating.admit"
            // reads on from "gating.leave".
            let claimed = cursor.compare_exchange(
                FREE,
                PENDING,
                order!(Relaxed, "gating.claim"),
                order!(Relaxed, "gating.taken"),
            );
            if claimed.is_ok() {
                // "gating.ask": pairs with "gating.answer".
                self.ring.joins.fetch_add(1, order!(Release, "gating.ask"));
                return Ok(Consumer::new(self.ring.clone(), index));
            }
        }
        Err(TooManyConsumers)
    }
}

/// On cache lines of its own: everybody reads it all the time, and other things on the heap change.
#[derive(Debug)]
#[repr(align(128))]
struct Ring<T> {
    slots: Box<[Slot<T>]>,
    cursors: Box<[CachePadded<AtomicU64>]>,
    /// How many consumers have asked to be admitted.
    joins: AtomicU64,
    /// Not zero once the producer is gone.
    abandoned: AtomicU32,
}

/// In this order, so that a small item lies in the same cache line as its sequence.
#[derive(Debug)]
#[repr(C)]
struct Slot<T> {
    /// One more than the sequence of the item, or `VACANT`.
    sequence: AtomicU64,
    item: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the producer writes and drops items on its thread, hence `Send`; consumers read them from
// several threads at once, hence `Sync`. Sequences and cursors keep the two apart.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}
// SAFETY: the last handle drops the items, on any thread.
unsafe impl<T: Send> Send for Slot<T> {}

impl<T> Ring<T> {
    #[inline(always)]
    fn slot(&self, position: u64) -> &Slot<T> {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}

impl<T> Slot<T> {
    /// # Safety
    /// The item was written, and is not overwritten while the reference is in use.
    #[inline(always)]
    unsafe fn item(&self) -> &T {
        // SAFETY: as above.
        self.item.with(|cell| unsafe { (*cell).assume_init_ref() })
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        // "gating.drop": the last of the ring's `Arc`s already acquired all others' past.
        if self.sequence.load(order!(Relaxed, "gating.drop")) != VACANT {
            // SAFETY: a sequence was stored, so the item was written; nobody else can reach it.
            self.item.with_mut(|cell| unsafe { (*cell).assume_init_drop() });
        }
    }
}
