//! Topics: the way of a message from `publish` to the event loops of its subscriptions.
//!
//! While the graph is built, a topic collects its subscriptions. Freezing turns them into ports,
//! and from then on a publisher finds everything it needs in one slice: nothing is looked up,
//! locked or allocated on the way.

use crate::control::CallbackCounters;
use crate::event::{CallbackId, EventId, SourceId};
use crate::message::{Envelope, Message};
use crate::qos::{History, QoS};
use ringspin_ringbuf::keep_last::{self, Pushed};
use ringspin_ringbuf::{Counter, Permits, Pool, ReadySet, Shared, pool, ready};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// How an event loop is told that one of its callbacks has an event.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) ring: ready::Producer,
    pub(crate) set: Arc<ReadySet>,
    /// The ring's index in the set.
    pub(crate) index: usize,
    /// The callback, as its worker numbers it.
    pub(crate) token: u32,
}

impl Ready {
    /// Makes one event of the callback ready, and wakes its worker if that sleeps.
    #[inline]
    pub(crate) fn announce(&self) {
        // The ring has a place for every message of every queue and for every timer.
        self.ring.push(self.token).expect("a ready ring holds a token for each queued event");
        self.set.mark(self.index);
    }
}

/// A topic with messages of type `M`.
pub(crate) struct Topic<M> {
    pub(crate) name: Arc<str>,
    pool: Pool<Envelope<M>>,
    subscriptions: Mutex<Vec<Subscription<M>>>,
    ports: OnceLock<Box<[Port<M>]>>,
    /// Messages handed back because a keep-all subscription was full.
    refused: Counter,
}

/// A subscription of a graph that is still being built.
struct Subscription<M> {
    callback: CallbackId,
    /// How many messages the subscription keeps besides its queue and the one that it handles.
    kept: usize,
    queue: keep_last::Producer<Envelope<M>>,
    permits: Option<Arc<Permits>>,
    counters: Arc<CallbackCounters>,
}

/// A subscription of the frozen graph.
struct Port<M> {
    subscription: Subscription<M>,
    ready: Ready,
}

/// What freezing needs of a topic, whatever its message type.
pub(crate) trait AnyTopic: Send + Sync {
    fn connect(&self, ready: &dyn Fn(CallbackId) -> Ready);
    fn refused(&self) -> u64;
}

impl<M: Send + Sync + 'static> Topic<M> {
    pub(crate) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            pool: Pool::new(),
            subscriptions: Mutex::new(Vec::new()),
            ports: OnceLock::new(),
            refused: Counter::default(),
        }
    }

    /// Adds a subscription and returns its end of the queue. It will keep up to `kept` messages
    /// that it took from there.
    pub(crate) fn subscribe(
        &self,
        callback: CallbackId,
        qos: QoS,
        kept: usize,
        counters: Arc<CallbackCounters>,
    ) -> Inlet<M> {
        let (queue, consumer) = keep_last::queue(&self.pool, qos.depth);
        let permits = match qos.history {
            History::KeepLast => None,
            History::KeepAll => Some(Arc::new(Permits::new(qos.depth as u32))),
        };
        let inlet = Inlet { queue: consumer, permits: permits.clone() };
        let subscription = Subscription { callback, kept, queue, permits, counters };
        self.subscriptions.lock().expect("nothing panics under this lock").push(subscription);
        inlet
    }

    /// Hands `message`, which is event `id`, to the one subscription of a private topic: a
    /// service's requests, a client's responses.
    ///
    /// # Errors
    /// Why it is not taken; the message is handed back.
    pub(crate) fn send(&self, id: EventId, message: M) -> Result<(), (Unsent, M)> {
        match self.reserve() {
            Ok([port]) => {
                port.deliver(Message(self.pool.insert(Envelope { id, message })));
                Ok(())
            }
            Ok(_) => Err((Unsent::NobodyThere, message)),
            Err(Refusal::NotFrozen) => Err((Unsent::NotFrozen, message)),
            Err(Refusal::Full) => Err((Unsent::Full, message)),
        }
    }

    /// Whether anyone receives what is sent; false until the graph is frozen.
    pub(crate) fn is_subscribed(&self) -> bool {
        self.ports.get().is_some_and(|ports| !ports.is_empty())
    }

    /// The subscriptions, with a place reserved in each that would refuse a message.
    #[inline]
    fn reserve(&self) -> Result<&[Port<M>], Refusal> {
        let Some(ports) = self.ports.get() else { return Err(Refusal::NotFrozen) };
        for (n, port) in ports.iter().enumerate() {
            if !port.subscription.reserve() {
                ports[..n].iter().for_each(|port| port.subscription.cancel());
                self.refused.next();
                return Err(Refusal::Full);
            }
        }
        Ok(ports)
    }
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
fn deliver<M>(envelope: Shared<Envelope<M>>, last: &Port<M>, others: &[Port<M>]) {
    for port in others {
        port.deliver(Message(envelope.clone()));
    }
    last.deliver(Message(envelope));
}

