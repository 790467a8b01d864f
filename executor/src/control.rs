//! Failures and counters that all workers share.

use crate::escape::catch_panic;
use crate::event::{CallbackId, EventId};
use crate::liveliness::LivelinessRegistry;
use crate::lock::lock;
use crate::notifier::Notifier;
use crate::stop::StopHandle;
use crate::table::Table;
use crate::time::Time;
use ringspin_ringbuf::{Counter, Flag};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// The reaction of the executor to a failure of a callback. A panic outside of the callbacks (of a
/// recorder, or of the log's subscriber) stops the executor, whatever the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The executor stops, and `spin` returns the failure.
    #[default]
    StopAll,
    /// The node is isolated: its state, its callbacks with all that they captured, and its tasks
    /// are dropped; its events are discarded from then on, calls of its services fail, and the
    /// other nodes go on. A panic in such a drop is a further failure, with no consequence.
    IsolateNode,
}

/// The reason why a callback failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It panicked, with this message.
    Panic(String),
    /// It returned this error.
    Error(String),
}

/// A callback that panicked or returned an error; or another panic on a worker's thread, of a
/// recorder, a log's subscriber, or a drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The node's fully qualified name, with `:group` behind it if it is not the default group. The
    /// worker, if the failure concerns no node.
    pub node: String,
    /// The callback, for example `subscription /points`; if the failure was outside of callbacks,
    /// the part of the executor.
    pub callback: String,
    /// The callback's number, or [`CallbackId::NONE`].
    pub callback_id: CallbackId,
    /// The event that it was handling; the default if there was none.
    pub event: EventId,
    /// The time of the failure, by the executor's clock.
    pub time: Time,
    /// The cause of the failure.
    pub cause: Cause,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, message) = match &self.cause {
            Cause::Panic(message) => ("panicked", message),
            Cause::Error(message) => ("failed", message),
        };
        if self.callback_id == CallbackId::NONE {
            let Self { node, callback, time, .. } = self;
            return write!(f, "{node}, {callback}, {verb} at {time}: {message}");
        }
        let EventId { source, sequence } = self.event;
        write!(
            f,
            "node {}, callback `{}` {verb} on event {}#{sequence} at {}: {message}",
            self.node, self.callback, source.0, self.time
        )
    }
}

impl std::error::Error for Failure {}

/// The failures of a run and the nodes that are isolated because of them.
pub(crate) struct Failures {
    pub(crate) stop: StopHandle,
    /// By node index.
    nodes: Mutex<Table<usize, NodeControl>>,
    /// Whether any node is isolated: a fast check for the usual case.
    any_isolated: Flag,
    /// The failures, each with whether it stopped the executor.
    pub(crate) list: Mutex<Vec<(Failure, bool)>>,
}

/// The failure policy of a node, and the notifiers that its isolation calls.
#[derive(Debug)]
pub(crate) struct NodeControl {
    policy: FailurePolicy,
    /// The notifiers that tell its loops to retire.
    pub(crate) loops: Vec<Arc<Notifier>>,
    /// The topics on which it publishes, once for each publisher.
    pub(crate) published: Vec<Arc<LivelinessRegistry>>,
    /// Whether the node is out of service.
    is_isolated: bool,
}

impl NodeControl {
    pub(crate) fn new(policy: FailurePolicy) -> Self {
        Self { policy, loops: Vec::new(), published: Vec::new(), is_isolated: false }
    }

    pub(crate) fn set_policy(&mut self, policy: FailurePolicy) {
        self.policy = policy;
    }
}

impl Failures {
    pub(crate) fn new(stop: StopHandle, nodes: Table<usize, NodeControl>) -> Self {
        let (nodes, list) = (Mutex::new(nodes), Mutex::default());
        Self { stop, nodes, any_isolated: Flag::default(), list }
    }

    /// Whether a node is out of service.
    #[inline]
    pub(crate) fn is_isolated(&self, node: usize) -> bool {
        self.any_isolated.is_raised() && self.has_isolated(node)
    }

