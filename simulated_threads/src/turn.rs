//! The turn of a thread: given by the one that ran before.

use crate::os;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Whether it is a thread's turn.
#[derive(Default)]
pub(crate) struct Turn {
    given: AtomicU32,
    /// The number that the operating system gave the thread; zero until it has started.
    thread: AtomicI32,
}

impl Turn {
    /// It is the thread's turn now.
    pub(crate) fn give(&self) {
        // Release: the acquire in `wait` makes the writes of this thread visible to the next one.
        self.given.store(1, Ordering::Release);
        os::futex_wake(&self.given);
    }

    /// Waits in real time for the turn, and takes it.
    pub(crate) fn wait(&self) {
        while self.given.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_err() {
            os::futex_wait(&self.given, 0);
        }
    }

    /// The calling thread takes this turn.
    pub(crate) fn belongs_to_this_thread(&self) {
        self.thread.store(os::this_thread(), Ordering::Relaxed);
    }

    /// The thread's number in the operating system; zero until it has started.
    pub(crate) fn thread(&self) -> i32 {
        self.thread.load(Ordering::Relaxed)
    }
}
