//! The end of a publisher or client, which comes with its last handle, and of a task, which comes
//! when it has finished.
//!
//! A handle may be dropped anywhere: in a callback, in a destructor, and while this very thread has
//! locked the graph. So the drop only notes the departure; the graph handles it at once if nothing
//! has locked it, and else where that lock ends.

use crate::event::{CallbackId, SourceId};
use crate::lock::lock;
use std::fmt;
use std::mem::take;
use std::sync::{Arc, Mutex};

/// A part of the graph that can end before its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Publisher(SourceId),
    /// The entity of a callback.
    Entity(CallbackId),
    /// The entity of a task, stream or interval, which ends by itself: nothing but the callbacks of
    /// before decides about that, so the digest of a run leaves it out.
    Awaited(CallbackId),
}

/// The ends without handles that a graph has not removed yet. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Departures(Arc<Mutex<Vec<End>>>);

impl Departures {
    /// The oldest ones first.
    pub(crate) fn take(&self) -> Vec<End> {
        take(&mut *lock(&self.0))
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// The part that all handles of an end share: dropped with the last of them, it removes the end.
pub(crate) struct Departure {
    end: End,
    departures: Departures,
    /// Lets the graph handle the departure, unless it is locked.
    settle: Box<dyn Fn() + Send + Sync>,
}

impl Departure {
    pub(crate) fn new(
        end: End,
        departures: Departures,
        settle: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self { end, departures, settle: Box::new(settle) }
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        lock(&self.departures.0).push(self.end);
        (self.settle)();
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Departure").field(&self.end).finish()
    }
}
