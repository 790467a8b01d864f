//! Names of entities in errors.

use ringspin_executor::{Error, ErrorKind};
use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

/// The name of an entity in errors. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Entity(Arc<str>);

impl Entity {
    /// Such as `publisher "/chatter" (std_msgs/msg/String) of node "/talker"`.
    pub(super) fn of_node(kind: &str, name: &str, type_name: &str, node: &str) -> Self {
        Self(format!("{kind} {name:?} ({type_name}) of node {node:?}").into())
    }

    /// The name of an entity that belongs to no node.
    pub(super) fn plain(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    pub(super) fn text(&self) -> Arc<str> {
        self.0.clone()
    }
}

/// Converts `name` to a string of C.
pub(super) fn c_name(what: &str, name: &str) -> Result<CString, Error> {
    CString::new(name).map_err(|error| {
        let text = format!("the {what} {name:?} has a NUL character in it; leave it out");
        Error::new(ErrorKind::InvalidName, text).caused_by(error)
    })
}

/// A copy of a string of C; empty for a null pointer.
///
/// # Safety
/// `text` is null, or ends with NUL and lives during the call.
pub(super) unsafe fn copied(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: as the caller promises.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    }
}
