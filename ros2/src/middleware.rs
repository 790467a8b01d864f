//! ROS 2 as the middleware of a graph: each node, publisher, subscription, service and client of
//! the graph has a counterpart in rcl.

use crate::client::ServerWatch;
use crate::clock::{ClockFollower, ClockSource};
use crate::connection::{Connection, Traffic};
use crate::listeners::Listeners;
use crate::node::RosNode;
use crate::rcl::fast_dds::{self, Profile};
use crate::rcl::{Context, ContextOptions, at_exit};
use ringspin_executor::{BoxError, Error, MessageCheck, Middleware, RemoteNode, RosClock, Time};
use ringspin_messages::{CdrService, CdrType, Replayed, Settings, Types};
use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A connection with ROS 2, to be given to `Executor::with_middleware` or
/// [`Graph::set_middleware`](ringspin_executor::Graph::set_middleware).
///
/// One per process is usual: with Fast DDS it is one domain participant and its threads. Two graphs
/// of one process that are to hear each other need one each, or [`Traffic::Loopback`]: otherwise
/// each ignores messages from within the connection.
///
/// ```no_run
/// use ringspin_executor::{Graph, QoS};
/// use ringspin_messages::std_msgs::msg::String as Text;
/// use ringspin_ros2::Ros2;
/// use std::sync::Arc;
/// let graph = Graph::new();
/// graph.set_middleware(Arc::new(Ros2::builder().connect()?))?;
/// let node = graph.create_node("talker", ())?;
/// let chatter = node.create_publisher::<Text>("chatter", QoS::default())?;
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone)]
pub struct Ros2 {
    pub(crate) connection: Arc<Connection>,
}

/// Sets up a [`Ros2`].
#[derive(Debug)]
pub struct Builder {
    options: ContextOptions,
    arguments: Vec<String>,
    traffic: Traffic,
    types: Types,
    parameter_services: bool,
    clock_period: Option<Duration>,
    shared_memory: bool,
}

impl Ros2 {
    /// Starts from the environment: domain, discovery, implementation.
    pub fn builder() -> Builder {
        Builder {
            options: ContextOptions::default(),
            arguments: Vec::new(),
            traffic: Traffic::default(),
            types: Types::installed(),
            parameter_services: true,
            clock_period: None,
            shared_memory: false,
        }
    }

    /// The context, for direct calls of rcl.
    pub fn context(&self) -> &Context {
        &self.connection.context
    }

    /// Says that `topic`, a fully qualified name after remapping, has serialized messages of type
    /// `type_name`, such as `nav_msgs/msg/OccupancyGrid`: before its first publisher or
    /// subscription of [`RawMessage`](crate::RawMessage)s. The type need not be one that this
    /// program was built with. `type_hash` (`RIHS01_...`) is that of the definition by which the
    /// messages are serialized, if it is known, as recordings have it.
    ///
    /// # Errors
    /// [`ErrorKind::TypeMismatch`](ringspin_executor::ErrorKind::TypeMismatch) if it was said to
    /// have another one. The first publisher or subscription is refused if the sourced ROS does not
    /// have the type, or has it with another hash.
    ///
    /// ```no_run
    /// use ringspin_executor::{Graph, Message, QoS};
    /// use ringspin_ros2::{RawMessage, Ros2};
    /// let ros2 = Ros2::builder().connect()?;
    /// ros2.carry_raw("/map", "nav_msgs/msg/OccupancyGrid", None)?;
    /// let graph = Graph::new();
    /// graph.set_middleware(std::sync::Arc::new(ros2))?;
    /// let node = graph.create_node("recorder", ())?;
    /// let qos = QoS::default().transient_local();
    /// node.create_subscription("/map", qos, |_, map: &Message<RawMessage>, _| {
    ///     println!("{} bytes", map.0.len());
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn carry_raw(
        &self,
        topic: &str,
        type_name: &str,
        type_hash: Option<&str>,
    ) -> Result<(), Error> {
        self.connection.named.set_raw(topic, type_name, type_hash.unwrap_or_default())
    }

    /// Says that `topic`, a fully qualified name after remapping, goes by `table`, for a Rust type
    /// that stands for several ROS types: before each publisher and subscription of such a type.
    pub fn carry(&self, topic: &str, table: &'static CdrType) {
        self.connection.named.set_topic(topic, table);
    }

    /// Says the same of a service: before its server and each of its clients.
    pub fn carry_service(&self, service: &str, table: &'static CdrService) {
        self.connection.named.set_service(service, table);
    }

    /// Has `stop` called when the process exits, by a return from `main` or by `exit`: it is to end
    /// the users of the connection on other threads, in a second at most. After that everything of
    /// ROS 2 in the process is freed, and a thread that still uses it waits for the end.
    ///
    /// For executors on threads that are not joined: without it Fast DDS frees its global objects
    /// while those run, and the process crashes. To be called after the executor is frozen.
    pub fn at_exit(&self, stop: impl FnOnce() + Send + 'static) {
        let connection = Arc::downgrade(&self.connection);
        at_exit(move || {
            stop();
            if let Some(connection) = connection.upgrade() {
                connection.server_watch.end();
            }
        });
    }
}

impl std::fmt::Debug for Ros2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ros2").field(&self.connection.context).finish()
    }
}

