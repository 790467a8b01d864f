//! Topics: the way of a message from `publish` to the event loops of its subscriptions.
//!
//! A topic has a port for each subscription, and publishes the list of its ports as one value: a
//! publisher finds everything it needs in one slice, and nothing is looked up, locked or allocated
//! on the way. Promises of some publishers only (see [`publisher_policy`]) cost
//! the others a branch.

mod arrivals;
mod publisher;
mod publisher_policy;
mod shared;
mod simulated_link;
mod slots;
mod subscription_receiver;
mod transient_local_cache;

pub(crate) use arrivals::{Arrivals, Awaited};
pub use publisher::{BY_VALUE_MAX, Loan, LoanError, PublishError, Publisher, ReturnedMessage};
pub use publisher_policy::MessageCheck;
pub(crate) use publisher_policy::PublisherPolicy;
pub(crate) use shared::SharedTopic;
pub use simulated_link::Verdict;
pub use slots::{HeldMessages, OutOfSlots};
pub(crate) use subscription_receiver::{Remains, SubscriptionReceiver};

use crate::base::digest::DigestCollector;
use crate::base::directory::Directory;
use crate::base::escape::{catch_panic, log_drop, try_drop_each};
use crate::base::event::{CallbackId, EventId, SourceId};
use crate::base::lock::lock;
use crate::base::message_times::{Stage, Times};
use crate::base::name;
use crate::base::observed;
use crate::base::qos::{History, QoS};
use crate::base::time::{NodeClock, Time};
use crate::delivery::causal_stamps::CausalStamps;
use crate::delivery::control::CallbackCounters;
use crate::delivery::message::{Envelope, Message};
use crate::delivery::ready::Ready;
use crate::delivery::remote::Remote;
use crate::delivery::sim_network::SimNetwork;
use publisher::Sequence;
use ringspin_ringbuf::reclaim::{Domain, Guard, Published};
use ringspin_ringbuf::{CacheLines, Counter, Permits, Pool, Shared, inbox, keep_last, pool};
use simulated_link::{Interception, SimulatedLink, UndeliveredGuard};
use slots::{SlotDemand, SlotPlan};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use transient_local_cache::TransientLocalCache;

/// A topic with messages of type `M`. The fields that every message needs are on its first cache
/// line.
#[repr(C, align(64))]
pub(crate) struct Topic<M> {
    ports: Published<Ports<M>>,
    pool: Pool<Envelope<M>>,
    pub(crate) name: Arc<str>,
    subscriptions: Mutex<Vec<Subscription<M>>>,
    /// The caches of the transient-local publishers, in order of creation.
    caches: Mutex<Vec<(SourceId, Arc<TransientLocalCache<M>>)>>,
    /// Learns of new ends.
    changed: ChangedTopics,
    /// Messages handed back because a keep-all subscription was full.
    refused: Counter,
    interception: Arc<Interception<M>>,
    digests: Arc<DigestCollector>,
    /// The number of messages of each publisher.
    sequences: Mutex<Vec<Weak<Sequence>>>,
    /// The number of slots that its ends need.
    planned: Mutex<SlotDemand>,
    plan: OnceLock<SlotPlan>,
    /// Present if the topic meets those of other graphs.
    shared: Option<Arc<SharedTopic<M>>>,
}

struct Subscription<M> {
    queue: keep_last::Producer<Envelope<M>>,
    permits: Option<Arc<Permits>>,
    about: Arc<About<M>>,
}

/// The data of a subscription that is rarely needed, apart from the data of the hot path.
struct About<M> {
    callback: CallbackId,
    counters: Arc<CallbackCounters>,
    /// Whether it gets messages from before it joined.
    transient_local: bool,
    times: Option<Arc<Times>>,
    /// The queue of a detached stream.
    detached: Option<Arc<Arrivals<M>>>,
}

impl<M> std::ops::Deref for Subscription<M> {
    type Target = About<M>;

    fn deref(&self) -> &About<M> {
        &self.about
    }
}

/// A subscription that is connected to its worker.
struct Port<M> {
    subscription: Subscription<M>,
    ready: Ready,
    /// If there is more to do for a message than to queue it.
    aside: Option<Arc<Aside<M>>>,
}

