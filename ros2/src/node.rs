//! The counterparts in rcl of a node of the graph, and of its publishers, subscriptions, services
//! and clients.

use crate::client::RosClient;
use crate::connection::{Connection, Traffic};
use crate::late_responses::LateResponses;
use crate::listeners::{Listener, ListenerCount, Missing};
use crate::noted::note;
use crate::parameters::{ParameterEvents, parameter_services};
use crate::rcl::{
    Client, Locals, Node, NodeOptions, Publisher, RequestId, Sequences, Service, Subscription,
};
use crate::reports::{Complaints, Reporter, Watched, WatchedEndpoint};
use ringspin_executor::observed::{self, RemoteChannel, RemoteItem};
use ringspin_executor::{
    AnnouncedService, BoxError, Durability, Error, Liveliness, MessageTimes, ParameterClient,
    ParameterEventKind, ParameterValue, QoS, RemoteClient, RemoteEvents, RemoteNode,
    RemoteNotifier, RemotePublisher, RemoteResponder, RemoteServer, RemoteSubscription,
    ServiceTypes, Time, TypeName,
};
use ringspin_messages::{CdrService, CdrType};
use ringspin_ringbuf::Counter;
use std::any::Any;
use std::sync::Arc;

/// A node in rcl's graph.
pub(crate) struct RosNode {
    node: Node,
    connection: Arc<Connection>,
    parameter_events: Option<ParameterEvents>,
    complaints: Arc<Complaints>,
}

impl RosNode {
    pub(crate) fn new(
        connection: Arc<Connection>,
        namespace: &str,
        name: &str,
    ) -> Result<Self, Error> {
        // The graph has remapped all names, and rcl's own arguments hold no rules for them.
        let node = Node::new(&connection.context, namespace, name, NodeOptions::default())?;
        connection.add_node(&node);
        let offered = connection.offers_parameters;
        let parameter_events = offered.then(|| ParameterEvents::new(&node)).transpose()?;
        let complaints = Arc::new(Complaints::new(node.fully_qualified_name()));
        Ok(Self { node, connection, parameter_events, complaints })
    }

    /// The reporter of `end`; `None` for a connection that receives nothing.
    fn reporter(&self, end: WatchedEndpoint, qos: QoS) -> Result<Option<Arc<Reporter>>, Error> {
        if self.connection.traffic == Traffic::PublishOnly {
            return Ok(None);
        }
        let watched = Arc::new(Watched { node: self.node.clone(), end, qos });
        let reporter = Reporter::new(watched, self.connection.matches_locals, &self.complaints)?;
        Ok(Some(Arc::new(reporter)))
    }

    /// The ROS type of `topic`, given the Rust type of its messages; `None` if that stays within
    /// the process.
    fn topic_table(
        &self,
        topic: &str,
        message: TypeName,
    ) -> Result<Option<&'static CdrType>, Error> {
        let table = self.connection.named.topic(topic, message)?;
        Ok(table.or_else(|| self.connection.types.message(message.id)))
    }

    /// The ROS type of `service`; `None` if that stays within the process.
    fn service_table(&self, service: &str, types: ServiceTypes) -> Option<&'static CdrService> {
        let known = || self.connection.types.service(types.request.id, types.response.id);
        self.connection.named.service(service, types).or_else(known)
    }

    /// Distinguishes overwritten messages of `topic` from ignored ones.
    fn missing(&self, topic: &str, qos: &QoS, locals: Locals) -> Missing {
        let ignores = locals == Locals::Ignore && self.connection.matches_locals;
        Missing::new(ignores.then(|| self.connection.listeners.sent(topic)), qos)
    }
}

impl RemoteNode for RosNode {
    fn advertise(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
    ) -> Result<Option<Arc<dyn RemotePublisher>>, BoxError> {
        let sent = self.connection.listeners.sent(topic);
        let Some(table) = self.topic_table(topic, message)? else {
            return Ok(None);
        };
        let publisher = Publisher::of_table(&self.node, table, topic, &qos)?;
        // A later subscription may want a message that has no receiver now; and a message is a sign
        // of life, and keeps a deadline. With loopback all go through ROS 2.
        let is_needed = qos.durability() != Durability::Volatile
            || qos.liveliness() == Liveliness::ManualByTopic
            || qos.deadline_period().is_some();
        let skips = !is_needed && self.connection.traffic != Traffic::Loopback;
        let listeners = skips.then(|| self.connection.listeners.count(topic));
        let inside = listeners.map(|count| Inside { count, matches: self.connection.knows_locals });
        let reporter = self.reporter(WatchedEndpoint::Publisher(publisher.share()), qos)?;
        Ok(Some(Arc::new(RosPublisher { publisher, inside, sent, reporter })))
    }

