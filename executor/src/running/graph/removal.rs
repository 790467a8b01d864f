//! The destruction of entities: the graph forgets them at once, their workers in steps.
//!
//! 1. Under the graph's lock, the entity leaves all lists, and its worker is told. When the lock
//!    ends, its topic has one port less.
//! 2. At its next quiescent point the worker drops the entity but for its queues: the callback is
//!    not called any more. The messages that wait are counted and dropped.
//! 3. Threads that were publishing may still push into the queue; the worker drops that as it is
//!    announced. When none can do so any more, the last handle of the token is dropped, and the
//!    token can be used again.

use super::{CallbackSpec, Graph, GraphBuilder, ServiceSpec, TopicSpec};
use crate::base::departure::{End, Registration};
use crate::base::event::{CallbackId, LoopId, SourceId};
use crate::base::name;
use crate::base::qos::QoS;
use crate::delivery::liveliness::PublisherLiveliness;
use crate::delivery::topic::AnyTopic;
use std::any::Any;
use std::mem::take;
use std::sync::{Arc, Weak};

/// The place where a callback gets its messages.
pub(crate) enum Receives {
    /// It subscribes to a topic of the graph with this QoS.
    Topic(Arc<dyn AnyTopic>, String, QoS),
    /// It answers the requests for a service.
    Service(Arc<dyn AnyTopic>, String),
    /// It gets the responses of a service.
    Responses(Arc<dyn AnyTopic>, String, u64),
    /// A topic of this name that only its node uses.
    Internal(Arc<dyn AnyTopic>, String),
}

pub(super) struct RemovedEntity {
    pub(super) event_loop: LoopId,
    pub(super) entity: u32,
    pub(super) callbacks: Vec<CallbackId>,
    /// Whether it has ended by itself.
    pub(super) by_itself: bool,
}

/// A publisher, as the graph knows it.
pub(crate) struct PublisherEnd {
    pub(crate) topic: Arc<dyn AnyTopic>,
    pub(crate) name: String,
    pub(crate) node: String,
    pub(crate) qos: QoS,
    pub(crate) liveliness: Arc<PublisherLiveliness>,
}

impl Graph {
    pub(crate) fn registration(&self, callback: CallbackId) -> Registration {
        let (builder, domain) = (Arc::downgrade(&self.builder), self.domain.clone());
        Registration::new(move || {
            if let Some(builder) = Weak::upgrade(&builder) {
                Self { builder, domain: domain.clone() }.builder().destroy(callback);
            }
        })
    }
}

impl TopicSpec {
    fn is_unused(&self) -> bool {
        // The publishers of an internal topic are of no use without its subscriptions.
        let is_published = !self.info.publishers.is_empty() || self.endpoints.is_offered();
        self.info.subscriptions.is_empty()
            && (!is_published || name::is_internal(&self.info.name))
            && !self.erased.is_intercepted()
    }
}

impl ServiceSpec {
    fn is_unused(&self) -> bool {
        self.info.server.is_none() && self.info.clients.is_empty()
    }
}

impl GraphBuilder {
    pub(crate) fn add_publisher_end(&mut self, source: SourceId, end: PublisherEnd) {
        self.publishers.insert(source, end);
        self.own(End::Publisher(source));
    }

    /// Removes the ends without handles.
    pub(super) fn handle_departures(&mut self) {
        for departed in self.departures.take() {
            self.end(departed);
        }
    }

    fn end(&mut self, end: End) {
        match end {
            End::Publisher(source) => self.remove_publisher(source),
            End::Entity(callback) => self.destroy(callback),
            End::Awaited(callback) => self.remove_entity(callback, true),
        }
    }

    /// Ends everything that belongs to `owner`, which has ended.
    fn end_owned(&mut self, owner: End) {
        self.owned.remove(&owner).into_iter().flatten().for_each(|end| self.end(end));
    }

    /// Gives a new end to the present owner, if there is one.
    pub(crate) fn own(&mut self, end: End) {
        if let Some(owner) = self.owner {
            self.owned.entry(owner).or_default().push(end);
        }
    }

    fn remove_publisher(&mut self, source: SourceId) {
        let Some(end) = self.publishers.remove(source) else { return };
        let PublisherEnd { topic, name, node, qos, liveliness } = end;
        self.topic_info(&name).publishers.retain(|(_, id)| *id != source);
        self.digests.forget(source);
        let registry = self.leave(&name, &node, qos);
        registry.remove(&liveliness);
        self.added.ended_publishers.push((liveliness.node_index, registry));
        self.added.caches.retain(|(_, id)| *id != source);
        topic.remove_publisher(source, qos);
        self.left.push(name);
        self.end_owned(End::Publisher(source));
    }

    /// Sets where a callback gets its messages.
    pub(crate) fn set_receives(&mut self, callback: CallbackId, receives: Receives) {
        self.callback_specs[callback].receives = Some(receives);
    }

    /// Until the lock ends, everything that is added belongs to `owner`, and ends with it.
    pub(crate) fn set_owner(&mut self, owner: Option<End>) {
        self.owner = owner;
    }

    /// Removes the entity of `callback`, and those that belong to it, unless that was done.
    /// Logarithmic in the callbacks of its loop, but for the move of their list.
    pub(crate) fn destroy(&mut self, callback: CallbackId) {
        self.remove_entity(callback, false);
    }

