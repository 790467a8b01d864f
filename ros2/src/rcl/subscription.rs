//! Subscriptions.

use super::error::{check_slot, misfit};
use super::fast_dds;
use super::ffi;
use super::lock;
use super::node::Node;
use super::owned::Owned;
use super::qos::{check_depth, from_rmw};
use super::serialized::Buffer;
use super::type_support::{Dynamic, Resolved};
use ringspin_executor::{Error, MessageTimes, QoS, Time};
use ringspin_messages::{CdrType, RosMessage};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// Whether a subscription gets messages from publishers of the same context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locals {
    /// It does, as in ROS 2.
    #[default]
    Deliver,
    /// It does not. They still take room in its history, and call it; a take then skips them.
    Ignore,
}

/// Information about a message beside its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageInfo {
    /// When it was published, in nanoseconds of the publisher's system clock; 0 if not known.
    pub source_timestamp_ns: i64,
    /// When it came in, in nanoseconds of this system's clock; 0 if not known.
    pub received_timestamp_ns: i64,
    /// The number that its publisher gave it; `None` where the middleware gives none.
    pub publication_sequence: Option<u64>,
    /// Its publisher's identity in the middleware.
    pub publisher: [u8; 16],
}

impl MessageInfo {
    fn from_rmw(info: &ffi::rmw_message_info_t) -> Self {
        let sequence = info.publication_sequence_number;
        Self {
            source_timestamp_ns: info.source_timestamp,
            received_timestamp_ns: info.received_timestamp,
            publication_sequence: (sequence != u64::MAX).then_some(sequence),
            publisher: info.publisher_gid.data,
        }
    }

    /// Both timestamps; zero if not known.
    pub(crate) fn times(&self) -> MessageTimes {
        let time = |ns| Time::from_nanos(u64::try_from(ns).unwrap_or_default());
        MessageTimes {
            source_timestamp: time(self.source_timestamp_ns),
            received_timestamp: time(self.received_timestamp_ns),
        }
    }
}

/// A subscription without its type: the part that all subscriptions have in common. It may be used
/// from any thread.
pub struct SubscriptionEndpoint {
    pub(super) rcl: Arc<Owned<ffi::rcl_subscription_t>>,
    /// Whether a take skips messages from publishers of the same context. With Fast DDS rmw does
    /// not: its take of bytes loses a message from elsewhere after each that it skips.
    skips_own: bool,
}

debug_as_entity!(SubscriptionEndpoint);

impl SubscriptionEndpoint {
    pub(super) fn new(
        node: &Node,
        topic: &str,
        resolved: &Resolved<'_, ffi::rosidl_message_type_support_t>,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, Error> {
        let ignores = locals == Locals::Ignore;
        let skips_own = ignores && fast_dds::is_used();
        let rcl =
            Owned::<ffi::rcl_subscription_t>::create(node, topic, resolved, qos, |options| {
                options.rmw_subscription_options.ignore_local_publications = ignores && !skips_own;
            })?;
        check_depth(qos, &rcl.entity);
        Ok(Self { rcl: Arc::new(rcl), skips_own })
    }

    /// Another handle of the same subscription. It cannot take.
    pub(crate) fn share(&self) -> Self {
        Self { rcl: self.rcl.clone(), skips_own: self.skips_own }
    }

    /// Calls `notify` whenever messages arrive, with their number since the last call: once right
    /// away if some are there already. It replaces an earlier one.
    ///
    /// `notify` runs on a thread of the middleware, or within `publish` on the thread of a
    /// publisher of this process. It must be short, not wait for a lock that a publishing thread
    /// may hold, and not touch this subscription. One call may announce several messages, and a
    /// message may be overwritten before it is taken: take until there is none.
    ///
    /// # Errors
    /// Where the middleware has no such callbacks.
    pub fn on_new_message(
        &self,
        notify: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.rcl.on_new(notify)
    }

    /// The quality of service that the middleware gave it.
    pub fn qos(&self) -> QoS {
        let _use = lock::one_use();
        // SAFETY: the subscription is initialized; the profile lives as long as it does.
        let profile = unsafe { ffi::rcl_subscription_get_actual_qos(self.rcl.pointer()).as_ref() };
        profile.map(from_rmw).unwrap_or_default()
    }

    /// The topic, as expanded and remapped.
    pub fn topic(&self) -> &str {
        &self.rcl.parent.name
    }

    /// Takes the oldest message into `buffer`. The caller has the one right to take.
    pub(super) fn take_serialized(
        &self,
        buffer: &mut Buffer,
    ) -> Result<Option<MessageInfo>, Error> {
        loop {
            let taken = self.take_any(buffer)?;
            if !taken.is_some_and(|info| self.is_own(&info)) {
                return Ok(taken);
            }
        }
    }

    /// Whether a message is to be skipped.
    fn is_own(&self, info: &MessageInfo) -> bool {
        let participant = || self.rcl.parent.node.context().participant.get();
        self.skips_own && participant().is_some_and(|own| own.has(info.publisher))
    }