    #[cold]
    fn has_isolated(&self, node: usize) -> bool {
        lock(&self.nodes).get(node).is_some_and(|control| control.is_isolated)
    }

    /// Adds a node.
    pub(crate) fn add_node(&self, node: usize, policy: FailurePolicy) {
        lock(&self.nodes).insert(node, NodeControl::new(policy));
    }

    /// Removes a node.
    pub(crate) fn remove_node(&self, node: usize) -> Option<NodeControl> {
        lock(&self.nodes).remove(node)
    }

    /// Applies `change` to the control of a node, unless the node was destroyed.
    pub(crate) fn change<R>(
        &self,
        node: usize,
        change: impl FnOnce(&mut NodeControl) -> R,
    ) -> Option<R> {
        lock(&self.nodes).get_mut(node).map(change)
    }

    /// Records `failure` and, unless its node was `restarted`, applies the node's policy.
    pub(crate) fn report(&self, node: usize, failure: Failure, restarted: bool) {
        let policy = self.change(node, |control| control.policy);
        let stopping = !restarted && policy == Some(FailurePolicy::StopAll);
        self.keep(failure, restarted, stopping);
        if !restarted && !stopping {
            let notifiers = self.change(node, |control| {
                control.is_isolated = true;
                (control.loops.clone(), control.published.clone())
            });
            self.any_isolated.raise();
            let (loops, published) = notifiers.unwrap_or_default();
            loops.iter().for_each(|notifier| notifier.notify());
            published.iter().for_each(|registry| registry.notify());
        }
    }

    /// Records a failure outside of callbacks. It has no further effect if its node is isolated
    /// already; otherwise it stops the executor, whatever the policies are.
    pub(crate) fn report_other(&self, node: Option<usize>, failure: Failure) {
        let stopping = !node.is_some_and(|node| self.is_isolated(node));
        self.keep(failure, false, stopping);
    }

