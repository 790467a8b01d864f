//! The ready ring: many producers, one consumer, first-in first-out, of 24-bit tokens.
//!
//! A producer writes sequence and token into the next free entry with a single
//! compare-and-exchange, and only then moves the tail, which is a mere hint. Vyukov's bounded queue
//! and its many descendants first claim a position and then fill it; a producer that is pre-empted
//! in between stops the consumer. Here that moment does not exist: every entry in the ring is
//! complete, and a producer that stalls anywhere delays no other thread.
//!
//! # Entries
//! An entry is one atomic `Word`: the sequence that wrote it, and the value that it wrote.
//!
//! | bits   | field    | meaning |
//! |--------|----------|---------|
//! | 63..24 | sequence | low 40 bits of the position in the stream that last used the entry |
//! | 23..0  | value    | the 24-bit value, or `EMPTY` once it has been consumed |
//!
//! Because sequence and value change together in one compare-and-exchange, an item is either not in
//! the ring or completely in it. The sequence also makes the exchange safe against ABA: it would
//! take a thread that sleeps through exactly 2^40 pushes to be fooled.
//!
//! [Keep-last queues](crate::keep_last) have the same entries. A publisher writes to an entry of a
//! queue, and then to one of the ready ring of its event loop; the worker reads them in the
//! opposite order. On one [`EntryLine`], both cross to the other core at once.
//!
//! # Growth
//! [`Producer::reserve`] closes a ring at its end and continues in a larger one: it exchanges the
//! word of the next free entry for one that says so. A producer finds that its exchange fails
//! there, and the consumer finds no token there; both then follow. Positions in the stream
//! continue, and old handles keep working.
//!
//! # Progress
//! * [`Producer::push`]: lock-free. A retry means that another producer's push succeeded, or that
//!   the ring has grown.
//! * [`Consumer::pop`]: wait-free, one load and one store.
//!
//! # Order
//! Tokens come out in the order of their successful exchanges, hence each producer's own tokens in
//! the order it pushed them.

use crate::sync::{Arc, AtomicPtr, AtomicU64, order, step, total_order};
use alloc::boxed::Box;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use crossbeam_utils::CachePadded;

/// The largest token.
pub const MAX_TOKEN: u32 = CLOSED - 1;

/// The value of the entry at which a ring ends and the next one begins.
const CLOSED: u32 = MAX_VALUE;

/// The most tokens in a ring.
const CAPACITY_MAX: usize = 1 << 24;

/// Creates a ring for at least `capacity` tokens (rounded up to a power of two).
///
/// # Panics
/// If `capacity` is zero or above 2^24.
///
/// ```
/// let (producer, mut consumer) = ringspin_ringbuf::ready::ring(2);
/// producer.push(7).unwrap();
/// assert_eq!(consumer.pop(), Some(7));
/// assert_eq!(consumer.pop(), None);
/// ```
pub fn ring(capacity: usize) -> (Producer, Consumer) {
    ring_at(capacity, 0)
}

/// Creates a [`ring`] with a stream that starts at `origin`, so that tests reach every wrap-around.
pub(crate) fn ring_at(capacity: usize, origin: u64) -> (Producer, Consumer) {
    assert_capacity(capacity);
    let capacity = capacity.next_power_of_two();
    ring_in(Entries::new(capacity), origin)
}

/// Creates a [`ring`] with its entries on `line`, which serves no other ring, if they fit there.
///
/// # Panics
/// If `capacity` is zero or above 2^24.
#[cfg(feature = "std")]
pub fn ring_on(line: &EntryLine, capacity: usize) -> (Producer, Consumer) {
    assert_capacity(capacity);
    ring_in(Entries::of_ring(line, capacity.next_power_of_two()), 0)
}

fn assert_capacity(capacity: usize) {
    assert!(capacity > 0 && capacity <= CAPACITY_MAX, "a ready ring holds 1 to 2^24 tokens");
}

/// Creates a ring with these entries; their number is a power of two.
fn ring_in(entries: Entries, origin: u64) -> (Producer, Consumer) {
    let ring = Arc::new(Ring::new(entries, origin));
    (Producer { ring: ring.clone() }, Consumer { ring, head: origin })
}

