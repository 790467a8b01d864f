//! How something that is not a message makes itself ready: a task, a guard condition, a changed
//! timer.

use crate::ready::Ready;
use crate::sim_network::SimNetwork;
use ringspin_ringbuf::{Announce, Notice, inbox};
use std::sync::{Arc, OnceLock};

/// Makes one event ready, however often it is notified before that is handled; from any thread.
///
/// It starts out notified: what happens before the graph runs is picked up by its first event,
/// which its worker makes ready when it starts.
#[derive(Debug)]
pub(crate) struct Notifier {
    notice: Arc<Notice>,
    ready: OnceLock<Ready>,
}

impl Default for Notifier {
    fn default() -> Self {
        Self { notice: Arc::new(Notice::given()), ready: OnceLock::new() }
    }
}

impl Notifier {
    /// Makes the event ready, unless it is. Lock-free.
    #[inline]
    pub(crate) fn notify(&self) {
        match self.ready.get() {
            Some(Ready { sim_network: Some(sim_network), .. }) if sim_network.departs_later() => {
                self.notify_later(sim_network);
            }
            _ => inbox::notify(&self.notice, || self.ready.get()),
        }
    }

    /// In simulated time, what a callback does comes about when it has returned: until then the
    /// notice is not given, and others may give theirs.
    #[cold]
    fn notify_later(&self, sim_network: &SimNetwork) {
        let (notice, ready) = (self.notice.clone(), self.ready.clone());
        sim_network.fly(sim_network.departure(), move || inbox::notify(&notice, || ready.get()));
    }

    /// Whether the event is to be handled, perhaps since a moment ago.
    pub(crate) fn is_given(&self) -> bool {
        self.notice.is_given()
    }

    /// The event is being handled: takes the notice, and only then may look for what it is about.
    /// False if another token has led here before.
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
