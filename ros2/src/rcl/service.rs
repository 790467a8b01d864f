//! Services: the side that answers.

use super::error::{check_slot, misfit};
use super::ffi;
use super::lock;
use super::native::Native;
use super::node::Node;
use super::owned::Owned;
use super::type_support::{Dynamic, Resolved};
use ringspin_executor::{Error, QoS};
use ringspin_messages::{CdrService, RosService};
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

/// A service `S`, or one whose type is known at run time. It may be used from any thread.
pub struct Service<S = Dynamic> {
    rcl: Owned<ffi::rcl_service_t>,
    table: &'static CdrService,
    /// Requests are taken into this one, by one thread at a time.
    request: Mutex<Native>,
    response: Mutex<Native>,
    /// The bytes of the last response.
    buffer: Mutex<Vec<u8>>,
    service: PhantomData<fn() -> S>,
}

debug_as_entity!(Service<S>);

impl<S: RosService> Service<S> {
    /// A service `name`, which may be relative to the node.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn new(node: &Node, name: &str, qos: &QoS) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(CdrService::of::<S>())?, name, qos)
    }

    /// Takes the oldest request, if there is one. Does not wait.
    ///
    /// # Errors
    /// After a shutdown, and for a request that cannot be read: that one is then gone.
    pub fn take_request(&self) -> Result<Option<(S::Request, RequestId)>, Error> {
        let mut slot = None;
        let id = self.take_into(&mut slot, |_| {})?;
        Ok(slot.zip(id))
    }

    /// Answers the request `id` with `response`, from any thread and in any order.
    ///
    /// # Errors
    /// For a response that does not fit its ROS type, when the client no longer exists, and after a
    /// shutdown.
    pub fn send_response(&self, id: RequestId, response: &S::Response) -> Result<(), Error> {
        self.send(id, response)
    }
}

impl Service {
    /// A service like [`new`](Self::new), of the Rust types of `table`.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn of_table(
        node: &Node,
        table: &'static CdrService,
        name: &str,
        qos: &QoS,
    ) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(table)?, name, qos)
    }

    /// A service of the type `type_name`, such as `std_srvs/srv/SetBool`, for CDR bytes. The type
    /// need not be one that this program knows: its package is looked for in the sourced ROS.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](ringspin_executor::ErrorKind::NotFound) for an unknown type; other
    /// ones for an invalid name, a quality of service that the middleware does not have, and after
    /// a shutdown.
    pub fn named(node: &Node, type_name: &str, name: &str, qos: &QoS) -> Result<Self, Error> {
        Self::create(node, Resolved::named(type_name)?, name, qos)
    }

    /// Takes the oldest request, if there is one, into `slot`: an `Option` of the Rust type.
    /// Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no request is taken), for a request that cannot be read (it is
    /// then lost), and after a shutdown.
    pub fn take_request(&self, slot: &mut dyn Any) -> Result<Option<RequestId>, Error> {
        self.take_into(slot, |_| {})
    }

    /// Takes a request like [`take_request`](Self::take_request), and shows its bytes to `note`.
    pub(crate) fn take_request_noting(
        &self,
        slot: &mut dyn Any,
        note: impl FnOnce(&[u8]),
    ) -> Result<Option<RequestId>, Error> {
        self.take_into(slot, note)
    }

    /// Answers a request with a response of the Rust type of the table, like
    /// [`send_response`](Self::send_response).
    ///
    /// # Errors
    /// For a response that does not fit its ROS type or has another Rust type, when the client no
    /// longer exists, and after a shutdown.
    pub fn send_response(&self, id: RequestId, response: &dyn Any) -> Result<(), Error> {
        self.send(id, response)
    }
}

impl<S> Service<S> {
    fn create(
        node: &Node,
        resolved: Resolved<'_, ffi::rosidl_service_type_support_t>,
        name: &str,
        qos: &QoS,
    ) -> Result<Self, Error> {
        let rcl = Owned::<ffi::rcl_service_t>::create(node, name, &resolved, qos, |_| {})?;
        let [request, response] = Native::of_service(resolved.name, &rcl.entity)?;
        let buffer = Mutex::default();
        Ok(Self { rcl, table: resolved.table, request, response, buffer, service: PhantomData })
    }

    /// Calls `notify` whenever requests arrive, with their number since the last call; as
    /// [`on_new_message`](super::SubscriptionEndpoint::on_new_message).
    ///
    /// # Errors
    /// Where the middleware has no such callbacks.
    pub fn on_new_request(
        &self,
        notify: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.rcl.on_new(notify)
    }

    /// Takes the oldest request, if there is one. Does not wait.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take_request_serialized(&self) -> Result<Option<(Vec<u8>, RequestId)>, Error> {
        self.take_request_with(|bytes, id| Ok((bytes.to_vec(), id)))
    }

    /// Takes the oldest request, if there is one, and returns the result of `read`.
    fn take_request_with<T>(
        &self,
        read: impl FnOnce(&[u8], RequestId) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let mut native = self.request.lock().unwrap_or_else(PoisonError::into_inner);
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
        let id = header.request_id;
        let id = RequestId { client: id.writer_guid, sequence: id.sequence_number };
        read(native.read(&self.rcl.entity)?, id).map(Some)
    }

    /// Answers the request `id` with `response`, from any thread and in any order.
    ///
    /// # Errors
    /// For bytes that are no response of this type, when the client no longer exists, and after a
    /// shutdown.
    pub fn send_response_serialized(&self, id: RequestId, response: &[u8]) -> Result<(), Error> {
        let mut native = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        self.send_through(&mut native, id, response)
    }

    /// Answers the request `id` with `response`, which goes through `native`.
    fn send_through(
        &self,
        native: &mut Native,
        id: RequestId,
        response: &[u8],
    ) -> Result<(), Error> {
        native.write(response, &self.rcl.entity)?;
        let mut header =
            ffi::rmw_request_id_t { writer_guid: id.client, sequence_number: id.sequence };
        let _use = lock::one_use();
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

    /// Same as [`send_response`](Self::send_response), without making others wait meanwhile.
    pub(crate) fn send_response_apart(
        &self,
        id: RequestId,
        response: &dyn Any,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let bytes = self.table.response().serialize(response, &mut buffer);
        let bytes = bytes.map_err(|error| misfit(&self.rcl.entity, &error))?;
        let native = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = native.another(&self.rcl.entity)?;
        drop(native);
        self.send_through(&mut own, id, bytes)
    }

    fn send(&self, id: RequestId, response: &dyn Any) -> Result<(), Error> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.table.response().serialize(response, &mut buffer);
        self.send_response_serialized(id, bytes.map_err(|error| misfit(&self.rcl.entity, &error))?)
    }

    fn take_into(
        &self,
        slot: &mut dyn Any,
        note: impl FnOnce(&[u8]),
    ) -> Result<Option<RequestId>, Error> {
        let (entity, table) = (&self.rcl.entity, self.table.request());
        check_slot(table, slot, entity)?;
        self.take_request_with(|bytes, id| {
            table.read(bytes, slot).map_err(|error| misfit(entity, &error))?;
            note(bytes);
            Ok(id)
        })
    }
}
