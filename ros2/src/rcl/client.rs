//! Clients of services: the side that asks.

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

/// A client of a service of a type that is known by its name: requests and responses are CDR bytes,
/// each with its header of four bytes. For any thread.
pub struct RawClient {
    rcl: Owned<ffi::rcl_client_t>,
    request: Mutex<Native>,
    /// Responses are taken into this one, by one thread at a time.
    response: Mutex<Native>,
}

debug_as_entity!(RawClient);

impl RawClient {
    /// A client of the service `name`, which may be relative to the node, of the type `type_name`,
    /// such as `std_srvs/srv/SetBool`.
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
        let rcl = Owned::<ffi::rcl_client_t>::create(node, name, of_type, qos, |_| {})?;
        let half = |half: &str| {
            Native::new(by_name(&format!("{}_{half}", of_type.0))?, &rcl.entity).map(Mutex::new)
        };
        let (request, response) = (half("Request")?, half("Response")?);
        Ok(Self { rcl, request, response })
    }

    /// Calls `notify` whenever responses have come, with how many since the last call; as
    /// [`on_new_message`](super::SubscriptionEndpoint::on_new_message).
    ///
    /// # Errors
    /// Where the middleware has no such callbacks.
    pub fn on_new_response(
        &self,
        notify: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<(), RosError> {
        self.rcl.on_new(notify)
    }

    /// Sends a request, and returns the number by which its response will name it. A request that
    /// no service is there for is lost: ask [`is_available`](Self::is_available) first.
    ///
    /// # Errors
    /// For bytes that are no request of this type, and after a shutdown.
    pub fn send_request_serialized(&self, request: &[u8]) -> Result<i64, RosError> {
        let mut native = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        native.write(request, &self.rcl.entity)?;
        let mut sequence = 0;
        let _use = lock::one_use();
        // SAFETY: the client is initialized, the C struct is of its request and locked.
        let code =
            unsafe { ffi::rcl_send_request(self.rcl.pointer(), native.as_ptr(), &mut sequence) };
        self.rcl.check(code, "send a request of")?;
        Ok(sequence)
    }

    /// Takes the oldest response, if there is one, with the number of its request. Does not wait.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take_response_serialized(&self) -> Result<Option<(i64, Vec<u8>)>, RosError> {
        self.take_response_with(|number, bytes| Ok((number, bytes.to_vec())))
    }

    /// Takes the oldest response, if there is one, and returns what `read` makes of it.
    fn take_response_with<T>(
        &self,
        read: impl FnOnce(i64, &[u8]) -> Result<T, RosError>,
    ) -> Result<Option<T>, RosError> {
        let mut native = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        let mut header = ffi::rmw_request_id_t { writer_guid: [0; 16], sequence_number: 0 };
        // SAFETY: the client is initialized, the C struct is of its response and locked, which
        // also keeps out any other take.
        let code =
            unsafe { ffi::rcl_take_response(self.rcl.pointer(), &mut header, native.as_ptr()) };
        let none = ffi::RCL_RET_CLIENT_TAKE_FAILED;
        if !self.rcl.check_some(code, none, "take a response of")? {
            return Ok(None);
        }
        read(header.sequence_number, native.read(&self.rcl.entity)?).map(Some)
    }

    /// Whether a service of this name is there, and can be reached both ways.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn is_available(&self) -> Result<bool, RosError> {
        let _lock = lock::entities();
        let mut available = false;
        // SAFETY: node and client are initialized, and the lock keeps out other questions.
        let code = unsafe {
            let node = self.rcl.parent.node.pointer();
            ffi::rcl_service_server_is_available(node, self.rcl.pointer(), &mut available)
        };
        self.rcl.check(code, "look for the service of")?;
        Ok(available)
    }

    /// The identities of the servers that are there. Where the middleware has none, all of them
    /// together have one.
    pub(crate) fn servers(&self) -> Result<Vec<[u8; 16]>, RosError> {
        let ids = Node { handle: self.rcl.parent.node.clone() }.servers(self.service())?;
        if ids.is_empty() && self.is_available()? {
            return Ok(vec![[0; 16]]);
        }
        Ok(ids)
    }

    /// The service's name, as expanded and remapped.
    pub fn service(&self) -> &str {
        &self.rcl.parent.name
    }
}

/// A client of a service of a type that is known by its table. For any thread.
pub struct ErasedClient {
    raw: RawClient,
    table: &'static CdrService,
    /// The bytes of the last request.
    buffer: Mutex<Vec<u8>>,
}

impl ErasedClient {
    /// A client of the service `name`, which may be relative to the node.
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
        let raw = RawClient::of_support(node, of_type, name, qos)?;
        Ok(Self { raw, table, buffer: Mutex::default() })
    }

    /// Sends a request, and returns the number by which its response will name it. A request that
    /// no service is there for is lost: ask [`is_available`](RawClient::is_available) first.
    ///
    /// # Errors
    /// For a request of another type or one that does not fit its ROS type, and after a shutdown.
    pub fn send_request(&self, request: &dyn Any) -> Result<i64, RosError> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.table.request().serialize(request, &mut buffer);
        let bytes = bytes.map_err(|error| misfit(&self.raw.rcl.entity, &error))?;
        self.raw.send_request_serialized(bytes)
    }

    /// Takes the oldest response, if there is one, into `slot`: an `Option` of the Rust type; and
    /// returns the number of its request. Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no response is taken), after a shutdown, and for a response
    /// that cannot be read: that one is then gone.
    pub fn take_response(&self, slot: &mut dyn Any) -> Result<Option<i64>, RosError> {
        let (entity, table) = (&self.raw.rcl.entity, self.table.response());
        if !table.fits_slot(slot) {
            return Err(RosError::OtherType { entity: entity.text() });
        }
        self.raw.take_response_with(|number, bytes| {
            table.read(bytes, slot).map_err(|error| misfit(entity, &error))?;
            Ok(number)
        })
    }
}

deref_to!(ErasedClient, raw: RawClient);

/// A client of a service `S`. For any thread.
pub struct Client<S> {
    inner: ErasedClient,
    service: PhantomData<fn() -> S>,
}

impl<S: RosService> Client<S> {
    /// Same as [`ErasedClient::new`].
    ///
    /// # Errors
    /// The same ones.
    pub fn new(node: &Node, name: &str, qos: &QoS) -> Result<Self, RosError> {
        let inner = ErasedClient::new(node, CdrService::of::<S>(), name, qos)?;
        Ok(Self { inner, service: PhantomData })
    }

    /// The errors of [`ErasedClient::send_request`].
    ///
    /// # Errors
    /// As there, except that the type is right.
    pub fn send_request(&self, request: &S::Request) -> Result<i64, RosError> {
        self.inner.send_request(request)
    }

    /// Takes the oldest response, if there is one, with the number of its request. Does not wait.
    ///
    /// # Errors
    /// The errors of [`ErasedClient::take_response`].
    pub fn take_response(&self) -> Result<Option<(i64, S::Response)>, RosError> {
        let mut slot = None;
        let sequence = self.inner.take_response(&mut slot)?;
        Ok(sequence.zip(slot))
    }
}

deref_to!(Client<S>, inner: ErasedClient);
