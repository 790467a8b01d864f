//! A subscription whose messages are awaited.

use crate::context::Context;
use crate::control::CallbackCounters;
use crate::endpoints::Declared;
use crate::event_loop::{Entity, Outcome};
use crate::graph::CreateError;
use crate::lock::lock;
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::topic::SubscriptionReceiver;
use futures_core::Stream;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{self, Poll, Waker};

/// The messages of a topic, to be awaited in a task; it never ends.
///
/// The arrival of a message is an event of the loop, and waking the task that awaits it another.
/// Messages that are not awaited in time are kept as the subscription's QoS says.
pub struct MessageStream<M>(Arc<Mutex<Buffer<M>>>);

/// Messages between their event and the task.
struct Buffer<M> {
    messages: VecDeque<Message<M>>,
    depth: usize,
    waker: Option<Waker>,
}

impl<M> MessageStream<M> {
    /// The next message. Cancel safe: a message is taken only when it is returned.
    pub async fn next(&mut self) -> Message<M> {
        poll_fn(|cx| self.poll_message(cx)).await
    }

    fn poll_message(&mut self, cx: &task::Context<'_>) -> Poll<Message<M>> {
        let mut buffer = lock(&self.0);
        match buffer.messages.pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                buffer.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<M> Stream for MessageStream<M> {
    type Item = Message<M>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<Message<M>>> {
        self.get_mut().poll_message(cx).map(Some)
    }
}

impl<M> fmt::Debug for MessageStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = lock(&self.0).messages.len();
        f.debug_struct("MessageStream").field("waiting", &waiting).finish()
    }
}

struct StreamEntity<M> {
    receiver: SubscriptionReceiver<M>,
    buffer: Arc<Mutex<Buffer<M>>>,
    counters: Arc<CallbackCounters>,
}

impl<S, M: Send + Sync + 'static> Entity<S> for StreamEntity<M> {
    fn dispatch(&mut self, _port: usize, _state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let Some(message) = self.receiver.take_fresh(cx) else {
            return Outcome::Nothing;
        };
        cx.begin(message.id());
        let mut buffer = lock(&self.buffer);
        let oldest = match buffer.messages.len() == buffer.depth {
            true => buffer.messages.pop_front(),
            false => None,
        };
        buffer.messages.push_back(message);
        let waker = buffer.waker.take();
        drop(buffer);
        if oldest.is_some() {
            self.counters.overwritten.next();
        }
        if let Some(waker) = waker {
            waker.wake();
        }
        Outcome::Done(Ok(()))
    }

    fn discard(&mut self, _port: usize) -> bool {
        self.receiver.take_unheld().is_some()
    }

    fn retire(&mut self) {
        let mut buffer = lock(&self.buffer);
        let (messages, waker) = (std::mem::take(&mut buffer.messages), buffer.waker.take());
        drop(buffer);
        drop((messages, waker)); // the user's, so not under the lock
    }

    fn pending(&self, _port: usize) -> usize {
        self.receiver.pending()
    }
}

impl<S: Send + 'static> Node<S> {
    /// Subscribes to `topic` for a [task](Node::spawn) that awaits its messages.
    ///
    /// Up to the depth of `qos` messages wait for their event, and as many for the task; then the
    /// oldest is overwritten and counted. A history of keep-all bounds the first kind only.
    ///
    /// # Errors
    /// As [`create_subscription`](Node::create_subscription).
    pub fn create_stream<M>(&self, topic: &str, qos: QoS) -> Result<MessageStream<M>, CreateError>
    where
        M: Send + Sync + 'static,
    {
        let declared = self.declare_subscription::<M>("stream", topic, qos)?;
        let Declared { mut builder, topic, callback, counters, remote } = declared;
        let receiver = topic.subscribe(callback, qos, qos.depth(), counters.clone(), remote);
        let messages = VecDeque::with_capacity(qos.depth());
        let buffer = Arc::new(Mutex::new(Buffer { messages, depth: qos.depth(), waker: None }));
        let entity = StreamEntity { receiver, buffer: buffer.clone(), counters };
        builder.body::<S>(self.event_loop()).add(Box::new(entity));
        Ok(MessageStream(buffer))
    }
}
