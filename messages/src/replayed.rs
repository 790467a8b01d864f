//! The middleware of a replay: it has the items that a flight record of a run over ROS 2 holds, and
//! no connection. So a replay needs no ROS 2.
//!
//! The replay says which items the next callback took. The loop of that callback takes them from
//! here, as it took them from ROS 2 in the run. Publications, requests and responses go nowhere.

use crate::rcl_interfaces::srv;
use crate::{CdrService, CdrType, NamedTypes, ParameterService, Types};
use ringspin_executor::observed::{self, RemoteChannel, RemoteItem};
use ringspin_executor::{
    AnnouncedService, BoxError, MessageCheck, MessageTimes, Middleware, MiddlewareService,
    ParameterClient, QoS, RemoteClient, RemoteNode, RemoteNotifier, RemotePublisher,
    RemoteResponder, RemoteServer, RemoteSubscription, RosClock, Sent, ServiceTypes, Time,
    TypeName,
};
use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, PoisonError};

/// The connection of the recorded run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The types that left the process.
    pub types: Types,
    /// The types of single topics and services.
    pub named: Arc<NamedTypes>,
    /// Whether messages between two nodes of the process went directly.
    pub is_direct: bool,
    /// Whether items of other processes came in.
    pub receives: bool,
    /// Whether each node offered the services for its parameters.
    pub parameter_services: bool,
}

/// The middleware of a replay. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Replayed(Arc<Settings>);

impl Settings {
    /// The connection that a flight record calls `name`, such as `ros2`, with the
    /// [installed types](Types::installed); `None` if there is no such connection.
    pub fn of_record(name: &str) -> Option<Self> {
        let (is_direct, receives) = match name {
            "ros2" => (true, true),
            "ros2-loopback" => (false, true),
            "ros2-display" => (true, false),
            _ => return None,
        };
        let (types, named) = (Types::installed(), Arc::default());
        Some(Self { types, named, is_direct, receives, parameter_services: receives })
    }
}

impl Replayed {
    /// The replay of a run with such a connection.
    pub fn new(settings: Settings) -> Self {
        Self(Arc::new(settings))
    }

    /// Says that `topic` goes by `table`, as the connection of the record did.
    pub fn carry(&self, topic: &str, table: &'static CdrType) {
        self.0.named.set_topic(topic, table);
    }

    /// Says the same of a service.
    pub fn carry_service(&self, service: &str, table: &'static CdrService) {
        self.0.named.set_service(service, table);
    }
}

impl Middleware for Replayed {
    fn name(&self) -> &str {
        "the flight record"
    }

    fn carried_types(&self) -> &str {
        "name the type to the connection, as in the recorded run"
    }

    fn message_check(&self, message: TypeId) -> Option<MessageCheck> {
        self.0.types.message(message)?.check()
    }

    fn is_bypassed_locally(&self) -> bool {
        self.0.is_direct
    }

    fn receives(&self) -> bool {
        self.0.receives
    }

    fn is_replayed(&self) -> bool {
        true
    }

    /// The time of a replay is that of the record.
    fn follow_clock(
        &self,
        _: Arc<RosClock>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>, BoxError> {
        Ok(Some(Box::new(())))
    }

    fn create_node(&self, namespace: &str, name: &str) -> Result<Arc<dyn RemoteNode>, BoxError> {
        let full_name = format!("{}/{name}", namespace.trim_end_matches('/'));
        Ok(Arc::new(ReplayedNode { settings: self.0.clone(), full_name }))
    }
}

struct ReplayedNode {
    settings: Arc<Settings>,
    full_name: String,
}

impl ReplayedNode {
    fn service_table(&self, service: &str, types: ServiceTypes) -> Option<&'static CdrService> {
        let Settings { types: known, named, .. } = &*self.settings;
        let known = || known.service(types.request.id, types.response.id);
        named.service(service, types).or_else(known)
    }

    fn topic_table(
        &self,
        topic: &str,
        message: TypeName,
    ) -> Result<Option<&'static CdrType>, BoxError> {
        let Settings { types, named, .. } = &*self.settings;
        Ok(named.topic(topic, message)?.or_else(|| types.message(message.id)))
    }
}

impl RemoteNode for ReplayedNode {
    fn advertise(
        &self,
        topic: &str,
        message: TypeName,
        _: QoS,
    ) -> Result<Option<Arc<dyn RemotePublisher>>, BoxError> {
        let table = self.topic_table(topic, message)?;
        Ok(table.map(|_| -> Arc<dyn RemotePublisher> { Arc::new(Nowhere) }))
    }