/// The ports of a topic, in order of creation. The last one lies here, so that a publisher finds
/// the only one at once.
#[repr(align(128))]
struct Ports<M> {
    last: Option<Port<M>>,
    others: Box<[Port<M>]>,
    /// The reason why the topic takes no messages, if it takes none.
    closed: Option<Refusal>,
}

impl<M> Ports<M> {
    fn new(mut ports: Vec<Port<M>>, closed: Option<Refusal>) -> Self {
        const { assert!(size_of::<Self>() == 128, "it lies on two cache lines") };
        let last = ports.pop();
        Self { last, others: ports.into(), closed }
    }

    fn to_vec(&self) -> Vec<Port<M>> {
        self.iter().cloned().collect()
    }

    #[inline]
    fn split_last(&self) -> Option<(&Port<M>, &[Port<M>])> {
        self.last.as_ref().map(|last| (last, &*self.others))
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    #[inline]
    fn iter(&self) -> impl Iterator<Item = &Port<M>> + Clone {
        self.others.iter().chain(&self.last)
    }
}

/// The rare parts of a port, apart from those that every message needs.
struct Aside<M> {
    /// If the subscription asks for the times of messages.
    times: Option<(Arc<Times>, Stage)>,
    /// If a watched chain leads through the port.
    stamps: Option<(CausalStamps, NodeClock)>,
    /// In simulated time, if not all messages arrive as they are published.
    link: Option<SimulatedLink<M>>,
    /// In real time, the queue of a detached stream, to which messages go without an event.
    detached: Option<Arc<Arrivals<M>>>,
}

/// A message in its slot, or handed back because there is none.
type Inserted<M> = Result<pool::Loan<Envelope<M>>, (Envelope<M>, Box<OutOfSlots>)>;

/// The ready handles of a topic's callbacks.
#[derive(Clone, Copy)]
pub(crate) struct Connections<'a> {
    pub(crate) ready: &'a dyn Fn(CallbackId) -> Ready,
    pub(crate) sim_network: Option<&'a Arc<SimNetwork>>,
    pub(crate) directory: &'a Directory,
    pub(crate) clock: &'a NodeClock,
    pub(crate) stamps: Option<&'a CausalStamps>,
}

