//! Events of the quality of service of a publisher or a subscription.

use super::callback::{Callback, OnNew};
use super::entity::Entity;
use super::error::{RosError, check, forget};
use super::lock;
use super::publisher::PublisherEndpoint;
use super::raw::{RawPublisher, RawSubscription};
use super::subscription::{ErasedSubscription, Subscription, SubscriptionEndpoint};
use super::{ErasedPublisher, RosMessage};
use r2r_rcl as ffi;
use r2r_rcl::rmw_qos_policy_kind_e as Policy;
use r2r_rcl::{rcl_publisher_event_type_e as OfPublisher, rcl_subscription_event_type_e as OfSub};
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex, PoisonError};

/// The events of a publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublisherEvent {
    /// It did not publish within the deadline that it offers.
    DeadlineMissed,
    /// It gave no sign of life within its lease.
    LivelinessLost,
    /// A subscription of its topic requests more than it offers.
    IncompatibleQos,
    /// A subscription of its topic has another type.
    IncompatibleType,
    /// A subscription came or went.
    Matched,
}

/// The events of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionEvent {
    /// No message came within the deadline that it requests.
    DeadlineMissed,
    /// Publishers came to life, or lost it.
    LivelinessChanged,
    /// A publisher of its topic offers less than it requests.
    IncompatibleQos,
    /// Messages were lost on their way.
    MessageLost,
    /// A publisher of its topic has another type.
    IncompatibleType,
    /// A publisher came or went.
    Matched,
}

/// An event, with counts since the start, and changes since the event was last taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum QosEvent {
    /// Deadlines were missed.
    DeadlineMissed { total: u64, change: u64 },
    /// Leases were missed.
    LivelinessLost { total: u64, change: u64 },
    /// How many publishers are alive, and how many are not.
    LivelinessChanged { alive: u64, not_alive: u64, alive_change: i64, not_alive_change: i64 },
    /// Peers with another quality of service; `policy` is the name of the one that did not fit, of
    /// the last such peer.
    IncompatibleQos { total: u64, change: u64, policy: &'static str },
    /// Messages that did not come.
    MessageLost { total: u64, change: u64 },
    /// Peers with another type.
    IncompatibleType { total: u64, change: u64 },
    /// Peers that were ever connected, and that are now.
    Matched { total: u64, change: u64, current: u64, current_change: i64 },
}

impl QosEvent {
    /// Its counts: changes are differences of these.
    const fn counts(&self) -> [u64; 2] {
        match *self {
            Self::DeadlineMissed { total, .. }
            | Self::LivelinessLost { total, .. }
            | Self::IncompatibleQos { total, .. }
            | Self::MessageLost { total, .. }
            | Self::IncompatibleType { total, .. } => [total, 0],
            Self::LivelinessChanged { alive, not_alive, .. } => [alive, not_alive],
            Self::Matched { total, current, .. } => [total, current],
        }
    }

    /// It, with the changes since there were `before` of each.
    fn since(mut self, before: [u64; 2]) -> Self {
        let [first, second] = self.counts();
        let grown = first.saturating_sub(before[0]);
        let differences = [first.wrapping_sub(before[0]), second.wrapping_sub(before[1])];
        let [first, second] = differences.map(u64::cast_signed);
        match &mut self {
            Self::DeadlineMissed { change, .. }
            | Self::LivelinessLost { change, .. }
            | Self::IncompatibleQos { change, .. }
            | Self::MessageLost { change, .. }
            | Self::IncompatibleType { change, .. } => *change = grown,
            Self::LivelinessChanged { alive_change, not_alive_change, .. } => {
                (*alive_change, *not_alive_change) = (first, second);
            }
            Self::Matched { change, current_change, .. } => {
                (*change, *current_change) = (grown, second);
            }
        }
        self
    }
}

/// The owner of an event: kept alive, for rcl's event points to it.
#[derive(Clone)]
enum Endpoint {
    Publisher(Arc<PublisherEndpoint>, PublisherEvent),
    Subscription(Arc<SubscriptionEndpoint>, SubscriptionEvent),
}

