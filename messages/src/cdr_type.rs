//! Tables of message and service types, for code that knows a type only by its [`TypeId`] or its
//! ROS name.

use crate::cdr::{self, CdrError};
use crate::checks::{check, has_limits};
use crate::{RawMessage, RosMessage, RosService};
use ringspin_executor::MessageCheck;
use ringspin_executor::observed::RemoteChannel;
use std::any::{Any, TypeId};
use std::fmt;

type Serialize = for<'a> fn(&'a dyn Any, &'a mut Vec<u8>) -> Result<&'a [u8], CdrError>;
type Read = fn(&[u8], &mut dyn Any) -> Result<(), CdrError>;

/// The name, the definition and the hash of a ROS message type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosType {
    /// The name: [`RosMessage::TYPE_NAME`].
    pub name: &'static str,
    /// The definition: [`RosMessage::DEFINITION`].
    pub definition: &'static str,
    /// The hash: [`RosMessage::TYPE_HASH`].
    pub hash: &'static str,
}

impl RosType {
    /// The type of `M`.
    pub const fn of<M: RosMessage>() -> Self {
        Self { name: M::TYPE_NAME, definition: M::DEFINITION, hash: M::TYPE_HASH }
    }
}

/// A Rust type that goes over the wire as a ROS message type without being its struct.
///
/// ```
/// use ringspin_messages::cdr::{self, CdrError};
/// use ringspin_messages::std_msgs::msg::Float64;
/// use ringspin_messages::{CdrMapping, CdrType, RosType};
/// #[derive(Debug, PartialEq)]
/// struct Metres(f64);
/// enum AsFloat {}
/// impl CdrMapping for AsFloat {
///     type Rust = Metres;
///     const ROS_TYPE: RosType = RosType::of::<Float64>();
///     fn write(metres: &Metres, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
///         cdr::write(&Float64 { data: metres.0 }, bytes)
///     }
///     fn read(bytes: &[u8]) -> Result<Metres, CdrError> {
///         Ok(Metres(cdr::from_bytes::<Float64>(bytes)?.data))
///     }
/// }
/// let table = CdrType::mapped::<AsFloat>();
/// assert_eq!(table.name(), "std_msgs/msg/Float64");
/// # let (mut buffer, mut slot) = (Vec::new(), None);
/// # table.read(table.serialize(&Metres(1.5), &mut buffer)?, &mut slot)?;
/// # assert_eq!(slot, Some(Metres(1.5)));
/// # Ok::<(), CdrError>(())
/// ```
pub trait CdrMapping: 'static {
    /// The type in the program.
    type Rust: Send + Sync + 'static;
    /// The type on the wire.
    const ROS_TYPE: RosType;
    /// The check of the type's messages before they are published. None by default: a message that
    /// does not fit is then refused where it is serialized.
    const CHECK: Option<MessageCheck> = None;

    /// Replaces the content of `bytes` by the serialization of `message`, as [`cdr::write`] does.
    ///
    /// # Errors
    /// For a message that does not fit the ROS type.
    fn write(message: &Self::Rust, bytes: &mut Vec<u8>) -> Result<(), CdrError>;

    /// The message in `bytes`, which may come from any process.
    ///
    /// # Errors
    /// For bytes that are no such message.
    fn read(bytes: &[u8]) -> Result<Self::Rust, CdrError>;
}

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
/// let mut buffer = Vec::new();
/// let bytes = table.serialize(&Metres { data: 1.5 }, &mut buffer)?;
/// let mut slot = None::<Metres>;
/// table.read(bytes, &mut slot)?;
/// assert_eq!(slot, Some(Metres { data: 1.5 }));
/// # Ok::<(), ringspin_messages::cdr::CdrError>(())
/// ```
pub struct CdrType {
    ros_type: RosType,
    rust_type: TypeId,
    slot_type: TypeId,
    serialize: Serialize,
    read: Read,
    check: Option<MessageCheck>,
}

/// A message type as itself.
struct Itself<M>(M);

impl<M: RosMessage> CdrMapping for Itself<M> {
    type Rust = M;
    const ROS_TYPE: RosType = RosType::of::<M>();
    const CHECK: Option<MessageCheck> = Some(check::<M>);

    fn write(message: &M, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
        cdr::write(message, bytes)
    }

    fn read(bytes: &[u8]) -> Result<M, CdrError> {
        cdr::from_bytes(bytes)
    }
}