/// A topic with its message type erased.
pub(crate) trait AnyTopic: Send + Sync {
    /// Allocates the first slots.
    fn reserve_first(&self);
    /// Allocates the slots that its ends need.
    fn plan(&self, connections: Connections<'_>);
    /// Makes new subscriptions ports, and opens the topic if it is new. With nothing new it has no
    /// effect. After [`plan`](Self::plan).
    fn connect(&self, connections: Connections<'_>);
    /// Ends the subscription of a callback.
    fn disconnect(&self, callback: CallbackId);
    /// Whether an interceptor waits for its messages.
    fn is_intercepted(&self) -> bool;
    /// Delivers the kept messages of the transient-local publisher with this number, at `now`.
    fn start_cache(&self, of: SourceId, now: Time, sim_network: Option<&Arc<SimNetwork>>);
    fn remove_publisher(&self, publisher: SourceId, qos: QoS);
    fn refused(&self) -> u64;
    /// Refuses messages from here on, because no worker is left.
    fn close(&self);
    /// Adds the lines that publishing touches.
    fn add_to(&self, lines: &mut CacheLines);
}

pub(crate) type NamedTopic = (String, Arc<dyn AnyTopic>);

/// The topics that have new ends, each of them once.
#[derive(Clone, Default)]
pub(crate) struct ChangedTopics(Arc<Mutex<Changed>>);

#[derive(Default)]
struct Changed {
    in_order: Vec<Arc<dyn AnyTopic>>,
    addresses: BTreeSet<usize>,
}

impl ChangedTopics {
    pub(crate) fn add(&self, topic: Arc<dyn AnyTopic>) {
        let mut changed = lock(&self.0);
        if changed.addresses.insert(Arc::as_ptr(&topic).addr()) {
            changed.in_order.push(topic);
        }
    }

    pub(crate) fn take(&self) -> Vec<Arc<dyn AnyTopic>> {
        take(&mut *lock(&self.0)).in_order
    }
}

/// All topics of a graph and their names, those of services and clients included; clones share
/// them.
#[derive(Clone, Default)]
pub(crate) struct AllTopics(Arc<Mutex<Topics>>);

#[derive(Default)]
struct Topics {
    by_number: BTreeMap<u64, NamedTopic>,
    /// The number of topics so far.
    added: u64,
    /// The messages that removed topics handed back.
    refused: u64,
}

impl AllTopics {
    /// Adds a topic, and returns its number.
    pub(crate) fn add(&self, name: String, topic: Arc<dyn AnyTopic>) -> u64 {
        let mut topics = lock(&self.0);
        topics.added += 1;
        let number = topics.added;
        topics.by_number.insert(number, (name, topic));
        number
    }

    /// Removes and closes the topic with this number.
    pub(crate) fn remove(&self, number: u64) -> Option<NamedTopic> {
        let mut topics = lock(&self.0);
        let removed = topics.by_number.remove(&number)?;
        removed.1.close();
        topics.refused += removed.1.refused();
        Some(removed)
    }

    pub(crate) fn get(&self) -> Vec<NamedTopic> {
        lock(&self.0).by_number.values().cloned().collect()
    }

    /// The messages that topics handed back, and those of all removed topics.
    pub(crate) fn refused(&self) -> Vec<(String, u64)> {
        let topics = lock(&self.0);
        let each = topics.by_number.values().map(|(name, topic)| (&**name, topic.refused()));
        let all = each.chain([("removed topics", topics.refused)]);
        let all = all.filter(|(_, refused)| *refused > 0);
        all.map(|(name, refused)| (name.into(), refused)).collect()
    }
}

impl<M: Send + Sync + 'static> Topic<M> {
    pub(crate) fn new(
        name: Arc<str>,
        digests: Arc<DigestCollector>,
        changed: ChangedTopics,
        domain: &Arc<Domain>,
        shared: Option<Arc<SharedTopic<M>>>,
    ) -> Self {
        Self {
            name,
            pool: shared.as_ref().map_or_else(Pool::new, |shared| shared.pool.clone()),
            subscriptions: Mutex::new(Vec::new()),
            ports: Published::new(Ports::new(Vec::new(), Some(Refusal::NotFrozen)), domain),
            caches: Mutex::default(),
            changed,
            refused: Counter::default(),
            interception: Arc::default(),
            digests,
            sequences: Mutex::default(),
            planned: Mutex::default(),
            plan: OnceLock::new(),
            shared,
        }
    }

    /// Adds a subscription and returns its end of the queue. It will keep up to `kept` messages
    /// that it took from there. If `remote` delivers messages of this process, too, the topic does
    /// not. In real time, messages of this process go to `detached`, if there is one, instead of
    /// the queue.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        (callback, qos): (CallbackId, QoS),
        kept: usize,
        counters: Arc<CallbackCounters>,
        remote: Option<Remote<M>>,
        detached: Option<Arc<Arrivals<M>>>,
    ) -> SubscriptionReceiver<M> {
        let (queue, consumer) = keep_last::queue(&self.pool, qos.depth());
        let permits = match qos.history() {
            History::KeepLast => None,
            History::KeepAll => Some(Arc::new(Permits::new(qos.depth() as u32))),
        };
        let holder = self.add_holder(callback, qos, kept, counters.clone());
        if remote.as_ref().is_none_or(|remote| !remote.is_exclusive) {
            let (transient_local, times) = (qos.is_transient_local(), holder.times.clone());
            let about = Arc::new(About { callback, counters, transient_local, times, detached });
            let permits = permits.clone();
            lock(&self.subscriptions).push(Subscription { queue, permits, about });
            self.changed.add(self.clone());
        }
        SubscriptionReceiver {
            queue: consumer,
            permits,
            topic: self.clone(),
            lent: Some(holder.clone()),
            holder,
            remote: remote.map(Box::new),
        }
    }

    fn add_cache(&self, publisher: SourceId, cache: Arc<TransientLocalCache<M>>) {
        lock(&self.caches).push((publisher, cache));
    }

    /// Hands `message`, which is event `id`, to the one subscription of a private topic: a
    /// service's requests, a client's responses.
    ///
    /// # Errors
    /// The reason why it is not taken; the message is handed back.
    pub(crate) fn send(&self, id: EventId, message: M) -> Result<(), (Unsent, M)> {
        self.send_after(message, |_| id)
    }

