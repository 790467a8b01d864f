//! Events, their identities, and records of dispatches. The graph gives out the numbers of sources,
//! loops and callbacks in order of creation, so an identity is the same in every mode and on every
//! machine. Workers write the records as they dispatch; recorders (traces, digests, profiles) read
//! them on the worker's thread.

use crate::base::time::Time;
use std::any::Any;

/// The identity of an event: the same in every mode and on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The source: the index of a publisher or timer, in order of creation.
    pub source: SourceId,
    /// The zero-based sequence number within the source.
    pub sequence: u64,
}

impl EventId {
    /// No event: of a notice that was handled without one.
    pub const NONE: Self = Self { source: SourceId(u32::MAX), sequence: 0 };
}

/// A source of events, numbered over the whole graph in order of creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// An event loop, numbered in order of creation: one per callback group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

/// A callback, numbered over the whole graph in order of creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallbackId(pub u32);

impl CallbackId {
    /// No callback: of a [`Failure`](crate::Failure) outside of any.
    pub const NONE: Self = Self(u32::MAX);
}

/// One dispatch: an event was handed to a callback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    /// The start of the callback.
    pub time: Time,
    /// The event loop that ran it.
    pub event_loop: LoopId,
    /// The callback.
    pub callback: CallbackId,
    /// The event that caused the call.
    pub event: EventId,
}

/// The origin of an event, as its receiver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOrigin {
    /// A timer that was due at this time.
    Timer(Time),
    /// A message, request or response in this slot of the pool of its topic.
    Message {
        /// The index of the slot.
        slot: usize,
    },
    /// Another event.
    Other,
}

/// An observer of every dispatch of a worker: the trace, the digest and the profile are recorders.
///
/// It is `Any` so that it can be returned after the run in its own type.
pub trait Recorder: Any + Send {
    /// The worker takes an event: it is started, or skipped, next.
    fn taken(&mut self) {}

    /// The callback is about to run.
    fn started(&mut self, dispatch: &Dispatch);

    /// The callback is about to run, for an event of this origin; by default, the same as
    /// [`started`](Self::started). Recorders that follow chains implement it.
    fn started_by(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        let _ = origin;
        self.started(dispatch);
    }

    /// The callback has returned.
    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        let _ = (dispatch, completion);
    }

    /// An event was handled without a call: the message was too old, or it waits for others of a
    /// set. The event is [`EventId::NONE`] if it is no message.
    fn skipped(&mut self, dispatch: &Dispatch, origin: EventOrigin) {
        let _ = (dispatch, origin);
    }

    /// The worker knows of a change of the graph from here on: between two dispatches.
    fn changed(&mut self, change: &GraphChange) {
        let _ = change;
    }
}

/// A change of the graph while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphChange {
    /// A node or callback group was created.
    LoopAdded {
        /// Its event loop.
        event_loop: LoopId,
        /// `/node`, or `/node:group`.
        name: String,
    },
    /// A callback was created.
    CallbackAdded {
        /// The callback.
        callback: CallbackId,
        /// Its event loop.
        event_loop: LoopId,
        /// The name, such as `subscription /points`.
        name: String,
    },
    /// A node or callback group was destroyed.
    LoopRemoved {
        /// Its event loop.
        event_loop: LoopId,
    },
    /// A callback was destroyed.
    CallbackRemoved {
        /// The callback.
        callback: CallbackId,
    },
    /// A task has finished, or a stream or interval was dropped. No part of the digest of a run:
    /// it follows from the events before.
    CallbackEnded {
        /// The callback.
        callback: CallbackId,
    },
}

/// The outcome of a dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The return of the callback; in simulated time, its start plus its simulated duration.
    pub time: Time,
    /// The digest of the values that the callback showed: by
    /// [`Context::digest`](crate::Context::digest), as messages of
    /// [digested](crate::Publisher::digested) publishers, the state of a
    /// [digested](crate::Node::digest_state) group. `None` if it showed nothing, and live.
    pub digest: Option<u64>,
}