/// One kind of event of one publisher or subscription. For any thread.
pub struct Event {
    event: UnsafeCell<ffi::rcl_event_t>,
    callback: Callback,
    /// The counts when it was last taken. The middleware has changes too, but Fast DDS
    /// forgets them when a callback is set.
    counted: Mutex<[u64; 2]>,
    entity: Entity,
    endpoint: Endpoint,
}

// SAFETY: rcl's event is memory of its own without ties to a thread.
unsafe impl Send for Event {}
// SAFETY: it changes in `new` and `drop` only; a take is done under the lock for entities, and the
// middleware locks what it takes from.
unsafe impl Sync for Event {}

impl Event {
    fn new(endpoint: Endpoint) -> Result<Self, RosError> {
        let _lock = lock::entities();
        // SAFETY: the event is zero-initialized, and the endpoint initialized and kept alive.
        unsafe {
            let mut event = ffi::rcl_get_zero_initialized_event();
            let (code, entity) = match &endpoint {
                Endpoint::Publisher(publisher, kind) => {
                    let (pointer, entity) = (publisher.pointer(), publisher.entity());
                    let kind = of_publisher(*kind);
                    (ffi::rcl_publisher_event_init(&mut event, pointer, kind), entity)
                }
                Endpoint::Subscription(subscription, kind) => {
                    let (pointer, entity) = (subscription.pointer(), subscription.entity());
                    let kind = of_subscription(*kind);
                    (ffi::rcl_subscription_event_init(&mut event, pointer, kind), entity)
                }
            };
            check(code, "watch the quality of service of", entity)?;
            let entity = entity.clone();
            let (event, counted) = (UnsafeCell::new(event), Mutex::default());
            Ok(Self { event, callback: Callback::default(), counted, entity, endpoint })
        }
    }

    /// Watches a publisher for events of `kind`.
    pub(crate) fn of_publisher(
        publisher: &Arc<PublisherEndpoint>,
        kind: PublisherEvent,
    ) -> Result<Self, RosError> {
        Self::new(Endpoint::Publisher(publisher.clone(), kind))
    }

    /// Watches a subscription for events of `kind`.
    pub(crate) fn of_subscription(
        subscription: &Arc<SubscriptionEndpoint>,
        kind: SubscriptionEvent,
    ) -> Result<Self, RosError> {
        Self::new(Endpoint::Subscription(subscription.clone(), kind))
    }

    /// Calls `notify` whenever it has happened, as
    /// [`on_new_message`](SubscriptionEndpoint::on_new_message).
    ///
    /// Set it as early as possible: before its pull request 890 (June 2026), rmw_fastrtps locks up
    /// when a callback for liveliness, deadlines or lost messages is set, or such an event taken
    /// that has not happened, in the very moment in which it happens.
    ///
    /// # Errors
    /// Where the middleware has no such callbacks.
    pub fn on_event(&self, notify: impl Fn(usize) + Send + Sync + 'static) -> Result<(), RosError> {
        self.set_callback(Some(Box::new(notify)))
    }

    fn set_callback(&self, closure: Option<Box<OnNew>>) -> Result<(), RosError> {
        self.callback.set(closure, |function, data| {
            // SAFETY: the event is initialized; `data` belongs to `function` and lives until this
            // is called again, in `drop` at the latest.
            let code = unsafe { ffi::rcl_event_set_callback(self.event.get(), function, data) };
            check(code, "set the event callback of", &self.entity)
        })
    }

