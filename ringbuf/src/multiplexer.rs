//! The sensor multiplexer: one producer, many consumers, and every consumer sees every item.
//!
//! Nothing is copied: consumers read the one item that the producer wrote, each at its own position
//! in the stream. They join and leave while it flows. The slowest consumer gates the producer: an
//! item is never overwritten before every consumer has read it, and a stalled consumer stops the
//! stream once the ring is full.
//!
//! The *sequence* of an item counts the items before it. A consumer's *position* is the sequence of
//! the item that it reads next; it publishes that in its *cursor*. The producer keeps the lowest
//! cursor, and scans all of them again only when the stream has advanced by a whole ring.
//!
//! Items lie in blocks, beside words that say how far the stream is published; a batch is published
//! by one store. In LMAX Disruptor the producer publishes one cursor, and a waiting consumer
//! fetches two cache lines for an item, one after the other: the cursor and the slot. Here it polls
//! a word in the item's own block, so that a small item arrives with it. The producer stores to
//! that word without a load before, which would fetch the line twice (50 ns more for a `u64`, once
//! measured).
//!
//! # Joining
//! A consumer that chose its own start could be too late: the producer may have looked at the
//! cursors just before, and overwrite the items that the newcomer is about to read. Therefore it is
//! the producer that admits it, at the start of the next push, and so the lowest position is never
//! wrong, and a newcomer starts where something was published last. Until then there is nothing to
//! read for it. A cursor is in one of three states:
//!
//! | cursor | set by | meaning |
//! |---|---|---|
//! | `FREE` | a consumer that leaves | it belongs to no consumer |
//! | `PENDING` | [`Multiplexer::join`] | a consumer's that waits to be admitted; gates nothing |
//! | a position | the producer to admit, then the consumer | items before it were read |
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
#[cfg(all(test, feature = "std", not(ringbuf_loom)))]
mod tests;

pub use consumer::{Consumer, Guard};
pub use producer::{Full, Producer};

use crate::blocks::Blocks;
use crate::cells::{Cell, Place};
use crate::drops::drop_value;
use crate::sync::{Arc, AtomicU32, AtomicU64, order};
use alloc::boxed::Box;
use core::ops::Range;
use crossbeam_utils::CachePadded;

/// The most items that a ring can hold.
pub const MAX_CAPACITY: usize = 1 << 24;
/// The most consumers that a ring can admit at the same time.
pub const MAX_CONSUMERS: usize = 1 << 16;

const FREE: u64 = u64::MAX;
const PENDING: u64 = u64::MAX - 1;

/// Creates a multiplexer for `capacity` items and up to `consumers_max` consumers at a time.
///
/// # Panics
/// If `capacity` is zero or above [`MAX_CAPACITY`], or `consumers_max` is zero or above
/// [`MAX_CONSUMERS`].
///
/// ```
/// use ringspin_ringbuf::multiplexer::multiplexer;
/// let (mut producer, multiplexer) = multiplexer(2, 8);
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

/// Creates a [`multiplexer`] with a stream that starts at `origin`, for tests.
pub(crate) fn multiplexer_at<T>(
    capacity: usize,
    consumers_max: usize,
    origin: u64,
) -> (Producer<T>, Multiplexer<T>) {
    assert!(capacity > 0 && capacity <= MAX_CAPACITY, "a multiplexer holds 1 to 2^24 items");
    let consumers_fit = consumers_max > 0 && consumers_max <= MAX_CONSUMERS;
    assert!(consumers_fit, "a multiplexer has 1 to 2^16 consumers");
    let blocks = Blocks::new(capacity, || AtomicU64::new(origin));
    let ring = Arc::new(Ring {
        // Evenly, so that few more than `capacity` items stay in memory.
        per_block: capacity.div_ceil(blocks.count()),
        blocks,
        capacity: capacity as u64,
        origin,
        end: AtomicU64::new(origin),
        cursors: (0..consumers_max).map(|_| CachePadded::new(AtomicU64::new(FREE))).collect(),
        joins: AtomicU64::new(0),
        abandoned: AtomicU32::new(0),
    });
    (Producer::new(ring.clone()), Multiplexer { ring })
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
    /// A consumer of every item that is pushed from now on; it leaves by being dropped. Wait-free.
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

/// On separate cache lines: all threads read it all the time, and other things on the heap change.
#[derive(Debug)]
#[repr(align(128))]
struct Ring<T> {
    blocks: Blocks<AtomicU64, T>,
    /// How many cells of each block are in use.
    per_block: usize,
    /// How many items it holds for consumers at most.
    capacity: u64,
    /// The sequence of the first item, which lies in the first cell.
    origin: u64,
    /// The end of the stream when the producer was dropped.
    end: AtomicU64,
    cursors: Box<[CachePadded<AtomicU64>]>,
    /// How many consumers have asked to be admitted.
    joins: AtomicU64,
    /// Not zero once the producer is dropped.
    abandoned: AtomicU32,
}

// SAFETY: the producer writes and drops items on its thread, hence `Send`; consumers read them from
// several threads at once, hence `Sync`. Words and cursors keep the two apart.
unsafe impl<T: Send + Sync> Sync for Ring<T> {}
// SAFETY: the last handle drops the items, on any thread.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T> Ring<T> {
    /// How many items stay in memory.
    #[inline(always)]
    fn slots(&self) -> u64 {
        (self.blocks.count() * self.per_block) as u64
    }

    /// Where the item of sequence `position` lies.
    fn place(&self, position: u64) -> Place {
        let slot = ((position - self.origin) % self.slots()) as usize;
        Place { block: slot / self.per_block, offset: slot % self.per_block }
    }

    #[inline(always)]
    fn after(&self, place: Place) -> Place {
        place.next(self.per_block, self.blocks.count())
    }

    /// The place `items` further on, a lap at most.
    #[inline(always)]
    fn behind(&self, place: Place, items: usize) -> Place {
        place.behind(items, self.per_block, self.blocks.count())
    }

    #[inline(always)]
    fn cell(&self, place: Place) -> &Cell<T> {
        // SAFETY: places come from the functions above.
        unsafe { self.blocks.cells(place.block).get_unchecked(place.offset) }
    }

    #[inline(always)]
    fn word(&self, block: usize) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { self.blocks.word(block) }
    }

    /// # Safety
    /// The item was written, and is not overwritten while the reference is in use.
    #[inline(always)]
    unsafe fn item(&self, place: Place) -> &T {
        // SAFETY: as above.
        self.cell(place).with(|cell| unsafe { (*cell).assume_init_ref() })
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // "gating.end": the last of the ring's `Arc`s already acquired all others' past, and the
        // producer's was one of them.
        let end = self.end.load(order!(Relaxed, "gating.end"));
        let start = end - self.slots().min(end - self.origin);
        drop(Left { ring: self, items: start..end });
    }
}

/// Drops items of a ring when it goes, and all of them even if one panics.
struct Left<'a, T> {
    ring: &'a Ring<T>,
    items: Range<u64>,
}

impl<T> Drop for Left<'_, T> {
    fn drop(&mut self) {
        while let Some(position) = self.items.next() {
            let rest = Left { ring: self.ring, items: self.items.clone() };
            let item = self.ring.cell(self.ring.place(position));
            // SAFETY: these items were pushed and not replaced; no other thread can reach them.
            item.with_mut(|cell| unsafe { drop_value((*cell).as_mut_ptr()) });
            core::mem::forget(rest);
        }
    }
}
