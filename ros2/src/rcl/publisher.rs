//! Publishers.

use super::entity::{Entity, c_name, copied};
use super::error::{RosError, check, failure, forget, is_ok};
use super::lock;
use super::message::{MessageType, Native, RosMessage};
use super::node::{Node, NodeHandle};
use super::qos::{check_depth, from_rmw, to_rmw};
use super::serialized;
use r2r_rcl as ffi;
use ringspin_executor::QoS;
use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A publisher without its type: what all of them can do. For any thread.
pub struct PublisherEndpoint {
    publisher: UnsafeCell<ffi::rcl_publisher_t>,
    topic: String,
    entity: Entity,
    node: Arc<NodeHandle>,
}

// SAFETY: rcl's publisher is memory of its own without ties to a thread.
unsafe impl Send for PublisherEndpoint {}
// SAFETY: it changes in `new` and `drop` only; every function of rcl that is called meanwhile is
// thread-safe for a publisher that does not change (publisher.h says so of each).
unsafe impl Sync for PublisherEndpoint {}

impl PublisherEndpoint {
    pub(super) fn new(
        node: &Node,
        topic: &str,
        type_name: &str,
        support: *const ffi::rosidl_message_type_support_t,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let node = node.handle.clone();
        let entity = node.entity("publisher", topic, type_name);
        let name = c_name("topic", topic)?;
        check_depth(qos, &entity);
        let _lock = lock::entities();
        // SAFETY: the name and the options outlive the call, the type support is static, the
        // publisher is zero-initialized, and the node is kept alive by the handle.
        unsafe {
            let mut publisher = ffi::rcl_get_zero_initialized_publisher();
            let mut options = ffi::rcl_publisher_get_default_options();
            options.qos = to_rmw(qos);
            let pointer = node.pointer();
            let code =
                ffi::rcl_publisher_init(&mut publisher, pointer, support, name.as_ptr(), &options);
            check(code, "create", &entity)?;
            let topic = copied(ffi::rcl_publisher_get_topic_name(&publisher));
            let entity = node.entity("publisher", &topic, type_name);
            Ok(Self { publisher: UnsafeCell::new(publisher), topic, entity, node })
        }
    }

    /// Publishes bytes in the middleware's serialization, for ROS 2 CDR with its header of four
    /// bytes, such as a raw subscription took them.
    ///
    /// # Errors
    /// After a shutdown, and where the middleware refuses them. It does not look into them.
    pub fn publish_serialized(&self, bytes: &[u8]) -> Result<(), RosError> {
        let message = serialized::borrowed(bytes);
        // SAFETY: the publisher is initialized; the bytes are only read, during the call.
        let code = unsafe {
            ffi::rcl_publish_serialized_message(self.pointer(), &message, std::ptr::null_mut())
        };
        check(code, "publish bytes to", &self.entity)
    }

    /// Gives a sign of life, for a liveliness that is manual.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn assert_liveliness(&self) -> Result<(), RosError> {
        // SAFETY: the publisher is initialized.
        let code = unsafe { ffi::rcl_publisher_assert_liveliness(self.pointer()) };
        check(code, "assert the liveliness of", &self.entity)
    }

    /// How many subscriptions it is connected with, those of this process included.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn subscription_count(&self) -> Result<usize, RosError> {
        let mut count = 0;
        // SAFETY: the publisher is initialized, and `count` outlives the call.
        let code = unsafe { ffi::rcl_publisher_get_subscription_count(self.pointer(), &mut count) };
        check(code, "count the subscriptions of", &self.entity)?;
        Ok(count)
    }

    /// Waits up to `timeout` until every reliable subscription has acknowledged every message;
    /// false if time was up. For the end of a program, which would otherwise lose what is under
    /// way.
    ///
    /// # Errors
    /// After a shutdown, and where the middleware cannot tell.
    pub fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool, RosError> {
        let ns = timeout.as_nanos().try_into().unwrap_or(i64::MAX);
        // SAFETY: the publisher is initialized.
        let code = unsafe { ffi::rcl_publisher_wait_for_all_acked(self.pointer(), ns) };
        if code == ffi::RCL_RET_TIMEOUT as i32 {
            forget();
            return Ok(false);
        }
        check(code, "wait for acknowledgements of", &self.entity).map(|()| true)
    }

    /// The quality of service that the middleware gave it.
    pub fn qos(&self) -> QoS {
        // SAFETY: the publisher is initialized; the profile lives as long as it does.
        let profile = unsafe { ffi::rcl_publisher_get_actual_qos(self.pointer()).as_ref() };
        profile.map(from_rmw).unwrap_or_default()
    }

    /// The topic, as expanded and remapped.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    pub(super) fn pointer(&self) -> *const ffi::rcl_publisher_t {
        self.publisher.get()
    }

    pub(super) fn entity(&self) -> &Entity {
        &self.entity
    }
}

