//! How something that is not a message makes itself ready: a task, a guard condition, a changed
//! timer.

use crate::topic::Ready;
use ringspin_ringbuf::Notice;
use std::sync::OnceLock;

/// Makes one event ready, however often it is notified before that is handled; from any thread.
///
/// It starts out notified: what happens before the graph runs is picked up by its first event,
/// which its worker makes ready when it starts.
#[derive(Debug)]
pub(crate) struct Notifier {
    notice: Notice,
    ready: OnceLock<Ready>,
}

impl Default for Notifier {
    fn default() -> Self {
        Self { notice: Notice::given(), ready: OnceLock::new() }
    }
}

impl Notifier {
    /// Makes the event ready, unless it is. Lock-free.
    #[inline]
    pub(crate) fn notify(&self) {
        // Before its worker takes the first notice, it is given, and nobody has to be told.
        if self.notice.give()
            && let Some(ready) = self.ready.get()
        {
            ready.announce_at_departure();
        }
    }

    /// The event is being handled: takes the notice, and only then may look for what it is about.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        self.notice.take()
    }

    pub(crate) fn connect(&self, ready: Ready) {
        assert!(self.ready.set(ready).is_ok(), "a graph is frozen once");
    }

    /// Makes the first event ready.
    pub(crate) fn start(&self) {
        self.ready.get().expect("the graph is frozen before it starts").announce();
    }
}
