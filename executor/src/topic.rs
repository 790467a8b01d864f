//! Topics: the way of a message from `publish` to the event loops of its subscriptions.
//!
//! While the graph is built, a topic collects its subscriptions. Freezing turns them into ports,
//! and from then on a publisher finds everything it needs in one slice: nothing is looked up,
//! locked or allocated on the way. What only some publishers promise (see [`offer`]) costs the
//! others a branch.

mod detour;
mod inlet;
mod latch;
mod late;
mod offer;
mod publisher;

pub use detour::Verdict;
pub(crate) use inlet::Inlet;
pub use late::LateSubscription;
pub(crate) use offer::Offer;
pub use publisher::{Loan, PublishError, Publisher};

use crate::control::CallbackCounters;
use crate::deadline::Stamper;
use crate::event::{CallbackId, EventId};
use crate::evidence::Evidence;
use crate::lock::lock;
use crate::message::{Envelope, Message};
use crate::middleware::Remote;
use crate::qos::{History, QoS};
use crate::time::Time;
use crate::transit::Transit;
use detour::{Ahead, Detour, Interception};
use latch::Latch;
use late::Late;
use ringspin_ringbuf::{Announce, Announcer, Counter, Lines, Permits, Pool, Shared};
use ringspin_ringbuf::{inbox, keep_last};
use std::borrow::Borrow;
use std::sync::{Arc, Mutex, OnceLock};

/// How an event loop is told that one of its callbacks has an event.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// Its token is the callback, as its worker numbers it.
    pub(crate) announcer: Announcer,
    /// If the callback has a deadline.
    pub(crate) stamper: Option<Stamper>,
    /// In simulated time, what is under way in it.
    pub(crate) transit: Option<Arc<Transit>>,
}

impl Announce for Ready {
    #[inline]
    fn announce(&self) {
        self.announce_since(None);
    }

    fn remind(&self) {
        // In simulated time all events come from one thread.
        if self.transit.is_none() {
            self.announcer.remind();
        }
    }
}

impl Ready {
    /// Takes down since when the event is ready, if anybody wants to know; returns its token.
    #[inline]
    pub(crate) fn stamp(&self, since: Option<Time>) -> u32 {
        if let Some(stamper) = &self.stamper {
            stamper.stamp(since);
        }
        self.announcer.token()
    }

    /// As [`announce`](Self::announce), for an event that has been due since some time.
    #[inline]
    pub(crate) fn announce_since(&self, since: Option<Time>) {
        self.stamp(since);
        if self.transit.is_some() {
            // In simulated time there is one ring, and its worker does not sleep.
            self.announcer.push_unmarked();
        } else if !self.announcer.try_announce()
            && let Some(stamper) = &self.stamper
        {
            stamper.withdraw();
        }
    }
}

/// A topic with messages of type `M`. What every message needs is on its first cache line.
#[repr(C, align(64))]
pub(crate) struct Topic<M> {
    ports: OnceLock<Box<[Port<M>]>>,
    pool: Pool<Envelope<M>>,
    pub(crate) name: Arc<str>,
    subscriptions: Mutex<Vec<Subscription<M>>>,
    /// What the transient-local publishers keep, in order of creation.
    latches: Mutex<Vec<Arc<Latch<M>>>>,
    /// The subscriptions that are to be activated. They are no ports: only transient-local
    /// publishers can have them, and know them.
    late: Mutex<Vec<Arc<Late<M>>>>,
    /// Messages handed back because a keep-all subscription was full.
    refused: Counter,
    interception: Interception<M>,
    evidence: Arc<Evidence>,
    /// How many messages each publisher sent.
    sequences: Mutex<Vec<Arc<Counter>>>,
}

/// A subscription of a graph that is still being built.
struct Subscription<M> {
    queue: keep_last::Producer<Envelope<M>>,
    permits: Option<Arc<Permits>>,
    about: Arc<About>,
}

/// What is needed of a subscription now and then, apart from what every message needs.
struct About {
    callback: CallbackId,
    /// How many messages the subscription keeps besides its queue and the one that it handles.
    kept: usize,
    counters: Arc<CallbackCounters>,
    /// Whether it gets what was published before the start.
    transient_local: bool,
}

