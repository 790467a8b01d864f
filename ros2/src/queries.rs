//! Questions to the graph of ROS 2, and waiting for a peer before spinning.

use crate::middleware::Ros2;
use crate::rcl::{Endpoint, Node, NodeName};
use ringspin_executor::Error;
use std::time::Duration;

/// The graph of ROS 2 as it is now. It becomes complete only a while after connecting, because
/// peers have to be found first.
///
/// Names are taken as they are: absolute, and not remapped.
impl Ros2 {
    /// The topics, by name, with their types: usually one.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn topic_names_and_types(&self) -> Result<Vec<(String, Vec<String>)>, Error> {
        self.observer()?.topics()
    }

    /// The services, by name, with their types: usually one.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn service_names_and_types(&self) -> Result<Vec<(String, Vec<String>)>, Error> {
        self.observer()?.services()
    }

    /// The nodes, those of this process included, by namespace and name. Those with a name that
    /// begins with an underscore are left out, as tools do.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn node_names(&self) -> Result<Vec<NodeName>, Error> {
        let mut nodes = self.observer()?.nodes()?;
        nodes.retain(|node| !node.name.starts_with('_'));
        Ok(nodes)
    }

    /// The publishers of `topic`: with their nodes, types and quality of service.
    ///
    /// # Errors
    /// For a name with a NUL character, and after a shutdown.
    pub fn publishers(&self, topic: &str) -> Result<Vec<Endpoint>, Error> {
        self.observer()?.publishers(topic)
    }

    /// The publishers of a topic by its name in DDS, such as `rt/chatter` for `/chatter`; their
    /// types have the names that DDS has for them.
    ///
    /// # Errors
    /// For a name with a NUL character, and after a shutdown.
    pub fn dds_publishers(&self, topic: &str) -> Result<Vec<Endpoint>, Error> {
        self.observer()?.dds_publishers(topic)
    }

    /// The subscriptions of `topic`: with their nodes, types and quality of service.
    ///
    /// # Errors
    /// For a name with a NUL character, and after a shutdown.
    pub fn subscriptions(&self, topic: &str) -> Result<Vec<Endpoint>, Error> {
        self.observer()?.subscriptions(topic)
    }

    /// Waits until `service` is offered, up to `timeout`; returns whether it is.
    ///
    /// This and the other waits are for the start of a program: they look every few milliseconds,
    /// and block. While the executor spins, watch for
    /// [`on_matched`](ringspin_executor::PublisherEvents::on_matched) instead.
    ///
    /// # Errors
    /// After a shutdown.
    ///
    /// ```no_run
    /// # use ringspin_executor::Error;
    /// # use ringspin_ros2::Ros2;
    /// # use std::time::Duration;
    /// let ros2 = Ros2::builder().connect()?;
    /// if !ros2.wait_for_service("/map_server/load_map", Duration::from_secs(10))? {
    ///     eprintln!("going on without a map");
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn wait_for_service(&self, service: &str, timeout: Duration) -> Result<bool, Error> {
        let offers = |node: &Node| Ok(node.services()?.iter().any(|(name, _)| name == service));
        self.observer()?.wait_for(timeout, offers)
    }

    /// Waits until `topic` has a publisher, up to `timeout`; returns whether it has.
    ///
    /// # Errors
    /// For a name with a NUL character, and after a shutdown.
    pub fn wait_for_publishers(&self, topic: &str, timeout: Duration) -> Result<bool, Error> {
        self.observer()?.wait_for(timeout, |node| Ok(node.count_publishers(topic)? > 0))
    }

    /// Waits until `topic` has a subscription, up to `timeout`; returns whether it has.
    ///
    /// # Errors
    /// For a name with a NUL character, and after a shutdown.
    pub fn wait_for_subscribers(&self, topic: &str, timeout: Duration) -> Result<bool, Error> {
        self.observer()?.wait_for(timeout, |node| Ok(node.count_subscriptions(topic)? > 0))
    }

    /// Waits until there is a node with this fully qualified name, up to `timeout`; returns whether
    /// there is. A node may be found later than its publishers and subscriptions.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn wait_for_node(&self, name: &str, timeout: Duration) -> Result<bool, Error> {
        let is_it = |node: &NodeName| {
            format!("{}/{}", node.namespace.trim_end_matches('/'), node.name) == name
        };
        self.observer()?.wait_for(timeout, |node| Ok(node.nodes()?.iter().any(is_it)))
    }

    fn observer(&self) -> Result<Node, Error> {
        self.connection.observer()
    }
}