    /// Takes the oldest message into `buffer`, also one to be skipped.
    fn take_any(&self, buffer: &mut Buffer) -> Result<Option<MessageInfo>, Error> {
        // SAFETY: the function only returns an empty value.
        let mut info = unsafe { ffi::rmw_get_zero_initialized_message_info() };
        // SAFETY: the subscription is initialized, buffer and info are borrowed exclusively, and
        // no other take runs.
        let code = unsafe {
            let none = std::ptr::null_mut();
            ffi::rcl_take_serialized_message(
                self.rcl.pointer(),
                buffer.as_mut_ptr(),
                &mut info,
                none,
            )
        };
        let none = ffi::RCL_RET_SUBSCRIPTION_TAKE_FAILED;
        let is_some = self.rcl.check_some(code, none, "take from")?;
        Ok(is_some.then(|| MessageInfo::from_rmw(&info)))
    }
}

/// A subscription to messages `T`, or to a type that is known at run time.
pub struct Subscription<T = Dynamic> {
    endpoint: SubscriptionEndpoint,
    buffer: Buffer,
    table: &'static CdrType,
    message: PhantomData<fn() -> T>,
}

impl<T: RosMessage> Subscription<T> {
    /// A subscription to `topic`, which may be relative to the node.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn new(node: &Node, topic: &str, qos: &QoS, locals: Locals) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(CdrType::of::<T>())?, topic, qos, locals)
    }

    /// Takes the oldest message, if there is one. Does not wait.
    ///
    /// # Errors
    /// After a shutdown, and for a message that cannot be read: that one is then gone.
    pub fn take(&mut self) -> Result<Option<(T, MessageInfo)>, Error> {
        let mut slot = None;
        let info = self.take_into(&mut slot)?;
        Ok(slot.zip(info))
    }
}

impl Subscription {
    /// A subscription like [`new`](Self::new), to the Rust type of `table`.
    ///
    /// # Errors
    /// For a type that the sourced ROS does not have or defines in another way, an invalid name, a
    /// quality of service that the middleware does not have, and after a shutdown.
    pub fn of_table(
        node: &Node,
        table: &'static CdrType,
        topic: &str,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, Error> {
        Self::create(node, Resolved::of_table(table)?, topic, qos, locals)
    }

    /// A subscription to the message type `type_name`, for CDR bytes; see
    /// [`Publisher::named`](super::Publisher::named).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](ringspin_executor::ErrorKind::NotFound) for an unknown type; other
    /// ones for an invalid name, a quality of service that the middleware does not have, and after
    /// a shutdown.
    pub fn named(
        node: &Node,
        topic: &str,
        type_name: &str,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, Error> {
        Self::create(node, Resolved::named(type_name)?, topic, qos, locals)
    }

    /// Takes the oldest message, if there is one, into `slot`: an `Option` of the Rust type that
    /// the table is of. Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no message is taken), for a message that cannot be read (it is
    /// then lost), and after a shutdown.
    pub fn take(&mut self, slot: &mut dyn Any) -> Result<Option<MessageInfo>, Error> {
        self.take_into(slot)
    }
}

impl<T> Subscription<T> {
    /// Takes the oldest message, if there is one, as the bytes that it came as, which stay until
    /// the next take.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take_serialized(&mut self) -> Result<Option<(&[u8], MessageInfo)>, Error> {
        let taken = self.endpoint.take_serialized(&mut self.buffer)?;
        Ok(taken.map(|info| (self.buffer.bytes(), info)))
    }

    /// The bytes of the last message that was taken.
    pub(crate) fn last_bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }

    fn create(
        node: &Node,
        resolved: Resolved<'_, ffi::rosidl_message_type_support_t>,
        topic: &str,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, Error> {
        let endpoint = SubscriptionEndpoint::new(node, topic, &resolved, qos, locals)?;
        let buffer = Buffer::new(&endpoint.rcl.entity)?;
        Ok(Self { endpoint, buffer, table: resolved.table, message: PhantomData })
    }

    fn take_into(&mut self, slot: &mut dyn Any) -> Result<Option<MessageInfo>, Error> {
        let entity = &self.endpoint.rcl.entity;
        check_slot(self.table, slot, entity)?;
        let taken = self.endpoint.take_serialized(&mut self.buffer)?;
        if taken.is_some() {
            let read = self.table.read(self.buffer.bytes(), slot);
            read.map_err(|error| misfit(entity, &error))?;
        }
        Ok(taken)
    }
}

deref_to!(Subscription<T>, endpoint: SubscriptionEndpoint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_info_has_times_that_are_zero_if_unknown() {
        let info =
            MessageInfo { source_timestamp_ns: 7, received_timestamp_ns: 9, ..Default::default() };
        let (source, received) = (Time::from_nanos(7), Time::from_nanos(9));
        let times = MessageTimes { source_timestamp: source, received_timestamp: received };
        assert_eq!(info.times(), times);
        assert_eq!(MessageInfo::default().times(), MessageTimes::UNKNOWN);
        let invalid = MessageInfo { source_timestamp_ns: -1, ..Default::default() };
        assert_eq!(invalid.times(), MessageTimes::UNKNOWN);
    }
}
