//! Publishers.

use super::error::misfit;
use super::fast_dds::Participant;
use super::ffi;
use super::lock;
use super::node::Node;
use super::owned::Owned;
use super::qos::{check_depth, from_rmw};
use super::serialized;
use super::type_support::{Dynamic, Resolved};
use ringspin_executor::{Error, QoS};
use ringspin_messages::{CdrType, RosMessage};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The longest wait at a time, for which an exit of the process waits.
const ACKNOWLEDGED_WAIT_MAX: Duration = Duration::from_millis(50);

/// A publisher without its type: the part that all publishers have in common. It may be used from
/// any thread.
pub struct PublisherEndpoint {
    pub(super) rcl: Arc<Owned<ffi::rcl_publisher_t>>,
}

debug_as_entity!(PublisherEndpoint);

impl PublisherEndpoint {
    pub(super) fn new(
        node: &Node,
        topic: &str,
        resolved: &Resolved<'_, ffi::rosidl_message_type_support_t>,
        qos: &QoS,
    ) -> Result<Self, Error> {
        let rcl = Owned::<ffi::rcl_publisher_t>::create(node, topic, resolved, qos, |_| {})?;
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
    pub fn publish_serialized(&self, bytes: &[u8]) -> Result<(), Error> {
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
    pub fn assert_liveliness(&self) -> Result<(), Error> {
        let _use = lock::one_use();
        // SAFETY: the publisher is initialized.
        let code = unsafe { ffi::rcl_publisher_assert_liveliness(self.rcl.pointer()) };
        self.rcl.check(code, "assert the liveliness of")
    }

    /// How many subscriptions it is connected with, those of this process included.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn subscription_count(&self) -> Result<usize, Error> {
        let mut count = 0;
        let _use = lock::one_use();
        // SAFETY: the publisher is initialized, and `count` outlives the call.
        let code =
            unsafe { ffi::rcl_publisher_get_subscription_count(self.rcl.pointer(), &mut count) };
        self.rcl.check(code, "count the subscriptions of")?;
        Ok(count)
    }

    /// Waits up to `timeout` until every reliable subscription has acknowledged every message;
    /// false if time was up. Call it at the end of a program, which would otherwise lose messages
    /// under way.
    ///
    /// # Errors
    /// After a shutdown, and where the middleware cannot tell.
    pub fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool, Error> {
        let start = Instant::now();
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            let ns = left.min(ACKNOWLEDGED_WAIT_MAX).as_nanos() as i64;
            let _use = lock::one_use();
            // SAFETY: the publisher is initialized.
            let code = unsafe { ffi::rcl_publisher_wait_for_all_acked(self.rcl.pointer(), ns) };
            let none = ffi::RCL_RET_TIMEOUT;
            let is_done = self.rcl.check_some(code, none, "wait for acknowledgements of")?;
            if is_done || left <= ACKNOWLEDGED_WAIT_MAX {
                return Ok(is_done);
            }
        }
    }

    /// The quality of service that the middleware gave it.
    pub fn qos(&self) -> QoS {
        let _use = lock::one_use();
        // SAFETY: the publisher is initialized; the profile lives as long as it does.
        let profile = unsafe { ffi::rcl_publisher_get_actual_qos(self.rcl.pointer()).as_ref() };
        profile.map(from_rmw).unwrap_or_default()
    }

    /// The topic, as expanded and remapped.
    pub fn topic(&self) -> &str {
        &self.rcl.parent.name
    }
}

/// A publisher of messages `T`, or of a type that is known at run time. It may be used from any
/// thread.
pub struct Publisher<T = Dynamic> {
    endpoint: PublisherEndpoint,
    /// The bytes of the last message; several threads at once make their own.
    buffer: Mutex<Vec<u8>>,
    table: &'static CdrType,
    message: PhantomData<fn(T)>,
}

impl<T: RosMessage> Publisher<T> {
    /// A publisher on `topic`, which may be relative to the node.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn new(node: &Node, topic: &str, qos: &QoS) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(CdrType::of::<T>())?, topic, qos)
    }

    /// Publishes `message`. Subscriptions of this process are called within. Nothing is allocated
    /// here once a message was as large.
    ///
    /// # Errors
    /// For a message that does not fit its ROS type: too many elements, a NUL in a string. After a
    /// shutdown, and where the middleware has no room.
    pub fn publish(&self, message: &T) -> Result<(), Error> {
        self.send(message)
    }
}

impl Publisher {
    /// A publisher like [`new`](Self::new), of the Rust type of `table`.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn of_table(
        node: &Node,
        table: &'static CdrType,
        topic: &str,
        qos: &QoS,
    ) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(table)?, topic, qos)
    }

    /// A publisher of the message type `type_name`, such as `std_msgs/msg/String`, for CDR bytes.
    /// The type need not be one that this program knows: its package is looked for in the sourced
    /// ROS.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](ringspin_executor::ErrorKind::NotFound) for an unknown type; other
    /// ones for an invalid name, a quality of service that the middleware does not have, and after
    /// a shutdown.
    pub fn named(node: &Node, topic: &str, type_name: &str, qos: &QoS) -> Result<Self, Error> {
        Self::create(node, Resolved::named(type_name)?, topic, qos)
    }

    /// Publishes a message of the Rust type of the table like [`publish`](Self::publish).
    ///
    /// # Errors
    /// For a message that does not fit its ROS type or has another Rust type, after a shutdown, and
    /// where the middleware has no room.
    pub fn publish(&self, message: &dyn Any) -> Result<(), Error> {
        self.send(message)
    }
}

impl<T> Publisher<T> {
    fn create(
        node: &Node,
        resolved: Resolved<'_, ffi::rosidl_message_type_support_t>,
        topic: &str,
        qos: &QoS,
    ) -> Result<Self, Error> {
        let endpoint = PublisherEndpoint::new(node, topic, &resolved, qos)?;
        Ok(Self { endpoint, buffer: Mutex::default(), table: resolved.table, message: PhantomData })
    }

    fn send(&self, message: &dyn Any) -> Result<(), Error> {
        let send = |buffer: &mut Vec<u8>| {
            let bytes = self.table.serialize(message, buffer);
            self.publish_serialized(bytes.map_err(|error| misfit(&self.rcl.entity, &error))?)
        };
        match self.buffer.try_lock() {
            Ok(mut buffer) => send(&mut buffer),
            Err(_) => send(&mut Vec::new()),
        }
    }
}

deref_to!(Publisher<T>, endpoint: PublisherEndpoint);
