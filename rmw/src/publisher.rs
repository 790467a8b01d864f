//! Publishers.

use crate::bindings::*;
use crate::bus;
use crate::cdr;
use crate::endpoint::{Endpoint, endpoint};
use crate::ffi::{Failure, code, given, identifier, own, pointer, take_back, text, to_data};
use crate::qos;
use crate::types::{self, Type};
use ringspin_process_protocol::{Entity, Kind};
use std::ffi::{c_char, c_void};

/// The parts of a new endpoint that its kind decides.
pub(crate) struct NewEndpoint {
    pub(crate) kind: Kind,
    pub(crate) type_name: String,
    pub(crate) type_hash: Vec<u8>,
    pub(crate) message: Type,
    pub(crate) response: Type,
    pub(crate) ignores_own: bool,
}

impl NewEndpoint {
    /// A publisher or subscription with messages of this type support.
    pub(crate) fn of_topic(
        kind: Kind,
        support: Option<&rosidl_message_type_support_t>,
    ) -> Result<Self, Failure> {
        let message = Type::of(support)?;
        let get = support.and_then(|support| Some((support, support.get_type_hash_func?)));
        // SAFETY: the type support's own function.
        let hash = get.map_or(std::ptr::null(), |(support, get)| unsafe { get(support) });
        let (type_name, type_hash) = (message.name(), types::hash(hash));
        Ok(Self { kind, type_name, type_hash, message, response: message, ignores_own: false })
    }
}

/// Creates an endpoint of a node; returns its data and its name in there.
pub(crate) fn create(
    node: Option<&rmw_node_t>,
    name: *const c_char,
    profile: Option<&rmw_qos_profile_t>,
    new: NewEndpoint,
) -> Result<(*mut c_void, *const c_char), Failure> {
    let (node, asked) = (own(node)?, *given(profile, "the QoS profile")?);
    let name = crate::ffi::name(name, "the name")?;
    let NewEndpoint { kind, type_name, type_hash, message, response, ignores_own } = new;
    let (gid, profile) = bus::change(|bus| {
        let others = bus.entities().filter(|other| name.to_str() == Ok(&other.name));
        let profile = qos::settle(qos::choose_best(asked, kind, others));
        let gid = bus.new_gid();
        bus.add(Entity {
            gid,
            kind,
            node: text(node.name),
            namespace: text(node.namespace_),
            name: text(name.as_ptr()),
            type_name,
            type_hash,
            qos: qos::shared(&profile),
            ignores_own,
        });
        (gid, profile)
    });
    let of_name = name.as_ptr(); // it stays where it is
    Ok((to_data(Endpoint { gid, name, profile, message, response }), of_name))
}

