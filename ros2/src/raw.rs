//! Topics with serialized messages, of types that are known by their names only.

use ringspin_executor::TypeName;
use ringspin_messages::RawMessage;
use std::collections::BTreeMap;
use std::fmt;
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
        /// Its type, with the hash if that is known.
        known: String,
        /// The other type.
        given: String,
    },
}

/// The ROS type of a topic with serialized messages.
#[derive(Clone, Debug)]
pub(crate) struct RawType {
    pub(crate) name: String,
    /// The hash of the definition by which the messages are serialized, if it is known.
    pub(crate) hash: Option<String>,
}

impl fmt::Display for RawType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hash {
            Some(hash) => write!(f, "{} ({hash})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The ROS types of the topics with serialized messages, by fully qualified name.
#[derive(Debug, Default)]
pub(crate) struct RawTopics(Mutex<BTreeMap<String, RawType>>);

impl RawTopics {
    /// Sets the type of `topic`, and the hash of its definition if that is known.
    pub(crate) fn carry(
        &self,
        topic: &str,
        type_name: &str,
        type_hash: Option<&str>,
    ) -> Result<(), RawTopicError> {
        let mut topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let given = RawType { name: type_name.into(), hash: type_hash.map(Into::into) };
        let known = topics.entry(topic.into()).or_insert_with(|| given.clone());
        let hashes = known.hash.as_ref().zip(given.hash.as_ref());
        if known.name != given.name || hashes.is_some_and(|(known, given)| known != given) {
            let (topic, known, given) = (topic.into(), known.to_string(), given.to_string());
            return Err(RawTopicError::OtherType { topic, known, given });
        }
        known.hash = known.hash.take().or(given.hash);
        Ok(())
    }

    /// The ROS type of `topic`, if `message` is a serialized one; `None` for typed messages.
    pub(crate) fn type_of(
        &self,
        topic: &str,
        message: TypeName,
    ) -> Result<Option<RawType>, RawTopicError> {
        if message != TypeName::of::<RawMessage>() {
            return Ok(None);
        }
        let topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = topics.get(topic).cloned();
        known.map(Some).ok_or_else(|| RawTopicError::Untyped(topic.into()))
    }
}
