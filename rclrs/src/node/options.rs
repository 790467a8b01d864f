//! Options of nodes.

use crate::clock::ClockType;
use crate::error::{RclReturnCode, RclrsError};
use crate::qos::QoSProfile;
use ringspin::Arguments;
use ringspin::arguments::NodeArguments;
use std::borrow::Borrow;

/// A name, or options: sets options of a node for
/// [`Executor::create_node`](crate::Executor::create_node).
pub trait IntoNodeOptions<'a>: Sized {
    /// Returns the options; those of a name have the [defaults](NodeOptions).
    fn into_node_options(self) -> NodeOptions<'a>;

    /// Sets the namespace. One without a slash at its begin gets it. Its parts consist of letters,
    /// digits and underscores, and do not begin with a digit; no part is empty. The namespace is
    /// checked when the node is created.
    fn namespace(self, namespace: &'a str) -> NodeOptions<'a> {
        NodeOptions { namespace, ..self.into_node_options() }
    }

    /// Sets whether the arguments of the [context](crate::Context) hold for the node.
    fn use_global_arguments(self, enable: bool) -> NodeOptions<'a> {
        NodeOptions { use_global_arguments: enable, ..self.into_node_options() }
    }

    /// Sets arguments of the node, which precede those of the [context](crate::Context). The first
    /// is `--ros-args`, as on the command line.
    fn arguments<Args: IntoIterator>(self, arguments: Args) -> NodeOptions<'a>
    where
        Args::Item: ToString,
    {
        let arguments = arguments.into_iter().map(|argument| argument.to_string()).collect();
        NodeOptions { arguments, ..self.into_node_options() }
    }

    /// Without effect: over ROS 2, log messages of the node are published on `/rosout`.
    fn enable_rosout(self, _enable: bool) -> NodeOptions<'a> {
        self.into_node_options()
    }

    /// Sets whether the node has services that list, get and set its parameters.
    fn start_parameter_services(self, start: bool) -> NodeOptions<'a> {
        NodeOptions { start_parameter_services: start, ..self.into_node_options() }
    }

    /// Sets the type of the node's clock.
    fn clock_type(self, clock_type: ClockType) -> NodeOptions<'a> {
        NodeOptions { clock_type, ..self.into_node_options() }
    }

    /// Without effect: all nodes share one subscription to `/clock`.
    fn clock_qos(self, _clock_qos: QoSProfile) -> NodeOptions<'a> {
        self.into_node_options()
    }
}

/// Options of a node. The methods of [`IntoNodeOptions`] set them.
///
/// | option | default |
/// |---|---|
/// | [`namespace`](IntoNodeOptions::namespace) | `/` |
/// | [`use_global_arguments`](IntoNodeOptions::use_global_arguments) | true |
/// | [`arguments`](IntoNodeOptions::arguments) | none |
/// | [`start_parameter_services`](IntoNodeOptions::start_parameter_services) | true |
/// | [`clock_type`](IntoNodeOptions::clock_type) | [`ClockType::RosTime`] |
///
/// ```
/// # use rclrs::{ClockType, IntoNodeOptions, NodeOptions};
/// let planner = NodeOptions::new("planner").namespace("/robot");
/// let camera = "camera".start_parameter_services(false).clock_type(ClockType::SteadyTime);
/// ```
#[derive(Clone, Debug)]
pub struct NodeOptions<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) use_global_arguments: bool,
    pub(crate) arguments: Vec<String>,
    pub(crate) start_parameter_services: bool,
    pub(crate) clock_type: ClockType,
}

impl<'a> NodeOptions<'a> {
    /// Creates options with a name and the defaults. The name consists of letters, digits and
    /// underscores, and does not begin with a digit; it is checked when the node is created.
    pub fn new(name: &'a str) -> NodeOptions<'a> {
        Self {
            name,
            namespace: "/",
            use_global_arguments: true,
            arguments: Vec::new(),
            start_parameter_services: true,
            clock_type: ClockType::RosTime,
        }
    }

    /// The arguments for the node in the graph.
    ///
    /// # Errors
    /// [`RclReturnCode::InvalidRosArgs`] for arguments that are not valid.
    pub(crate) fn node_arguments(&self) -> Result<NodeArguments, RclrsError> {
        let parsed = Arguments::parse(self.arguments.iter().map(String::as_str));
        let invalid = |error| RclrsError::of(RclReturnCode::InvalidRosArgs, error);
        let (arguments, _) = parsed.map_err(invalid)?;
        Ok(NodeArguments { arguments, use_graph_arguments: self.use_global_arguments })
    }
}

impl<'a> IntoNodeOptions<'a> for NodeOptions<'a> {
    fn into_node_options(self) -> NodeOptions<'a> {
        self
    }
}

impl<'a> IntoNodeOptions<'a> for &'a str {
    fn into_node_options(self) -> NodeOptions<'a> {
        NodeOptions::new(self)
    }
}

impl<'a, T: Borrow<str>> IntoNodeOptions<'a> for &'a T {
    fn into_node_options(self) -> NodeOptions<'a> {
        NodeOptions::new(self.borrow())
    }
}
