//! A source of events without data: a task's wake-up, a trigger, a change of a timer.
//!
//! Any thread gives the notice by an exchange, and announces the event if it was the first. The
//! worker takes the notice by an exchange when it handles the event, and looks for work afterwards:
//! a giver's work is seen then, or its notice leads to another event. The connection is set once,
//! when the graph gives the callback to the worker. The notice is given from the start, so that
//! threads may notify before there is a connection, and the first event, which the worker starts
//! itself, finds their work; otherwise each would have to wait for the start.
//!
//! The worker may have the callback before the notifier is connected, since neither of the two
//! threads waits for the other. Each of them sets a bit of one word: the later one makes the event
//! ready.

use crate::counter::Notice;
use crate::inbox::{Announce, notify};
use crate::sync::{AtomicU32, OnceLock, omitted, order, step};
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
    /// [`CONNECTED`] and [`ADOPTED`].
    progress: AtomicU32,
}

const CONNECTED: u32 = 1;
const ADOPTED: u32 = 2;

impl<A> Notifier<A> {
    /// Creates a notifier that is notified and not connected.
    pub fn new() -> Self {
        Self { notice: Notice::given(), ready: OnceLock::new(), progress: AtomicU32::new(0) }
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

    /// Connects the notifier to its worker, and makes the event ready if the worker has
    /// [adopted](Self::adopt) it already.
    ///
    /// # Errors
    /// Hands `ready` back if the notifier is connected already.
    pub fn connect(&self, ready: A) -> Result<(), A> {
        step!("notifier.connecting");
        self.ready.set(ready)?;
        step!("notifier.connected");
        // "notifier.connect": pairs with "notifier.adopt".
        let before = self.progress.fetch_or(CONNECTED, order!(Release, "notifier.connect"));
        if before & ADOPTED != 0 && !omitted!("notifier.connect_late") {
            self.announce();
        }
        Ok(())
    }

    /// The worker dispatches the event from here on. True if the notifier is connected; if not,
    /// [`connect`](Self::connect) makes the event ready.
    pub fn adopt(&self) -> bool {
        // "notifier.adopt": pairs with "notifier.connect".
        self.progress.fetch_or(ADOPTED, order!(Acquire, "notifier.adopt")) & CONNECTED != 0
    }

    /// [Adopts](Self::adopt) the notifier, and makes the first event ready.
    pub fn start(&self) {
        if self.adopt() {
            self.announce();
        }
    }

    fn announce(&self) {
        self.ready.get().expect("the notifier is connected").announce();
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
