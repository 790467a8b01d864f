//! Transient-local durability: a publisher keeps its newest messages for subscriptions that join
//! later.
//!
//! One lock per publisher orders its messages against subscriptions that join, so that one of them
//! gets the kept messages first, then every later one, and none twice. Other publishers do not know
//! of it.

use super::{Port, PublishError, ReturnedMessage, Topic, UndeliveredGuard, lock};
use crate::base::escape::BoxError;
use crate::base::event::{CallbackId, EventId};
use crate::base::time::Time;
use crate::delivery::message::{Envelope, Expiry, Message};
use crate::delivery::sim_network::SimNetwork;
use ringspin_ringbuf::pool;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

pub(crate) struct TransientLocalCache<M> {
    depth: usize,
    lifespan: Option<Duration>,
    state: Mutex<CacheState<M>>,
}

/// A message, and when it was published.
type Kept<M> = (Message<M>, Time);

/// The state under the lock. Removed messages are dropped after unlocking, because their drop is
/// user code.
pub(super) struct CacheState<M> {
    /// Until the start: no clock runs yet, from which they could get their lifespan.
    early: VecDeque<pool::Loan<Envelope<M>>>,
    /// The messages since the start.
    kept: VecDeque<Kept<M>>,
    started: bool,
    /// Present in simulated time only.
    sim_network: Option<Arc<SimNetwork>>,
    /// Reused memory for displaced messages.
    spare: Vec<Message<M>>,
}

impl<M: Send + Sync + 'static> TransientLocalCache<M> {
    /// Creates a cache of the newest `depth` messages.
    pub(crate) fn new(depth: usize, lifespan: Option<Duration>) -> Self {
        let (early, kept) = (VecDeque::new(), VecDeque::with_capacity(depth));
        let (sim_network, spare) = (None, Vec::new());
        let state = CacheState { early, kept, started: false, sim_network, spare };
        Self { depth, lifespan, state: Mutex::new(state) }
    }

    /// Publishes like a plain publisher of [`Topic`], and keeps the message: in simulated time from
    /// its departure. With `beyond` the message leaves the process, too.
    pub(super) fn publish(
        self: &Arc<Self>,
        topic: &Arc<Topic<M>>,
        next_id: impl FnOnce() -> EventId,
        mut envelope: pool::Loan<Envelope<M>>,
        departure: Time,
        beyond: Option<impl FnOnce(&M) -> Result<(), BoxError>>,
    ) -> Result<(), PublishError<M>> {
        let mut state = lock(&self.state);
        if !state.started {
            // First, because it cannot be shared yet.
            if let Some(Err(reason)) = beyond.map(|publish| publish(&envelope.message)) {
                let message = Some(ReturnedMessage::in_slot(topic, envelope));
                return Err(PublishError::Remote { message, reason });
            }
            envelope.id = next_id();
            let oldest = push(&mut state.early, self.depth, envelope);
            drop((state, oldest)); // in this order
            return Ok(());
        }
        let ports = match topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(topic, envelope)),
        };
        envelope.id = next_id();
        let message = Message::new(envelope.share());
        let mut displaced = Vec::new();
        if ports.is_empty() {
            topic.note_unheard(message.id());
        }
        let mut undelivered = UndeliveredGuard(ports.iter());
        for port in undelivered.0.by_ref() {
            if let Some(oldest) = port.push(message.clone()) {
                if displaced.capacity() == 0 {
                    displaced = std::mem::take(&mut state.spare);
                }
                displaced.push(oldest);
            }
        }
        drop(undelivered);
        let beyond = beyond.map(|publish| (publish, message.clone()));
        let network = state.sim_network.clone().filter(|network| network.departs_later());
        let oldest = match network {
            Some(network) => {
                let leaving = network.departure_of(message.id().source);
                let (cache, of) = (self.clone(), topic.clone());
                let served = ports.split_last().map(|(port, _)| port.subscription.callback);
                network.fly(leaving, move || cache.keep(&of, (message, departure), served));
                None
            }
            None => push(&mut state.kept, self.depth, (message, departure)),
        };
        drop(state);
        drop(oldest);
        if !displaced.is_empty() {
            displaced.clear();
            lock(&self.state).spare = displaced;
        }
        // Last, because it takes a hundred times as long.
        beyond.map_or(Ok(()), |(publish, message)| {
            publish(&message).map_err(|reason| PublishError::Remote { message: None, reason })
        })
    }

    /// Keeps a departing message, and sends it to the transient-local subscriptions that joined
    /// meanwhile: those after `served`.
    fn keep(&self, topic: &Topic<M>, message: Kept<M>, served: Option<CallbackId>) {
        let mut displaced = Vec::new();
        let mut state = lock(&self.state);
        let ports = topic.ports.load();
        for port in ports.iter().filter(|port| port.subscription.transient_local) {
            if Some(port.subscription.callback) > served {
                offer(&message, port, &mut displaced);
            }
        }
        displaced.extend(push(&mut state.kept, self.depth, message).map(|(oldest, _)| oldest));
        drop(state);
        drop(displaced);
    }

    /// Delivers the messages that were published while the graph was built; their lifespan begins
    /// at `now`.
    pub(super) fn start(&self, topic: &Topic<M>, now: Time, sim_network: Option<&Arc<SimNetwork>>) {
        let mut displaced = Vec::new();
        let mut state = lock(&self.state);
        state.started = true;
        state.sim_network = sim_network.cloned();
        let expiry = Expiry::of(now, self.lifespan);
        for mut envelope in std::mem::take(&mut state.early) {
            if !topic.is_subscribed() {
                topic.note_unheard(envelope.id);
            }
            envelope.expiry = expiry;
            state.kept.push_back((Message::new(envelope.share()), now));
        }
        let ports = topic.ports.load();
        let ports = ports.iter().filter(|port| port.subscription.transient_local);
        ports.for_each(|port| replay(&state.kept, port, &mut displaced));
        drop(state);
        drop(displaced);
    }

    /// Keeps the publisher from publishing until the result is dropped.
    pub(super) fn lock(&self) -> MutexGuard<'_, CacheState<M>> {
        lock(&self.state)
    }
}

