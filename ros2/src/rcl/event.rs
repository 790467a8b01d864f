//! Events of the quality of service of a publisher or a subscription.

use super::entity::Entity;
use super::error::check;
use super::ffi;
use super::ffi::rcl_publisher_event_type_e as OfPublisher;
use super::ffi::rcl_subscription_event_type_e as OfSub;
use super::ffi::rmw_qos_policy_kind_e as Policy;
use super::ffi::{
    rmw_liveliness_changed_status_t as LivelinessChanged, rmw_matched_status_t as Matched,
    rmw_message_lost_status_t as MessageLost,
    rmw_qos_incompatible_event_status_t as IncompatibleQos,
};
use super::lock;
use super::owned::{Owned, RclStruct, SetCallback};
use super::publisher::PublisherEndpoint;
use super::subscription::SubscriptionEndpoint;
use ringspin_executor::{Error, QosPolicy, RemoteEventKind as Kind, RemoteStatus};
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};

/// The counts of a status.
const fn counts(status: &RemoteStatus) -> [u64; 2] {
    match *status {
        RemoteStatus::IncompatibleQos { total, .. } | RemoteStatus::MessageLost { total } => {
            [total, 0]
        }
        RemoteStatus::Liveliness { alive, not_alive } => [alive, not_alive],
        RemoteStatus::Matched { total, current } => [total, current],
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

/// One kind of event of one publisher or subscription. It may be used from any thread.
pub struct Event {
    rcl: Owned<ffi::rcl_event_t>,
    /// Takes it with the status that rmw has for its kind.
    take: Take,
    /// The counts when it was last taken. The middleware counts changes, but Fast DDS forgets them
    /// when a callback is set.
    counted: Mutex<[u64; 2]>,
}

debug_as_entity!(Event);

impl Event {
    /// An event of `kind` of `endpoint`, which has the name `of`.
    fn new(
        kind: Kind,
        (endpoint, of): (Arc<dyn Send + Sync>, &Entity),
        initialize: impl FnOnce(*mut ffi::rcl_event_t) -> i32,
    ) -> Result<Self, Error> {
        let entity = Entity::plain(format!("event {kind:?} of {}", of.text()));
        let _lock = lock::entities();
        // SAFETY: the function only returns an empty value.
        let mut event = unsafe { ffi::rcl_get_zero_initialized_event() };
        check(initialize(&mut event), "watch", &entity)?;
        // SAFETY: the event was just initialized, as one of the endpoint.
        let rcl = unsafe { Owned::new(event, entity, endpoint) };
        let take = match kind {
            Kind::LivelinessChanged => take::<LivelinessChanged>,
            Kind::IncompatibleQos => take::<IncompatibleQos>,
            Kind::MessageLost => take::<MessageLost>,
            Kind::Matched => take::<Matched>,
        };
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
    pub fn on_event(&self, notify: impl Fn(usize) + Send + Sync + 'static) -> Result<(), Error> {
        self.rcl.on_new(notify)
    }

    /// Takes the counts, if they have changed since the last take. Does not wait, and names no
    /// peer.
    ///
    /// # Errors
    /// After a shutdown.
    pub fn take(&self) -> Result<Option<RemoteStatus>, Error> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the status is the one of this kind of event.
        let Some(status) = unsafe { (self.take)(&self.rcl) }? else { return Ok(None) };
        let before = std::mem::replace(&mut *counted, counts(&status));
        Ok((*counted != before).then_some(status))
    }
}

impl PublisherEndpoint {
    /// Watches for events of `kind`; `None` if only subscriptions have them.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: Kind) -> Result<Option<Event>, Error> {
        let kind_of_rcl = match kind {
            Kind::IncompatibleQos => OfPublisher::RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS,
            Kind::Matched => OfPublisher::RCL_PUBLISHER_MATCHED,
            Kind::LivelinessChanged | Kind::MessageLost => return Ok(None),
        };
        let event = Event::new(kind, (self.rcl.clone(), &self.rcl.entity), |event| {
            // SAFETY: the event is empty, and the publisher initialized.
            unsafe { ffi::rcl_publisher_event_init(event, self.rcl.pointer(), kind_of_rcl) }
        });
        event.map(Some)
    }
}

impl SubscriptionEndpoint {
    /// Watches for events of `kind`.
    ///
    /// # Errors
    /// Where the middleware does not have them.
    pub fn event(&self, kind: Kind) -> Result<Event, Error> {
        let kind_of_rcl = match kind {
            Kind::LivelinessChanged => OfSub::RCL_SUBSCRIPTION_LIVELINESS_CHANGED,
            Kind::IncompatibleQos => OfSub::RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS,
            Kind::MessageLost => OfSub::RCL_SUBSCRIPTION_MESSAGE_LOST,
            Kind::Matched => OfSub::RCL_SUBSCRIPTION_MATCHED,
        };
        Event::new(kind, (self.rcl.clone(), &self.rcl.entity), |event| {
            // SAFETY: the event is empty, and the subscription initialized.
            unsafe { ffi::rcl_subscription_event_init(event, self.rcl.pointer(), kind_of_rcl) }
        })
    }
}

/// A status of rmw: counts, and their changes, which are not used.
trait Status {
    fn status(&self) -> RemoteStatus;
}

/// Takes an event.
///
/// # Safety
/// The status that this function takes is the one of the event's kind.
type Take = unsafe fn(&Owned<ffi::rcl_event_t>) -> Result<Option<RemoteStatus>, Error>;

/// Takes an event with the status `S`.
///
/// # Safety
/// `S` is the status of this kind of event.
unsafe fn take<S: Status>(event: &Owned<ffi::rcl_event_t>) -> Result<Option<RemoteStatus>, Error> {
    let _lock = lock::entities();
    let mut status = MaybeUninit::<S>::zeroed();
    // SAFETY: the event is initialized, and `status` has the room that the middleware writes to.
    let code = unsafe { ffi::rcl_take_event(event.pointer(), status.as_mut_ptr().cast()) };
    let is_taken = event.check_some(code, ffi::RCL_RET_EVENT_TAKE_FAILED, "take")?;
    // SAFETY: the middleware has written the status of an event that was taken.
    Ok(is_taken.then(|| unsafe { status.assume_init() }.status()))
}

/// A count of rmw, which has them signed or unsigned, though none is negative.
fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

impl Status for MessageLost {
    fn status(&self) -> RemoteStatus {
        RemoteStatus::MessageLost { total: count(self.total_count) }
    }
}

impl Status for LivelinessChanged {
    fn status(&self) -> RemoteStatus {
        let (alive, not_alive) = (count(self.alive_count), count(self.not_alive_count));
        RemoteStatus::Liveliness { alive, not_alive }
    }
}

impl Status for IncompatibleQos {
    fn status(&self) -> RemoteStatus {
        let last_policy = match self.last_policy_kind {
            Policy::RMW_QOS_POLICY_DURABILITY => Some(QosPolicy::Durability),
            Policy::RMW_QOS_POLICY_DEADLINE => Some(QosPolicy::Deadline),
            Policy::RMW_QOS_POLICY_LIVELINESS => Some(QosPolicy::Liveliness),
            Policy::RMW_QOS_POLICY_RELIABILITY => Some(QosPolicy::Reliability),
            Policy::RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION => Some(QosPolicy::LeaseDuration),
            _ => None,
        };
        let total = count(self.total_count);
        RemoteStatus::IncompatibleQos { total, last_policy, last_peer: None }
    }
}

impl Status for Matched {
    fn status(&self) -> RemoteStatus {
        let (total, current) = (count(self.total_count), count(self.current_count));
        RemoteStatus::Matched { total, current }
    }
}
