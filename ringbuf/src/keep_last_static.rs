//! The keep-last queue without a heap: one producer, one consumer, the newest `N` items, in place.
//!
//! A generalised triple buffer. The queue has `N` entries and `N + 2` cells: an entry names the
//! cell that holds its item, and each side owns one further cell. A push writes into the producer's
//! own cell and exchanges it against the oldest entry's; a pop exchanges the consumer's own, empty
//! cell against the entry's that it takes. Whoever gets a cell by an exchange owns it alone, so
//! items are never copied while the other side could touch them.
//!
//! # Progress
//! * [`Producer::push`]: wait-free, one exchange.
//! * [`Consumer::pop`]: lock-free; a retry means that the producer overwrote the item in the moment
//!   of taking it.
//!
//! Works where only 32-bit atomics exist. For many producers, and items shared between queues, see
//! [`keep_last`](crate::keep_last).

use crate::sync::{AtomicU32, UnsafeCell, order};
use core::mem::MaybeUninit;
use crossbeam_utils::CachePadded;

/// The deepest queue: a cell's number must fit in an entry's seven bits.
pub const MAX_DEPTH: usize = 126;

/// What an entry holds.
///
/// | bits | field | meaning |
/// |------|-------|---------|
/// | 31..8 | sequence | low 24 bits of the position that last used the entry |
/// | 7 | full | whether the cell holds an item |
/// | 6..0 | cell | the cell that belongs to the entry |
#[derive(Clone, Copy, Debug)]
struct Entry(u32);

const FULL: u32 = 1 << 7;
const CELL: u32 = FULL - 1;
const SEQUENCE_SHIFT: u32 = 8;

impl Entry {
    const fn new(sequence: u32, full: bool, cell: u32) -> Self {
        Self(sequence << SEQUENCE_SHIFT | if full { FULL } else { 0 } | cell)
    }

    const fn is_full(self) -> bool {
        self.0 & FULL != 0
    }

    const fn cell(self) -> u32 {
        self.0 & CELL
    }

    /// How many positions its sequence lies ahead of `position`, modulo 2^24.
    const fn ahead_of(self, position: u32) -> i32 {
        let difference = (self.0 & !(FULL | CELL)).wrapping_sub(position << SEQUENCE_SHIFT);
        difference as i32 >> SEQUENCE_SHIFT
    }
}

/// A keep-last queue of depth `N`, for a `static` or a stack frame.
///
/// ```
/// use ringspin_ringbuf::keep_last_static::KeepLast;
/// static QUEUE: KeepLast<u32, 2> = KeepLast::new();
/// let (mut producer, mut consumer) = QUEUE.split().unwrap();
/// assert_eq!([1, 2, 3].map(|n| producer.push(n)), [None, None, Some(1)]);
/// assert_eq!([consumer.pop(), consumer.pop(), consumer.pop()], [Some(2), Some(3), None]);
/// assert!(QUEUE.split().is_none(), "each end exists once");
/// ```
#[derive(Debug)]
pub struct KeepLast<T, const N: usize> {
    entries: CachePadded<[AtomicU32; N]>,
    /// Not zero once the two ends were handed out.
    split: AtomicU32,
    cells: [UnsafeCell<MaybeUninit<T>>; N],
    /// Cells `N` and `N + 1`.
    spares: [UnsafeCell<MaybeUninit<T>>; 2],
}

// SAFETY: a cell belongs to an entry or to one side, and changes hands by an exchange; items are
// moved between threads, never shared.
unsafe impl<T: Send, const N: usize> Sync for KeepLast<T, N> {}

#[cfg(not(ringbuf_loom))]
impl<T: Send, const N: usize> KeepLast<T, N> {
    const DEPTH: () = assert!(N > 0 && N <= MAX_DEPTH, "the depth is 1 to 126");

    /// An empty queue; a depth of zero or above [`MAX_DEPTH`] does not compile.
    pub const fn new() -> Self {
        let () = Self::DEPTH;
        let mut entries = [const { AtomicU32::new(0) }; N];
        let mut n = 0;
        while n < N {
            let previous_lap = (n as u32).wrapping_sub(N as u32);
            entries[n] = AtomicU32::new(Entry::new(previous_lap, false, n as u32).0);
            n += 1;
        }
        Self {
            entries: CachePadded::new(entries),
            split: AtomicU32::new(0),
            cells: [const { UnsafeCell::new(MaybeUninit::uninit()) }; N],
            spares: [const { UnsafeCell::new(MaybeUninit::uninit()) }; 2],
        }
    }
}

