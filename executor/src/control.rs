//! What all workers share: the stop request, the failures, and the counters.

use crate::event::{CallbackId, EventId};
use crate::notifier::Notifier;
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
    /// The node is isolated: its state is dropped, its events are discarded from then on, calls of
    /// its services fail, and everyone else goes on.
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
    pub(crate) stop: StopHandle,
    /// By node index.
    pub(crate) nodes: Box<[NodeControl]>,
    /// With whether it stopped the executor.
    pub(crate) list: Mutex<Vec<(Failure, bool)>>,
}

/// What is decided about a node.
#[derive(Debug)]
pub(crate) struct NodeControl {
    policy: FailurePolicy,
    pub(crate) isolated: Flag,
    /// Of each of its loops, what tells it to retire.
    pub(crate) loops: Vec<Arc<Notifier>>,
    /// Of each subscription that watches one of its publishers, what tells it to look.
    pub(crate) watchers: Vec<Arc<Notifier>>,
}

impl NodeControl {
    pub(crate) fn new(policy: FailurePolicy) -> Self {
        Self { policy, isolated: Flag::default(), loops: vec![], watchers: vec![] }
    }
}

impl Failures {
    /// Keeps `failure`, and unless its node was `restarted`, does what the node's policy says.
    pub(crate) fn report(&self, node: usize, failure: Failure, restarted: bool) {
        tracing::error!(%failure, restarted, "a callback failed");
        let stopping = !restarted && self.nodes[node].policy == FailurePolicy::StopAll;
        lock(&self.list).push((failure, stopping));
        if stopping {
            self.stop.stop();
        } else if !restarted {
            self.nodes[node].isolated.raise();
            self.nodes[node].loops.iter().for_each(|retirement| retirement.notify());
            self.nodes[node].watchers.iter().for_each(|watcher| watcher.notify());
        }
    }

    /// The first failure that stopped the executor.
    pub(crate) fn stopping(&self) -> Option<Failure> {
        let list = lock(&self.list);
        list.iter().find(|(_, stopping)| *stopping).map(|(failure, _)| failure.clone())
    }

    pub(crate) fn all(&self) -> Vec<Failure> {
        lock(&self.list).iter().map(|(failure, _)| failure.clone()).collect()
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
    pub(crate) coalesced: Counter,
    /// Written by the callback's worker.
    pub(crate) expired: Counter,
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
    /// Triggers of a guard condition that one call answered together with a later one.
    pub coalesced: u64,
    /// Messages that were older than their publisher's lifespan when their turn came.
    pub expired: u64,
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

    /// All messages that were too old to be delivered.
    pub fn expired(&self) -> u64 {
        self.callbacks.iter().map(|c| c.expired).sum()
    }

    /// All messages that were overwritten before their callback saw them.
    pub fn overwritten(&self) -> u64 {
        self.callbacks.iter().map(|c| c.overwritten).sum()
    }
}
