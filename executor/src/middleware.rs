//! What carries messages and requests beyond the process: the seam to a real ROS 2.
//!
//! The graph asks its [`Middleware`] for a counterpart of each end that it creates. What comes in
//! is announced by the middleware's own thread, as a token in the ready ring of the node's event
//! loop, and taken by that loop itself. Nothing here knows which middleware it is.

mod connect;
mod events;
mod remote;
mod service;

pub(crate) use events::Reports;
pub use events::{RemoteEvent, RemoteEventKind, RemoteEvents, RemoteStatus};
pub(crate) use remote::{Remote, Source, Taken};
pub use service::{AnnouncedService, MiddlewareService};

use crate::escape::BoxError;
use crate::graph::{CreateNodeError, Graph};
use crate::notifier::Notifier;
use crate::parameter::{ParameterClient, ParameterValue};
use crate::qos::QoS;
use crate::ros_clock::RosClock;
use crate::time::{Clock, NodeClock, Time};
use ringspin_ringbuf::{Announcements, Counter};
use std::any::{Any, TypeId, type_name};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[cfg(doc)]
use crate::service::CallError;

/// Carries topics and services beyond the process.
pub trait Middleware: Send + Sync {
    /// What it is called in errors and logs.
    fn name(&self) -> &str;

    /// The advice that ends the warning about an end with a type that it does not carry: which ones
    /// it does.
    fn carried_types(&self) -> &str {
        "use a type that it carries"
    }

    /// Whether messages and requests between two nodes of the graph go directly from one to the
    /// other, so that the middleware must not bring them a second time. If not, each of them goes
    /// through the middleware.
    fn is_bypassed_locally(&self) -> bool;

    /// Whether anything comes in from outside. If not, the graph only publishes, and may run in
    /// simulated time.
    fn receives(&self) -> bool;

    /// Sets `clock` by the `/clock` of the world, until what it returns is dropped. `None` if it
    /// brings none.
    ///
    /// # Errors
    /// Why it cannot; the graph does not run then.
    fn follow_clock(
        &self,
        clock: Arc<RosClock>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>, BoxError> {
        drop(clock);
        Ok(None)
    }

    /// How often at most simulated time is to be [published](Self::publish_clock); `None` if not.
    fn clock_period(&self) -> Option<Duration> {
        None
    }

    /// Publishes simulated time.
    ///
    /// # Errors
    /// Why it cannot.
    fn publish_clock(&self, now: Time) -> Result<(), BoxError> {
        let _ = now;
        Ok(())
    }

    /// Creates the counterpart of node `name` in `namespace`.
    ///
    /// # Errors
    /// Why it cannot; the node is not created then.
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
    /// That of `T`.
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
    /// Why it cannot; the publisher is not created then.
    fn advertise(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
    ) -> Result<Option<Arc<dyn RemotePublisher>>, BoxError>;

    /// Creates a subscription, which announces its messages to `remote_notifier`.
    ///
    /// # Errors
    /// Why it cannot; the subscription is not created then.
    fn subscribe(
        &self,
        topic: &str,
        message: TypeName,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteSubscription>>, BoxError>;

    /// Creates a server, which announces its requests to `remote_notifier`.
    ///
    /// # Errors
    /// Why it cannot; the service is not created then.
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
    /// Why it cannot; the client is not created then.
    fn call(
        &self,
        service: &str,
        types: ServiceTypes,
        qos: QoS,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Arc<dyn RemoteClient>>, BoxError>;

    /// What is to be done for the node on its event loop, `parameters` being its parameters.
    ///
    /// # Errors
    /// Why it cannot be; the node is not created then.
    fn middleware_services(
        &self,
        parameters: ParameterClient,
    ) -> Result<Vec<AnnouncedService>, BoxError> {
        let _ = parameters;
        Ok(Vec::new())
    }

    /// A parameter was declared, with this value, at `now` of the time that the graph follows;
    /// `None` if that is the real one. Called under a lock of the node's parameters.
    fn parameter_declared(&self, parameter: &str, value: &ParameterValue, now: Option<Time>) {
        let _ = (parameter, value, now);
    }

    /// Parameters were set, at once; as [`parameter_declared`](Self::parameter_declared).
    fn parameters_set(&self, values: &[(String, ParameterValue)], now: Option<Time>) {
        let _ = (values, now);
    }
}

/// The types of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceTypes {
    /// Of its requests.
    pub request: TypeName,
    /// Of its responses.
    pub response: TypeName,
}

impl ServiceTypes {
    fn of<Q: 'static, P: 'static>() -> Self {
        Self { request: TypeName::of::<Q>(), response: TypeName::of::<P>() }
    }
}

/// Publishes outside of the process, from any thread.
pub trait RemotePublisher: Send + Sync {
    /// Publishes `message`, which has the type that was advertised.
    ///
    /// # Errors
    /// Why it cannot.
    fn publish(&self, message: &dyn Any) -> Result<(), BoxError>;

    /// Says that the publisher is alive.
    ///
    /// # Errors
    /// Why it cannot.
    fn assert_liveliness(&self) -> Result<(), BoxError>;

    /// Where to watch what happens to it; `None` if nothing is ever reported.
    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        None
    }
}

/// Brings messages from outside of the process.
pub trait RemoteSubscription: Send {
    /// Takes the next message into `into`, which is an `&mut Option<M>` of the type that was
    /// subscribed to. False if there is none.
    ///
    /// # Errors
    /// Why it cannot; the message is lost then, and the next one may be taken.
    fn take(&mut self, into: &mut dyn Any) -> Result<bool, BoxError>;

