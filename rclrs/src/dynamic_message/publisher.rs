//! Publishers of dynamic messages.

use super::types::MessageType;
use super::{DynamicMessage, DynamicMessageError, MessageTypeName};
use crate::error::RclrsError;
use crate::node::Node;
use crate::publisher::{Outlet, PublisherOptions};
use ringspin_adapter::Carried;
use ringspin_messages::cdr;
use std::fmt;
use std::sync::Arc;

/// A handle of a publisher of dynamic messages.
pub type DynamicPublisher = Arc<DynamicPublisherState>;

/// Publishes messages of one type, which is known at run time; from any thread. It ends with its
/// last handle.
///
/// Created by [`NodeState::create_dynamic_publisher`](crate::NodeState::create_dynamic_publisher).
pub struct DynamicPublisherState {
    outlet: Outlet,
    of: MessageType,
}

impl DynamicPublisherState {
    /// # Errors
    /// For an unknown type, and the errors of [`Outlet::create`].
    pub(crate) fn create(
        node: &Node,
        topic_type: &MessageTypeName,
        options: &PublisherOptions<'_>,
    ) -> Result<DynamicPublisher, RclrsError> {
        let of = MessageType::named(&topic_type.package_name, &topic_type.type_name)?;
        Ok(Arc::new(Self { outlet: Outlet::create(node, options, of.table())?, of }))
    }

    /// The topic, with its namespace and after remapping.
    pub fn topic_name(&self) -> String {
        self.outlet.topic.clone()
    }

    /// The number of subscriptions that match.
    ///
    /// # Errors
    /// If the middleware refuses the question.
    pub fn get_subscription_count(&self) -> Result<usize, RclrsError> {
        self.outlet.subscription_count()
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// For a message of another type, or one that its definition does not allow, when a keep-all
    /// subscription is full, and if the middleware refuses it.
    pub fn publish(&self, message: DynamicMessage) -> Result<(), RclrsError> {
        if (message.of.ros_type.name, message.of.ros_type.hash)
            != (self.of.ros_type.name, self.of.ros_type.hash)
        {
            return Err(DynamicMessageError::MessageTypeMismatch.into());
        }
        let checked = cdr::check(&message.fields).map_err(|error| message.named(error));
        self.outlet.publish(checked.map(|()| Carried::new(message)))
    }
}

impl fmt::Debug for DynamicPublisherState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicPublisher").field(&self.outlet.topic).finish()
    }
}