impl<M: Send + Sync + 'static> AnyTopic for Topic<M> {
    fn connect(&self, ready: &dyn Fn(CallbackId) -> Ready) {
        let mut subscriptions = self.subscriptions.lock().expect("nothing panics under this lock");
        // Each queue may be full while each subscription handles a message and one is on its way.
        let in_use = subscriptions.iter().map(|s| s.queue.depth() + s.kept + 1);
        self.pool.reserve(in_use.sum::<usize>() + 1);
        let port = |s: Subscription<M>| Port { ready: ready(s.callback), subscription: s };
        let ports = subscriptions.drain(..).map(port).collect();
        assert!(self.ports.set(ports).is_ok(), "a graph is frozen once");
    }

    fn refused(&self) -> u64 {
        self.refused.get()
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
}

impl<M> Port<M> {
    #[inline]
    fn deliver(&self, message: Message<M>) {
        match self.subscription.queue.push(message.0) {
            Pushed::Grew => self.ready.announce(),
            Pushed::Overwrote(oldest) => {
                self.subscription.counters.overwritten.next();
                drop(oldest);
            }
        }
    }
}

/// A subscription's end of its queue.
pub(crate) struct Inlet<M> {
    queue: keep_last::Consumer<Envelope<M>>,
    permits: Option<Arc<Permits>>,
}

impl<M> Inlet<M> {
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Message<M>> {
        let message = self.queue.take()?;
        if let Some(permits) = &self.permits {
            permits.release();
        }
        Some(Message(message))
    }
}

/// Publishes messages of type `M` on a topic; from any thread, and cheap to clone.
///
/// One thread's messages never overtake each other. Clones are the same publisher: they share its
/// sequence numbers.
pub struct Publisher<M> {
    topic: Arc<Topic<M>>,
    source: SourceId,
    sequence: Arc<Counter>,
}

impl<M> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        let Self { topic, source, sequence } = self;
        Self { topic: topic.clone(), source: *source, sequence: sequence.clone() }
    }
}

impl<M> fmt::Debug for Publisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("topic", &self.topic.name).finish_non_exhaustive()
    }
}

