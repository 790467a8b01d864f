//! Creation of publishers and subscriptions.

use crate::context::Context;
use crate::control::CallbackCounters;
use crate::entity::{CallbackSpec, EventSource};
use crate::event::CallbackId;
use crate::event_loop::{CallbackResult, SubscriptionEntity};
use crate::graph::{CreatePublisherError, CreateSubscriptionError, GraphBuilder, check_depth};
use crate::message::Message;
use crate::node::Node;
use crate::qos::QoS;
use crate::qos_events::attach::Watched;
use crate::qos_events::{PublisherEvents, SubscriptionEvents};
use crate::remote::Remote;
use crate::topic::{LateSubscription, Publisher, PublisherPolicy, Topic};
use std::sync::{Arc, MutexGuard};

/// A subscription in the graph, to which its entity has to be added.
pub(crate) struct Declared<'a, M, R> {
    pub(crate) builder: MutexGuard<'a, GraphBuilder>,
    pub(crate) topic: Arc<Topic<M>>,
    pub(crate) callback: CallbackId,
    pub(crate) counters: Arc<CallbackCounters>,
    /// The messages of the middleware, if there is one.
    pub(crate) remote: Option<R>,
}

/// A subscription beyond the process, if a middleware carries its type.
type Subscribed<R> = Result<Option<R>, CreateSubscriptionError>;

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
    /// out of range, or a frozen graph.
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
        let registry = builder.liveliness_registry(&topic);
        let liveliness = registry.add(self.node_index(), qos);
        let reporter =
            remote.as_ref().filter(|_| builder.receives()).and_then(|remote| remote.events());
        typed.add_publisher(qos);
        let policy =
            PublisherPolicy::new(&typed, qos, builder.clock().clone(), &liveliness, remote);
        if let Some(cache) = policy.as_ref().and_then(|policy| policy.cache_number) {
            builder.add_cache(typed.clone(), cache);
        }
        let watched = Watched { name, topic: &topic, qos, remote: reporter };
        self.watch_publisher(&mut builder, &watched, liveliness, events)?;
        Ok(Publisher::new(typed, source, policy.map(Arc::new)))
    }

    /// Calls `callback` for each message of type `M` on `topic`.
    ///
    /// # Errors
    /// [`CreateSubscriptionError`] for an invalid name, another message type on the topic, a
    /// publisher that offers less than `qos` requests, a depth out of range, or a frozen graph.
    pub fn create_subscription<M, F, R>(
        &self,
        topic: &str,
        qos: QoS,
        callback: F,
    ) -> Result<(), CreateSubscriptionError>
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
    ) -> Result<(), CreateSubscriptionError>
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
        builder
            .body::<S>(self.event_loop())
            .add(Box::new(SubscriptionEntity::new(receiver, callback)));
        let name = format!("subscription {}", topic.name);
        let watched = Watched { name, topic: &topic.name, qos, remote: reporter };
        self.watch_subscription(&mut builder, &watched, remote_notifier, counters, events)?;
        Ok(())
    }

    /// Declares a subscription that joins `topic` only when it is
    /// [activated](LateSubscription::activate), and then first gets the newest messages that the
    /// publishers keep.
    ///
    /// It requests transient-local durability, whether `qos` says so or not.
    ///
    /// # Errors
    /// The errors of [`create_subscription`](Self::create_subscription).
    ///
    /// ```
    /// # use ringspin_executor::{Graph, Message, QoS};
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("planner", String::new())?;
    /// let qos = QoS::keep_last(1);
    /// let map = node.create_late_subscription("map", qos, |known, map: &Message<String>, _| {
    ///     String::clone_from(known, map);
    /// })?;
    /// // Once the map is needed, in whatever callback or thread:
    /// map.activate();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_late_subscription<M, F, R>(
        &self,
        topic: &str,
        qos: QoS,
        callback: F,
    ) -> Result<LateSubscription, CreateSubscriptionError>
    where
        M: Send + Sync + 'static,
        F: FnMut(&mut S, &Message<M>, &mut Context<'_>) -> R + Send + 'static,
        R: CallbackResult + 'static,
    {
        let qos = qos.transient_local();
        let subscribe = GraphBuilder::subscribe_remotely_later::<M>;
        let declared =
            self.declare("late subscription", topic, qos, subscribe, |(remote, _)| remote)?;
        let Declared { mut builder, topic, callback: id, counters, remote } = declared;
        let (late, receiver) = topic.subscribe_late(id, qos, counters, remote);
        builder
            .body::<S>(self.event_loop())
            .add(Box::new(SubscriptionEntity::new(receiver, callback)));
        Ok(late)
    }

    /// Adds a subscription's callback to the graph, named after `kind` and its topic.
    pub(crate) fn declare_subscription<M: Send + Sync + 'static>(
        &self,
        kind: &str,
        topic: &str,
        qos: QoS,
    ) -> Result<Declared<'_, M, Remote<M>>, CreateSubscriptionError> {
        self.declare(kind, topic, qos, GraphBuilder::subscribe_remotely::<M>, |remote| remote)
    }

    /// Declares a subscription like [`declare_subscription`](Self::declare_subscription).
    /// `subscribe` creates the entry for messages of other processes; `remote` finds it in the
    /// result.
    fn declare<M: Send + Sync + 'static, R>(
        &self,
        kind: &str,
        topic: &str,
        qos: QoS,
        subscribe: impl FnOnce(&mut GraphBuilder, usize, &str, QoS) -> Subscribed<R>,
        remote_of: impl FnOnce(&R) -> &Remote<M>,
    ) -> Result<Declared<'_, M, R>, CreateSubscriptionError> {
        let name = self.resolve_topic_name(topic)?;
        check_depth(&name, qos)?;
        let callback_name = format!("{kind} {name}");
        let mut builder = self.builder(&callback_name)?;
        let topic = builder.topic::<M>(&name, self.full_name())?;
        // First, because it may fail and leave nothing behind.
        let remote = subscribe(&mut builder, self.node_index(), &name, qos)?;
        builder.request(&name, self.full_name(), qos)?;
        let counters = Arc::<CallbackCounters>::default();
        let spec = CallbackSpec {
            target: builder.next_target(self.event_loop()),
            source: EventSource::queue(qos.depth(), remote.as_ref().map(remote_of)),
            deadline: None,
            counters: counters.clone(),
        };
        let callback = builder.add_callback(self.event_loop(), callback_name, spec);
        builder.topic_info(&name).subscriptions.push(callback);
        builder.liveliness_registry(&name).subscriptions.next();
        Ok(Declared { builder, topic, callback, counters, remote })
    }
}
