//! The interface to a middleware, which carries messages and requests beyond the process: the seam
//! to ROS 2.
//!
//! The graph asks its [`Middleware`] for a counterpart of each end that it creates. The
//! middleware's own thread announces incoming messages, as a token in the ready ring of the node's
//! event loop, and that loop takes them. This module is independent of the middleware.

mod connect;
mod service;

use crate::base::error::{Error, ErrorKind, Result};
pub use service::{AnnouncedService, MiddlewareService};

use crate::base::escape::BoxError;
use crate::base::parameter_value::ParameterValue;
use crate::base::qos::QoS;
use crate::base::ros_clock::RosClock;
use crate::base::table::Table;
use crate::base::time::Time;
use crate::delivery::remote::{RemoteNotifier, RemotePublisher, RemoteSubscription};
use crate::delivery::topic::MessageCheck;
use crate::features::parameter::{ParameterClient, ParameterEventKind};
use crate::running::graph::{Graph, GraphBuilder};
use std::any::{Any, TypeId, type_name};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// Carries topics and services beyond the process.
pub trait Middleware: Send + Sync {
    /// The name of the middleware in errors and logs.
    fn name(&self) -> &str;

    /// The advice at the end of the warning about a type that it does not carry: the types that it
    /// carries.
    fn carried_types(&self) -> &str {
        "use a type that it carries"
    }

    /// The check of the messages of a type that it carries, so that one that it cannot send is
    /// refused before the subscriptions of the process have it; `None` if each can be sent.
    fn message_check(&self, message: TypeId) -> Option<MessageCheck> {
        let _ = message;
        None
    }

    /// Whether messages and requests between two nodes of the graph go directly from one to the
    /// other, so that the middleware must not deliver them a second time. If not, each of them goes
    /// through the middleware.
    fn is_bypassed_locally(&self) -> bool;

    /// Whether messages of other processes come in. If not, the graph only publishes, and may run
    /// in simulated time.
    fn receives(&self) -> bool;

    /// The name by which a flight record says that it has the items of this middleware, for a
    /// [replay](Self::replayed); `None` if it notes none.
    fn record_name(&self) -> Option<&'static str> {
        None
    }

    /// The middleware that stands for this one in the replay of a flight record: it has the items
    /// of the [record](crate::observed::next_item) and no connection.
    fn replayed(&self) -> Option<Arc<dyn Middleware>> {
        None
    }

    /// Whether it has the items of a flight record: their order can be repeated.
    fn is_replayed(&self) -> bool {
        false
    }

    /// Sets `clock` by the topic `/clock`, until the returned value is dropped. `None` if it has no
    /// `/clock`.
    ///
    /// # Errors
    /// The reason of a failure; the graph does not run then.
    fn follow_clock(
        &self,
        clock: Arc<RosClock>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>, BoxError> {
        drop(clock);
        Ok(None)
    }

    /// The shortest interval at which simulated time is [published](Self::publish_clock); `None` if
    /// it is not published.
    fn clock_period(&self) -> Option<Duration> {
        None
    }

    /// Publishes simulated time.
    ///
    /// # Errors
    /// The reason of a failure.
    fn publish_clock(&self, now: Time) -> Result<(), BoxError> {
        let _ = now;
        Ok(())
    }

    /// Creates the counterpart of node `name` in `namespace`.
    ///
    /// # Errors
    /// The reason of a failure; the node is not created then.
    fn create_node(&self, namespace: &str, name: &str) -> Result<Arc<dyn RemoteNode>, BoxError>;
}

/// A Rust type, as a generic function knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// Its identity.
    pub id: TypeId,
    /// Its path.
    pub name: &'static str,
}

impl TypeName {
    /// The type of `T`.
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>() }
    }
}

/// The counterpart of a node. Names are fully qualified and remapped already.
///
/// Each function returns `None` for types that the middleware does not carry: such a topic or
/// service stays within the process.
pub trait RemoteNode: Send + Sync {
    /// Creates a publisher.
    ///
    /// # Errors
    /// The reason of a failure; the publisher is not created then.
    fn advertise(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
    ) -> Result<Option<Arc<dyn RemotePublisher>>, BoxError>;