impl<M: Send + Sync + 'static> Publisher<M> {
    pub(crate) fn new(topic: Arc<Topic<M>>, source: SourceId) -> Self {
        Self { topic, source, sequence: Arc::default() }
    }

    /// Hands `message` to every subscription of the topic: to all of them, or, on an error, to
    /// none.
    ///
    /// The message is moved once and then shared. Lock-free, and without allocation unless
    /// callbacks keep so many messages that the topic's pool has to grow. Time is proportional to
    /// the number of subscriptions. A keep-last subscription that is full gives up its oldest
    /// message, which is counted.
    ///
    /// # Errors
    /// [`PublishError`] hands the message back when the graph is not frozen yet, or a keep-all
    /// subscription is full.
    #[inline]
    pub fn publish(&self, message: M) -> Result<(), PublishError<M>> {
        let ports = match self.topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(message)),
        };
        let id = self.next_id();
        if let Some((last, others)) = ports.split_last() {
            deliver(self.topic.pool.insert(Envelope { id, message }), last, others);
        }
        Ok(())
    }

    /// As [`publish`](Self::publish), with `prepare` called once it is certain that all take the
    /// message, and before any of them has it.
    pub(crate) fn publish_after(
        &self,
        message: M,
        prepare: impl FnOnce(),
    ) -> Result<(), PublishError<M>> {
        let ports = match self.topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(message)),
        };
        prepare();
        let id = self.next_id();
        if let Some((last, others)) = ports.split_last() {
            deliver(self.topic.pool.insert(Envelope { id, message }), last, others);
        }
        Ok(())
    }

    /// Lends a message of the topic's pool, to be filled in place and [published](Loan::publish).
    ///
    /// It holds what an earlier loaned message was left with, or else the default: overwrite all
    /// that matters. Buffers in it keep their capacity, so in the steady state even messages with a
    /// `Vec` or `String` allocate nothing.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("camera", ())?;
    /// let out = node.create_publisher::<Vec<u8>>("image", QoS::sensor_data())?;
    /// let mut image = out.loan();
    /// image.clear();
    /// image.extend([1, 2, 3]);
    /// # let _ =
    /// image.publish();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn loan(&self) -> Loan<'_, M>
    where
        M: Default,
    {
        let empty = || Envelope { id: EventId::default(), message: M::default() };
        Loan { publisher: self, envelope: self.topic.pool.loan(empty) }
    }

    fn next_id(&self) -> EventId {
        EventId { source: self.source, sequence: self.sequence.next() }
    }

    /// The topic's fully qualified name.
    pub fn topic(&self) -> &str {
        &self.topic.name
    }
}

/// A message on loan from its publisher: filled in place, then published, or dropped unpublished.
pub struct Loan<'a, M> {
    publisher: &'a Publisher<M>,
    envelope: pool::Loan<Envelope<M>>,
}

impl<M: Send + Sync + Default + 'static> Loan<'_, M> {
    /// As [`Publisher::publish`], without moving the message.
    ///
    /// # Errors
    /// As [`Publisher::publish`]; the message is handed back.
    #[inline]
    pub fn publish(mut self) -> Result<(), PublishError<M>> {
        let topic = &*self.publisher.topic;
        let ports = match topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(std::mem::take(&mut *self))),
        };
        self.envelope.id = self.publisher.next_id();
        if let Some((last, others)) = ports.split_last() {
            deliver(self.envelope.share(), last, others);
        }
        Ok(())
    }
}

impl<M> std::ops::Deref for Loan<'_, M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.envelope.message
    }
}

impl<M> std::ops::DerefMut for Loan<'_, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut M {
        &mut self.envelope.message
    }
}

impl<M: fmt::Debug> fmt::Debug for Loan<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Why a message was not published; it is handed back, boxed so that the good result stays small.
pub enum PublishError<M> {
    /// The graph is still being built: publish from callbacks, or after `freeze`.
    NotFrozen(Box<M>),
    /// A keep-all subscription holds as many messages as its limit.
    Full(Box<M>),
}

impl<M> PublishError<M> {
    /// The message that was not published.
    pub fn into_message(self) -> M {
        match self {
            Self::NotFrozen(message) | Self::Full(message) => *message,
        }
    }
}

impl<M> fmt::Debug for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFrozen(_) => "NotFrozen(..)",
            Self::Full(_) => "Full(..)",
        })
    }
}

impl<M> fmt::Display for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFrozen(_) => {
                "the graph is still being built: publish from a callback, or freeze the graph first"
            }
            Self::Full(_) => {
                "a keep-all subscription is full: raise its limit or publish more slowly"
            }
        })
    }
}

impl<M> std::error::Error for PublishError<M> {}
