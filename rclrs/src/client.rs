//! Clients of services.
//!
//! The end of a call is an event of the client's node: it resolves the promise there, or drops its
//! sender if there is no response. Callbacks for responses run as futures of the node.

mod callback;
mod output;

pub use callback::{ClientAsyncCallback, ClientCallback};
pub use output::{AnyClientOutputSender, ClientOutput};

use crate::app::LIBRARY;
use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::State;
use crate::executor::Promise;
use crate::log_error;
use crate::node::{IntoPrimitiveOptions, Node};
use crate::publisher::MessageCow;
use crate::qos::QoSProfile;
use crate::service::ServiceInfo;
use futures::channel::oneshot;
use ringspin::event::{EventId, SourceId};
use ringspin::message::MessageTimes;
use ringspin::{CallError, Graph, Reply};
use ringspin_adapter::{Carried, Type};
use rosidl_runtime_rs::Service as ServiceIDL;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// A handle of a client.
pub type Client<T> = Arc<ClientState<T>>;

/// Calls a service; from any thread.
///
/// Created by [`NodeState::create_client`](crate::NodeState::create_client). Calls that were made
/// end as if the client was still there when its last handle is dropped.
///
/// A call without a response ends: its promise is cancelled, and the log says why. It has none if
/// there is no server in reach, the server drops the request, or all servers in other processes
/// end. rclrs never ends it.
pub struct ClientState<T: ServiceIDL> {
    client: ringspin::Client<State<()>, Carried, Carried>,
    called: Arc<Called>,
    /// Limit of the unanswered calls.
    calls_max: usize,
    node: Node,
    service: PhantomData<fn(T)>,
}

/// A service that is called.
struct Called {
    name: String,
    graph: Graph,
    /// The sources of the responses to its clients in this process, each with the source of their
    /// requests. Read when an identifier of a request is wanted.
    sources: OnceLock<Vec<(SourceId, SourceId)>>,
}

impl<T: ServiceIDL> ClientState<T> {
    /// # Errors
    /// [`RclReturnCode::ServiceNameInvalid`]; another one for a service of another type.
    pub(crate) fn create(
        node: &Node,
        options: &ClientOptions<'_>,
    ) -> Result<Arc<Self>, RclrsError> {
        let table = Carried::service_table::<T::Ros>();
        let name = node.note_topic(options.service_name, Type::Service(table))?;
        let qos = options.qos.for_service();
        let created = node.event_loop.node.create_client(options.service_name, qos);
        let failed = |error| RclrsError::from_graph(&error, RclReturnCode::ServiceNameInvalid);
        let client = created.map_err(failed)?;
        let graph = node.event_loop.app.graph.clone();
        let called = Arc::new(Called { name, graph, sources: OnceLock::new() });
        let (calls_max, node) = (qos.depth(), node.clone());
        Ok(Arc::new(Self { client, called, calls_max, node, service: PhantomData }))
    }

