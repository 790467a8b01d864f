//! Subscriptions.

use super::callback::{Callback, OnNew};
use super::entity::{Entity, c_name, copied};
use super::error::{RosError, check, failure, forget, is_ok};
use super::lock;
use super::message::{MessageType, Native, RosMessage};
use super::node::{Node, NodeHandle};
use super::qos::{check_depth, from_rmw, to_rmw};
use super::serialized::Buffer;
use r2r_rcl as ffi;
use ringspin_executor::{MessageTimes, QoS, Time};
use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// Whether a subscription gets what publishers of its own context publish.
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

/// A subscription without its type: what all of them can do. For any thread.
pub struct SubscriptionEndpoint {
    subscription: UnsafeCell<ffi::rcl_subscription_t>,
    callback: Callback,
    topic: String,
    entity: Entity,
    node: Arc<NodeHandle>,
}

// SAFETY: rcl's subscription is memory of its own without ties to a thread.
unsafe impl Send for SubscriptionEndpoint {}
// SAFETY: it changes in `new` and `drop` only. `rcl_take*` must not run twice at a time: the takes
// here need a typed or raw subscription exclusively, and there is one for an endpoint. The other
// functions only read, or lock in the middleware (the callback).
unsafe impl Sync for SubscriptionEndpoint {}

impl SubscriptionEndpoint {
    pub(super) fn new(
        node: &Node,
        topic: &str,
        type_name: &str,
        support: *const ffi::rosidl_message_type_support_t,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, RosError> {
        let node = node.handle.clone();
        let entity = node.entity("subscription", topic, type_name);
        let name = c_name("topic", topic)?;
        check_depth(qos, &entity);
        let _lock = lock::entities();
        // SAFETY: the name and the options outlive the call, the type support is static, the
        // subscription is zero-initialized, and the node is kept alive by the handle.
        unsafe {
            let mut subscription = ffi::rcl_get_zero_initialized_subscription();
            let mut options = ffi::rcl_subscription_get_default_options();
            options.qos = to_rmw(qos);
            options.rmw_subscription_options.ignore_local_publications = locals == Locals::Ignore;
            let (pointer, name) = (node.pointer(), name.as_ptr());
            let code =
                ffi::rcl_subscription_init(&mut subscription, pointer, support, name, &options);
            check(code, "create", &entity)?;
            let topic = copied(ffi::rcl_subscription_get_topic_name(&subscription));
            let entity = node.entity("subscription", &topic, type_name);
            let subscription = UnsafeCell::new(subscription);
            Ok(Self { subscription, callback: Callback::default(), topic, entity, node })
        }
    }

    /// Calls `notify` whenever messages have come, with how many since the last call: once right
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
    ) -> Result<(), RosError> {
        self.set_callback(Some(Box::new(notify)))
    }

    fn set_callback(&self, closure: Option<Box<OnNew>>) -> Result<(), RosError> {
        self.callback.set(closure, |function, data| {
            // SAFETY: the subscription is initialized; `data` belongs to `function` and lives until
            // this is called again, in `drop` at the latest.
            let code = unsafe {
                ffi::rcl_subscription_set_on_new_message_callback(self.pointer(), function, data)
            };
            check(code, "set the callback of", &self.entity)
        })
    }

    /// How many publishers it is connected with, those of this process included.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn publisher_count(&self) -> Result<usize, RosError> {
        let mut count = 0;
        // SAFETY: the subscription is initialized, and `count` outlives the call.
        let code = unsafe { ffi::rcl_subscription_get_publisher_count(self.pointer(), &mut count) };
        check(code, "count the publishers of", &self.entity)?;
        Ok(count)
    }

    /// The quality of service that the middleware gave it.
    pub fn qos(&self) -> QoS {
        // SAFETY: the subscription is initialized; the profile lives as long as it does.
        let profile = unsafe { ffi::rcl_subscription_get_actual_qos(self.pointer()).as_ref() };
        profile.map(from_rmw).unwrap_or_default()
    }

    /// The topic, as expanded and remapped.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    pub(super) fn pointer(&self) -> *const ffi::rcl_subscription_t {
        self.subscription.get()
    }

    pub(super) fn entity(&self) -> &Entity {
        &self.entity
    }

    /// The outcome of a take.
    fn taken(
        &self,
        code: i32,
        info: &ffi::rmw_message_info_t,
    ) -> Result<Option<MessageInfo>, RosError> {
        if is_ok(code) {
            return Ok(Some(MessageInfo::from_rmw(info)));
        }
        if code == ffi::RCL_RET_SUBSCRIPTION_TAKE_FAILED as i32 {
            forget();
            return Ok(None);
        }
        Err(failure(code, "take from", &self.entity))
    }

    /// Takes the oldest message into `buffer`. The caller has the one right to take.
    pub(super) fn take_serialized(
        &self,
        buffer: &mut Buffer,
    ) -> Result<Option<MessageInfo>, RosError> {
        let mut info = ffi::rmw_message_info_t::default();
        // SAFETY: the subscription is initialized, buffer and info are borrowed exclusively, and
        // no other take runs.
        let code = unsafe {
            let none = std::ptr::null_mut();
            ffi::rcl_take_serialized_message(self.pointer(), buffer.as_mut_ptr(), &mut info, none)
        };
        self.taken(code, &info)
    }
}