impl Builder {
    /// Which way messages and requests take.
    #[must_use]
    pub fn traffic(mut self, traffic: Traffic) -> Self {
        self.traffic = traffic;
        self
    }

    /// How to connect.
    #[must_use]
    pub fn options(mut self, options: ContextOptions) -> Self {
        self.options = options;
        self
    }

    /// Arguments for rcl itself, such as `--ros-args --log-level debug --enclave /arm`; after
    /// `--ros-args`, `Arguments::for_rcl` are those of the command line. Names and parameters are
    /// the executor's: give those to it.
    #[must_use]
    pub fn arguments(mut self, arguments: Vec<String>) -> Self {
        self.arguments = arguments;
        self
    }

    /// The types that leave the process; [`Types::installed`], if nothing else is said. Topics and
    /// services of any other type stay within it.
    #[must_use]
    pub fn types(mut self, types: Types) -> Self {
        self.types = types;
        self
    }

    /// Whether each node offers the services for its parameters and publishes their changes; yes,
    /// if nothing else is said. With [`Traffic::PublishOnly`] it does neither.
    #[must_use]
    pub fn parameter_services(mut self, offered: bool) -> Self {
        self.parameter_services = offered;
        self
    }

    /// Has a graph in simulated time publish it on `/clock`, at most once in each `period` of it:
    /// when something happens, so that a time in which nothing does is left out. In the live modes
    /// nothing is published.
    #[must_use]
    pub fn publish_clock(mut self, period: Duration) -> Self {
        self.clock_period = Some(period);
        self
    }

    /// Whether Fast DDS uses shared memory beside UDP; no, if nothing else is said. See
    /// [`Profile::shared_memory`] for the reason.
    #[must_use]
    pub fn shared_memory(mut self, used: bool) -> Self {
        self.shared_memory = used;
        self
    }

    /// Connects.
    ///
    /// # Errors
    /// Where rcl or the middleware cannot start.
    pub fn connect(self) -> Result<Ros2, Error> {
        let (traffic, types) = (self.traffic, self.types);
        let profile = Profile {
            shared_memory: self.shared_memory,
            ignore_local_endpoints: traffic == Traffic::Direct,
        };
        let context = Context::with_profile(&self.arguments, &self.options, profile)?;
        let matches_locals = match traffic {
            Traffic::Loopback => true,
            Traffic::Direct => {
                let ignores = context.profile().is_some_and(|p| p.ignore_local_endpoints);
                fast_dds::is_used() && !ignores
            }
            Traffic::PublishOnly => false,
        };
        let offers_parameters = self.parameter_services && traffic != Traffic::PublishOnly;
        let source = self.clock_period.map(|period| ClockSource::new(&context, period));
        let connection = Connection {
            context,
            traffic,
            types,
            matches_locals,
            knows_locals: matches_locals && !fast_dds::is_configured(),
            named: Arc::default(),
            listeners: Listeners::default(),
            offers_parameters,
            clock_source: source.transpose()?,
            nodes: Mutex::default(),
            observer: Mutex::default(),
            server_watch: ServerWatch::default(),
        };
        Ok(Ros2 { connection: Arc::new(connection) })
    }
}

impl Middleware for Ros2 {
    fn name(&self) -> &str {
        "ROS 2"
    }

    fn carried_types(&self) -> &str {
        "use a ROS message type, such as `ringspin_messages::geometry_msgs::msg::Twist`, a \
         primitive type, or name the type to the connection (`ringspin_ros2::Types`)"
    }

    fn message_check(&self, message: TypeId) -> Option<MessageCheck> {
        self.connection.types.message(message)?.check()
    }

    fn is_bypassed_locally(&self) -> bool {
        self.connection.traffic != Traffic::Loopback
    }

    fn receives(&self) -> bool {
        self.connection.traffic != Traffic::PublishOnly
    }

    fn record_name(&self) -> Option<&'static str> {
        Some(match self.connection.traffic {
            Traffic::Direct => "ros2",
            Traffic::Loopback => "ros2-loopback",
            Traffic::PublishOnly => "ros2-display",
        })
    }

    fn replayed(&self) -> Option<Arc<dyn Middleware>> {
        let connection = &self.connection;
        Some(Arc::new(Replayed::new(Settings {
            types: connection.types.clone(),
            named: connection.named.clone(),
            is_direct: self.is_bypassed_locally(),
            receives: self.receives(),
            parameter_services: connection.offers_parameters,
        })))
    }

    fn follow_clock(
        &self,
        clock: Arc<RosClock>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>, BoxError> {
        if !self.receives() {
            return Ok(None);
        }
        Ok(Some(Box::new(ClockFollower::start(&self.connection.context, clock)?)))
    }

    fn clock_period(&self) -> Option<Duration> {
        self.connection.clock_source.as_ref().map(|source| source.period)
    }

    fn publish_clock(&self, now: Time) -> Result<(), BoxError> {
        match &self.connection.clock_source {
            Some(source) => Ok(source.publish(now)?),
            None => Ok(()),
        }
    }

    fn create_node(&self, namespace: &str, name: &str) -> Result<Arc<dyn RemoteNode>, BoxError> {
        Ok(Arc::new(RosNode::new(self.connection.clone(), namespace, name)?))
    }
}
