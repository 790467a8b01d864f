//! Changes of parameters as events.
//!
//! They need no machinery of their own: a node with a callback for changes has a topic that only
//! its parameters publish on. So a change has an event identity, keeps its place in the order, is
//! counted and bounded, and is dispatched, recorded and replayed like a message.

use super::value::ParameterValue;
use crate::context::Context;
use crate::control::CallbackCounters;
use crate::event_loop::{CallbackResult, SubscriptionEntity};
use crate::graph::{CallbackDraft, CreateError};
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::topic::Publisher;
use std::sync::Arc;

/// How many changes can wait for a callback; setting a parameter beyond that is an error.
pub const PARAMETER_CHANGES_MAX: usize = 64;

/// One parameter's change.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterChange {
    /// The parameter.
    pub name: String,
    /// What it was before.
    pub old: ParameterValue,
    /// What it was set to.
    pub new: ParameterValue,
}

impl<S: Send + 'static> Node<S> {
    /// Calls `callback` for each change of the node's parameters, with all that were set at once.
    ///
    /// It is an event like a message: it runs in this callback group with its state, in the order
    /// in which changes were made, and the values are the new ones by then, or even newer ones. At
    /// most [`PARAMETER_CHANGES_MAX`] changes wait; beyond that, setting fails. What is set before
    /// the graph is frozen is no event.
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
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CreateError::Frozen`].
    pub fn on_parameter_change<F, R>(&self, mut callback: F) -> Result<(), CreateError>
    where
        F: FnMut(&mut S, &[ParameterChange], &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let parameters = self.node_parameters();
        // No valid name has two underscores in a row, so no topic of a user is called like this.
        let topic = format!("{}/__parameter_changes", self.full_name());
        let name = String::from("parameter change");
        let mut draft = self.draft(&name)?;
        let typed = draft.topic::<Vec<ParameterChange>>(&topic, self.full_name())?;
        parameters.publish_changes(|| {
            let source = draft.next_source();
            draft.topic_info(&topic).publishers.push((self.event_loop(), source));
            Publisher::new(typed.clone(), source)
        });
        let counters = Arc::<CallbackCounters>::default();
        let callback_draft = CallbackDraft {
            target: draft.body::<S>(self.event_loop()).next_target(),
            capacity: PARAMETER_CHANGES_MAX,
            period: None,
            counters: counters.clone(),
        };
        let id = draft.add_callback(self.event_loop(), name, callback_draft);
        let inlet = typed.subscribe(id, QoS::keep_all(PARAMETER_CHANGES_MAX), counters);
        let on_message =
            move |state: &mut S, changes: &Message<Vec<ParameterChange>>, cx: &mut Context<'_>| {
                callback(state, changes, cx)
            };
        let entity = Box::new(SubscriptionEntity::new(inlet, on_message));
        draft.body::<S>(self.event_loop()).add(entity);
        draft.topic_info(&topic).subscriptions.push(id);
        Ok(())
    }
}
