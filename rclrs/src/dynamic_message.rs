//! Messages of types that are known by name at run time: for tools, bridges and recorders.
//!
//! The definitions are parsed at run time, as the generator of structs parses them when the program
//! is built. A dynamic message is a tree of Rust values; it has the bytes and the digest of the
//! struct of its type, and both meet on one topic.

mod bounded_string;
mod message_structure;
mod message_view;
mod package_cache;
mod publisher;
mod sequence;
mod stored;
mod subscription;
mod types;
mod values;

use crate::error::DynamicMessageError;
pub use bounded_string::{
    DynamicBoundedString, DynamicBoundedStringMut, DynamicBoundedWString, DynamicBoundedWStringMut,
};
pub use message_structure::{BaseType, MessageFieldInfo, MessageStructure, ValueKind};
pub use message_view::{DynamicMessageView, DynamicMessageViewMut};
pub use package_cache::{
    DynamicMessageLibraryCache, MessagePackage, get_dynamic_message_package_cache,
};
pub use publisher::{DynamicPublisher, DynamicPublisherState};
pub use sequence::{
    DynamicBoundedSequence, DynamicBoundedSequenceMut, DynamicSequence, DynamicSequenceMut,
};
#[doc(hidden)]
pub use sequence::{DynamicSequenceElementMut, InnerSequence, Proxy, ProxyMut, ProxySequence};
pub use subscription::{DynamicSubscription, DynamicSubscriptionState, WorkerDynamicSubscription};
pub use values::{
    ArrayValue, ArrayValueMut, BoundedSequenceValue, BoundedSequenceValueMut, SequenceValue,
    SequenceValueMut, SimpleValue, SimpleValueMut, Value, ValueMut,
};

use ringspin::{Digest, DigestHasher};
use ringspin_adapter::{Carried, Payload};
use ringspin_messages::cdr::{self, CdrError};
use rosidl_runtime_rs::RmwMessage;
use std::fmt::{self, Debug, Display};
use std::ops::Deref;
use stored::{Fields, Of};
use types::MessageType;

/// The name of a message type: `package/msg/Name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageTypeName {
    /// The package.
    pub package_name: String,
    /// The name of the type within it.
    pub type_name: String,
}

impl TryFrom<&str> for MessageTypeName {
    type Error = DynamicMessageError;

    fn try_from(name: &str) -> Result<Self, DynamicMessageError> {
        let parts: Vec<_> = name.split('/').collect();
        let [package, "msg", type_name] = parts[..] else {
            return Err(DynamicMessageError::InvalidMessageTypeSyntax { input: name.into() });
        };
        Ok(Self { package_name: package.into(), type_name: type_name.into() })
    }
}

impl Display for MessageTypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/msg/{}", self.package_name, self.type_name)
    }
}

/// A message type. It dereferences to the description of its fields.
#[derive(Clone)]
pub struct DynamicMessageMetadata {
    of: MessageType,
}

impl DynamicMessageMetadata {
    /// Finds a type: among those that the program was built with, in the folders of
    /// `RINGSPIN_MESSAGES`, then in the sourced ROS 2.
    ///
    /// # Errors
    /// For a package or type that none of them has, and for a definition that is not valid.
    pub fn new(message_type: MessageTypeName) -> Result<Self, DynamicMessageError> {
        let of = MessageType::named(&message_type.package_name, &message_type.type_name)?;
        Ok(Self { of })
    }

    /// Creates a message with the default values of its definition.
    ///
    /// # Errors
    /// None.
    pub fn create(&self) -> Result<DynamicMessage, DynamicMessageError> {
        Ok(DynamicMessage { of: self.of, fields: Fields::new(self.of.structure) })
    }

    /// The description of the fields.
    pub fn structure(&self) -> &MessageStructure {
        self.of.structure
    }
}

impl Deref for DynamicMessageMetadata {
    type Target = MessageStructure;

    fn deref(&self) -> &MessageStructure {
        self.of.structure
    }
}

impl Debug for DynamicMessageMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicMessageMetadata").field(&self.of.ros_type.name).finish()
    }
}

