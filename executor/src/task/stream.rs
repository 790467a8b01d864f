//! Subscriptions with messages that a task awaits.

use crate::context::Context;
use crate::control::CallbackCounters;
use crate::departure::{Departure, End};
use crate::endpoints::Declared;
use crate::entity::{Entity, Outcome, SubscriptionReceiver};
use crate::graph::CreateSubscriptionError;
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::remains::Remains;
use atomic_waker::AtomicWaker;
use futures_core::Stream;
use ringspin_ringbuf::keep_last::{self, Pushed};
use ringspin_ringbuf::{Flag, Pool};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

/// Messages of a stream that are in no queue: one that is pushed, one that was displaced, and one
/// that is taken.
const IN_HAND: usize = 3;

/// The messages of a topic, to be awaited in a task; it never ends. The subscription ends with it
/// if it was created while the graph runs, otherwise with the node.
///
/// The arrival of a message is an event of the loop, and waking the task that awaits it another.
/// Messages that are not awaited in time are kept by the rules of the subscription's QoS. The loop
/// never waits for the thread that polls the stream, nor this one for the loop.
pub struct MessageStream<M> {
    messages: keep_last::Consumer<Message<M>>,
    shared: Arc<Shared>,
    _departure: Option<Departure>,
}

/// The parts that the event's entity and the stream share, besides the messages between them.
#[derive(Default)]
struct Shared {
    waker: AtomicWaker,
    /// Raised when the entity is retired: messages that are left are dropped.
    retired: Flag,
}

impl<M: Send + Sync + 'static> MessageStream<M> {
    /// Waits for the next message. Cancel safe: a message is taken only when it is returned.
    pub async fn next(&mut self) -> Message<M> {
        poll_fn(|cx| self.poll_message(cx)).await
    }

    /// Is ready when a message waits, which stays: for code that hands messages over to another
    /// runtime, and has to be woken when none of its tasks waits yet.
    pub fn poll_ready(&self, cx: &task::Context<'_>) -> Poll<()> {
        let waits = || (self.messages.waiting() > 0).then_some(());
        waits().map_or_else(
            || {
                self.shared.waker.register(cx.waker());
                waits().map_or(Poll::Pending, Poll::Ready)
            },
            Poll::Ready,
        )
    }

    fn poll_message(&mut self, cx: &task::Context<'_>) -> Poll<Message<M>> {
        if let Some(message) = self.take() {
            return Poll::Ready(message);
        }
        self.shared.waker.register(cx.waker());
        // A message that came before the waker did woke no task.
        self.take().map_or(Poll::Pending, Poll::Ready)
    }

    fn take(&mut self) -> Option<Message<M>> {
        if self.shared.retired.is_raised() {
            while self.messages.take().is_some() {}
        }
        Some((*self.messages.take()?).clone())
    }
}

impl<M: Send + Sync + 'static> Stream for MessageStream<M> {
    type Item = Message<M>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<Message<M>>> {
        self.get_mut().poll_message(cx).map(Some)
    }
}

impl<M> fmt::Debug for MessageStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.messages.waiting();
        f.debug_struct("MessageStream").field("waiting", &waiting).finish()
    }
}

struct StreamEntity<M> {
    receiver: SubscriptionReceiver<M>,
    pool: Pool<Message<M>>,
    messages: keep_last::Producer<Message<M>>,
    shared: Arc<Shared>,
    counters: Arc<CallbackCounters>,
}

impl<S, M: Send + Sync + 'static> Entity<S> for StreamEntity<M> {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(message) = self.receiver.take_fresh(cx) else {
            return Outcome::Nothing;
        };
        cx.begin(message.id());
        let oldest = self.messages.push(self.pool.insert(message));
        if let Pushed::Overwrote(_) = oldest {
            self.counters.overwritten.next();
        }
        self.shared.waker.wake();
        Outcome::Done
    }

    fn discard(&mut self, _port: usize) -> bool {
        self.receiver.take_unheld().is_some()
    }

    fn retire(&mut self) {
        self.shared.retired.raise();
        drop(self.shared.waker.take());
    }

    fn pending(&self, _port: usize) -> usize {
        self.receiver.pending()
    }

    fn remains(mut self: Box<Self>) -> Option<Box<dyn Remains>> {
        self.receiver.detach();
        Some(Box::new(self.receiver))
    }
}

impl<S: Send + 'static> Node<S> {
    /// Subscribes to `topic` for a [task](Node::spawn) that awaits its messages.
    ///
    /// Up to the depth of `qos` messages wait for their event, and as many for the task; then the
    /// oldest is overwritten and counted. A history of keep-all bounds the first kind only.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Node::create_subscription).
    pub fn create_stream<M>(
        &self,
        topic: &str,
        qos: QoS,
    ) -> Result<MessageStream<M>, CreateSubscriptionError>
    where
        M: Send + Sync + 'static,
    {
        let declared = self.declare_subscription::<M>("stream", topic, qos)?;
        let Declared { mut builder, topic, callback, counters, remote } = declared;
        let receiver = topic.subscribe(callback, qos, qos.depth(), counters.clone(), remote);
        let pool = Pool::new();
        pool.reserve(qos.depth() + IN_HAND);
        let (sender, messages) = keep_last::queue(&pool, qos.depth());
        let shared = Arc::<Shared>::default();
        let entity =
            StreamEntity { receiver, pool, messages: sender, shared: shared.clone(), counters };
        builder.add_entity::<S>(self.event_loop(), Box::new(entity));
        let _departure = self.graph.late_departure(&builder, End::Awaited(callback));
        Ok(MessageStream { messages, shared, _departure })
    }
}
