//! Where the items of a ring lie: a cell each, by block and offset, see [`blocks`](crate::blocks).

use crate::sync::UnsafeCell;
use core::mem::MaybeUninit;

/// Whether a stream can get so long that its positions wrap.
pub(crate) const POSITIONS_WRAP: bool = usize::BITS < 64;

/// A place for an item, which may hold one.
#[derive(Debug)]
pub(crate) struct Cell<T>(UnsafeCell<MaybeUninit<T>>);

impl<T> Cell<T> {
    #[cfg(not(ringbuf_loom))]
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[cfg(ringbuf_loom)]
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const MaybeUninit<T>) -> R) -> R {
        self.0.with(f)
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut MaybeUninit<T>) -> R) -> R {
        self.0.with_mut(f)
    }
}

/// Where an item lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The block.
    pub(crate) block: usize,
    /// Behind how many items of that block.
    pub(crate) offset: usize,
}

impl Place {
    pub(crate) const FIRST: Self = Self { block: 0, offset: 0 };

    /// The place after this one, in a ring of `blocks`.
    #[inline(always)]
    pub(crate) fn next(self, per_block: usize, blocks: usize) -> Self {
        if self.offset + 1 < per_block {
            return Self { offset: self.offset + 1, ..self };
        }
        let block = if self.block + 1 == blocks { 0 } else { self.block + 1 };
        Self { block, offset: 0 }
    }

    /// The place behind `items` more, a lap at most.
    #[inline(always)]
    pub(crate) fn behind(self, items: usize, per_block: usize, blocks: usize) -> Self {
        let slots = self.offset + items;
        let block = self.block + slots / per_block;
        Self {
            block: if block < blocks { block } else { block - blocks },
            offset: slots % per_block,
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;

    #[test]
    fn place_wraps_at_the_end_of_the_ring() {
        let (per_block, blocks) = (3, 4);
        let mut place = Place::FIRST;
        for items in 0..30 {
            let lap = per_block * blocks;
            let expected = Place { block: items % lap / per_block, offset: items % per_block };
            assert_eq!(place, expected);
            for more in 0..=lap {
                let there = (0..more).fold(place, |place, _| place.next(per_block, blocks));
                assert_eq!(place.behind(more, per_block, blocks), there);
            }
            place = place.next(per_block, blocks);
        }
    }
}
