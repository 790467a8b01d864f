//! The ready ring: many producers, one consumer, first-in first-out, of 24-bit tokens.
//!
//! A producer writes sequence and token into the next free entry with a single
//! compare-and-exchange, and only then moves the tail, which is a mere hint. Vyukov's bounded queue
//! and its many descendants first claim a position and then fill it; a producer that is pre-empted
//! in between stops the consumer. Here that moment does not exist: whatever is in the ring is
//! complete, and a producer that stalls anywhere delays no other thread.
//!
//! # Progress
//! * [`Producer::push`]: lock-free. A retry means that another producer's push succeeded.
//! * [`Consumer::pop`]: wait-free, one load and one store.
//!
//! # Order
//! Tokens come out in the order of their successful exchanges, hence each producer's own tokens in
//! the order it pushed them.

use crate::entry_line::Entries;
#[cfg(feature = "std")]
use crate::entry_line::EntryLine;
use crate::sync::{Arc, AtomicU64, order, step, total_order};
use crate::word::{EMPTY, MAX_VALUE, Word};
use crossbeam_utils::CachePadded;

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
    assert!(capacity > 0 && capacity <= 1 << 24, "a ready ring holds 1 to 2^24 tokens");
}

/// Creates a ring with these entries, whose number is a power of two.
fn ring_in(entries: Entries, origin: u64) -> (Producer, Consumer) {
    let ring = Arc::new(Ring { tail: CachePadded::new(AtomicU64::new(origin)), entries });
    let capacity = ring.entries.len() as u64;
    for position in origin..origin + capacity {
        let previous_lap = Word::new(position.wrapping_sub(capacity), EMPTY);
        ring.entry(position).store(previous_lap.bits(), order!(Relaxed, "ready.init"));
    }
    (Producer { ring: ring.clone() }, Consumer { ring, head: origin })
}

#[derive(Debug)]
struct Ring {
    /// Where a producer starts to look for a free entry: at or before the true end of the stream.
    tail: CachePadded<AtomicU64>,
    entries: Entries,
}

impl Ring {
    #[inline]
    fn entry(&self, position: u64) -> &AtomicU64 {
        let index = position as usize & (self.entries.len() - 1);
        // SAFETY: the ring has at least one entry, and their number is a power of two.
        unsafe { self.entries.get_unchecked(index) }
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
    /// If `token` is above [`MAX_VALUE`].
    #[inline]
    pub fn push(&self, token: u32) -> Result<(), Full> {
        assert!(token <= MAX_VALUE, "token does not fit in 24 bits");
        let capacity = self.ring.entries.len() as u64;
        // "ready.hint": pairs with "ready.publish". A thread that publishes a position has seen the
        // stream up to there, partly by the hint and partly by its exchanges, so that the entry
        // seen here is never older than one lap. And it is not seen as occupied if its pop happened
        // before this push, for instance by a take that made the caller push.
        let mut position = self.ring.tail.load(order!(Acquire, "ready.hint"));
        loop {
            // A free entry can hold one word only. To exchange it without a look before fetches its
            // cache line once instead of twice.
            let free = Word::new(position.wrapping_sub(capacity), EMPTY);
            // "ready.commit": pairs with "ready.pop"; the writes of the producer before its push
            // (the message it announces) are visible to the thread that pops the token. In the
            // total order for the sake of `Announcer::try_announce`.
            let exchanged = self.ring.entry(position).compare_exchange(
                free.bits(),
                Word::new(position, token).bits(),
                total_order!(Release, "ready.commit"),
                order!(Relaxed, "ready.look"),
            );
            let Err(found) = exchanged else {
                step!("token.pushed");
                let next = position.wrapping_add(1);
                self.ring.tail.store(next, order!(Release, "ready.publish"));
                return Ok(());
            };
            let ahead = Word::from_bits(found).ahead_of(position);
            if ahead < 0 {
                debug_assert_eq!(-ahead, capacity as i64, "entries are filled in order");
                return Err(Full(token));
            }
            position = position.wrapping_add(ahead as u64 + 1);
        }
    }

    /// How many tokens fit.
    pub fn capacity(&self) -> usize {
        self.ring.entries.len()
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
            return None;
        }
        // A plain store suffices: producers leave an entry alone until it is empty. "ready.free": a
        // producer needs to know nothing but the word.
        entry.store(found.emptied().bits(), order!(Relaxed, "ready.free"));
        self.head = self.head.wrapping_add(1);
        Some(found.value())
    }

    /// How many tokens could be popped one after the other, at least. Looks at each of them.
    pub fn len(&self) -> usize {
        let filled = |position: &u64| {
            // "ready.empty": as below.
            let found = self.ring.entry(*position).load(order!(Relaxed, "ready.empty"));
            Word::from_bits(found).ahead_of(*position) == 0
        };
        let positions = (0..self.ring.entries.len() as u64).map(|n| self.head.wrapping_add(n));
        positions.take_while(filled).count()
    }

    /// The position of the next token in the stream.
    #[cfg(feature = "std")]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// The position after the last token that can be popped by now. A caller that passes the result
    /// as `seen` the next time looks at each token once.
    #[cfg(feature = "std")]
    pub(crate) fn end_after(&self, seen: u64) -> u64 {
        let is_behind = (seen.wrapping_sub(self.head) as i64) < 0;
        let mut end = if is_behind { self.head } else { seen };
        while end.wrapping_sub(self.head) < self.ring.entries.len() as u64 {
            // "ready.empty": as below. Not the producers' hint: a token that is known of only by
            // that might not be popped yet.
            let found = self.ring.entry(end).load(order!(Relaxed, "ready.empty"));
            if Word::from_bits(found).ahead_of(end) != 0 {
                break;
            }
            end = end.wrapping_add(1);
        }
        end
    }

    /// Whether the next [`pop`](Self::pop) would find nothing. Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // "ready.empty": only a hint; "ready.pop" acquires. In the total order for the sake of
        // `Inbox::clear_if_idle`.
        let found = self.ring.entry(self.head).load(total_order!(Relaxed, "ready.empty"));
        Word::from_bits(found).ahead_of(self.head) != 0
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

    proptest! {
        #[test]
        fn behaves_like_a_bounded_deque(
            capacity in 1usize..9,
            origin in prop_oneof![Just(0), Just((1u64 << 40) - 3), Just(u64::MAX / 2 - 2)],
            pushes in proptest::collection::vec(any::<bool>(), 0..200),
        ) {
            let (producer, mut consumer) = ring_at(capacity, origin);
            let mut model = VecDeque::new();
            for (n, push) in pushes.into_iter().enumerate() {
                if push {
                    let expected = model.len() < producer.capacity();
                    prop_assert_eq!(producer.push(n as u32).is_ok(), expected);
                    if expected {
                        model.push_back(n as u32);
                    }
                } else {
                    prop_assert_eq!(consumer.is_empty(), model.is_empty());
                    prop_assert_eq!(consumer.pop(), model.pop_front());
                }
            }
        }
    }
}
