//! The keep-last queue without a heap: one producer, one consumer, the newest `N` items, in place.
//!
//! A generalised triple buffer. The queue has `N` entries and `N + 2` cells: an entry names the
//! cell that holds its item, and each side owns one further cell. A push writes into the producer's
//! own cell and exchanges it against the oldest entry's; a pop exchanges the consumer's own, empty
//! cell against the entry's that it takes. The side that gets a cell by an exchange owns it alone,
//! so items are never copied while the other side could touch them.
//!
//! # Progress
//! * [`Producer::push`]: wait-free, one exchange.
//! * [`Consumer::pop`]: lock-free; a retry means that the producer overwrote the item in the moment
//!   of taking it, or that the consumer was lapped and looks for the oldest item, in `N` steps at
//!   most.
//!
//! # Lag
//! A consumer may lag by any number of items: it then finds the newest `N`, oldest first. An entry
//! stores the low 24 bits of a position, so a lag of a multiple of 2^24 items leaves the expected
//! sequence in the consumer's entry. The entry before it shows the difference: an item that
//! precedes the consumer's position was taken or overwritten, so if it is still there, the
//! consumer was lapped.
//!
//! One case is not detected: if the thread of a pop is suspended between its look at an entry and
//! the exchange, while exactly a multiple of 2^24, `N` and `N + 1` items are pushed, the exchange
//! takes the item that is there now. It is a valid item, but older ones may follow it.
//!
//! Works where only 32-bit atomics exist. For many producers, and items shared between queues, see
//! [`keep_last`](crate::keep_last).

use crate::drops::drop_value;
use crate::sync::{AtomicU32, UnsafeCell, order};
use core::mem::MaybeUninit;
use core::ops::Range;
use crossbeam_utils::CachePadded;

/// The deepest queue: a cell's number must fit in an entry's seven bits.
pub const MAX_DEPTH: usize = 126;

/// The content of an entry.
///
/// | bits | field | meaning |
/// |------|-------|---------|
/// | 31..8 | sequence | low 24 bits of the item's position |
/// | 7 | full | whether the cell holds an item |
/// | 6..0 | cell | the cell that belongs to the entry |
#[derive(Clone, Copy, Debug)]
struct Entry(u32);

const FULL: u32 = 1 << 7;
const CELL: u32 = FULL - 1;
/// The models see sequences of two bits: a lag of a whole turn takes four pushes there.
const SEQUENCE_BITS: u32 = if cfg!(ringbuf_loom) { 2 } else { 24 };
const SEQUENCE_SHIFT: u32 = u32::BITS - SEQUENCE_BITS;

impl Entry {
    const fn full(position: u32, cell: u32) -> Self {
        Self(position << SEQUENCE_SHIFT | FULL | cell)
    }

    const fn empty(cell: u32) -> Self {
        Self(cell)
    }

    const fn is_full(self) -> bool {
        self.0 & FULL != 0
    }

    const fn cell(self) -> u32 {
        self.0 & CELL
    }

    const fn sequence(self) -> u32 {
        self.0 >> SEQUENCE_SHIFT
    }

    /// Whether it is full, and holds the low bits of `position`.
    const fn holds(self, position: u32) -> bool {
        self.is_full() && self.sequence() == position << SEQUENCE_SHIFT >> SEQUENCE_SHIFT
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
            entries[n] = AtomicU32::new(Entry::empty(n as u32).0);
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
        let entry = |n: usize| AtomicU32::new(Entry::empty(n as u32).0);
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
        drop(Left { queue: self, entries: 0..N });
    }
}

/// Drops the items of `entries`; the remaining ones also if a drop panics.
struct Left<'a, T, const N: usize> {
    queue: &'a KeepLast<T, N>,
    entries: Range<usize>,
}