/// Removes an endpoint, with the object that has it.
///
/// # Safety
/// The object was made by [`pointer`] with data of [`create`], and nothing uses it any more.
pub(crate) unsafe fn destroy<T: crate::ffi::HasEndpoint>(object: *mut T) -> rmw_ret_t {
    // SAFETY: null, or an object, by the contract of rmw.
    let data = own(unsafe { object.as_ref() }).map(|object| object.data());
    code(data.map(|data| {
        // SAFETY: the caller's promise.
        let endpoint: Endpoint = unsafe { take_back(object, data) };
        bus::change(|bus| bus.remove(endpoint.gid));
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_create_publisher(
    node: Option<&rmw_node_t>,
    support: Option<&rosidl_message_type_support_t>,
    topic: *const c_char,
    profile: Option<&rmw_qos_profile_t>,
    options: Option<&rmw_publisher_options_t>,
) -> *mut rmw_publisher_t {
    let created = || {
        let options = *given(options, "the options")?;
        let new = NewEndpoint::of_topic(Kind::Publisher, support)?;
        let (data, topic_name) = create(node, topic, profile, new)?;
        Ok(rmw_publisher_t {
            implementation_identifier: identifier(),
            data,
            topic_name,
            options,
            can_loan_messages: false,
        })
    };
    pointer(created())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_destroy_publisher(
    _: Option<&rmw_node_t>,
    publisher: *mut rmw_publisher_t,
) -> rmw_ret_t {
    // SAFETY: a publisher that its owner gives back.
    unsafe { destroy(publisher) }
}

#[unsafe(no_mangle)]
extern "C" fn rmw_publish(
    publisher: Option<&rmw_publisher_t>,
    message: *const c_void,
    _: *mut rmw_publisher_allocation_t,
) -> rmw_ret_t {
    code(endpoint(publisher).and_then(|publisher| {
        // SAFETY: a message of the publisher's type, by the contract of rmw.
        let bytes = unsafe { cdr::write(publisher.message, message)? };
        bus::change(|bus| bus.publish(publisher.gid, bytes));
        Ok(())
    }))
}

/// The bytes of a serialized message.
pub(crate) fn bytes_of(message: Option<&rmw_serialized_message_t>) -> Result<&[u8], Failure> {
    let message = given(message, "the serialized message")?;
    // SAFETY: the message has so many bytes, by the contract of rmw.
    Ok(unsafe { crate::ffi::array(message.buffer, message.buffer_length) })
}

#[unsafe(no_mangle)]
extern "C" fn rmw_publish_serialized_message(
    publisher: Option<&rmw_publisher_t>,
    message: Option<&rmw_serialized_message_t>,
    _: *mut rmw_publisher_allocation_t,
) -> rmw_ret_t {
    code(endpoint(publisher).and_then(|publisher| {
        let bytes = bytes_of(message)?.to_vec();
        bus::change(|bus| bus.publish(publisher.gid, bytes));
        Ok(())
    }))
}

#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_count_matched_subscriptions(
    publisher: Option<&rmw_publisher_t>,
    count: Option<&mut usize>,
) -> rmw_ret_t {
    let counted = || {
        let (publisher, count) = (endpoint(publisher)?, given(count, "the count")?);
        *count = bus::with(|bus| {
            let own = bus.entity(publisher.gid);
            own.map_or(0, |own| bus.entities().filter(|other| own.reaches(other)).count())
        });
        Ok(())
    };
    code(counted())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_assert_liveliness(publisher: Option<&rmw_publisher_t>) -> rmw_ret_t {
    code(endpoint(publisher).map(|own| bus::change(|bus| bus.assert_liveliness(own.gid))))
}

/// All messages have arrived, or are with the coordinator, which loses none.
#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_wait_for_all_acked(
    publisher: Option<&rmw_publisher_t>,
    _: rmw_time_t,
) -> rmw_ret_t {
    code(endpoint(publisher).map(drop))
}

macro_rules! get_gid {
    ($($name:ident($type:ty))*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(of: Option<&$type>, gid: Option<&mut rmw_gid_t>) -> rmw_ret_t {
            let got = || {
                let (endpoint, gid) = (endpoint(of)?, given(gid, "the gid")?);
                let data = endpoint.gid.bytes();
                *gid = rmw_gid_t { implementation_identifier: identifier(), data };
                Ok(())
            };
            code(got())
        }
    )*};
}
get_gid! {
    rmw_get_gid_for_publisher(rmw_publisher_t)
    rmw_get_gid_for_client(rmw_client_t)
}

macro_rules! get_qos {
    ($($name:ident($type:ty))*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(of: Option<&$type>, qos: Option<&mut rmw_qos_profile_t>) -> rmw_ret_t {
            let got = || {
                let (endpoint, qos) = (endpoint(of)?, given(qos, "the QoS profile")?);
                *qos = endpoint.profile;
                Ok(())
            };
            code(got())
        }
    )*};
}
get_qos! {
    rmw_publisher_get_actual_qos(rmw_publisher_t)
    rmw_subscription_get_actual_qos(rmw_subscription_t)
    rmw_client_request_publisher_get_actual_qos(rmw_client_t)
    rmw_client_response_subscription_get_actual_qos(rmw_client_t)
    rmw_service_request_subscription_get_actual_qos(rmw_service_t)
    rmw_service_response_publisher_get_actual_qos(rmw_service_t)
}

#[unsafe(no_mangle)]
extern "C" fn rmw_compare_gids_equal(
    left: Option<&rmw_gid_t>,
    right: Option<&rmw_gid_t>,
    result: Option<&mut bool>,
) -> rmw_ret_t {
    let compared = || {
        let (left, right) = (given(left, "a gid")?, given(right, "a gid")?);
        *given(result, "the result")? = left.data == right.data;
        Ok(())
    };
    code(compared())
}
