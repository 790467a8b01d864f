//! The handle that makes an event of a callback ready, and notices: events that are no messages,
//! such as a task's wake-up, a trigger, a change of a timer.
//!
//! The graph creates a handle for each callback; ports, timers and notifiers clone it. Each of them
//! announces through it, from its own thread in the live modes: a token enters the ready ring, and
//! the loop is marked. In simulated time there is one ring and one thread, so the mark is left out,
//! and an event of another thread is counted as one that no run repeats. The clones share a lease,
//! and its drop with the last of them frees the token: a counter of announcements under way would
//! be written for every message.

use crate::base::event::CallbackId;
use crate::base::owner_thread::ForeignEvent;
use crate::base::time::Time;
use crate::delivery::callback_deadline::Stamper;
use crate::delivery::sim_network::SimNetwork;
use ringspin_ringbuf::Notifier as Source;
use ringspin_ringbuf::{Announce, Announcer};
use std::fmt;
use std::sync::{Arc, Weak};

/// Announces events of one callback to its event loop.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// Its token is the callback, as its worker numbers it.
    pub(crate) announcer: Announcer,
    /// [`CallbackId::NONE`] for a notice to the worker itself.
    pub(crate) callback: CallbackId,
    /// Present if the callback has a deadline.
    pub(crate) stamper: Option<Stamper>,
    pub(crate) sim_network: Option<Arc<SimNetwork>>,
    /// Ends with the last clone: then nothing announces the token any more.
    pub(crate) _lease: Option<Arc<Lease>>,
}

/// The right to announce a token, which is freed at its end.
pub(crate) struct Lease {
    pub(crate) token: u32,
    pub(crate) worker: Weak<dyn FreeToken>,
}

pub(crate) trait FreeToken: Send + Sync {
    /// Nothing announces `token` any more.
    fn free_token(&self, token: u32);
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.upgrade() {
            worker.free_token(self.token);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.token).finish()
    }
}

impl Announce for Ready {
    #[inline]
    fn announce(&self) {
        self.announce_since(None);
    }

    fn remind(&self) {
        match &self.sim_network {
            None => self.announcer.remind(),
            // In simulated time all events should come from one thread.
            Some(sim_network) => sim_network.owner().note(|| self.foreign_event()),
        }
    }
}

impl Ready {
    /// Announces only, for a test of one part.
    #[cfg(test)]
    pub(crate) fn alone(announcer: Announcer) -> Self {
        let callback = CallbackId(announcer.token());
        Self { announcer, callback, stamper: None, sim_network: None, _lease: None }
    }

    /// Records the time at which the event became ready, if that is observed; returns its token.
    #[inline]
    pub(crate) fn stamp(&self, since: Option<Time>) -> u32 {
        if let Some(stamper) = &self.stamper {
            stamper.stamp(since);
        }
        self.announcer.token()
    }

    /// Announces like [`announce`](Self::announce) an event that became due in the past.
    #[inline]
    pub(crate) fn announce_since(&self, since: Option<Time>) {
        self.stamp(since);
        if let Some(sim_network) = &self.sim_network {
            // In simulated time there is one ring, and its worker does not sleep.
            self.announcer.push_unmarked();
            sim_network.owner().note(|| self.foreign_event());
        } else if !self.announcer.try_announce()
            && let Some(stamper) = &self.stamper
        {
            stamper.withdraw();
        }
    }

    /// The event as it is counted if a thread other than that of the run causes it.
    #[cold]
    fn foreign_event(&self) -> ForeignEvent {
        ForeignEvent::For(self.callback)
    }
}

/// Makes one event ready, however often it is notified before that is handled; from any thread.
///
/// The protocol is that of [`ringspin_ringbuf::Notifier`]; this type adds simulated time.
#[derive(Debug, Default)]
pub(crate) struct Notifier(Arc<Source<Ready>>);

impl Notifier {
    /// Makes the event ready, unless it is ready already. Lock-free.
    #[inline]
    pub(crate) fn notify(&self) {
        match self.0.connection() {
            Some(Ready { sim_network: Some(sim_network), .. }) if sim_network.departs_later() => {
                self.notify_later(sim_network);
            }
            _ => self.0.notify(),
        }
    }

    /// Notifies at the end of the running callback, in simulated time. The notifier stays unset
    /// until then, so that other callbacks may notify earlier.
    #[cold]
    fn notify_later(&self, sim_network: &SimNetwork) {
        let source = self.0.clone();
        sim_network.fly(sim_network.departure(), move || source.notify());
    }

    /// Whether the event is to be handled; the answer may be a moment old.
    pub(crate) fn is_given(&self) -> bool {
        self.0.is_given()
    }

    /// Takes the notice when the event is handled; only afterwards may the worker look for the
    /// reason of the notification. False if an earlier event took the notice.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        self.0.take()
    }

    pub(crate) fn connect(&self, ready: Ready) {
        assert!(self.0.connect(ready).is_ok(), "a graph is frozen once");
    }

    /// The worker dispatches the event from here on.
    pub(crate) fn adopt(&self) {
        self.0.adopt();
    }

    /// Makes the first event ready.
    pub(crate) fn start(&self) {
        self.0.start();
    }
}