impl<M> std::ops::Deref for Subscription<M> {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

/// A subscription of the frozen graph, on one cache line.
#[repr(align(64))]
struct Port<M> {
    subscription: Subscription<M>,
    ready: Ready,
    /// In simulated time, if not all messages arrive as they are published.
    detour: Option<Box<Detour<M>>>,
}

/// How the callbacks of a topic are told of messages.
#[derive(Clone, Copy)]
pub(crate) struct Connections<'a> {
    pub(crate) ready: &'a dyn Fn(CallbackId) -> Ready,
    pub(crate) transit: Option<&'a Arc<Transit>>,
}

/// What freezing needs of a topic, whatever its message type.
pub(crate) trait AnyTopic: Send + Sync {
    fn connect(&self, connections: Connections<'_>);
    /// Whether an interceptor waits for its messages.
    fn is_intercepted(&self) -> bool;
    /// Delivers what the transient-local publisher with this number published so far, at `now`.
    fn start_latch(&self, number: usize, now: Time, transit: Option<&Arc<Transit>>);
    fn refused(&self) -> u64;
    /// Adds the lines that publishing touches.
    fn add_to(&self, lines: &mut Lines);
}

impl<M: Send + Sync + 'static> Topic<M> {
    pub(crate) fn new(name: Arc<str>, evidence: Arc<Evidence>) -> Self {
        Self {
            name,
            pool: Pool::new(),
            subscriptions: Mutex::new(Vec::new()),
            ports: OnceLock::new(),
            latches: Mutex::default(),
            late: Mutex::default(),
            refused: Counter::default(),
            interception: Interception::default(),
            evidence,
            sequences: Mutex::default(),
        }
    }

    /// Adds a subscription and returns its end of the queue. It will keep up to `kept` messages
    /// that it took from there. If `remote` brings what is published in the process, too, the topic
    /// does not.
    pub(crate) fn subscribe(
        &self,
        callback: CallbackId,
        qos: QoS,
        kept: usize,
        counters: Arc<CallbackCounters>,
        remote: Option<Remote<M>>,
    ) -> Inlet<M> {
        let (subscription, mut inlet) = self.queue(callback, qos, kept, counters);
        if remote.as_ref().is_none_or(|remote| !remote.is_exclusive) {
            lock(&self.subscriptions).push(subscription);
        }
        inlet.remote = remote.map(Box::new);
        inlet
    }

    /// The two ends of a subscription's queue.
    fn queue(
        &self,
        callback: CallbackId,
        qos: QoS,
        kept: usize,
        counters: Arc<CallbackCounters>,
    ) -> (Subscription<M>, Inlet<M>) {
        let (queue, consumer) = keep_last::queue(&self.pool, qos.depth());
        let permits = match qos.history() {
            History::KeepLast => None,
            History::KeepAll => Some(Arc::new(Permits::new(qos.depth() as u32))),
        };
        let (pool, remote) = (self.pool.clone(), None);
        let (permits_of, counters_of) = (permits.clone(), counters.clone());
        let inlet =
            Inlet { queue: consumer, permits: permits_of, counters: counters_of, pool, remote };
        let transient_local = qos.is_transient_local();
        let about = Arc::new(About { callback, kept, counters, transient_local });
        (Subscription { queue, permits, about }, inlet)
    }

    /// Hands `message`, which is event `id`, to the one subscription of a private topic: a
    /// service's requests, a client's responses.
    ///
    /// # Errors
    /// Why it is not taken; the message is handed back.
    pub(crate) fn send(&self, id: EventId, message: M) -> Result<(), (Unsent, M)> {
        match self.reserve() {
            Ok([port]) => {
                port.deliver(Message(self.pool.insert(Envelope::lasting(id, message))));
                Ok(())
            }
            Ok(_) => Err((Unsent::NobodyThere, message)),
            Err(Refusal::NotFrozen) => Err((Unsent::NotFrozen, message)),
            Err(Refusal::Full) => Err((Unsent::Full, message)),
        }
    }

    fn port(&self, subscription: Subscription<M>, connections: Connections<'_>) -> Port<M> {
        let ready = (connections.ready)(subscription.callback);
        let mut port = Port { subscription, ready, detour: None };
        port.detour = Detour::of(self, connections.transit, &port).map(Box::new);
        port
    }

    /// Whether anyone receives what is sent; false until the graph is frozen.
    pub(crate) fn is_subscribed(&self) -> bool {
        self.ports.get().is_some_and(|ports| !ports.is_empty())
    }

    /// Whether the graph is frozen, and nobody receives what is sent.
    pub(crate) fn is_deserted(&self) -> bool {
        self.ports.get().is_some_and(|ports| ports.is_empty())
    }

