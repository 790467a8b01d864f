//! The overrun multiplexer: the producer never waits, and who falls a whole ring behind is told how
//! many messages it lost.
//!
//! An entry of the ring is one atomic word of sequence and pool index. The producer simply stores
//! the next one over the oldest. A consumer loads the word at its position and takes a reference of
//! its own to the message. In between, the message may have been displaced and its slot reused:
//!
//! 1. The reference count is raised only if there is a message in the slot that is on offer in a
//!    ring like this. So a free slot is left alone, and so are messages that are shared by
//!    other means; but if the slot holds another message of such a ring by now, that one is
//!    referred to for a moment.
//! 2. The entry is loaded again. If it still holds the same word, the reference is to the message
//!    that belongs there. If not, it is let go unread, and the message was lost.
//!
//! The second look can't be out of date: a slot gets its next message after the displacement of its
//! last one, and who reads the count of the next message acquires all that came before it. So
//! there is nothing for a consumer to announce, and the producer knows nothing of the consumers.
//! The price is one exchange in the message's slot for each read. It lies beside the message, so
//! that the cache line has to come anyway.
//!
//! # Progress
//! * [`Producer::push`]: wait-free: loads and stores, and an exchange if another holder of the
//!   message exists. It hands back the displaced message; dropping that is lock-free.
//! * [`Consumer::read`]: lock-free. It retries only when another holder of the same message has
//!   changed the reference count. It may find itself to be the last holder of a displaced message,
//!   and then drops it.
//! * [`Multiplexer::join`], cloning a [`Consumer`], leaving: wait-free.
//!
//! # Limits
//! Entries store the low 40 bits of a sequence. A consumer that stays away for more than 2^39
//! messages (15 hours at ten million a second) may be told that there is nothing to read, until as
//! many more were pushed. That is all; how many it lost is counted in 64 bits.

use crate::pool::{Pool, Shared};
use crate::sync::{Arc, AtomicU32, AtomicU64, omitted, order};
use crate::word::{EMPTY, Word};
use crossbeam_utils::CachePadded;

/// The most messages that a ring can hold: their indices must fit in an entry's 24 bits.
pub const MAX_CAPACITY: usize = 1 << 20;

/// Creates a multiplexer that keeps at least the newest `capacity` messages of `pool` (rounded up
/// to a power of two).
///
/// The pool needs a slot for each of these, one for the next, and those that consumers hold on to.
///
/// # Panics
/// If `capacity` is zero or above [`MAX_CAPACITY`].
///
/// ```
/// use ringspin_ringbuf::{multiplexer::overrun, pool::Pool};
/// let pool = Pool::new();
/// let (mut producer, multiplexer) = overrun::multiplexer(&pool, 2);
/// let mut prompt = multiplexer.join();
/// let mut slow = multiplexer.join();
/// for n in 1..=3 {
///     producer.push(pool.insert(n));
///     assert_eq!(prompt.read().unwrap().as_deref(), Some(&n));
/// }
/// assert_eq!(slow.read().unwrap_err().lost, 1, "3 took the place of 1");
/// assert_eq!(slow.read().unwrap().as_deref(), Some(&2));
/// assert_eq!(slow.read().unwrap().as_deref(), Some(&3));
/// assert!(slow.read().unwrap().is_none());
/// ```
pub fn multiplexer<T>(pool: &Pool<T>, capacity: usize) -> (Producer<T>, Multiplexer<T>) {
    multiplexer_at(pool, capacity, 0)
}

