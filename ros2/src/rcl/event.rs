//! Events of the quality of service of a publisher or a subscription.

use super::entity::Entity;
use super::error::{RosError, check};
use super::ffi;
use super::ffi::rcl_publisher_event_type_e as OfPublisher;
use super::ffi::rcl_subscription_event_type_e as OfSub;
use super::ffi::rmw_qos_policy_kind_e as Policy;
use super::ffi::{
    rmw_incompatible_type_status_t as IncompatibleType,
    rmw_liveliness_changed_status_t as LivelinessChanged,
    rmw_liveliness_lost_status_t as LivelinessLost,
    rmw_matched_status_t as Matched,
    rmw_message_lost_status_t as MessageLost,
    rmw_qos_incompatible_event_status_t as IncompatibleQos,
    rmw_requested_deadline_missed_status_t as DeadlineMissed, // A publisher's has the same fields.
};
use super::lock;
use super::owned::{Owned, RclStruct, SetCallback};
use super::publisher::PublisherEndpoint;
use super::subscription::SubscriptionEndpoint;
use std::fmt::Debug;
use std::mem::MaybeUninit;
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

impl PublisherEvent {
    /// The kind as rcl has it, and the take with its status.
    fn of_rcl(self) -> (OfPublisher, Take) {
        match self {
            Self::DeadlineMissed => {
                (OfPublisher::RCL_PUBLISHER_OFFERED_DEADLINE_MISSED, take::<DeadlineMissed>)
            }
            Self::LivelinessLost => {
                (OfPublisher::RCL_PUBLISHER_LIVELINESS_LOST, take::<LivelinessLost>)
            }
            Self::IncompatibleQos => {
                (OfPublisher::RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS, take::<IncompatibleQos>)
            }
            Self::IncompatibleType => {
                (OfPublisher::RCL_PUBLISHER_INCOMPATIBLE_TYPE, take::<IncompatibleType>)
            }
            Self::Matched => (OfPublisher::RCL_PUBLISHER_MATCHED, take::<Matched>),
        }
    }
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

impl SubscriptionEvent {
    /// The kind as rcl has it, and the take with its status.
    fn of_rcl(self) -> (OfSub, Take) {
        match self {
            Self::DeadlineMissed => {
                (OfSub::RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED, take::<DeadlineMissed>)
            }
            Self::LivelinessChanged => {
                (OfSub::RCL_SUBSCRIPTION_LIVELINESS_CHANGED, take::<LivelinessChanged>)
            }
            Self::IncompatibleQos => {
                (OfSub::RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS, take::<IncompatibleQos>)
            }
            Self::MessageLost => (OfSub::RCL_SUBSCRIPTION_MESSAGE_LOST, take::<MessageLost>),
            Self::IncompatibleType => {
                (OfSub::RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE, take::<IncompatibleType>)
            }
            Self::Matched => (OfSub::RCL_SUBSCRIPTION_MATCHED, take::<Matched>),
        }
    }
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

// SAFETY: the struct has no ties to a thread, only its initialization and `rcl_event_fini` change
// it, and both functions are those of an event.
unsafe impl RclStruct for ffi::rcl_event_t {
    /// The publisher or subscription.
    type Parent = Arc<dyn Send + Sync>;
    const SET_CALLBACK: Option<SetCallback<Self>> = Some(ffi::rcl_event_set_callback);

    unsafe fn free(this: *mut Self, _: &Self::Parent) {
        // SAFETY: as the caller promises.
        unsafe { ffi::rcl_event_fini(this) };
    }
}

/// One kind of event of one publisher or subscription. For any thread.
pub struct Event {
    rcl: Owned<ffi::rcl_event_t>,
    /// Takes it with the status that rmw has for its kind.
    take: Take,
    /// The counts when it was last taken. The middleware has changes too, but Fast DDS
    /// forgets them when a callback is set.
    counted: Mutex<[u64; 2]>,
}

debug_as_entity!(Event);

impl Event {
    /// An event of `kind` of `endpoint`, which has the name `of`.
    fn new(
        kind: impl Debug,
        (endpoint, of): (Arc<dyn Send + Sync>, &Entity),
        take: Take,
        initialize: impl FnOnce(*mut ffi::rcl_event_t) -> i32,
    ) -> Result<Self, RosError> {
        let entity = Entity::plain(format!("event {kind:?} of {}", of.text()));
        let _lock = lock::entities();
        // SAFETY: the function only returns an empty value.
        let mut event = unsafe { ffi::rcl_get_zero_initialized_event() };
        check(initialize(&mut event), "watch", &entity)?;
        // SAFETY: the event was just initialized, as one of the endpoint.
        let rcl = unsafe { Owned::new(event, entity, endpoint) };
        Ok(Self { rcl, take, counted: Mutex::default() })
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
        self.rcl.on_new(notify)
    }