    /// Takes the event since it was last taken; `None` if there was none, or if all that changed is
    /// again as it was. Does not wait.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take(&self) -> Result<Option<QosEvent>, RosError> {
        match &self.endpoint {
            Endpoint::Publisher(_, kind) => self.take_of_publisher(*kind),
            Endpoint::Subscription(_, kind) => self.take_of_subscription(*kind),
        }
    }

    fn take_of_publisher(&self, kind: PublisherEvent) -> Result<Option<QosEvent>, RosError> {
        // SAFETY: each kind is taken with the status that rmw has for it.
        unsafe {
            match kind {
                PublisherEvent::DeadlineMissed => self.take_as(deadline_missed),
                PublisherEvent::LivelinessLost => self.take_as(liveliness_lost),
                PublisherEvent::IncompatibleQos => self.take_as(incompatible_qos),
                PublisherEvent::IncompatibleType => self.take_as(incompatible_type),
                PublisherEvent::Matched => self.take_as(matched),
            }
        }
    }

    fn take_of_subscription(&self, kind: SubscriptionEvent) -> Result<Option<QosEvent>, RosError> {
        // SAFETY: each kind is taken with the status that rmw has for it.
        unsafe {
            match kind {
                SubscriptionEvent::DeadlineMissed => self.take_as(deadline_missed),
                SubscriptionEvent::LivelinessChanged => self.take_as(liveliness_changed),
                SubscriptionEvent::IncompatibleQos => self.take_as(incompatible_qos),
                SubscriptionEvent::MessageLost => self.take_as(message_lost),
                SubscriptionEvent::IncompatibleType => self.take_as(incompatible_type),
                SubscriptionEvent::Matched => self.take_as(matched),
            }
        }
    }

    /// Takes the event as a status `S` of rmw.
    ///
    /// # Safety
    /// `S` is the status of this kind of event.
    unsafe fn take_as<S: Zeroed>(
        &self,
        read: impl Fn(&S) -> QosEvent,
    ) -> Result<Option<QosEvent>, RosError> {
        let _lock = lock::entities();
        let mut status = S::zeroed();
        // SAFETY: the event is initialized, and `status` is what the middleware writes for it.
        let code = unsafe { ffi::rcl_take_event(self.event.get(), (&raw mut status).cast()) };
        if code == ffi::RCL_RET_EVENT_TAKE_FAILED as i32 {
            forget();
            return Ok(None);
        }
        check(code, "take an event of", &self.entity)?;
        let what = read(&status);
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *counted, what.counts());
        Ok((what.counts() != before).then(|| what.since(before)))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // Without this lock: a running callback may wait for another thread that makes entities.
        let _ = self.set_callback(None);
        let _lock = lock::entities();
        // SAFETY: this is the only owner, and the endpoint still lives.
        unsafe { ffi::rcl_event_fini(self.event.get()) };
        forget();
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.endpoint {
            Endpoint::Publisher(_, kind) => write!(f, "{kind:?} of {}", self.entity.text()),
            Endpoint::Subscription(_, kind) => write!(f, "{kind:?} of {}", self.entity.text()),
        }
    }
}

impl ErasedPublisher {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: PublisherEvent) -> Result<Event, RosError> {
        Event::new(Endpoint::Publisher(self.endpoint.clone(), kind))
    }
}

impl RawPublisher {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: PublisherEvent) -> Result<Event, RosError> {
        Event::new(Endpoint::Publisher(self.endpoint.clone(), kind))
    }
}

impl ErasedSubscription {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: SubscriptionEvent) -> Result<Event, RosError> {
        Event::new(Endpoint::Subscription(self.endpoint.clone(), kind))
    }
}

impl RawSubscription {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: SubscriptionEvent) -> Result<Event, RosError> {
        Event::new(Endpoint::Subscription(self.endpoint.clone(), kind))
    }
}

impl<T: RosMessage> Subscription<T> {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: SubscriptionEvent) -> Result<Event, RosError> {
        self.erased().event(kind)
    }
}

const fn of_publisher(kind: PublisherEvent) -> OfPublisher {
    match kind {
        PublisherEvent::DeadlineMissed => OfPublisher::RCL_PUBLISHER_OFFERED_DEADLINE_MISSED,
        PublisherEvent::LivelinessLost => OfPublisher::RCL_PUBLISHER_LIVELINESS_LOST,
        PublisherEvent::IncompatibleQos => OfPublisher::RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS,
        PublisherEvent::IncompatibleType => OfPublisher::RCL_PUBLISHER_INCOMPATIBLE_TYPE,
        PublisherEvent::Matched => OfPublisher::RCL_PUBLISHER_MATCHED,
    }
}

