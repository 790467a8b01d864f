//! Clients of services: the side that asks.

use super::callback::{Callback, OnNew};
use super::entity::{Entity, c_name, copied};
use super::error::{RosError, check, forget};
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

/// A client of a service of a type that is known by its table. For any thread.
pub struct ErasedClient {
    client: UnsafeCell<ffi::rcl_client_t>,
    callback: Callback,
    request: Mutex<Native>,
    /// Responses are taken into this one, by one thread at a time.
    response: Mutex<Native>,
    table: &'static ServiceType,
    service: String,
    entity: Entity,
    node: Arc<NodeHandle>,
}

// SAFETY: rcl's client is memory of its own without ties to a thread.
unsafe impl Send for ErasedClient {}
// SAFETY: it changes in `new` and `drop` only. `rcl_take_response` must not run twice at a time,
// for which the lock of `response` sees; `rcl_send_request` is thread-safe for requests of their
// own (client.h), and uses the writer of the client, where a take uses the reader.
unsafe impl Sync for ErasedClient {}

impl ErasedClient {
    /// A client of the service `name`, which may be relative to the node.
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
        let entity = node.entity("client", name, &type_name);
        let given = c_name("service", name)?;
        let request = Mutex::new(Native::new(table.request, &entity)?);
        let response = Mutex::new(Native::new(table.response, &entity)?);
        let _lock = lock::entities();
        // SAFETY: the name and the options outlive the call, the type support is static, the
        // client is zero-initialized, and the node is kept alive by the handle.
        unsafe {
            let mut client = ffi::rcl_get_zero_initialized_client();
            let mut options = ffi::rcl_client_get_default_options();
            options.qos = to_rmw(qos);
            let (pointer, given) = (node.pointer(), given.as_ptr());
            let code = ffi::rcl_client_init(&mut client, pointer, table.support(), given, &options);
            check(code, "create", &entity)?;
            let service = copied(ffi::rcl_client_get_service_name(&client));
            let entity = node.entity("client", &service, &type_name);
            let (client, callback) = (UnsafeCell::new(client), Callback::default());
            Ok(Self { client, callback, request, response, table, service, entity, node })
        }
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
        self.set_callback(Some(Box::new(notify)))
    }

    fn set_callback(&self, closure: Option<Box<OnNew>>) -> Result<(), RosError> {
        self.callback.set(closure, |function, data| {
            // SAFETY: the client is initialized; `data` belongs to `function` and lives until this
            // is called again, in `drop` at the latest.
            let code = unsafe {
                ffi::rcl_client_set_on_new_response_callback(self.client.get(), function, data)
            };
            check(code, "set the callback of", &self.entity)
        })
    }

    /// Sends a request, and returns the number by which its response will name it. A request that
    /// no service is there for is lost: ask [`is_available`](Self::is_available) first.
    ///
    /// # Errors
    /// For a request of another type or one that does not fit its ROS type, and after a shutdown.
    pub fn send_request(&self, request: &dyn Any) -> Result<i64, RosError> {
        let mut native = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        native.write(request, &self.entity)?;
        let mut sequence = 0;
        // SAFETY: the client is initialized, the C struct is of its request and locked.
        let code =
            unsafe { ffi::rcl_send_request(self.client.get(), native.as_ptr(), &mut sequence) };
        check(code, "send a request of", &self.entity)?;
        Ok(sequence)
    }

    /// Takes the oldest response, if there is one, into `slot`: an `Option` of the Rust type; and
    /// returns the number of its request. Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no response is taken), after a shutdown, and for a response
    /// that cannot be read: that one is then gone.
    pub fn take_response(&self, slot: &mut dyn Any) -> Result<Option<i64>, RosError> {
        if !self.table.response.fits(slot) {
            return Err(RosError::OtherType { entity: self.entity.text() });
        }
        let native = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        let mut header = ffi::rmw_request_id_t { writer_guid: [0; 16], sequence_number: 0 };
        // SAFETY: the client is initialized, the C struct is of its response and locked, which
        // also keeps out any other take.
        let code =
            unsafe { ffi::rcl_take_response(self.client.get(), &mut header, native.as_ptr()) };
        if code == ffi::RCL_RET_CLIENT_TAKE_FAILED as i32 {
            forget();
            return Ok(None);
        }
        check(code, "take a response of", &self.entity)?;
        native.read(slot, &self.entity)?;
        Ok(Some(header.sequence_number))
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
            let node = self.node.pointer();
            ffi::rcl_service_server_is_available(node, self.client.get(), &mut available)
        };
        check(code, "look for the service of", &self.entity)?;
        Ok(available)
    }

    /// The identities of the servers that are there. Where the middleware has none, all of them
    /// together have one.
    pub(crate) fn servers(&self) -> Result<Vec<[u8; 16]>, RosError> {
        let ids = Node { handle: self.node.clone() }.servers(&self.service)?;
        if ids.is_empty() && self.is_available()? {
            return Ok(vec![[0; 16]]);
        }
        Ok(ids)
    }

    /// The service's name, as expanded and remapped.
    pub fn service(&self) -> &str {
        &self.service
    }
}

impl Drop for ErasedClient {
    fn drop(&mut self) {
        // Without this lock: a running callback may wait for another thread that makes entities.
        let _ = self.set_callback(None);
        let _lock = lock::entities();
        // SAFETY: this is the only owner, and the node still lives.
        unsafe { ffi::rcl_client_fini(self.client.get(), self.node.pointer()) };
        forget();
    }
}

impl std::fmt::Debug for ErasedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.entity.text())
    }
}

/// A client of a service `S`. For any thread.
pub struct Client<S> {
    inner: ErasedClient,
    service: PhantomData<fn() -> S>,
}

impl<S: RosService> Client<S> {
    /// Same as [`ErasedClient::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(node: &Node, name: &str, qos: &QoS) -> Result<Self, RosError> {
        let inner = ErasedClient::new(node, ServiceType::of::<S>(), name, qos)?;
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

impl<S> Deref for Client<S> {
    type Target = ErasedClient;

    fn deref(&self) -> &ErasedClient {
        &self.inner
    }
}