    /// Takes the event since it was last taken; `None` if there was none, or if all that changed is
    /// again as it was. Does not wait.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take(&self) -> Result<Option<QosEvent>, RosError> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the status is the one of this kind of event.
        let Some(event) = unsafe { (self.take)(&self.rcl) }? else { return Ok(None) };
        let before = std::mem::replace(&mut *counted, event.counts());
        Ok((event.counts() != before).then(|| event.since(before)))
    }
}

impl PublisherEndpoint {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: PublisherEvent) -> Result<Event, RosError> {
        let (kind_of_rcl, take) = kind.of_rcl();
        Event::new(kind, (self.rcl.clone(), &self.rcl.entity), take, |event| {
            // SAFETY: the event is empty, and the publisher initialized.
            unsafe { ffi::rcl_publisher_event_init(event, self.rcl.pointer(), kind_of_rcl) }
        })
    }
}

impl SubscriptionEndpoint {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: SubscriptionEvent) -> Result<Event, RosError> {
        let (kind_of_rcl, take) = kind.of_rcl();
        Event::new(kind, (self.rcl.clone(), &self.rcl.entity), take, |event| {
            // SAFETY: the event is empty, and the subscription initialized.
            unsafe { ffi::rcl_subscription_event_init(event, self.rcl.pointer(), kind_of_rcl) }
        })
    }
}

/// A status of rmw: counts, and their changes, which are counted here instead.
trait Status {
    /// The event, without changes.
    fn event(&self) -> QosEvent;
}

/// Takes an event.
///
/// # Safety
/// The status that this function takes is the one of the event's kind.
type Take = unsafe fn(&Owned<ffi::rcl_event_t>) -> Result<Option<QosEvent>, RosError>;

/// Takes an event with the status `S`.
///
/// # Safety
/// `S` is the status of this kind of event.
unsafe fn take<S: Status>(event: &Owned<ffi::rcl_event_t>) -> Result<Option<QosEvent>, RosError> {
    let _lock = lock::entities();
    let mut status = MaybeUninit::<S>::zeroed();
    // SAFETY: the event is initialized, and `status` has the room that the middleware writes to.
    let code = unsafe { ffi::rcl_take_event(event.pointer(), status.as_mut_ptr().cast()) };
    let is_taken = event.check_some(code, ffi::RCL_RET_EVENT_TAKE_FAILED, "take")?;
    // SAFETY: the middleware has written the status of an event that was taken.
    Ok(is_taken.then(|| unsafe { status.assume_init() }.event()))
}

/// A count of rmw, which has them signed or unsigned, though none is negative.
fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

/// Statuses with nothing but a total.
macro_rules! totals {
    ($($status:ident),*) => {$(
        impl Status for $status {
            fn event(&self) -> QosEvent {
                QosEvent::$status { total: count(self.total_count), change: 0 }
            }
        }
    )*};
}

totals!(DeadlineMissed, LivelinessLost, MessageLost, IncompatibleType);

impl Status for LivelinessChanged {
    fn event(&self) -> QosEvent {
        let (alive, not_alive) = (count(self.alive_count), count(self.not_alive_count));
        QosEvent::LivelinessChanged { alive, not_alive, alive_change: 0, not_alive_change: 0 }
    }
}

impl Status for IncompatibleQos {
    fn event(&self) -> QosEvent {
        let policy = match self.last_policy_kind {
            Policy::RMW_QOS_POLICY_DURABILITY => "durability",
            Policy::RMW_QOS_POLICY_DEADLINE => "deadline",
            Policy::RMW_QOS_POLICY_LIVELINESS => "liveliness",
            Policy::RMW_QOS_POLICY_RELIABILITY => "reliability",
            Policy::RMW_QOS_POLICY_HISTORY => "history",
            Policy::RMW_QOS_POLICY_LIFESPAN => "lifespan",
            Policy::RMW_QOS_POLICY_DEPTH => "depth",
            Policy::RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION => "liveliness lease duration",
            Policy::RMW_QOS_POLICY_AVOID_ROS_NAMESPACE_CONVENTIONS => "ROS namespace conventions",
            _ => "none",
        };
        QosEvent::IncompatibleQos { total: count(self.total_count), change: 0, policy }
    }
}

impl Status for Matched {
    fn event(&self) -> QosEvent {
        let (total, current) = (count(self.total_count), count(self.current_count));
        QosEvent::Matched { total, change: 0, current, current_change: 0 }
    }
}
