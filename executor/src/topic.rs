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
mod slots;

pub use detour::Verdict;
pub(crate) use inlet::Inlet;
pub use late::LateSubscription;
pub(crate) use offer::Offer;
pub use publisher::{BY_VALUE_MAX, Loan, LoanError, PublishError, Publisher, ReturnedMessage};
pub(crate) use slots::Holder;
pub use slots::{HeldMessages, OutOfSlots};

use crate::control::CallbackCounters;
use crate::deadline::Stamper;
use crate::event::{CallbackId, EventId};
use crate::evidence::Evidence;
use crate::graph::GraphInfo;
use crate::lock::lock;
use crate::message::{Envelope, Message};
use crate::middleware::Remote;
use crate::name;
use crate::qos::{History, QoS};
use crate::time::Time;
use crate::transit::Transit;
use crate::worker_thread::ForeignEvent;
use detour::{Ahead, Detour, Interception};
use latch::Latch;
use late::Late;
use ringspin_ringbuf::{Announce, Announcer, Counter, Flag, Lines, Permits, Pool, Shared};
use ringspin_ringbuf::{inbox, keep_last, pool};
use slots::{Plan, Planned};
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
        match &self.transit {
            None => self.announcer.remind(),
            // In simulated time all events should come from one thread.
            Some(transit) => transit.owner().note(|| self.foreign_event()),
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
        if let Some(transit) = &self.transit {
            // In simulated time there is one ring, and its worker does not sleep.
            self.announcer.push_unmarked();
            transit.owner().note(|| self.foreign_event());
        } else if !self.announcer.try_announce()
            && let Some(stamper) = &self.stamper
        {
            stamper.withdraw();
        }
    }

    /// As it is counted if another thread than that of the run causes it. In simulated time the one
    /// worker numbers its callbacks as the graph does, and what is not a callback's after them.
    #[cold]
    fn foreign_event(&self) -> ForeignEvent {
        ForeignEvent::For(CallbackId(self.announcer.token()))
    }
}

/// A topic with messages of type `M`. What every message needs is on its first cache line.
#[repr(C, align(64))]
pub(crate) struct Topic<M> {
    ports: OnceLock<Box<[Port<M>]>>,
    pool: Pool<Envelope<M>>,
    /// Raised when the workers are gone: nothing takes messages any more.
    closed: Flag,
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
    /// How many slots its ends need.
    planned: Mutex<Planned>,
    plan: OnceLock<Plan>,
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

/// A message in its slot, or handed back because there is none.
type Inserted<M> = Result<pool::Loan<Envelope<M>>, (Envelope<M>, Box<OutOfSlots>)>;

/// How the callbacks of a topic are told of messages.
#[derive(Clone, Copy)]
pub(crate) struct Connections<'a> {
    pub(crate) ready: &'a dyn Fn(CallbackId) -> Ready,
    pub(crate) transit: Option<&'a Arc<Transit>>,
    pub(crate) info: &'a Arc<GraphInfo>,
}

/// What freezing needs of a topic, whatever its message type.
pub(crate) trait AnyTopic: Send + Sync {
    fn connect(&self, connections: Connections<'_>);
    /// Whether an interceptor waits for its messages.
    fn is_intercepted(&self) -> bool;
    /// Delivers what the transient-local publisher with this number published so far, at `now`.
    fn start_latch(&self, number: usize, now: Time, transit: Option<&Arc<Transit>>);
    fn refused(&self) -> u64;
    /// Refuses messages from here on: the workers are gone.
    fn close(&self);
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
            closed: Flag::default(),
            latches: Mutex::default(),
            late: Mutex::default(),
            refused: Counter::default(),
            interception: Interception::default(),
            evidence,
            sequences: Mutex::default(),
            planned: Mutex::default(),
            plan: OnceLock::new(),
        }
    }

    /// Adds a subscription and returns its end of the queue. It will keep up to `kept` messages
    /// that it took from there. If `remote` brings what is published in the process, too, the topic
    /// does not.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
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
        self: &Arc<Self>,
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
        let holder = self.add_holder(callback, qos, kept);
        let inlet = Inlet {
            queue: consumer,
            permits: permits.clone(),
            counters: counters.clone(),
            topic: self.clone(),
            lent: Some(holder.clone()),
            holder,
            remote: None,
        };
        let transient_local = qos.is_transient_local();
        let about = Arc::new(About { callback, counters, transient_local });
        (Subscription { queue, permits, about }, inlet)
    }

    /// Hands `message`, which is event `id`, to the one subscription of a private topic: a
    /// service's requests, a client's responses.
    ///
    /// # Errors
    /// Why it is not taken; the message is handed back.
    pub(crate) fn send(&self, id: EventId, message: M) -> Result<(), (Unsent, M)> {
        self.send_after(message, |_| id)
    }

    /// As [`send`](Self::send), with `prepare` called once it is certain that the message will be
    /// sent, and before it is; returns the message's identity.
    pub(crate) fn send_after(
        &self,
        message: M,
        prepare: impl FnOnce(&mut M) -> EventId,
    ) -> Result<(), (Unsent, M)> {
        match self.reserve() {
            Ok([port]) => match self.insert(Envelope::lasting(EventId::default(), message)) {
                Ok(mut envelope) => {
                    envelope.id = prepare(&mut envelope.message);
                    port.deliver(Message::new(envelope.share()));
                    Ok(())
                }
                Err((envelope, _)) => {
                    port.subscription.cancel();
                    Err((Unsent::Full, envelope.message))
                }
            },
            Ok(_) => Err((Unsent::NobodyThere, message)),
            Err(Refusal::NotFrozen) => Err((Unsent::NotFrozen, message)),
            Err(Refusal::Full) => Err((Unsent::Full, message)),
            Err(Refusal::Gone) => Err((Unsent::Gone, message)),
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

    /// A message that no subscription receives. Where there is one, the digest sees the message as
    /// a dispatch; here its identity stands for it, unless its publisher shows all of it.
    #[cold]
    fn note_unheard(&self, id: EventId) {
        if self.evidence.is_collecting() && !name::is_internal(&self.name) {
            self.evidence.add_unheard(id);
        }
    }

    /// The subscriptions, with a place reserved in each that would refuse a message.
    #[inline]
    fn reserve(&self) -> Result<&[Port<M>], Refusal> {
        let Some(ports) = self.ports.get() else { return Err(Refusal::NotFrozen) };
        if self.closed.is_raised() {
            return Err(Refusal::Gone);
        }
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
    Gone,
}

/// Why a topic does not take a message now.
#[derive(Clone, Copy)]
enum Refusal {
    NotFrozen,
    Full,
    Gone,
}

impl Refusal {
    /// The error that hands `message` back.
    #[cold]
    fn of<M>(self, message: ReturnedMessage<M>) -> PublishError<M> {
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
    let mut ahead = Ahead(others.iter().chain([last]));
    for port in ahead.0.by_ref().take(others.len()) {
        port.deliver(Message::new(envelope.clone()));
    }
    if let Some(last) = ahead.0.next() {
        last.deliver(Message::new(envelope));
    }
}

impl<M: Send + Sync + 'static> AnyTopic for Topic<M> {
    fn connect(&self, connections: Connections<'_>) {
        let mut subscriptions = lock(&self.subscriptions);
        let latches = lock(&self.latches).clone();
        let late = lock(&self.late);
        self.plan(connections.info, connections.transit);
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

    fn close(&self) {
        self.closed.raise();
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
        Some(Message::new(oldest))
    }
}

#[cfg(test)]
mod tests;
