//! Questions to the graph: of ROS 2 if the executor is connected with it, else of the executor.

use super::NodeState;
use crate::error::{RclReturnCode, RclrsError};
use crate::qos::QoSProfile;
use ringspin::graph::GraphInfo;
use std::collections::{BTreeSet, HashMap};

/// Types by topic or service.
pub type TopicNamesAndTypes = HashMap<String, Vec<String>>;

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeNameInfo {
    /// The name without the namespace.
    pub name: String,
    /// The namespace.
    pub namespace: String,
}

/// A publisher or subscription of a topic, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicEndpointInfo {
    /// The name of its node.
    pub node_name: String,
    /// The namespace of its node.
    pub node_namespace: String,
    /// The name of the message type.
    pub topic_type: String,
    /// The quality of service. That of a subscription is only known over ROS 2, else the default.
    pub qos_profile: QoSProfile,
}

/// The ends of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Publishers,
    Subscriptions,
}

/// The ends of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServiceEnds {
    Servers,
    Clients,
}

impl NodeState {
    /// The topics on which a node publishes, with their types.
    ///
    /// # Errors
    /// Over ROS 2, after a shutdown.
    pub fn get_publisher_names_and_types_by_node(
        &self,
        node: &str,
        namespace: &str,
    ) -> Result<TopicNamesAndTypes, RclrsError> {
        self.topics_of((node, namespace), Ends::Publishers)
    }

    /// The topics to which a node subscribes, with their types.
    ///
    /// # Errors
    /// Over ROS 2, after a shutdown.
    pub fn get_subscription_names_and_types_by_node(
        &self,
        node: &str,
        namespace: &str,
    ) -> Result<TopicNamesAndTypes, RclrsError> {
        self.topics_of((node, namespace), Ends::Subscriptions)
    }

    /// The services that a node of this executor offers, with their types.
    ///
    /// # Errors
    /// None.
    pub fn get_service_names_and_types_by_node(
        &self,
        node: &str,
        namespace: &str,
    ) -> Result<TopicNamesAndTypes, RclrsError> {
        Ok(self.services_of((node, namespace), ServiceEnds::Servers))
    }

    /// The services that a node of this executor calls, with their types.
    ///
    /// # Errors
    /// None.
    pub fn get_client_names_and_types_by_node(
        &self,
        node: &str,
        namespace: &str,
    ) -> Result<TopicNamesAndTypes, RclrsError> {
        Ok(self.services_of((node, namespace), ServiceEnds::Clients))
    }

    /// The topics, with their types. Those of other processes are known a while after the start.
    ///
    /// # Errors
    /// Over ROS 2, after a shutdown.
    pub fn get_topic_names_and_types(&self) -> Result<TopicNamesAndTypes, RclrsError> {
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = &self.event_loop.app.ros2 {
            return Ok(ros2.topic_names_and_types().map_err(failed)?.into_iter().collect());
        }
        Ok(self.event_loop.app.topics())
    }

    /// The services that this node offers, with their types.
    ///
    /// # Errors
    /// None.
    pub fn get_service_names_and_types(&self) -> Result<TopicNamesAndTypes, RclrsError> {
        self.get_service_names_and_types_by_node(&self.name(), &self.namespace())
    }

    /// The nodes by namespace and name, but those with a name that begins with an underscore.
    ///
    /// # Errors
    /// Over ROS 2, after a shutdown.
    pub fn get_node_names(&self) -> Result<Vec<NodeNameInfo>, RclrsError> {
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = &self.event_loop.app.ros2 {
            let names = ros2.node_names().map_err(failed)?.into_iter();
            let info = |it: ringspin_ros2::rcl::NodeName| NodeNameInfo {
                name: it.name,
                namespace: it.namespace,
            };
            return Ok(names.map(info).collect());
        }
        let loops = self.event_loop.app.graph.info().loops;
        let names: BTreeSet<_> = loops.values().map(|it| split(&it.node)).collect();
        let names = names.into_iter().filter(|(_, name)| !name.starts_with('_'));
        let info = |(namespace, name): (&str, &str)| NodeNameInfo {
            name: name.into(),
            namespace: namespace.into(),
        };
        Ok(names.map(info).collect())
    }

    /// The nodes like [`get_node_names`](Self::get_node_names), with enclaves: `/` for all.
    ///
    /// # Errors
    /// Over ROS 2, after a shutdown.
    pub fn get_node_names_with_enclaves(&self) -> Result<Vec<(NodeNameInfo, String)>, RclrsError> {
        Ok(self.get_node_names()?.into_iter().map(|name| (name, "/".to_owned())).collect())
    }

    /// The number of publishers of a topic.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`], and over ROS 2 an error after a shutdown.
    pub fn count_publishers(&self, topic: &str) -> Result<usize, RclrsError> {
        Ok(self.get_publishers_info_by_topic(topic)?.len())
    }

    /// The number of subscriptions of a topic.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`], and over ROS 2 an error after a shutdown.
    pub fn count_subscriptions(&self, topic: &str) -> Result<usize, RclrsError> {
        Ok(self.get_subscriptions_info_by_topic(topic)?.len())
    }

