//! The number of messages that a topic can hold: known when the graph is frozen.
//!
//! Each subscription needs slots for its queue, for the messages that it keeps itself (a stream, a
//! synchronizer), and for those that the user keeps, as many as its QoS declares; each publisher
//! needs some for its loans. The pool has them from the start, so keeping messages within what was
//! declared never makes it grow.
//!
//! It grows only if more threads publish at once than was planned for, and up to a limit; and in
//! simulated time for messages under way. While subscriptions hold more than they declared it does
//! not grow, and a publisher that finds no slot gets an error that names the holders.

use super::{Connections, Topic, lock};
use crate::directory::Directory;
use crate::event::CallbackId;
use crate::message::Holder;
use crate::qos::QoS;
use crate::sim_network::SimNetwork;
use std::fmt;
use std::sync::Arc;

/// Slots beyond the plan for threads that publish at the same time, each of which has a message or
/// two in hand.
const IN_FLIGHT_MAX: usize = 1024;

/// The limit of a holder that has none.
const UNLIMITED: usize = usize::MAX;

/// The capacity that was planned when the graph was frozen.
pub(super) struct Plan {
    planned: Planned,
    directory: Directory,
    sim_network: Option<Arc<SimNetwork>>,
}

impl<M: Send + Sync + 'static> Topic<M> {
    /// Adds a subscription that keeps up to `kept` messages by itself.
    pub(super) fn add_holder(&self, callback: CallbackId, qos: QoS, kept: usize) -> Arc<Holder> {
        let messages_max = kept.saturating_add(qos.held_max()).saturating_add(1);
        let times = qos.has_message_times().then(Arc::default);
        let holder = Arc::new(Holder { callback, messages_max, times });
        let mut planned = lock(&self.planned);
        planned.holders.push(holder.clone());
        planned.queued += qos.depth();
        holder
    }

    /// Adds a publisher: its loans, and the messages that it keeps for late joiners.
    pub(crate) fn add_publisher(&self, qos: QoS) {
        let latched = if qos.is_transient_local() { qos.depth() } else { 0 };
        let mut planned = lock(&self.planned);
        planned.lent = planned.lent.saturating_add(qos.held_max()).saturating_add(1 + latched);
    }

    /// Allocates the slots that are needed.
    pub(super) fn plan(&self, connections: Connections<'_>) {
        let Connections { directory, sim_network, clock, .. } = connections;
        let planned = std::mem::take(&mut *lock(&self.planned));
        self.pool.reserve(planned.slots());
        for times in planned.holders.iter().filter_map(|holder| holder.times()) {
            times.start(clock.clone(), self.pool.capacity() + IN_FLIGHT_MAX);
        }
        let (directory, sim_network) = (directory.clone(), sim_network.cloned());
        let plan = Plan { planned, directory, sim_network };
        assert!(self.plan.set(plan).is_ok(), "a graph is frozen once");
    }

    /// Whether the subscriptions hold as many messages as they declared.
    pub(crate) fn is_used_up(&self) -> bool {
        self.plan.get().is_some_and(|plan| plan.planned.held() >= plan.planned.held_max())
    }

    /// Makes the pool larger, if subscriptions do not hold more messages than they declared.
    ///
    /// # Errors
    /// Names the subscriptions that hold the messages.
    #[cold]
    pub(super) fn make_room(&self) -> Result<(), Box<OutOfSlots>> {
        match self.plan.get() {
            Some(plan) => {
                let under_way =
                    plan.sim_network.as_ref().map_or(0, |sim_network| sim_network.len());
                self.make_room_beside(&plan.planned, under_way)
            }
            None => self.make_room_beside(&lock(&self.planned), 0),
        }
    }

    fn make_room_beside(&self, planned: &Planned, under_way: usize) -> Result<(), Box<OutOfSlots>> {
        let capacity = self.pool.capacity();
        let capacity_max = match planned.held_max() {
            UNLIMITED => UNLIMITED,
            _ => planned.slots().saturating_add(IN_FLIGHT_MAX + under_way),
        };
        if planned.held() <= planned.held_max() && capacity < capacity_max {
            self.pool.reserve(capacity + 1);
            if self.pool.capacity() > capacity {
                return Ok(());
            }
        }
        Err(Box::new(self.out_of_slots(planned, capacity)))
    }

    fn out_of_slots(&self, planned: &Planned, slots: usize) -> OutOfSlots {
        let directory = self.plan.get().map(|plan| &plan.directory);
        let holding = planned.holders.iter().filter(|holder| holder.messages() > 0);
        let held = holding.map(|holder| {
            let name = directory.and_then(|directory| directory.get(holder.callback));
            let name = name.map(|name| (name.of.full_name(), name.callback.clone()));
            let (node, callback) = name.unwrap_or_default();
            HeldMessages { node, callback, messages: holder.messages(), max: holder.messages_max }
        });
        let mut held: Vec<_> = held.collect();
        held.sort_by_key(|held| std::cmp::Reverse(held.messages));
        OutOfSlots { topic: self.name.to_string(), slots, held }
    }
}

/// The demand of the ends of a topic.
#[derive(Default)]
pub(super) struct Planned {
    /// One for each subscription.
    holders: Vec<Arc<Holder>>,
    /// The depths of all queues.
    queued: usize,
    /// For publishers.
    lent: usize,
}

impl Planned {
    /// The number of allocated slots: holders without a limit get more when they need them.
    fn slots(&self) -> usize {
        let limits = self.holders.iter().map(|holder| holder.messages_max);
        let held: usize = limits.filter(|max| *max != UNLIMITED).fold(0, usize::saturating_add);
        self.queued.saturating_add(held).saturating_add(self.lent).saturating_add(1)
    }

    fn held(&self) -> usize {
        self.holders.iter().map(Holder::messages).sum()
    }

    fn held_max(&self) -> usize {
        let limits = self.holders.iter().map(|holder| holder.messages_max);
        limits.fold(0, usize::saturating_add)
    }
}

/// All message slots of a topic are in use.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl std::error::Error for OutOfSlots {}