#[cfg(not(ringbuf_loom))]
impl<T: Send, const N: usize> Default for KeepLast<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send, const N: usize> KeepLast<T, N> {
    #[cfg(ringbuf_loom)]
    pub(crate) fn new() -> Self {
        let entry = |n: usize| {
            let previous_lap = (n as u32).wrapping_sub(N as u32);
            AtomicU32::new(Entry::new(previous_lap, false, n as u32).0)
        };
        Self {
            entries: CachePadded::new(std::array::from_fn(entry)),
            split: AtomicU32::new(0),
            cells: std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
            spares: std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
        }
    }

    /// The two ends of the queue; `None` if they were handed out before.
    pub fn split(&self) -> Option<(Producer<'_, T, N>, Consumer<'_, T, N>)> {
        // "keep_last_static.split": nothing is handed over, the queue is still empty.
        if self.split.swap(1, order!(Relaxed, "keep_last_static.split")) != 0 {
            return None;
        }
        let cursor = Cursor { position: 0, entry: 0 };
        let producer = Producer { queue: self, tail: cursor, spare: N as u32, overwritten: 0 };
        Some((producer, Consumer { queue: self, head: cursor, spare: N as u32 + 1 }))
    }
}

impl<T, const N: usize> KeepLast<T, N> {
    fn cell(&self, cell: u32) -> &UnsafeCell<MaybeUninit<T>> {
        let cell = cell as usize;
        if cell < N { &self.cells[cell] } else { &self.spares[cell - N] }
    }
}

impl<T, const N: usize> Drop for KeepLast<T, N> {
    fn drop(&mut self) {
        for entry in self.entries.iter() {
            // "keep_last_static.drop": whoever drops the queue has it alone.
            let entry = Entry(entry.load(order!(Relaxed, "keep_last_static.drop")));
            if entry.is_full() {
                // SAFETY: a full entry's cell holds an item, and nobody else can reach it.
                self.cell(entry.cell()).with_mut(|cell| unsafe { (*cell).assume_init_drop() });
            }
        }
    }
}

/// A position in the stream, and its entry. (Not position modulo `N`: that would jump when the
/// position wraps.)
#[derive(Clone, Copy, Debug)]
struct Cursor {
    position: u32,
    entry: usize,
}

impl Cursor {
    /// Moves `steps` positions on, in a queue with `entries` entries.
    fn advance(&mut self, steps: u32, entries: usize) {
        self.position = self.position.wrapping_add(steps);
        self.entry = (self.entry + steps as usize) % entries;
    }
}

/// The pushing side; there is exactly one.
#[derive(Debug)]
pub struct Producer<'a, T, const N: usize> {
    queue: &'a KeepLast<T, N>,
    tail: Cursor,
    /// The cell that belongs to this side; it holds no item.
    spare: u32,
    overwritten: u64,
}

impl<T, const N: usize> Producer<'_, T, N> {
    /// Appends `item`. If the queue is full, its oldest item gives way and is returned. Wait-free.
    #[inline]
    pub fn push(&mut self, item: T) -> Option<T> {
        let queue = self.queue;
        // SAFETY: the spare cell is this side's alone.
        queue.cell(self.spare).with_mut(|cell| unsafe { (*cell).write(item) });
        // "keep_last_static.push": releases the item to "keep_last_static.peek"; acquires the cell
        // that it receives, and what the consumer did to it before "keep_last_static.take".
        let filled = Entry::new(self.tail.position, true, self.spare).0;
        let order = order!(AcqRel, "keep_last_static.push");
        let displaced = Entry(queue.entries[self.tail.entry].swap(filled, order));
        self.tail.advance(1, N);
        self.spare = displaced.cell();
        if !displaced.is_full() {
            return None;
        }
        self.overwritten += 1;
        // SAFETY: the exchange made the cell this side's, with the item that it holds.
        Some(queue.cell(self.spare).with(|cell| unsafe { (*cell).assume_init_read() }))
    }

    /// How many items were overwritten so far.
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }
}