impl Drop for SubscriptionEndpoint {
    fn drop(&mut self) {
        // Without this lock: a running callback may wait for another thread that makes entities.
        let _ = self.set_callback(None);
        let _lock = lock::entities();
        // SAFETY: this is the last owner, its events are gone, and the node still lives.
        unsafe { ffi::rcl_subscription_fini(self.subscription.get(), self.node.pointer()) };
        forget();
    }
}

impl std::fmt::Debug for SubscriptionEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.entity.text())
    }
}

/// A subscription to a message type that is known by its table.
pub struct ErasedSubscription {
    pub(super) endpoint: Arc<SubscriptionEndpoint>,
    native: Native,
    buffer: Option<Buffer>,
}

impl ErasedSubscription {
    /// A subscription to `topic`, which may be relative to the node.
    ///
    /// # Errors
    /// For an invalid name, a quality of service that the middleware does not have, and after a
    /// shutdown.
    pub fn new(
        node: &Node,
        table: &'static MessageType,
        topic: &str,
        qos: &QoS,
        locals: Locals,
    ) -> Result<Self, RosError> {
        let (name, support) = (table.name(), table.support());
        let endpoint = SubscriptionEndpoint::new(node, topic, &name, support, qos, locals)?;
        let native = Native::new(table, &endpoint.entity)?;
        Ok(Self { endpoint: Arc::new(endpoint), native, buffer: None })
    }

    /// The part that all subscriptions have in common.
    pub(crate) fn endpoint(&self) -> &Arc<SubscriptionEndpoint> {
        &self.endpoint
    }

    /// Takes the oldest message, if there is one, into `slot`: an `Option` of the Rust type that
    /// the table is of. Without one, `slot` stays as it is. Does not wait.
    ///
    /// # Errors
    /// For a slot of another type (no message is taken), after a shutdown, and for a message that
    /// cannot be read: that one is then gone.
    pub fn take(&mut self, slot: &mut dyn Any) -> Result<Option<MessageInfo>, RosError> {
        let entity = &self.endpoint.entity;
        if !self.native.table().fits(slot) {
            return Err(RosError::OtherType { entity: entity.text() });
        }
        let mut info = ffi::rmw_message_info_t::default();
        // SAFETY: the subscription is initialized, the C struct is of its type and borrowed
        // exclusively, and so is the one right to take.
        let code = unsafe {
            let none = std::ptr::null_mut();
            ffi::rcl_take(self.endpoint.pointer(), self.native.as_ptr(), &mut info, none)
        };
        let taken = self.endpoint.taken(code, &info)?;
        if taken.is_some() {
            self.native.read(slot, entity)?;
        }
        Ok(taken)
    }

    /// Takes the oldest message, if there is one, as the bytes that it came as.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take_serialized(&mut self) -> Result<Option<(Vec<u8>, MessageInfo)>, RosError> {
        let buffer = match &mut self.buffer {
            Some(buffer) => buffer,
            none => none.insert(Buffer::new(&self.endpoint.entity)?),
        };
        let taken = self.endpoint.take_serialized(buffer)?;
        Ok(taken.map(|info| (buffer.bytes().to_vec(), info)))
    }
}

impl Deref for ErasedSubscription {
    type Target = SubscriptionEndpoint;

    fn deref(&self) -> &SubscriptionEndpoint {
        &self.endpoint
    }
}

/// A subscription to messages `T`.
pub struct Subscription<T> {
    inner: ErasedSubscription,
    message: PhantomData<fn() -> T>,
}

impl<T: RosMessage> Subscription<T> {
    /// Same as [`ErasedSubscription::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(node: &Node, topic: &str, qos: &QoS, locals: Locals) -> Result<Self, RosError> {
        let inner = ErasedSubscription::new(node, MessageType::of::<T>(), topic, qos, locals)?;
        Ok(Self { inner, message: PhantomData })
    }

    /// Takes the oldest message, if there is one. Does not wait.
    ///
    /// # Errors
    /// The errors of [`ErasedSubscription::take`].
    pub fn take(&mut self) -> Result<Option<(T, MessageInfo)>, RosError> {
        let mut slot = None;
        let info = self.inner.take(&mut slot)?;
        Ok(slot.zip(info))
    }

    pub(super) fn erased(&self) -> &ErasedSubscription {
        &self.inner
    }

    /// The errors of [`ErasedSubscription::take_serialized`].
    ///
    /// # Errors
    /// As there.
    pub fn take_serialized(&mut self) -> Result<Option<(Vec<u8>, MessageInfo)>, RosError> {
        self.inner.take_serialized()
    }
}

impl<T> Deref for Subscription<T> {
    type Target = SubscriptionEndpoint;

    fn deref(&self) -> &SubscriptionEndpoint {
        &self.inner.endpoint
    }
}

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
