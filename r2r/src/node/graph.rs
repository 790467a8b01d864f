//! Questions to the graph: of ROS 2 if the context is connected with it, else of the process.

use super::Node;
use crate::error::{Error, Result};
use crate::qos::QosProfile;
use std::collections::HashMap;

/// A publisher of a topic, as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicEndpointInfo {
    /// The name of its node.
    pub node_name: String,
    /// The namespace of its node.
    pub node_namespace: String,
    /// The name of the message type.
    pub topic_type: String,
    /// A number that no other publisher of the topic has.
    pub endpoint_gid: [u8; 16],
    /// The quality of service that it offers.
    pub qos_profile: QosProfile,
}

impl Node {
    /// The topics, and the names of their types. Those of other processes are known a while after
    /// the context was made.
    ///
    /// # Errors
    /// Over ROS 2, after a shutdown.
    pub fn get_topic_names_and_types(&self) -> Result<HashMap<String, Vec<String>>> {
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = &self.shared.context.ros2 {
            let topics = ros2.topic_names_and_types().map_err(Error::other)?;
            return Ok(topics.into_iter().collect());
        }
        Ok(self.shared.context.topics())
    }

    /// The publishers of a topic. With `no_mangle` and over ROS 2 its name is that in DDS, such as
    /// `rt/chatter` for `/chatter`.
    ///
    /// # Errors
    /// [`Error::RCL_RET_INVALID_ARGUMENT`] for an invalid name, and over ROS 2 an error after
    /// a shutdown.
    pub fn get_publishers_info_by_topic(
        &self,
        topic_name: &str,
        #[cfg_attr(not(ros_is_sourced), allow(unused_variables))] no_mangle: bool,
    ) -> Result<Vec<TopicEndpointInfo>> {
        let resolved = || {
            let name = self.shared.node.resolve_topic_name(topic_name);
            name.map_err(|_| Error::RCL_RET_INVALID_ARGUMENT)
        };
        #[cfg(ros_is_sourced)]
        if let Some(ros2) = &self.shared.context.ros2 {
            let publishers = match no_mangle {
                true => ros2.dds_publishers(topic_name),
                false => ros2.publishers(&resolved()?),
            };
            let publishers = publishers.map_err(Error::other)?.into_iter();
            return Ok(publishers.map(TopicEndpointInfo::from).collect());
        }
        let name = resolved()?;
        let topic_type = self.shared.context.topics().remove(&name).unwrap_or_default();
        let topic_type = topic_type.into_iter().next().unwrap_or_default();
        let offered = self.shared.context.graph.offered_qos(&name).into_iter();
        let publishers = offered.enumerate().map(|(number, (node, qos))| {
            let (namespace, base) = node.rsplit_once('/').unwrap_or(("", &node));
            let mut endpoint_gid = [0; 16];
            endpoint_gid[..8].copy_from_slice(&(number as u64 + 1).to_le_bytes());
            TopicEndpointInfo {
                node_name: base.to_owned(),
                node_namespace: if namespace.is_empty() { "/" } else { namespace }.to_owned(),
                topic_type: topic_type.clone(),
                endpoint_gid,
                qos_profile: QosProfile::from(qos),
            }
        });
        Ok(publishers.collect())
    }
}

#[cfg(ros_is_sourced)]
impl From<ringspin_ros2::rcl::Endpoint> for TopicEndpointInfo {
    fn from(endpoint: ringspin_ros2::rcl::Endpoint) -> Self {
        let mut qos_profile = QosProfile::from(endpoint.qos);
        if qos_profile.depth == 0 {
            // The middleware tells neither.
            qos_profile.history = crate::qos::HistoryPolicy::Unknown;
        }
        Self {
            node_name: endpoint.node.name,
            node_namespace: endpoint.node.namespace,
            topic_type: endpoint.type_name,
            endpoint_gid: endpoint.id,
            qos_profile,
        }
    }
}
