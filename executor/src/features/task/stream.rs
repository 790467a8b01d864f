//! Subscriptions with messages that a task awaits.
//!
//! The event loop takes each message from the queue of the subscription and pushes it into the
//! queue of the stream; for a detached stream, the thread that publishes pushes there instead, in
//! the live modes. The task is the only one to take from it, on any executor of futures: it looks,
//! registers its waker and looks again, so either it sees a message or the pushing thread sees the
//! waker. The second queue is there because the worker is the only consumer of the first one, and a
//! task may run on another thread. When the entity is retired, the worker raises a flag, and the
//! task drops the rest.

use crate::base::departure::{Departure, End};
use crate::base::error::Result;
use crate::base::event::EventId;
use crate::base::qos::QoS;
use crate::base::time::{Clock, NodeClock};
use crate::delivery::context::Context;
use crate::delivery::message::{Holder, Message};
use crate::delivery::topic::{Arrivals, Awaited, Remains, SubscriptionReceiver};
use crate::features::endpoints::Declared;
use crate::running::event_loop::{Entity, Outcome};
use crate::running::node::Node;
use futures_core::Stream;
use ringspin_ringbuf::keep_last;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{self, Poll};

/// The messages of a topic, to be awaited in a task; it never ends. The subscription ends with it
/// if it was created while the graph runs, otherwise with the node.
///
/// The arrival of a message is an event of the loop, and waking the task that awaits it another;
/// for tasks of other runtimes there are [detached](Node::create_detached_stream) ones.
/// Messages that are not awaited in time are kept by the rules of the subscription's QoS. The loop
/// never waits for the thread that polls the stream, nor this one for the loop.
pub struct MessageStream<M> {
    messages: keep_last::Consumer<Message<M>>,
    awaited: Arc<Awaited>,
    /// `None` unless the stream is detached.
    detached: Option<Detached>,
    _departure: Option<Departure>,
}

/// The parts of a detached stream: messages may come to it without an event.
struct Detached {
    holder: Weak<Holder>,
    clock: NodeClock,
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
                self.awaited.waker.register(cx.waker());
                waits().map_or(Poll::Pending, Poll::Ready)
            },
            Poll::Ready,
        )
    }

    fn poll_message(&mut self, cx: &task::Context<'_>) -> Poll<Message<M>> {
        if let Some(message) = self.take() {
            return Poll::Ready(message);
        }
        self.awaited.waker.register(cx.waker());
        // A message that came before the waker did woke no task.
        self.take().map_or(Poll::Pending, Poll::Ready)
    }

    fn take(&mut self) -> Option<Message<M>> {
        if self.awaited.is_retired.is_raised() {
            while self.messages.take().is_some() {}
        }
        loop {
            let mut message = (*self.messages.take()?).clone();
            let Some(Detached { holder, clock }) = &self.detached else { return Some(message) };
            let holder = message.1.take().or_else(|| holder.upgrade());
            if !message.0.expiry.has_passed(|| clock.now()) {
                message.1 = holder;
                return Some(message);
            }
            if let Some(holder) = holder {
                holder.counters.expired.next();
            }
        }
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
    arrivals: Arc<Arrivals<M>>,
}

impl<S, M: Send + Sync + 'static> Entity<S> for StreamEntity<M> {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(message) = self.receiver.take_fresh(cx) else {
            return Outcome::Nothing;
        };
        cx.begin_with(&message);
        drop(self.arrivals.push(message));
        Outcome::Done
    }

    fn discard(&mut self, _port: usize) -> Option<EventId> {
        self.receiver.take_unheld().map(|message| message.id())
    }

    fn retire(&mut self) {
        self.arrivals.retire();
    }

    fn pending(&self, _port: usize) -> usize {
        self.receiver.pending()
    }

    fn remains(mut self: Box<Self>) -> Option<Box<dyn Remains>> {
        self.receiver.detach();
        Some(Box::new(self.receiver))
    }
}

impl<M: Send + Sync + 'static> MessageStream<M> {
    pub(crate) fn create<S>(
        node: &Node<S>,
        topic: &str,
        qos: QoS,
        is_detached: bool,
    ) -> Result<Self>
    where
        S: Send + 'static,
    {
        let declared = node.handle.declare_subscription::<M>("stream", topic, qos)?;
        let Declared { mut builder, topic, callback, counters, remote } = declared;
        let (arrivals, messages) = Arrivals::new(qos.depth(), counters.clone());
        let (awaited, arrivals) = (arrivals.awaited().clone(), Arc::new(arrivals));
        let to = is_detached.then(|| arrivals.clone());
        let receiver = topic.subscribe((callback, qos), qos.depth(), counters, remote, to);
        let holder = receiver.holder();
        let detached = is_detached.then(|| Detached { holder, clock: builder.clock.clone() });
        let entity = StreamEntity { receiver, arrivals };
        builder.add_entity::<S>(node.event_loop(), Box::new(entity));
        let _departure = node.handle.graph.late_departure(&builder, End::Awaited(callback));
        Ok(MessageStream { messages, awaited, detached, _departure })
    }
}