    /// The subscriptions, with a place reserved in each that would refuse a message.
    #[inline]
    fn reserve(&self) -> Result<&[Port<M>], Refusal> {
        let Some(ports) = self.ports.get() else { return Err(Refusal::NotFrozen) };
        if !reserve_all(ports) {
            self.refused.next();
            return Err(Refusal::Full);
        }
        Ok(ports)
    }
}

/// Reserves a place in each of `ports` that would refuse a message, or else in none.
#[inline]
fn reserve_all<M, P: Borrow<Port<M>>>(ports: &[P]) -> bool {
    for (n, port) in ports.iter().enumerate() {
        if !port.borrow().subscription.reserve() {
            cancel_all(&ports[..n]);
            return false;
        }
    }
    true
}

#[cold]
fn cancel_all<M, P: Borrow<Port<M>>>(ports: &[P]) {
    ports.iter().for_each(|port| port.borrow().subscription.cancel());
}

/// Why a private topic does not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    NotFrozen,
    NobodyThere,
    Full,
}

/// Why a topic does not take a message now.
#[derive(Clone, Copy)]
enum Refusal {
    NotFrozen,
    Full,
}

impl Refusal {
    /// The error that hands `message` back.
    #[cold]
    fn of<T>(self, message: T) -> PublishError<T> {
        match self {
            Self::NotFrozen => PublishError::NotFrozen(Box::new(message)),
            Self::Full => PublishError::Full(Box::new(message)),
        }
    }
}

/// Shares `envelope` with all of `ports`, of which there is at least one.
#[inline]
fn deliver<M>(envelope: Shared<Envelope<M>>, last: &Port<M>, others: &[Port<M>])
where
    M: Send + Sync + 'static,
{
    let mut ahead = Ahead(others.iter().chain([last]));
    for port in ahead.0.by_ref().take(others.len()) {
        port.deliver(Message(envelope.clone()));
    }
    if let Some(last) = ahead.0.next() {
        last.deliver(Message(envelope));
    }
}

impl<M: Send + Sync + 'static> AnyTopic for Topic<M> {
    fn connect(&self, connections: Connections<'_>) {
        let mut subscriptions = lock(&self.subscriptions);
        let latches = lock(&self.latches).clone();
        let late = lock(&self.late);
        // Each queue may be full while each subscription handles a message and one is on its way.
        let queues = subscriptions.iter().map(|s| s.queue.depth() + s.kept + 1).sum::<usize>();
        let late_queues = late.iter().filter_map(|late| late.depth()).map(|depth| depth + 1);
        let latched = latches.iter().map(|latch| latch.depth()).sum::<usize>();
        self.pool.reserve(queues + late_queues.sum::<usize>() + latched + 1);
        let ports = subscriptions.drain(..).map(|s| self.port(s, connections)).collect();
        assert!(self.ports.set(ports).is_ok(), "a graph is frozen once");
        late.iter().for_each(|late| late.connect(self, connections, &latches));
    }

    fn is_intercepted(&self) -> bool {
        lock(&self.interception).is_some()
    }

    fn start_latch(&self, number: usize, now: Time, transit: Option<&Arc<Transit>>) {
        let latch = lock(&self.latches)[number].clone();
        latch.start(self, now, transit);
    }

    fn refused(&self) -> u64 {
        self.refused.get()
    }

    fn add_to(&self, lines: &mut Lines) {
        lines.add(&self.ports);
        lines.add(&self.pool);
        lock(&self.sequences).iter().for_each(|sequence| lines.add(&**sequence));
        self.pool.add_to(lines);
        for port in self.ports.get().into_iter().flatten() {
            lines.add(port);
            port.subscription.queue.add_to(lines);
        }
    }
}

impl<M> Subscription<M> {
    #[inline]
    fn reserve(&self) -> bool {
        self.permits.as_ref().is_none_or(|permits| permits.try_acquire())
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

impl<M: Send + Sync + 'static> Port<M> {
    #[inline]
    fn deliver(&self, message: Message<M>) {
        drop(self.push(message));
    }

    /// As [`deliver`](Self::deliver), and returns the message that had to give way.
    #[inline]
    fn push(&self, message: Message<M>) -> Option<Message<M>> {
        if let Some(detour) = &self.detour {
            detour.send(message);
            return None;
        }
        let oldest = inbox::push(&self.subscription.queue, message.0, &self.ready)?;
        self.subscription.counters.overwritten.next();
        Some(Message(oldest))
    }
}

#[cfg(test)]
mod tests;
