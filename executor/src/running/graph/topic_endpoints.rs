//! The endpoints of a topic: each new one has to fit all that are there. The graph writes the lists
//! under its lock when ends come and go; recorders and QoS events read them.

use super::GraphBuilder;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::lock::lock;
use crate::base::qos::{Incompatibility, QoS};
use crate::delivery::domain::{DomainEndpoints, Endpoints};
use crate::delivery::liveliness::{LivelinessRegistry, PublisherLiveliness};
use ringspin_ringbuf::reclaim::Domain;
use std::sync::{Arc, Mutex};

/// The QoS that nodes offer and request on a topic.
pub(super) struct TopicEndpoints {
    own: Arc<Mutex<Endpoints>>,
    /// With those of other graphs, if the topic meets theirs.
    of_domain: Option<Arc<DomainEndpoints>>,
    registry: Arc<LivelinessRegistry>,
}

impl TopicEndpoints {
    /// None yet.
    pub(super) fn new(domain: &Arc<Domain>, of_domain: Option<Arc<DomainEndpoints>>) -> Self {
        let registry = Arc::new(LivelinessRegistry::new(domain));
        let own = Arc::<Mutex<Endpoints>>::default();
        if let Some(of_domain) = &of_domain {
            of_domain.add(&own);
        }
        Self { own, of_domain, registry }
    }

    pub(super) fn is_offered(&self) -> bool {
        !lock(&self.own).offered.is_empty()
    }

    /// Calls `check` with the endpoints of each graph. Of two threads that add endpoints to two
    /// graphs at once, each may miss the other: then incompatible ends are connected, too.
    fn check(&self, check: impl Fn(&Endpoints) -> Result<()>) -> Result<()> {
        match &self.of_domain {
            None => check(&lock(&self.own)),
            Some(of_domain) => of_domain.all().iter().try_for_each(|of| check(&lock(of))),
        }
    }
}

/// Adds an endpoint. Most topics have one of each kind, for which `push` alone would make room for
/// four.
fn push(endpoints: &mut Vec<(String, QoS)>, node: &str, qos: QoS) {
    if endpoints.is_empty() {
        endpoints.reserve_exact(1);
    }
    endpoints.push((node.into(), qos));
}

fn remove(endpoints: &mut Vec<(String, QoS)>, node: &str, qos: QoS) {
    if let Some(place) = endpoints.iter().position(|of| of.0 == node && of.1 == qos) {
        endpoints.remove(place);
    }
}

impl GraphBuilder {
    /// Records that `node` publishes on `topic`, which exists. Linear in the number of its
    /// subscriptions.
    pub(crate) fn offer(&mut self, topic: &str, node: &str, qos: QoS) -> Result<()> {
        let endpoints = self.endpoints(topic);
        endpoints.check(|of| {
            of.requested.iter().try_for_each(|(subscription, requested)| {
                check_pair(topic, (node, &qos), (subscription, requested))
            })
        })?;
        push(&mut lock(&endpoints.own).offered, node, qos);
        Ok(())
    }

    /// Checks that `node` may subscribe to `topic`, which exists. Linear in the number of its
    /// publishers.
    pub(crate) fn check_request(&mut self, topic: &str, node: &str, qos: QoS) -> Result<()> {
        self.endpoints(topic).check(|of| {
            of.offered.iter().try_for_each(|(publisher, offered)| {
                check_pair(topic, (publisher, offered), (node, &qos))
            })
        })
    }

    /// Records that `node` subscribes to `topic`, after a [check](Self::check_request).
    pub(crate) fn request(&mut self, topic: &str, node: &str, qos: QoS) {
        let endpoints = self.endpoints(topic);
        push(&mut lock(&endpoints.own).requested, node, qos);
        endpoints.registry.subscribed();
    }

    /// A publisher of `node` on `topic` with this QoS ends; returns the topic's registry.
    pub(crate) fn leave(&mut self, topic: &str, node: &str, qos: QoS) -> Arc<LivelinessRegistry> {
        let endpoints = self.endpoints(topic);
        remove(&mut lock(&endpoints.own).offered, node, qos);
        endpoints.registry.clone()
    }

    /// A subscription of `node` to `topic` with this QoS ends.
    pub(crate) fn withdraw(&mut self, topic: &str, node: &str, qos: QoS) {
        let endpoints = self.endpoints(topic);
        remove(&mut lock(&endpoints.own).requested, node, qos);
        endpoints.registry.unsubscribed();
    }

    /// The nodes that publish on `topic` and the QoS that they offer, in order of creation.
    pub(crate) fn offered_qos(&self, topic: &str) -> Vec<(String, QoS)> {
        let topic = self.topics.get(topic);
        topic.map(|topic| lock(&topic.endpoints.own).offered.clone()).unwrap_or_default()
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
) -> Result<()> {
    let Some(Incompatibility { policy, offered, requested }) = offered.incompatibility(requested)
    else {
        return Ok(());
    };
    let text = format!(
        "failed to connect node {publisher} with node {subscription} on topic {topic}: the \
         {policy} offered is {offered}, but {requested} is requested; let the publisher offer \
         {requested}, or the subscription request {offered}"
    );
    Err(Error::new(ErrorKind::IncompatibleQos, text).on_topic(topic))
}