    /// Sends like [`send`](Self::send), and calls `prepare` once it is certain that the message
    /// will be sent, and before it is; returns the message's identity.
    pub(crate) fn send_after(
        &self,
        message: M,
        prepare: impl FnOnce(&mut M) -> EventId,
    ) -> Result<(), (Unsent, M)> {
        let ports = match self.reserve() {
            Ok(ports) => ports,
            Err(Refusal::NotFrozen) => return Err((Unsent::NotFrozen, message)),
            Err(Refusal::Full) => return Err((Unsent::Full, message)),
            Err(Refusal::Gone) => return Err((Unsent::Gone, message)),
        };
        let Some((port, [])) = ports.split_last() else {
            return Err((Unsent::NoReceiver, message));
        };
        match self.insert(Envelope::lasting(EventId::default(), message)) {
            Ok(mut envelope) => {
                envelope.id = prepare(&mut envelope.message);
                port.deliver(Message::new(envelope.share()));
                Ok(())
            }
            Err((envelope, _)) => {
                port.subscription.cancel();
                Err((Unsent::Full, envelope.message))
            }
        }
    }

    /// Moves `envelope` into a slot of the pool.
    ///
    /// # Errors
    /// Hands it back with the reason why there is no slot.
    #[inline]
    fn insert(&self, envelope: Envelope<M>) -> Inserted<M> {
        self.pool.try_insert(envelope).or_else(|envelope| self.insert_after_growth(envelope))
    }

    #[cold]
    fn insert_after_growth(&self, mut envelope: Envelope<M>) -> Inserted<M> {
        loop {
            if let Err(out_of_slots) = self.make_room() {
                self.refused.next();
                return Err((envelope, out_of_slots));
            }
            // Other threads may have taken all of the new slots.
            match self.pool.try_insert(envelope) {
                Ok(inserted) => return Ok(inserted),
                Err(back) => envelope = back,
            }
        }
    }

    fn port(&self, subscription: Subscription<M>, connections: Connections<'_>) -> Port<M> {
        let ready = (connections.ready)(subscription.callback);
        let mut port = Port { subscription, ready, aside: None };
        let link = SimulatedLink::of(self, connections, &port);
        let detached = port.subscription.detached.clone();
        let detached = detached.filter(|_| connections.sim_network.is_none());
        let stamps = connections.stamps.filter(|of| of.concern(port.subscription.callback));
        let stamps = stamps.map(|stamps| (stamps.clone(), connections.clock.clone()));
        let times = port.subscription.times.clone().map(|times| (times, Stage::Published));
        port.aside = Aside { times, stamps, link, detached }.if_needed();
        port
    }

    /// Changes the ports of the graph's subscriptions, and whether the topic takes messages.
    fn change_ports(
        &self,
        joining: &[Port<M>],
        closed: Option<Refusal>,
        change: impl FnOnce(&mut Vec<Port<M>>),
    ) {
        if let Some(shared) = &self.shared {
            return shared.change(self, joining, closed, change);
        }
        let mut ports = self.ports.load().to_vec();
        change(&mut ports);
        self.publish_ports(ports, closed, joining);
    }

    /// Replaces the ports. The ones in `joining` get the messages that the topic's transient-local
    /// publishers keep.
    fn publish_ports(&self, ports: Vec<Port<M>>, closed: Option<Refusal>, joining: &[Port<M>]) {
        let caches = match joining.is_empty() {
            true => Vec::new(),
            false => lock(&self.caches).clone(),
        };
        // No transient-local publisher publishes in between, so that none of its messages comes
        // twice or not at all.
        let caches: Vec<_> = caches.iter().map(|(_, cache)| cache.lock()).collect();
        self.ports.replace(Ports::new(ports, closed));
        let displaced: Vec<_> = caches.iter().flat_map(|cache| cache.replay(joining)).collect();
        if !displaced.is_empty() {
            // The messages are the user's, so not under a lock.
            self.ports.domain().retire(move || log_drop("a message", try_drop_each(displaced)));
        }
    }

    /// Whether the topic has a subscription; false until the graph is frozen.
    pub(crate) fn is_subscribed(&self) -> bool {
        !self.ports.load().is_empty()
    }

    /// Whether the graph is frozen, and the topic has no subscription.
    pub(crate) fn is_deserted(&self) -> bool {
        let ports = self.ports.load();
        ports.is_empty() && ports.closed.is_none()
    }

    /// A message that no subscription receives. Where there is one, the digest sees the message as
    /// a dispatch; here its identity stands for it, unless its publisher shows all of it.
    #[cold]
    fn note_unheard(&self, id: EventId) {
        if self.digests.is_collecting() && !name::is_internal(&self.name) {
            self.digests.add_unheard(id);
        }
    }

