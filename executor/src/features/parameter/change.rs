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

impl<S: Send + 'static> Node<S> {
    /// Calls `callback` for each change of the node's parameters, with all that were set at once.
    ///
    /// It is an event like a message: it runs in this callback group with its state, in the order
    /// in which changes were made, and the values are the new ones by then, or even newer ones. At
    /// most [`PARAMETER_CHANGES_MAX`] changes wait; beyond that, setting fails. Setting a parameter
    /// before the graph is frozen is no event.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # let node = Graph::new().create_node("pilot", 1.0)?;
    /// node.declare_parameter("gain", 1.0)?;
    /// node.on_parameter_change(|gain, changes, _| {
    ///     for change in changes.iter().filter(|change| change.name == "gain") {
    ///         println!("gain was {} and is {}", change.old, change.new);
    ///     }
    ///     *gain += 1.0;
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the node or the executor has ended, or its worker is full.
    pub fn on_parameter_change<F, R>(&self, mut callback: F) -> Result<ParameterCallback>
    where
        F: FnMut(&mut S, &[ParameterChange], &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let parameters = self.handle.node_parameters();
        let mut builder = self.builder("a callback for parameter changes")?;
        let (topic, is_used) = self.internal_topic(&mut builder, "parameter_changes");
        if !is_used {
            parameters.publish_changes(self.internal_publisher(&mut builder, &topic));
        }
        let on_message =
            move |state: &mut S, changes: &Message<Vec<ParameterChange>>, cx: &mut Context<'_>| {
                callback(state, changes, cx)
            };
        let (name, limit) = ("parameter change", PARAMETER_CHANGES_MAX);
        let id = self.internal_subscription(&mut builder, &topic, name, limit, on_message);
        Ok(ParameterCallback(Arc::new(self.handle.graph.registration(id))))
    }
}
