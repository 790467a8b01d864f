//! Publishers and subscriptions of types that are known by their names only: bytes.

use super::error::RosError;
use super::node::Node;
use super::publisher::PublisherEndpoint;
use super::serialized::Buffer;
use super::subscription::{Locals, MessageInfo, SubscriptionEndpoint};
use super::type_support::by_name;
use ringspin_executor::QoS;

/// A publisher of serialized messages. For any thread.
pub struct RawPublisher {
    endpoint: PublisherEndpoint,
}

impl RawPublisher {
    /// A publisher on `topic` of the message type `type_name`, such as `std_msgs/msg/String`.
    ///
    /// The type need not be one that this program knows: its package is looked for in the sourced
    /// ROS.
    ///
    /// # Errors
    /// [`RosError::UnknownType`], and as [`Publisher::new`](super::Publisher::new).
    pub fn new(node: &Node, topic: &str, type_name: &str, qos: &QoS) -> Result<Self, RosError> {
        let of_type = (type_name, by_name(type_name)?);
        Ok(Self { endpoint: PublisherEndpoint::new(node, topic, of_type, qos)? })
    }
}

deref_to!(RawPublisher, endpoint: PublisherEndpoint);

/// A subscription that takes messages as the bytes that they come as.
pub struct RawSubscription {
    endpoint: SubscriptionEndpoint,
    buffer: Buffer,
}

impl RawSubscription {
    /// A subscription to `topic` of the message type `type_name`; see [`RawPublisher::new`].
    ///
    /// # Errors
    /// [`RosError::UnknownType`], and as [`Subscription::new`](super::Subscription::new).
    pub fn new(
        node: &Node,
        topic: &str,
        type_name: &str,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, RosError> {
        let of_type = (type_name, by_name(type_name)?);
        let endpoint = SubscriptionEndpoint::new(node, topic, of_type, qos, locals)?;
        let buffer = Buffer::new(&endpoint.rcl.entity)?;
        Ok(Self { endpoint, buffer })
    }

    /// Takes the oldest message, if there is one. Does not wait. The bytes stay until the next
    /// take.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take(&mut self) -> Result<Option<(&[u8], MessageInfo)>, RosError> {
        let taken = self.endpoint.take_serialized(&mut self.buffer)?;
        Ok(taken.map(|info| (self.buffer.bytes(), info)))
    }
}

deref_to!(RawSubscription, endpoint: SubscriptionEndpoint);
