//! Nodes.

mod graph;
mod options;
mod primitive_options;

pub use graph::{NodeNameInfo, TopicEndpointInfo, TopicNamesAndTypes};
pub use options::{IntoNodeOptions, NodeOptions};
pub use primitive_options::{IntoPrimitiveOptions, PrimitiveOptions};

use crate::clock::Clock;
use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::EventLoop;
use crate::executor::{ExecutorCommands, Promise};
use crate::logging::{LogParams, Logger, ToLogParams};
use crate::parameter_services::ParameterServices;
use ringspin_adapter::Type;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A handle of a node.
pub type Node = Arc<NodeState>;

/// A node: an event loop, and the factory of everything that runs in it.
///
/// It stays as long as a handle of it or of anything that was created by it.
pub struct NodeState {
    pub(crate) event_loop: Arc<EventLoop<()>>,
    commands: Arc<ExecutorCommands>,
    logger: Logger,
    clock: Clock,
    /// The number of workers so far.
    pub(crate) workers: Mutex<usize>,
    pub(crate) parameter_services: ParameterServices,
}

/// How often a condition on the graph is looked at, unless the caller says otherwise.
const LOOK_PERIOD: Duration = Duration::from_millis(100);

impl NodeState {
    /// # Errors
    /// [`RclReturnCode::NodeInvalidName`] for a name that ROS 2 does not allow;
    /// [`RclReturnCode::InvalidRosArgs`] for arguments that are not valid.
    pub(crate) fn create(
        commands: &Arc<ExecutorCommands>,
        options: NodeOptions<'_>,
    ) -> Result<Node, RclrsError> {
        let app = commands.app()?;
        let namespace = if options.namespace.is_empty() { "/" } else { options.namespace };
        let invalid = |error| RclrsError::from_graph(&error, RclReturnCode::NodeInvalidName);
        let arguments = options.node_arguments()?;
        let event_loop = EventLoop::of_node(app, (namespace, options.name), &arguments);
        let event_loop = event_loop.map_err(invalid)?;
        let name = event_loop.node.full_name().trim_start_matches('/').replace('/', ".");
        let logger = Logger::new(name)?;
        let follows = app.graph.wants_clock() && app.is_over_ros2();
        let clock = Clock::of_node(options.clock_type, event_loop.node.clock(), follows);
        let commands = commands.clone();
        let node = Self {
            event_loop,
            commands,
            logger,
            clock,
            workers: Mutex::default(),
            parameter_services: ParameterServices::default(),
        };
        node.start_parameters(options.start_parameter_services)?;
        Ok(Arc::new(node))
    }

    /// The name without the namespace.
    pub fn name(&self) -> String {
        self.names().1.to_owned()
    }

    /// The namespace.
    pub fn namespace(&self) -> String {
        let namespace = self.names().0;
        if namespace.is_empty() { "/".into() } else { namespace.into() }
    }

    /// The namespace and the name.
    pub fn fully_qualified_name(&self) -> String {
        self.event_loop.node.full_name().to_owned()
    }

    fn names(&self) -> (&str, &str) {
        let name = self.event_loop.node.full_name();
        name.rsplit_once('/').unwrap_or(("", name))
    }

    /// The ROS domain.
    pub fn domain_id(&self) -> usize {
        self.commands.context().domain_id()
    }

    /// The commands to the executor of the node.
    pub fn commands(&self) -> &Arc<ExecutorCommands> {
        &self.commands
    }

    /// The clock of the node.
    pub fn get_clock(&self) -> Clock {
        self.clock.clone()
    }

    /// The logger of the node.
    pub fn logger(&self) -> &Logger {
        &self.logger
    }

    /// A promise that resolves once `condition` holds, which is looked at every 100 ms.
    pub fn notify_on_graph_change(
        &self,
        condition: impl FnMut() -> bool + Send + 'static,
    ) -> Promise<()> {
        self.notify_on_graph_change_with_period(LOOK_PERIOD, condition)
    }

    /// A promise that resolves once `condition` holds, which is looked at now and every `period`.
    pub fn notify_on_graph_change_with_period(
        &self,
        period: Duration,
        mut condition: impl FnMut() -> bool + Send + 'static,
    ) -> Promise<()> {
        // Without an interval the executor has ended: the promise is cancelled.
        let interval = self.event_loop.node.create_interval(period);
        self.event_loop.tasks.query(async move {
            let Ok(mut interval) = interval else { return std::future::pending().await };
            while !condition() {
                interval.tick().await;
            }
        })
    }

    /// Notes the ROS type of a topic or service; returns its resolved name.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`] or [`RclReturnCode::ServiceNameInvalid`]; another one if
    /// it has another type in this process.
    pub(crate) fn note_topic(&self, name: &str, ros_type: Type) -> Result<String, RclrsError> {
        let node = &self.event_loop.node;
        let (resolved, code) = match ros_type {
            Type::Topic(_) => (node.resolve_topic_name(name), RclReturnCode::TopicNameInvalid),
            Type::Service(_) => {
                (node.resolve_service_name(name), RclReturnCode::ServiceNameInvalid)
            }
        };
        let failed = |error| RclrsError::from_graph(&error, code);
        let name = resolved.map_err(failed)?;
        self.event_loop.app.set_type(&name, ros_type).map_err(failed)?;
        Ok(name)
    }
}

impl Eq for NodeState {}

impl PartialEq for NodeState {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.event_loop, &other.event_loop)
    }
}

impl<'a> ToLogParams<'a> for &'a NodeState {
    fn to_log_params(self) -> LogParams<'a> {
        self.logger().to_log_params()
    }
}

impl fmt::Debug for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("fully_qualified_name", &self.fully_qualified_name()).finish()
    }
}
