//! QoS events of publishers and subscriptions.
//!
//! The bus counts them while nodes and endpoints appear and disappear, while messages come, and
//! while none does. An event of C is the data of
//! its endpoint and a kind, and owns nothing: the client library gives it back by a function that
//! no middleware sees.

use crate::bindings::*;
use crate::bus::{self, OnNew};
use crate::endpoint::{Endpoint, endpoint};
use crate::ffi::{Failure, HasEndpoint, code, given, identifier, own};
use ringspin_process_protocol::Incompatible;
use std::ffi::c_void;

const OF_PUBLISHERS: [rmw_event_type_t; 5] = [
    RMW_EVENT_PUBLICATION_MATCHED,
    RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
    RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE,
    RMW_EVENT_OFFERED_DEADLINE_MISSED,
    RMW_EVENT_LIVELINESS_LOST,
];
const OF_SUBSCRIPTIONS: [rmw_event_type_t; 6] = [
    RMW_EVENT_SUBSCRIPTION_MATCHED,
    RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
    RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE,
    RMW_EVENT_REQUESTED_DEADLINE_MISSED,
    RMW_EVENT_LIVELINESS_CHANGED,
    RMW_EVENT_MESSAGE_LOST,
];

#[unsafe(no_mangle)]
extern "C" fn rmw_event_type_is_supported(kind: rmw_event_type_t) -> bool {
    OF_PUBLISHERS.contains(&kind) || OF_SUBSCRIPTIONS.contains(&kind)
}

fn init<T: HasEndpoint>(
    event: Option<&mut rmw_event_t>,
    of: Option<&T>,
    kind: rmw_event_type_t,
    offered: &[rmw_event_type_t],
) -> Result<(), Failure> {
    let (event, of) = (given(event, "the event")?, own(of)?);
    if !offered.contains(&kind) {
        let text = format!("events of kind {kind} are not supported by rmw_ringspin");
        return Err(Failure(RMW_RET_UNSUPPORTED, text));
    }
    (event.implementation_identifier, event.data) = (identifier(), of.data());
    event.event_type = kind;
    if key(event)?.1.is_of_a_limit() {
        bus::start_events();
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_event_init(
    event: Option<&mut rmw_event_t>,
    publisher: Option<&rmw_publisher_t>,
    kind: rmw_event_type_t,
) -> rmw_ret_t {
    code(init(event, publisher, kind, &OF_PUBLISHERS))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_subscription_event_init(
    event: Option<&mut rmw_event_t>,
    subscription: Option<&rmw_subscription_t>,
    kind: rmw_event_type_t,
) -> rmw_ret_t {
    code(init(event, subscription, kind, &OF_SUBSCRIPTIONS))
}

/// The number of an event's endpoint, and the kind.
fn key(event: &rmw_event_t) -> Result<(u32, bus::EventKind), Failure> {
    let kind = match event.event_type {
        RMW_EVENT_PUBLICATION_MATCHED | RMW_EVENT_SUBSCRIPTION_MATCHED => bus::EventKind::Matched,
        RMW_EVENT_OFFERED_QOS_INCOMPATIBLE | RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE => {
            bus::EventKind::IncompatibleQos
        }
        RMW_EVENT_OFFERED_DEADLINE_MISSED | RMW_EVENT_REQUESTED_DEADLINE_MISSED => {
            bus::EventKind::Deadline
        }
        RMW_EVENT_LIVELINESS_LOST => bus::EventKind::LivelinessLost,
        RMW_EVENT_LIVELINESS_CHANGED => bus::EventKind::LivelinessChanged,
        RMW_EVENT_MESSAGE_LOST => bus::EventKind::Lost,
        _ => bus::EventKind::IncompatibleType,
    };
    let endpoint: &Endpoint = endpoint(Some(event))?;
    Ok((endpoint.gid.number, kind))
}

/// Whether an entry of a wait set, an event, has something new.
pub(crate) fn is_ready(bus: &bus::Bus, entry: *mut c_void) -> bool {
    // SAFETY: null, or an event of the wait set, by the contract of rmw.
    let event = unsafe { entry.cast::<rmw_event_t>().as_ref() };
    event.and_then(|event| key(event).ok()).is_some_and(|key| bus.has_event(key))
}

fn policy_kind(policy: Option<Incompatible>) -> rmw_qos_policy_kind_t {
    match policy {
        None => RMW_QOS_POLICY_INVALID,
        Some(Incompatible::Reliability) => RMW_QOS_POLICY_RELIABILITY,
        Some(Incompatible::Durability) => RMW_QOS_POLICY_DURABILITY,
        Some(Incompatible::Deadline) => RMW_QOS_POLICY_DEADLINE,
        Some(Incompatible::Liveliness) => RMW_QOS_POLICY_LIVELINESS,
    }
}

#[unsafe(no_mangle)]
extern "C" fn rmw_take_event(
    event: Option<&rmw_event_t>,
    info: *mut c_void,
    taken: Option<&mut bool>,
) -> rmw_ret_t {
    let take = || {
        let (event, taken) = (own(event)?, given(taken, "the flag")?);
        *taken = false;
        let (number, kind) = key(event)?;
        if info.is_null() {
            return Err(Failure(RMW_RET_INVALID_ARGUMENT, "the status is null".into()));
        }
        let status = bus::with(|bus| bus.take_event((number, kind)));
        let (total, change) = (status.total as i32, status.change as i32);
        // SAFETY: a place for the status of this kind of event, by the contract of rmw.
        unsafe {
            match kind {
                bus::EventKind::Matched => info.cast::<rmw_matched_status_t>().write({
                    rmw_matched_status_t {
                        total_count: status.total,
                        total_count_change: status.change,
                        current_count: status.current,
                        current_count_change: status.current_change,
                    }
                }),
                bus::EventKind::IncompatibleQos => {
                    info.cast::<rmw_qos_incompatible_event_status_t>().write({
                        rmw_qos_incompatible_event_status_t {
                            total_count: total,
                            total_count_change: change,
                            last_policy_kind: policy_kind(status.policy),
                        }
                    });
                }
                bus::EventKind::LivelinessChanged => {
                    info.cast::<rmw_liveliness_changed_status_t>().write({
                        rmw_liveliness_changed_status_t {
                            alive_count: status.current as i32,
                            not_alive_count: status.others as i32,
                            alive_count_change: status.current_change,
                            not_alive_count_change: status.others_change,
                        }
                    });
                }
                bus::EventKind::Lost => info.cast::<rmw_message_lost_status_t>().write({
                    rmw_message_lost_status_t {
                        total_count: status.total,
                        total_count_change: status.change,
                    }
                }),
                // All of these have two counts.
                bus::EventKind::IncompatibleType
                | bus::EventKind::Deadline
                | bus::EventKind::LivelinessLost => {
                    let status = rmw_incompatible_type_status_t {
                        total_count: total,
                        total_count_change: change,
                    };
                    info.cast::<rmw_incompatible_type_status_t>().write(status);
                }
            }
        }
        *taken = true;
        Ok(())
    };
    code(take())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_event_set_callback(
    event: Option<&rmw_event_t>,
    callback: rmw_event_callback_t,
    data: *const c_void,
) -> rmw_ret_t {
    let set = || {
        let key = key(own(event)?)?;
        bus::start_events();
        let on_new = callback.map(|function| OnNew { function, data: data.expose_provenance() });
        let waits = bus::with(|bus| bus.set_on_event(key, on_new));
        if let (Some(callback), true) = (callback, waits) {
            // SAFETY: a function of the client library, with its data.
            unsafe { callback(data, 1) };
        }
        Ok(())
    };
    code(set())
}
