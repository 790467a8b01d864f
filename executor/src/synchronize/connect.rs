//! Adds the inputs of a synchronizer to the graph as callbacks.

use super::inputs::Queue;
use crate::control::CallbackCounters;
use crate::entity::{CallbackSpec, EventSource, Target};
use crate::event::{CallbackId, LoopId};
use crate::graph::{CreateSubscriptionError, GraphBuilder, Receives, check_depth};
use crate::name::NameKind;
use crate::node::Node;
use crate::qos::QoS;
use crate::remote::Remote;
use crate::topic::Topic;
use std::sync::Arc;

/// Adds the inputs of one synchronizer to the graph, in order.
pub struct Connector<'a> {
    pub(crate) builder: &'a mut GraphBuilder,
    pub(crate) namespace: &'a str,
    pub(crate) base_name: &'a str,
    pub(crate) full_name: &'a str,
    pub(crate) event_loop: LoopId,
    pub(crate) node_index: usize,
    /// The destination of the next input's events.
    pub(crate) target: Target,
    /// The callback of the first input, once it is there.
    pub(crate) first: Option<CallbackId>,
    /// The sum of the depths of the inputs so far.
    pub(crate) depths: usize,
}

/// The topic of an input, and the middleware's messages of it.
pub(crate) type Source<M> = (Arc<Topic<M>>, Option<Remote<M>>);

impl Connector<'_> {
    /// The source of an input's messages.
    pub(crate) fn topic<M: Send + Sync + 'static>(
        &mut self,
        topic: &str,
        qos: QoS,
    ) -> Result<Source<M>, CreateSubscriptionError> {
        let node = (self.namespace, self.base_name);
        let topic = self.builder.resolve_name(NameKind::Topic, topic, node)?;
        check_depth(&topic, qos)?;
        self.builder.check_room(self.event_loop, &topic, qos.depth(), self.depths)?;
        self.depths += qos.depth();
        let typed = self.builder.topic(&topic, self.full_name)?;
        // First, because it may fail and leave nothing behind.
        let remote = self.builder.subscribe_remotely(self.node_index, &topic, qos)?;
        self.builder.request(&topic, self.full_name, qos)?;
        Ok((typed, remote))
    }

    /// Subscribes the next input, of which `capacity` messages are kept.
    pub(crate) fn subscribe<M: Send + Sync + 'static>(
        &mut self,
        (topic, remote): Source<M>,
        qos: QoS,
        capacity: usize,
    ) -> Queue<M> {
        let counters = Arc::<CallbackCounters>::default();
        let spec = CallbackSpec::new(
            self.target,
            EventSource::queue(qos.depth(), remote.as_ref()),
            counters.clone(),
        );
        self.target.port += 1;
        let name = format!("synchronized subscription {}", topic.name);
        let id = self.builder.add_callback(self.event_loop, name, spec);
        self.first.get_or_insert(id);
        let receiver = topic.subscribe(id, qos, capacity, counters.clone(), remote);
        self.builder.topic_info(&topic.name).subscriptions.push(id);
        let receives = Receives::Topic(topic.clone(), topic.name.to_string(), qos);
        self.builder.set_receives(id, receives);
        self.builder.liveliness_registry(&topic.name).subscribed();
        Queue::new(receiver, capacity, counters)
    }
}

impl<S: Send + 'static> Node<S> {
    /// Adds the inputs of a synchronizer whose events go to `target`.
    pub(crate) fn connector<'a>(
        &'a self,
        builder: &'a mut GraphBuilder,
        target: Target,
    ) -> Connector<'a> {
        Connector {
            builder,
            namespace: &self.namespace,
            base_name: &self.base_name,
            full_name: self.full_name(),
            node_index: self.node_index,
            event_loop: self.event_loop(),
            target,
            first: None,
            depths: 0,
        }
    }
}
