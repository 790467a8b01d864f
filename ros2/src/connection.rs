//! State that the nodes of one connection with ROS 2 share.

use crate::client::ServerWatch;
use crate::clock::{ClockSource, hidden_node};
use crate::listeners::Listeners;
use crate::rcl::{Context, Node, WeakNode};
use ringspin_executor::Error;
use ringspin_messages::{NamedTypes, Types};
use std::sync::{Arc, Mutex, PoisonError};

/// Which way messages and requests take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traffic {
    /// Between two nodes of the graph directly, without being serialized; to and from other
    /// processes through ROS 2.
    ///
    /// The interfaces of a node that ROS 2 defines are for other processes, too: its
    /// `/parameter_events` are not heard by a node of the same graph, and with Fast DDS its
    /// parameter services are not found there. Within a graph use
    /// [`ParameterClient`](ringspin_executor::ParameterClient) and
    /// [`on_parameter_change`](ringspin_executor::Node::on_parameter_change).
    #[default]
    Direct,
    /// All through ROS 2, also between two nodes of the graph.
    Loopback,
    /// Out only, for a display: nothing comes in, so that the graph may run in simulated time.
    PublishOnly,
}

/// State of a connection.
pub(crate) struct Connection {
    pub(crate) context: Context,
    pub(crate) traffic: Traffic,
    pub(crate) types: Types,
    /// Whether publishers and subscriptions of this process are peers for ROS 2.
    pub(crate) matches_locals: bool,
    /// Whether that is certain: a profile of the user may change it.
    pub(crate) knows_locals: bool,
    pub(crate) named: Arc<NamedTypes>,
    /// The subscriptions of the process.
    pub(crate) listeners: Listeners,
    /// Whether each node offers the services for its parameters.
    pub(crate) offers_parameters: bool,
    pub(crate) clock_source: Option<ClockSource>,
    /// The nodes of the graph, for log lines in their names.
    pub(crate) nodes: Mutex<Vec<WeakNode>>,
    /// The node for queries of the graph, from the first query on.
    pub(crate) observer: Mutex<Option<Node>>,
    pub(crate) server_watch: ServerWatch,
}

impl Connection {
    pub(crate) fn add_node(&self, node: &Node) {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|node| node.upgrade().is_some());
        nodes.push(node.downgrade());
    }

    /// The node of the graph with this name, or else the first one, if there is one.
    pub(crate) fn log_node(&self, name: Option<&str>) -> Option<Node> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|node| node.upgrade().is_some());
        let alive = || nodes.iter().filter_map(WeakNode::upgrade);
        alive().find(|node| Some(node.fully_qualified_name()) == name).or_else(|| alive().next())
    }

    /// The node for queries of the graph: a connection without a node discovers no peer.
    pub(crate) fn observer(&self) -> Result<Node, Error> {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = &*observer {
            return Ok(node.clone());
        }
        Ok(observer.insert(hidden_node(&self.context, "_ringspin_observer")?).clone())
    }
}
