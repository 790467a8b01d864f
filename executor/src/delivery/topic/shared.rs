//! A topic of one name in several graphs of a domain.
//!
//! Each graph has a [`Topic`], whose list of ports also has the connected ports of the other
//! graphs. So a publisher finds all subscriptions in the one list that it reads anyway, and a
//! message enters the queue and the ready ring of another executor in the same way: without a copy,
//! with one order for each publisher. For that the topics share one pool.
//!
//! The thread that changes the ports of one topic writes the lists of all of them under one lock,
//! which no publisher takes. That thread holds the lock of one graph only, so threads that change
//! several graphs do not wait for each other in a circle. Replaced lists are garbage of the graph
//! that reads them; the thread collects it after the unlock of its graph
//! ([`Domain`](crate::delivery::domain::Domain)).

use super::{Port, Ports, Refusal, Topic};
use crate::base::lock::lock;
use crate::delivery::message::Envelope;
use ringspin_ringbuf::Pool;
use std::ptr;
use std::sync::{Arc, Mutex, Weak};

/// The topics of one name in the graphs of a domain.
pub(crate) struct SharedTopic<M> {
    pub(super) pool: Pool<Envelope<M>>,
    members: Mutex<Vec<Member<M>>>,
}

struct Member<M> {
    topic: Weak<Topic<M>>,
    /// The connected ports of the topic's graph.
    ports: Vec<Port<M>>,
}

impl<M> Default for SharedTopic<M> {
    fn default() -> Self {
        Self { pool: Pool::new(), members: Mutex::default() }
    }
}

impl<M: Send + Sync + 'static> SharedTopic<M> {
    /// Adds a topic that was created with this.
    pub(crate) fn join(&self, topic: &Arc<Topic<M>>) {
        let member = Member { topic: Arc::downgrade(topic), ports: Vec::new() };
        let mut members = lock(&self.members);
        members.retain(|of| of.topic.strong_count() > 0); // executors that never started
        members.push(member);
    }

    /// The topics of all graphs. To be dropped without a lock.
    pub(super) fn topics(&self) -> Vec<Arc<Topic<M>>> {
        lock(&self.members).iter().filter_map(|member| member.topic.upgrade()).collect()
    }

    /// Changes the own ports of `topic`, and hands the ports to the topics of all graphs. The ports
    /// in `joining` get the messages that transient-local publishers keep.
    pub(super) fn change(
        &self,
        topic: &Topic<M>,
        joining: &[Port<M>],
        closed: Option<Refusal>,
        change: impl FnOnce(&mut Vec<Port<M>>),
    ) {
        let topics = self.topics();
        let mut members = lock(&self.members);
        let Some(own) = members.iter_mut().find(|of| ptr::eq(of.topic.as_ptr(), topic)) else {
            return; // it has left
        };
        change(&mut own.ports);
        topic.publish_ports(ports_of(&members), closed, joining);
        hand_to_others(&members, &topics, topic, joining);
        drop(members);
        drop_later(topic, topics);
    }

    /// Ends the membership of `topic`, which keeps its own ports only.
    pub(super) fn leave(&self, topic: &Topic<M>) {
        let topics = self.topics();
        let mut members = lock(&self.members);
        let place = members.iter().position(|of| ptr::eq(of.topic.as_ptr(), topic));
        let Some(place) = place else { return };
        let own = members.remove(place);
        members.retain(|of| of.topic.strong_count() > 0);
        topic.ports.replace(Ports::new(own.ports, Some(Refusal::Gone)));
        hand_to_others(&members, &topics, topic, &[]);
        drop(members);
        drop_later(topic, topics);
    }
}

/// Drops `topics` after the unlock of the graph of `topic`: they may be the last references, and
/// the messages in them are the user's.
fn drop_later<M: Send + Sync + 'static>(topic: &Topic<M>, topics: Vec<Arc<Topic<M>>>) {
    topic.ports.domain().retire(move || drop(topics));
}

fn ports_of<M>(members: &[Member<M>]) -> Vec<Port<M>> {
    members.iter().flat_map(|member| &member.ports).cloned().collect()
}

/// Hands the ports of `members` to their `topics`, but for `topic`, which is done.
fn hand_to_others<M: Send + Sync + 'static>(
    members: &[Member<M>],
    topics: &[Arc<Topic<M>>],
    topic: &Topic<M>,
    joining: &[Port<M>],
) {
    let is_member = |of: &Topic<M>| members.iter().any(|m| ptr::eq(m.topic.as_ptr(), of));
    for of in topics.iter().filter(|of| !ptr::eq(&raw const ***of, topic) && is_member(of)) {
        let closed = of.ports.load().closed;
        of.publish_ports(ports_of(members), closed, joining);
    }
}
