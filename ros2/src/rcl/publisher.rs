//! Publishers.

use super::error::{RosError, misfit};
use super::fast_dds::Participant;
use super::ffi;
use super::lock;
use super::node::Node;
use super::owned::Owned;
use super::qos::{check_depth, from_rmw};
use super::serialized;
use super::type_support::{by_name, by_name_and_hash};
use ringspin_executor::QoS;
use ringspin_messages::{CdrType, RosMessage};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A publisher without its type: the part that all publishers have in common. For any thread.
pub struct PublisherEndpoint {
    pub(super) rcl: Arc<Owned<ffi::rcl_publisher_t>>,
}

debug_as_entity!(PublisherEndpoint);

impl PublisherEndpoint {
    pub(super) fn new(
        node: &Node,
        topic: &str,
        of_type: (&str, &'static ffi::rosidl_message_type_support_t),
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let rcl = Owned::<ffi::rcl_publisher_t>::create(node, topic, of_type, qos, |_| {})?;
        check_depth(qos, &rcl.entity);
        let context = node.handle.context();
        if context.participant.get().is_none()
            && let Some(participant) = Participant::of(&rcl)
        {
            context.participant.get_or_init(|| participant);
        }
        Ok(Self { rcl: Arc::new(rcl) })
    }

    /// Another handle of the same publisher.
    pub(crate) fn share(&self) -> Self {
        Self { rcl: self.rcl.clone() }
    }

    /// Publishes bytes in the middleware's serialization, for ROS 2 CDR with its header of four
    /// bytes, such as a raw subscription took them.
    ///
    /// # Errors
    /// After a shutdown, and where the middleware refuses them. It does not look into them.
    pub fn publish_serialized(&self, bytes: &[u8]) -> Result<(), RosError> {
        let message = serialized::borrowed(bytes);
        let _use = lock::one_use();
        // SAFETY: the publisher is initialized; the bytes are only read, during the call.
        let code = unsafe {
            ffi::rcl_publish_serialized_message(self.rcl.pointer(), &message, std::ptr::null_mut())
        };
        self.rcl.check(code, "publish bytes to")
    }

    /// Gives a sign of life, for a liveliness that is manual.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn assert_liveliness(&self) -> Result<(), RosError> {
        // SAFETY: the publisher is initialized.
        let code = unsafe { ffi::rcl_publisher_assert_liveliness(self.rcl.pointer()) };
        self.rcl.check(code, "assert the liveliness of")
    }

    /// How many subscriptions it is connected with, those of this process included.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn subscription_count(&self) -> Result<usize, RosError> {
        let mut count = 0;
        // SAFETY: the publisher is initialized, and `count` outlives the call.
        let code =
            unsafe { ffi::rcl_publisher_get_subscription_count(self.rcl.pointer(), &mut count) };
        self.rcl.check(code, "count the subscriptions of")?;
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
        let code = unsafe { ffi::rcl_publisher_wait_for_all_acked(self.rcl.pointer(), ns) };
        self.rcl.check_some(code, ffi::RCL_RET_TIMEOUT, "wait for acknowledgements of")
    }

    /// The quality of service that the middleware gave it.
    pub fn qos(&self) -> QoS {
        // SAFETY: the publisher is initialized; the profile lives as long as it does.
        let profile = unsafe { ffi::rcl_publisher_get_actual_qos(self.rcl.pointer()).as_ref() };
        profile.map(from_rmw).unwrap_or_default()
    }

    /// The topic, as expanded and remapped.
    pub fn topic(&self) -> &str {
        &self.rcl.parent.name
    }
}

/// A publisher of a message type that is known by its table. For any thread.
pub struct ErasedPublisher {
    endpoint: PublisherEndpoint,
    /// The bytes of the last message; several threads at once make their own.
    buffer: Mutex<Vec<u8>>,
    table: &'static CdrType,
}

impl ErasedPublisher {
    /// A publisher on `topic`, which may be relative to the node.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn new(
        node: &Node,
        table: &'static CdrType,
        topic: &str,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let of_type = (table.name(), by_name_and_hash(table.name(), table.hash())?);
        let endpoint = PublisherEndpoint::new(node, topic, of_type, qos)?;
        Ok(Self { endpoint, buffer: Mutex::default(), table })
    }

    /// A publisher of [`RawMessage`](ringspin_messages::RawMessage)s of the type `type_name`.
    pub(crate) fn raw(
        node: &Node,
        type_name: &str,
        topic: &str,
        qos: &QoS,
    ) -> Result<Self, RosError> {
        let endpoint = PublisherEndpoint::new(node, topic, (type_name, by_name(type_name)?), qos)?;
        Ok(Self { endpoint, buffer: Mutex::default(), table: CdrType::raw() })
    }

    /// Publishes `message`, of the Rust type that the table is of.
    ///
    /// Subscriptions of this process are called within. Nothing is allocated here once a message
    /// was as large.
    ///
    /// # Errors
    /// For a message of another type ([`RosError::OtherType`]), or one that does not fit its ROS
    /// type ([`RosError::Message`]): too many elements, a NUL in a string. After a shutdown, and
    /// where the middleware has no room.
    pub fn publish(&self, message: &dyn Any) -> Result<(), RosError> {
        match self.buffer.try_lock() {
            Ok(mut buffer) => self.send(&mut buffer, message),
            Err(_) => self.send(&mut Vec::new(), message),
        }
    }

    fn send(&self, buffer: &mut Vec<u8>, message: &dyn Any) -> Result<(), RosError> {
        let bytes = self.table.serialize(message, buffer);
        let bytes = bytes.map_err(|error| misfit(&self.endpoint.rcl.entity, &error))?;
        self.publish_serialized(bytes)
    }
}

deref_to!(ErasedPublisher, endpoint: PublisherEndpoint);

/// A publisher of messages `T`. For any thread.
pub struct Publisher<T> {
    inner: ErasedPublisher,
    message: PhantomData<fn(T)>,
}

impl<T: RosMessage> Publisher<T> {
    /// Same as [`ErasedPublisher::new`].
    ///
    /// # Errors
    /// The same ones.
    pub fn new(node: &Node, topic: &str, qos: &QoS) -> Result<Self, RosError> {
        let inner = ErasedPublisher::new(node, CdrType::of::<T>(), topic, qos)?;
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

deref_to!(Publisher<T>, inner: ErasedPublisher);
