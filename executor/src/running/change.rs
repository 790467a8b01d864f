//! Changes of a worker, which another thread prepares and the worker adopts between two events.
//!
//! The start of a graph is a change like any later one: a worker begins empty, and adopts its loops
//! and callbacks. The steps on both sides are those of [`ringspin_ringbuf::changes`].
//!
//! The thread that changes a graph does so at its own pace. While a callback runs, a worker adopts
//! nothing, and passes no quiescent point. So a thread that is far ahead is [delayed](Pace) after
//! each change. It never waits for the worker: the callback that runs may in turn wait for that
//! thread.

use crate::base::directory::LoopName;
use crate::base::event::{CallbackId, LoopId};
use crate::base::stop::{StopHandle, is_current};
use crate::base::time::Time;
use crate::delivery::callback_deadline::DeadlineWatch;
use crate::delivery::control::CallbackCounters;
use crate::delivery::ready::{FreeToken, Notifier, Ready};
use crate::delivery::timer::TimerControl;
use crate::running::counters::CallLine;
use crate::running::event_loop::EventLoop;
use crate::running::route::{Control, Route};
use ringspin_ringbuf::reclaim::Domain;
use ringspin_ringbuf::{Counter, List, ReadySet, Registrar, changes};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Changes that a worker may be behind without delaying the threads that change the graph.
pub(crate) const BEHIND_MAX: u64 = 1_024;

/// The items of garbage that may wait for the workers likewise. A change makes a few.
pub(crate) const GARBAGE_MAX: u64 = 4 * BEHIND_MAX;

/// The delay after a change, in naps, as long as the worker is further behind: 10 ms.
const NAPS_MAX: u32 = 100;
const NAP: Duration = Duration::from_micros(100);

/// The way of changes to one worker.
pub(crate) struct WorkerLink {
    pub(crate) registrar: Registrar,
    pub(crate) changes: changes::Queue<Change>,
    /// The indices that destroyed loops have left lately.
    pub(crate) free_loops: List<usize>,
    /// The changes that were handed over, counted under the lock of the graph.
    handed_over: Counter,
    /// Those that the worker has adopted.
    adopted: Counter,
    domain: Arc<Domain>,
}

impl WorkerLink {
    pub(crate) fn new(registrar: Registrar, set: Arc<ReadySet>, domain: Arc<Domain>) -> Self {
        Self {
            registrar,
            changes: changes::Queue::new(set, domain.clone()),
            free_loops: List::new(),
            handed_over: Counter::default(),
            adopted: Counter::default(),
            domain,
        }
    }

    /// Hands changes over to the worker. The caller has the lock of the graph.
    pub(crate) fn hand_over(&self, changes: &mut Vec<Change>) {
        self.handed_over.add_by_owner(changes.len() as u64);
        self.changes.push(changes.drain(..));
    }

    /// Takes all changes; called by the worker, which adopts them.
    pub(crate) fn take(&self) -> Vec<Change> {
        let changes = self.changes.take();
        let handed_over = changes.iter().filter(|change| change.is_visible()).count();
        self.adopted.add_by_owner(handed_over as u64);
        changes
    }

    #[cfg(test)]
    pub(crate) fn handed_over(&self) -> u64 {
        self.handed_over.get()
    }

    /// The number of changes that the worker has still to adopt.
    pub(crate) fn behind(&self) -> u64 {
        self.handed_over.get().saturating_sub(self.adopted.get())
    }

    /// The number of items of garbage of the graph, which wait for quiescent points of its workers.
    pub(crate) fn garbage(&self) -> u64 {
        self.domain.garbage()
    }
}

/// Delays a thread where this is dropped, as long as a worker is behind with the changes of the
/// thread, up to a limit. Threads of workers are not delayed.
#[derive(Default)]
pub(crate) struct Pace {
    /// The workers that a change was handed over to, and the spin that they belong to.
    pub(crate) changed: Vec<(Arc<WorkerLink>, StopHandle)>,
}

impl Drop for Pace {
    fn drop(&mut self) {
        let is_behind = |(link, spin): &(Arc<WorkerLink>, StopHandle)| {
            (link.behind() > BEHIND_MAX || link.garbage() > GARBAGE_MAX) && spin.is_spinning()
        };
        for _ in 0..NAPS_MAX {
            if !self.changed.iter().any(is_behind) || is_current() {
                return;
            }
            sleep(NAP);
        }
    }
}

impl FreeToken for WorkerLink {
    fn free_token(&self, token: u32) {
        self.changes.push([Change::FreeToken(token)]);
        self.changes.wake();
    }
}

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
    /// A loop has another priority; with its ready ring, unless all loops share one.
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
    /// Whether it changes the graph, and not only the tables of the worker.
    pub(crate) fn is_visible(&self) -> bool {
        !matches!(self, Self::FreeToken(_))
    }
}

pub(crate) type BodyChange = Box<dyn FnOnce(&mut Box<dyn EventLoop>) + Send>;

pub(crate) struct NewLoop {
    pub(crate) id: LoopId,
    pub(crate) loop_index: usize,
    pub(crate) name: Arc<LoopName>,
    pub(crate) body: Box<dyn EventLoop>,
    /// The index and the priority of its ready ring, unless all loops share one.
    pub(crate) ring: Option<(u32, u8)>,
}

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

pub(crate) struct NewTimer {
    pub(crate) callback: CallbackId,
    pub(crate) control: Arc<TimerControl>,
    pub(crate) ready: Ready,
    /// The token of the notice that it was changed.
    pub(crate) changed: u32,
    /// The time of its creation, from which it counts if the worker has started.
    pub(crate) created: Time,
}
