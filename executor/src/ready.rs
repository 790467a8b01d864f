//! The handle that makes an event of a callback ready.

use crate::deadline::Stamper;
use crate::event::CallbackId;
use crate::owner_thread::ForeignEvent;
use crate::sim_network::SimNetwork;
use crate::time::Time;
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
    /// If the callback has a deadline.
    pub(crate) stamper: Option<Stamper>,
    /// In simulated time, the simulated network.
    pub(crate) sim_network: Option<Arc<SimNetwork>>,
    /// Ends with the last clone: then nothing announces the token any more.
    pub(crate) _lease: Option<Arc<Lease>>,
}

/// The right to announce a token, which is freed at its end.
pub(crate) struct Lease {
    pub(crate) token: u32,
    pub(crate) worker: Weak<dyn FreeToken>,
}

/// The worker of a token.
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