/// Creates a [`multiplexer`] whose stream starts at `origin`; tests reach every wrap-around.
pub(crate) fn multiplexer_at<T>(
    pool: &Pool<T>,
    capacity: usize,
    origin: u64,
) -> (Producer<T>, Multiplexer<T>) {
    assert!(capacity > 0 && capacity <= MAX_CAPACITY, "a multiplexer holds 1 to 2^20 messages");
    let capacity = capacity.next_power_of_two() as u64;
    let mut entries: Vec<AtomicU64> = (0..capacity).map(|_| AtomicU64::new(0)).collect();
    for offset in 0..capacity {
        let position = origin.wrapping_add(offset);
        let previous_lap = Word::new(position.wrapping_sub(capacity), EMPTY);
        entries[(position % capacity) as usize] = AtomicU64::new(previous_lap.bits());
    }
    let ring = Arc::new(Ring {
        entries: entries.into_boxed_slice(),
        tail: CachePadded::new(AtomicU64::new(origin)),
        abandoned: AtomicU32::new(0),
        pool: pool.clone(),
    });
    let indices = vec![EMPTY; capacity as usize].into_boxed_slice();
    (Producer { ring: ring.clone(), tail: origin, indices }, Multiplexer { ring })
}

/// On cache lines of its own: everybody reads it all the time, and other things on the heap change.
#[derive(Debug)]
#[repr(align(128))]
struct Ring<T> {
    /// Each non-empty one owns a reference to its message.
    entries: Box<[AtomicU64]>,
    /// Where newcomers start. No consumer polls it.
    tail: CachePadded<AtomicU64>,
    /// Not zero once the producer is gone.
    abandoned: AtomicU32,
    pool: Pool<T>,
}

impl<T> Ring<T> {
    #[inline(always)]
    fn index(&self, position: u64) -> usize {
        position as usize & (self.entries.len() - 1)
    }

    #[inline(always)]
    fn entry(&self, position: u64) -> &AtomicU64 {
        &self.entries[self.index(position)]
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let left = self.entries.iter().filter_map(|entry| {
            // "overrun.drop": the last of the ring's `Arc`s already acquired all others' past.
            let word = Word::from_bits(entry.load(order!(Relaxed, "overrun.drop")));
            // SAFETY: the entry owned this reference, and no thread can reach the ring any more.
            (!word.is_empty()).then(|| unsafe { self.pool.adopt(word.value()) })
        });
        // As a `Vec`, so that all are dropped even if one of them panics.
        drop(left.collect::<Vec<_>>());
    }
}

/// The pushing side; there is exactly one.
///
/// Messages that can't be read by several threads don't leave their own:
/// ```compile_fail
/// # use ringspin_ringbuf::{multiplexer::overrun, pool::Pool};
/// let (mut producer, _) = overrun::multiplexer(&Pool::new(), 2);
/// std::thread::spawn(move || producer.push(Pool::new().insert(std::cell::Cell::new(1))));
/// ```
#[derive(Debug)]
pub struct Producer<T> {
    ring: Arc<Ring<T>>,
    tail: u64,
    /// The content of the entries. Not read from there: consumers poll them, and a load before the
    /// store would fetch their cache lines twice.
    indices: Box<[u32]>,
}

impl<T> Producer<T> {
    /// Appends `message`, and returns the one that it displaces, read or not. Wait-free.
    ///
    /// # Panics
    /// If `message` comes from another pool than the multiplexer's.
    #[inline]
    pub fn push(&mut self, message: Shared<T>) -> Option<Shared<T>> {
        let ring = &*self.ring;
        let index = ring.pool.offer(message);
        let word = Word::new(self.tail, index);
        let at = ring.index(self.tail);
        let displaced = std::mem::replace(&mut self.indices[at], index);
        self.tail = self.tail.wrapping_add(1);
        // "overrun.tail": before the message, so that a consumer that joins because of a message
        // (it read the message, or was told by a thread that did) starts behind it.
        ring.tail.store(self.tail, order!(Relaxed, "overrun.tail"));
        // "overrun.commit": pairs with "overrun.look".
        ring.entries[at].store(word.bits(), order!(Release, "overrun.commit"));
        // SAFETY: the entry owned this reference until the store above.
        (displaced != EMPTY).then(|| unsafe { ring.pool.adopt(displaced) })
    }

    /// Appends all of `messages` and drops those that they displace.
    ///
    /// # Panics
    /// If [`push`](Self::push), the iterator or the drop of a message panics; messages that were
    /// pushed until then stay pushed.
    pub fn push_batch(&mut self, messages: impl IntoIterator<Item = Shared<T>>) {
        messages.into_iter().for_each(|message| drop(self.push(message)));
    }