const fn of_subscription(kind: SubscriptionEvent) -> OfSub {
    match kind {
        SubscriptionEvent::DeadlineMissed => OfSub::RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED,
        SubscriptionEvent::LivelinessChanged => OfSub::RCL_SUBSCRIPTION_LIVELINESS_CHANGED,
        SubscriptionEvent::IncompatibleQos => OfSub::RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS,
        SubscriptionEvent::MessageLost => OfSub::RCL_SUBSCRIPTION_MESSAGE_LOST,
        SubscriptionEvent::IncompatibleType => OfSub::RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE,
        SubscriptionEvent::Matched => OfSub::RCL_SUBSCRIPTION_MATCHED,
    }
}

/// A status of rmw before an event was taken into it.
trait Zeroed {
    fn zeroed() -> Self;
}

macro_rules! zeroed {
    ($($status:ident { $($field:ident: $value:expr),* $(,)? })*) => {$(
        impl Zeroed for ffi::$status {
            fn zeroed() -> Self {
                Self { $($field: $value),* }
            }
        }
    )*};
}

zeroed! {
    // The status of a publisher, and those of lost lives and of types, have the same fields; each
    // is a type of its own in rmw.
    rmw_requested_deadline_missed_status_t { total_count: 0, total_count_change: 0 }
    rmw_liveliness_lost_status_t { total_count: 0, total_count_change: 0 }
    rmw_liveliness_changed_status_t {
        alive_count: 0, not_alive_count: 0, alive_count_change: 0, not_alive_count_change: 0,
    }
    rmw_qos_incompatible_event_status_t {
        total_count: 0, total_count_change: 0, last_policy_kind: Policy::RMW_QOS_POLICY_INVALID,
    }
    rmw_message_lost_status_t { total_count: 0, total_count_change: 0 }
    rmw_incompatible_type_status_t { total_count: 0, total_count_change: 0 }
    rmw_matched_status_t {
        total_count: 0, total_count_change: 0, current_count: 0, current_count_change: 0,
    }
}

/// A count of rmw, which has them signed or unsigned, though none is negative.
fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

// Each as rmw has it, without changes: those are counted above.

fn deadline_missed(status: &ffi::rmw_requested_deadline_missed_status_t) -> QosEvent {
    let total = count(status.total_count);
    QosEvent::DeadlineMissed { total, change: 0 }
}

fn liveliness_lost(status: &ffi::rmw_liveliness_lost_status_t) -> QosEvent {
    let total = count(status.total_count);
    QosEvent::LivelinessLost { total, change: 0 }
}

fn liveliness_changed(status: &ffi::rmw_liveliness_changed_status_t) -> QosEvent {
    QosEvent::LivelinessChanged {
        alive: count(status.alive_count),
        not_alive: count(status.not_alive_count),
        alive_change: 0,
        not_alive_change: 0,
    }
}

fn incompatible_qos(status: &ffi::rmw_qos_incompatible_event_status_t) -> QosEvent {
    let total = count(status.total_count);
    let policy = match status.last_policy_kind {
        Policy::RMW_QOS_POLICY_INVALID => "none",
        Policy::RMW_QOS_POLICY_DURABILITY => "durability",
        Policy::RMW_QOS_POLICY_DEADLINE => "deadline",
        Policy::RMW_QOS_POLICY_LIVELINESS => "liveliness",
        Policy::RMW_QOS_POLICY_RELIABILITY => "reliability",
        Policy::RMW_QOS_POLICY_HISTORY => "history",
        Policy::RMW_QOS_POLICY_LIFESPAN => "lifespan",
        Policy::RMW_QOS_POLICY_DEPTH => "depth",
        Policy::RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION => "liveliness lease duration",
        Policy::RMW_QOS_POLICY_AVOID_ROS_NAMESPACE_CONVENTIONS => "ROS namespace conventions",
    };
    QosEvent::IncompatibleQos { total, change: 0, policy }
}

fn message_lost(status: &ffi::rmw_message_lost_status_t) -> QosEvent {
    let total = count(status.total_count);
    QosEvent::MessageLost { total, change: 0 }
}

fn incompatible_type(status: &ffi::rmw_incompatible_type_status_t) -> QosEvent {
    let total = count(status.total_count);
    QosEvent::IncompatibleType { total, change: 0 }
}

fn matched(status: &ffi::rmw_matched_status_t) -> QosEvent {
    QosEvent::Matched {
        total: count(status.total_count),
        change: 0,
        current: count(status.current_count),
        current_change: 0,
    }
}
