//! The thread that sleeps, and that others wake: registered and woken without a lock. In place of
//! a thread there may be a function, for a worker that several threads run in turns.
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
use std::fmt;
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

/// The function that wakes in place of an unpark.
pub(crate) type Waker = Arc<dyn Fn() + Send + Sync>;

#[derive(Clone)]
enum Target {
    None,
    Thread(Thread),
    Function(Waker),
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Thread(thread) => thread.fmt(f),
            Self::Function(_) => f.write_str("a function"),
        }
    }
}

/// The thread to wake.
#[derive(Debug)]
pub(crate) struct Sleeper {
    /// The one that was registered last.
    target: Published<Target>,
    #[cfg(ringbuf_loom)]
    replaced: List<Replaced<Target>>,
}

impl Sleeper {
    /// Creates a sleeper without a thread.
    pub(crate) fn new() -> Self {
        Self {
            target: Published::new(Target::None, &domain()),
            #[cfg(ringbuf_loom)]
            replaced: List::new(),
        }
    }

    /// Makes the calling thread the one that is woken. Lock-free.
    #[cfg(not(ringbuf_loom))]
    pub(crate) fn register(&self) {
        let (thread, _change) = (current(), self.target.domain().change());
        if !matches!(&*self.target.load(), Target::Thread(of) if of.id() == thread.id()) {
            self.target.replace(Target::Thread(thread));
        }
    }

    /// Has `waker` called in place of a thread's unpark. Lock-free.
    #[cfg(not(ringbuf_loom))]
    pub(crate) fn register_function(&self, waker: Waker) {
        let _change = self.target.domain().change();
        self.target.replace(Target::Function(waker));
    }

    #[cfg(ringbuf_loom)]
    pub(crate) fn register(&self) {
        // SAFETY: it is dropped with the sleeper.
        self.replaced.push(unsafe { self.target.exchange(Target::Thread(current())) });
    }

    #[cfg(ringbuf_loom)]
    pub(crate) fn register_function(&self, waker: Waker) {
        // SAFETY: it is dropped with the sleeper.
        self.replaced.push(unsafe { self.target.exchange(Target::Function(waker)) });
    }

    /// Adds the lines that a wake-up touches.
    #[cfg(not(ringbuf_loom))]
    pub(crate) fn add_to(&self, lines: &mut crate::prefetch::CacheLines) {
        let _change = self.target.domain().change();
        let target = self.target.load();
        lines.add(&*target);
        if let Target::Function(wake) = &*target {
            lines.add(&**wake);
        }
    }

    /// Has the registered thread's current or next park end, if there is one. Without a lock; the
    /// system call does not wait either.
    #[cold]
    pub(crate) fn wake(&self) {
        #[cfg(not(ringbuf_loom))]
        let _pin = self.target.domain().pin();
        // SAFETY: the pin keeps this thread online; a model drops no target before the sleeper.
        let target = unsafe { self.target.read() };
        step!("wake.found");
        match target {
            Target::None => {}
            Target::Thread(thread) => thread.unpark(),
            Target::Function(wake) => wake(),
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
