//! Publishers and subscriptions.

use super::{Event, Reference, Token, of};
use crate::spec::{self, KEPT, TRANSIENT_LOCAL_TOPIC};
use std::collections::VecDeque;

pub(super) struct Publisher {
    node: usize,
    topic: usize,
    /// Whether its handle was dropped.
    pub(super) is_gone: bool,
    source: u32,
    published: u64,
    /// Its newest messages, if it is transient-local.
    kept: VecDeque<Event>,
}

pub(super) struct Subscription {
    pub(super) callback: usize,
    pub(super) queue: VecDeque<Event>,
    spec: spec::Subscription,
}

impl Reference<'_> {
    pub(super) fn create_publisher(&mut self, node: usize, topic: usize) {
        let (source, kept) = (self.source(), VecDeque::new());
        self.publishers.push(Publisher { node, topic, is_gone: false, source, published: 0, kept });
    }

    /// Adds a subscription. A transient-local one gets the messages that publishers keep.
    pub(super) fn subscribe(&mut self, node: usize, spec: spec::Subscription) {
        let (callback, queue) = (self.callback(node), VecDeque::new());
        self.subscriptions.push(Subscription { callback, queue, spec });
        if self.running {
            let last = self.subscriptions.len() - 1;
            (0..self.publishers.len()).for_each(|publisher| self.replay(publisher, last));
        }
    }

    /// Messages from before the start reach the transient-local subscriptions.
    pub(super) fn start_publishers(&mut self) {
        for publisher in 0..self.publishers.len() {
            (0..self.subscriptions.len()).for_each(|n| self.replay(publisher, n));
        }
    }

    /// Delivers the newest messages that a publisher keeps, as many as the subscription holds.
    fn replay(&mut self, publisher: usize, n: usize) {
        let Publisher { topic, is_gone, kept, .. } = &self.publishers[publisher];
        let Subscription { callback, spec, .. } = self.subscriptions[n];
        if *is_gone || self.is_gone(callback) || spec.topic != *topic || !spec.transient_local {
            return;
        }
        let too_many = kept.len().saturating_sub(spec.depth);
        self.callbacks[callback].overwritten += too_many as u64;
        for event in kept.clone().into_iter().skip(too_many) {
            match self.is_full(n) {
                true => self.callbacks[callback].overwritten += 1,
                false => self.deliver(n, event),
            }
        }
    }

    /// Whether a subscription takes no further message.
    fn is_full(&self, n: usize) -> bool {
        let Subscription { queue, spec, .. } = &self.subscriptions[n];
        spec.keep_all && queue.len() == spec.depth
    }

    /// Publishes by the `index`th publisher of `node`: to all subscriptions, or, if one is full, to
    /// none.
    pub(super) fn publish(&mut self, node: usize, index: usize) {
        let own = self.publishers.iter().enumerate();
        let own = own.filter(|(_, of)| of.node == node && !of.is_gone).map(|(n, _)| n);
        let own: Vec<_> = own.collect();
        of(index, own.len(), |n| self.publish_by(own[n]));
    }

    fn publish_by(&mut self, publisher: usize) {
        let topic = self.publishers[publisher].topic;
        let is_transient_local = topic == TRANSIENT_LOCAL_TOPIC;
        if !self.running && !is_transient_local {
            return;
        }
        let mut receivers = Vec::new();
        if self.running {
            let all = self.subscriptions.iter().enumerate();
            let all = all.filter(|(_, of)| of.spec.topic == topic && !self.is_gone(of.callback));
            receivers.extend(all.map(|(n, _)| n));
        }
        if receivers.iter().any(|n| self.is_full(*n)) {
            self.outcome.refused += 1;
            return;
        }
        let of = &mut self.publishers[publisher];
        let event = (of.source, of.published);
        of.published += 1;
        if is_transient_local {
            of.kept.push_back(event);
            of.kept.drain(..of.kept.len().saturating_sub(KEPT));
        }
        receivers.into_iter().for_each(|n| self.deliver(n, event));
    }

    /// Appends to a queue, which may displace its oldest message.
    fn deliver(&mut self, n: usize, event: Event) {
        let Subscription { callback, queue, spec } = &mut self.subscriptions[n];
        queue.push_back(event);
        if queue.len() > spec.depth {
            queue.pop_front();
            self.callbacks[*callback].overwritten += 1;
        } else {
            self.push(Token::Message(n));
        }
    }

    pub(super) fn take_message(&mut self, n: usize) {
        let Subscription { callback, queue, .. } = &mut self.subscriptions[n];
        let callback = *callback;
        let event = queue.pop_front().expect("one token, one message");
        if !self.is_gone(callback) {
            self.call_back(callback, event);
        }
    }
}
