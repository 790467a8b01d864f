//! The end of a publisher or client, which comes with its last handle.
//!
//! A handle may be dropped anywhere: in a callback, in a destructor, and while this very thread has
//! locked the graph. So the drop only notes the departure; the graph handles it at once if nothing
//! has locked it, and else where that lock ends.

use crate::event::{CallbackId, SourceId};
use crate::lock::lock;
use std::fmt;
use std::mem::take;
use std::sync::{Arc, Mutex};

/// An end without handles.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Departed {
    Publisher(SourceId),
    /// A client, with the callback that gets its responses.
    Client(CallbackId),
}

/// The departures that a graph has not handled yet. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Departures(Arc<Mutex<Vec<Departed>>>);

impl Departures {
    /// The oldest ones first.
    pub(crate) fn take(&self) -> Vec<Departed> {
        take(&mut *lock(&self.0))
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// The part that all handles of an end share: dropped with the last of them.
pub(crate) struct Departure {
    who: Departed,
    departures: Departures,
    /// Lets the graph handle the departure, unless it is locked.
    settle: Box<dyn Fn() + Send + Sync>,
}

impl Departure {
    pub(crate) fn new(
        who: Departed,
        departures: Departures,
        settle: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self { who, departures, settle: Box::new(settle) }
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        lock(&self.departures.0).push(self.who);
        (self.settle)();
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Departure").field(&self.who).finish()
    }
}
