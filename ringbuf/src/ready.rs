//! The ready ring: many producers, one consumer, first-in first-out, of 24-bit tokens.
//!
//! A producer writes sequence and token into the next free entry with a single
//! compare-and-exchange, and only then moves the tail, which is a mere hint. Vyukov's bounded queue
//! and its many descendants first claim a position and then fill it; a producer that is pre-empted
//! in between stops the consumer. Here that moment does not exist: whatever is in the ring is
//! complete, and a producer that stalls anywhere delays no other thread.
//!
//! # Growth
//! [`Producer::reserve`] closes a ring at its end and goes on in a larger one: it exchanges the
//! word of the next free entry for one that says so. A producer finds that its exchange fails
//! there, and the consumer finds no token there; both then follow. Positions in the stream go on,
//! and old handles keep working.
//!
//! # Progress
//! * [`Producer::push`]: lock-free. A retry means that another producer's push succeeded, or that
//!   the ring has grown.
//! * [`Consumer::pop`]: wait-free, one load and one store.
//!
//! # Order
//! Tokens come out in the order of their successful exchanges, hence each producer's own tokens in
//! the order it pushed them.

use crate::entry_line::Entries;
#[cfg(feature = "std")]
use crate::entry_line::EntryLine;
use crate::sync::{Arc, AtomicPtr, AtomicU64, order, step, total_order};
use crate::word::{EMPTY, MAX_VALUE, Word};
use core::ptr;
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

/// Creates a [`ring`] whose stream starts at `origin`, so that tests reach every wrap-around.
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

/// Creates a ring with these entries, whose number is a power of two.
fn ring_in(entries: Entries, origin: u64) -> (Producer, Consumer) {
    let ring = Arc::new(Ring::new(entries, origin));
    (Producer { ring: ring.clone() }, Consumer { ring, head: origin })
}

#[derive(Debug)]
struct Ring {
    /// Where a producer starts to look for a free entry: at or before the true end of the stream.
    tail: CachePadded<AtomicU64>,
    entries: Entries,
    /// The ring in which the stream goes on: from an `Arc`, null before the ring is closed.
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
    /// whose entry is not free, because the ring is full, or closed there.
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

    /// Closes the ring at its end, and lets the stream go on in one of `capacity`, a power of two.
    /// Returns false, and does nothing, if the ring is full. Calls must not overlap.
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

    /// The ring in which the stream goes on, for the caller of [`reserve`](Self::reserve).
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