    fn keep(&self, failure: Failure, restarted: bool, stopping: bool) {
        lock(&self.list).push((failure.clone(), stopping));
        if stopping {
            self.stop.stop();
        }
        // It runs the user's code, and comes last: nothing depends on it.
        let logged = catch_panic(|| tracing::error!(%failure, restarted, "a callback failed"));
        if let Err(panic) = logged {
            let cause = Cause::Panic(format!("the log of a failure panicked: {panic}"));
            lock(&self.list).push((Failure { cause, ..failure }, true));
            self.stop.stop();
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

/// The counters of one callback, except the number of its calls, which its worker counts.
#[derive(Debug, Default)]
pub(crate) struct CallbackCounters {
    /// Messages that publishers handed to a detached stream without a call.
    pub(crate) handed_over: Counter,
    /// Written by publishers.
    pub(crate) overwritten: Counter,
    /// Written by publishers.
    pub(crate) lost: Counter,
    /// The notifier to call when that count grows.
    pub(crate) loss_watcher: OnceLock<Arc<Notifier>>,
    /// Written by the callback's worker.
    pub(crate) discarded: Counter,
    /// Written by the callback's worker.
    pub(crate) missed: Counter,
    /// Written by the callback's worker.
    pub(crate) coalesced: Counter,
    /// Written by the callback's worker.
    pub(crate) late: Counter,
    /// Written by the callback's worker.
    pub(crate) unmatched: Counter,
    /// Written by the callback's worker.
    pub(crate) irregular: Counter,
    /// Written by the callback's worker.
    pub(crate) expired: Counter,
}

impl CallbackCounters {
    /// Counts `messages` as lost.
    pub(crate) fn lose(&self, messages: u64) {
        self.lost.add(messages);
        if let Some(watcher) = self.loss_watcher.get() {
            watcher.notify();
        }
    }

    /// Notifies `watcher` of every loss. A callback has one watcher at most.
    pub(crate) fn tell_of_losses(&self, watcher: Arc<Notifier>) {
        self.loss_watcher.get_or_init(|| watcher);
    }
}

/// The statistics of one callback: its calls and its lost messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallbackStatistics {
    /// The node's fully qualified name, with `:group` behind it if it is not the default group.
    pub node: String,
    /// The callback, for example `subscription /points`.
    pub callback: String,
    /// The number of events that it was called for; of a
    /// [detached stream](crate::Node::create_detached_stream) the messages that came.
    pub dispatched: u64,
    /// Messages that newer ones displaced before the callback saw them.
    pub overwritten: u64,
    /// Messages that were lost on their way: in simulated time, or because a middleware could not
    /// hand them over.
    pub lost: u64,
    /// Events that came when its node had failed and was isolated, or that waited when the callback
    /// was destroyed.
    pub discarded: u64,
    /// Periods of a timer that passed without a call because the executor was late.
    pub missed: u64,
    /// Triggers of a guard condition that one call answered together with a later one.
    pub coalesced: u64,
    /// Calls that returned after the callback's [deadline](crate::Node::set_deadline).
    pub late: u64,
    /// Messages of a synchronized subscription's input that fell out and were never handed over.
    pub unmatched: u64,
    /// Messages of an [`ApproximateTime`](crate::ApproximateTime) subscription's input with a stamp
    /// before that of the message before them, or closer to it than the lower bound says.
    pub irregular: u64,
    /// Messages that were older than their publisher's lifespan when their turn came.
    pub expired: u64,
}

impl CallbackStatistics {
    /// Adds the counters of `other` to these.
    pub(crate) fn add(&mut self, other: &Self) {
        self.dispatched += other.dispatched;
        self.overwritten += other.overwritten;
        self.lost += other.lost;
        self.discarded += other.discarded;
        self.missed += other.missed;
        self.coalesced += other.coalesced;
        self.late += other.late;
        self.unmatched += other.unmatched;
        self.irregular += other.irregular;
        self.expired += other.expired;
    }
}

/// The idle statistics of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerStatistics {
    /// The number of searches for events that found none: many per microsecond while it spins, none
    /// while it sleeps.
    pub idle: u64,
    /// The number of sleeps, each with one wake-up.
    pub sleeps: u64,
}

/// A snapshot of all counters; see `Monitor::statistics`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Per callback, in order of creation.
    pub callbacks: Vec<CallbackStatistics>,
    /// The totals of the callbacks that were destroyed, without names.
    pub removed: CallbackStatistics,
    /// Per topic, the messages handed back to publishers because a keep-all subscription was full
    /// or no slot was left ([`PublishError::NoSlot`](crate::PublishError::NoSlot)). Those of topics
    /// without any ends left are together, as `removed topics`.
    pub refused: Vec<(String, u64)>,
    /// Per worker; all zero in deterministic mode, which never rests.
    pub workers: Vec<WorkerStatistics>,
}

impl Statistics {
    /// The statistics of the callbacks of one event loop, in order of creation. `event_loop` is its
    /// name: `/node`, or `/node:group` if it is not the default group.
    pub fn of<'a>(&'a self, event_loop: &'a str) -> impl Iterator<Item = &'a CallbackStatistics> {
        self.callbacks.iter().filter(move |callback| callback.node == event_loop)
    }

    /// The callbacks, and those that were destroyed.
    fn all(&self) -> impl Iterator<Item = &CallbackStatistics> {
        self.callbacks.iter().chain([&self.removed])
    }

    /// All events that reached a callback.
    pub fn dispatched(&self) -> u64 {
        self.all().map(|c| c.dispatched).sum()
    }

    /// All messages that fell out of a synchronized subscription without being handed over.
    pub fn unmatched(&self) -> u64 {
        self.all().map(|c| c.unmatched).sum()
    }

    /// All messages that were too old to be delivered.
    pub fn expired(&self) -> u64 {
        self.all().map(|c| c.expired).sum()
    }

    /// All events that came too late for their node, which had failed and was isolated.
    pub fn discarded(&self) -> u64 {
        self.all().map(|c| c.discarded).sum()
    }

    /// All messages that were lost on their way.
    pub fn lost(&self) -> u64 {
        self.all().map(|c| c.lost).sum()
    }

    /// All messages that were overwritten before their callback saw them.
    pub fn overwritten(&self) -> u64 {
        self.all().map(|c| c.overwritten).sum()
    }
}
