//! Types of single topics and services, whose Rust type stands for several ROS types.

use ringspin_executor::{ServiceTypes, TypeName};
use ringspin_messages::{CdrService, CdrType};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The tables by fully qualified name.
#[derive(Debug, Default)]
pub(crate) struct NamedTypes {
    topics: Mutex<BTreeMap<String, &'static CdrType>>,
    services: Mutex<BTreeMap<String, &'static CdrService>>,
}

impl NamedTypes {
    pub(crate) fn set_topic(&self, topic: &str, table: &'static CdrType) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        topics.insert(topic.into(), table);
    }

    pub(crate) fn set_service(&self, service: &str, table: &'static CdrService) {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.insert(service.into(), table);
    }

    /// The table of a topic, if it is of messages of this Rust type.
    pub(crate) fn topic(&self, topic: &str, message: TypeName) -> Option<&'static CdrType> {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        topics.get(topic).copied().filter(|table| table.rust_type() == message.id)
    }

    /// The table of a service, if it is of messages of these Rust types.
    pub(crate) fn service(
        &self,
        service: &str,
        types: ServiceTypes,
    ) -> Option<&'static CdrService> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.get(service).copied().filter(|table| {
            table.request().rust_type() == types.request.id
                && table.response().rust_type() == types.response.id
        })
    }
}