    fn subscribe(
        &self,
        topic: &str,
        message: TypeName,
        _: QoS,
        _: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteSubscription>>, BoxError> {
        let table = self.topic_table(topic, message)?;
        Ok(table.map(|table| -> Box<dyn RemoteSubscription> {
            let items = Items::new(table.channel(topic), table);
            Box::new(Messages { items, times: MessageTimes::UNKNOWN })
        }))
    }

    fn serve(
        &self,
        service: &str,
        types: ServiceTypes,
        _: QoS,
        _: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteServer>>, BoxError> {
        let table = self.service_table(service, types);
        Ok(table.map(|table| -> Box<dyn RemoteServer> {
            Box::new(Requests(Items::new(table.request_channel(service), table.request())))
        }))
    }

    fn call(
        &self,
        service: &str,
        types: ServiceTypes,
        _: QoS,
        _: RemoteNotifier,
    ) -> Result<Option<Arc<dyn RemoteClient>>, BoxError> {
        let table = self.service_table(service, types);
        Ok(table.map(|table| -> Arc<dyn RemoteClient> {
            let items = Items::new(table.response_channel(service), table.response());
            Arc::new(Responses { items, sent: Mutex::default() })
        }))
    }

    fn middleware_services(
        &self,
        parameters: ParameterClient,
    ) -> Result<Vec<AnnouncedService>, BoxError> {
        let Settings { receives, parameter_services, .. } = *self.settings;
        let mut services: Vec<Box<dyn MiddlewareService>> = Vec::new();
        if receives {
            services.push(Box::new(Complaints(complaints_channel(&self.full_name))));
        }
        if receives && parameter_services {
            let (node, parameters) = (&*self.full_name, &parameters);
            services.push(offered::<srv::GetParameters::Service>(node, parameters));
            services.push(offered::<srv::SetParameters::Service>(node, parameters));
            services.push(offered::<srv::SetParametersAtomically::Service>(node, parameters));
            services.push(offered::<srv::ListParameters::Service>(node, parameters));
            services.push(offered::<srv::DescribeParameters::Service>(node, parameters));
            services.push(offered::<srv::GetParameterTypes::Service>(node, parameters));
        }
        let announced = |service| (service, RemoteNotifier::default());
        Ok(services.into_iter().map(announced).collect())
    }
}

/// The items of one end in the record.
struct Items {
    channel: RemoteChannel,
    table: &'static CdrType,
}

impl Items {
    fn new(channel: RemoteChannel, table: &'static CdrType) -> Self {
        Self { channel, table }
    }

    /// Takes the next one into `slot`.
    fn take(&self, slot: &mut dyn Any) -> Result<Option<Arc<RemoteItem>>, BoxError> {
        let Some(item) = observed::next_item(&self.channel) else { return Ok(None) };
        self.table.read(&item.bytes, slot)?;
        Ok(Some(item))
    }
}

struct Nowhere;

impl RemotePublisher for Nowhere {
    fn publish(&self, _: &dyn Any) -> Result<(), BoxError> {
        Ok(())
    }

    fn assert_liveliness(&self) -> Result<(), BoxError> {
        Ok(())
    }

    /// One, for code that waits for it before the first spin; callbacks see the recorded number.
    fn subscription_count(&self) -> Result<usize, BoxError> {
        Ok(1)
    }
}

struct Messages {
    items: Items,
    times: MessageTimes,
}

impl RemoteSubscription for Messages {
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError> {
        let item = self.items.take(into)?;
        let Some(item) = item else { return Ok(false) };
        self.times = MessageTimes {
            source_timestamp: Time::from_nanos(item.source_ns),
            received_timestamp: Time::from_nanos(item.received_ns),
        };
        Ok(true)
    }

    fn times(&self) -> MessageTimes {
        self.times
    }

    /// The record has the count where a callback read it.
    fn overwritten(&mut self, _: u64) -> u64 {
        0
    }
}

struct Requests(Items);

impl RemoteServer for Requests {
    fn take(&mut self, into: &mut dyn Any) -> Result<Option<Arc<dyn RemoteResponder>>, BoxError> {
        let item = self.0.take(into)?;
        Ok(item.map(|_| -> Arc<dyn RemoteResponder> { Arc::new(Nowhere) }))
    }
}

impl RemoteResponder for Nowhere {
    fn respond(&self, _: &dyn Any) -> Result<bool, BoxError> {
        Ok(true)
    }
}

struct Responses {
    items: Items,
    /// The calls so far: their numbers, unless the record has them.
    sent: Mutex<i64>,
}

impl RemoteClient for Responses {
    fn is_available(&self) -> bool {
        true
    }

    fn send(&self, _: &dyn Any) -> Result<Sent, BoxError> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        *sent += 1;
        Ok(Sent { number: *sent, servers: 1 })
    }

    fn take(&self, into: &mut dyn Any) -> Result<Option<i64>, BoxError> {
        Ok(self.items.take(into)?.map(|item| item.number))
    }
}

/// The warnings about incompatible QoS, which came when the run was recorded.
struct Complaints(RemoteChannel);

/// The items that stand for warnings about the ends of `node`.
pub fn complaints_channel(node: &str) -> RemoteChannel {
    CdrType::of::<crate::std_msgs::msg::Empty>().channel(&format!("{node}/_incompatible_qos"))
}

impl MiddlewareService for Complaints {
    fn name(&self) -> String {
        "complaints about incompatible QoS".into()
    }

    fn take(&mut self) -> Result<bool, BoxError> {
        Ok(observed::next_item(&self.0).is_some())
    }

    fn run(&mut self) -> Result<(), BoxError> {
        Ok(())
    }
}

/// One of the services for parameters.
struct OfferedService<S: ParameterService> {
    service: String,
    items: Items,
    parameters: ParameterClient,
    request: Option<S::Request>,
}

fn offered<S: ParameterService>(
    node: &str,
    parameters: &ParameterClient,
) -> Box<dyn MiddlewareService> {
    let service = format!("{node}/{}", S::NAME);
    let table = CdrService::of::<S>();
    let items = Items::new(table.request_channel(&service), table.request());
    let parameters = parameters.clone();
    Box::new(OfferedService::<S> { service, items, parameters, request: None })
}

impl<S: ParameterService> MiddlewareService for OfferedService<S> {
    fn name(&self) -> String {
        format!("service {}", self.service)
    }

    fn take(&mut self) -> Result<bool, BoxError> {
        Ok(self.items.take(&mut self.request)?.is_some())
    }

    fn run(&mut self) -> Result<(), BoxError> {
        if let Some(request) = self.request.take() {
            S::answer(&self.parameters, request);
        }
        Ok(())
    }
}