impl CdrType {
    /// The table of `M`.
    pub const fn of<M: RosMessage>() -> &'static Self {
        Self::mapped::<Itself<M>>()
    }

    /// The table of a Rust type and the ROS type that it goes as.
    pub const fn mapped<M: CdrMapping>() -> &'static Self {
        const {
            &Self {
                ros_type: M::ROS_TYPE,
                rust_type: TypeId::of::<M::Rust>(),
                slot_type: TypeId::of::<Option<M::Rust>>(),
                serialize: |message, buffer| {
                    M::write(message.downcast_ref().ok_or_else(other_type)?, buffer)?;
                    Ok(buffer)
                },
                read: |bytes, slot| {
                    let slot = slot.downcast_mut::<Option<M::Rust>>().ok_or_else(other_type)?;
                    *slot = Some(M::read(bytes)?);
                    Ok(())
                },
                check: M::CHECK,
            }
        }
    }

    /// The table of [`RawMessage`], which stands for any ROS type: name, definition and hash are
    /// empty, and bytes stay as they are.
    pub const fn raw() -> &'static Self {
        const {
            &Self {
                ros_type: RosType { name: "", definition: "", hash: "" },
                rust_type: TypeId::of::<RawMessage>(),
                slot_type: TypeId::of::<Option<RawMessage>>(),
                serialize: |message, _| {
                    let message = message.downcast_ref::<RawMessage>().ok_or_else(other_type)?;
                    Ok(&message.0)
                },
                read: |bytes, slot| {
                    let slot = slot.downcast_mut::<Option<RawMessage>>().ok_or_else(other_type)?;
                    *slot = Some(RawMessage(bytes.to_vec()));
                    Ok(())
                },
                check: None,
            }
        }
    }

    /// The table of the same Rust type under the name `ros_type`: for a Rust type that holds the
    /// bytes of any ROS type, the name of which is known at run time.
    pub const fn with_ros_type(&self, ros_type: RosType) -> Self {
        Self { ros_type, ..*self }
    }

    /// The name of the ROS type, such as `sensor_msgs/msg/Imu`.
    pub const fn name(&self) -> &'static str {
        self.ros_type.name
    }

    /// The definition, as [`RosMessage::DEFINITION`].
    pub const fn definition(&self) -> &'static str {
        self.ros_type.definition
    }

    /// The hash of the ROS type, as [`RosMessage::TYPE_HASH`].
    pub const fn hash(&self) -> &'static str {
        self.ros_type.hash
    }

    /// The Rust type.
    pub const fn rust_type(&self) -> TypeId {
        self.rust_type
    }

    /// The items of `topic` in a flight record.
    pub fn channel(&self, topic: &str) -> RemoteChannel {
        RemoteChannel {
            topic: topic.into(),
            type_name: self.name().into(),
            definition: self.definition().into(),
            type_hash: self.hash().into(),
        }
    }

    /// The check of messages before they are published; `None` where each value can be serialized,
    /// or a [mapping](CdrMapping::CHECK) has none.
    pub fn check(&self) -> Option<MessageCheck> {
        self.check.filter(|_| has_limits(self.definition()))
    }

    /// Whether `slot` is an `Option` of the Rust type, which [`read`](Self::read) needs.
    pub fn fits_slot(&self, slot: &dyn Any) -> bool {
        slot.type_id() == self.slot_type
    }

    /// The serialization of `message`, with its header: in `buffer`, replacing its content, or
    /// where it is already. Nothing is allocated where the buffer has room.
    ///
    /// # Errors
    /// [`CdrError::OtherType`] for a message of another Rust type, and as [`cdr::to_bytes`].
    pub fn serialize<'a>(
        &self,
        message: &'a dyn Any,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], CdrError> {
        (self.serialize)(message, buffer)
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
        f.debug_tuple("CdrType").field(&self.name()).finish()
    }
}

/// The table of a service type.
#[derive(Debug)]
pub struct CdrService {
    name: &'static str,
    hash: &'static str,
    request: &'static CdrType,
    response: &'static CdrType,
}

impl CdrService {
    /// The table of `S`.
    pub const fn of<S: RosService>() -> &'static Self {
        Self::mapped::<S, Itself<S::Request>, Itself<S::Response>>()
    }

    /// The table of two Rust types that go over the wire as the request and the response of `S`.
    pub const fn mapped<S: RosService, Q: CdrMapping, P: CdrMapping>() -> &'static Self {
        const {
            &Self {
                name: S::TYPE_NAME,
                hash: S::TYPE_HASH,
                request: CdrType::mapped::<Q>(),
                response: CdrType::mapped::<P>(),
            }
        }
    }

    /// The table of a service whose requests and responses are [`RawMessage`]s.
    pub const fn raw() -> &'static Self {
        const { &Self { name: "", hash: "", request: CdrType::raw(), response: CdrType::raw() } }
    }

    /// The name of the ROS type, such as `std_srvs/srv/SetBool`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The hash of the ROS type, as [`RosService::TYPE_HASH`].
    pub const fn hash(&self) -> &'static str {
        self.hash
    }

    /// The requests of `service` in a flight record.
    pub fn request_channel(&self, service: &str) -> RemoteChannel {
        self.request.channel(&format!("{service}/_request"))
    }

    /// The responses of `service` in a flight record.
    pub fn response_channel(&self, service: &str) -> RemoteChannel {
        self.response.channel(&format!("{service}/_response"))
    }

    /// The table of the request.
    pub const fn request(&self) -> &'static CdrType {
        self.request
    }

    /// The table of the response.
    pub const fn response(&self) -> &'static CdrType {
        self.response
    }
}

fn other_type() -> CdrError {
    CdrError::OtherType
}
