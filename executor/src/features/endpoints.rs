//! Creation of publishers and subscriptions, and subscriptions that collect messages for code
//! outside of the graph.
//!
//! The thread that creates an endpoint holds the graph's lock from the first check to the last
//! part: of two threads that create incompatible endpoints, one gets the error. A publisher ends
//! with its last handle, because nothing else can publish through it; a subscription ends with its
//! node, because its callback belongs to the loop and needs no handle. The event loop appends to a
//! collector and its holder takes from it, under a lock: a ring would need a bound, and a collector
//! has none.

use crate::base::departure::{End, Registration};
use crate::base::error::Result;
use crate::base::event::CallbackId;
use crate::base::lock::lock;
use crate::base::name::NameKind;
use crate::base::qos::QoS;
use crate::base::time::Time;
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::message::Message;
use crate::delivery::remote::{Remote, RemoteNotifier};
use crate::delivery::topic::{Publisher, PublisherPolicy, Topic};
use crate::features::qos_events::watch::Watched;
use crate::features::qos_events::{PublisherCallbacks, SubscriptionCallbacks, SubscriptionEvents};
use crate::running::event_loop::{CallbackResult, EntityPort, SubscriptionEntity};
use crate::running::graph::{
    Builder, CallbackSpec, EventSource, GraphBuilder, PublisherEnd, Receives, check_depth,
};
use crate::running::node::{Node, NodeHandle};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A subscription. It belongs to its node: dropping this handle, or all clones of it, changes
/// nothing.
///
/// ```
/// # use ringspin_executor::{Graph, Message, QoS};
/// # let graph = Graph::new();
/// # let node = graph.create_node("planner", ())?;
/// let scans = node.create_subscription("scan", QoS::default(), |_, _: &Message<u32>, _| ())?;
/// assert_eq!(scans.topic(), "/scan");
/// scans.destroy();
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subscription(Arc<Registered>);

#[derive(Debug)]
struct Registered {
    name: Arc<str>,
    callback: CallbackId,
    registration: Registration,
}

impl Subscription {
    /// The topic's fully qualified name.
    pub fn topic(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn callback(&self) -> CallbackId {
        self.0.callback
    }

    /// Ends the subscription: it receives no later message, and the messages that wait for it are
    /// dropped and counted as [`discarded`](crate::CallbackStatistics::discarded). Its callback is
    /// dropped at the next pause of its event loop, a call that runs finishes. From any thread, and
    /// in its own callback. Further calls have no effect.
    pub fn destroy(&self) {
        self.0.registration.destroy();
    }
}

/// A subscription in the graph, to which its entity has to be added.
pub(crate) struct Declared<'a, M> {
    pub(crate) builder: Builder<'a>,
    pub(crate) topic: Arc<Topic<M>>,
    pub(crate) callback: CallbackId,
    pub(crate) counters: Arc<CallbackCounters>,
    /// The messages of the middleware, if there is one.
    pub(crate) remote: Option<Remote<M>>,
}

impl Subscription {
    pub(crate) fn create<S, M, F, R>(
        node: &Node<S>,
        topic: &str,
        qos: QoS,
        events: SubscriptionEvents<S>,
        callback: F,
    ) -> Result<Subscription>
    where
        S: Send + 'static,
        M: Send + Sync + 'static,
        F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let declared = node.handle.declare_subscription::<M>("subscription", topic, qos)?;
        let Declared { mut builder, topic, callback: id, counters, remote } = declared;
        let remote_notifier = remote.as_ref().map(|remote| remote.remote_notifier.clone());
        let reporter = remote.as_ref().and_then(|remote| remote.events.clone());
        let receiver = topic.subscribe((id, qos), 0, counters.clone(), remote, None);
        let entity = SubscriptionEntity::new(receiver, callback);
        builder.add_entity::<S>(node.event_loop(), Box::new(entity));
        let name = format!("subscription {}", topic.name);
        let watched = Watched { name, topic: &topic.name, qos, remote: reporter };
        let watches = (remote_notifier, counters, events.callbacks);
        node.handle.finish_subscription(builder, id, &watched, watches)?;
        let registration = node.handle.graph.registration(id);
        let name = topic.name.clone();
        Ok(Subscription(Arc::new(Registered { name, callback: id, registration })))
    }
}

