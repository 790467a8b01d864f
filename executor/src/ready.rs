//! The handle that makes an event of a callback ready.

use crate::deadline::Stamper;
use crate::event::CallbackId;
use crate::owner_thread::ForeignEvent;
use crate::sim_network::SimNetwork;
use crate::time::Time;
use ringspin_ringbuf::{Announce, Announcer};
use std::sync::Arc;

/// Announces events of one callback to its event loop.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// Its token is the callback, as its worker numbers it.
    pub(crate) announcer: Announcer,
    /// If the callback has a deadline.
    pub(crate) stamper: Option<Stamper>,
    /// In simulated time, the simulated network.
    pub(crate) sim_network: Option<Arc<SimNetwork>>,
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

    /// The event as it is counted if a thread other than that of the run causes it. In simulated
    /// time the one worker numbers its callbacks as the graph does, and other tokens after them.
    #[cold]
    fn foreign_event(&self) -> ForeignEvent {
        ForeignEvent::For(CallbackId(self.announcer.token()))
    }
}
