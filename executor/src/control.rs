//! What all workers share: the stop request, the failures, and the counters.

use crate::event::{CallbackId, EventId};
use crate::time::Time;
use ringspin_ringbuf::{Counter, Flag, ReadySet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Locks a mutex under which nothing of the user runs, so that poisoning means nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops an executor from any thread; cheap to clone.
///
/// Stopping lets running callbacks finish and leaves queued events where they are.
#[derive(Clone, Default)]
pub struct StopHandle(Arc<StopState>);

#[derive(Default)]
struct StopState {
    flag: Flag,
    workers: Mutex<Vec<Arc<ReadySet>>>,
}

impl StopHandle {
    /// Asks every worker to return after its current callback, and wakes those that sleep.
    pub fn stop(&self) {
        self.0.flag.raise();
        lock(&self.0.workers).iter().for_each(|worker| worker.wake());
    }

    /// Whether a stop was requested.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.flag.is_raised()
    }

    /// Withdraws the request, so that the executor can spin again.
    pub fn reset(&self) {
        self.0.flag.lower();
    }

    pub(crate) fn attach(&self, worker: Arc<ReadySet>) {
        lock(&self.0.workers).push(worker);
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopHandle").field(&self.is_stopped()).finish()
    }
}

/// What happens to the others when a callback fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The executor stops, and `spin` returns the failure.
    #[default]
    StopAll,
    /// The node is isolated: its events are discarded from then on, and everyone else goes on.
    IsolateNode,
}

/// Why a callback failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It panicked, with this message.
    Panic(String),
    /// It returned this error.
    Error(String),
}

/// A callback that panicked or returned an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The node's fully qualified name, with `:group` behind it if it is not the default group.
    pub node: String,
    /// Which of its callbacks, for example `subscription /points`.
    pub callback: String,
    /// The callback's number.
    pub callback_id: CallbackId,
    /// The event that it was handling.
    pub event: EventId,
    /// When it failed, by the executor's clock.
    pub time: Time,
    /// What went wrong.
    pub cause: Cause,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, message) = match &self.cause {
            Cause::Panic(message) => ("panicked", message),
            Cause::Error(message) => ("failed", message),
        };
        let EventId { source, sequence } = self.event;
        write!(
            f,
            "node {}, callback `{}` {verb} on event {}#{sequence} at {}: {message}",
            self.node, self.callback, source.0, self.time
        )
    }
}

impl std::error::Error for Failure {}

/// The failures of a run and the nodes that are out of service because of them.
pub(crate) struct Failures {
    pub(crate) policy: FailurePolicy,
    pub(crate) stop: StopHandle,
    pub(crate) isolated: Box<[Flag]>,
    pub(crate) list: Mutex<Vec<Failure>>,
}

impl Failures {
    pub(crate) fn report(&self, node: usize, failure: Failure) {
        tracing::error!(%failure, "a callback failed");
        lock(&self.list).push(failure);
        match self.policy {
            FailurePolicy::StopAll => self.stop.stop(),
            FailurePolicy::IsolateNode => self.isolated[node].raise(),
        }
    }

    pub(crate) fn all(&self) -> Vec<Failure> {
        lock(&self.list).clone()
    }
}

/// The counters of one callback.
#[derive(Debug, Default)]
pub(crate) struct CallbackCounters {
    /// Written by the callback's worker.
    pub(crate) dispatched: Counter,
    /// Written by publishers.
    pub(crate) overwritten: Counter,
    /// Written by the callback's worker.
    pub(crate) missed: Counter,
    /// Written by the callback's worker.
    pub(crate) unmatched: Counter,
    /// Written by the callback's worker.
    pub(crate) irregular: Counter,
}

/// What one callback did and lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackStatistics {
    /// The node's fully qualified name, with `:group` behind it if it is not the default group.
    pub node: String,
    /// The callback, for example `subscription /points`.
    pub callback: String,
    /// How many events it was called for.
    pub dispatched: u64,
    /// Messages that newer ones displaced before the callback saw them.
    pub overwritten: u64,
    /// Periods of a timer that passed without a call because the executor was late.
    pub missed: u64,
    /// Messages of a synchronized subscription's input that fell out and were never handed over.
    pub unmatched: u64,
    /// Messages of an [`ApproximateTime`](crate::ApproximateTime) subscription's input with a stamp
    /// before that of the message before them, or closer to it than the lower bound says.
    pub irregular: u64,
}

/// A snapshot of everything that is counted; see `Frozen::statistics`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Per callback, in order of creation.
    pub callbacks: Vec<CallbackStatistics>,
    /// Per topic, the messages handed back to publishers because a keep-all subscription was full.
    pub refused: Vec<(String, u64)>,
}

impl Statistics {
    /// All events that reached a callback.
    pub fn dispatched(&self) -> u64 {
        self.callbacks.iter().map(|c| c.dispatched).sum()
    }

    /// All messages that fell out of a synchronized subscription without being handed over.
    pub fn unmatched(&self) -> u64 {
        self.callbacks.iter().map(|c| c.unmatched).sum()
    }

    /// All messages that were overwritten before their callback saw them.
    pub fn overwritten(&self) -> u64 {
        self.callbacks.iter().map(|c| c.overwritten).sum()
    }
}