    /// The subscriptions, with a place reserved in each that would refuse a message.
    #[inline]
    fn reserve(&self) -> Result<Guard<'_, Ports<M>>, Refusal> {
        let ports = self.ports.load();
        if let Some(refusal) = ports.closed {
            return Err(refusal);
        }
        if !reserve_all(&ports) {
            self.refused.next();
            return Err(Refusal::Full);
        }
        Ok(ports)
    }
}

/// Reserves a place in each of `ports` that would refuse a message, or else in none.
#[inline]
fn reserve_all<M>(ports: &Ports<M>) -> bool {
    let Some((last, others)) = ports.split_last() else { return true };
    for (n, port) in others.iter().enumerate() {
        if !port.subscription.reserve() {
            cancel_all(&others[..n]);
            return false;
        }
    }
    let reserved = last.subscription.reserve();
    if !reserved {
        cancel_all(others);
    }
    reserved
}

#[cold]
fn cancel_all<M>(ports: &[Port<M>]) {
    ports.iter().for_each(|port| port.subscription.cancel());
}

/// The reason why a private topic does not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    NotFrozen,
    NoReceiver,
    Full,
    Gone,
}

/// The reason why a topic does not take a message now.
#[derive(Clone, Copy)]
enum Refusal {
    NotFrozen,
    Full,
    Gone,
}

impl Refusal {
    /// The error that hands `message` back.
    #[cold]
    fn of<M>(self, topic: &Arc<Topic<M>>, envelope: pool::Loan<Envelope<M>>) -> PublishError<M> {
        let message = ReturnedMessage::in_slot(topic, envelope);
        match self {
            Self::NotFrozen => PublishError::NotFrozen(message),
            Self::Full => PublishError::Full(message),
            Self::Gone => PublishError::Gone(message),
        }
    }
}

/// Shares `envelope` with all of `ports`, of which there is at least one.
#[inline]
fn deliver<M>(envelope: Shared<Envelope<M>>, last: &Port<M>, others: &[Port<M>])
where
    M: Send + Sync + 'static,
{
    match others {
        [] => last.deliver(Message::new(envelope)),
        _ => deliver_to_all(envelope, last, others),
    }
}

/// Apart from [`deliver`], so that the way to a single port has no call.
#[inline(never)]
fn deliver_to_all<M>(envelope: Shared<Envelope<M>>, last: &Port<M>, others: &[Port<M>])
where
    M: Send + Sync + 'static,
{
    let mut undelivered = UndeliveredGuard(others.iter().chain([last]));
    for port in undelivered.0.by_ref().take(others.len()) {
        port.deliver(Message::new(envelope.clone()));
    }
    if let Some(last) = undelivered.0.next() {
        last.deliver(Message::new(envelope));
    }
}

impl<M: Send + Sync + 'static> AnyTopic for Topic<M> {
    fn reserve_first(&self) {
        self.pool.reserve(1);
    }

    fn plan(&self, connections: Connections<'_>) {
        self.plan_slots(connections);
    }

    fn connect(&self, connections: Connections<'_>) {
        let added = take(&mut *lock(&self.subscriptions)).into_iter();
        let added: Vec<_> = added.map(|s| self.port(s, connections)).collect();
        let joining = added.iter().filter(|port| port.subscription.transient_local).cloned();
        let joining: Vec<_> = joining.collect();
        if added.is_empty() && self.ports.load().closed.is_none() {
            return;
        }
        self.change_ports(&joining, None, |ports| ports.extend(added));
    }

    fn disconnect(&self, callback: CallbackId) {
        lock(&self.subscriptions).retain(|subscription| subscription.callback != callback);
        lock(&self.planned).remove(callback);
        let closed = self.ports.load().closed;
        self.change_ports(&[], closed, |ports| {
            ports.retain(|port| port.subscription.callback != callback);
        });
    }

    fn is_intercepted(&self) -> bool {
        lock(&self.interception.0).is_some()
    }

    fn start_cache(&self, of: SourceId, now: Time, sim_network: Option<&Arc<SimNetwork>>) {
        let cache = lock(&self.caches).iter().find(|(id, _)| *id == of).map(|(_, of)| of.clone());
        if let Some(cache) = cache {
            cache.start(self, now, sim_network);
        }
    }

    fn remove_publisher(&self, publisher: SourceId, qos: QoS) {
        lock(&self.planned).remove_publisher(qos);
        let mut caches = lock(&self.caches);
        if let Some(place) = caches.iter().position(|(id, _)| *id == publisher) {
            let cache = caches.remove(place);
            // Its messages are the user's, so not under a lock.
            self.ports
                .domain()
                .retire(move || log_drop("a kept message", catch_panic(|| drop(cache))));
        }
    }

    fn refused(&self) -> u64 {
        self.refused.get()
    }

    fn close(&self) {
        // The ports stay: what still waits in their queues is dropped with the topic.
        if let Some(shared) = &self.shared {
            return shared.leave(self);
        }
        let ports = self.ports.load();
        self.ports.replace(Ports::new(ports.to_vec(), Some(Refusal::Gone)));
    }

    fn add_to(&self, lines: &mut CacheLines) {
        let ports = self.ports.load();
        lines.add(&self.ports);
        lines.add(&*ports);
        lines.add(&self.pool);
        Sequence::add_to(&self.sequences, lines);
        self.pool.add_to(lines);
        for port in ports.iter() {
            lines.add(port);
            port.subscription.queue.add_to(lines);
        }
    }
}

