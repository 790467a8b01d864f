//! Changes of parameters as events: messages on a topic that only the node has.
//!
//! The thread that sets a parameter publishes the change under the lock of the node's table, in the
//! order in which values change; the event loop of each callback takes it like a message, with an
//! identity and a place in the digest. The topic gets its publisher with the first callback, so a
//! node without one pays nothing. When a queue is full, setting fails: with a queue that
//! overwrites, a callback would keep an old value and not know it.

use crate::base::departure::Registration;
use crate::base::error::Result;
use crate::base::parameter_value::ParameterValue;
use crate::delivery::context::Context;
use crate::delivery::message::Message;
use crate::features::internal_topic::{internal_publisher, internal_subscription, internal_topic};
use crate::running::event_loop::CallbackResult;
use crate::running::node::Node;
use std::sync::Arc;

/// Limit of the changes that wait for a callback; setting a parameter beyond it is an error.
pub const PARAMETER_CHANGES_MAX: usize = 64;

/// A callback for changes of a node's parameters. It belongs to its node: dropping this handle, or
/// all clones of it, changes nothing.
#[derive(Clone, Debug)]
pub struct ParameterCallback(Arc<Registration>);

impl ParameterCallback {
    /// Ends the calls of the callback: changes that wait for it are dropped and counted as
    /// [`discarded`](crate::CallbackStatistics::discarded). It is dropped at the next pause of its
    /// event loop, a call that runs finishes. From any thread, and in the callback. Further calls
    /// have no effect.
    pub fn destroy(&self) {
        self.0.destroy();
    }
}

/// One parameter's change.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterChange {
    /// The parameter.
    pub name: String,
    /// The value before the change.
    pub old: ParameterValue,
    /// The value after the change.
    pub new: ParameterValue,
}

impl ParameterCallback {
    pub(crate) fn create<S, F, R>(node: &Node<S>, mut callback: F) -> Result<ParameterCallback>
    where
        S: Send + 'static,
        F: FnMut(&mut S, &[ParameterChange], &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let parameters = node.handle.node_parameters();
        let mut builder = node.builder("a callback for parameter changes")?;
        let (topic, is_used) = internal_topic(node, &mut builder, "parameter_changes");
        if !is_used {
            parameters.publish_changes(internal_publisher(node, &mut builder, &topic));
        }
        let on_message =
            move |state: &mut S, changes: &Message<Vec<ParameterChange>>, cx: &mut Context<'_>| {
                callback(state, changes, cx)
            };
        let (name, limit) = ("parameter change", PARAMETER_CHANGES_MAX);
        let id = internal_subscription(node, &mut builder, &topic, name, limit, on_message);
        Ok(ParameterCallback(Arc::new(node.handle.graph.registration(id))))
    }
}
