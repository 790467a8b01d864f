//! Topics that belong to one node: a node's requests to itself become events.
//!
//! A change of a parameter or a request to a lifecycle needs no separate mechanism: as a message it
//! has an identity, keeps its place in the order, is bounded, counted, dispatched and recorded.

use crate::base::event::CallbackId;
use crate::base::qos::QoS;
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::message::Message;
use crate::delivery::topic::{Publisher, Topic};
use crate::running::event_loop::{CallbackResult, SubscriptionEntity};
use crate::running::graph::{CallbackSpec, EventSource, GraphBuilder, Receives};
use crate::running::node::Node;
use std::sync::Arc;

/// The name of the topic of this kind of node `full_name`. No valid name has two underscores in a
/// row, so no topic of a user has this name.
fn internal_name(full_name: &str, kind: &str) -> String {
    format!("{full_name}/__{kind}")
}

/// The node's topic of this kind, and whether it has subscriptions already.
pub(crate) fn internal_topic<S: Send + 'static, M: Send + Sync + 'static>(
    node: &Node<S>,
    builder: &mut GraphBuilder,
    kind: &str,
) -> (Arc<Topic<M>>, bool) {
    let name = internal_name(node.full_name(), kind);
    let topic = builder.topic::<M>(&name, node.full_name());
    let topic = topic.expect("each kind of internal topic has one type");
    let has_subscriptions = !builder.topic_info(&name).subscriptions.is_empty();
    (topic, has_subscriptions)
}

/// A publisher of the node on its internal topic.
pub(crate) fn internal_publisher<S: Send + 'static, M: Send + Sync + 'static>(
    node: &Node<S>,
    builder: &mut GraphBuilder,
    topic: &Arc<Topic<M>>,
) -> Publisher<M> {
    let source = builder.next_source();
    builder.topic_info(&topic.name).publishers.push((node.event_loop(), source));
    Publisher::new(topic.clone(), source, None, None)
}

/// Calls `callback`, which is listed as `name`, for each message on a topic of the node.
/// `limit` of them can wait, and one more is handed back to its publisher. The topic ends with
/// its last subscription, and its publishers are refused then.
pub(crate) fn internal_subscription<S, M, F, R>(
    node: &Node<S>,
    builder: &mut GraphBuilder,
    topic: &Arc<Topic<M>>,
    name: &str,
    limit: usize,
    callback: F,
) -> CallbackId
where
    S: Send + 'static,
    M: Send + Sync + 'static,
    F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
    R: CallbackResult + 'static,
{
    let counters = Arc::<CallbackCounters>::default();
    let spec = CallbackSpec::new(
        builder.next_target(node.event_loop()),
        EventSource::Queue(limit),
        counters.clone(),
    );
    let id = builder.add_callback(node.event_loop(), name.into(), spec);
    builder.set_receives(id, Receives::Internal(topic.clone(), topic.name.to_string()));
    let receiver = topic.subscribe((id, QoS::keep_all(limit)), 0, counters, None, None);
    let entity = Box::new(SubscriptionEntity::new(receiver, callback));
    builder.add_entity::<S>(node.event_loop(), entity);
    builder.topic_info(&topic.name).subscriptions.push(id);
    id
}
