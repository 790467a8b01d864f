//! The message types that a program has as structs, by name.

use crate::inlet::{self, Inlet, Tap};
use crate::outlet::{Outlet, TypedOutlet};
use crate::recording::{Definition, Topic};
use crate::requester::{self, Requester};
use ringspin_executor::{BoxError, GraphInfo, Node, QoS, Result};
use ringspin_message_generator::{TypeName, common_definitions};
use ringspin_messages::action_msgs::srv::CancelGoal;
use ringspin_messages::{CdrType, RawMessage, RosAction, RosMessage, RosService, cdr};
use ringspin_ringbuf::Counter;
use std::any::type_name;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The message types that a program has as structs, by name: the player and the recorder find the
/// struct of a topic here. Topics of other types are carried as [`RawMessage`].
///
/// ```
/// use ringspin_bag::MessageTypes;
/// use ringspin_messages::RosMessage;
/// # use serde::{Deserialize, Serialize};
/// #[derive(Serialize, Deserialize)]
/// struct Range {
///     meters: f32,
/// }
///
/// impl RosMessage for Range {
///     const TYPE_NAME: &'static str = "my_msgs/msg/Range";
///     const DEFINITION: &'static str = "float32 meters";
///     const TYPE_HASH: &'static str = "RIHS01_0000";
/// }
///
/// let types = MessageTypes::new().with::<Range>();
/// assert_eq!(types.names().collect::<Vec<_>>(), ["my_msgs/msg/Range"]);
/// ```
#[derive(Clone, Default)]
pub struct MessageTypes {
    messages: BTreeMap<&'static str, MessageType>,
    services: BTreeMap<&'static str, CreateRequester>,
}

/// A message type with a struct.
#[derive(Clone, Copy)]
pub(crate) struct MessageType {
    table: &'static CdrType,
    pub(crate) name: &'static str,
    pub(crate) hash: &'static str,
    pub(crate) definition: &'static str,
    /// The name of the struct, by which a graph knows the type of a topic.
    rust_name: &'static str,
    pub(crate) publish: Publish,
    pub(crate) subscribe: Subscribe,
}

/// Creates the publisher of a topic, for serialized messages.
pub(crate) type Publish = fn(&Node<()>, &str, QoS) -> Result<Box<dyn Outlet>, BoxError>;
/// Subscribes a node to a topic.
pub(crate) type Subscribe = fn(&Node<Box<dyn Tap>>, Inlet) -> Result<()>;

/// Creates a client of a service, for recorded events of it. The counter counts the responses.
pub(crate) type CreateRequester =
    fn(&Node<()>, &str, Arc<Counter>) -> Result<Box<dyn Requester>, BoxError>;

/// The type of a topic's messages within the graph.
#[derive(Clone, Copy)]
pub(crate) enum Carried {
    /// Serialized, of whatever type.
    Raw,
    /// A struct of [`MessageTypes`].
    Typed(MessageType),
    /// A struct that [`MessageTypes`] does not have.
    Unknown(&'static str),
    /// No node publishes the topic or subscribes to it.
    Nothing,
}

impl MessageTypes {
    /// No types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message type. One of the same name is replaced.
    #[must_use]
    pub fn with<M: RosMessage>(mut self) -> Self {
        let message = MessageType {
            table: CdrType::of::<M>(),
            name: M::TYPE_NAME,
            hash: M::TYPE_HASH,
            definition: M::DEFINITION,
            rust_name: type_name::<M>(),
            publish: |node, topic, qos| {
                let publisher = node.create_publisher::<M>(topic, qos)?;
                Ok(Box::new(TypedOutlet::new(publisher, cdr::from_bytes)))
            },
            subscribe: |node, inlet| {
                inlet::subscribe::<M>(node, inlet, |message| cdr::to_bytes(message).map(Cow::Owned))
            },
        };
        self.messages.insert(M::TYPE_NAME, message);
        self
    }

