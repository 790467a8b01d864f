//! A reading side of the gating multiplexer.

use super::{FREE, PENDING, Ring};
use crate::sync::{Arc, order};

/// A reading side, one of several.
#[derive(Debug)]
pub struct Consumer<T> {
    ring: Arc<Ring<T>>,
    /// Which cursor is this one's.
    index: usize,
    /// `PENDING` until it is known to be admitted. No slot's sequence matches that.
    position: u64,
}

impl<T> Consumer<T> {
    /// With the cursor `index` in its name, which is pending.
    pub(super) fn new(ring: Arc<Ring<T>>, index: usize) -> Self {
        Self { ring, index, position: PENDING }
    }

    /// The next item, which counts as read when the guard is dropped. Wait-free.
    #[inline]
    pub fn read(&mut self) -> Option<Guard<'_, T>> {
        if self.filled(self.position) || (self.position == PENDING && self.is_first_filled()) {
            return Some(Guard { consumer: self });
        }
        None
    }

    /// Shows `f` the items that are there, up to `items_max` of them, and answers how many those
    /// were. The producer gets back their slots all at once at the end, which saves it cache
    /// misses. An item counts as read when `f` is called with it, even if `f` panics.
    #[inline]
    pub fn read_batch(&mut self, items_max: usize, mut f: impl FnMut(&T)) -> usize {
        if self.position == PENDING && !self.is_first_filled() {
            return 0;
        }
        // Ends after a lap at the latest: the producer waits for the cursor.
        let mut batch = Batch { consumer: self, read: 0 };
        while batch.read < items_max {
            let position = batch.consumer.position + batch.read as u64;
            if !batch.consumer.filled(position) {
                break;
            }
            batch.read += 1;
            // SAFETY: the slot is filled, and the cursor lies at or before it until the batch ends.
            f(unsafe { batch.consumer.ring.slot(position).item() });
        }
        batch.read
    }

    /// Whether there is nothing to [`read`](Self::read). Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let position = match self.position {
            // "gating.start": see "gating.admitted".
            PENDING => self.ring.cursors[self.index].load(order!(Relaxed, "gating.start")),
            position => position,
        };
        // "gating.empty": an answer and no more; "gating.look" acquires.
        let sequence = self.ring.slot(position).sequence.load(order!(Relaxed, "gating.empty"));
        position == PENDING || sequence != position + 1
    }

    /// Whether the producer is gone. What it pushed before can still be read. Wait-free.
    pub fn is_abandoned(&self) -> bool {
        // "gating.abandoned": pairs with "gating.abandon": who knows finds all that was pushed.
        self.ring.abandoned.load(order!(Acquire, "gating.abandoned")) != 0
    }

    /// Whether the item of this sequence is in its slot. It stays there until it was passed.
    #[inline(always)]
    fn filled(&self, position: u64) -> bool {
        // "gating.look": pairs with "gating.commit".
        let sequence = self.ring.slot(position).sequence.load(order!(Acquire, "gating.look"));
        sequence == position.wrapping_add(1)
    }

    /// Looks whether this consumer was admitted, and whether its first item is there.
    #[cold]
    fn is_first_filled(&mut self) -> bool {
        // "gating.admitted": a number and no more; "gating.look" acquires what lies there.
        self.position = self.ring.cursors[self.index].load(order!(Relaxed, "gating.admitted"));
        self.position != PENDING && self.filled(self.position)
    }

    /// Counts `items` as read.
    #[inline(always)]
    fn pass(&mut self, items: usize) {
        self.position += items as u64;
        // "gating.pass": pairs with "gating.scan".
        self.ring.cursors[self.index].store(self.position, order!(Release, "gating.pass"));
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        // "gating.leave": pairs with "gating.scan" and "gating.admit": what this consumer read was
        // read before it is overwritten, even if the guard was forgotten and it never passed it. A
        // store would do as well; but an exchange is ordered by loom, too, after an admission
        // that is under way.
        self.ring.cursors[self.index].swap(FREE, order!(Release, "gating.leave"));
    }
}

/// The item that a consumer reads, one at a time:
/// ```compile_fail
/// let (_, multiplexer) = ringspin_ringbuf::multiplexer::gating::multiplexer::<u8>(2, 1);
/// let mut consumer = multiplexer.join().unwrap();
/// let (first, second) = (consumer.read(), consumer.read());
/// drop((first, second));
/// ```
///
/// It counts as read when this is dropped, whether the consumer
/// panics or not; if it is forgotten (`mem::forget`), the next read yields the same item.
#[derive(Debug)]
pub struct Guard<'a, T> {
    consumer: &'a mut Consumer<T>,
}

impl<T> core::ops::Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `read` found the slot filled, and the cursor stays there until the guard goes.
        unsafe { self.consumer.ring.slot(self.consumer.position).item() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.consumer.pass(1);
    }
}

/// Passes what a batch has read, even if its reader panics.
struct Batch<'a, T> {
    consumer: &'a mut Consumer<T>,
    read: usize,
}

impl<T> Drop for Batch<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.read > 0 {
            self.consumer.pass(self.read);
        }
    }
}
