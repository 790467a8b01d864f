//! The keep-last queue: many producers, one consumer, and only the newest `depth` messages.
//!
//! A queue never refuses a message. When `depth` messages wait, the next one takes the place of the
//! oldest, which is handed back to the producer that displaced it, so that nothing disappears
//! uncounted. The consumer takes the remaining items in order, oldest first.
//!
//! An entry holds the pool index of a message, and changes by one compare-and-exchange of sequence
//! and index together, as in the [ready ring](crate::ready): no producer can stall another one or
//! the consumer.
//!
//! # Progress
//! * [`Producer::push`]: lock-free. A retry means that another push, or the take that made it
//!   unnecessary to overwrite, succeeded.
//! * [`Consumer::take`]: lock-free. A retry means that a producer overwrote the message in the
//!   moment of taking it.
//!
//! # The count that a scheduler relies on
//! A push answers [`Pushed::Grew`] exactly once for every message that a take will return. One
//! token per `Grew` therefore means: one token, one message. But a producer may be suspended
//! between its push and its token; [`inbox`](crate::inbox) handles that case.

use crate::pool::{Pool, Shared};
use crate::ready::{EMPTY, Entries, EntryLine, Word};
use crate::slots::Slot;
use crate::sync::{Arc, AtomicU64, order, step};
use crossbeam_utils::CachePadded;
use std::ptr::NonNull;

/// The deepest queue: indices of its messages must fit in an entry's 24 bits.
pub const MAX_DEPTH: usize = 1 << 20;

/// Creates a queue for the newest `depth` messages of `pool`.
///
/// # Panics
/// If `depth` is zero or above [`MAX_DEPTH`].
///
/// ```
/// use ringspin_ringbuf::{keep_last, pool::Pool};
/// let pool = Pool::new();
/// let (producer, mut consumer) = keep_last::queue(&pool, 2);
/// for n in 1..=3 {
///     producer.push(pool.insert(n));
/// }
/// assert_eq!(consumer.take().as_deref(), Some(&2), "1 was overwritten");
/// assert_eq!(consumer.take().as_deref(), Some(&3));
/// assert!(consumer.take().is_none());
/// ```
pub fn queue<T>(pool: &Pool<T>, depth: usize) -> (Producer<T>, Consumer<T>) {
    queue_at(pool, depth, 0)
}

/// Creates a [`queue`] with a stream that starts at `origin`, so that tests reach every
/// wrap-around.
pub(crate) fn queue_at<T>(pool: &Pool<T>, depth: usize, origin: u64) -> (Producer<T>, Consumer<T>) {
    assert!(depth > 0 && depth <= MAX_DEPTH, "a keep-last queue holds 1 to 2^20 messages");
    let line = EntryLine::new();
    let queue = Arc::new(Queue {
        tail: CachePadded::new(AtomicU64::new(origin)),
        entries: Entries::of_queue(&line, depth),
        line,
        pool: pool.clone(),
    });
    for position in origin..origin + depth as u64 {
        let previous_lap = Word::new(position.wrapping_sub(depth as u64), EMPTY).bits();
        let entry = entry(&queue.entries, position);
        entry.store(previous_lap, order!(Relaxed, "keep_last.init"));
    }
    let entries = NonNull::from(&*queue.entries);
    let consumer = Consumer {
        queue: queue.clone(),
        entries,
        pool: pool.clone(),
        first_slot: None,
        head: origin,
    };
    (Producer { first_entry: entries.addr().get(), queue }, consumer)
}

#[derive(Debug)]
struct Queue<T> {
    /// Where a producer starts to look for the end of the stream: at or before it. The consumer
    /// does not write here, so that a sole producer has the cache line for itself.
    tail: CachePadded<AtomicU64>,
    entries: Entries,
    /// Where the entries of a short queue are.
    line: EntryLine,
    pool: Pool<T>,
}

/// The entry for the message at `position`.
#[inline]
fn entry(entries: &[AtomicU64], position: u64) -> &AtomicU64 {
    let length = entries.len();
    match entries {
        [only] => only, // the processor need not wait for the position
        // SAFETY: a queue has at least one entry, and here their number is a power of two.
        _ if length.is_power_of_two() => unsafe {
            entries.get_unchecked(position as usize & (length - 1))
        },
        _ => &entries[(position % length as u64) as usize],
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // As a `Vec`, so that all are dropped even if one of them panics.
        let mut left = Vec::new();
        for entry in self.entries.iter() {
            // "keep_last.drop": the last of the queue's `Arc`s already acquired all others' past.
            let word = Word::from_bits(entry.load(order!(Relaxed, "keep_last.drop")));
            if !word.is_empty() {
                // SAFETY: the entry owned this index, and nothing else can reach the queue anymore.
                left.push(unsafe { self.pool.adopt(word.value()) });
            }
        }
    }
}

/// The effect of a push on the queue.
#[derive(Debug)]
#[must_use = "an overwritten message should be counted"]
pub enum Pushed<T> {
    /// The queue holds one message more than before.
    Grew,
    /// The queue was full; this message, its oldest, gave way.
    Overwrote(Shared<T>),
}

/// The pushing side; clones push into the same queue from any thread.
#[derive(Debug)]
pub struct Producer<T> {
    queue: Arc<Queue<T>>,
    /// The address of the first entry, so that it is fetched at once with the queue.
    first_entry: usize,
}

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), first_entry: self.first_entry }
    }
}

impl<T> Producer<T> {
    /// Starts to fetch the lines that a push writes to, of a short queue.
    #[inline]
    #[cfg(not(ringbuf_loom))]
    pub fn fetch(&self) {
        crate::prefetch::fetch_to_write(self.first_entry);
        crate::prefetch::fetch_to_write(std::ptr::from_ref(&*self.queue.tail).addr());
    }

