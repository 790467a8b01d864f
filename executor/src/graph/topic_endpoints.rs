//! The endpoints of a topic: each new one has to fit all that are there.

use super::{GraphBuilder, IncompatibleQosError};
use crate::liveliness::LivelinessRegistry;
use crate::notifier::Notifier;
use crate::qos::QoS;
use std::sync::Arc;

/// The QoS that nodes offer and request on a topic.
#[derive(Default)]
pub(super) struct TopicEndpoints {
    offered: Vec<(String, QoS)>,
    requested: Vec<(String, QoS)>,
    registry: Arc<LivelinessRegistry>,
}

type Compatible = Result<(), Box<IncompatibleQosError>>;

impl GraphBuilder {
    /// Records that `node` publishes on `topic`, which exists. Linear in the number of its
    /// subscriptions.
    pub(crate) fn offer(&mut self, topic: &str, node: &str, qos: QoS) -> Compatible {
        let endpoints = self.endpoints(topic);
        for (subscription, requested) in &endpoints.requested {
            check_pair(topic, (node, &qos), (subscription, requested))?;
        }
        endpoints.offered.push((node.into(), qos));
        Ok(())
    }

    /// Records that `node` subscribes to `topic`, which exists. Linear in the number of its
    /// publishers.
    pub(crate) fn request(&mut self, topic: &str, node: &str, qos: QoS) -> Compatible {
        let endpoints = self.endpoints(topic);
        for (publisher, offered) in &endpoints.offered {
            check_pair(topic, (publisher, offered), (node, &qos))?;
        }
        endpoints.requested.push((node.into(), qos));
        Ok(())
    }

    /// The nodes that publish on `topic` and the QoS that they offer, in order of creation.
    pub(crate) fn offered_qos(&self, topic: &str) -> Vec<(String, QoS)> {
        self.topics.get(topic).map(|topic| topic.endpoints.offered.clone()).unwrap_or_default()
    }

    /// The liveliness of the publishers of `topic`, which exists.
    pub(crate) fn liveliness_registry(&mut self, topic: &str) -> Arc<LivelinessRegistry> {
        self.endpoints(topic).registry.clone()
    }

    /// The pairs of a node and a watcher of the liveliness of one of its publishers. Nothing is
    /// added to the endpoints any more.
    pub(crate) fn freeze_endpoints(&self) -> Vec<(usize, Arc<Notifier>)> {
        let mut watchers = Vec::new();
        for topic in self.topics.values() {
            let registry = &topic.endpoints.registry;
            registry.freeze();
            for watcher in registry.watchers() {
                let publishers = registry.publishers().iter();
                watchers
                    .extend(publishers.map(|liveliness| (liveliness.node_index, watcher.clone())));
            }
        }
        watchers
    }

    fn endpoints(&mut self, topic: &str) -> &mut TopicEndpoints {
        &mut self.topics.get_mut(topic).expect("the topic was just created").endpoints
    }
}

fn check_pair(
    topic: &str,
    (publisher, offered): (&str, &QoS),
    (subscription, requested): (&str, &QoS),
) -> Compatible {
    match offered.incompatibility(requested) {
        None => Ok(()),
        Some(incompatibility) => Err(Box::new(IncompatibleQosError {
            topic: topic.into(),
            publisher: publisher.into(),
            subscription: subscription.into(),
            incompatibility,
        })),
    }
}
