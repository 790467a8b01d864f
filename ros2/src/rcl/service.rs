//! Services: the side that answers.

use super::error::{RosError, misfit};
use super::ffi;
use super::lock;
use super::native::Native;
use super::node::Node;
use super::owned::Owned;
use super::type_support::{by_name, by_name_and_hash};
use ringspin_executor::QoS;
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

/// A service of a type that is known by its name: requests and responses are CDR bytes, each with
/// its header of four bytes. For any thread.
pub struct RawService {
    rcl: Owned<ffi::rcl_service_t>,
    /// Requests are taken into this one, by one thread at a time.
    request: Mutex<Native>,
    response: Mutex<Native>,
}

debug_as_entity!(RawService);

impl RawService {
    /// A service `name`, which may be relative to the node, of the type `type_name`, such as
    /// `std_srvs/srv/SetBool`.
    ///
    /// The type need not be one that this program knows: its package is looked for in the sourced
    /// ROS.
    ///
    /// # Errors
    /// [`RosError::UnknownType`]; for an invalid name, a quality of service that the middleware
    /// does not have, and after a shutdown.
    pub fn new(node: &Node, type_name: &str, name: &str, qos: &QoS) -> Result<Self, RosError> {
        Self::of_support(node, (type_name, by_name(type_name)?), name, qos)
    }

    fn of_support(
        node: &Node,
        of_type: (&str, &'static ffi::rosidl_service_type_support_t),
        name: &str,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let rcl = Owned::<ffi::rcl_service_t>::create(node, name, of_type, qos, |_| {})?;
        let half = |half: &str| {
            Native::new(by_name(&format!("{}_{half}", of_type.0))?, &rcl.entity).map(Mutex::new)
        };
        let (request, response) = (half("Request")?, half("Response")?);
        Ok(Self { rcl, request, response })
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

    /// Takes the oldest request, if there is one. Does not wait.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take_request_serialized(&self) -> Result<Option<(Vec<u8>, RequestId)>, RosError> {
        self.take_request_with(|bytes, id| Ok((bytes.to_vec(), id)))
    }

    /// Takes the oldest request, if there is one, and returns what `read` makes of it.
    fn take_request_with<T>(
        &self,
        read: impl FnOnce(&[u8], RequestId) -> Result<T, RosError>,
    ) -> Result<Option<T>, RosError> {
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
    /// For bytes that are no response of this type, when the client has gone, and after a shutdown.
    pub fn send_response_serialized(&self, id: RequestId, response: &[u8]) -> Result<(), RosError> {
        let mut native = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(&mut native, id, response)
    }

    /// Answers the request `id` with `response`, which goes through `native`.
    fn send(&self, native: &mut Native, id: RequestId, response: &[u8]) -> Result<(), RosError> {
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
}

/// A service of a type that is known by its table. For any thread.
pub struct ErasedService {
    raw: RawService,
    table: &'static CdrService,
    /// The bytes of the last response.
    buffer: Mutex<Vec<u8>>,
}

impl ErasedService {
    /// A service `name`, which may be relative to the node.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn new(
        node: &Node,
        table: &'static CdrService,
        name: &str,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let of_type = (table.name(), by_name_and_hash(table.name(), table.hash())?);
        let raw = RawService::of_support(node, of_type, name, qos)?;
        Ok(Self { raw, table, buffer: Mutex::default() })
    }

    /// Takes the oldest request, if there is one, into `slot`: an `Option` of the Rust type.
    /// Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no request is taken), after a shutdown, and for a request that
    /// cannot be read: that one is then gone.
    pub fn take_request(&self, slot: &mut dyn Any) -> Result<Option<RequestId>, RosError> {
        let (entity, table) = (&self.raw.rcl.entity, self.table.request());
        if !table.fits_slot(slot) {
            return Err(RosError::OtherType { entity: entity.text() });
        }
        self.raw.take_request_with(|bytes, id| {
            table.read(bytes, slot).map_err(|error| misfit(entity, &error))?;
            Ok(id)
        })
    }

    /// Answers the request `id` with `response`, from any thread and in any order.
    ///
    /// # Errors
    /// For a response of another type or one that does not fit its ROS type, when the client has
    /// gone, and after a shutdown.
    pub fn send_response(&self, id: RequestId, response: &dyn Any) -> Result<(), RosError> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.serialize(response, &mut buffer)?;
        self.raw.send_response_serialized(id, bytes)
    }

    /// Same as [`send_response`](Self::send_response), without making others wait meanwhile.
    pub(crate) fn send_response_apart(
        &self,
        id: RequestId,
        response: &dyn Any,
    ) -> Result<(), RosError> {
        let mut buffer = Vec::new();
        let bytes = self.serialize(response, &mut buffer)?;
        let native = self.raw.response.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = native.another(&self.raw.rcl.entity)?;
        drop(native);
        self.raw.send(&mut own, id, bytes)
    }

    fn serialize<'a>(
        &self,
        response: &'a dyn Any,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], RosError> {
        let bytes = self.table.response().serialize(response, buffer);
        bytes.map_err(|error| misfit(&self.raw.rcl.entity, &error))
    }
}

deref_to!(ErasedService, raw: RawService);

/// A service `S`. For any thread.
pub struct Service<S> {
    inner: ErasedService,
    service: PhantomData<fn() -> S>,
}

impl<S: RosService> Service<S> {
    /// Same as [`ErasedService::new`].
    ///
    /// # Errors
    /// The same ones.
    pub fn new(node: &Node, name: &str, qos: &QoS) -> Result<Self, RosError> {
        let inner = ErasedService::new(node, CdrService::of::<S>(), name, qos)?;
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