#[derive(Debug)]
struct Ring {
    /// Where a producer starts to look for a free entry: at or before the true end of the stream.
    tail: CachePadded<AtomicU64>,
    entries: Entries,
    /// The ring in which the stream continues: from an `Arc`, null before the ring is closed.
    next: AtomicPtr<Ring>,
}

impl Ring {
    fn new(entries: Entries, origin: u64) -> Self {
        let tail = CachePadded::new(AtomicU64::new(origin));
        let ring = Self { tail, entries, next: AtomicPtr::new(ptr::null_mut()) };
        ring.begin_at(origin, None);
        ring
    }

    #[inline]
    fn entry(&self, position: u64) -> &AtomicU64 {
        let index = position as usize & (self.entries.len() - 1);
        // SAFETY: the ring has at least one entry, and their number is a power of two.
        unsafe { self.entries.get_unchecked(index) }
    }

    #[inline]
    fn capacity(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The word of the entry for `position` before a token is pushed there.
    #[inline]
    fn free(&self, position: u64) -> Word {
        Word::new(position.wrapping_sub(self.capacity()), EMPTY)
    }

    /// Exchanges the word of the next free entry for that of its position. An error is a position
    /// with an entry that is not free, because the ring is full, or closed there.
    #[inline]
    fn append(&self, mut word: impl FnMut(u64) -> Word) -> Result<u64, u64> {
        // "ready.hint": pairs with "ready.publish". A thread that publishes a position has seen the
        // stream up to there, partly by the hint and partly by its exchanges, so that the entry
        // seen here is never older than one lap. And it is not seen as occupied if its pop happened
        // before this push, for instance by a take that made the caller push.
        let mut position = self.tail.load(order!(Acquire, "ready.hint"));
        loop {
            // A free entry can hold one word only. To exchange it without a look before fetches its
            // cache line once instead of twice.
            //
            // "ready.commit": pairs with "ready.pop"; the writes of the producer before its push
            // (the message it announces) are visible to the thread that pops the token. Pairs with
            // "ready.closed", too. In the total order for the sake of `Announcer::try_announce`.
            let exchanged = self.entry(position).compare_exchange(
                self.free(position).bits(),
                word(position).bits(),
                total_order!(Release, "ready.commit"),
                order!(Relaxed, "ready.look"),
            );
            let Err(found) = exchanged else { return Ok(position) };
            let ahead = Word::from_bits(found).ahead_of(position);
            if ahead < 0 {
                debug_assert_eq!(-ahead, self.capacity() as i64, "entries are filled in order");
                return Err(position);
            }
            position = position.wrapping_add(ahead as u64 + 1);
        }
    }

    #[inline]
    fn push(&self, token: u32) -> Result<(), Full> {
        match self.append(|position| Word::new(position, token)) {
            Ok(position) => {
                step!("token.pushed");
                let next = position.wrapping_add(1);
                self.tail.store(next, order!(Release, "ready.publish"));
                Ok(())
            }
            Err(position) => self.push_beyond(position, token),
        }
    }

    /// Pushes into the ring after this one, unless this one is not closed, but full.
    #[cold]
    fn push_beyond(&self, position: u64, token: u32) -> Result<(), Full> {
        self.beyond(position).ok_or(Full(token))?.push(token)
    }

    /// The word of an entry.
    #[inline]
    fn look(&self, position: u64) -> Word {
        // "ready.empty": only a hint; "ready.pop" acquires. In the total order for the sake of
        // `Inbox::clear_idle`.
        Word::from_bits(self.entry(position).load(total_order!(Relaxed, "ready.empty")))
    }

    /// The ring after this one, if this one is closed at `position`.
    #[cold]
    fn beyond(&self, position: u64) -> Option<&Ring> {
        // "ready.closed": pairs with "ready.commit". In the total order, so that a worker finds the
        // ring closed when it looks after a push that found it closed.
        let found = self.entry(position).load(total_order!(Acquire, "ready.closed"));
        if Word::from_bits(found).value() == CLOSED { self.next() } else { None }
    }

    /// The ring after this one, for a caller that has acquired that this one is closed, or that
    /// alone closes it.
    fn next(&self) -> Option<&Ring> {
        // "ready.follow": released by "ready.commit".
        let next = self.next.load(order!(Relaxed, "ready.follow"));
        // SAFETY: it came from an `Arc`, which is kept as long as this ring.
        unsafe { next.as_ref() }
    }

    /// Closes the ring at its end, and lets the stream continue in one of `capacity`, a power of
    /// two. Returns false, and does nothing, if the ring is full. Calls must not overlap.
    fn close(&self, capacity: usize) -> bool {
        let larger = Ring::new(Entries::new(capacity), 0);
        let next = Arc::into_raw(Arc::new(larger)).cast_mut();
        // No other thread looks there before it finds the ring closed.
        self.next.store(next, order!(Relaxed, "ready.next"));
        // SAFETY: it came from an `Arc` just now.
        let larger = unsafe { &*next };
        let mut origin = None;
        let closed = self.append(|position| {
            larger.begin_at(position, origin.replace(position));
            Word::new(position.wrapping_sub(self.capacity()), CLOSED)
        });
        if closed.is_err() {
            self.next.store(ptr::null_mut(), order!(Relaxed, "ready.next"));
            // SAFETY: it came from an `Arc`, and no other thread has seen it.
            drop(unsafe { Arc::from_raw(next) });
        }
        closed.is_ok()
    }

    /// Lets the stream begin at `origin`, instead of at `before`, in a ring without tokens that no
    /// other thread has.
    fn begin_at(&self, origin: u64, before: Option<u64>) {
        self.tail.store(origin, order!(Relaxed, "ready.init"));
        let known = before.map_or(0, |before| origin.wrapping_sub(before));
        let moved = if known == 0 { self.capacity() } else { known.min(self.capacity()) };
        let end = origin.wrapping_add(self.capacity());
        for position in (1..=moved).map(|n| end.wrapping_sub(n)) {
            let free = self.free(position).bits();
            self.entry(position).store(free, order!(Relaxed, "ready.init"));
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // "ready.drop": no other thread has access any more.
        let next = self.next.load(order!(Relaxed, "ready.drop"));
        if !next.is_null() {
            // SAFETY: it came from an `Arc`, for this ring.
            drop(unsafe { Arc::from_raw(next) });
        }
    }
}

/// The ring had no free entry; the token is handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full(pub u32);

impl core::fmt::Display for Full {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the ready ring is full, token {} was not pushed", self.0)
    }
}

impl core::error::Error for Full {}

/// The pushing side; clones push into the same ring from any thread.
#[derive(Clone, Debug)]
pub struct Producer {
    ring: Arc<Ring>,
}

impl Producer {
    /// Appends `token`. Lock-free; uncontended it costs one atomic exchange.
    ///
    /// # Errors
    /// [`Full`] when every entry holds a token that was not popped yet.
    ///
    /// # Panics
    /// If `token` is above [`MAX_TOKEN`].
    #[inline]
    pub fn push(&self, token: u32) -> Result<(), Full> {
        assert!(token <= MAX_TOKEN, "token is above 2^24 - 3");
        self.ring.push(token)
    }