impl<M: Send + Sync + 'static> CacheState<M> {
    /// Delivers the kept messages to `ports`, which join the topic. Returns the displaced ones.
    pub(super) fn replay(&self, ports: &[Port<M>]) -> Vec<Message<M>> {
        let mut displaced = Vec::new();
        ports.iter().for_each(|port| replay(&self.kept, port, &mut displaced));
        displaced
    }
}

/// Appends `item`; beyond `depth` items, returns the oldest.
fn push<T>(items: &mut VecDeque<T>, depth: usize, item: T) -> Option<T> {
    let oldest = (items.len() == depth).then(|| items.pop_front()).flatten();
    items.push_back(item);
    oldest
}

/// Delivers the newest of `messages`, as many as `port` holds; the others count as overwritten.
fn replay<M>(messages: &VecDeque<Kept<M>>, port: &Port<M>, displaced: &mut Vec<Message<M>>)
where
    M: Send + Sync + 'static,
{
    let subscription = &port.subscription;
    let too_many = messages.len().saturating_sub(subscription.queue.depth());
    for _ in 0..too_many {
        subscription.counters.overwritten.next();
    }
    messages.iter().skip(too_many).for_each(|message| offer(message, port, displaced));
}

/// Delivers `message` to `port`, unless it is keep-all and full of other messages: that is counted.
fn offer<M>((message, source): &Kept<M>, port: &Port<M>, displaced: &mut Vec<Message<M>>)
where
    M: Send + Sync + 'static,
{
    if port.subscription.reserve() {
        displaced.extend(port.push_since(message.clone(), *source));
    } else {
        port.subscription.counters.overwritten.next();
    }
}
