//! Services: the side that answers.

use super::error::RosError;
use super::message::{Native, RosService, ServiceType};
use super::node::Node;
use super::owned::Owned;
use r2r_rcl as ffi;
use ringspin_executor::QoS;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

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
    rcl: Owned<ffi::rcl_service_t>,
    /// Requests are taken into this one, by one thread at a time.
    request: Mutex<Native>,
    response: Mutex<Native>,
    table: &'static ServiceType,
}

debug_as_entity!(ErasedService);

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
        let of_type = (&*table.name(), table.support());
        let rcl = Owned::<ffi::rcl_service_t>::create(node, name, of_type, qos, |_| {})?;
        let request = Mutex::new(Native::new(table.request, &rcl.entity)?);
        let response = Mutex::new(Native::new(table.response, &rcl.entity)?);
        Ok(Self { rcl, request, response, table })
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
        self.rcl.on_new(notify)
    }

    /// Takes the oldest request, if there is one, into `slot`: an `Option` of the Rust type.
    /// Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no request is taken), after a shutdown, and for a request that
    /// cannot be read: that one is then gone.
    pub fn take_request(&self, slot: &mut dyn Any) -> Result<Option<RequestId>, RosError> {
        let native = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        native.check_slot(slot, &self.rcl.entity)?;
        // SAFETY: an empty header is all zeros.
        let mut header: ffi::rmw_service_info_t = unsafe { std::mem::zeroed() };
        // SAFETY: the service is initialized, the C struct is of its request and locked, which
        // also keeps out any other take.
        let code = unsafe {
            ffi::rcl_take_request_with_info(self.rcl.pointer(), &mut header, native.as_ptr())
        };
        let none = ffi::RCL_RET_SERVICE_TAKE_FAILED;
        if !self.rcl.check_some(code, none, "take a request of")? {
            return Ok(None);
        }
        native.read(slot, &self.rcl.entity)?;
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
        self.send(&mut Native::new(self.table.response, &self.rcl.entity)?, id, response)
    }

    /// Answers the request `id` with `response`, which goes through `native`.
    fn send(&self, native: &mut Native, id: RequestId, response: &dyn Any) -> Result<(), RosError> {
        native.write(response, &self.rcl.entity)?;
        let mut header =
            ffi::rmw_request_id_t { writer_guid: id.client, sequence_number: id.sequence };
        // SAFETY: the service is initialized, and the C struct is of its response and borrowed
        // exclusively.
        let code =
            unsafe { ffi::rcl_send_response(self.rcl.pointer(), &mut header, native.as_ptr()) };
        self.rcl.check(code, "answer a request of")
    }

    /// Its name, as expanded and remapped.
    pub fn name(&self) -> &str {
        &self.rcl.parent.name
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

deref_to!(Service<S>, inner: ErasedService);
