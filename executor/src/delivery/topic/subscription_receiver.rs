//! The receiving end of a topic: takes messages of this process and of others for an event loop.
//! Only the worker of that loop touches it; publishers reach the queue through the other end.
//! Messages that wait are dropped with it, on the worker's thread.

use super::Topic;
use crate::base::escape::{catch_panic, drop_each};
use crate::delivery::context::Context;
use crate::delivery::message::{Envelope, Holder, Message};
use crate::delivery::remote::Remote;
use ringspin_ringbuf::{EntryLine, Next, Permits, keep_last};
use std::iter;
use std::sync::{Arc, Weak};

/// The queues of a destroyed entity, which may still get messages that are on their way.
pub(crate) trait Remains: Send {
    /// Drops the waiting messages of `port`; returns their number.
    fn drain(&mut self, port: usize) -> u64;
}

pub(crate) struct SubscriptionReceiver<M> {
    pub(super) queue: keep_last::Consumer<Envelope<M>>,
    pub(super) permits: Option<Arc<Permits>>,
    /// Gives slots to messages from other processes.
    pub(super) topic: Arc<Topic<M>>,
    pub(super) holder: Arc<Holder>,
    /// A reference to the holder for the message that a callback handles: it need not be counted
    /// for every message. `None` meanwhile, and after a panic.
    pub(super) lent: Option<Arc<Holder>>,
    pub(super) remote: Option<Box<Remote<M>>>,
}

impl<M: Send + Sync + 'static> Remains for SubscriptionReceiver<M> {
    fn drain(&mut self, _port: usize) -> u64 {
        self.drain_with(|_| ())
    }
}

impl<M: Send + Sync + 'static> SubscriptionReceiver<M> {
    /// Leaves the queue alone, when the subscription was destroyed.
    pub(crate) fn detach(&mut self) {
        self.remote = None;
    }

    /// The holder of messages that do not come through the queue.
    pub(crate) fn holder(&self) -> Weak<Holder> {
        Arc::downgrade(&self.holder)
    }

    /// Drops the waiting messages, each after `end`; returns their number.
    pub(crate) fn drain_with(&mut self, mut end: impl FnMut(&M)) -> u64 {
        let mut drained = 0;
        // The dropped values are the user's.
        let mut drain_one = || self.take_unheld().map(|message| end(&message)).is_some();
        while catch_panic(&mut drain_one) != Ok(false) {
            drained += 1;
        }
        drained
    }

    /// The next message to be kept, unless it is older than its lifespan; that is counted.
    #[inline]
    pub(crate) fn take_fresh(&mut self, cx: &mut Context<'_>) -> Option<Message<M>> {
        let message = self.take_next(cx)?;
        (!self.has_expired(&message, cx)).then(|| self.held(message))
    }

    /// The next message for a callback, unless it is older than its lifespan. To be
    /// [put back](Self::put_back).
    #[inline]
    pub(crate) fn lend_fresh(&mut self, cx: &mut Context<'_>) -> Option<Message<M>> {
        let mut message = self.take_next(cx)?;
        if self.has_expired(&message, cx) {
            return None;
        }
        message.1 = self.lent.take().or_else(|| Some(self.holder.clone()));
        Some(message)
    }

    /// Drops a message that was lent.
    #[inline]
    pub(crate) fn put_back(&mut self, mut message: Message<M>) {
        self.lent = message.1.take();
    }

    #[inline]
    fn held(&self, message: Message<M>) -> Message<M> {
        Message(message.0, Some(self.holder.clone()))
    }

    fn has_expired(&self, message: &Message<M>, cx: &Context<'_>) -> bool {
        let has_expired = message.0.expiry.has_passed(|| cx.now());
        if has_expired {
            self.holder.counters.expired.add_by_owner(1);
        }
        has_expired
    }

    /// The next message, to be dropped at once or given to a holder; tells `cx` whether there may
    /// be another one.
    #[inline]
    pub(crate) fn take_next(&mut self, cx: &mut Context<'_>) -> Option<Message<M>> {
        let message = self.take_unheld();
        cx.is_pending = self.remote.is_some() || !self.queue.is_empty();
        if cx.recorder.is_some()
            && let Some(message) = &message
        {
            cx.dispatch.event = message.id(); // also of one without a call
        }
        message
    }

    /// Takes the next message like [`take_next`](Self::take_next), to be kept.
    #[inline]
    pub(crate) fn take_next_to_keep(&mut self, cx: &mut Context<'_>) -> Option<Message<M>> {
        let message = self.take_next(cx)?;
        Some(self.held(message))
    }

    /// A lower bound of the waiting messages of the process: at least one, if any does. The worker
    /// itself knows whether the middleware has announced more.
    pub(crate) fn pending(&self) -> usize {
        self.queue.waiting()
    }

    pub(crate) fn entry_line(&self) -> EntryLine {
        self.queue.entry_line()
    }

    /// The next message, to be kept.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Message<M>> {
        let message = self.take_unheld()?;
        Some(self.held(message))
    }

    /// The next message, to be dropped at once or given to a holder.
    #[inline]
    pub(crate) fn take_unheld(&mut self) -> Option<Message<M>> {
        let Self { queue, permits, remote, .. } = self;
        let mut take_queued = || take_queued(queue, permits.as_deref());
        let Some(remote) = remote else { return take_queued() };
        match remote.next(take_queued) {
            Next::Queued(message) => Some(message),
            Next::Announced => self.fetch(),
            Next::Nothing => None,
        }
    }

    fn fetch(&mut self) -> Option<Message<M>> {
        let remote = self.remote.as_mut()?;
        let arrival = remote.fetch();
        if arrival.overwritten > 0 {
            self.holder.counters.overwritten.add(arrival.overwritten);
        }
        if arrival.lost > 0 {
            self.holder.counters.lose(arrival.lost);
        }
        let (id, item) = (arrival.id?, remote.take_fetched()?);
        match self.topic.insert(Envelope::lasting(id, item)) {
            Ok(envelope) => {
                let envelope = envelope.share();
                if let Some(times) = &self.holder.times {
                    times.note_remote(envelope.slot_index(), remote.times());
                }
                Some(Message::new(envelope))
            }
            Err((_, out_of_slots)) => {
                if self.holder.counters.lost.get() == 0 {
                    tracing::warn!(
                        %out_of_slots,
                        "lost messages of other processes: no message slot is free"
                    );
                }
                self.holder.counters.lose(1);
                None
            }
        }
    }
}

impl<M> Drop for SubscriptionReceiver<M> {
    /// Drops the messages that wait: their loop reports panics, the topic would drop them anywhere.
    fn drop(&mut self) {
        // No more than wait now, because a drop may publish.
        let waiting = self.queue.waiting();
        drop_each(iter::from_fn(|| self.queue.take()).take(waiting));
    }
}

/// Takes the next message of the process.
#[inline]
fn take_queued<M>(
    queue: &mut keep_last::Consumer<Envelope<M>>,
    permits: Option<&Permits>,
) -> Option<Message<M>> {
    let message = queue.take()?;
    if let Some(permits) = permits {
        permits.release();
    }
    Some(Message::new(message))
}