type Watches = (Option<RemoteNotifier>, Arc<CallbackCounters>, SubscriptionCallbacks);

impl NodeHandle {
    pub(crate) fn add_publisher<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
        events: PublisherCallbacks,
    ) -> Result<Publisher<M>> {
        let topic = self.resolve(NameKind::Topic, topic)?;
        if qos.is_transient_local() {
            check_depth::<M>(&topic, qos)?;
        }
        let name = format!("publisher {topic}");
        let mut builder = self.builder(&name)?;
        let typed = builder.topic::<M>(&topic, &self.full_name)?;
        // First, because it may fail and leave nothing behind.
        let remote = builder.advertise::<M>(self.node_index, &topic, qos)?;
        builder.offer(&topic, &self.full_name, qos)?;
        let source = builder.next_source();
        builder.topic_info(&topic).publishers.push((self.event_loop, source));
        let liveliness = builder.add_liveliness(&topic, self.node_index, qos);
        let reporter =
            remote.as_ref().filter(|_| builder.receives()).and_then(|remote| remote.events());
        typed.add_publisher(qos);
        let (clock, check) = (builder.clock.clone(), builder.message_check::<M>());
        let policy =
            PublisherPolicy::new((&typed, source), (qos, check), clock, &liveliness, remote);
        if qos.is_transient_local() {
            builder.add_cache(typed.clone(), source);
        }
        let (node, end) = (self.full_name.clone(), typed.clone());
        let end = PublisherEnd {
            topic: end,
            name: topic.clone(),
            node,
            qos,
            liveliness: liveliness.clone(),
        };
        builder.add_publisher_end(source, end);
        // From here on an error ends the publisher.
        let departure = self.graph.departure(&builder, End::Publisher(source));
        let watched = Watched { name, topic: &topic, qos, remote: reporter };
        builder.set_owner(Some(End::Publisher(source)));
        self.watch_publisher(&mut builder, &watched, liveliness, events)?;
        Ok(Publisher::new(typed, source, policy.map(Arc::new), Some(departure)))
    }

    /// Adds the watches of subscription `id`, or ends it.
    fn finish_subscription(
        &self,
        mut builder: Builder<'_>,
        id: CallbackId,
        watched: &Watched<'_>,
        (remote_notifier, counters, events): Watches,
    ) -> Result<()> {
        builder.set_owner(Some(End::Entity(id)));
        let added =
            self.watch_subscription(&mut builder, watched, remote_notifier, counters, events);
        added.inspect_err(|_| builder.destroy(id))
    }

    /// Adds a subscription's callback to the graph, named after `kind` and its topic.
    pub(crate) fn declare_subscription<M: Send + Sync + 'static>(
        &self,
        kind: &str,
        topic: &str,
        qos: QoS,
    ) -> Result<Declared<'_, M>> {
        let name = self.resolve(NameKind::Topic, topic)?;
        let mut builder = self.builder(&format!("{kind} {name}"))?;
        let mut connector = Connector::new(self, &mut builder);
        let source = connector.source(name, qos)?;
        let (callback, counters) = connector.add(kind, &source, qos);
        let (topic, remote) = source;
        Ok(Declared { builder, topic, callback, counters, remote })
    }
}

/// The topic of a subscription, and the middleware's messages of it.
pub(crate) type MessageSource<M> = (Arc<Topic<M>>, Option<Remote<M>>);

/// Adds the inputs of one entity to the graph, in the order of its ports. All of them are checked
/// by [`source`](Self::source) before the first one is added, so that an error leaves nothing.
pub struct Connector<'a> {
    builder: &'a mut GraphBuilder,
    node: &'a NodeHandle,
    /// The destination of the next input's events.
    target: EntityPort,
    pub(crate) first: Option<CallbackId>,
    depths: usize,
}