/// A message of a type that is known at run time. It dereferences to the description of its fields.
///
/// ```
/// use rclrs::{DynamicMessage, SimpleValueMut, ValueMut};
/// let mut message = DynamicMessage::new("std_msgs/msg/Int32".try_into()?)?;
/// if let Some(ValueMut::Simple(SimpleValueMut::Int32(data))) = message.get_mut("data") {
///     *data = 42;
/// }
/// assert_eq!(format!("{message:?}"), "Int32 { data: Simple(Int32(42)) }");
/// # Ok::<(), rclrs::DynamicMessageError>(())
/// ```
#[derive(Clone)]
pub struct DynamicMessage {
    of: MessageType,
    fields: Fields,
}

impl DynamicMessage {
    /// Creates a message with the default values of its definition.
    ///
    /// # Errors
    /// The errors of [`DynamicMessageMetadata::new`].
    pub fn new(message_type: MessageTypeName) -> Result<Self, DynamicMessageError> {
        DynamicMessageMetadata::new(message_type)?.create()
    }

    /// The content of a field; `None` if there is no such field.
    pub fn get(&self, field_name: &str) -> Option<Value<'_>> {
        self.view().get(field_name)
    }

    /// The content of a field, which can be changed; `None` if there is no such field.
    pub fn get_mut(&mut self, field_name: &str) -> Option<ValueMut<'_>> {
        self.fields.get_mut(field_name).map(ValueMut::new)
    }

    /// The description of the fields.
    pub fn structure(&self) -> &MessageStructure {
        self.of.structure
    }

    /// The names and contents of the fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value<'_>)> + '_ {
        self.fields.iter()
    }

    /// The names and contents of the fields, in order; the contents can be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, ValueMut<'_>)> + '_ {
        self.view_mut().iter_mut()
    }

    /// A reference to the message, as messages within it have one.
    pub fn view(&self) -> DynamicMessageView<'_> {
        DynamicMessageView { fields: &self.fields }
    }

    /// A reference to the message, which can be changed, as messages within it have one.
    pub fn view_mut(&mut self) -> DynamicMessageViewMut<'_> {
        DynamicMessageViewMut { fields: &mut self.fields }
    }

    /// Converts a struct.
    ///
    /// # Errors
    /// For a message that its definition does not allow; the text names the field.
    pub fn convert_from_rmw_message<T>(msg: T) -> Result<Self, DynamicMessageError>
    where
        T: RmwMessage,
    {
        let of = MessageType::of::<T>()?;
        let message = cdr::to_bytes(&msg).and_then(|bytes| Self::of_bytes(of, &bytes));
        message.map_err(DynamicMessageError::invalid)
    }

    /// Converts to a struct.
    ///
    /// # Errors
    /// The message itself, if the struct has another type, or a text is not valid.
    pub fn convert_into_rmw_message<T>(self) -> Result<T, Self>
    where
        T: RmwMessage,
    {
        Carried::new(self.clone()).get().map_err(|_| self)
    }

    /// # Errors
    /// For bytes that are no message of the type.
    fn of_bytes(of: MessageType, bytes: &[u8]) -> Result<Self, CdrError> {
        let fields = cdr::from_bytes_seed(Of(of.structure), of.ros_type.name, bytes)?;
        Ok(Self { of, fields })
    }

    /// # Errors
    /// For a message of another type.
    fn of_carried(of: MessageType, carried: &Carried) -> Result<Self, CdrError> {
        let known = carried.downcast_ref::<Self>().filter(|it| it.of.ros_type == of.ros_type);
        match known {
            Some(message) => Ok(message.clone()),
            None => Self::of_bytes(of, &carried.bytes_of(of.ros_type.hash)?),
        }
    }

    /// Names the ROS type in an error, as structs do.
    fn named(&self, error: CdrError) -> CdrError {
        match error {
            CdrError::Serialize { cause, .. } => {
                CdrError::Serialize { rust_type: self.of.ros_type.name, cause }
            }
            error => error,
        }
    }
}

impl Payload for DynamicMessage {
    fn write(&self, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(&self.fields, bytes).map_err(|error| self.named(error))
    }

    fn add_to(&self, hasher: &mut DigestHasher) {
        self.fields.digest(hasher);
    }

    fn type_hash(&self) -> &'static str {
        self.of.ros_type.hash
    }
}

impl Deref for DynamicMessage {
    type Target = MessageStructure;

    fn deref(&self) -> &MessageStructure {
        self.of.structure
    }
}

impl Eq for DynamicMessage {}

impl PartialEq for DynamicMessage {
    fn eq(&self, other: &Self) -> bool {
        self.of.ros_type.name == other.of.ros_type.name && self.fields == other.fields
    }
}

impl Debug for DynamicMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields.fmt(f)
    }
}
