//! The memory under [`spsc`](crate::spsc) and the multiplexer: items in blocks, each beside
//! the word that publishes them.
//!
//! ```text
//! small items:  | word, item, item, item ... |    two cache lines
//! large items:  | word |  item  |  item  | ...    on cache lines of their own
//! ```
//!
//! A word holds a position, and *everything before this position was published*. An old word is
//! still true, so its age does not matter to a consumer: it tells of items at the consumer's
//! position, or of nothing new. New items are visible in the word of the block that the consumer
//! has reached: a producer publishes one item or many by storing the new end of the stream to the
//! word of the block in which the new part starts; and where a consumer knows of nothing more, a
//! part starts next. The words of the other blocks are not read.
//!
//! They can therefore become old. With positions of 64 bits that does not matter. Where positions
//! wrap ([`POSITIONS_WRAP`]), the producer of a batch stores to all words that it passes, so that
//! none is ever more than two laps old, and slots are a power of two.

use crate::cells::{Cell, POSITIONS_WRAP};
use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::slice;

/// The unit in which memory travels between cores.
const CACHE_LINE: usize = 64;
/// Small items fill a block of so many bytes. With one line, the news of an item always come with
/// it. With two there are fewer words to carry, and half of the items are in the word's line.
const BLOCK: usize = 2 * CACHE_LINE;
/// Large items share a word if as many as fit in so many bytes: so a word costs at most an eighth
/// of their memory traffic, and rounding up to whole blocks at most as much memory.
const LARGE_BLOCK: usize = 8 * CACHE_LINE;

/// Blocks of items `T` with words `W`.
#[derive(Debug)]
pub(crate) struct Blocks<W, T> {
    memory: NonNull<u8>,
    blocks: usize,
    owned: PhantomData<(W, Cell<T>)>,
}

impl<W, T> Blocks<W, T> {
    /// Whether the word's cache line has room for items.
    const SMALL: bool = size_of::<T>() <= CACHE_LINE - size_of::<u64>();
    /// Where a block's first item lies, in bytes.
    const FIRST: usize = {
        let first = size_of::<W>().next_multiple_of(align_of::<Cell<T>>());
        if Self::SMALL { first } else { first.next_multiple_of(CACHE_LINE) }
    };
    /// How many items share a word.
    pub(crate) const PER_BLOCK: usize = {
        let first = size_of::<u64>().next_multiple_of(align_of::<T>());
        let item = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        let room = if Self::SMALL { BLOCK.saturating_sub(first) } else { LARGE_BLOCK };
        let fitting = room / item;
        let most = if cfg!(ringbuf_loom) { 2 } else { fitting };
        match if fitting < most { fitting } else { most } {
            0 => 1,
            items if POSITIONS_WRAP => 1 << items.ilog2(),
            items => items,
        }
    };
    const ALIGN: usize = {
        let align = if align_of::<W>() > CACHE_LINE { align_of::<W>() } else { CACHE_LINE };
        if align_of::<Cell<T>>() > align { align_of::<Cell<T>>() } else { align }
    };
    /// From a block to the next, in bytes.
    const STRIDE: usize =
        (Self::FIRST + Self::PER_BLOCK * size_of::<Cell<T>>()).next_multiple_of(Self::ALIGN);

    /// Enough blocks for `items`, without items; every word comes from `word`.
    pub(crate) fn new(items: usize, mut word: impl FnMut() -> W) -> Self {
        let blocks = items.div_ceil(Self::PER_BLOCK);
        let blocks = if POSITIONS_WRAP { blocks.next_power_of_two() } else { blocks };
        let layout = Self::layout(blocks);
        // SAFETY: a block is never empty, and there is at least one.
        let memory = NonNull::new(unsafe { alloc(layout) });
        let memory = memory.unwrap_or_else(|| handle_alloc_error(layout));
        for block in 0..blocks {
            // SAFETY: the layout has room for this block's word, and for its items behind it.
            unsafe {
                let block = memory.add(block * Self::STRIDE);
                block.cast::<W>().write(word());
                for item in 0..Self::PER_BLOCK {
                    let cell = block.add(Self::FIRST + item * size_of::<Cell<T>>());
                    cell.cast::<Cell<T>>().write(Cell::new());
                }
            }
        }
        Self { memory, blocks, owned: PhantomData }
    }