    fn remove_entity(&mut self, callback: CallbackId, by_itself: bool) {
        let Some(spec) = self.callback_specs.get(callback) else { return };
        let entity = spec.target.entity;
        let event_loop = self.callbacks[callback].event_loop;
        let callbacks = self.take_callbacks(event_loop, entity);
        for id in &callbacks {
            self.callbacks.remove(*id);
            if let Some(spec) = self.callback_specs.remove(*id) {
                self.unsubscribe(*id, event_loop, spec);
            }
        }
        self.entities[event_loop].free.push(entity);
        let owners: Vec<_> = callbacks.iter().copied().map(End::Entity).collect();
        if let Some(body) = self.bodies.get_mut(event_loop) {
            // No worker knows it yet.
            self.added.callbacks.retain(|id| !callbacks.contains(id));
            callbacks.iter().for_each(|id| self.directory.remove(*id));
            self.trash.extend(body.take_out(entity));
        } else {
            let removed = RemovedEntity { event_loop, entity, callbacks, by_itself };
            self.added.removed.push(removed);
        }
        owners.into_iter().for_each(|owner| self.end_owned(owner));
    }

    /// Takes the callbacks of an entity out of its loop.
    fn take_callbacks(&mut self, event_loop: LoopId, entity: u32) -> Vec<CallbackId> {
        let of_entities = &mut self.entities[event_loop].callbacks;
        let of_entity = (entity, CallbackId(0))..=(entity, CallbackId::NONE);
        let callbacks: Vec<_> = of_entities.range(of_entity).map(|(_, id)| *id).collect();
        callbacks.iter().for_each(|id| _ = of_entities.remove(&(entity, *id)));
        let of_loop = &mut self.loop_info_mut(event_loop).callbacks;
        for id in &callbacks {
            // They are in order of creation.
            if let Ok(place) = of_loop.binary_search(id) {
                of_loop.remove(place);
            }
        }
        callbacks
    }

    /// Drops a value of the user when the lock ends.
    pub(crate) fn drop_later(&mut self, value: impl Any + Send) {
        self.trash.push(Box::new(value));
    }

    /// Removes a callback group, or the node of a loop that is no group, unless that was done.
    pub(crate) fn destroy_loop(&mut self, id: LoopId, node: usize) {
        match self.loops.get(id) {
            Some(of) if !of.group.is_empty() => self.remove_loop(id),
            Some(_) => self.destroy_node(node),
            None => {}
        }
    }

    /// Removes a node, unless that was done. Linear in the loops, topics and services.
    pub(crate) fn destroy_node(&mut self, node: usize) {
        if self.policies.remove(node).is_none() {
            return;
        }
        let name = self.loops.values().find(|of| of.node_index == node).map(|of| of.node.clone());
        let of_node = self.loops.iter().filter(|(_, of)| of.node_index == node);
        let of_node: Vec<_> = of_node.map(|(id, _)| id).collect();
        of_node.into_iter().for_each(|id| self.remove_loop(id));
        for run in self.at_node_end.clone() {
            run(self, node, name.as_deref().unwrap_or_default());
        }
        self.added.removed_nodes.push(node);
    }

    /// Removes a loop with its callbacks.
    fn remove_loop(&mut self, id: LoopId) {
        let callbacks = self.loops[id].callbacks.clone();
        callbacks.into_iter().for_each(|callback| self.destroy(callback));
        self.version += 1;
        self.topics.values_mut().for_each(|of| of.info.publishers.retain(|(by, _)| *by != id));
        if let Some(of) = self.loops.remove(id) {
            self.node_names.remove(&of.full_name());
        }
        self.loop_names.remove(id);
        self.budgets.remove(id);
        self.later_deadlines.retain(|(of, _), _| *of != id);
        self.entities.remove(id);
        match self.bodies.remove(id) {
            Some(body) => {
                self.added.loops.retain(|(other, _)| *other != id);
                self.drop_later(body);
            }
            None => self.added.removed_loops.push(id),
        }
    }

    /// Removes the topics and services without ends. Messages that are published on such a topic
    /// from now on, by publishers that the graph does not know any more, are handed back.
    pub(super) fn remove_unused(&mut self) {
        for name in take(&mut self.left) {
            if self.topics.get(&name).is_some_and(TopicSpec::is_unused)
                && let Some(topic) = self.topics.remove(&name)
            {
                self.version += 1;
                self.all_topics.remove(topic.number);
                self.drop_later(topic);
            }
            if self.services.get(&name).is_some_and(ServiceSpec::is_unused)
                && let Some(service) = self.services.remove(&name)
            {
                self.version += 1;
                self.all_topics.remove(service.number);
                self.drop_later(service);
            }
        }
    }

    fn unsubscribe(&mut self, callback: CallbackId, of: LoopId, spec: CallbackSpec) {
        let Some(receives) = spec.receives else { return };
        let (topic, name) = match receives {
            Receives::Topic(topic, name, qos) => {
                let node = self.loops[of].node.clone();
                self.withdraw(&name, &node, qos);
                self.topic_info(&name).subscriptions.retain(|id| *id != callback);
                (topic, name)
            }
            Receives::Service(requests, name) => {
                self.service_info(&name).server = None;
                (requests, name)
            }
            Receives::Responses(responses, name, number) => {
                self.service_info(&name).clients.retain(|client| client.callback != callback);
                self.all_topics.remove(number);
                (responses, name)
            }
            Receives::Internal(topic, name) => {
                self.topic_info(&name).subscriptions.retain(|id| *id != callback);
                (topic, name)
            }
        };
        self.added.disconnected.push((topic, callback));
        self.left.push(name);
    }
}
