//! A worker that several threads run, one at a time: its owner changes without a lock.
//!
//! A strand is a worker and its ready set. Each thread has a ready set of strands. Events mark the
//! strand's set, as those of a worker with one thread do; where a sleeping thread would be woken,
//! the strand is marked in the set of a thread, of any one.
//!
//! ```text
//! publisher                        thread
//! 1. mark in the strand's set      take_marked: the worker, if no other thread has it
//! 2. if that rests: mark the       run some events
//!    strand in the set of a        put, while there is more: the mark stands
//!    thread                        rest, else: clear the mark, let the strand's set rest, put the
//!                                  worker back, look once more
//! ```
//!
//! # Why no event is lost
//! A thread that finds a strand marked and its worker taken clears the mark, tries once more, and
//! goes on: the thread that has the worker looks at the strand's set after it has put the worker
//! back. Take and put exchange one word, also where there is nothing to take. So either the second
//! try comes first, and the look sees the event that the mark was for; or it takes the worker.
//!
//! Only a thread clears marks in its own set. To [hand a strand on](Strand::hand_on), it clears its
//! mark first, and then marks the strand for the other thread: that one may run the strand and mark
//! it here again at once, for a timer that is due, and that mark has to stand.
//!
//! A thread that is suspended with the worker delays its events, as a callback does; a publisher
//! that is suspended delays nothing.

use crate::ready_set::ReadySet;
use crate::sync::{Arc, AtomicPtr, omitted, order, step};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

/// A worker, and the right to run it.
pub struct Strand<T> {
    /// Null while a thread has it.
    worker: AtomicPtr<T>,
    set: Arc<ReadySet>,
    /// Its index in the sets of the threads.
    index: usize,
    owned: PhantomData<T>,
}

impl<T> Strand<T> {
    /// A strand of `worker`, with loops that are marked in `set`; the threads know it as `index`.
    /// It does not rest: mark it for a thread.
    pub fn new(worker: T, set: Arc<ReadySet>, index: usize) -> Self {
        let worker = AtomicPtr::new(Box::into_raw(Box::new(worker)));
        Self { worker, set, index, owned: PhantomData }
    }

    /// Whether none of its loops is marked: then a mark of it stands for no event.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.set.is_empty()
    }

    /// Takes the worker, unless a thread has it. Wait-free.
    #[inline]
    pub fn take(&self) -> Option<Box<T>> {
        // "strand.take": pairs with "strand.put". Acquires what the last thread did with the
        // worker. Releases, also where there is none, that this thread saw a mark.
        let worker = self.worker.swap(ptr::null_mut(), order!(AcqRel, "strand.take"));
        if worker.is_null() {
            return None;
        }
        self.set.rise();
        // SAFETY: it came from a box, and the exchange gave it to this thread alone.
        Some(unsafe { Box::from_raw(worker) })
    }

    /// Takes the worker of a strand that is marked in the set of `thread`, the caller. Without a
    /// worker the mark is taken off. Wait-free.
    #[inline]
    pub fn take_marked(&self, thread: &ReadySet) -> Option<Box<T>> {
        self.take().or_else(|| {
            thread.clear(self.index);
            if omitted!("strand.second_try") { None } else { self.take() }
        })
    }

    /// Puts back a worker that has more to do, of a strand that is marked for a thread. Wait-free.
    #[inline]
    pub fn put(&self, worker: Box<T>) {
        // "strand.put": pairs with "strand.take". Acquires that a thread which found no worker saw
        // a mark.
        self.worker.swap(Box::into_raw(worker), order!(AcqRel, "strand.put"));
    }

    /// Puts back a worker that has nothing to do. The strand is marked in the set of `thread`, the
    /// caller, if an event came meanwhile. Wait-free.
    #[inline]
    pub fn rest(&self, worker: Box<T>, thread: &ReadySet) {
        thread.clear(self.index);
        self.set.rest();
        step!("strand.rests");
        self.put(worker);
        if !omitted!("strand.second_look") && !self.set.is_empty() {
            thread.mark(self.index);
        }
    }

    /// Takes a mark off `thread`, the set of the caller, and marks the strand in that of another
    /// one. Wait-free.
    pub fn hand_on(&self, thread: &ReadySet, to: &ReadySet) {
        thread.clear(self.index);
        to.mark(self.index);
    }

    /// The worker, while no thread runs.
    ///
    /// # Panics
    /// If a thread has kept it.
    pub fn get_mut(&mut self) -> &mut T {
        let worker = self.worker.load(order!(Relaxed, "strand.own"));
        assert!(!worker.is_null(), "each thread puts the worker back");
        // SAFETY: it came from a box, and `self` is borrowed as long as the result.
        unsafe { &mut *worker }
    }
}

// SAFETY: as a box of the worker, which goes to one thread at a time.
unsafe impl<T: Send> Send for Strand<T> {}
// SAFETY: gives out no reference to the worker, only the worker itself.
unsafe impl<T: Send> Sync for Strand<T> {}

impl<T> Drop for Strand<T> {
    fn drop(&mut self) {
        let worker = self.worker.load(order!(Relaxed, "strand.own"));
        if !worker.is_null() {
            // SAFETY: it came from a box, and no thread has it.
            drop(unsafe { Box::from_raw(worker) });
        }
    }
}

impl<T> fmt::Debug for Strand<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strand").field("index", &self.index).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests;
