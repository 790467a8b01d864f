//! A cache line with the entries of a keep-last queue and of a ready ring.
//!
//! A publisher writes to an entry of a queue, and then to one of the ready ring of its event loop;
//! the worker reads them in the opposite order. On one line, both cross to the other core at once.

use crate::sync::{Arc, AtomicU64};
use alloc::boxed::Box;
use core::ops::Deref;
use core::ptr::NonNull;
use crossbeam_utils::CachePadded;

/// The number of entries of each of the two.
const ENTRIES: usize = 4;

/// Memory for the entries of one queue and one ready ring, of up to four items each.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "std"), expect(dead_code, unreachable_pub, reason = "needs a queue"))]
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

/// The entries of a queue or ring: on a line, or in memory of their own if they are too many.
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
