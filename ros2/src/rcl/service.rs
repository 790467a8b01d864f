//! Services: the side that answers.

use super::callback::{Callback, OnNew};
use super::entity::{Entity, c_name, copied};
use super::error::{RosError, check, failure, forget, is_ok};
use super::lock;
use super::message::{Native, RosService, ServiceType};
use super::node::{Node, NodeHandle};
use super::qos::to_rmw;
use r2r_rcl as ffi;
use ringspin_executor::QoS;
use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Which request a response is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId {
    /// The client's identity in the middleware.
    pub client: [u8; 16],
    /// The number that the client gave the request.
    pub sequence: i64,
}

/// A service of a type that is known by its table. For any thread.
pub struct ErasedService {
    service: UnsafeCell<ffi::rcl_service_t>,
    callback: Callback,
    /// Requests are taken into this one, by one thread at a time.
    request: Mutex<Native>,
    response: Mutex<Native>,
    table: &'static ServiceType,
    name: String,
    entity: Entity,
    node: Arc<NodeHandle>,
}

// SAFETY: rcl's service is memory of its own without ties to a thread.
unsafe impl Send for ErasedService {}
// SAFETY: it changes in `new` and `drop` only. `rcl_take_request` must not run twice at a time, for
// which the lock of `request` sees; `rcl_send_response` is thread-safe for responses of their own
// (service.h), and uses the writer of the service, where a take uses the reader.
unsafe impl Sync for ErasedService {}

impl ErasedService {
    /// A service `name`, which may be relative to the node.
    ///
    /// # Errors
    /// For an invalid name, a quality of service that the middleware does not have, and after a
    /// shutdown.
    pub fn new(
        node: &Node,
        table: &'static ServiceType,
        name: &str,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let (type_name, node) = (table.name(), node.handle.clone());
        let entity = node.entity("service", name, &type_name);
        let given = c_name("service", name)?;
        let request = Mutex::new(Native::new(table.request, &entity)?);
        let response = Mutex::new(Native::new(table.response, &entity)?);
        let _lock = lock::entities();
        // SAFETY: the name and the options outlive the call, the type support is static, the
        // service is zero-initialized, and the node is kept alive by the handle.
        unsafe {
            let mut service = ffi::rcl_get_zero_initialized_service();
            let mut options = ffi::rcl_service_get_default_options();
            options.qos = to_rmw(qos);
            let (pointer, given) = (node.pointer(), given.as_ptr());
            let code =
                ffi::rcl_service_init(&mut service, pointer, table.support(), given, &options);
            check(code, "create", &entity)?;
            let name = copied(ffi::rcl_service_get_service_name(&service));
            let entity = node.entity("service", &name, &type_name);
            let (service, callback) = (UnsafeCell::new(service), Callback::default());
            Ok(Self { service, callback, request, response, table, name, entity, node })
        }
    }

