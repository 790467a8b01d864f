//! Failures and counters that all workers share. Workers report failures here, under a lock, and
//! the node's policy decides whether the executor stops or the node is isolated; each dispatch
//! reads one flag to learn whether any node is isolated. Counters have one writer (the worker) or
//! are added to atomically (by publishers), and the monitor reads them at any time.

use crate::base::directory::CallbackName;
use crate::base::error::written_error;
use crate::base::escape::catch_panic;
use crate::base::event::{CallbackId, EventId};
use crate::base::lock::lock;
use crate::base::stop::StopHandle;
use crate::base::table::Table;
use crate::base::time::Time;
use crate::delivery::budget::BudgetStatistics;
use crate::delivery::liveliness::LivelinessRegistry;
use crate::delivery::ready::Notifier;
use ringspin_ringbuf::{Counter, Flag};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// The reaction of the executor to a failure of a callback. A panic outside of the callbacks (of a
/// recorder, or of the log's subscriber) stops the executor under either policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The executor stops, and `spin` returns the failure.
    #[default]
    StopAll,
    /// The node is isolated: its state, its callbacks with all that they captured, and its tasks
    /// are dropped; its events are discarded from then on, calls of its services fail, and the
    /// other nodes continue. A panic in such a drop is a further failure, with no consequence.
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
#[derive(Clone, PartialEq, Eq)]
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

impl Failure {
    /// A panic outside of a callback: of the part `callback` of `node`.
    pub(crate) fn outside(node: String, callback: String, time: Time, panic: String) -> Self {
        let (callback_id, event) = (CallbackId::NONE, EventId::default());
        Self { node, callback, callback_id, event, time, cause: Cause::Panic(panic) }
    }
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

written_error!(Failure);

/// The failures of a run and the nodes that are isolated because of them.
pub(crate) struct Failures {
    pub(crate) stop: StopHandle,
    /// Indexed by node.
    nodes: Mutex<Table<usize, NodeControl>>,
    /// Whether any node is isolated: a fast check for the usual case.
    any_isolated: Flag,
    /// The failures, each with whether it stopped the executor.
    pub(crate) list: Mutex<Vec<(Failure, bool)>>,
}

/// The failure policy of a node, and the notifiers that its isolation calls.
#[derive(Debug)]
pub(crate) struct NodeControl {
    pub(crate) policy: FailurePolicy,
    /// The notifiers that tell its loops to retire; their workers have them as long as the loops.
    pub(crate) loops: Vec<Weak<Notifier>>,
    /// The topics on which it publishes, once for each publisher.
    pub(crate) published: Vec<Arc<LivelinessRegistry>>,
    /// Whether the node is out of service.
    is_isolated: bool,
}

impl NodeControl {
    pub(crate) fn new(policy: FailurePolicy) -> Self {
        Self { policy, loops: Vec::new(), published: Vec::new(), is_isolated: false }
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

    pub(crate) fn add_node(&self, node: usize, policy: FailurePolicy) {
        lock(&self.nodes).insert(node, NodeControl::new(policy));
    }

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
            loops.iter().filter_map(Weak::upgrade).for_each(|notifier| notifier.notify());
            published.iter().for_each(|registry| registry.notify());
        }
    }

    /// Records a failure outside of callbacks. It has no further effect if its node is isolated
    /// already; otherwise it stops the executor under either policy.
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

/// Declares the counters of a callback in both of their forms: cells, which the callback's worker
/// and publishers write while it runs, and the numbers of a snapshot.
macro_rules! callback_counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one callback, except the number of its calls, which its worker counts.
        /// Publishers write `handed_over`, `overwritten` and `lost`, the worker writes the others.
        #[derive(Debug, Default)]
        pub(crate) struct CallbackCounters {
            /// Messages that publishers handed to a detached stream without a call.
            pub(crate) handed_over: Counter,
            /// The notifier to call when `lost` grows.
            loss_watcher: OnceLock<Arc<Notifier>>,
            $(pub(crate) $name: Counter,)*
        }

        /// The statistics of one callback: its calls and its lost messages.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct CallbackStatistics {
            /// The node's fully qualified name, with `:group` behind it if it is not the default
            /// group.
            pub node: String,
            /// The callback, for example `subscription /points`.
            pub callback: String,
            /// The number of events that it was called for; of a
            /// [detached stream](crate::Node::create_detached_stream) the messages that came.
            pub dispatched: u64,
            $($(#[$doc])* pub $name: u64,)*
        }

        impl CallbackStatistics {
            /// A snapshot of the counters of the callback `name`, which was called `calls` times.
            pub(crate) fn of(name: &CallbackName, calls: u64, counters: &CallbackCounters) -> Self {
                Self {
                    node: name.of.full_name(),
                    callback: name.callback.clone(),
                    dispatched: calls + counters.handed_over.get(),
                    $($name: counters.$name.get(),)*
                }
            }

            /// Adds the counters of `other` to these.
            pub(crate) fn add(&mut self, other: &Self) {
                self.dispatched += other.dispatched;
                $(self.$name += other.$name;)*
            }
        }
    };
}

callback_counters! {
    /// Messages that newer ones displaced before the callback saw them.
    overwritten,
    /// Messages that were lost on their way: in simulated time, or because they did not reach this
    /// process, or a middleware could not hand them over.
    lost,
    /// Events that came when its node had failed and was isolated, or that waited when the callback
    /// was destroyed.
    discarded,
    /// Periods of a timer that passed without a call because the executor was late.
    missed,
    /// Triggers of a guard condition that one call answered together with a later one.
    coalesced,
    /// Calls that returned after the callback's [deadline](crate::Node::set_deadline).
    late,
    /// Messages of a synchronized subscription's input that fell out and were never handed over.
    unmatched,
    /// Messages of an [`ApproximateTime`](crate::ApproximateTime) subscription's input with a stamp
    /// before that of the message before them, or closer to it than the lower bound says.
    irregular,
    /// Messages that were older than their publisher's lifespan when their turn came.
    expired,
}

impl CallbackCounters {
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

/// The idle statistics of one worker, or of one thread where threads share workers.
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
    /// Of the event loops that have a [budget](crate::Budget), in order of creation.
    pub budgets: Vec<BudgetStatistics>,
    /// Per worker, or per thread where threads share workers; all zero in deterministic mode, which
    /// never rests.
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