    /// Adds a service type, so that its recorded requests can be
    /// [played](crate::Player::service_requests). One of the same name is replaced.
    #[must_use]
    pub fn with_service<S: RosService>(mut self) -> Self {
        self.services.insert(S::TYPE_NAME, requester::of_service::<S>);
        self
    }

    /// Adds an action type, so that its recorded goals, requests to cancel and requests for results
    /// can be [played](crate::Player::service_requests) to a server of the [`Action`] `A`. One of
    /// the same name is replaced.
    ///
    /// [`Action`]: ringspin_executor::Action
    #[must_use]
    pub fn with_action<A: RosAction>(mut self) -> Self {
        self.services.insert(A::SendGoal::TYPE_NAME, requester::of_goals::<A>);
        self.services.insert(A::GetResult::TYPE_NAME, requester::of_results::<A>);
        self.services.insert(CancelGoal::Service::TYPE_NAME, requester::of_cancels);
        self
    }

    /// The tables of the message types, in alphabetical order of their names: for a connection with
    /// ROS 2 that carries them.
    pub fn tables(&self) -> impl Iterator<Item = &'static CdrType> {
        self.messages.values().map(|message| message.table)
    }

    /// The names of the message types, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.messages.keys().copied()
    }

    /// The topic with the definition of its type, if the recording has none and it is known: from
    /// these types, or from the common ones of ROS 2 Jazzy.
    pub fn defined(&self, topic: &Topic) -> Topic {
        let is_empty = |definition: &Definition| definition.text.trim().is_empty();
        if !topic.definition.as_ref().is_none_or(is_empty) {
            return topic.clone();
        }
        let common = || common_definitions().schema(&TypeName::parse(&topic.type_name)?);
        let text = self.definition(&topic.type_name).map(str::to_owned).or_else(common);
        let definition = text.map(|text| Definition { encoding: "ros2msg".into(), text });
        let defined = Topic { definition, type_hash: None, ..topic.clone() };
        let is_recorded_type = topic.type_hash.is_none() || defined.hash() == topic.type_hash;
        if defined.definition.is_none() || !is_recorded_type {
            return topic.clone();
        }
        if topic.type_hash.is_none() {
            let Topic { name, type_name, .. } = topic;
            tracing::warn!(
                topic = name,
                type_name,
                "read with the definition of ROS 2 Jazzy: the recording has none"
            );
        }
        Topic { type_hash: topic.type_hash.clone(), ..defined }
    }

    /// The definition of the message type of this name.
    pub(crate) fn definition(&self, name: &str) -> Option<&'static str> {
        self.messages.get(name).map(|of| of.definition)
    }

    /// Creates clients of the service type of this name.
    pub(crate) fn requester(&self, name: &str) -> Option<CreateRequester> {
        self.services.get(name).copied()
    }

    /// The type of `topic` in a graph.
    pub(crate) fn carried(&self, info: &GraphInfo, topic: &str) -> Carried {
        let Some(topic) = info.topics.iter().find(|of| of.name == topic) else {
            return Carried::Nothing;
        };
        if topic.message_type == type_name::<RawMessage>() {
            return Carried::Raw;
        }
        let mut types = self.messages.values();
        let known = types.find(|of| of.rust_name == topic.message_type);
        known.map_or(Carried::Unknown(topic.message_type), |known| Carried::Typed(*known))
    }
}

/// Creates the publisher of a topic that carries serialized messages.
pub(crate) fn publish_raw(
    node: &Node<()>,
    topic: &str,
    qos: QoS,
) -> Result<Box<dyn Outlet>, BoxError> {
    let publisher = node.create_publisher::<RawMessage>(topic, qos)?;
    Ok(Box::new(TypedOutlet::new(publisher, |data| Ok(RawMessage(data.to_vec())))))
}

/// Subscribes a node to a topic that carries serialized messages.
pub(crate) fn subscribe_raw(node: &Node<Box<dyn Tap>>, inlet: Inlet) -> Result<()> {
    inlet::subscribe::<RawMessage>(node, inlet, |message| Ok(Cow::Borrowed(&message.0)))
}

impl fmt::Debug for MessageTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).entries(self.services.keys()).finish()
    }
}
