//! ROS types of single topics and services: for Rust types that stand for several ROS types, and
//! for serialized messages.

use crate::{CdrService, CdrType, RawMessage, RosType};
use ringspin_executor::{Error, ErrorKind, ServiceTypes, TypeName};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The tables by fully qualified name. Tables of types that are known by name are never freed.
#[derive(Debug, Default)]
pub struct NamedTypes {
    topics: Mutex<BTreeMap<String, &'static CdrType>>,
    services: Mutex<BTreeMap<String, &'static CdrService>>,
}

impl NamedTypes {
    /// Sets the type of `topic`.
    pub fn set_topic(&self, topic: &str, table: &'static CdrType) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        topics.insert(topic.into(), table);
    }

    /// Sets the type of `service`.
    pub fn set_service(&self, service: &str, table: &'static CdrService) {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.insert(service.into(), table);
    }

    /// Sets the type of the serialized messages of `topic`; an empty `hash` is not known.
    ///
    /// # Errors
    /// If it was set to another one.
    pub fn set_raw(&self, topic: &str, name: &str, hash: &str) -> Result<(), Error> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = topics.get(topic) {
            let is_other_hash = ![known.hash(), hash].contains(&"") && known.hash() != hash;
            if known.name() != name || is_other_hash {
                let [known, given] = [(known.name(), known.hash()), (name, hash)].map(described);
                let text = format!(
                    "failed to carry topic {topic} with messages of type {given}: it has type \
                     {known}; use one type"
                );
                return Err(Error::new(ErrorKind::TypeMismatch, text).on_topic(topic));
            }
            if known.hash() == hash || hash.is_empty() {
                return Ok(());
            }
        }
        let (name, hash) = (name.to_owned().leak(), hash.to_owned().leak());
        let table = CdrType::raw().with_ros_type(RosType { name, definition: "", hash });
        topics.insert(topic.into(), Box::leak(Box::new(table)));
        Ok(())
    }

    /// The table of a topic, if it is of messages of this Rust type.
    ///
    /// # Errors
    /// For serialized messages of a topic without a type.
    pub fn topic(&self, topic: &str, message: TypeName) -> Result<Option<&'static CdrType>, Error> {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let table = topics.get(topic).copied().filter(|table| table.rust_type() == message.id);
        if table.is_none() && message == TypeName::of::<RawMessage>() {
            let text = format!(
                "topic {topic} has serialized messages, but of which type? Say so by \
                 `Ros2::carry_raw` before its first publisher or subscription"
            );
            return Err(Error::new(ErrorKind::NotFound, text).on_topic(topic));
        }
        Ok(table)
    }

    /// The table of a service, if it is of messages of these Rust types.
    pub fn service(&self, service: &str, types: ServiceTypes) -> Option<&'static CdrService> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.get(service).copied().filter(|table| {
            table.request().rust_type() == types.request.id
                && table.response().rust_type() == types.response.id
        })
    }
}

fn described((name, hash): (&str, &str)) -> String {
    if hash.is_empty() { name.into() } else { format!("{name} ({hash})") }
}
