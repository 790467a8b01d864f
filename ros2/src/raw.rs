//! Topics with serialized messages, of types that are known by their names only.

use ringspin_executor::TypeName;
use ringspin_messages::RawMessage;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Why a topic does not carry serialized messages.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum RawTopicError {
    /// Its ROS type is not known.
    #[error(
        "topic {0} has serialized messages, but of which type? Say so by `Ros2::carry_raw` before \
         its first publisher or subscription"
    )]
    Untyped(String),
    /// It was said to have another type.
    #[error(
        "failed to carry topic {topic} with messages of type {given}: it has type {known}; use \
         one type"
    )]
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
