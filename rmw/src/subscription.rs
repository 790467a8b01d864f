//! Subscriptions, serialized messages, and functions that are called for new messages.

use crate::bindings::*;
use crate::bus::{self, Arrived, OnNew};
use crate::cdr;
use crate::durations;
use crate::endpoint::{Endpoint, endpoint};
use crate::ffi::{Failure, array, code, given, identifier, pointer};
use crate::publisher::{NewEndpoint, bytes_of, create, destroy};
use crate::types::Type;
use ringspin_process_protocol::Kind;
use std::ffi::{c_char, c_void};

#[unsafe(no_mangle)]
extern "C" fn rmw_create_subscription(
    node: Option<&rmw_node_t>,
    support: Option<&rosidl_message_type_support_t>,
    topic: *const c_char,
    profile: Option<&rmw_qos_profile_t>,
    options: Option<&rmw_subscription_options_t>,
) -> *mut rmw_subscription_t {
    let created = || {
        let options = *given(options, "the options")?;
        let ignores_own = options.ignore_local_publications;
        let new = NewEndpoint::of_topic(Kind::Subscription, support)?;
        let new = NewEndpoint { ignores_own, ..new };
        let (data, topic_name) = create(node, topic, profile, new)?;
        Ok(rmw_subscription_t {
            implementation_identifier: identifier(),
            data,
            topic_name,
            options,
            can_loan_messages: false,
            is_cft_enabled: false,
        })
    };
    pointer(created())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_destroy_subscription(
    _: Option<&rmw_node_t>,
    subscription: *mut rmw_subscription_t,
) -> rmw_ret_t {
    // SAFETY: a subscription that its owner gives back.
    unsafe { destroy(subscription) }
}

#[unsafe(no_mangle)]
extern "C" fn rmw_subscription_count_matched_publishers(
    subscription: Option<&rmw_subscription_t>,
    count: Option<&mut usize>,
) -> rmw_ret_t {
    let counted = || {
        let (subscription, count) = (endpoint(subscription)?, given(count, "the count")?);
        *count = bus::with(|bus| {
            let own = bus.entity(subscription.gid);
            own.map_or(0, |own| bus.entities().filter(|other| other.reaches(own)).count())
        });
        Ok(())
    };
    code(counted())
}

/// Takes the oldest message of an endpoint, with its number among all that arrived there.
pub(crate) fn take(endpoint: &Endpoint) -> Option<(Arrived, u64)> {
    let taken = bus::with(|bus| bus.take(endpoint.gid.number))?;
    durations::spend_on(endpoint);
    Some(taken)
}

fn info_of(arrived: &Arrived, count: u64) -> rmw_message_info_t {
    rmw_message_info_t {
        source_timestamp: arrived.sent as i64,
        received_timestamp: arrived.received as i64,
        publication_sequence_number: arrived.number as u64,
        reception_sequence_number: count,
        publisher_gid: rmw_gid_t {
            implementation_identifier: identifier(),
            data: arrived.from.bytes(),
        },
        from_intra_process: false,
    }
}

/// Takes a message into `message`; false if there is none.
fn take_into(
    subscription: Option<&rmw_subscription_t>,
    message: *mut c_void,
    info: Option<&mut rmw_message_info_t>,
) -> Result<bool, Failure> {
    let subscription = endpoint(subscription)?;
    let Some((arrived, count)) = take(subscription) else { return Ok(false) };
    // SAFETY: a message of the subscription's type, by the contract of rmw.
    unsafe { cdr::read(subscription.message, &arrived.bytes, message)? };
    info.into_iter().for_each(|info| *info = info_of(&arrived, count));
    Ok(true)
}

#[unsafe(no_mangle)]
extern "C" fn rmw_take_with_info(
    subscription: Option<&rmw_subscription_t>,
    message: *mut c_void,
    taken: Option<&mut bool>,
    info: Option<&mut rmw_message_info_t>,
    _: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    code(given(taken, "the flag").and_then(|taken| {
        *taken = false;
        *taken = take_into(subscription, message, info)?;
        Ok(())
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_take(
    subscription: Option<&rmw_subscription_t>,
    message: *mut c_void,
    taken: Option<&mut bool>,
    allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    rmw_take_with_info(subscription, message, taken, None, allocation)
}

#[unsafe(no_mangle)]
extern "C" fn rmw_take_sequence(
    subscription: Option<&rmw_subscription_t>,
    count: usize,
    messages: Option<&mut rmw_message_sequence_t>,
    infos: Option<&mut rmw_message_info_sequence_t>,
    taken: Option<&mut usize>,
    _: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    let take_all = || {
        let (messages, infos) = (given(messages, "the list")?, given(infos, "the list")?);
        let taken = given(taken, "the count")?;
        *taken = 0;
        // SAFETY: the lists have so much room, by the contract of rmw.
        let (all, all_infos) =
            unsafe { (array(messages.data, messages.capacity), array(infos.data, infos.capacity)) };
        if count > all.len().min(all_infos.len()) {
            return Err(Failure(RMW_RET_INVALID_ARGUMENT, "the lists are too short".into()));
        }
        for (message, info) in all.iter().zip(all_infos).take(count) {
            if !take_into(subscription, *message, Some(info))? {
                break;
            }
            *taken += 1;
        }
        (messages.size, infos.size) = (*taken, *taken);
        Ok(())
    };
    code(take_all())
}

/// Copies bytes into a serialized message, which grows.
fn fill(bytes: &[u8], target: Option<&mut rmw_serialized_message_t>) -> Result<(), Failure> {
    let target = given(target, "the serialized message")?;
    if target.buffer_capacity < bytes.len() {
        let grow = given(target.allocator.reallocate, "a function of the allocator")?;
        // SAFETY: memory of the message's allocator.
        let buffer = unsafe { grow(target.buffer.cast(), bytes.len(), target.allocator.state) };
        if buffer.is_null() {
            let text = format!("no memory for {} bytes", bytes.len());
            return Err(Failure(RMW_RET_BAD_ALLOC, text));
        }
        (target.buffer, target.buffer_capacity) = (buffer.cast(), bytes.len());
    }
    // SAFETY: the buffer has room for as many bytes.
    unsafe { array(target.buffer, bytes.len()) }.copy_from_slice(bytes);
    target.buffer_length = bytes.len();
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_take_serialized_message_with_info(
    subscription: Option<&rmw_subscription_t>,
    message: Option<&mut rmw_serialized_message_t>,
    taken: Option<&mut bool>,
    info: Option<&mut rmw_message_info_t>,
    _: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    code(given(taken, "the flag").and_then(|taken| {
        *taken = false;
        let Some((arrived, count)) = take(endpoint(subscription)?) else { return Ok(()) };
        fill(&arrived.bytes, message)?;
        info.into_iter().for_each(|info| *info = info_of(&arrived, count));
        *taken = true;
        Ok(())
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_take_serialized_message(
    subscription: Option<&rmw_subscription_t>,
    message: Option<&mut rmw_serialized_message_t>,
    taken: Option<&mut bool>,
    allocation: *mut rmw_subscription_allocation_t,
) -> rmw_ret_t {
    rmw_take_serialized_message_with_info(subscription, message, taken, None, allocation)
}

#[unsafe(no_mangle)]
extern "C" fn rmw_serialize(
    message: *const c_void,
    support: Option<&rosidl_message_type_support_t>,
    target: Option<&mut rmw_serialized_message_t>,
) -> rmw_ret_t {
    code(Type::of(support).and_then(|of| {
        // SAFETY: a message of this type, by the contract of rmw.
        let bytes = unsafe { cdr::write(of, message)? };
        fill(&bytes, target)
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_deserialize(
    source: Option<&rmw_serialized_message_t>,
    support: Option<&rosidl_message_type_support_t>,
    message: *mut c_void,
) -> rmw_ret_t {
    code(Type::of(support).and_then(|of| {
        let bytes = bytes_of(source)?;
        // SAFETY: a message of this type, by the contract of rmw.
        unsafe { cdr::read(of, bytes, message) }
    }))
}

macro_rules! set_on_new {
    ($($name:ident($type:ty))*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            of: Option<&$type>,
            callback: rmw_event_callback_t,
            data: *const c_void,
        ) -> rmw_ret_t {
            code(endpoint(of).map(|endpoint| set_callback(endpoint, callback, data)))
        }
    )*};
}
set_on_new! {
    rmw_subscription_set_on_new_message_callback(rmw_subscription_t)
    rmw_service_set_on_new_request_callback(rmw_service_t)
    rmw_client_set_on_new_response_callback(rmw_client_t)
}

fn set_callback(endpoint: &Endpoint, callback: rmw_event_callback_t, data: *const c_void) {
    bus::start_events();
    let on_new = callback.map(|function| OnNew { function, data: data.expose_provenance() });
    let waiting = bus::with(|bus| bus.set_on_new(endpoint.gid.number, on_new));
    if let (Some(callback), 1..) = (callback, waiting) {
        // SAFETY: a function of the client library, with its data.
        unsafe { callback(data, waiting) };
    }
}