/// The popping side; there is exactly one.
#[derive(Debug)]
pub struct Consumer<'a, T, const N: usize> {
    queue: &'a KeepLast<T, N>,
    head: Cursor,
    /// The cell that belongs to this side; it holds no item.
    spare: u32,
}

impl<T, const N: usize> Consumer<'_, T, N> {
    /// Takes the oldest item that was not overwritten. Lock-free.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let queue = self.queue;
        loop {
            let entry = &queue.entries[self.head.entry];
            // "keep_last_static.peek": pairs with "keep_last_static.push".
            let found = Entry(entry.load(order!(Acquire, "keep_last_static.peek")));
            let ahead = found.ahead_of(self.head.position);
            if ahead < 0 {
                return None;
            }
            if ahead > 0 {
                // Overwritten; the oldest that can be left is the one after it, less a lap.
                self.head.advance(ahead as u32 + 1 - N as u32, N);
                continue;
            }
            let emptied = Entry::new(self.head.position, false, self.spare).0;
            // "keep_last_static.take": hands the spare cell, and the end of its last use, to
            // "keep_last_static.push". The item was acquired by the look before.
            let exchanged = entry.compare_exchange(
                found.0,
                emptied,
                order!(Release, "keep_last_static.take"),
                order!(Relaxed, "keep_last_static.retry"),
            );
            if exchanged.is_ok() {
                self.head.advance(1, N);
                self.spare = found.cell();
                let cell = queue.cell(self.spare);
                // SAFETY: the exchange made the cell this side's, with the item that it holds.
                return Some(cell.with(|cell| unsafe { (*cell).assume_init_read() }));
            }
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::sync::Arc;

    #[test]
    fn what_is_left_in_the_queue_is_dropped_with_it() {
        let witness = Arc::new(());
        let queue = KeepLast::<_, 3>::new();
        let (mut producer, mut consumer) = queue.split().unwrap();
        for _ in 0..5 {
            drop(producer.push(witness.clone()));
        }
        drop(consumer.pop());
        assert_eq!(Arc::strong_count(&witness), 3);
        drop(queue);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn threads_see_every_item_once_taken_or_overwritten_and_in_order() {
        const ITEMS: u64 = 100_000;
        let queue = KeepLast::<Box<u64>, 3>::new();
        let (mut producer, mut consumer) = queue.split().unwrap();
        let overwritten = std::thread::scope(|scope| {
            let pusher = scope.spawn(move || {
                for n in 0..ITEMS {
                    if producer.push(Box::new(n)).is_some() {
                        std::thread::yield_now();
                    }
                }
                producer.overwritten()
            });
            let (mut last, mut taken) = (None, 0);
            while last < Some(ITEMS - 1) {
                if let Some(item) = consumer.pop() {
                    assert!(last < Some(*item));
                    last = Some(*item);
                    taken += 1;
                }
            }
            pusher.join().unwrap() + taken
        });
        assert_eq!(overwritten, ITEMS, "taken and overwritten");
    }

    /// Runs `pushes` against a deque, after `warm_up` pushes that bring the positions to a wrap.
    fn compare<const N: usize>(warm_up: u32, pushes: &[bool]) -> Result<(), TestCaseError> {
        let queue = KeepLast::<usize, N>::new();
        let (mut producer, mut consumer) = queue.split().unwrap();
        // As if `warm_up` items had passed: every position moves on, entries stay in phase.
        let shift = warm_up - warm_up % N as u32;
        for entry in queue.entries.iter() {
            entry.fetch_add(shift << SEQUENCE_SHIFT, crate::sync::Ordering::Relaxed);
        }
        producer.tail.position = shift;
        consumer.head.position = shift;
        let mut model = VecDeque::new();
        for (n, push) in pushes.iter().enumerate() {
            if *push {
                let oldest = if model.len() == N { model.pop_front() } else { None };
                model.push_back(n);
                prop_assert_eq!(producer.push(n), oldest);
            } else {
                prop_assert_eq!(consumer.pop(), model.pop_front());
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn behaves_like_a_deque_that_drops_its_front(
            warm_up in prop_oneof![Just(0), Just((1u32 << 24) - 1), Just(u32::MAX - 1)],
            pushes in proptest::collection::vec(any::<bool>(), 0..200),
        ) {
            compare::<1>(warm_up, &pushes)?;
            compare::<3>(warm_up, &pushes)?;
            compare::<5>(warm_up, &pushes)?;
        }
    }
}
