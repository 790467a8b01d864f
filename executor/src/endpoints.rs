//! Creation of publishers and subscriptions.

use crate::context::Context;
use crate::control::CallbackCounters;
use crate::departure::End;
use crate::entity::{CallbackSpec, EventSource};
use crate::event::CallbackId;
use crate::event_loop::{CallbackResult, SubscriptionEntity};
use crate::graph::{
    Builder, CreatePublisherError, CreateSubscriptionError, PublisherEnd, Receives, check_depth,
};
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::qos_events::attach::Watched;
use crate::qos_events::{PublisherEvents, SubscriptionEvents};
use crate::registration::Registration;
use crate::remote::Remote;
use crate::topic::{Publisher, PublisherPolicy, Topic};
use std::sync::Arc;

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
/// # Ok::<(), Box<dyn std::error::Error>>(())
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

    /// Ends the subscription: it gets nothing that is published from now on, and what waits for it
    /// is dropped and counted as [`discarded`](crate::CallbackStatistics::discarded). Its callback
    /// is dropped at the next pause of its event loop, a call that runs finishes. From any thread,
    /// and in its own callback. Further calls have no effect.
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

impl<S: Send + 'static> Node<S> {
    /// Creates a publisher of messages of type `M`.
    ///
    /// If it is transient-local, it keeps its newest messages, as many as the depth of `qos`. It
    /// may publish while the graph is being built: at the start, subscriptions that request
    /// transient-local durability get the kept messages before any later one. The kept messages of
    /// several publishers are delivered in order of their creation.
    ///
    /// # Errors
    /// [`CreatePublisherError`] for an invalid name, another message type on the topic, a
    /// subscription that requests more than `qos` offers, a transient-local publisher with a depth
    /// out of range, or an executor that is gone.
    pub fn create_publisher<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
    ) -> Result<Publisher<M>, CreatePublisherError> {
        self.create_publisher_with_events(topic, qos, PublisherEvents::new())
    }

    /// Creates a publisher like [`create_publisher`](Self::create_publisher), with callbacks for
    /// its events, which run in this callback group.
    ///
    /// # Errors
    /// The errors of [`create_publisher`](Self::create_publisher).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, PublisherEvents, QoS};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("lidar", ())?;
    /// let qos = QoS::sensor_data().deadline(Duration::from_millis(100));
    /// let events = PublisherEvents::new()
    ///     .on_deadline_missed(|_, missed, cx| println!("{}: {missed:?}", cx.node()));
    /// let out = node.create_publisher_with_events::<Vec<f32>>("scan", qos, events)?;
    /// # let _ = out;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_publisher_with_events<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        qos: QoS,
        events: PublisherEvents<S>,
    ) -> Result<Publisher<M>, CreatePublisherError> {
        let topic = self.resolve_topic_name(topic)?;
        if qos.is_transient_local() {
            check_depth(&topic, qos)?;
        }
        let name = format!("publisher {topic}");
        let mut builder = self.builder(&name)?;
        let typed = builder.topic::<M>(&topic, self.full_name())?;
        // First, because it may fail and leave nothing behind.
        let remote = builder.advertise::<M>(self.node_index(), &topic, qos)?;
        builder.offer(&topic, self.full_name(), qos)?;
        let source = builder.next_source();
        builder.topic_info(&topic).publishers.push((self.event_loop(), source));
        let liveliness = builder.add_liveliness(&topic, self.node_index(), qos);
        let reporter =
            remote.as_ref().filter(|_| builder.receives()).and_then(|remote| remote.events());
        typed.add_publisher(qos);
        let policy = PublisherPolicy::new(
            (&typed, source),
            qos,
            builder.clock().clone(),
            &liveliness,
            remote,
        );
        if qos.is_transient_local() {
            builder.add_cache(typed.clone(), source);
        }
        let (node, end) = (self.full_name().to_owned(), typed.clone());
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

    /// Calls `callback` for each message of type `M` on `topic`.
    ///
    /// # Errors
    /// [`CreateSubscriptionError`] for an invalid name, another message type on the topic, a
    /// publisher that offers less than `qos` requests, a depth out of range, or an executor that is
    /// gone.
    pub fn create_subscription<M, F, R>(
        &self,
        topic: &str,
        qos: QoS,
        callback: F,
    ) -> Result<Subscription, CreateSubscriptionError>
    where
        M: Send + Sync + 'static,
        F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        self.create_subscription_with_events(topic, qos, SubscriptionEvents::new(), callback)
    }

    /// Creates a subscription like [`create_subscription`](Self::create_subscription), with
    /// callbacks for its events, which run in this callback group.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS, SubscriptionEvents};
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("planner", 0u64)?;
    /// let qos = QoS::sensor_data().deadline(Duration::from_millis(100));
    /// let events = SubscriptionEvents::new()
    ///     .on_deadline_missed(|gaps: &mut u64, missed, _| *gaps = missed.total_count)
    ///     .on_liveliness_changed(|_, changed, cx| println!("{}: {changed:?}", cx.now()));
    /// node.create_subscription_with_events("scan", qos, events, |_, scan: &Message<Vec<f32>>, _| {
    ///     println!("{} points", scan.len());
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_subscription_with_events<M, F, R>(
        &self,
        topic: &str,
        qos: QoS,
        events: SubscriptionEvents<S>,
        callback: F,
    ) -> Result<Subscription, CreateSubscriptionError>
    where
        M: Send + Sync + 'static,
        F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let declared = self.declare_subscription::<M>("subscription", topic, qos)?;
        let Declared { mut builder, topic, callback: id, counters, remote } = declared;
        let remote_notifier = remote.as_ref().map(|remote| remote.remote_notifier.clone());
        let reporter = remote.as_ref().and_then(|remote| remote.events.clone());
        let receiver = topic.subscribe(id, qos, 0, counters.clone(), remote);
        builder.add_entity::<S>(
            self.event_loop(),
            Box::new(SubscriptionEntity::new(receiver, callback)),
        );
        let name = format!("subscription {}", topic.name);
        let watched = Watched { name, topic: &topic.name, qos, remote: reporter };
        builder.set_owner(Some(End::Entity(id)));
        let added =
            self.watch_subscription(&mut builder, &watched, remote_notifier, counters, events);
        added.inspect_err(|_| builder.destroy(id))?;
        drop(builder);
        let registration = self.graph.registration(id);
        let name = topic.name.clone();
        Ok(Subscription(Arc::new(Registered { name, callback: id, registration })))
    }

    /// Adds a subscription's callback to the graph, named after `kind` and its topic.
    pub(crate) fn declare_subscription<M: Send + Sync + 'static>(
        &self,
        kind: &str,
        topic: &str,
        qos: QoS,
    ) -> Result<Declared<'_, M>, CreateSubscriptionError> {
        let name = self.resolve_topic_name(topic)?;
        check_depth(&name, qos)?;
        let callback_name = format!("{kind} {name}");
        let mut builder = self.builder(&callback_name)?;
        builder.check_room(self.event_loop(), &name, qos.depth(), 0)?;
        let topic = builder.topic::<M>(&name, self.full_name())?;
        // First, because it may fail and leave nothing behind.
        let remote = builder.subscribe_remotely::<M>(self.node_index(), &name, qos)?;
        builder.request(&name, self.full_name(), qos)?;
        let counters = Arc::<CallbackCounters>::default();
        let spec = CallbackSpec::new(
            builder.next_target(self.event_loop()),
            EventSource::queue(qos.depth(), remote.as_ref()),
            counters.clone(),
        );
        let callback = builder.add_callback(self.event_loop(), callback_name, spec);
        builder.topic_info(&name).subscriptions.push(callback);
        builder.set_receives(callback, Receives::Topic(topic.clone(), name.clone(), qos));
        builder.liveliness_registry(&name).subscribed();
        Ok(Declared { builder, topic, callback, counters, remote })
    }
}
