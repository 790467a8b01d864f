//! Subscriptions to dynamic messages.

use super::types::MessageType;
use super::{DynamicMessage, MessageStructure, MessageTypeName};
use crate::error::RclrsError;
use crate::event_loop::EventLoop;
use crate::node::{Node, NodeState};
use crate::subscription::{Callback, Inlet, MessageInfo, SubscriptionOptions};
use crate::tasks::Tasks;
use crate::worker::{WorkScope, Worker};
use std::fmt;
use std::sync::Arc;

/// A handle of a node's subscription to dynamic messages.
pub type DynamicSubscription = Arc<DynamicSubscriptionState<Node>>;

/// A handle of a worker's subscription to dynamic messages.
pub type WorkerDynamicSubscription<Payload> = Arc<DynamicSubscriptionState<Worker<Payload>>>;

/// Calls a callback with each message of a topic, the type of which is known at run time, until its
/// last handle is dropped.
///
/// Created by
/// [`NodeState::create_dynamic_subscription`](crate::NodeState::create_dynamic_subscription) and
/// its relatives.
pub struct DynamicSubscriptionState<Scope: WorkScope> {
    inlet: Inlet<Scope::Payload>,
    of: MessageType,
}

impl<Scope: WorkScope> DynamicSubscriptionState<Scope> {
    /// # Errors
    /// For an unknown type, and the errors of [`Inlet::create`].
    pub(crate) fn create<F>(
        node: &NodeState,
        event_loop: &Arc<EventLoop<Scope::Payload>>,
        topic_type: &MessageTypeName,
        options: &SubscriptionOptions<'_>,
        mut call: F,
    ) -> Result<Arc<Self>, RclrsError>
    where
        F: FnMut(&mut Scope::Payload, DynamicMessage, MessageInfo, &Tasks) + Send + 'static,
    {
        let of = MessageType::named(&topic_type.package_name, &topic_type.type_name)?;
        let callback = Callback::new(true, move |payload, delivery| {
            let message = DynamicMessage::of_carried(of, delivery.message)?;
            call(payload, message, delivery.info(), delivery.tasks);
            Ok(())
        });
        let inlet = Inlet::create(node, event_loop, options, of.table(), callback)?;
        Ok(Arc::new(Self { inlet, of }))
    }

    /// The topic, with its namespace and after remapping.
    pub fn topic_name(&self) -> String {
        self.inlet.topic().to_owned()
    }

    /// The description of the messages' fields.
    pub fn structure(&self) -> &MessageStructure {
        self.of.structure
    }
}

impl<Scope: WorkScope> fmt::Debug for DynamicSubscriptionState<Scope> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicSubscription").field(&self.inlet.topic()).finish()
    }
}