impl Drop for PublisherEndpoint {
    fn drop(&mut self) {
        let _lock = lock::entities();
        // SAFETY: this is the last owner, its events are gone, and the node still lives.
        unsafe { ffi::rcl_publisher_fini(self.publisher.get(), self.node.pointer()) };
        forget();
    }
}

impl std::fmt::Debug for PublisherEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.entity.text())
    }
}

/// A publisher of a message type that is known by its table. For any thread.
pub struct ErasedPublisher {
    pub(super) endpoint: Arc<PublisherEndpoint>,
    /// The C struct that messages are copied to; several threads at once make their own.
    spare: Mutex<Native>,
    table: &'static MessageType,
}

impl ErasedPublisher {
    /// A publisher on `topic`, which may be relative to the node.
    ///
    /// # Errors
    /// For an invalid name, a quality of service that the middleware does not have, and after a
    /// shutdown.
    pub fn new(
        node: &Node,
        table: &'static MessageType,
        topic: &str,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let endpoint = PublisherEndpoint::new(node, topic, &table.name(), table.support(), qos)?;
        let spare = Mutex::new(Native::new(table, &endpoint.entity)?);
        Ok(Self { endpoint: Arc::new(endpoint), spare, table })
    }

    /// The part that all publishers have in common.
    pub(crate) fn endpoint(&self) -> &Arc<PublisherEndpoint> {
        &self.endpoint
    }

    /// Publishes `message`, of the Rust type that the table is of.
    ///
    /// Subscriptions of this process are called within.
    ///
    /// # Errors
    /// For a message of another type ([`RosError::OtherType`]), or one that does not fit its ROS
    /// type ([`RosError::Message`]): too many elements, a NUL in a string. After a shutdown, and
    /// where the middleware has no room.
    pub fn publish(&self, message: &dyn Any) -> Result<(), RosError> {
        match self.spare.try_lock() {
            Ok(mut native) => self.send(&mut native, message),
            Err(_) => self.send(&mut Native::new(self.table, &self.endpoint.entity)?, message),
        }
    }

    fn send(&self, native: &mut Native, message: &dyn Any) -> Result<(), RosError> {
        let entity = &self.endpoint.entity;
        native.write(message, entity)?;
        // SAFETY: the publisher is initialized, and the C struct is of its type, initialized, and
        // borrowed during the call.
        let code = unsafe {
            ffi::rcl_publish(self.endpoint.pointer(), native.as_ptr(), std::ptr::null_mut())
        };
        if is_ok(code) { Ok(()) } else { Err(failure(code, "publish to", entity)) }
    }
}

impl Deref for ErasedPublisher {
    type Target = PublisherEndpoint;

    fn deref(&self) -> &PublisherEndpoint {
        &self.endpoint
    }
}

/// A publisher of messages `T`. For any thread.
pub struct Publisher<T> {
    inner: ErasedPublisher,
    message: PhantomData<fn(T)>,
}

impl<T: RosMessage> Publisher<T> {
    /// Same as [`ErasedPublisher::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(node: &Node, topic: &str, qos: &QoS) -> Result<Self, RosError> {
        let inner = ErasedPublisher::new(node, MessageType::of::<T>(), topic, qos)?;
        Ok(Self { inner, message: PhantomData })
    }

    /// The errors of [`ErasedPublisher::publish`].
    ///
    /// # Errors
    /// As there, except that the type is right.
    pub fn publish(&self, message: &T) -> Result<(), RosError> {
        self.inner.publish(message)
    }
}

impl<T> Deref for Publisher<T> {
    type Target = ErasedPublisher;

    fn deref(&self) -> &ErasedPublisher {
        &self.inner
    }
}