impl<'a> Connector<'a> {
    pub(crate) fn new(node: &'a NodeHandle, builder: &'a mut GraphBuilder) -> Self {
        let target = builder.next_target(node.event_loop);
        Self { target, builder, node, first: None, depths: 0 }
    }

    /// The source of an input's messages, by the name of its topic in the node.
    pub(crate) fn resolve<M: Send + Sync + 'static>(
        &mut self,
        topic: &str,
        qos: QoS,
    ) -> Result<MessageSource<M>> {
        let node = (&*self.node.namespace, &*self.node.base_name);
        let name = self.builder.resolve_name(NameKind::Topic, topic, node)?;
        self.source(name, qos)
    }

    fn source<M: Send + Sync + 'static>(
        &mut self,
        name: String,
        qos: QoS,
    ) -> Result<MessageSource<M>> {
        check_depth::<M>(&name, qos).map_err(|error| error.in_node(&*self.node.full_name))?;
        self.builder.check_room(self.node.event_loop, &name, qos.depth(), self.depths)?;
        self.depths += qos.depth();
        let topic = self.builder.topic::<M>(&name, &self.node.full_name)?;
        // First, because it may fail and leave nothing behind.
        let remote = self.builder.subscribe_remotely::<M>(self.node.node_index, &name, qos)?;
        self.builder.check_request(&name, &self.node.full_name, qos)?;
        Ok((topic, remote))
    }

    /// Adds the callback of the next input, named after `kind` and its topic.
    pub(crate) fn add<M: Send + Sync + 'static>(
        &mut self,
        kind: &str,
        (topic, remote): &MessageSource<M>,
        qos: QoS,
    ) -> (CallbackId, Arc<CallbackCounters>) {
        let counters = Arc::<CallbackCounters>::default();
        let source = EventSource::queue(qos.depth(), remote.as_ref());
        let spec = CallbackSpec::new(self.target, source, counters.clone());
        self.target.port += 1;
        let name = &topic.name;
        let id = self.builder.add_callback(self.node.event_loop, format!("{kind} {name}"), spec);
        self.first.get_or_insert(id);
        self.builder.topic_info(name).subscriptions.push(id);
        self.builder.set_receives(id, Receives::Topic(topic.clone(), name.to_string(), qos));
        self.builder.request(name, &self.node.full_name, qos);
        (id, counters)
    }
}

/// A queue that keeps the messages of a topic until they are taken; cheap to clone.
pub struct Collector<M>(Arc<Mutex<VecDeque<Received<M>>>>);

type Received<M> = (Time, Message<M>);

impl<M> Collector<M> {
    /// The oldest message and the time of its reception.
    pub fn pop(&self) -> Option<(Time, Message<M>)> {
        lock(&self.0).pop_front()
    }

    /// All messages, oldest first, with the times at which they were received.
    pub fn take(&self) -> Vec<(Time, Message<M>)> {
        lock(&self.0).drain(..).collect()
    }

    /// The number of waiting messages.
    pub fn len(&self) -> usize {
        lock(&self.0).len()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<M: Clone> Collector<M> {
    /// Copies of all messages, oldest first, which are taken.
    pub fn values(&self) -> Vec<M> {
        self.take().into_iter().map(|(_, message)| M::clone(&message)).collect()
    }
}

impl<M> Clone for Collector<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> fmt::Debug for Collector<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("len", &self.len()).finish()
    }
}

impl<M: Send + Sync + 'static> Collector<M> {
    pub(crate) fn create<S: Send + 'static>(node: &Node<S>, topic: &str, qos: QoS) -> Result<Self> {
        let collector = Collector(Arc::default());
        let collected = collector.0.clone();
        let collect = move |_: &mut S, message: &Message<M>, cx: &mut Context<'_>| {
            lock(&collected).push_back((cx.now(), message.clone()));
        };
        node.create_subscription(topic, qos.held(usize::MAX), collect)?;
        Ok(collector)
    }
}
