//! Arguments and the graph: which names nodes, topics and services get in the end.

use crate::arguments::Arguments;
use crate::graph::{CreateNodeError, Graph, GraphBuilder};
use crate::name::{self, NameError, NameKind};
use crate::node::Node;

impl Graph {
    /// Has `arguments` decide about names and parameters of what is created from here on: call it
    /// before the first node is created. They replace earlier ones.
    pub fn set_arguments(&self, arguments: Arguments) {
        let mut builder = self.builder();
        builder.arguments = arguments;
        builder.used_overrides.clear();
    }
}

impl GraphBuilder {
    /// The namespace and name of a node by the remapping rules.
    pub(crate) fn remap_node(
        &self,
        namespace: String,
        name: &str,
    ) -> Result<(String, String), CreateNodeError> {
        let original = name::qualify(&namespace, name);
        let names = self.arguments.remap_node(namespace, name);
        let full_name = name::qualify(&names.namespace, &names.name);
        match names.rule {
            Some(rule) if self.node_names.contains(&full_name) => Err(CreateNodeError::Remapped {
                rule: rule.text.clone(),
                original,
                name: full_name,
            }),
            _ => Ok((names.namespace, names.name)),
        }
    }
}

impl<S: Send + 'static> Node<S> {
    /// The fully qualified name that `topic` stands for in this node: expanded, then remapped by
    /// the graph's [arguments](Graph::set_arguments). What `create_publisher` and
    /// `create_subscription` use.
    ///
    /// # Errors
    /// [`NameError`] for what ROS 2 does not allow.
    pub fn resolve_topic_name(&self, topic: &str) -> Result<String, NameError> {
        self.resolve(NameKind::Topic, topic)
    }

    /// As [`resolve_topic_name`](Self::resolve_topic_name), for a service.
    ///
    /// # Errors
    /// [`NameError`] for what ROS 2 does not allow.
    pub fn resolve_service_name(&self, service: &str) -> Result<String, NameError> {
        self.resolve(NameKind::Service, service)
    }

    fn resolve(&self, kind: NameKind, name: &str) -> Result<String, NameError> {
        self.graph.builder().arguments.resolve(kind, name, &self.namespace, &self.base_name)
    }
}
