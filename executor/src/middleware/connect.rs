//! Creation of the middleware's counterparts for the ends of a graph.

use super::{Beyond, Connection, RemoteClient, RemoteNode, RemoteServer, ServiceTypes, TypeName};
use crate::escape::BoxError;
use crate::graph::{
    CreateSubscriptionError, GraphBuilder, MiddlewareError, TooLargeError, check_size,
};
use crate::name;
use crate::qos::QoS;
use crate::remote::{Remote, RemoteNotifier, RemotePublisher, Source};
use crate::topic::BY_VALUE_MAX;
use std::sync::Arc;

impl GraphBuilder {
    /// Whether messages between nodes of the graph go through the middleware.
    pub(crate) fn goes_through_middleware(&self) -> bool {
        self.middleware().is_some_and(|middleware| !middleware.is_bypassed_locally())
    }

    fn exclusively<M>(&self, mut remote: Remote<M>) -> Remote<M> {
        remote.is_exclusive = self.goes_through_middleware();
        remote
    }

    /// Creates the counterpart of node `full_name`.
    pub(crate) fn create_remote_node(
        &mut self,
        full_name: &str,
    ) -> Result<Option<Arc<dyn RemoteNode>>, MiddlewareError> {
        let Some(middleware) = self.middleware() else {
            return Ok(None);
        };
        let (namespace, base_name) = name::split(full_name);
        let node = middleware
            .create_node(namespace, base_name)
            .map_err(|error| self.refused(format!("node {full_name}"), &error))?;
        let index = self.next_node_index();
        self.feature::<Connection>().nodes.insert(index, node.clone());
        self.at_node_end(|builder, index, _| {
            let node = builder.feature::<Connection>().nodes.remove(index);
            builder.drop_later(node);
        });
        Ok(Some(node))
    }

    /// The error for `what`, which the middleware refuses.
    pub(crate) fn refused(&self, what: String, error: &BoxError) -> MiddlewareError {
        let middleware = self.middleware_name();
        MiddlewareError { middleware, what, reason: error.to_string() }
    }

    /// Calls `create` with the counterpart of node `node_index`, if there is one.
    fn remote<T>(
        &self,
        node_index: usize,
        what: &str,
        create: impl FnOnce(&dyn RemoteNode) -> Result<Option<T>, BoxError>,
    ) -> Result<Option<T>, MiddlewareError> {
        let Some(node) = self.remote_node(node_index) else {
            return Ok(None);
        };
        let created = create(&**node).map_err(|error| {
            let owner = self.loops().find(|of| of.node_index == node_index);
            self.refused(format!("{what} of node {}", owner.map_or("", |of| &of.node)), &error)
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
    ) -> Result<Option<Arc<dyn RemotePublisher>>, MiddlewareError> {
        self.remote(node_index, &format!("publisher {topic}"), |node| {
            node.advertise(topic, TypeName::of::<M>(), qos)
        })
    }

    /// A subscription's other source of messages.
    pub(crate) fn subscribe_remotely<M: Send + Sync + 'static>(
        &mut self,
        node_index: usize,
        topic: &str,
        qos: QoS,
    ) -> Result<Option<Remote<M>>, CreateSubscriptionError> {
        let remote_notifier = RemoteNotifier::default();
        if !self.receives() {
            return Ok(None);
        }
        self.check_arrivals::<M>(node_index, topic)?;
        let remote = self.remote(node_index, &format!("subscription {topic}"), |node| {
            node.subscribe(topic, TypeName::of::<M>(), qos, remote_notifier.clone())
        })?;
        Ok(remote.map(|remote| {
            let source = self.next_source();
            self.exclusively(Remote::messages(topic, source, remote, remote_notifier))
        }))
    }

    /// Checks that messages of type `M` can come in from outside: they go by value.
    fn check_arrivals<M>(&self, node_index: usize, topic: &str) -> Result<(), TooLargeError> {
        let owner = self.loops().find(|of| of.node_index == node_index);
        let node = owner.map_or("", |of| &of.node);
        check_size::<M>(node, &format!("subscription {topic} beyond the process"), BY_VALUE_MAX)
    }

    pub(crate) fn serve_remotely<Q: 'static, P: 'static>(
        &self,
        node_index: usize,
        service: &str,
        qos: QoS,
    ) -> Result<Beyond<Box<dyn RemoteServer>>, MiddlewareError> {
        let remote_notifier = RemoteNotifier::default();
        if !self.receives() {
            return Ok(None);
        }
        let remote = self.remote(node_index, &format!("service {service}"), |node| {
            node.serve(service, ServiceTypes::of::<Q, P>(), qos, remote_notifier.clone())
        })?;
        Ok(remote.map(|remote| (remote, remote_notifier)))
    }

    /// The remote source of the `requests` of `service`.
    pub(crate) fn remote_requests<M: 'static>(
        &mut self,
        service: &str,
        requests: Box<dyn Source<M>>,
        remote_notifier: RemoteNotifier,
    ) -> Remote<M> {
        let source = self.next_source();
        self.exclusively(Remote::new(service, source, requests, remote_notifier))
    }

    /// The remote source of the `responses` of `service`. A response takes the way of its request,
    /// so responses within the process never come from here.
    pub(crate) fn remote_responses<M: 'static>(
        &mut self,
        service: &str,
        responses: Box<dyn Source<M>>,
        remote_notifier: RemoteNotifier,
    ) -> Remote<M> {
        Remote::new(service, self.next_source(), responses, remote_notifier)
    }

    pub(crate) fn call_remotely<Q: 'static, P: 'static>(
        &self,
        node_index: usize,
        service: &str,
        qos: QoS,
    ) -> Result<Beyond<Arc<dyn RemoteClient>>, MiddlewareError> {
        let remote_notifier = RemoteNotifier::default();
        if !self.receives() {
            return Ok(None);
        }
        let remote = self.remote(node_index, &format!("client {service}"), |node| {
            node.call(service, ServiceTypes::of::<Q, P>(), qos, remote_notifier.clone())
        })?;
        Ok(remote.map(|remote| (remote, remote_notifier)))
    }

    /// Whether messages of other processes come in.
    pub(crate) fn receives(&self) -> bool {
        self.middleware().is_some_and(|middleware| middleware.receives())
    }
}
