//! The object behind each publisher, subscription, client and service of C.

use crate::bindings::rmw_qos_profile_t;
use crate::ffi::{Failure, HasEndpoint, own};
use crate::types::Type;
use ringspin_process_protocol::Gid;
use std::ffi::{CString, c_void};

/// The object behind `data` of a publisher, subscription, client or service.
pub(crate) struct Endpoint {
    pub(crate) gid: Gid,
    pub(crate) name: CString,
    pub(crate) profile: rmw_qos_profile_t,
    /// The type of messages, or of requests.
    pub(crate) message: Type,
    /// The type of responses; of messages otherwise.
    pub(crate) response: Type,
}

/// The endpoint of an object.
pub(crate) fn endpoint<T: HasEndpoint>(object: Option<&T>) -> Result<&Endpoint, Failure> {
    // SAFETY: the object was made here, so its data is an endpoint, which lives as long.
    Ok(unsafe { &*own(object)?.data().cast() })
}

/// The endpoint of an entry of a wait set, which is the `data` of an object.
///
/// # Safety
/// The entry is null, or that of an object which was made here and lives.
pub(crate) unsafe fn endpoint_of<'a>(data: *const c_void) -> Option<&'a Endpoint> {
    // SAFETY: the caller's promise.
    unsafe { data.cast::<Endpoint>().as_ref() }
}