impl<M> Subscription<M> {
    #[inline]
    fn reserve(&self) -> bool {
        self.permits.as_ref().is_none_or(|permits| observed::reserve(self.callback.0, permits))
    }

    fn cancel(&self) {
        if let Some(permits) = &self.permits {
            permits.release();
        }
    }

    /// A message for which there is a place is lost on its way.
    fn lose(&self) {
        self.counters.lose(1);
        self.cancel();
    }
}

impl<M> Clone for Subscription<M> {
    fn clone(&self) -> Self {
        let Self { queue, permits, about } = self;
        Self { queue: queue.clone(), permits: permits.clone(), about: about.clone() }
    }
}

impl<M> Aside<M> {
    /// `None` if there is nothing to do.
    fn if_needed(self) -> Option<Arc<Self>> {
        let Self { times, stamps, link, detached } = &self;
        let is_needed = times.is_some() || stamps.is_some() || link.is_some() || detached.is_some();
        is_needed.then(|| Arc::new(self))
    }
}

impl<M> Clone for Port<M> {
    fn clone(&self) -> Self {
        let Self { subscription, ready, aside } = self;
        Self { subscription: subscription.clone(), ready: ready.clone(), aside: aside.clone() }
    }
}

impl<M: Send + Sync + 'static> Port<M> {
    #[inline(always)]
    fn deliver(&self, message: Message<M>) {
        drop(self.push(message));
    }

    /// Delivers like [`deliver`](Self::deliver), and returns the message that was displaced.
    #[inline(always)]
    fn push(&self, message: Message<M>) -> Option<Message<M>> {
        match &self.aside {
            None => self.enqueue(message),
            Some(aside) => self.push_aside(aside, message, None),
        }
    }

    /// Pushes, like [`push`](Self::push), a message that was published at `source`.
    fn push_since(&self, message: Message<M>, source: Time) -> Option<Message<M>> {
        match &self.aside {
            None => self.enqueue(message),
            Some(aside) => self.push_aside(aside, message, Some(source)),
        }
    }

    fn push_aside(
        &self,
        aside: &Aside<M>,
        message: Message<M>,
        source: Option<Time>,
    ) -> Option<Message<M>> {
        if let Some((times, stage)) = &aside.times {
            times.note(message.slot(), *stage, source);
        }
        if let Some((stamps, clock)) = &aside.stamps {
            let callback = self.subscription.callback;
            stamps.stamp(callback, message.id().source, message.slot(), clock);
        }
        match aside {
            Aside { link: Some(link), .. } => link.send(message),
            Aside { detached: Some(arrivals), .. } => {
                // The place in a queue that it does not enter.
                self.subscription.cancel();
                return arrivals.hand_over(message);
            }
            _ => return self.enqueue(message),
        }
        None
    }

    #[inline]
    fn enqueue(&self, message: Message<M>) -> Option<Message<M>> {
        let oldest = inbox::push(&self.subscription.queue, message.0, &self.ready)?;
        self.subscription.counters.overwritten.next();
        Some(Message::new(oldest))
    }
}

#[cfg(test)]
mod tests;
