//! Errors of rcl: ringspin's one error, with the entity that it is about and a way out.

use super::entity::Entity;
use super::ffi;
use ringspin_executor::{Error, ErrorKind};
use ringspin_messages::CdrType;
use ringspin_messages::cdr::CdrError;
use std::any::Any;
use std::ffi::CStr;

/// rcl's own words for its last error on this thread, which are then forgotten.
fn last_words() -> String {
    // SAFETY: both functions only touch a buffer of this thread; the string is returned by value
    // and always ends with NUL.
    unsafe {
        let words = ffi::rcutils_get_error_string();
        ffi::rcutils_reset_error();
        CStr::from_ptr(words.str_.as_ptr()).to_string_lossy().into()
    }
}

/// Forgets rcl's last error on this thread, so that the next one is not reported on top of it.
pub(super) fn forget() {
    // SAFETY: touches a buffer of this thread only.
    unsafe { ffi::rcutils_reset_error() }
}

/// Whether `code` says that it worked.
pub(super) fn is_ok(code: i32) -> bool {
    code == ffi::RCL_RET_OK as i32
}

/// The error for `code`, which is not RCL_RET_OK.
#[cold]
pub(super) fn failure(code: i32, action: &str, entity: &Entity) -> Error {
    let (entity, words, name) = (entity.text(), last_words(), code_name(code));
    let (kind, advice) = meaning(code);
    Error::new(kind, format!("failed to {action} {entity}: {words} ({name}); {advice}"))
}

/// `Ok` if `code` says so.
pub(super) fn check(code: i32, action: &str, entity: &Entity) -> Result<(), Error> {
    if is_ok(code) { Ok(()) } else { Err(failure(code, action, entity)) }
}

/// The error of `entity` for a message that `reason` keeps from being converted.
#[cold]
pub(super) fn misfit(entity: &Entity, reason: &CdrError) -> Error {
    let entity = entity.text();
    let (kind, text) = match reason {
        CdrError::OtherType => (
            ErrorKind::TypeMismatch,
            format!("{entity} got a Rust value of another type; create one for that type"),
        ),
        reason => (
            ErrorKind::InvalidArgument,
            format!(
                "a message of {entity} does not fit its type: {reason}; mend it where it is made"
            ),
        ),
    };
    Error::new(kind, text)
}

/// Refuses a `slot` that is no `Option` of the Rust type of `table`.
pub(super) fn check_slot(table: &CdrType, slot: &dyn Any, entity: &Entity) -> Result<(), Error> {
    match table.fits_slot(slot) {
        true => Ok(()),
        false => Err(misfit(entity, &CdrError::OtherType)),
    }
}

macro_rules! code_names {
    ($($name:ident)*) => {
        fn code_name(code: i32) -> String {
            match code.try_into().unwrap_or(u32::MAX) {
                $(ffi::$name => stringify!($name).into(),)*
                _ => format!("rcl code {code}"),
            }
        }
    };
}

code_names! {
    RCL_RET_ERROR RCL_RET_TIMEOUT RCL_RET_UNSUPPORTED RCL_RET_BAD_ALLOC RCL_RET_INVALID_ARGUMENT
    RCL_RET_ALREADY_INIT RCL_RET_NOT_INIT RCL_RET_TOPIC_NAME_INVALID RCL_RET_SERVICE_NAME_INVALID
    RCL_RET_UNKNOWN_SUBSTITUTION RCL_RET_ALREADY_SHUTDOWN RCL_RET_NODE_INVALID
    RCL_RET_NODE_INVALID_NAME RCL_RET_NODE_INVALID_NAMESPACE RCL_RET_PUBLISHER_INVALID
    RCL_RET_SUBSCRIPTION_INVALID RCL_RET_CLIENT_INVALID RCL_RET_SERVICE_INVALID
    RCL_RET_INVALID_ROS_ARGS
}

/// The kind of error of a code, and the way out.
fn meaning(code: i32) -> (ErrorKind, &'static str) {
    match code.try_into().unwrap_or(u32::MAX) {
        ffi::RCL_RET_TOPIC_NAME_INVALID
        | ffi::RCL_RET_SERVICE_NAME_INVALID
        | ffi::RCL_RET_UNKNOWN_SUBSTITUTION
        | ffi::RCL_RET_NODE_INVALID_NAME
        | ffi::RCL_RET_NODE_INVALID_NAMESPACE => {
            (ErrorKind::InvalidName, "give it a valid ROS 2 name")
        }
        ffi::RCL_RET_NOT_INIT
        | ffi::RCL_RET_ALREADY_SHUTDOWN
        | ffi::RCL_RET_NODE_INVALID
        | ffi::RCL_RET_PUBLISHER_INVALID
        | ffi::RCL_RET_SUBSCRIPTION_INVALID
        | ffi::RCL_RET_CLIENT_INVALID
        | ffi::RCL_RET_SERVICE_INVALID => {
            (ErrorKind::InvalidState, "was its context shut down? Then make a new one")
        }
        ffi::RCL_RET_INVALID_ROS_ARGS => {
            (ErrorKind::InvalidArgument, "correct the arguments after --ros-args")
        }
        ffi::RCL_RET_BAD_ALLOC => (ErrorKind::LimitReached, "free some memory"),
        ffi::RCL_RET_UNSUPPORTED => {
            (ErrorKind::Unsupported, "choose another middleware by RMW_IMPLEMENTATION")
        }
        ffi::RCL_RET_TIMEOUT => {
            (ErrorKind::TimedOut, "the peer did not acknowledge in time; is it still there?")
        }
        _ => (
            ErrorKind::Middleware,
            "check the ROS environment (AMENT_PREFIX_PATH, RMW_IMPLEMENTATION) and the QoS",
        ),
    }
}