    fn subscribe(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteSubscription>>, BoxError> {
        let locals = match self.connection.traffic {
            Traffic::Loopback => Locals::Deliver,
            Traffic::Direct | Traffic::PublishOnly => Locals::Ignore,
        };
        let missing = self.missing(topic, &qos, locals);
        let times = MessageTimes::UNKNOWN;
        let Some(table) = self.topic_table(topic, message)? else {
            return Ok(None);
        };
        let from = Subscription::of_table(&self.node, table, topic, &qos, locals)?;
        from.on_new_message(move |count| remote_notifier.announce(count))?;
        let reporter = self.reporter(WatchedEndpoint::Subscription(from.share()), qos)?;
        let _listener = self.connection.listeners.add(topic);
        let sequences = Sequences::default();
        let channel = Arc::new(table.channel(topic));
        let subscription =
            RosSubscription { from, channel, times, missing, sequences, reporter, _listener };
        Ok(Some(Box::new(subscription)))
    }

    fn serve(
        &self,
        service: &str,
        types: ServiceTypes,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteServer>>, BoxError> {
        let Some(table) = self.service_table(service, types) else {
            return Ok(None);
        };
        let server = Service::of_table(&self.node, table, service, &qos)?;
        server.on_new_request(move |count| remote_notifier.announce(count))?;
        let (late, channel) =
            (Arc::new(LateResponses::new(server)), table.request_channel(service));
        Ok(Some(Box::new(RosServer { late, channel: Arc::new(channel) })))
    }

    fn call(
        &self,
        service: &str,
        types: ServiceTypes,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Arc<dyn RemoteClient>>, BoxError> {
        let Some(table) = self.service_table(service, types) else {
            return Ok(None);
        };
        let client = Client::of_table(&self.node, table, service, &qos)?;
        let watch = &self.connection.server_watch;
        let observer = || self.connection.observer();
        let channel = Arc::new(table.response_channel(service));
        let client = RosClient::new((client, channel), remote_notifier, watch, observer)?;
        Ok(Some(Arc::new(client)))
    }

    fn middleware_services(
        &self,
        parameters: ParameterClient,
    ) -> Result<Vec<AnnouncedService>, BoxError> {
        let mut middleware_services = Vec::new();
        if self.connection.traffic != Traffic::PublishOnly {
            middleware_services.push(self.complaints.middleware_service());
        }
        if self.connection.offers_parameters {
            middleware_services.append(&mut parameter_services(&self.node, &parameters)?);
        }
        Ok(middleware_services)
    }

    fn parameters_changed(
        &self,
        kind: ParameterEventKind,
        values: &[(String, ParameterValue)],
        now: Option<Time>,
    ) {
        if let Some(events) = &self.parameter_events {
            events.publish(kind, values, now);
        }
    }
}

struct RosPublisher {
    publisher: Publisher,
    /// `None` if every message has to be serialized.
    inside: Option<Inside>,
    sent: Arc<Counter>,
    reporter: Option<Arc<Reporter>>,
}

/// The subscriptions that get a publisher's messages directly.
struct Inside {
    count: ListenerCount,
    /// Whether it is certain that the middleware connects the publisher with them, too.
    matches: bool,
}

impl Inside {
    /// The number of these subscriptions that the middleware has connected with the publisher.
    fn matched(&self) -> usize {
        if self.matches { self.count.get() } else { 0 }
    }
}

impl RemotePublisher for RosPublisher {
    fn publish(&self, message: &dyn Any) -> Result<(), BoxError> {
        if let Some(inside) = &self.inside
            && self.publisher.subscription_count()? <= inside.matched()
        {
            return Ok(());
        }
        self.sent.next();
        Ok(self.publisher.publish(message)?)
    }

    fn assert_liveliness(&self) -> Result<(), BoxError> {
        Ok(self.publisher.assert_liveliness()?)
    }

    fn subscription_count(&self) -> Result<usize, BoxError> {
        Ok(self.publisher.subscription_count()?)
    }

    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        Some(self.reporter.clone()?)
    }
}

struct RosSubscription {
    from: Subscription,
    /// Its messages in a flight record.
    channel: Arc<RemoteChannel>,
    /// Times of the last message taken.
    times: MessageTimes,
    missing: Missing,
    sequences: Sequences,
    reporter: Option<Arc<Reporter>>,
    _listener: Listener,
}

impl RemoteSubscription for RosSubscription {
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError> {
        let Some(info) = self.from.take(into)? else {
            return Ok(false);
        };
        self.sequences.note(&info);
        self.times = info.times();
        observed::note_item(|| RemoteItem {
            channel: self.channel.clone(),
            number: 0,
            source_ns: self.times.source_timestamp.as_nanos(),
            received_ns: self.times.received_timestamp.as_nanos(),
            bytes: self.from.last_bytes().to_vec(),
        });
        Ok(true)
    }

    fn times(&self) -> MessageTimes {
        self.times
    }

    fn overwritten(&mut self, missing: u64) -> u64 {
        self.missing.overwritten(missing)
    }

    fn skipped(&self) -> Option<u64> {
        self.sequences.skipped()
    }

    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        Some(self.reporter.clone()?)
    }
}

struct RosServer {
    late: Arc<LateResponses>,
    /// Its requests in a flight record.
    channel: Arc<RemoteChannel>,
}

impl RemoteServer for RosServer {
    fn take(&mut self, into: &mut dyn Any) -> Result<Option<Arc<dyn RemoteResponder>>, BoxError> {
        let request =
            self.late.service().take_request_noting(into, |bytes| note(&self.channel, 0, bytes))?;
        let late = self.late.clone();
        Ok(request.map(|request| -> Arc<dyn RemoteResponder> {
            Arc::new(RosResponder { late, request })
        }))
    }
}

struct RosResponder {
    late: Arc<LateResponses>,
    request: RequestId,
}

impl RemoteResponder for RosResponder {
    fn respond(&self, response: &dyn Any) -> Result<bool, BoxError> {
        Ok(self.late.send_now(self.request, response)?)
    }

    fn respond_later(&self, response: Box<dyn Any + Send + Sync>) {
        self.late.add(self.request, response);
    }
}