    /// Makes room for `capacity` tokens (rounded up to a power of two), for all handles. False if
    /// the ring is too small and full: then it has to be called again after a pop. Calls for one
    /// ring must not overlap. Allocates.
    ///
    /// # Panics
    /// If `capacity` is above 2^24.
    ///
    /// ```
    /// let (producer, mut consumer) = ringspin_ringbuf::ready::ring(2);
    /// producer.push(7).unwrap();
    /// assert!(producer.reserve(4));
    /// (8..12).for_each(|token| producer.push(token).unwrap());
    /// assert!(producer.push(12).is_err());
    /// assert_eq!(std::iter::from_fn(|| consumer.pop()).collect::<Vec<_>>(), [7, 8, 9, 10, 11]);
    /// ```
    pub fn reserve(&self, capacity: usize) -> bool {
        assert!(capacity <= CAPACITY_MAX, "a ready ring holds up to 2^24 tokens");
        let last = self.last();
        capacity <= last.entries.len() || last.close(capacity.next_power_of_two())
    }

    /// The ring in which the stream continues, for the caller of [`reserve`](Self::reserve).
    fn last(&self) -> &Ring {
        let mut last = &*self.ring;
        while let Some(next) = last.next() {
            last = next;
        }
        last
    }

    /// A handle that knows the newest ring, for the caller of [`reserve`](Self::reserve).
    #[cfg(feature = "std")]
    pub(crate) fn newest(&self) -> Self {
        let last: *const Ring = self.last();
        if ptr::eq(last, &*self.ring) {
            return self.clone();
        }
        // SAFETY: it came from an `Arc`, which the ring before it keeps.
        let ring = unsafe {
            Arc::increment_strong_count(last);
            Arc::from_raw(last)
        };
        Self { ring }
    }

