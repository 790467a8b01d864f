//! How something that is not a message makes itself ready: a task, a guard condition, a changed
//! timer.

use crate::topic::Ready;
use crate::transit::Transit;
use ringspin_ringbuf::Notice;
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
            Some(Ready { transit: Some(transit), .. }) if transit.departs_later() => {
                self.notify_later(transit);
            }
            _ => give(&self.notice, &self.ready),
        }
    }

    /// In simulated time, what a callback does comes about when it has returned: until then the
    /// notice is not given, and others may give theirs.
    #[cold]
    fn notify_later(&self, transit: &Transit) {
        let (notice, ready) = (self.notice.clone(), self.ready.clone());
        transit.fly(transit.departure(), move || give(&notice, &ready));
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

/// Gives the notice, and says so if it was taken before. Only then is `ready` looked at: who has
/// seen a notice taken sees that the worker was started, and who looked before might not.
#[inline]
fn give(notice: &Notice, ready: &OnceLock<Ready>) {
    if notice.give()
        && let Some(ready) = ready.get()
    {
        ready.announce();
    }
}
