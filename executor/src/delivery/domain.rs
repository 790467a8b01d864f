//! Executors of one process whose topics meet.
//!
//! A domain knows the topics of its graphs by name: the shared parts of each, and the QoS that the
//! graphs offer and request there. Threads look here when they create ends, with their graph
//! locked; publishers and workers never do.

use crate::base::lock::lock;
use crate::base::qos::QoS;
use crate::delivery::topic::SharedTopic;
use ringspin_ringbuf::{Counter, reclaim};
use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

/// A connection of executors in one process: their nodes hear each other, as nodes of one executor
/// do. Clones are the same domain.
///
/// A message goes from the publisher's thread directly into the queue of the other executor's
/// subscription, without a copy or a lock. Order, queues, counters, QoS and errors are those of
/// one executor. Apart for each executor are services, actions, parameters, the names of nodes,
/// and QoS events: deadline and liveliness of a publisher are not seen in other executors.
///
/// For the live modes only: executors have no common order that a deterministic run could repeat.
///
/// ```
/// use ringspin_executor::{Domain, Graph, Message, QoS};
/// let domain = Domain::new();
/// let (control, vision) = (Graph::new(), Graph::new());
/// control.join(&domain)?;
/// vision.join(&domain)?;
/// let camera = vision.create_node("camera", ())?;
/// let images = camera.create_publisher::<u64>("images", QoS::default())?;
/// let driver = control.create_node("driver", ())?;
/// driver.create_subscription("images", QoS::default(), |_, _: &Message<u64>, _| ())?;
/// assert_eq!(images.subscription_count()?, 1);
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Domain(Arc<Shared>);

#[derive(Default)]
struct Shared {
    topics: Mutex<BTreeMap<String, DomainTopic>>,
    /// The number of sources of all graphs.
    sources: Counter,
    /// The domains in which the graphs reclaim memory.
    reclaim: Mutex<Vec<Weak<reclaim::Domain>>>,
}

struct DomainTopic {
    message_type: &'static str,
    established_by: String,
    /// A `SharedTopic<M>`, as long as a graph has the topic.
    shared: Weak<dyn Any + Send + Sync>,
    endpoints: Arc<DomainEndpoints>,
}

/// The QoS that nodes offer and request on a topic of one graph.
#[derive(Default)]
pub(crate) struct Endpoints {
    pub(crate) offered: Vec<(String, QoS)>,
    pub(crate) requested: Vec<(String, QoS)>,
}

/// The endpoints of a topic in all graphs that have it.
#[derive(Default)]
pub(crate) struct DomainEndpoints(Mutex<Vec<Weak<Mutex<Endpoints>>>>);

impl DomainEndpoints {
    pub(crate) fn add(&self, of_graph: &Arc<Mutex<Endpoints>>) {
        let mut all = lock(&self.0);
        all.retain(|of| of.strong_count() > 0);
        all.push(Arc::downgrade(of_graph));
    }

    pub(crate) fn all(&self) -> Vec<Arc<Mutex<Endpoints>>> {
        lock(&self.0).iter().filter_map(Weak::upgrade).collect()
    }
}

/// A topic that another graph of the domain uses with another type.
pub(crate) struct OtherType {
    pub(crate) message_type: &'static str,
    pub(crate) established_by: String,
}

/// The parts of a topic that the graphs of a domain share.
pub(crate) type SharedParts<M> = (Arc<SharedTopic<M>>, Arc<DomainEndpoints>);

impl Domain {
    /// A domain without executors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether an executor uses topic `name`, which is fully qualified and remapped.
    pub fn has_topic(&self, name: &str) -> bool {
        let topics = lock(&self.0.topics);
        topics.get(name).is_some_and(|topic| topic.shared.strong_count() > 0)
    }

    /// Adds a graph, which reclaims memory in this domain.
    pub(crate) fn add(&self, reclaim: &Arc<reclaim::Domain>) {
        let mut all = lock(&self.0.reclaim);
        all.retain(|of| of.strong_count() > 0);
        all.push(Arc::downgrade(reclaim));
    }

    /// The number of the next source: those of all graphs differ, so that a receiver can tell the
    /// origins of its messages apart.
    pub(crate) fn next_source(&self) -> u32 {
        self.0.sources.next() as u32
    }

    /// The shared parts of topic `name`, which `node` uses.
    pub(crate) fn topic<M: Send + Sync + 'static>(
        &self,
        name: &str,
        node: &str,
    ) -> Result<SharedParts<M>, OtherType> {
        let mut topics = lock(&self.0.topics);
        topics.retain(|_, topic| topic.shared.strong_count() > 0);
        if let Some(topic) = topics.get(name)
            && let Some(shared) = topic.shared.upgrade()
        {
            let (message_type, established_by) = (topic.message_type, &topic.established_by);
            let other = || OtherType { message_type, established_by: established_by.clone() };
            let shared = shared.downcast().map_err(|_| other())?;
            return Ok((shared, topic.endpoints.clone()));
        }
        let (shared, endpoints) = (Arc::<SharedTopic<M>>::default(), Arc::default());
        let erased: Arc<dyn Any + Send + Sync> = shared.clone();
        let topic = DomainTopic {
            message_type: type_name::<M>(),
            established_by: node.into(),
            shared: Arc::downgrade(&erased),
            endpoints: Arc::clone(&endpoints),
        };
        topics.insert(name.into(), topic);
        Ok((shared, endpoints))
    }

    /// Frees the lists of ports that a change has replaced in other graphs. To be called without a
    /// lock, because messages of the user may be dropped.
    pub(crate) fn collect(&self) {
        let all: Vec<_> = lock(&self.0.reclaim).iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|of| of.collect());
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topics = lock(&self.0.topics);
        f.debug_struct("Domain").field("topics", &topics.keys()).finish_non_exhaustive()
    }
}
