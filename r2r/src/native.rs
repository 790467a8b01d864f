//! Messages that r2r has as C structs, and that are Rust values here.

use crate::error::Result;
use crate::lock;
use crate::message::WrappedTypesupport;
use crate::untyped::Untyped;
use ringspin_adapter::Carried;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// A message that is published without a copy, or taken by
/// [`subscribe_native`](crate::Node::subscribe_native).
///
/// It is the Rust struct itself: in r2r a C struct, whose strings and sequences have other types.
#[derive(Debug, Default)]
pub struct NativeMsg<T> {
    pub(crate) message: T,
    /// Whether it is borrowed from a publisher, and not yet published.
    pub is_loaned: bool,
}

impl<T: WrappedTypesupport> NativeMsg<T> {
    /// The default message.
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of `msg`.
    pub fn from(msg: &T) -> Self {
        Self { message: msg.clone(), is_loaned: false }
    }
}

impl<T> Deref for NativeMsg<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.message
    }
}

impl<T> DerefMut for NativeMsg<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.message
    }
}

/// A message of a type that is known by name.
#[derive(Debug)]
pub struct WrappedNativeMsgUntyped {
    untyped: Untyped,
    message: Mutex<Carried>,
}

impl WrappedNativeMsgUntyped {
    /// The default message of a type, such as `std_msgs/msg/String`.
    ///
    /// # Errors
    /// [`Error::InvalidMessageType`](crate::Error::InvalidMessageType).
    pub fn new_from(typename: &str) -> Result<Self> {
        let untyped = Untyped::named(typename)?;
        let message = (untyped.from_json)(serde_json::json!({}))?;
        Ok(Self { untyped, message: Mutex::new(message) })
    }

    /// Becomes the message that these bytes are: CDR, with its header of four bytes.
    ///
    /// # Errors
    /// [`Error::SerdeError`](crate::Error::SerdeError) for bytes that are no message of the type.
    pub fn from_serialized_bytes(&mut self, data: &[u8]) -> Result<()> {
        *lock(&self.message) = (self.untyped.from_bytes)(data)?;
        Ok(())
    }

    /// The message as JSON.
    ///
    /// # Errors
    /// None for the types that are generated.
    pub fn to_json(&self) -> Result<serde_json::Value> {
        (self.untyped.to_json)(&lock(&self.message))
    }

    /// Becomes the message that `json` describes; fields that it lacks have their defaults.
    ///
    /// # Errors
    /// [`Error::SerdeError`](crate::Error::SerdeError) for a value that does not describe one.
    pub fn from_json(&self, json: serde_json::Value) -> Result<()> {
        *lock(&self.message) = (self.untyped.from_json)(json)?;
        Ok(())
    }
}