    /// How many messages are kept.
    pub fn capacity(&self) -> usize {
        self.ring.entries.len()
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        // "overrun.abandon": pairs with "overrun.abandoned".
        self.ring.abandoned.store(1, order!(Release, "overrun.abandon"));
    }
}

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
    /// A consumer of every message whose push starts from now on; it leaves by being dropped.
    /// Wait-free.
    pub fn join(&self) -> Consumer<T> {
        // "overrun.start": a number and no more; "overrun.look" acquires what lies there.
        let position = self.ring.tail.load(order!(Relaxed, "overrun.start"));
        Consumer { ring: self.ring.clone(), position }
    }
}

/// The consumer fell behind: this many messages in a row were overwritten before it read them. The
/// next read yields the oldest one that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// How many messages were lost; at least one.
    pub lost: u64,
}

impl std::fmt::Display for Overrun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the consumer was overrun and lost {} messages; read on", self.lost)
    }
}

impl std::error::Error for Overrun {}

/// A reading side, one of several; a clone goes on from the same position.
#[derive(Debug)]
pub struct Consumer<T> {
    ring: Arc<Ring<T>>,
    position: u64,
}

impl<T> Clone for Consumer<T> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone(), position: self.position }
    }
}

impl<T> Consumer<T> {
    /// The next message, or none if all were read. Lock-free.
    ///
    /// # Errors
    /// [`Overrun`] if the next message was overwritten.
    ///
    /// # Panics
    /// If a displaced message's drop does, of which this consumer happened to be the last holder.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Shared<T>>, Overrun> {
        let ring = &*self.ring;
        let entry = ring.entry(self.position);
        // "overrun.look": pairs with "overrun.commit".
        let found = Word::from_bits(entry.load(order!(Acquire, "overrun.look")));
        let ahead = found.ahead_of(self.position);
        if ahead < 0 {
            return Ok(None);
        }
        if ahead == 0 {
            // SAFETY: the index was acquired with the word.
            let message = unsafe { ring.pool.try_share(found.value()) };
            // "overrun.recheck": not older than a message that was found in the slot, nor than the
            // displacement that left it free: see "pool.share" and "pool.gone".
            let now = Word::from_bits(entry.load(order!(Relaxed, "overrun.recheck")));
            if now != found {
                return Err(self.skip(now));
            }
            debug_assert!(message.is_some(), "an entry owns a reference to its message");
            self.position = self.position.wrapping_add(1);
            return Ok(message);
        }
        Err(self.skip(found))
    }

    /// Moves on to the oldest message that is left, after `newer` was found at the position.
    #[cold]
    fn skip(&mut self, newer: Word) -> Overrun {
        // "overrun.progress": at least as far as the entries that were acquired, and how far the
        // one is that was not says its word.
        let tail = self.ring.tail.load(order!(Relaxed, "overrun.progress"));
        let by_word = newer.ahead_of(self.position) as u64 + 1;
        // Else the message at the new position might be gone already, for another overrun.
        let by_tail = if omitted!("overrun.newest") { 0 } else { tail.wrapping_sub(self.position) };
        let newest = by_word.max(by_tail);
        let lost = newest - self.ring.entries.len() as u64;
        self.position = self.position.wrapping_add(lost);
        Overrun { lost }
    }

    /// Whether there is nothing to [`read`](Self::read). Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // "overrun.empty": only a hint; "overrun.look" acquires.
        let found = self.ring.entry(self.position).load(order!(Relaxed, "overrun.empty"));
        Word::from_bits(found).ahead_of(self.position) < 0
    }

    /// Whether the producer is gone. What it pushed before can still be read. Wait-free.
    pub fn is_abandoned(&self) -> bool {
        // "overrun.abandoned": pairs with "overrun.abandon": who knows finds all that was pushed.
        self.ring.abandoned.load(order!(Acquire, "overrun.abandoned")) != 0
    }
}
