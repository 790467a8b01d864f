//! The end of a publisher or client, which comes with its last handle, and of a task, which comes
//! when it has finished.
//!
//! A handle may be dropped anywhere: in a callback, in a destructor, and while this very thread has
//! locked the graph. So the drop only notes the departure; the graph handles it at once if nothing
//! has locked it, and else where that lock ends.

use crate::base::event::{CallbackId, SourceId};
use ringspin_ringbuf::List;
use std::fmt;
use std::sync::Arc;

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
pub(crate) type Departures = Arc<List<End>>;

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
        self.departures.push(self.end);
        (self.settle)();
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Departure").field(&self.end).finish()
    }
}

/// Destroys an entity of a graph, if both still exist.
pub(crate) struct Registration(Box<dyn Fn() + Send + Sync>);

impl Registration {
    pub(crate) fn new(destroy: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Box::new(destroy))
    }

    /// Destroys the entity. Further calls have no effect.
    pub(crate) fn destroy(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registration")
    }
}
