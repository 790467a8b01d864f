//! Clients and services.

use crate::bindings::*;
use crate::bus::{self, Arrived};
use crate::cdr;
use crate::endpoint::endpoint;
use crate::ffi::{Failure, code, given, identifier, pointer, text};
use crate::publisher::{NewEndpoint, create, destroy};
use crate::subscription::take;
use crate::types::{self, Type};
use ringspin_process_protocol::{Gid, Kind};
use std::ffi::{c_char, c_void};

fn new(
    kind: Kind,
    support: Option<&rosidl_service_type_support_t>,
) -> Result<NewEndpoint, Failure> {
    let (message, response, type_name) = Type::of_service(support)?;
    let get = support.and_then(|support| Some((support, support.get_type_hash_func?)));
    // SAFETY: the type support's own function.
    let hash = get.map_or(std::ptr::null(), |(support, get)| unsafe { get(support) });
    Ok(NewEndpoint {
        kind,
        type_name,
        type_hash: types::hash(hash),
        message,
        response,
        ignores_own: false,
    })
}

macro_rules! ends {
    ($($create:ident $destroy:ident $type:ident $kind:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $create(
            node: Option<&rmw_node_t>,
            support: Option<&rosidl_service_type_support_t>,
            name: *const c_char,
            profile: Option<&rmw_qos_profile_t>,
        ) -> *mut $type {
            let created = || {
                let (data, service_name) = create(node, name, profile, new(Kind::$kind, support)?)?;
                Ok($type { implementation_identifier: identifier(), data, service_name })
            };
            pointer(created())
        }

        #[unsafe(no_mangle)]
        extern "C" fn $destroy(_: Option<&rmw_node_t>, end: *mut $type) -> rmw_ret_t {
            // SAFETY: an end that its owner gives back.
            unsafe { destroy(end) }
        }
    )*};
}
ends! {
    rmw_create_client rmw_destroy_client rmw_client_t Client
    rmw_create_service rmw_destroy_service rmw_service_t Service
}

#[unsafe(no_mangle)]
extern "C" fn rmw_send_request(
    client: Option<&rmw_client_t>,
    request: *const c_void,
    number: Option<&mut i64>,
) -> rmw_ret_t {
    let sent = || {
        let (client, number) = (endpoint(client)?, given(number, "the number")?);
        // SAFETY: a request of the client's type, by the contract of rmw.
        let bytes = unsafe { cdr::write(client.message, request)? };
        let service = text(client.name.as_ptr());
        *number = bus::change(|bus| bus.request(client.gid, &service, bytes));
        Ok(())
    };
    code(sent())
}

fn info_of(arrived: &Arrived, gid: Gid) -> rmw_service_info_t {
    let (writer_guid, sequence_number) = (gid.bytes(), arrived.number);
    rmw_service_info_t {
        source_timestamp: arrived.sent as i64,
        received_timestamp: arrived.received as i64,
        request_id: rmw_request_id_t { writer_guid, sequence_number },
    }
}

/// Takes a request of a service, or a response of a client, with its header: that of a request
/// names the client, which a response names as well.
macro_rules! takes {
    ($($function:ident $type:ident $of:ident |$arrived:ident, $end:ident| $gid:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $function(
            end: Option<&$type>,
            info: Option<&mut rmw_service_info_t>,
            message: *mut c_void,
            taken: Option<&mut bool>,
        ) -> rmw_ret_t {
            code(given(taken, "the flag").and_then(|taken| {
                *taken = false;
                let ($end, info) = (endpoint(end)?, given(info, "the header")?);
                let Some(($arrived, _)) = take($end) else { return Ok(()) };
                // SAFETY: a message of this type, by the contract of rmw.
                unsafe { cdr::read($end.$of, &$arrived.bytes, message)? };
                *info = info_of(&$arrived, $gid);
                *taken = true;
                Ok(())
            }))
        }
    )*};
}
takes! {
    rmw_take_request rmw_service_t message |arrived, service| arrived.from;
    rmw_take_response rmw_client_t response |arrived, client| client.gid;
}

#[unsafe(no_mangle)]
extern "C" fn rmw_send_response(
    service: Option<&rmw_service_t>,
    id: Option<&rmw_request_id_t>,
    response: *const c_void,
) -> rmw_ret_t {
    let sent = || {
        let (service, id) = (endpoint(service)?, given(id, "the header")?);
        // SAFETY: a response of the service's type, by the contract of rmw.
        let bytes = unsafe { cdr::write(service.response, response)? };
        let (to, number) = (Gid::from_bytes(&id.writer_guid), id.sequence_number);
        bus::change(|bus| bus.respond(service.gid, to, number, bytes));
        Ok(())
    };
    code(sent())
}

#[unsafe(no_mangle)]
extern "C" fn rmw_service_server_is_available(
    _: Option<&rmw_node_t>,
    client: Option<&rmw_client_t>,
    is_available: Option<&mut bool>,
) -> rmw_ret_t {
    let asked = || {
        let (client, is_available) = (endpoint(client)?, given(is_available, "the flag")?);
        let service = text(client.name.as_ptr());
        *is_available = bus::with(|bus| bus.service(&service).is_some());
        Ok(())
    };
    code(asked())
}
