//! The thread that sleeps, and that others wake: registered and woken without a lock.
//!
//! A thread's handle is kept for as long as the sleeper lives, so a waker may be suspended while it
//! holds one: neither other wakers nor the next registration wait for it. A thread that registers
//! again finds its old entry, so memory grows by some 32 bytes for each *different* thread.
//!
//! The registration is found by a waker that knows of it: through a read-modify-write of one word
//! that both sides make, as the users of this type do.

use crate::sync::{AtomicPtr, Thread, UnsafeCell, current, order, step};
use std::ptr;

/// The thread to wake.
#[derive(Debug)]
pub(crate) struct Sleeper {
    /// The entry of the thread that registered last; null at first.
    current: AtomicPtr<Entry>,
    /// All entries, the newest first.
    newest: AtomicPtr<Entry>,
}

#[derive(Debug)]
struct Entry {
    thread: UnsafeCell<Thread>,
    older: *mut Self,
}

// SAFETY: an entry never changes after it was added, and goes with the sleeper.
unsafe impl Send for Sleeper {}
// SAFETY: as above; both pointers are atomic.
unsafe impl Sync for Sleeper {}

impl Sleeper {
    /// Creates a sleeper without a thread.
    pub(crate) fn new() -> Self {
        let none = || AtomicPtr::new(ptr::null_mut());
        Self { current: none(), newest: none() }
    }

    /// Makes the calling thread the one that is woken. Lock-free.
    pub(crate) fn register(&self) {
        // "sleeper.register": pairs with "sleeper.wake".
        self.current.store(self.entry(), order!(Release, "sleeper.register"));
    }

    /// The calling thread's entry, which is added if it is new.
    fn entry(&self) -> *mut Entry {
        let thread = current();
        let id = thread.id();
        let mut added: Option<Box<Entry>> = None;
        loop {
            // "sleeper.newest": pairs with "sleeper.add".
            let newest = self.newest.load(order!(Acquire, "sleeper.newest"));
            let mut at = newest;
            while !at.is_null() {
                // SAFETY: an entry is complete before it is added, and lives as long as the list.
                let entry = unsafe { &*at };
                // SAFETY: no entry is written after it was added.
                if entry.thread.with(|thread| unsafe { (*thread).id() }) == id {
                    return at;
                }
                at = entry.older;
            }
            let mut entry = added.take().unwrap_or_else(|| {
                let thread = UnsafeCell::new(thread.clone());
                Box::new(Entry { thread, older: ptr::null_mut() })
            });
            entry.older = newest;
            let entry = Box::into_raw(entry);
            let exchanged = self.newest.compare_exchange(
                newest,
                entry,
                order!(Release, "sleeper.add"),
                order!(Relaxed, "sleeper.retry"),
            );
            if exchanged.is_ok() {
                return entry;
            }
            // SAFETY: the entry came from a box just now, and was not added.
            added = Some(unsafe { Box::from_raw(entry) });
        }
    }

    /// Has the registered thread's current or next park end, if there is one. Without a lock; the
    /// system call does not wait either.
    #[cold]
    pub(crate) fn wake(&self) {
        // "sleeper.wake": pairs with "sleeper.register".
        let entry = self.current.load(order!(Acquire, "sleeper.wake"));
        step!("wake.found");
        if !entry.is_null() {
            // SAFETY: entries live as long as the sleeper.
            let entry = unsafe { &*entry };
            // SAFETY: no entry is written after it was added.
            entry.thread.with(|thread| unsafe { (*thread).unpark() });
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // "sleeper.drop": no other thread has access any more.
        let mut at = self.newest.load(order!(Relaxed, "sleeper.drop"));
        while !at.is_null() {
            // SAFETY: each entry came from a box, and is in the list once.
            at = unsafe { Box::from_raw(at) }.older;
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::{park, spawn};

    fn entries(sleeper: &Sleeper) -> usize {
        let mut at = sleeper.newest.load(crate::sync::Ordering::Relaxed);
        let mut count = 0;
        while !at.is_null() {
            count += 1;
            // SAFETY: entries live as long as the sleeper.
            at = unsafe { &*at }.older;
        }
        count
    }

    #[test]
    fn a_thread_that_registers_again_takes_no_memory() {
        let sleeper = Arc::new(Sleeper::new());
        sleeper.wake();
        (0..100).for_each(|_| sleeper.register());
        let other = sleeper.clone();
        spawn(move || (0..100).for_each(|_| other.register())).join().unwrap();
        sleeper.register();
        assert_eq!(entries(&sleeper), 2);
        sleeper.wake();
        park(); // returns at once, because it was this thread that was woken
    }
}
