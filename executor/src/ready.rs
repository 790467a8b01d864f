//! The way in which an event loop is told that one of its callbacks has an event.

use crate::deadline::Stamper;
use crate::event::CallbackId;
use crate::owner_thread::ForeignEvent;
use crate::sim_network::SimNetwork;
use crate::time::Time;
use ringspin_ringbuf::{Announce, Announcer};
use std::sync::Arc;

/// How an event loop is told that one of its callbacks has an event.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// Its token is the callback, as its worker numbers it.
    pub(crate) announcer: Announcer,
    /// If the callback has a deadline.
    pub(crate) stamper: Option<Stamper>,
    /// In simulated time, what is under way in it.
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
    /// Takes down since when the event is ready, if anybody wants to know; returns its token.
    #[inline]
    pub(crate) fn stamp(&self, since: Option<Time>) -> u32 {
        if let Some(stamper) = &self.stamper {
            stamper.stamp(since);
        }
        self.announcer.token()
    }

    /// As [`announce`](Self::announce), for an event that has been due since some time.
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

    /// As it is counted if another thread than that of the run causes it. In simulated time the one
    /// worker numbers its callbacks as the graph does, and what is not a callback's after them.
    #[cold]
    fn foreign_event(&self) -> ForeignEvent {
        ForeignEvent::For(CallbackId(self.announcer.token()))
    }
}
