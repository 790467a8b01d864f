//! A source of events without data: a task's wake-up, a trigger, a change of a timer.

use crate::counter::Notice;
use crate::inbox::{Announce, notify};
use crate::sync::OnceLock;
use std::fmt;

/// Makes one event ready, however often it is notified before the event is handled; from any
/// thread.
///
/// It starts out notified and not connected. Notifications before [`connect`](Self::connect) are
/// handled by the first event, which the worker makes ready with [`start`](Self::start).
///
/// ```
/// use ringspin_ringbuf::{Inbox, Notifier};
/// let mut inbox = Inbox::with_room(1, 1);
/// let registrar = inbox.registrar();
/// let ring = registrar.add_ring(1, None);
/// let notifier = Notifier::new();
/// notifier.connect(registrar.add_token(ring, 1)).unwrap();
/// inbox.adopt();
/// notifier.start();
/// notifier.notify();
/// assert_eq!((inbox.pop(0), inbox.pop(0)), (Some(0), None));
/// assert!(notifier.take() && !notifier.take());
/// ```
pub struct Notifier<A> {
    notice: Notice,
    ready: OnceLock<A>,
}

impl<A> Notifier<A> {
    /// Creates a notifier that is notified and not connected.
    pub fn new() -> Self {
        Self { notice: Notice::given(), ready: OnceLock::new() }
    }

    /// The connection to the worker; `None` before [`connect`](Self::connect).
    #[inline]
    pub fn connection(&self) -> Option<&A> {
        self.ready.get()
    }

    /// Whether the event is to be handled; the answer may be out of date.
    #[inline]
    pub fn is_given(&self) -> bool {
        self.notice.is_given()
    }

    /// Takes the notice when the event is handled; only afterwards may the worker look for the
    /// reason of the notification. False if an earlier event took the notice.
    #[inline]
    pub fn take(&self) -> bool {
        self.notice.take()
    }
}

impl<A: Announce> Notifier<A> {
    /// Makes the event ready, unless it is. Lock-free.
    #[inline]
    pub fn notify(&self) {
        notify(&self.notice, || self.ready.get());
    }

    /// Connects the notifier to its worker.
    ///
    /// # Errors
    /// Hands `ready` back if the notifier is connected already.
    pub fn connect(&self, ready: A) -> Result<(), A> {
        self.ready.set(ready)
    }

    /// Makes the first event ready.
    ///
    /// # Panics
    /// If the notifier is not connected.
    pub fn start(&self) {
        self.ready.get().expect("a notifier is connected before it starts").announce();
    }
}

impl<A> Default for Notifier<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: fmt::Debug> fmt::Debug for Notifier<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifier").field("notice", &self.notice).finish_non_exhaustive()
    }
}