    /// How many tokens fit, for the caller of [`reserve`](Self::reserve).
    pub fn capacity(&self) -> usize {
        self.last().entries.len()
    }
}

/// The popping side; there is exactly one.
#[derive(Debug)]
pub struct Consumer {
    ring: Arc<Ring>,
    head: u64,
}

impl Consumer {
    /// Adds the lines that a push and a pop touch in a ring that is almost empty.
    #[cfg(not(ringbuf_loom))]
    pub(crate) fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        lines.add(&*self.ring);
        lines.add(self.ring.entry(self.head));
    }

    /// Takes the oldest token. Wait-free.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        let entry = self.ring.entry(self.head);
        // "ready.pop": pairs with "ready.commit".
        let found = Word::from_bits(entry.load(order!(Acquire, "ready.pop")));
        if found.ahead_of(self.head) != 0 {
            return if found.value() == CLOSED { self.pop_beyond() } else { None };
        }
        // A plain store suffices: producers leave an entry alone until it is empty. "ready.free": a
        // producer needs to know nothing but the word.
        entry.store(found.emptied().bits(), order!(Relaxed, "ready.free"));
        self.head = self.head.wrapping_add(1);
        Some(found.value())
    }

    /// Continues in the next ring. The caller has acquired that this one is closed here.
    #[cold]
    fn pop_beyond(&mut self) -> Option<u32> {
        let next: *const Ring = self.ring.next().expect("a closed ring has a next one");
        // SAFETY: it came from an `Arc`, which the ring before it keeps.
        self.ring = unsafe {
            Arc::increment_strong_count(next);
            Arc::from_raw(next)
        };
        self.pop()
    }

    /// How many tokens could be popped one after the other, at least. Looks at each of them.
    pub fn len(&self) -> usize {
        self.end_from(self.head).wrapping_sub(self.head) as usize
    }

    /// The position of the next token in the stream.
    #[cfg(feature = "std")]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// The position after the last token that can be popped by now. A caller that passes the result
    /// as `seen` the next time looks at each token once, unless the ring has just grown.
    #[cfg(feature = "std")]
    pub(crate) fn end_after(&self, seen: u64) -> u64 {
        let is_behind = (seen.wrapping_sub(self.head) as i64) < 0;
        // "ready.grown": a hint. Where the next ring begins is known only at the end of this one.
        let has_next = !self.ring.next.load(order!(Relaxed, "ready.grown")).is_null();
        self.end_from(if is_behind || has_next { self.head } else { seen })
    }

    /// The position after the last token that can be popped by now, if all before `end` can be, and
    /// `end` is in the consumer's ring.
    fn end_from(&self, mut end: u64) -> u64 {
        let mut ring = &*self.ring;
        let mut first = self.head;
        loop {
            let capacity = ring.capacity();
            // Not the producers' hint: a token that is known of only by that might not be popped
            // yet.
            while end.wrapping_sub(first) < capacity && ring.look(end).ahead_of(end) == 0 {
                end = end.wrapping_add(1);
            }
            let Some(next) = ring.beyond(end) else { return end };
            (ring, first) = (next, end);
        }
    }

    /// Whether the next [`pop`](Self::pop) would find nothing. Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let found = self.ring.look(self.head);
        found.ahead_of(self.head) != 0 && (found.value() != CLOSED || self.is_empty_beyond())
    }

    /// Whether the ring after this one, which is closed here, would have nothing to pop.
    #[cold]
    fn is_empty_beyond(&self) -> bool {
        self.end_from(self.head) == self.head
    }
}

