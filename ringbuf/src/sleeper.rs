//! The thread that sleeps, and that others wake: registered and woken without a lock.
//!
//! A waker may be suspended while it has a thread's handle: neither other wakers nor the next
//! registration wait for it. The handle before is dropped when no thread can have it any more.
//!
//! The registration is found by a waker that knows of it: through a read-modify-write of one word
//! that both sides make, as the users of this type do.

#[cfg(ringbuf_loom)]
use crate::list::List;
#[cfg(ringbuf_loom)]
use crate::reclaim::Replaced;
use crate::reclaim::{Domain, Published};
use crate::sync::{Thread, current, step};
use std::sync::Arc;
#[cfg(not(ringbuf_loom))]
use std::sync::LazyLock;

/// The domain of all sleepers of the process. No thread enters it, and a pin lasts for one look, so
/// that no callback delays it.
#[cfg(not(ringbuf_loom))]
fn domain() -> Arc<Domain> {
    static DOMAIN: LazyLock<Arc<Domain>> = LazyLock::new(Arc::default);
    DOMAIN.clone()
}

/// The domain of all sleepers, to which others retire, cannot exist in a model.
#[cfg(ringbuf_loom)]
fn domain() -> Arc<Domain> {
    Arc::default()
}

/// The thread to wake.
#[derive(Debug)]
pub(crate) struct Sleeper {
    /// The thread that registered last.
    thread: Published<Option<Thread>>,
    #[cfg(ringbuf_loom)]
    replaced: List<Replaced<Option<Thread>>>,
}

impl Sleeper {
    /// Creates a sleeper without a thread.
    pub(crate) fn new() -> Self {
        Self {
            thread: Published::new(None, &domain()),
            #[cfg(ringbuf_loom)]
            replaced: List::new(),
        }
    }

    /// Makes the calling thread the one that is woken. Lock-free.
    #[cfg(not(ringbuf_loom))]
    pub(crate) fn register(&self) {
        let (thread, _change) = (current(), self.thread.domain().change());
        if self.thread.load().as_ref().is_none_or(|of| of.id() != thread.id()) {
            self.thread.replace(Some(thread));
        }
    }

    #[cfg(ringbuf_loom)]
    pub(crate) fn register(&self) {
        // SAFETY: it is dropped with the sleeper.
        self.replaced.push(unsafe { self.thread.exchange(Some(current())) });
    }

    /// Has the registered thread's current or next park end, if there is one. Without a lock; the
    /// system call does not wait either.
    #[cold]
    pub(crate) fn wake(&self) {
        #[cfg(not(ringbuf_loom))]
        let _pin = self.thread.domain().pin();
        // SAFETY: the pin keeps this thread online; a model drops no thread before the sleeper.
        let thread = unsafe { self.thread.read() };
        step!("wake.found");
        if let Some(thread) = thread {
            thread.unpark();
        }
    }
}

#[cfg(all(test, not(ringbuf_loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread::{park, spawn};

    #[test]
    fn the_thread_that_registered_last_is_woken() {
        let sleeper = Arc::new(Sleeper::new());
        sleeper.wake();
        let other = sleeper.clone();
        spawn(move || other.register()).join().unwrap();
        (0..2).for_each(|_| sleeper.register());
        sleeper.wake();
        park(); // returns at once, because it was this thread that was woken
    }
}
