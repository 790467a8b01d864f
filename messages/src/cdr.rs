//! Serialized messages: OMG CDR with its header of four bytes, as ROS 2 and its recordings have it.

mod deserializer;
mod serializer;

use deserializer::Deserializer;
use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed};
use serializer::{Buffer, NoBuffer, Serializer};
use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use thiserror::Error;

/// A message that cannot be serialized or deserialized.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CdrError {
    /// The bytes are no message of this type.
    #[error(
        "failed to deserialize {bytes} bytes as {rust_type}: {cause}; the data is damaged or of \
         another type"
    )]
    Deserialize {
        /// The Rust type.
        rust_type: &'static str,
        /// The length of the data.
        bytes: usize,
        /// The reason.
        cause: String,
    },
    /// The header names a serialization other than plain CDR.
    #[error(
        "failed to deserialize a message: its encapsulation is {0:#06x} ({name}), but only plain \
         CDR (0x0000 and 0x0001) is supported; let the writer use XCDR version 1 and final types",
        name = encapsulation(*.0)
    )]
    Encapsulation(u16),
    /// A value of another Rust type than that of its [`CdrType`](crate::CdrType).
    #[error("the value has another Rust type than the table; use the table of its type")]
    OtherType,
    /// The value has no serialization.
    #[error("failed to serialize {rust_type}: {cause}")]
    Serialize {
        /// The Rust type.
        rust_type: &'static str,
        /// The reason, with the field.
        cause: String,
    },
}

/// Is the same as `Display`, because `main` and `unwrap` print it.
impl fmt::Debug for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of an encapsulation.
fn encapsulation(id: u16) -> &'static str {
    match id {
        2 | 3 => "parameter list CDR",
        6 | 7 => "XCDR version 2",
        8 | 9 => "delimited XCDR version 2",
        10 | 11 => "parameter list XCDR version 2",
        _ => "unknown",
    }
}

/// The serialization of `message`, little-endian, with its header.
///
/// # Errors
/// [`CdrError::Serialize`] for an array or string with a length that the definition does not allow,
/// and for a string with a NUL character.
pub fn to_bytes<M: Serialize>(message: &M) -> Result<Vec<u8>, CdrError> {
    let mut bytes = Vec::new();
    write(message, &mut bytes)?;
    Ok(bytes)
}

/// Replaces the content of `bytes` by the serialization of `message`: [`to_bytes`] without an
/// allocation where the buffer has room. On an error the content is unspecified.
///
/// # Errors
/// [`CdrError::Serialize`] for an array or string with a length that the definition does not allow,
/// and for a string with a NUL character.
pub fn write<M: Serialize>(message: &M, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
    bytes.clear();
    bytes.extend_from_slice(&[0, 1, 0, 0]);
    serialize(message, bytes)
}

/// Checks that `message` has a serialization, without one: in a time for its strings, and for its
/// elements that are messages with strings, but not for numbers.
///
/// ```
/// use ringspin_messages::{cdr, sensor_msgs::msg::Imu};
/// let mut imu = Imu::default();
/// assert!(cdr::check(&imu).is_ok());
/// imu.orientation_covariance.truncate(3);
/// let error = cdr::check(&imu).unwrap_err().to_string();
/// assert!(error.contains("field `orientation_covariance`"), "{error}");
/// ```
///
/// # Errors
/// [`CdrError::Serialize`], as [`to_bytes`] does.
pub fn check<M: Serialize>(message: &M) -> Result<(), CdrError> {
    serialize(message, &mut NoBuffer)
}

fn serialize<M: Serialize, B: Buffer>(message: &M, bytes: &mut B) -> Result<(), CdrError> {
    message.serialize(&mut Serializer::new(bytes)).map_err(|error| {
        let (rust_type, cause) = (type_name::<M>(), error.to_string());
        CdrError::Serialize { rust_type, cause }
    })
}

/// Deserializes a message, with its header, of either byte order. Memory is allocated only for data
/// that is there, regardless of the lengths in it.
///
/// Bytes after the message are ignored: ROS 2 estimates lengths, and sends as many bytes.
///
/// # Errors
/// [`CdrError::Deserialize`] for data that ends too early, or has values that the definition does
/// not allow; [`CdrError::Encapsulation`].
pub fn from_bytes<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, CdrError> {
    from_bytes_seed(PhantomData::<M>, type_name::<M>(), bytes)
}

/// Deserializes like [`from_bytes`], a value for which `seed` knows its type; errors name it
/// `type_name`.
///
/// # Errors
/// The errors of [`from_bytes`].
pub fn from_bytes_seed<'de, S: DeserializeSeed<'de>>(
    seed: S,
    type_name: &'static str,
    bytes: &'de [u8],
) -> Result<S::Value, CdrError> {
    let failed = |cause| CdrError::Deserialize { rust_type: type_name, bytes: bytes.len(), cause };
    let (header, body) =
        bytes.split_first_chunk::<4>().ok_or_else(|| failed("it has no header".into()))?;
    let read = match u16::from_be_bytes([header[0], header[1]]) {
        0 => seed.deserialize(&mut Deserializer::<true>::new(body)),
        1 => seed.deserialize(&mut Deserializer::<false>::new(body)),
        other => return Err(CdrError::Encapsulation(other)),
    };
    read.map_err(|error| failed(error.to_string()))
}
