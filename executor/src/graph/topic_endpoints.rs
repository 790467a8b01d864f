//! The endpoints of a topic: each new one has to fit all that are there.

use super::{GraphBuilder, IncompatibleQosError};
use crate::liveliness::{LivelinessRegistry, PublisherLiveliness};
use crate::qos::QoS;
use std::sync::Arc;

/// The QoS that nodes offer and request on a topic.
#[derive(Default)]
pub(super) struct TopicEndpoints {
    offered: Vec<(String, QoS)>,
    requested: Vec<(String, QoS)>,
    registry: Arc<LivelinessRegistry>,
}

impl TopicEndpoints {
    /// Whether there is a publisher.
    pub(super) fn is_offered(&self) -> bool {
        !self.offered.is_empty()
    }
}

type Compatible = Result<(), Box<IncompatibleQosError>>;

/// Adds an endpoint. Most topics have one of each kind, for which `push` alone would make room for
/// four.
fn push(endpoints: &mut Vec<(String, QoS)>, node: &str, qos: QoS) {
    if endpoints.is_empty() {
        endpoints.reserve_exact(1);
    }
    endpoints.push((node.into(), qos));
}

impl GraphBuilder {
    /// Records that `node` publishes on `topic`, which exists. Linear in the number of its
    /// subscriptions.
    pub(crate) fn offer(&mut self, topic: &str, node: &str, qos: QoS) -> Compatible {
        let endpoints = self.endpoints(topic);
        for (subscription, requested) in &endpoints.requested {
            check_pair(topic, (node, &qos), (subscription, requested))?;
        }
        push(&mut endpoints.offered, node, qos);
        Ok(())
    }

    /// Records that `node` subscribes to `topic`, which exists. Linear in the number of its
    /// publishers.
    pub(crate) fn request(&mut self, topic: &str, node: &str, qos: QoS) -> Compatible {
        let endpoints = self.endpoints(topic);
        for (publisher, offered) in &endpoints.offered {
            check_pair(topic, (publisher, offered), (node, &qos))?;
        }
        push(&mut endpoints.requested, node, qos);
        Ok(())
    }

    /// A publisher of `node` on `topic` with this QoS ends; returns the topic's registry.
    pub(crate) fn leave(&mut self, topic: &str, node: &str, qos: QoS) -> Arc<LivelinessRegistry> {
        let endpoints = self.endpoints(topic);
        let offered = &mut endpoints.offered;
        if let Some(place) = offered.iter().position(|of| of.0 == node && of.1 == qos) {
            offered.remove(place);
        }
        endpoints.registry.clone()
    }

    /// A subscription of `node` to `topic` with this QoS ends.
    pub(crate) fn withdraw(&mut self, topic: &str, node: &str, qos: QoS) {
        let endpoints = self.endpoints(topic);
        let requested = &mut endpoints.requested;
        if let Some(place) = requested.iter().position(|of| of.0 == node && of.1 == qos) {
            requested.remove(place);
        }
        endpoints.registry.unsubscribed();
    }

    /// The nodes that publish on `topic` and the QoS that they offer, in order of creation.
    pub(crate) fn offered_qos(&self, topic: &str) -> Vec<(String, QoS)> {
        self.topics.get(topic).map(|topic| topic.endpoints.offered.clone()).unwrap_or_default()
    }

    /// The liveliness of the publishers of `topic`, which exists.
    pub(crate) fn liveliness_registry(&mut self, topic: &str) -> Arc<LivelinessRegistry> {
        self.endpoints(topic).registry.clone()
    }

    /// The liveliness of a new publisher of `topic`, which exists.
    pub(crate) fn add_liveliness(
        &mut self,
        topic: &str,
        node_index: usize,
        qos: QoS,
    ) -> Arc<PublisherLiveliness> {
        let registry = self.liveliness_registry(topic);
        self.added.publishers.push((node_index, registry.clone()));
        registry.add(node_index, qos)
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