impl<T, const N: usize> Drop for Left<'_, T, N> {
    fn drop(&mut self) {
        while let Some(entry) = self.entries.next() {
            let rest = Self { queue: self.queue, entries: self.entries.clone() };
            // "keep_last_static.drop": this thread has the queue alone.
            let entry = self.queue.entries[entry].load(order!(Relaxed, "keep_last_static.drop"));
            if Entry(entry).is_full() {
                let cell = self.queue.cell(Entry(entry).cell());
                // SAFETY: a full entry's cell holds an item, and nothing else can reach it.
                cell.with_mut(|cell| unsafe { drop_value((*cell).as_mut_ptr()) });
            }
            core::mem::forget(rest);
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
    /// The cursor at `position`, in the next of `entries` entries.
    const fn next(self, position: u32, entries: usize) -> Self {
        Self { position, entry: if self.entry + 1 == entries { 0 } else { self.entry + 1 } }
    }

    /// The cursor one position before, in a queue with `entries` entries.
    const fn previous(self, entries: usize) -> Self {
        let entry = if self.entry == 0 { entries - 1 } else { self.entry - 1 };
        Self { position: self.position.wrapping_sub(1), entry }
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
        let filled = Entry::full(self.tail.position, self.spare).0;
        let order = order!(AcqRel, "keep_last_static.push");
        let displaced = Entry(queue.entries[self.tail.entry].swap(filled, order));
        self.tail = self.tail.next(self.tail.position.wrapping_add(1), N);
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
            let Cursor { position, entry } = self.head;
            let entry = &queue.entries[entry];
            // "keep_last_static.peek": pairs with "keep_last_static.push".
            let found = Entry(entry.load(order!(Acquire, "keep_last_static.peek")));
            if !found.is_full() {
                // This side emptied it, so nothing was pushed at this position.
                return None;
            }
            if !found.holds(position) {
                // Overwritten; the oldest that can be left is the one after it, less a lap.
                let oldest = found.sequence().wrapping_add(1).wrapping_sub(N as u32);
                self.head = self.head.next(oldest, N);
                continue;
            }
            let previous = self.head.previous(N);
            // "keep_last_static.before": "keep_last_static.peek" acquired all earlier pushes.
            let before =
                queue.entries[previous.entry].load(order!(Relaxed, "keep_last_static.before"));
            if Entry(before).holds(previous.position) {
                // Lapped: the items of this lap start there or earlier.
                self.head = previous;
                continue;
            }
            // "keep_last_static.take": hands the spare cell, and the end of its last use, to
            // "keep_last_static.push"; and acquires the item, which is not the one of the look if
            // the sequence has gone round in between.
            let exchanged = entry.compare_exchange(
                found.0,
                Entry::empty(self.spare).0,
                order!(AcqRel, "keep_last_static.take"),
                order!(Relaxed, "keep_last_static.retry"),
            );
            if exchanged.is_ok() {
                self.head = self.head.next(position.wrapping_add(1), N);
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
    fn remaining_items_are_dropped_with_the_queue() {
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

    /// Distances by which a consumer can lag: below, at and above each turn of a sequence's sign
    /// and of the sequence itself.
    fn lags() -> impl Strategy<Value = u32> {
        let turns = [0, 1 << (SEQUENCE_BITS - 1), 1 << SEQUENCE_BITS, 3 << SEQUENCE_BITS];
        (0usize..4, 0u32..20).prop_map(move |(turn, more)| (turns[turn] + more).saturating_sub(10))
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        Pop,
        /// So many pushes of which only the last `N` leave items.
        Lag(u32),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => Just(Step::Push),
            8 => Just(Step::Pop),
            1 => lags().prop_map(Step::Lag),
        ];
        proptest::collection::vec(step, 0..200)
    }

    type Item = (u64, Arc<()>);

    /// Pushes `N` items after pretending that `lag` items were pushed, over those in the queue.
    fn lag_behind<const N: usize>(
        queue: &KeepLast<Item, N>,
        producer: &mut Producer<'_, Item, N>,
        lag: u32,
    ) {
        let relaxed = crate::sync::Ordering::Relaxed;
        let laps = lag / N as u32 * N as u32;
        for entry in &*queue.entries {
            entry.fetch_add(laps << SEQUENCE_SHIFT, relaxed);
        }
        producer.tail.position = producer.tail.position.wrapping_add(laps);
    }

    /// Runs `steps` against a deque, with the stream starting at `origin`.
    fn compare<const N: usize>(origin: u32, steps: &[Step]) -> Result<(), TestCaseError> {
        let witness = Arc::new(());
        let queue = KeepLast::<Item, N>::new();
        let (mut producer, mut consumer) = queue.split().unwrap();
        let start = origin - origin % N as u32;
        (producer.tail.position, consumer.head.position) = (start, start);
        let (mut model, mut next) = (VecDeque::new(), 0);
        for step in steps {
            let pushes = match step {
                Step::Pop => {
                    prop_assert_eq!(consumer.pop().map(|item| item.0), model.pop_front());
                    0
                }
                Step::Push => 1,
                Step::Lag(_) => N,
            };
            for _ in 0..pushes {
                let oldest = if model.len() == N { model.pop_front() } else { None };
                model.push_back(next);
                prop_assert_eq!(producer.push((next, witness.clone())).map(|item| item.0), oldest);
                next += 1;
            }
            if let Step::Lag(lag) = step {
                lag_behind(&queue, &mut producer, *lag);
            }
            prop_assert_eq!(Arc::strong_count(&witness), 1 + model.len());
        }
        drop(queue);
        prop_assert_eq!(Arc::strong_count(&witness), 1, "the queue drops what is left in it");
        Ok(())
    }

    proptest! {
        #[test]
        fn behaves_like_a_deque_that_drops_its_front_however_far_the_consumer_lags(
            origin in prop_oneof![Just(0), Just((1u32 << 24) - 1), Just(u32::MAX - 1)],
            steps in steps(),
        ) {
            compare::<1>(origin, &steps)?;
            compare::<2>(origin, &steps)?;
            compare::<3>(origin, &steps)?;
            compare::<5>(origin, &steps)?;
            compare::<126>(origin, &steps)?;
        }
    }

    /// The same without pretending, for one queue.
    #[test]
    fn newest_items_are_popped_after_more_pushes_than_a_sequence_can_count() {
        let queue = KeepLast::<u32, 3>::new();
        let (mut producer, mut consumer) = queue.split().unwrap();
        let turns = [1 << 23, 1 << 24].map(|turn| (turn..turn + 4).map(|pushes| pushes - 2));
        let mut pushed = 0;
        for pushes in turns.into_iter().flatten() {
            for _ in 0..pushes {
                producer.push(pushed);
                pushed += 1;
            }
            let newest: Vec<_> = std::iter::from_fn(|| consumer.pop()).take(4).collect();
            assert_eq!(newest, [pushed - 3, pushed - 2, pushed - 1], "after {pushes} pushes");
        }
    }
}