    /// Calls `notify` whenever requests have come, with how many since the last call; as
    /// [`on_new_message`](super::SubscriptionEndpoint::on_new_message).
    ///
    /// # Errors
    /// Where the middleware has no such callbacks.
    pub fn on_new_request(
        &self,
        notify: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<(), RosError> {
        self.set_callback(Some(Box::new(notify)))
    }

    fn set_callback(&self, closure: Option<Box<OnNew>>) -> Result<(), RosError> {
        self.callback.set(closure, |function, data| {
            // SAFETY: the service is initialized; `data` belongs to `function` and lives until
            // this is called again, in `drop` at the latest.
            let code = unsafe {
                ffi::rcl_service_set_on_new_request_callback(self.service.get(), function, data)
            };
            check(code, "set the callback of", &self.entity)
        })
    }

    /// Takes the oldest request, if there is one, into `slot`: an `Option` of the Rust type.
    /// Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no request is taken), after a shutdown, and for a request that
    /// cannot be read: that one is then gone.
    pub fn take_request(&self, slot: &mut dyn Any) -> Result<Option<RequestId>, RosError> {
        if !self.table.request.fits(slot) {
            return Err(RosError::OtherType { entity: self.entity.text() });
        }
        let native = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: an empty header is all zeros.
        let mut header: ffi::rmw_service_info_t = unsafe { std::mem::zeroed() };
        // SAFETY: the service is initialized, the C struct is of its request and locked, which
        // also keeps out any other take.
        let code = unsafe {
            ffi::rcl_take_request_with_info(self.service.get(), &mut header, native.as_ptr())
        };
        if code == ffi::RCL_RET_SERVICE_TAKE_FAILED as i32 {
            forget();
            return Ok(None);
        }
        check(code, "take a request of", &self.entity)?;
        native.read(slot, &self.entity)?;
        let id = header.request_id;
        Ok(Some(RequestId { client: id.writer_guid, sequence: id.sequence_number }))
    }

    /// Answers the request `id` with `response`, from any thread and in any order.
    ///
    /// # Errors
    /// For a response of another type or one that does not fit its ROS type, when the client has
    /// gone, and after a shutdown.
    pub fn send_response(&self, id: RequestId, response: &dyn Any) -> Result<(), RosError> {
        let mut native = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(&mut native, id, response)
    }

    /// Same as [`send_response`](Self::send_response), without making others wait meanwhile.
    pub(crate) fn send_response_apart(
        &self,
        id: RequestId,
        response: &dyn Any,
    ) -> Result<(), RosError> {
        self.send(&mut Native::new(self.table.response, &self.entity)?, id, response)
    }

    /// Answers the request `id` with `response`, which goes through `native`.
    fn send(&self, native: &mut Native, id: RequestId, response: &dyn Any) -> Result<(), RosError> {
        native.write(response, &self.entity)?;
        let mut header =
            ffi::rmw_request_id_t { writer_guid: id.client, sequence_number: id.sequence };
        // SAFETY: the service is initialized, and the C struct is of its response and borrowed
        // exclusively.
        let code =
            unsafe { ffi::rcl_send_response(self.service.get(), &mut header, native.as_ptr()) };
        if is_ok(code) { Ok(()) } else { Err(failure(code, "answer a request of", &self.entity)) }
    }

    /// Its name, as expanded and remapped.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for ErasedService {
    fn drop(&mut self) {
        // Without this lock: a running callback may wait for another thread that makes entities.
        let _ = self.set_callback(None);
        let _lock = lock::entities();
        // SAFETY: this is the only owner, and the node still lives.
        unsafe { ffi::rcl_service_fini(self.service.get(), self.node.pointer()) };
        forget();
    }
}

impl std::fmt::Debug for ErasedService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.entity.text())
    }
}

/// A service `S`. For any thread.
pub struct Service<S> {
    inner: ErasedService,
    service: PhantomData<fn() -> S>,
}

impl<S: RosService> Service<S> {
    /// Same as [`ErasedService::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(node: &Node, name: &str, qos: &QoS) -> Result<Self, RosError> {
        let inner = ErasedService::new(node, ServiceType::of::<S>(), name, qos)?;
        Ok(Self { inner, service: PhantomData })
    }

    /// Takes the oldest request, if there is one. Does not wait.
    ///
    /// # Errors
    /// The errors of [`ErasedService::take_request`].
    pub fn take_request(&self) -> Result<Option<(S::Request, RequestId)>, RosError> {
        let mut slot = None;
        let id = self.inner.take_request(&mut slot)?;
        Ok(slot.zip(id))
    }

    /// Answers the request `id`.
    ///
    /// # Errors
    /// The errors of [`ErasedService::send_response`].
    pub fn send_response(&self, id: RequestId, response: &S::Response) -> Result<(), RosError> {
        self.inner.send_response(id, response)
    }
}

impl<S> Deref for Service<S> {
    type Target = ErasedService;

    fn deref(&self) -> &ErasedService {
        &self.inner
    }
}
