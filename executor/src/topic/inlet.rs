//! The way out of a topic: what an event loop takes, from the process or from outside.

use crate::context::Context;
use crate::control::CallbackCounters;
use crate::message::{Envelope, Message};
use crate::middleware::Remote;
use ringspin_ringbuf::{Permits, Pool, keep_last};
use std::sync::Arc;

/// A subscription's end of its queue.
pub(crate) struct Inlet<M> {
    pub(super) queue: keep_last::Consumer<Envelope<M>>,
    pub(super) permits: Option<Arc<Permits>>,
    pub(super) counters: Arc<CallbackCounters>,
    /// For what comes from outside.
    pub(super) pool: Pool<Envelope<M>>,
    pub(super) remote: Option<Box<Remote<M>>>,
}

impl<M: 'static> Inlet<M> {
    /// As [`take_next`](Self::take_next), unless the message is older than its lifespan; that is
    /// counted.
    #[inline]
    pub(crate) fn take_fresh(&mut self, cx: &mut Context<'_>) -> Option<Message<M>> {
        let message = self.take_next(cx)?;
        if message.0.expiry.has_passed(|| cx.now()) {
            self.counters.expired.add_by_owner(1);
            return None;
        }
        Some(message)
    }

    /// The next message; tells `cx` whether there may be another one.
    #[inline]
    pub(crate) fn take_next(&mut self, cx: &mut Context<'_>) -> Option<Message<M>> {
        let message = self.take();
        cx.is_pending = self.remote.is_some() || !self.queue.is_empty();
        message
    }

    /// How many messages of the process wait, at least: one, if any does. The worker knows the
    /// notice of a middleware itself.
    pub(crate) fn pending(&self) -> usize {
        self.queue.waiting()
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<Message<M>> {
        match self.remote {
            None => self.take_queued(),
            Some(_) => self.take_either(),
        }
    }

    /// The next message of the process, or from outside: in turns, if there are both. A token
    /// stands for either.
    fn take_either(&mut self) -> Option<Message<M>> {
        let has_turn = self.remote.as_ref().is_some_and(|remote| remote.has_turn);
        if has_turn && self.take_notice() {
            return self.fetch();
        }
        if let Some(message) = self.take_queued() {
            self.remote.as_mut()?.has_turn = true;
            return Some(message);
        }
        // Whoever takes the notice has used up the token, and looks no further.
        if self.take_notice() { self.fetch() } else { None }
    }

    fn take_notice(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.take_notice())
    }

    fn fetch(&mut self) -> Option<Message<M>> {
        let remote = self.remote.as_mut()?;
        remote.has_turn = false;
        let arrival = remote.fetch();
        if arrival.overwritten > 0 {
            self.counters.overwritten.add(arrival.overwritten);
        }
        if arrival.lost > 0 {
            self.counters.lose(arrival.lost);
        }
        let (id, item) = (arrival.id?, remote.take_fetched()?);
        Some(Message(self.pool.insert(Envelope::lasting(id, item))))
    }

    #[inline]
    fn take_queued(&mut self) -> Option<Message<M>> {
        let message = self.queue.take()?;
        if let Some(permits) = &self.permits {
            permits.release();
        }
        Some(Message(message))
    }
}