    /// How many of `missing` messages, which were announced and are not there, were overwritten.
    /// The others were not meant for this subscription. Called once for each missing message.
    fn overwritten(&mut self, missing: u64) -> u64 {
        missing
    }

    /// Where to watch what happens to it; `None` if nothing is ever reported.
    fn events(&self) -> Option<Arc<dyn RemoteEvents>> {
        None
    }
}

/// Brings requests from outside of the process.
pub trait RemoteServer: Send {
    /// Takes the next request into `into`, which is an `&mut Option<Q>` of the request's type, and
    /// returns where the response goes.
    ///
    /// # Errors
    /// Why it cannot; the request is lost then, and the next one may be taken.
    fn take(&mut self, into: &mut dyn Any) -> Result<Option<Arc<dyn RemoteResponder>>, BoxError>;
}

/// Sends the response to one request, from any thread.
pub trait RemoteResponder: Send + Sync {
    /// Sends `response`, which has the response's type. False if the client is not connected yet;
    /// then [`respond_later`](Self::respond_later) is called.
    ///
    /// # Errors
    /// Why it cannot.
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
    /// Why it cannot.
    fn send(&self, request: &dyn Any) -> Result<Sent, BoxError>;

    /// How many of the servers that were ever seen are gone, counted from the first one up to the
    /// oldest one that is still there. When it grows, the client's [`RemoteNotifier`] announce a count of
    /// zero, and calls that only these servers could answer end with [`CallError::ServerLost`].
    fn servers_gone(&self) -> u64 {
        0
    }

    /// Takes the next response into `into`, which is an `&mut Option<P>` of the response's type,
    /// and returns the number of its call.
    ///
    /// # Errors
    /// Why it cannot; the response is lost then, and the next one may be taken.
    fn take(&self, into: &mut dyn Any) -> Result<Option<i64>, BoxError>;
}

/// A request that has left the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number of the call: its response has it, too.
    pub number: i64,
    /// How many servers the client had ever seen by then. One of them answers, unless
    /// [as many are gone](RemoteClient::servers_gone).
    pub servers: u64,
}

/// Where a middleware announces what has come for one end: its event loop will take it. Cheap to
/// clone.
#[derive(Clone, Debug, Default)]
pub struct RemoteNotifier(Arc<Arrived>);

#[derive(Debug, Default)]
struct Arrived {
    notifier: Arc<Notifier>,
    announced: Announcements,
    /// If somebody wants to know when something came: the clock, and what it said then.
    heard: OnceLock<(NodeClock, Counter)>,
}

impl RemoteNotifier {
    /// Says that `count` more items have come, which can be taken by now. From any thread, while
    /// the graph is being built, too. Lock-free, and short: it may be called within a publisher's
    /// call.
    ///
    /// The loop makes an attempt for each announced item, and goes on until one yields nothing. So
    /// an item may be gone when the loop comes to take it, because a newer one has taken its place
    /// or because it was meant for another end; and it may be announced after it was taken.
    pub fn announce(&self, count: usize) {
        self.0.announced.add(count as u64);
        if let Some((clock, at)) = self.0.heard.get().filter(|_| count > 0) {
            // Of two threads at a time either may be the last: they differ by microseconds.
            at.set(clock.now().as_nanos());
        }
        self.0.notifier.notify();
    }

    /// Has it note, from now on, when something came last, by `clock`.
    pub(crate) fn note_time(&self, clock: NodeClock) {
        self.0.heard.get_or_init(|| (clock, Counter::default()));
    }

    /// When something came last, if that is noted; else zero.
    pub(crate) fn last_heard(&self) -> Time {
        self.0.heard.get().map_or(Time::ZERO, |(_, at)| Time::from_nanos(at.get()))
    }

    pub(crate) fn notifier(&self) -> &Arc<Notifier> {
        &self.0.notifier
    }

    fn announcements(&self) -> &Announcements {
        &self.0.announced
    }
}

/// A counterpart, if there is one, and where it announces what comes.
pub(crate) type Beyond<T> = Option<(T, RemoteNotifier)>;

/// What a middleware will bring, and what makes it do so.
pub(crate) type LateRemote<M> = (Remote<M>, Join);

/// Joins a topic beyond the process; false if messages of its type stay within.
pub(crate) type Join = Box<dyn FnOnce() -> Result<bool, BoxError> + Send>;

impl Graph {
    /// What connects the graph with the world, if something does.
    pub fn middleware(&self) -> Option<Arc<dyn Middleware>> {
        self.builder().middleware.clone()
    }

    /// Connects the graph with what is outside of the process: before its first node is created.
    ///
    /// # Errors
    /// [`CreateNodeError::Middleware`] when the graph has nodes, or a middleware, already.
    pub fn set_middleware(&self, middleware: Arc<dyn Middleware>) -> Result<(), CreateNodeError> {
        let mut builder = self.builder();
        let name = middleware.name().to_owned();
        let refused = |reason: &str| {
            Err(CreateNodeError::Middleware { middleware: name.clone(), reason: reason.into() })
        };
        if let Some(other) = &builder.middleware {
            let reason = format!("the graph has {} already", other.name());
            return refused(&reason);
        }
        if builder.frozen {
            return refused("the graph is frozen; connect it before its first node is created");
        }
        if !builder.policies.is_empty() {
            return refused("the graph has nodes already; connect it before the first one");
        }
        builder.middleware = Some(middleware);
        Ok(())
    }
}
