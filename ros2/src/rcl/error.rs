//! Errors of rcl, with the entity that they are about and a way out.

use super::entity::Entity;
use super::ffi;
use ringspin_messages::cdr::CdrError;
use std::ffi::CStr;
use std::sync::Arc;
use thiserror::Error;

/// Why something with the middleware did not work.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum RosError {
    /// A function of rcl, or of the middleware below it, failed.
    #[error("failed to {action} {entity}: {message} ({}); {}", code_name(*code), advice(*code))]
    Rcl {
        /// The operation.
        action: &'static str,
        /// To what, with its name, type and node.
        entity: Arc<str>,
        /// The number that rcl returned.
        code: i32,
        /// rcl's own words.
        message: Box<str>,
    },
    /// A name has a NUL character in it, which C takes for its end.
    #[error("the {what} {name:?} has a NUL character in it; leave it out")]
    Nul {
        /// The kind of name.
        what: &'static str,
        /// The name as given.
        name: Box<str>,
    },
    /// A domain for which the network has no ports.
    #[error("domain {domain} has no ports; choose one from 0 to {max}, on Linux best up to 101")]
    Domain {
        /// The domain as given, or as `ROS_DOMAIN_ID` says.
        domain: usize,
        /// The greatest one.
        max: usize,
    },
    /// A message does not fit its ROS type.
    #[error("a message of {entity} does not fit its type: {reason}; mend it where it is made")]
    Message {
        /// The entity that sends or takes it.
        entity: Arc<str>,
        /// The problem.
        reason: Box<str>,
    },
    /// A message of another type was given, or asked for.
    #[error("{entity} got a Rust value of another type; create one for that type")]
    OtherType {
        /// The entity that it was for.
        entity: Arc<str>,
    },
    /// A type has another definition in the sourced ROS than in this program or recording.
    #[error(
        "failed to use type {name}: its hash is {program} in this program or recording and \
         {installed} in the sourced ROS 2; use the same definition in both"
    )]
    OtherDefinition {
        /// The type.
        name: Box<str>,
        /// The hash in this program, or in the recording.
        program: Box<str>,
        /// The hash in the sourced ROS.
        installed: Box<str>,
    },
    /// A type that nothing in this program, and no library that was found, knows.
    #[error("unknown type {name:?}: {reason}; {known}")]
    UnknownType {
        /// The type's name as given.
        name: Box<str>,
        /// Why it is unknown.
        reason: Box<str>,
        /// The known types of the package, or the known packages.
        known: Box<str>,
    },
}

impl RosError {
    /// Whether the middleware gave up waiting.
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Rcl { code, .. } if *code == ffi::RCL_RET_TIMEOUT as i32)
    }
}

/// rcl's own words for its last error on this thread, which are then forgotten.
fn last_words() -> Box<str> {
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
pub(super) fn failure(code: i32, action: &'static str, entity: &Entity) -> RosError {
    RosError::Rcl { action, entity: entity.text(), code, message: last_words() }
}

/// `Ok` if `code` says so.
pub(super) fn check(code: i32, action: &'static str, entity: &Entity) -> Result<(), RosError> {
    if is_ok(code) { Ok(()) } else { Err(failure(code, action, entity)) }
}

/// The error of `entity` for a message that could not be serialized or deserialized.
#[cold]
pub(super) fn misfit(entity: &Entity, error: &CdrError) -> RosError {
    let entity = entity.text();
    match error {
        CdrError::OtherType => RosError::OtherType { entity },
        error => RosError::Message { entity, reason: error.to_string().into() },
    }
}

fn code_name(code: i32) -> String {
    let name = match code.try_into().unwrap_or(u32::MAX) {
        ffi::RCL_RET_ERROR => "RCL_RET_ERROR",
        ffi::RCL_RET_TIMEOUT => "RCL_RET_TIMEOUT",
        ffi::RCL_RET_UNSUPPORTED => "RCL_RET_UNSUPPORTED",
        ffi::RCL_RET_BAD_ALLOC => "RCL_RET_BAD_ALLOC",
        ffi::RCL_RET_INVALID_ARGUMENT => "RCL_RET_INVALID_ARGUMENT",
        ffi::RCL_RET_ALREADY_INIT => "RCL_RET_ALREADY_INIT",
        ffi::RCL_RET_NOT_INIT => "RCL_RET_NOT_INIT",
        ffi::RCL_RET_TOPIC_NAME_INVALID => "RCL_RET_TOPIC_NAME_INVALID",
        ffi::RCL_RET_SERVICE_NAME_INVALID => "RCL_RET_SERVICE_NAME_INVALID",
        ffi::RCL_RET_UNKNOWN_SUBSTITUTION => "RCL_RET_UNKNOWN_SUBSTITUTION",
        ffi::RCL_RET_ALREADY_SHUTDOWN => "RCL_RET_ALREADY_SHUTDOWN",
        ffi::RCL_RET_NODE_INVALID => "RCL_RET_NODE_INVALID",
        ffi::RCL_RET_NODE_INVALID_NAME => "RCL_RET_NODE_INVALID_NAME",
        ffi::RCL_RET_NODE_INVALID_NAMESPACE => "RCL_RET_NODE_INVALID_NAMESPACE",
        ffi::RCL_RET_PUBLISHER_INVALID => "RCL_RET_PUBLISHER_INVALID",
        ffi::RCL_RET_SUBSCRIPTION_INVALID => "RCL_RET_SUBSCRIPTION_INVALID",
        ffi::RCL_RET_CLIENT_INVALID => "RCL_RET_CLIENT_INVALID",
        ffi::RCL_RET_SERVICE_INVALID => "RCL_RET_SERVICE_INVALID",
        ffi::RCL_RET_INVALID_ROS_ARGS => "RCL_RET_INVALID_ROS_ARGS",
        _ => return format!("rcl code {code}"),
    };
    name.into()
}

fn advice(code: i32) -> &'static str {
    match code.try_into().unwrap_or(u32::MAX) {
        ffi::RCL_RET_TOPIC_NAME_INVALID
        | ffi::RCL_RET_SERVICE_NAME_INVALID
        | ffi::RCL_RET_UNKNOWN_SUBSTITUTION
        | ffi::RCL_RET_NODE_INVALID_NAME
        | ffi::RCL_RET_NODE_INVALID_NAMESPACE => "give it a valid ROS 2 name",
        ffi::RCL_RET_NOT_INIT
        | ffi::RCL_RET_ALREADY_SHUTDOWN
        | ffi::RCL_RET_NODE_INVALID
        | ffi::RCL_RET_PUBLISHER_INVALID
        | ffi::RCL_RET_SUBSCRIPTION_INVALID
        | ffi::RCL_RET_CLIENT_INVALID
        | ffi::RCL_RET_SERVICE_INVALID => "was its context shut down? Then make a new one",
        ffi::RCL_RET_INVALID_ROS_ARGS => "mend what follows --ros-args",
        ffi::RCL_RET_BAD_ALLOC => "free some memory",
        ffi::RCL_RET_UNSUPPORTED => "choose another middleware by RMW_IMPLEMENTATION",
        ffi::RCL_RET_TIMEOUT => "the peer did not acknowledge in time; is it still there?",
        _ => "check the ROS environment (AMENT_PREFIX_PATH, RMW_IMPLEMENTATION) and the QoS",
    }
}
