//! Tables of message types, for code that knows a type only by its [`TypeId`] or its ROS name.

use crate::cdr::{self, CdrError};
use crate::{RawMessage, RosMessage};
use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;

type ToBytes = fn(&dyn Any) -> Result<Cow<'_, [u8]>, CdrError>;
type Read = fn(&[u8], &mut dyn Any) -> Result<(), CdrError>;

/// The table of a message type: its ROS name, and the conversion to and from CDR bytes.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// use ringspin_messages::{CdrType, RosMessage};
/// # #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// # struct Metres { data: f64 }
/// # impl RosMessage for Metres {
/// #     const TYPE_NAME: &'static str = "my_msgs/msg/Metres";
/// #     const DEFINITION: &'static str = "float64 data\n";
/// #     const TYPE_HASH: &'static str = "";
/// # }
/// let table = CdrType::of::<Metres>();
/// let bytes = table.to_bytes(&Metres { data: 1.5 })?;
/// let mut slot = None::<Metres>;
/// table.read(&bytes, &mut slot)?;
/// assert_eq!(slot, Some(Metres { data: 1.5 }));
/// # Ok::<(), ringspin_messages::cdr::CdrError>(())
/// ```
pub struct CdrType {
    name: &'static str,
    definition: &'static str,
    hash: &'static str,
    rust_type: TypeId,
    to_bytes: ToBytes,
    read: Read,
}

impl CdrType {
    /// The table of `M`.
    pub const fn of<M: RosMessage>() -> &'static Self {
        const {
            &Self {
                name: M::TYPE_NAME,
                definition: M::DEFINITION,
                hash: M::TYPE_HASH,
                rust_type: TypeId::of::<M>(),
                to_bytes: |message| {
                    let message = message.downcast_ref::<M>().ok_or_else(other_type)?;
                    Ok(Cow::Owned(cdr::to_bytes(message)?))
                },
                read: |bytes, slot| {
                    let slot = slot.downcast_mut::<Option<M>>().ok_or_else(other_type)?;
                    *slot = Some(cdr::from_bytes(bytes)?);
                    Ok(())
                },
            }
        }
    }

    /// The table of [`RawMessage`], which stands for any ROS type: name, definition and hash are
    /// empty, and bytes stay as they are.
    pub const fn raw() -> &'static Self {
        const {
            &Self {
                name: "",
                definition: "",
                hash: "",
                rust_type: TypeId::of::<RawMessage>(),
                to_bytes: |message| {
                    let message = message.downcast_ref::<RawMessage>().ok_or_else(other_type)?;
                    Ok(Cow::Borrowed(&message.0))
                },
                read: |bytes, slot| {
                    let slot = slot.downcast_mut::<Option<RawMessage>>().ok_or_else(other_type)?;
                    *slot = Some(RawMessage(bytes.to_vec()));
                    Ok(())
                },
            }
        }
    }

    /// The name of the ROS type, such as `sensor_msgs/msg/Imu`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The definition, as [`RosMessage::DEFINITION`].
    pub const fn definition(&self) -> &'static str {
        self.definition
    }

    /// The hash of the ROS type, as [`RosMessage::TYPE_HASH`].
    pub const fn hash(&self) -> &'static str {
        self.hash
    }

    /// The Rust type.
    pub const fn rust_type(&self) -> TypeId {
        self.rust_type
    }

    /// The serialization of `message`, with its header.
    ///
    /// # Errors
    /// [`CdrError::OtherType`] for a message of another Rust type, and as [`cdr::to_bytes`].
    pub fn to_bytes<'a>(&self, message: &'a dyn Any) -> Result<Cow<'a, [u8]>, CdrError> {
        (self.to_bytes)(message)
    }

    /// Deserializes `bytes` into `slot`, an `Option` of the Rust type.
    ///
    /// # Errors
    /// [`CdrError::OtherType`] for a slot of another Rust type, and as [`cdr::from_bytes`].
    pub fn read(&self, bytes: &[u8], slot: &mut dyn Any) -> Result<(), CdrError> {
        (self.read)(bytes, slot)
    }
}

impl fmt::Debug for CdrType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CdrType").field(&self.name).finish()
    }
}

fn other_type() -> CdrError {
    CdrError::OtherType
}
