//! The number of messages that a topic can hold: known when its ends are connected.
//!
//! Each subscription needs slots for its queue, for the messages that it keeps itself (a stream, a
//! synchronizer), and for those that the user keeps, as many as its QoS declares; each publisher
//! needs some for its loans. The pool has them once an end is connected, so it never grows while
//! users keep no more messages than they declared.
//!
//! It grows only if more threads publish at once than was planned for, and up to a limit; and in
//! simulated time for messages under way. While subscriptions hold more than they declared it does
//! not grow, and a publisher that finds no slot gets an error that names the holders.

use super::{Connections, Topic, lock};
use crate::base::directory::Directory;
use crate::base::error::written_error;
use crate::base::event::CallbackId;
use crate::base::qos::QoS;
use crate::base::time::NodeClock;
use crate::delivery::control::CallbackCounters;
use crate::delivery::message::Holder;
use crate::delivery::sim_network::SimNetwork;
use std::fmt;
use std::sync::Arc;

/// Slots beyond the plan for threads that publish at the same time, each of which has a message or
/// two in hand.
const IN_FLIGHT_MAX: usize = 1024;

/// The limit of a holder that has none.
const UNLIMITED: usize = usize::MAX;

/// The data that growing needs, once the topic is connected.
pub(super) struct SlotPlan {
    directory: Directory,
    sim_network: Option<Arc<SimNetwork>>,
}

impl<M: Send + Sync + 'static> Topic<M> {
    /// Adds a subscription that keeps up to `kept` messages by itself.
    pub(super) fn add_holder(
        &self,
        callback: CallbackId,
        qos: QoS,
        kept: usize,
        counters: Arc<CallbackCounters>,
    ) -> Arc<Holder> {
        let messages_max = kept.saturating_add(qos.held_max()).saturating_add(1);
        let times = qos.has_message_times().then(Arc::default);
        let holder = Arc::new(Holder { callback, counters, messages_max, times });
        let mut planned = lock(&self.planned);
        planned.holders.push((holder.clone(), qos.depth()));
        planned.queued += qos.depth();
        holder
    }

    /// Adds a publisher: its loans, and the messages that it keeps for late joiners.
    pub(crate) fn add_publisher(self: &Arc<Self>, qos: QoS) {
        self.changed.add(self.clone());
        let mut planned = lock(&self.planned);
        planned.lent = planned.lent.saturating_add(lent_by(qos));
    }

    pub(super) fn plan_slots(&self, connections: Connections<'_>) {
        let Connections { directory, sim_network, clock, .. } = connections;
        let slots = self.of_all(|of| lock(&of.planned).slots()).into_iter();
        self.pool.reserve(slots.fold(0, usize::saturating_add));
        let mut planned = lock(&self.planned);
        planned.start(clock, self.pool.capacity() + IN_FLIGHT_MAX);
        self.plan.get_or_init(|| {
            let (directory, sim_network) = (directory.clone(), sim_network.cloned());
            SlotPlan { directory, sim_network }
        });
    }

    /// Whether the subscriptions hold as many messages as they declared.
    pub(crate) fn is_used_up(&self) -> bool {
        let planned = lock(&self.planned);
        self.plan.get().is_some() && planned.held() >= planned.held_max()
    }

    /// The number of subscriptions that the topic has, those of other graphs among them.
    pub(super) fn subscriptions(&self) -> usize {
        self.of_all(|of| lock(&of.planned).subscriptions()).into_iter().sum()
    }

    /// Looks at this topic, and at those of other graphs that share its pool.
    fn of_all<R>(&self, look: impl Fn(&Self) -> R) -> Vec<R> {
        match &self.shared {
            None => vec![look(self)],
            Some(shared) => shared.topics().iter().map(|of| look(of)).collect(),
        }
    }

    /// Makes the pool larger, if subscriptions do not hold more messages than they declared.
    ///
    /// # Errors
    /// Names the subscriptions that hold the messages.
    #[cold]
    pub(super) fn make_room(&self) -> Result<(), Box<OutOfSlots>> {
        let sim_network = self.plan.get().and_then(|plan| plan.sim_network.as_ref());
        let under_way = sim_network.map_or(0, |sim_network| sim_network.undelivered());
        let capacity = self.pool.capacity();
        let limits = self.of_all(|of| lock(&of.planned).limits(under_way));
        let is_within = limits.iter().all(|(is_within, _)| *is_within);
        let capacity_max = limits.iter().fold(0usize, |sum, (_, max)| sum.saturating_add(*max));
        // Without the lock, so that no other thread waits for this one.
        if is_within && capacity < capacity_max {
            self.pool.reserve(capacity + 1);
            if self.pool.capacity() > capacity {
                return Ok(());
            }
        }
        let held = self.of_all(|of| lock(&of.planned).held_messages(of.plan.get()));
        let held = held.into_iter().flatten().collect();
        Err(Box::new(OutOfSlots { topic: self.name.to_string(), slots: capacity, held }))
    }
}

