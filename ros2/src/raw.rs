//! Serialized messages at the level of nodes, of types that are known by their names only.

use crate::listeners::Missing;
use crate::rcl::{Locals, Node, RawPublisher, RawSubscription, RosError};
use ringspin_executor::{
    BoxError, MessageTimes, QoS, RemotePublisher, RemoteSubscription, TypeName,
};
use ringspin_ringbuf::Counter;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// A message in the middleware's serialization: for ROS 2 CDR, with its header of four bytes.
///
/// Publishers and subscriptions of a [raw topic](Ros2::carry_raw) have it as their type. Within the
/// process it is a message like any other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawMessage(pub Vec<u8>);

/// Why a topic does not carry serialized messages.
#[derive(Clone, Debug, Error)]
pub enum RawTopicError {
    /// Its ROS type is not known.
    #[error(
        "topic {0} has serialized messages, but of which type? Say so by `Ros2::carry_raw` before \
         its first publisher or subscription"
    )]
    Untyped(String),
    /// It was said to have another type.
    #[error("topic {topic} has messages of type {known}, so it cannot have {given}, too")]
    OtherType {
        /// The topic.
        topic: String,
        /// Its type.
        known: String,
        /// The other one.
        given: String,
    },
}

/// The ROS types of the topics with serialized messages, by fully qualified name.
#[derive(Debug, Default)]
pub(crate) struct RawTopics(Mutex<BTreeMap<String, String>>);

impl RawTopics {
    /// Says that `topic` has messages of type `type_name`.
    pub(crate) fn carry(&self, topic: &str, type_name: &str) -> Result<(), RawTopicError> {
        let mut topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = topics.entry(topic.into()).or_insert_with(|| type_name.into());
        if known == type_name {
            return Ok(());
        }
        let (topic, known, given) = (topic.into(), known.clone(), type_name.into());
        Err(RawTopicError::OtherType { topic, known, given })
    }

    /// The ROS type of `topic`, if it is one of messages `message`; `None` for typed messages.
    pub(crate) fn type_of(
        &self,
        topic: &str,
        message: TypeName,
    ) -> Result<Option<String>, RawTopicError> {
        if message != TypeName::of::<RawMessage>() {
            return Ok(None);
        }
        let topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = topics.get(topic).cloned();
        known.map(Some).ok_or_else(|| RawTopicError::Untyped(topic.into()))
    }
}

/// Publishes serialized messages.
pub(crate) struct RawOutlet {
    publisher: RawPublisher,
    sent: Arc<Counter>,
}

impl RawOutlet {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        type_name: &str,
        qos: &QoS,
        sent: Arc<Counter>,
    ) -> Result<Self, RosError> {
        Ok(Self { publisher: RawPublisher::new(node, topic, type_name, qos)?, sent })
    }
}

impl RemotePublisher for RawOutlet {
    fn publish(&self, message: &dyn Any) -> Result<(), BoxError> {
        let message = message.downcast_ref::<RawMessage>().ok_or("not a serialized message")?;
        self.sent.next();
        Ok(self.publisher.publish_serialized(&message.0)?)
    }

    fn assert_liveliness(&self) -> Result<(), BoxError> {
        Ok(self.publisher.assert_liveliness()?)
    }
}

/// Brings serialized messages.
pub(crate) struct RawInlet {
    subscription: RawSubscription,
    /// The times of the message that was taken last.
    times: MessageTimes,
    missing: Missing,
}

impl RawInlet {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        type_name: &str,
        qos: &QoS,
        (locals, missing): (Locals, Missing),
        announce: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<Self, RosError> {
        let subscription = RawSubscription::new(node, topic, type_name, qos, locals)?;
        subscription.on_new_message(announce)?;
        Ok(Self { subscription, times: MessageTimes::UNKNOWN, missing })
    }
}

impl RemoteSubscription for RawInlet {
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError> {
        let into = into.downcast_mut::<Option<RawMessage>>().ok_or("not a serialized message")?;
        let Some((bytes, info)) = self.subscription.take()? else {
            return Ok(false);
        };
        *into = Some(RawMessage(bytes.to_vec()));
        self.times = info.times();
        Ok(true)
    }

    fn times(&self) -> MessageTimes {
        self.times
    }

    fn overwritten(&mut self, missing: u64) -> u64 {
        self.missing.overwritten(missing)
    }
}
