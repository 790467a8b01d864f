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
use ringspin_ringbuf::{Counter, Permits, Pool, ReadySet, ready};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// How an event loop is told that one of its callbacks has an event.
#[derive(Clone)]
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

    /// Adds a subscription and returns its end of the queue.
    pub(crate) fn subscribe(
        &self,
        callback: CallbackId,
        qos: QoS,
        counters: Arc<CallbackCounters>,
    ) -> Inlet<M> {
        let (queue, consumer) = keep_last::queue(&self.pool, qos.depth);
        let permits = match qos.history {
            History::KeepLast => None,
            History::KeepAll => Some(Arc::new(Permits::new(qos.depth as u32))),
        };
        let inlet = Inlet { queue: consumer, permits: permits.clone() };
        let subscription = Subscription { callback, queue, permits, counters };
        self.subscriptions.lock().expect("nothing panics under this lock").push(subscription);
        inlet
    }

    #[inline]
    fn publish(&self, id: EventId, message: M) -> Result<(), PublishError<M>> {
        let Some(ports) = self.ports.get() else {
            return Err(PublishError::NotFrozen(Box::new(message)));
        };
        for (n, port) in ports.iter().enumerate() {
            if !port.subscription.reserve() {
                ports[..n].iter().for_each(|port| port.subscription.cancel());
                self.refused.next();
                return Err(PublishError::Full(Box::new(message)));
            }
        }
        let Some((last, others)) = ports.split_last() else {
            return Ok(());
        };
        let envelope = self.pool.insert(Envelope { id, message });
        for port in others {
            port.deliver(Message(envelope.clone()));
        }
        last.deliver(Message(envelope));
        Ok(())
    }
}

impl<M: Send + Sync + 'static> AnyTopic for Topic<M> {
    fn connect(&self, ready: &dyn Fn(CallbackId) -> Ready) {
        let mut subscriptions = self.subscriptions.lock().expect("nothing panics under this lock");
        // Each queue may be full while each subscription handles a message and one is on its way.
        self.pool.reserve(subscriptions.iter().map(|s| s.queue.depth() + 1).sum::<usize>() + 1);
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
        let id = EventId { source: self.source, sequence: self.sequence.next() };
        self.topic.publish(id, message)
    }

    /// The topic's fully qualified name.
    pub fn topic(&self) -> &str {
        &self.topic.name
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
