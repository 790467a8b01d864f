//! Creation of the middleware's counterparts for the ends of a graph.
//!
//! The thread that creates an end calls the middleware here, with the graph locked, before the end
//! is in a list of the graph: so an end that the middleware refuses exists on neither side. The
//! notifier is made first and given along, because the middleware may announce at once; the notice
//! keeps this until the end is connected to its worker. Counterparts of nodes are dropped after the
//! unlock, since their drop is code of the middleware.

use super::{Beyond, Connection, RemoteNode, TypeName};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::escape::BoxError;
use crate::base::name;
use crate::base::qos::QoS;
use crate::delivery::remote::{Remote, RemoteNotifier, RemotePublisher};
use crate::delivery::topic::BY_VALUE_MAX;
use crate::running::graph::{GraphBuilder, check_size};
use std::sync::Arc;

impl GraphBuilder {
    /// Whether messages between nodes of the graph go through the middleware.
    pub(crate) fn goes_through_middleware(&self) -> bool {
        self.middleware().is_some_and(|middleware| !middleware.is_bypassed_locally())
    }

    /// Creates the counterpart of node `full_name`.
    pub(crate) fn create_remote_node(
        &mut self,
        full_name: &str,
    ) -> Result<Option<Arc<dyn RemoteNode>>> {
        let Some(middleware) = self.middleware() else {
            return Ok(None);
        };
        let (namespace, base_name) = name::split(full_name);
        let node = middleware.create_node(namespace, base_name).map_err(|error| {
            self.refused(&format!("node {full_name}"), &error).in_node(full_name)
        })?;
        let index = self.next_node_index();
        self.feature::<Connection>().nodes.insert(index, node.clone());
        self.at_node_end(|builder, index, _| {
            let node = builder.feature::<Connection>().nodes.remove(index);
            builder.drop_later(node);
        });
        Ok(Some(node))
    }

    /// The error for `what`, which the middleware refuses.
    pub(crate) fn refused(&self, what: &str, error: &BoxError) -> Error {
        let middleware = self.middleware().map_or("", |middleware| middleware.name());
        let text = format!("failed to create {what} in {middleware}: {error}");
        Error::new(ErrorKind::Middleware, text)
    }

    /// The name of node `node_index`, for an error; empty where the node was removed.
    fn node_name(&self, node_index: usize) -> &str {
        self.loops().find(|of| of.node_index == node_index).map_or("", |of| &of.node)
    }

    /// Calls `create` with the counterpart of node `node_index`, if there is one.
    fn remote<T>(
        &self,
        node_index: usize,
        what: &str,
        create: impl FnOnce(&dyn RemoteNode) -> Result<Option<T>, BoxError>,
    ) -> Result<Option<T>> {
        let Some(node) = self.remote_node(node_index) else {
            return Ok(None);
        };
        let created = create(&**node).map_err(|error| {
            let owner = self.node_name(node_index);
            self.refused(&format!("{what} of node {owner}"), &error).in_node(owner)
        })?;
        if created.is_none() {
            self.warn_of_type(what);
        }
        Ok(created)
    }

    /// Logs that `what` has a type that the middleware does not carry; only the first time as a
    /// warning. Types that stay within the process are no fault, and a graph may have many.
    fn warn_of_type(&self, what: &str) {
        let Some(middleware) = self.middleware() else { return };
        let (middleware, advice) = (middleware.name(), middleware.carried_types());
        if self.look::<Connection>().is_some_and(|of| of.warned_of_type.replace(true)) {
            tracing::debug!(
                "{what} stays within the process: {middleware} does not carry its type"
            );
            return;
        }
        tracing::warn!(
            "{what} stays within the process: {middleware} does not carry its type; {advice}. \
             Others like it are logged at level debug"
        );
    }

    pub(crate) fn advertise<M: 'static>(
        &self,
        node_index: usize,
        topic: &str,
        qos: QoS,
    ) -> Result<Option<Arc<dyn RemotePublisher>>> {
        self.remote(node_index, &format!("publisher {topic}"), |node| {
            node.advertise(topic, TypeName::of::<M>(), qos)
        })
    }

    /// Creates the counterpart of an end that receives, by `create`; `None` if no messages of other
    /// processes come in. `what` names the end in errors.
    pub(crate) fn receive_remotely<T>(
        &self,
        node_index: usize,
        what: &str,
        create: impl FnOnce(&dyn RemoteNode, RemoteNotifier) -> Result<Option<T>, BoxError>,
    ) -> Result<Beyond<T>> {
        if !self.receives() {
            return Ok(None);
        }
        let notifier = RemoteNotifier::default();
        let remote = self.remote(node_index, what, |node| create(node, notifier.clone()))?;
        Ok(remote.map(|remote| (remote, notifier)))
    }

    /// A subscription's other source of messages. They come in by value, which limits their size.
    pub(crate) fn subscribe_remotely<M: Send + Sync + 'static>(
        &mut self,
        node_index: usize,
        topic: &str,
        qos: QoS,
    ) -> Result<Option<Remote<M>>> {
        if self.receives() {
            let what = format!("subscription {topic} beyond the process");
            check_size::<M>(self.node_name(node_index), &what, BY_VALUE_MAX)?;
        }
        let what = format!("subscription {topic}");
        let remote = self.receive_remotely(node_index, &what, |node, notifier| {
            node.subscribe(topic, TypeName::of::<M>(), qos, notifier)
        })?;
        Ok(remote.map(|(remote, notifier)| {
            let remote = Remote::messages(topic, self.next_source(), remote, notifier);
            let mut remote = remote.keeping(qos);
            remote.is_exclusive = self.goes_through_middleware();
            remote
        }))
    }

    /// Whether messages of other processes come in.
    pub(crate) fn receives(&self) -> bool {
        self.middleware().is_some_and(|middleware| middleware.receives())
    }
}