    /// Creates a subscription, which announces its messages to `remote_notifier`. With keep-last it
    /// holds no more messages than the depth says: older ones that were announced count as
    /// overwritten.
    ///
    /// # Errors
    /// The reason of a failure; the subscription is not created then.
    fn subscribe(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteSubscription>>, BoxError>;

    /// Creates a server, which announces its requests to `remote_notifier`. It holds as many as a
    /// [subscription](Self::subscribe).
    ///
    /// # Errors
    /// The reason of a failure; the service is not created then.
    fn serve(
        &self,
        service: &str,
        types: ServiceTypes,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteServer>>, BoxError>;

    /// Creates a client, which announces its responses to `remote_notifier`.
    ///
    /// # Errors
    /// The reason of a failure; the client is not created then.
    fn call(
        &self,
        service: &str,
        types: ServiceTypes,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Arc<dyn RemoteClient>>, BoxError>;

    /// Returns the middleware's services for the node, which run on its event loop; `parameters`
    /// are the node's parameters.
    ///
    /// # Errors
    /// The reason of a failure; the node is not created then.
    fn middleware_services(
        &self,
        parameters: ParameterClient,
    ) -> Result<Vec<AnnouncedService>, BoxError> {
        let _ = parameters;
        Ok(Vec::new())
    }

    /// Parameters of the node changed at `now` of the time that the graph follows; `None` if that
    /// is the real one. Called under a lock of the node's parameters.
    fn parameters_changed(
        &self,
        kind: ParameterEventKind,
        values: &[(String, ParameterValue)],
        now: Option<Time>,
    ) {
        let _ = (kind, values, now);
    }
}

/// The types of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceTypes {
    /// The type of its requests.
    pub request: TypeName,
    /// The type of its responses.
    pub response: TypeName,
}

impl ServiceTypes {
    pub(crate) fn of<Q: 'static, P: 'static>() -> Self {
        Self { request: TypeName::of::<Q>(), response: TypeName::of::<P>() }
    }
}

/// The source of requests of other processes.
pub trait RemoteServer: Send {
    /// Takes the next request into `into`, which is an `&mut Option<Q>` of the request's type, and
    /// returns the destination of the response.
    ///
    /// # Errors
    /// The reason of a failure; the request is lost then, and the next one may be taken.
    fn take(&mut self, into: &mut dyn Any) -> Result<Option<Arc<dyn RemoteResponder>>, BoxError>;
}

/// Sends the response to one request, from any thread.
pub trait RemoteResponder: Send + Sync {
    /// Sends `response`, which has the response's type. False if the client is not connected yet;
    /// then [`respond_later`](Self::respond_later) is called.
    ///
    /// # Errors
    /// The reason of a failure.
    fn respond(&self, response: &dyn Any) -> Result<bool, BoxError>;

    /// Sends `response` when the client is connected. Does not wait.
    fn respond_later(&self, response: Box<dyn Any + Send + Sync>) {
        drop(response);
    }
}

/// Calls a service outside of the process, from any thread.
pub trait RemoteClient: Send + Sync {
    /// Whether there is a server now.
    fn is_available(&self) -> bool;

    /// Sends `request`, which has the request's type, and returns the identity of the call.
    ///
    /// # Errors
    /// The reason of a failure.
    fn send(&self, request: &dyn Any) -> Result<Sent, BoxError>;

    /// The number of lost servers, counted from the first one that was discovered up to the oldest
    /// one that is still there. When it grows, the client's [`RemoteNotifier`] announces a count of
    /// zero, and calls that only these servers could answer end with
    /// [`CallError::ServerLost`](crate::CallError::ServerLost).
    fn servers_gone(&self) -> u64 {
        0
    }

    /// Takes the next response into `into`, which is an `&mut Option<P>` of the response's type,
    /// and returns the number of its call.
    ///
    /// # Errors
    /// The reason of a failure; the response is lost then, and the next one may be taken.
    fn take(&self, into: &mut dyn Any) -> Result<Option<i64>, BoxError>;
}

/// A request that has left the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number of the call: its response has it, too.
    pub number: i64,
    /// The number of servers that the client had discovered by then. One of them answers, unless
    /// [as many have ended](RemoteClient::servers_gone).
    pub servers: u64,
}

/// A counterpart, if there is one, and the notifier through which it announces messages.
pub(crate) type Beyond<T> = Option<(T, RemoteNotifier)>;

/// The middleware that a graph is connected with, and its counterparts of the nodes.
#[derive(Default)]
struct Connection {
    middleware: Option<Arc<dyn Middleware>>,
    /// The counterparts of all nodes, indexed by their numbers, if there is a middleware.
    nodes: Table<usize, Arc<dyn RemoteNode>>,
    /// Whether a warning named an end with a type that the middleware does not carry.
    warned_of_type: Cell<bool>,
}

impl GraphBuilder {
    /// The middleware that the graph is connected with.
    pub(crate) fn middleware(&self) -> Option<&Arc<dyn Middleware>> {
        self.look::<Connection>()?.middleware.as_ref()
    }

    fn remote_node(&self, node_index: usize) -> Option<&Arc<dyn RemoteNode>> {
        self.look::<Connection>()?.nodes.get(node_index)
    }
}

impl Graph {
    /// The middleware that connects the graph with other processes, if there is one.
    pub fn middleware(&self) -> Option<Arc<dyn Middleware>> {
        self.builder().middleware().cloned()
    }

    /// Connects the graph with other processes: call it before the first node is created.
    ///
    /// # Errors
    /// Fails when the graph has nodes, or a middleware, already.
    pub fn set_middleware(&self, middleware: Arc<dyn Middleware>) -> Result<()> {
        let mut builder = self.builder();
        let name = middleware.name();
        if let Some(other) = builder.middleware().map(|other| other.name()) {
            let text = format!(
                "failed to connect the graph with {name}: it has {other} already; choose one"
            );
            return Err(Error::new(ErrorKind::AlreadyExists, text));
        }
        if builder.is_frozen() || builder.has_nodes() {
            let text = format!(
                "failed to connect the graph with {name}: it has nodes, or is frozen; connect it \
                 before its first node is created"
            );
            return Err(Error::new(ErrorKind::InvalidState, text));
        }
        if builder.joined().is_some() {
            let text = format!(
                "failed to connect the graph with {name}: it is in a domain, whose executors would \
                 hear each other twice; choose one"
            );
            return Err(Error::new(ErrorKind::InvalidState, text));
        }
        if middleware.receives() && !middleware.is_replayed() {
            builder.set_live_only(format!(
                "the middleware {} delivers messages in an order that cannot be repeated: run the \
                 graph without it, feed it from a recording, or only publish there",
                middleware.name()
            ));
        }
        builder.feature::<Connection>().middleware = Some(middleware);
        Ok(())
    }
}