/// The largest value an entry can carry.
pub(crate) const MAX_VALUE: u32 = EMPTY - 1;

/// The value of an entry that holds nothing.
pub(crate) const EMPTY: u32 = (1 << VALUE_BITS) - 1;

const VALUE_BITS: u32 = 24;

/// An entry's content; see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    #[inline]
    pub(crate) const fn new(sequence: u64, value: u32) -> Self {
        debug_assert!(value <= EMPTY);
        Self(sequence << VALUE_BITS | value as u64)
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn value(self) -> u32 {
        self.0 as u32 & EMPTY
    }

    /// The stored sequence itself, for a word with a change counter as its sequence.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) const fn tag(self) -> u64 {
        self.0 >> VALUE_BITS
    }

    #[cfg(feature = "std")]
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.value() == EMPTY
    }

    /// The same entry after its value was taken out.
    #[inline]
    pub(crate) const fn emptied(self) -> Self {
        Self(self.0 | EMPTY as u64)
    }

    /// How many positions this entry's sequence lies ahead of `position`, modulo 2^40.
    #[inline]
    pub(crate) const fn ahead_of(self, position: u64) -> i64 {
        let difference = (self.0 & !(EMPTY as u64)).wrapping_sub(position << VALUE_BITS);
        difference as i64 >> VALUE_BITS
    }
}

/// The number of entries of each of the two.
const ENTRIES: usize = 4;

/// Memory for the entries of one queue and one ready ring, of up to four items each.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "needs a queue"))]
pub struct EntryLine(Arc<CachePadded<Line>>);

#[derive(Debug)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "a queue makes it, and needs `std`"))]
struct Line {
    queue: [AtomicU64; ENTRIES],
    ready: [AtomicU64; ENTRIES],
}

impl EntryLine {
    #[cfg(feature = "std")]
    pub(crate) fn new() -> Self {
        let zeros = || core::array::from_fn(|_| AtomicU64::new(0));
        Self(Arc::new(CachePadded::new(Line { queue: zeros(), ready: zeros() })))
    }
}

/// The entries of a queue or ring: on a line, or in separate memory if they are too many.
#[derive(Debug)]
pub(crate) struct Entries {
    entries: NonNull<[AtomicU64]>,
    /// The line on which they are; `None` if they are in a box.
    line: Option<EntryLine>,
}

// SAFETY: all of it is atomic, and it keeps the memory that it points to.
unsafe impl Send for Entries {}
// SAFETY: as above.
unsafe impl Sync for Entries {}

impl Entries {
    /// Allocates `length` entries.
    pub(crate) fn new(length: usize) -> Self {
        let entries: Box<[_]> = (0..length).map(|_| AtomicU64::new(0)).collect();
        // SAFETY: a box is not null.
        let entries = unsafe { NonNull::new_unchecked(Box::into_raw(entries)) };
        Self { entries, line: None }
    }

    /// Returns `length` entries for a queue, on `line` if they fit there.
    #[cfg(feature = "std")]
    pub(crate) fn of_queue(line: &EntryLine, length: usize) -> Self {
        match line.0.queue.get(..length) {
            Some(entries) => Self { entries: NonNull::from(entries), line: Some(line.clone()) },
            None => Self::new(length),
        }
    }

    /// Returns `length` entries for a ready ring, on `line` if they fit there.
    #[cfg(feature = "std")]
    pub(crate) fn of_ring(line: &EntryLine, length: usize) -> Self {
        match line.0.ready.get(..length) {
            Some(entries) => Self { entries: NonNull::from(entries), line: Some(line.clone()) },
            None => Self::new(length),
        }
    }
}

impl Deref for Entries {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the line or this keeps the memory.
        unsafe { self.entries.as_ref() }
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        if self.line.is_none() {
            // SAFETY: they came from a box, and nothing else frees them.
            drop(unsafe { Box::from_raw(self.entries.as_ptr()) });
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