/// The number of slots for a publisher: its loans, and the messages that it keeps for late joiners.
fn lent_by(qos: QoS) -> usize {
    let latched = if qos.is_transient_local() { qos.depth() } else { 0 };
    qos.held_max().saturating_add(1 + latched)
}

/// The demand of the ends of a topic.
#[derive(Default)]
pub(super) struct SlotDemand {
    /// One for each subscription, with the depth of its queue.
    holders: Vec<(Arc<Holder>, usize)>,
    queued: usize,
    lent: usize,
    /// The number of holders that were connected.
    started: usize,
}

impl SlotDemand {
    pub(super) fn remove_publisher(&mut self, qos: QoS) {
        self.lent = self.lent.saturating_sub(lent_by(qos));
    }

    pub(super) fn remove(&mut self, callback: CallbackId) {
        let Some(place) = self.holders.iter().position(|(of, _)| of.callback == callback) else {
            return;
        };
        self.queued -= self.holders.remove(place).1;
        self.started -= usize::from(place < self.started);
    }

    /// Starts the times of holders that were added since the last start.
    fn start(&mut self, clock: &NodeClock, messages_max: usize) {
        let started = std::mem::replace(&mut self.started, self.holders.len());
        for (holder, _) in &self.holders[started..] {
            if let Some(times) = &holder.times {
                times.start(clock.clone(), messages_max);
            }
        }
    }

    pub(super) fn subscriptions(&self) -> usize {
        self.holders.len()
    }

    /// The number of allocated slots: holders without a limit get more when they need them.
    fn slots(&self) -> usize {
        let limits = self.holders.iter().map(|(holder, _)| holder.messages_max);
        let held: usize = limits.filter(|max| *max != UNLIMITED).fold(0, usize::saturating_add);
        self.queued.saturating_add(held).saturating_add(self.lent).saturating_add(1)
    }

    /// Whether the subscriptions hold no more than they declared, and how many slots there may be.
    fn limits(&self, under_way: usize) -> (bool, usize) {
        let capacity_max = match self.held_max() {
            UNLIMITED => UNLIMITED,
            _ => self.slots().saturating_add(IN_FLIGHT_MAX + under_way),
        };
        (self.held() <= self.held_max(), capacity_max)
    }

    fn held(&self) -> usize {
        self.holders.iter().map(|(holder, _)| holder.messages()).sum()
    }

    /// The subscriptions that hold messages, those with the most first.
    fn held_messages(&self, plan: Option<&SlotPlan>) -> Vec<HeldMessages> {
        let holders = self.holders.iter().map(|(holder, _)| holder);
        let holding = holders.filter(|holder| holder.messages() > 0);
        let held = holding.map(|holder| {
            let name = plan.and_then(|plan| plan.directory.get(holder.callback));
            let name = name.map(|name| (name.of.full_name(), name.callback.clone()));
            let (node, callback) = name.unwrap_or_default();
            HeldMessages { node, callback, messages: holder.messages(), max: holder.messages_max }
        });
        let mut held: Vec<_> = held.collect();
        held.sort_by_key(|held| std::cmp::Reverse(held.messages));
        held
    }

    fn held_max(&self) -> usize {
        let limits = self.holders.iter().map(|(holder, _)| holder.messages_max);
        limits.fold(0, usize::saturating_add)
    }
}

/// All message slots of a topic are in use.
#[derive(Clone, PartialEq, Eq)]
pub struct OutOfSlots {
    /// The topic's fully qualified name.
    pub topic: String,
    /// The number of slots, which is the number of messages that the topic can hold.
    pub slots: usize,
    /// The subscriptions that hold messages, those with the most first. Other slots are in use by
    /// queues, by loans, and by threads that are publishing.
    pub held: Vec<HeldMessages>,
}

/// Messages that a subscription holds: clones that the user keeps, and what streams and
/// synchronizers store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldMessages {
    /// The node, or `/node:group`.
    pub node: String,
    /// The callback, for example `subscription /points`.
    pub callback: String,
    /// The number of messages that it holds.
    pub messages: usize,
    /// The number that it declared, with the one that it handles; see
    /// [`QoS::held`](crate::QoS::held).
    pub max: usize,
}

impl fmt::Display for OutOfSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { topic, slots, held } = self;
        write!(f, "topic {topic}: all {slots} message slots are in use")?;
        for (n, held) in held.iter().enumerate() {
            let HeldMessages { node, callback, messages, max } = held;
            let separator = if n == 0 { ':' } else { ',' };
            write!(f, "{separator} node {node} (`{callback}`) holds {messages} of at most {max}")?;
        }
        f.write_str("; drop messages and loans, or declare more with `QoS::held`")
    }
}

written_error!(OutOfSlots);
