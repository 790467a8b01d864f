//! Clients of services: the side that asks.

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

/// A client of a service `S`, or of one whose type is known at run time. It may be used from any
/// thread.
pub struct Client<S = Dynamic> {
    rcl: Owned<ffi::rcl_client_t>,
    table: &'static CdrService,
    request: Mutex<Native>,
    /// Responses are taken into this one, by one thread at a time.
    response: Mutex<Native>,
    /// The bytes of the last request.
    buffer: Mutex<Vec<u8>>,
    service: PhantomData<fn() -> S>,
}

debug_as_entity!(Client<S>);

impl<S: RosService> Client<S> {
    /// A client of the service `name`, which may be relative to the node.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn new(node: &Node, name: &str, qos: &QoS) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(CdrService::of::<S>())?, name, qos)
    }

    /// Sends a request, and returns the number by which its response will name it. A request that
    /// no service is there for is lost: ask [`is_available`](Self::is_available) first.
    ///
    /// # Errors
    /// For a request that does not fit its ROS type, and after a shutdown.
    pub fn send_request(&self, request: &S::Request) -> Result<i64, Error> {
        self.send(request)
    }

    /// Takes the oldest response, if there is one, with the number of its request. Does not wait.
    ///
    /// # Errors
    /// After a shutdown, and for a response that cannot be read: that one is then gone.
    pub fn take_response(&self) -> Result<Option<(i64, S::Response)>, Error> {
        let mut slot = None;
        let sequence = self.take_into(&mut slot, |_, _| {})?;
        Ok(sequence.zip(slot))
    }
}

impl Client {
    /// A client like [`new`](Self::new), of the Rust types of `table`.
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

    /// A client of the type `type_name`, such as `std_srvs/srv/SetBool`, for CDR bytes. The type
    /// need not be one that this program knows: its package is looked for in the sourced ROS.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](ringspin_executor::ErrorKind::NotFound) for an unknown type; other
    /// ones for an invalid name, a quality of service that the middleware does not have, and after
    /// a shutdown.
    pub fn named(node: &Node, type_name: &str, name: &str, qos: &QoS) -> Result<Self, Error> {
        Self::create(node, Resolved::named(type_name)?, name, qos)
    }

    /// Sends a request of the Rust type of the table like [`send_request`](Self::send_request).
    ///
    /// # Errors
    /// For a request that does not fit its ROS type or has another Rust type, and after a shutdown.
    pub fn send_request(&self, request: &dyn Any) -> Result<i64, Error> {
        self.send(request)
    }

    /// Takes the oldest response, if there is one, into `slot`: an `Option` of the Rust type; and
    /// returns the number of its request. Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no response is taken), for a response that cannot be read (it is
    /// then lost), and after a shutdown.
    pub fn take_response(&self, slot: &mut dyn Any) -> Result<Option<i64>, Error> {
        self.take_into(slot, |_, _| {})
    }

    /// Takes a response like [`take_response`](Self::take_response), and shows its number and its
    /// bytes to `note`.
    pub(crate) fn take_response_noting(
        &self,
        slot: &mut dyn Any,
        note: impl FnOnce(i64, &[u8]),
    ) -> Result<Option<i64>, Error> {
        self.take_into(slot, note)
    }
}

impl<S> Client<S> {
    fn create(
        node: &Node,
        resolved: Resolved<'_, ffi::rosidl_service_type_support_t>,
        name: &str,
        qos: &QoS,
    ) -> Result<Self, Error> {
        let rcl = Owned::<ffi::rcl_client_t>::create(node, name, &resolved, qos, |_| {})?;
        let [request, response] = Native::of_service(resolved.name, &rcl.entity)?;
        let buffer = Mutex::default();
        Ok(Self { rcl, table: resolved.table, request, response, buffer, service: PhantomData })
    }

    fn send(&self, request: &dyn Any) -> Result<i64, Error> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.table.request().serialize(request, &mut buffer);
        self.send_request_serialized(bytes.map_err(|error| misfit(&self.rcl.entity, &error))?)
    }

    fn take_into(
        &self,
        slot: &mut dyn Any,
        note: impl FnOnce(i64, &[u8]),
    ) -> Result<Option<i64>, Error> {
        let (entity, table) = (&self.rcl.entity, self.table.response());
        check_slot(table, slot, entity)?;
        self.take_response_with(|number, bytes| {
            table.read(bytes, slot).map_err(|error| misfit(entity, &error))?;
            note(number, bytes);
            Ok(number)
        })
    }

    /// Calls `notify` whenever responses arrive, with their number since the last call; as
    /// [`on_new_message`](super::SubscriptionEndpoint::on_new_message).
    ///
    /// # Errors
    /// Where the middleware has no such callbacks.
    pub fn on_new_response(
        &self,
        notify: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.rcl.on_new(notify)
    }

    /// Sends a request, and returns the number by which its response will name it. A request that
    /// no service is there for is lost: ask [`is_available`](Self::is_available) first.
    ///
    /// # Errors
    /// For bytes that are no request of this type, and after a shutdown.
    pub fn send_request_serialized(&self, request: &[u8]) -> Result<i64, Error> {
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
    pub fn take_response_serialized(&self) -> Result<Option<(i64, Vec<u8>)>, Error> {
        self.take_response_with(|number, bytes| Ok((number, bytes.to_vec())))
    }

    /// Takes the oldest response, if there is one, and returns the result of `read`.
    fn take_response_with<T>(
        &self,
        read: impl FnOnce(i64, &[u8]) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
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
    pub fn is_available(&self) -> Result<bool, Error> {
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
    pub(crate) fn servers(&self) -> Result<Vec<[u8; 16]>, Error> {
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