    /// Sends a request: an owned one without a copy, or a clone of a borrowed one. The promise is
    /// that of the response, alone, with its [`RequestId`](crate::RequestId) or with its
    /// [`ServiceInfo`]. Without a response it is [cancelled](ClientState). A promise that is
    /// dropped does not withdraw the request.
    ///
    /// # Errors
    /// For a request that its definition does not allow, beyond the unanswered calls that the
    /// [depth](ClientOptions::qos) of the client allows, or the requests that wait at the server by
    /// its depth, and if the middleware refuses it.
    pub fn call<'a, Req, Out>(&self, request: Req) -> Result<Promise<Out>, RclrsError>
    where
        Req: MessageCow<'a, T::Request>,
        Out: ClientOutput<T::Response>,
    {
        self.node.event_loop.app.start()?;
        let failed = |error: &dyn fmt::Display| {
            let text = format!("failed to call {}: {error}", self.called.name);
            RclrsError::of(RclReturnCode::Error, text)
        };
        let request = Carried::checked(request.into_cow().into_owned()).map_err(|e| failed(&e))?;
        let (sender, promise) = Out::create_channel();
        let called = self.called.clone();
        let end = move |_: &mut State<()>,
                        reply: Result<Reply<Carried>, CallError>,
                        cx: &mut ringspin::Context<'_>| {
            let response = reply.map_err(|error| error.to_string());
            match response.and_then(|reply| reply.get().map_err(|error| error.to_string())) {
                Ok(response) => sender.send(response, || called.info(cx)),
                Err(error) => called.log_unanswered(&error),
            }
        };
        match self.client.call(request, end).map_err(|refused| refused.reason) {
            Ok(()) => {}
            Err(error @ CallError::NoService) => self.called.log_unanswered(&error),
            Err(CallError::TooManyCalls) => return Err(failed(&self.too_many_calls())),
            Err(error) => return Err(failed(&error)),
        }
        Ok(promise)
    }

    fn too_many_calls(&self) -> String {
        let (max, name) = (self.calls_max, &self.called.name);
        format!(
            "{max} calls of this client have no response yet; wait for one, or create the client \
             with a greater depth, as in `\"{name}\".keep_last({})`",
            max.saturating_mul(10)
        )
    }

    /// Sends a request like [`call`](Self::call), and calls `callback` with the response, as one
    /// of the callbacks of the node: a `FnOnce(Response)`, `FnOnce(Response, RequestId)` or
    /// `FnOnce(Response, ServiceInfo)`. The promise resolves after the call of `callback`; it may
    /// be dropped.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub fn call_then<'a, Req, Args>(
        &self,
        request: Req,
        callback: impl ClientCallback<T, Args>,
    ) -> Result<Promise<()>, RclrsError>
    where
        Req: MessageCow<'a, T::Request>,
    {
        self.then(request, async move |response, info| {
            callback.run_client_callback(response, info);
        })
    }

    /// Sends a request like [`call`](Self::call), and calls `callback` with the response; the
    /// future that it returns runs in the node. It takes the arguments of
    /// [`call_then`](Self::call_then). The promise resolves at the end of the future; it may be
    /// dropped.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub fn call_then_async<'a, Req, Args>(
        &self,
        request: Req,
        callback: impl ClientAsyncCallback<T, Args>,
    ) -> Result<Promise<()>, RclrsError>
    where
        Req: MessageCow<'a, T::Request>,
    {
        self.then(request, |response, info| callback.run_client_async_callback(response, info))
    }

    fn then<'a, Fut: Future<Output = ()> + Send>(
        &self,
        request: impl MessageCow<'a, T::Request>,
        callback: impl FnOnce(T::Response, ServiceInfo) -> Fut + Send + 'static,
    ) -> Result<Promise<()>, RclrsError> {
        let response: Promise<(T::Response, ServiceInfo)> = self.call(request)?;
        let (sender, promise) = oneshot::channel();
        self.node.event_loop.tasks.add(async move {
            // A call without a response has been logged.
            let Ok((response, info)) = response.await else { return };
            callback(response, info).await;
            let _ = sender.send(());
        });
        Ok(promise)
    }

    /// Whether the service has a server, in this process or in another one that is in reach.
    ///
    /// # Errors
    /// If the graph cannot run in its mode.
    pub fn service_is_ready(&self) -> Result<bool, RclrsError> {
        // A server of this process is ready once it can be called.
        self.node.event_loop.app.start()?;
        Ok(self.client.service_is_ready())
    }

    /// A promise that resolves once the service has a server.
    pub fn notify_on_service_ready(self: &Arc<Self>) -> Promise<()> {
        let client = self.clone();
        self.node.notify_on_graph_change(move || client.service_is_ready().is_ok_and(|ready| ready))
    }

    /// The name of the service, with its namespace and after remapping.
    pub fn service_name(&self) -> String {
        self.called.name.clone()
    }
}

impl Called {
    fn log_unanswered(&self, error: &dyn fmt::Display) {
        log_error!(LIBRARY, "failed to call {}: {error}", self.name);
    }

    /// The information about the response for which a callback is called.
    fn info(&self, cx: &ringspin::Context<'_>) -> ServiceInfo {
        let times = MessageTimes { received_timestamp: cx.now(), ..MessageTimes::UNKNOWN };
        ServiceInfo::new(self.request_of(cx.event()), times)
    }

    /// The request of which `response` is the response, as the server sees it. A response from
    /// another process stands for its request.
    fn request_of(&self, response: EventId) -> EventId {
        let sources = self.sources.get_or_init(|| {
            let services = self.graph.info().services.into_iter();
            let clients = services.filter(|it| it.name == self.name).flat_map(|it| it.clients);
            clients.map(|client| (client.responses, client.requests)).collect()
        });
        let found = sources.iter().find(|(responses, _)| *responses == response.source);
        let source = found.map_or(response.source, |(_, requests)| *requests);
        EventId { source, ..response }
    }
}

impl<T: ServiceIDL> fmt::Debug for ClientState<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.called.name).finish()
    }
}

/// Options of a client: a `&str`, or one with options as in `"service".keep_last(1)`, converts into
/// them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions<'a> {
    /// The name of the service.
    pub service_name: &'a str,
    /// The quality of service. A client has as many unanswered calls as the depth says, at least
    /// 1000: there is a place for each response from the begin. The other policies matter over
    /// ROS 2.
    pub qos: QoSProfile,
}

impl<'a> ClientOptions<'a> {
    /// The default options for a client.
    pub fn new(service_name: &'a str) -> Self {
        Self { service_name, qos: QoSProfile::services_default() }
    }
}

impl<'a, T: IntoPrimitiveOptions<'a>> From<T> for ClientOptions<'a> {
    fn from(value: T) -> Self {
        let primitive = value.into_primitive_options();
        let mut options = Self::new(primitive.name);
        primitive.apply_to(&mut options.qos);
        options
    }
}