    /// The publishers of a topic.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`], and over ROS 2 an error after a shutdown.
    pub fn get_publishers_info_by_topic(
        &self,
        topic: &str,
    ) -> Result<Vec<TopicEndpointInfo>, RclrsError> {
        self.ends_of(&self.resolve_topic(topic)?, Ends::Publishers)
    }

    /// The subscriptions of a topic.
    ///
    /// # Errors
    /// [`RclReturnCode::TopicNameInvalid`], and over ROS 2 an error after a shutdown.
    pub fn get_subscriptions_info_by_topic(
        &self,
        topic: &str,
    ) -> Result<Vec<TopicEndpointInfo>, RclrsError> {
        self.ends_of(&self.resolve_topic(topic)?, Ends::Subscriptions)
    }

    fn resolve_topic(&self, topic: &str) -> Result<String, RclrsError> {
        let resolved = self.event_loop.node.resolve_topic_name(topic);
        resolved.map_err(|it| RclrsError::from_graph(&it, RclReturnCode::TopicNameInvalid))
    }

    /// The ends of a topic, by its resolved name.
    fn ends_of(&self, topic: &str, ends: Ends) -> Result<Vec<TopicEndpointInfo>, RclrsError> {
        let app = &self.event_loop.app;
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = &app.ros2 {
            let found = match ends {
                Ends::Publishers => ros2.publishers(topic),
                Ends::Subscriptions => ros2.subscriptions(topic),
            };
            return Ok(found.map_err(failed)?.into_iter().map(TopicEndpointInfo::from).collect());
        }
        let ros_type = app.topics().remove(topic).unwrap_or_default();
        let topic_type = ros_type.into_iter().next().unwrap_or_default();
        let found: Vec<_> = match ends {
            Ends::Publishers => {
                let offered = app.graph.offered_qos(topic).into_iter();
                offered.map(|(node, qos)| (node, QoSProfile::of_graph(qos))).collect()
            }
            Ends::Subscriptions => {
                let info = app.graph.info();
                let nodes = topic_nodes(&info, topic, ends).into_iter();
                nodes.map(|node| (node, QoSProfile::topics_default())).collect()
            }
        };
        let info = |(node, qos_profile): (String, QoSProfile)| {
            let (namespace, name) = split(&node);
            TopicEndpointInfo {
                node_name: name.into(),
                node_namespace: namespace.into(),
                topic_type: topic_type.clone(),
                qos_profile,
            }
        };
        Ok(found.into_iter().map(info).collect())
    }

    /// The topics of which a node has `ends`.
    fn topics_of(&self, node: (&str, &str), ends: Ends) -> Result<TopicNamesAndTypes, RclrsError> {
        let mut topics = self.get_topic_names_and_types()?;
        let mut unknown = None;
        topics.retain(|topic, _| match self.ends_of(topic, ends) {
            Ok(found) => found.iter().any(|it| (&*it.node_name, &*it.node_namespace) == node),
            Err(error) => {
                unknown = Some(error);
                false
            }
        });
        unknown.map_or(Ok(topics), Err)
    }

    /// The services of which a node of this executor has `ends`.
    fn services_of(
        &self,
        (name, namespace): (&str, &str),
        ends: ServiceEnds,
    ) -> TopicNamesAndTypes {
        let info = self.event_loop.app.graph.info();
        let is_of_node = |callback| split(&info.loop_of(callback).node) == (namespace, name);
        let mut services = self.event_loop.app.services();
        services.retain(|service, _| {
            let found = info.services.iter().find(|it| it.name == *service);
            found.is_some_and(|it| match ends {
                ServiceEnds::Servers => it.server.is_some_and(is_of_node),
                ServiceEnds::Clients => it.clients.iter().any(|it| is_of_node(it.callback)),
            })
        });
        services
    }
}

/// The nodes that have `ends` of a topic, one entry for each end.
fn topic_nodes(info: &GraphInfo, topic: &str, ends: Ends) -> Vec<String> {
    let Some(topic) = info.topics.iter().find(|it| it.name == topic) else { return Vec::new() };
    match ends {
        Ends::Publishers => {
            let loops = topic.publishers.iter().map(|(of, _)| &info.loops[*of]);
            loops.map(|it| it.node.to_string()).collect()
        }
        Ends::Subscriptions => {
            let loops = topic.subscriptions.iter().map(|it| info.loop_of(*it));
            loops.map(|it| it.node.to_string()).collect()
        }
    }
}

/// The namespace and the name of a node.
fn split(node: &str) -> (&str, &str) {
    match node.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
        None => ("/", node),
    }
}

#[cfg(ros_is_sourced)]
fn failed(error: impl std::fmt::Display) -> RclrsError {
    RclrsError::of(RclReturnCode::Error, error)
}

#[cfg(ros_is_sourced)]
impl From<ringspin_ros2::rcl::Endpoint> for TopicEndpointInfo {
    fn from(endpoint: ringspin_ros2::rcl::Endpoint) -> Self {
        Self {
            node_name: endpoint.node.name,
            node_namespace: endpoint.node.namespace,
            topic_type: endpoint.type_name,
            qos_profile: QoSProfile::of_graph(endpoint.qos),
        }
    }
}