    /// Goes on in the next ring. The caller has acquired that this one is closed here.
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

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn full_ring_hands_the_token_back() {
        let (producer, mut consumer) = ring(2);
        producer.push(1).unwrap();
        producer.push(2).unwrap();
        assert_eq!(producer.push(3), Err(Full(3)));
        assert_eq!(consumer.pop(), Some(1));
        producer.push(3).unwrap();
        assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some(2), Some(3), None]);
    }

    #[test]
    fn stale_hint_is_repaired_from_the_entries() {
        let (producer, mut consumer) = ring(4);
        for token in 0..103 {
            producer.push(token).unwrap();
            assert_eq!(consumer.pop(), Some(token));
            producer.ring.tail.store(u64::from(token) / 2, crate::sync::Ordering::Relaxed);
        }
    }

    #[test]
    fn threads_lose_no_token_and_keep_the_order_of_each_producer() {
        const PRODUCERS: u32 = 3;
        const EACH: u32 = 20_000;
        let (producer, mut consumer) = ring(64);
        std::thread::scope(|scope| {
            for id in 0..PRODUCERS {
                let producer = producer.clone();
                scope.spawn(move || {
                    for n in 0..EACH {
                        while producer.push(id * EACH + n).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut next = [0; PRODUCERS as usize];
            let mut left = PRODUCERS * EACH;
            while left > 0 {
                let Some(token) = consumer.pop() else {
                    std::thread::yield_now();
                    continue;
                };
                let (id, n) = (token / EACH, token % EACH);
                assert_eq!(next[id as usize], n, "producer {id}");
                next[id as usize] += 1;
                left -= 1;
            }
        });
        assert_eq!(consumer.pop(), None);
    }

    /// The messages are plain memory, so that ThreadSanitizer notices if only luck makes
    /// them visible: `scripts/test-tsan` reports a race here when "ready.commit" is relaxed.
    #[test]
    fn message_is_visible_to_the_thread_that_pops_its_token() {
        const EACH: u64 = 2_000;
        let pool = crate::pool::Pool::new();
        let (producer, mut consumer) = ring(8);
        std::thread::scope(|scope| {
            for id in 0..3 {
                let (producer, pool) = (producer.clone(), pool.clone());
                scope.spawn(move || {
                    for n in 0..EACH {
                        let token = pool.release(pool.insert(id * EACH + n));
                        while producer.push(token).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut sum = 0;
            for _ in 0..3 * EACH {
                let token = loop {
                    match consumer.pop() {
                        Some(token) => break token,
                        None => std::thread::yield_now(),
                    }
                };
                // SAFETY: a producer released this index before its push, and it is popped once.
                sum += *unsafe { pool.adopt(token) };
            }
            assert_eq!(sum, (0..3 * EACH).sum());
        });
    }

    #[test]
    fn threads_keep_the_order_of_each_producer_while_the_ring_grows() {
        const PRODUCERS: u32 = 3;
        const EACH: u32 = 20_000;
        let (producer, mut consumer) = ring(2);
        std::thread::scope(|scope| {
            for id in 0..PRODUCERS {
                let producer = producer.clone();
                scope.spawn(move || {
                    for n in 0..EACH {
                        while producer.push(id * EACH + n).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            scope.spawn(move || {
                for capacity in (2..12).map(|n| 1 << n) {
                    while !producer.reserve(capacity) {
                        std::thread::yield_now();
                    }
                }
            });
            let mut next = [0; PRODUCERS as usize];
            for _ in 0..PRODUCERS * EACH {
                let token = loop {
                    match consumer.pop() {
                        Some(token) => break token,
                        None => std::thread::yield_now(),
                    }
                };
                let (id, n) = (token / EACH, token % EACH);
                assert_eq!(next[id as usize], n, "producer {id}");
                next[id as usize] += 1;
            }
        });
        assert_eq!(consumer.pop(), None);
    }

    #[test]
    fn rings_that_were_left_are_freed() {
        let (producer, mut consumer) = ring(1);
        let first = Arc::downgrade(&producer.ring);
        assert!(producer.reserve(2) && producer.reserve(4));
        let newest = producer.newest();
        let second = Arc::as_ptr(&newest.ring);
        drop(producer);
        assert!(first.upgrade().is_some(), "the consumer is still there");
        assert_eq!(consumer.pop(), None);
        assert!(first.upgrade().is_none());
        newest.push(1).unwrap();
        assert_eq!((consumer.pop(), Arc::as_ptr(&consumer.ring)), (Some(1), second));
    }

    #[derive(Clone, Copy, Debug)]
    enum Action {
        Push,
        Pop,
        Grow,
        Clone,
    }

    proptest! {
        #[test]
        fn behaves_like_a_bounded_deque(
            capacity in 1usize..9,
            origin in prop_oneof![Just(0), Just((1u64 << 40) - 3), Just(u64::MAX / 2 - 2)],
            actions in proptest::collection::vec(
                prop_oneof![
                    20 => Just(Action::Push),
                    20 => Just(Action::Pop),
                    2 => Just(Action::Grow),
                    1 => Just(Action::Clone),
                ],
                0..300,
            ),
        ) {
            let (producer, mut consumer) = ring_at(capacity, origin);
            let mut capacity = capacity.next_power_of_two();
            let mut producers = vec![producer];
            let (mut model, mut seen) = (VecDeque::new(), origin);
            // Tokens from before the ring grew take no place in the larger one.
            let mut pushed = 0;
            for (n, action) in actions.into_iter().enumerate() {
                let producer = &producers[n % producers.len()];
                match action {
                    Action::Push => {
                        let expected = pushed.min(model.len()) < capacity;
                        prop_assert_eq!(producer.push(n as u32).is_ok(), expected);
                        if expected {
                            model.push_back(n as u32);
                            pushed += 1;
                        }
                    }
                    Action::Pop => prop_assert_eq!(consumer.pop(), model.pop_front()),
                    Action::Grow if capacity < 1 << 12 => {
                        let is_full = pushed.min(model.len()) == capacity;
                        prop_assert_eq!(producers[0].reserve(2 * capacity), !is_full);
                        if !is_full {
                            (capacity, pushed) = (2 * capacity, 0);
                        }
                    }
                    Action::Grow | Action::Clone => producers.push(producers[0].newest()),
                }
                prop_assert_eq!(producers[0].capacity(), capacity);
                prop_assert_eq!(consumer.is_empty(), model.is_empty());
                prop_assert_eq!(consumer.len(), model.len());
                if n % 3 == 0 {
                    seen = consumer.end_after(seen);
                    let end = consumer.head().wrapping_add(model.len() as u64);
                    prop_assert_eq!(seen, end);
                }
            }
        }
    }
}