    /// Appends `message`, displacing the oldest one if the queue is full. Lock-free.
    ///
    /// # Panics
    /// If `message` comes from another pool than the queue's.
    #[inline]
    pub fn push(&self, message: Shared<T>) -> Pushed<T> {
        let queue = &*self.queue;
        let entries = &*queue.entries;
        let index = queue.pool.release(message);
        // The only word of an entry that was taken. To exchange it without a look before fetches
        // its cache line once instead of twice.
        let emptied = |position: u64| Word::new(position.wrapping_sub(entries.len() as u64), EMPTY);
        // "keep_last.hint": pairs with "keep_last.publish". A producer that reaches a position has
        // seen the whole stream before it, partly by the hint and partly by its exchanges, and
        // hands that on, so that a consumer that sees one message finds all older ones.
        let mut position = queue.tail.load(order!(Acquire, "keep_last.hint"));
        let mut expected = emptied(position);
        loop {
            // "keep_last.commit": releases the message to "keep_last.peek" or to the producer
            // that overwrites it; acquires the one that this displaces, or the consumer's past from
            // "keep_last.take".
            let exchanged = entry(entries, position).compare_exchange(
                expected.bits(),
                Word::new(position, index).bits(),
                order!(AcqRel, "keep_last.commit"),
                order!(Relaxed, "keep_last.look"),
            );
            let Err(found) = exchanged else {
                step!("message.pushed");
                let next = position.wrapping_add(1);
                queue.tail.store(next, order!(Release, "keep_last.publish"));
                if expected.is_empty() {
                    return Pushed::Grew;
                }
                // SAFETY: the exchange took this index out of the entry that owned it.
                return Pushed::Overwrote(unsafe { queue.pool.adopt(expected.value()) });
            };
            expected = Word::from_bits(found);
            let ahead = expected.ahead_of(position);
            if ahead >= 0 {
                position = position.wrapping_add(ahead as u64 + 1);
                expected = emptied(position);
            } else {
                debug_assert_eq!(-ahead, entries.len() as i64, "entries are filled in order");
            }
        }
    }

    /// How many messages the queue keeps.
    pub fn depth(&self) -> usize {
        self.queue.entries.len()
    }

    /// Adds the lines that a push onto the empty queue touches, and its take.
    #[cfg(not(ringbuf_loom))]
    pub fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        lines.add(&*self.queue.tail);
        lines.add(&self.queue.entries[..1]);
    }
}

/// The taking side; there is exactly one.
#[derive(Debug)]
pub struct Consumer<T> {
    queue: Arc<Queue<T>>,
    /// The entries of the queue; saves a pointer indirection.
    entries: NonNull<[AtomicU64]>,
    pool: Pool<T>,
    /// Where the pool's first slot is, once it is known.
    first_slot: Option<NonNull<Slot<T>>>,
    head: u64,
}

// SAFETY: it points to parts of the queue and the pool, which it holds, and which are shared
// anyway.
unsafe impl<T: Send + Sync> Send for Consumer<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Consumer<T> {}

impl<T> Consumer<T> {
    /// Whether the next [`take`](Self::take) would find nothing. Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // SAFETY: the queue keeps its entries, and does not move.
        let entries = unsafe { self.entries.as_ref() };
        // "keep_last.glance": only a hint; "keep_last.peek" acquires.
        let found = entry(entries, self.head).load(order!(Relaxed, "keep_last.glance"));
        Word::from_bits(found).ahead_of(self.head) < 0
    }

    /// The memory of its entries, which one ready ring may use as well.
    pub fn entry_line(&self) -> EntryLine {
        self.queue.line.clone()
    }

    /// How many messages wait, at least: one, if any does. Wait-free.
    pub fn waiting(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        // "keep_last.glance": a hint, at or before the end of the stream.
        let tail = self.queue.tail.load(order!(Relaxed, "keep_last.glance"));
        let known = tail.wrapping_sub(self.head) as i64;
        known.clamp(1, self.queue.entries.len() as i64) as usize
    }

    /// Takes the oldest message that was not overwritten. Lock-free.
    #[inline]
    pub fn take(&mut self) -> Option<Shared<T>> {
        // SAFETY: the queue keeps its entries, and does not move.
        let entries = unsafe { self.entries.as_ref() };
        loop {
            let entry = entry(entries, self.head);
            // "keep_last.peek": acquires the message released by "keep_last.commit", and with an
            // overwritten entry's sequence all of the stream up to it.
            let found = Word::from_bits(entry.load(order!(Acquire, "keep_last.peek")));
            let ahead = found.ahead_of(self.head);
            if ahead < 0 {
                return None;
            }
            if ahead > 0 {
                // The entry was overwritten by the message `ahead` positions further on, so the
                // oldest that can be left is the one after it, less a lap.
                let oldest = ahead as u64 + 1 - entries.len() as u64;
                self.head = self.head.wrapping_add(oldest);
                continue;
            }
            let message = self.pool.near(found.value(), &mut self.first_slot);
            message.fetch();
            // "keep_last.take": releases the consumer's past (the token it popped) to the producer
            // that refills the entry. The message was acquired by "keep_last.peek": the exchange
            // replaces the very word seen there.
            let exchanged = entry.compare_exchange(
                found.bits(),
                found.emptied().bits(),
                order!(Release, "keep_last.take"),
                order!(Relaxed, "keep_last.retry"),
            );
            if exchanged.is_ok() {
                self.head = self.head.wrapping_add(1);
                // SAFETY: the exchange took this index out of the entry that owned it.
                return Some(unsafe { message.adopt() });
            }
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