    fn layout(blocks: usize) -> Layout {
        let size = Self::STRIDE.checked_mul(blocks);
        let layout = size.and_then(|size| Layout::from_size_align(size, Self::ALIGN).ok());
        layout.expect("the capacity is out of range")
    }

    /// How many blocks there are.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.blocks
    }

    /// The word of a block.
    ///
    /// # Safety
    /// There are more than `block` blocks.
    #[inline(always)]
    pub(crate) unsafe fn word(&self, block: usize) -> &W {
        // SAFETY: every block starts with a word, which was written by `new`.
        unsafe { self.memory.add(block * Self::STRIDE).cast().as_ref() }
    }

    /// The cells of a block.
    ///
    /// # Safety
    /// There are more than `block` blocks.
    #[inline(always)]
    pub(crate) unsafe fn cells(&self, block: usize) -> &[Cell<T>] {
        // SAFETY: every cell was written by `new`.
        unsafe {
            let first = self.memory.add(block * Self::STRIDE + Self::FIRST).cast::<Cell<T>>();
            slice::from_raw_parts(first.as_ptr(), Self::PER_BLOCK)
        }
    }
}

impl<W, T> Drop for Blocks<W, T> {
    /// Frees the memory; items that are left in it are the owner's business.
    fn drop(&mut self) {
        for block in 0..self.blocks {
            // SAFETY: `new` wrote these, and this is their last use. Compiles to nothing; in the
            // models a cell is more than its content.
            unsafe {
                let block = self.memory.add(block * Self::STRIDE);
                let cells = block.add(Self::FIRST).cast::<Cell<T>>();
                ptr::slice_from_raw_parts_mut(cells.as_ptr(), Self::PER_BLOCK).drop_in_place();
                block.cast::<W>().drop_in_place();
            }
        }
        // SAFETY: allocated with this layout by `new`.
        unsafe { dealloc(self.memory.as_ptr(), Self::layout(self.blocks)) };
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;

    #[repr(align(256))]
    struct Aligned([u8; 3]);

    fn check<T>(per_block: usize, stride: usize) {
        assert_eq!((Blocks::<u64, T>::PER_BLOCK, Blocks::<u64, T>::STRIDE), (per_block, stride));
        let blocks = Blocks::<u64, T>::new(2 * per_block + 1, || 7);
        assert_eq!(blocks.count(), 3);
        for block in 0..3 {
            // SAFETY: there are three.
            let (word, cells) = unsafe { (blocks.word(block), blocks.cells(block)) };
            assert_eq!((*word, cells.len()), (7, per_block));
            for cell in cells {
                cell.with_mut(|cell| {
                    assert_eq!(cell as usize % align_of::<T>(), 0);
                    // SAFETY: no other thread has access to the cell.
                    unsafe { cell.write_bytes(0xFF, 1) };
                });
            }
            assert_eq!(*word, 7, "a word lies apart from the items");
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn blocks_are_two_lines_or_start_their_items_on_a_line() {
        check::<u64>(15, 128);
        check::<u8>(120, 128);
        check::<()>(120, 64);
        check::<[u64; 3]>(5, 128);
        check::<u128>(7, 128);
        check::<[u64; 7]>(2, 128);
        check::<[u64; 8]>(8, 9 * 64);
        check::<[u64; 9]>(7, 9 * 64);
        check::<[u64; 512]>(1, 65 * 64);
        check::<Aligned>(2, 3 * 256);
        assert_eq!(size_of_val(&Aligned([0; 3]).0), 3);
    }
}
