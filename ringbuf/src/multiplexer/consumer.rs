//! A reading side of the multiplexer.
//!
//! One thread uses a consumer. It polls the word in the block of its next item, with acquire, and
//! reads items in place as far as that word says; then it stores its position to its cursor, with
//! release, so that the producer overwrites them only afterwards. Position and known end lie in
//! private fields, so a batch costs few loads and stores. The cursor moves in the drop of a guard,
//! because an item may be used until then, and also after a panic. Items are read in place and not
//! moved out, because all consumers read the same ones.

use super::{FREE, PENDING, Ring};
use crate::cells::Place;
use crate::sync::{Arc, order};

/// A reading side, one of several.
#[derive(Debug)]
pub struct Consumer<T> {
    ring: Arc<Ring<T>>,
    /// Which cursor is this one's.
    index: usize,
    /// `PENDING` until it is known to be admitted.
    position: u64,
    /// Where the item at the position lies.
    place: Place,
    /// Items before it are known to be published; the position itself if none is.
    published: u64,
}

impl<T> Consumer<T> {
    /// With the cursor `index` in its name, which is pending.
    pub(super) fn new(ring: Arc<Ring<T>>, index: usize) -> Self {
        Self { ring, index, position: PENDING, place: Place::FIRST, published: PENDING }
    }

    /// The next item, which counts as read when the guard is dropped. Wait-free.
    #[inline]
    pub fn read(&mut self) -> Option<Guard<'_, T>> {
        if self.available() { Some(Guard { consumer: self }) } else { None }
    }

    /// Shows `f` the items that are there, up to `items_max` of them and a ring full, and answers
    /// how many those were. The producer gets back their slots in a few goes. An item counts as
    /// read when `f` is called with it, even if `f` panics.
    #[inline]
    pub fn read_batch(&mut self, items_max: usize, mut f: impl FnMut(&T)) -> usize {
        let items_max = items_max.min(self.ring.capacity as usize);
        let mut total = 0;
        while total < items_max && self.available() {
            let known = (self.published - self.position) as usize;
            let mut part = Part { read: 0, consumer: self };
            part.show(known.min(items_max - total), &mut f);
            total += part.read;
        }
        total
    }

    /// Whether there is nothing to [`read`](Self::read). Wait-free.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let (position, place) = match self.position {
            PENDING => {
                // "gating.start": see "gating.admitted".
                let start = self.ring.cursors[self.index].load(order!(Relaxed, "gating.start"));
                if start == PENDING {
                    return true;
                }
                (start, self.ring.place(start))
            }
            position => (position, self.place),
        };
        // "gating.empty": only a hint; "gating.look" acquires.
        let word = self.ring.word(place.block).load(order!(Relaxed, "gating.empty"));
        self.published == self.position && word <= position
    }

    /// Whether the producer is dropped. Its earlier items can still be read. Wait-free.
    pub fn is_abandoned(&self) -> bool {
        // "gating.abandoned": pairs with "gating.abandon": a consumer that sees it finds all pushed
        // items.
        self.ring.abandoned.load(order!(Acquire, "gating.abandoned")) != 0
    }

    /// Whether there is an item at the position. It stays there until it was passed.
    #[inline(always)]
    fn available(&mut self) -> bool {
        if self.published != self.position {
            return true;
        }
        if self.position == PENDING && !self.is_admitted() {
            return false;
        }
        // "gating.look": pairs with "gating.commit".
        let word = self.ring.word(self.place.block).load(order!(Acquire, "gating.look"));
        if word <= self.position {
            return false;
        }
        self.published = word;
        true
    }

    /// Looks whether this consumer was admitted, and where.
    #[cold]
    fn is_admitted(&mut self) -> bool {
        // "gating.admitted": a number and no more; "gating.look" acquires the items there.
        let position = self.ring.cursors[self.index].load(order!(Relaxed, "gating.admitted"));
        if position != PENDING {
            self.place = self.ring.place(position);
            (self.position, self.published) = (position, position);
        }
        position != PENDING
    }

    /// Counts `items` as read.
    #[inline(always)]
    fn pass(&mut self, items: usize, next: Place) {
        self.position += items as u64;
        self.place = next;
        // "gating.pass": pairs with "gating.scan".
        self.ring.cursors[self.index].store(self.position, order!(Release, "gating.pass"));
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        // "gating.leave": pairs with "gating.scan" and "gating.admit": the reads of this consumer
        // precede the overwriting, even if the guard was forgotten and it never passed it. A store
        // would do as well; but an exchange is ordered by loom, too, after an admission that is
        // under way.
        self.ring.cursors[self.index].swap(FREE, order!(Release, "gating.leave"));
    }
}

/// The item that a consumer reads, one at a time:
/// ```compile_fail
/// let (_, multiplexer) = ringspin_ringbuf::multiplexer::multiplexer::<u8>(2, 1);
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
        // SAFETY: `read` found the item there, and the cursor stays there until the guard goes.
        unsafe { self.consumer.ring.item(self.consumer.place) }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let next = self.consumer.ring.after(self.consumer.place);
        self.consumer.pass(1, next);
    }
}

/// Passes the items that were read, even if their reader panics.
struct Part<'a, T> {
    consumer: &'a mut Consumer<T>,
    read: usize,
}

impl<T> Part<'_, T> {
    /// Shows `f` the next `items`, which are there.
    #[inline(always)]
    fn show(&mut self, items: usize, f: &mut impl FnMut(&T)) {
        let (ring, blocks) = (&*self.consumer.ring, self.consumer.ring.blocks.count());
        let Place { mut block, mut offset } = self.consumer.place;
        while self.read < items {
            let here = (items - self.read).min(ring.per_block - offset);
            // SAFETY: `block` stays below `blocks`, and the offsets in the block.
            let cells = unsafe { ring.blocks.cells(block).get_unchecked(offset..offset + here) };
            for cell in cells {
                self.read += 1;
                // SAFETY: the item was published, and the cursor lies at or before it until `pass`.
                f(cell.with(|cell| unsafe { (*cell).assume_init_ref() }));
            }
            block = if block + 1 == blocks { 0 } else { block + 1 };
            offset = 0;
        }
    }
}

impl<T> Drop for Part<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let next = self.consumer.ring.behind(self.consumer.place, self.read);
        self.consumer.pass(self.read, next);
    }
}
