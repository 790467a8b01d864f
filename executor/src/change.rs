//! Changes of a worker, which another thread prepares and the worker adopts between two events.
//!
//! The start of a graph is a change like any later one: a worker begins empty, and adopts its loops
//! and callbacks. The steps on both sides are those of [`ringspin_ringbuf::changes`].

use crate::calls::CallLine;
use crate::control::CallbackCounters;
use crate::deadline::DeadlineWatch;
use crate::directory::LoopName;
use crate::event::{CallbackId, LoopId};
use crate::event_loop::EventLoop;
use crate::notifier::Notifier;
use crate::ready::{FreeToken, Ready};
use crate::route::{Control, Route};
use crate::time::Time;
use crate::timer::TimerControl;
use ringspin_ringbuf::{ReadySet, Registrar, changes};
use std::sync::{Arc, Mutex};

/// The way of changes to one worker.
pub(crate) struct WorkerLink {
    pub(crate) registrar: Registrar,
    pub(crate) changes: changes::Queue<Change>,
    /// The indices of loops that are gone.
    pub(crate) free_loops: Mutex<Vec<usize>>,
}

impl WorkerLink {
    pub(crate) fn new(registrar: Registrar, set: Arc<ReadySet>) -> Self {
        Self { registrar, changes: changes::Queue::new(set), free_loops: Mutex::default() }
    }
}

impl FreeToken for WorkerLink {
    fn free_token(&self, token: u32) {
        self.changes.push([Change::FreeToken(token)], || ());
        self.changes.wake();
    }
}

/// A change of a worker.
pub(crate) enum Change {
    /// The next loop.
    AddLoop(NewLoop),
    AddCallback(Box<NewCallback>),
    /// A token that leads to the worker itself.
    AddControl {
        token: u32,
        loop_index: usize,
        control: Control,
        notifier: Arc<Notifier>,
        starts: bool,
    },
    /// A loop has another priority; with its ready ring, if it has one of its own.
    Priority {
        ring: Option<u32>,
        priority: u8,
    },
    /// Changes the body of the loop with this index.
    Body(usize, BodyChange),
    /// An entity has ended: its callbacks run no more.
    RemoveEntity {
        loop_index: usize,
        entity: u32,
        callbacks: Vec<(CallbackId, u32)>,
        /// Whether it has ended by itself.
        by_itself: bool,
    },
    /// A loop was destroyed, after its entities.
    RemoveLoop {
        id: LoopId,
        loop_index: usize,
        ring: Option<u32>,
        retirement: u32,
    },
    /// Nothing announces this token any more.
    FreeToken(u32),
}

impl Change {
    /// Whether it changes the graph, and not just what the worker keeps of it.
    pub(crate) fn is_visible(&self) -> bool {
        !matches!(self, Self::FreeToken(_))
    }
}

/// Changes the body of a loop.
pub(crate) type BodyChange = Box<dyn FnOnce(&mut dyn EventLoop) + Send>;

/// A loop for a worker.
pub(crate) struct NewLoop {
    pub(crate) id: LoopId,
    pub(crate) loop_index: usize,
    pub(crate) name: Arc<LoopName>,
    pub(crate) body: Box<dyn EventLoop>,
    /// If it has a ready ring of its own: its index and its priority.
    pub(crate) ring: Option<(u32, u8)>,
}

/// A callback for a worker.
pub(crate) struct NewCallback {
    pub(crate) token: u32,
    /// Without the timer and the deadline, which the worker numbers.
    pub(crate) route: Route,
    pub(crate) counters: Arc<CallbackCounters>,
    /// The line with the number of its calls.
    pub(crate) calls: Arc<CallLine>,
    /// If its events come from a notifier, which then has its first event.
    pub(crate) notifier: Option<Arc<Notifier>>,
    pub(crate) timer: Option<NewTimer>,
    pub(crate) deadline: Option<DeadlineWatch>,
}

/// A timer for a worker.
pub(crate) struct NewTimer {
    pub(crate) callback: CallbackId,
    pub(crate) control: Arc<TimerControl>,
    pub(crate) ready: Ready,
    /// The token of the notice that it was changed.
    pub(crate) changed: u32,
    /// The time of its creation, from which it counts if the worker has started.
    pub(crate) created: Time,
}
