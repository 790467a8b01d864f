//! Services.
//!
//! A service is a callback of its event loop, which gets requests one after the other. A callback
//! that returns a future has it polled by the same loop; each request keeps its responder until it
//! is answered. A request that is dropped without a response, such as by a callback that panics,
//! ends its call in the same process, so that no caller waits for ever.

mod callback;
mod service_info;

pub use callback::{
    AnyServiceCallback, IntoAsyncServiceCallback, IntoNodeServiceCallback,
    IntoWorkerServiceCallback,
};
pub use service_info::{RequestId, ServiceInfo, rmw_request_id_t};

use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::{EventLoop, Slot, State};
use crate::node::{IntoPrimitiveOptions, Node, NodeState};
use crate::qos::QoSProfile;
use crate::worker::{WorkScope, Worker};
use callback::{Answer, Call};
use ringspin::Responder;
use ringspin::message::MessageTimes;
use ringspin_adapter::{Carried, Type};
use rosidl_runtime_rs::Service as ServiceIDL;
use std::fmt;
use std::sync::Arc;

/// A handle of a service of a node.
pub type Service<T> = Arc<ServiceState<T, Node>>;

/// A handle of a service of a worker.
pub type WorkerService<T, Payload> = Arc<ServiceState<T, Worker<Payload>>>;

/// Answers requests with a callback, until its last handle is dropped.
///
/// Created by [`NodeState::create_service`](crate::NodeState::create_service) and its relatives.
/// A service has one server in a process.
pub struct ServiceState<T: ServiceIDL, Scope: WorkScope> {
    service: ringspin::Service,
    callback: Arc<Slot<AnyServiceCallback<T, Scope::Payload>>>,
    _event_loop: Arc<EventLoop<Scope::Payload>>,
}

impl<T: ServiceIDL, Scope: WorkScope> ServiceState<T, Scope> {
    /// # Errors
    /// [`RclReturnCode::ServiceNameInvalid`]; another one for a service of another type, or with
    /// another server in this process.
    pub(crate) fn create(
        node: &NodeState,
        event_loop: &Arc<EventLoop<Scope::Payload>>,
        options: &ServiceOptions<'_>,
        callback: AnyServiceCallback<T, Scope::Payload>,
    ) -> Result<Arc<Self>, RclrsError> {
        let table = Carried::service_table::<T::Ros>();
        let service: Arc<str> = node.note_topic(options.name, Type::Service(table))?.into();
        node.parameter_services.yield_to_application(&service);
        let callback = Arc::new(Slot::new(callback));
        let (called, tasks) = (callback.clone(), event_loop.tasks.clone());
        let call = move |state: &mut State<Scope::Payload>,
                         request: &Carried,
                         responder: Responder<Carried>,
                         cx: &mut ringspin::Context<'_>| {
            let times = MessageTimes { received_timestamp: cx.now(), ..MessageTimes::UNKNOWN };
            let info = ServiceInfo::new(cx.event(), times);
            let answer = Answer { responder, service: service.clone() };
            let call = Call { request, info, answer, tasks: &tasks };
            called.with(|callback| callback.call(&mut state.payload, call));
            state.notify();
        };
        let qos = options.qos.for_service();
        let created = event_loop.node.create_deferred_service(options.name, qos, call);
        let failed = |error| RclrsError::from_graph(&error, RclReturnCode::ServiceNameInvalid);
        let service = created.map_err(failed)?;
        Ok(Arc::new(Self { service, callback, _event_loop: event_loop.clone() }))
    }

    /// The name of the service, with its namespace and after remapping.
    pub fn service_name(&self) -> String {
        self.service.name().to_owned()
    }
}

impl<T: ServiceIDL> ServiceState<T, Node> {
    /// Calls `callback` from the next request on.
    pub fn set_callback<Args>(&self, callback: impl IntoNodeServiceCallback<T, Args>) {
        self.callback.set(Some(callback.into_node_service_callback()));
    }

    /// Calls `callback` from the next request on.
    pub fn set_async_callback<Args>(&self, callback: impl IntoAsyncServiceCallback<T, Args>) {
        self.callback.set(Some(callback.into_async_service_callback()));
    }
}

impl<T: ServiceIDL, Payload: 'static + Send + Sync> ServiceState<T, Worker<Payload>> {
    /// Calls `callback` from the next request on.
    pub fn set_worker_callback<Args>(
        &self,
        callback: impl IntoWorkerServiceCallback<T, Payload, Args>,
    ) {
        self.callback.set(Some(callback.into_worker_service_callback()));
    }
}

impl<T: ServiceIDL, Scope: WorkScope> Drop for ServiceState<T, Scope> {
    fn drop(&mut self) {
        self.service.destroy();
        self.callback.close();
    }
}

impl<T: ServiceIDL, Scope: WorkScope> fmt::Debug for ServiceState<T, Scope> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Service").field(&self.service.name()).finish()
    }
}

/// Options of a service: a `&str`, or one with options as in `"service".keep_last(1)`, converts
/// into them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServiceOptions<'a> {
    /// The name of the service.
    pub name: &'a str,
    /// The quality of service. A service keeps as many requests as the depth says, at least 1000,
    /// and overwrites none. The other policies matter over ROS 2.
    pub qos: QoSProfile,
}

impl<'a> ServiceOptions<'a> {
    /// The default options for a service.
    pub fn new(name: &'a str) -> Self {
        Self { name, qos: QoSProfile::services_default() }
    }
}

impl<'a, T: IntoPrimitiveOptions<'a>> From<T> for ServiceOptions<'a> {
    fn from(value: T) -> Self {
        let primitive = value.into_primitive_options();
        let mut options = Self::new(primitive.name);
        primitive.apply_to(&mut options.qos);
        options
    }
}
