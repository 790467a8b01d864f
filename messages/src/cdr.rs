//! Serialized messages: OMG CDR with its header of four bytes, as ROS 2 and its recordings have it.

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

/// A message that cannot be serialized or deserialized.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CdrError {
    /// The bytes are no message of this type.
    #[error("failed to deserialize a message: {0}; the data is damaged or of another type")]
    Deserialize(String),
    /// The value has no serialization.
    #[error("failed to serialize a message: {0}")]
    Serialize(String),
}

/// The serialization of `message`, little-endian, with its header.
///
/// # Errors
/// [`CdrError::Serialize`] for a value that its definition does not allow.
pub fn to_bytes<M: Serialize>(message: &M) -> Result<Vec<u8>, CdrError> {
    let mut bytes = vec![0, 1, 0, 0];
    let serialized = cdr_encoding::to_vec::<M, byteorder::LittleEndian>(message);
    bytes.extend(serialized.map_err(|error| CdrError::Serialize(error.to_string()))?);
    Ok(bytes)
}

/// Deserializes a message, with its header, of either byte order.
///
/// # Errors
/// [`CdrError::Deserialize`].
pub fn from_bytes<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, CdrError> {
    let failed = |error: String| CdrError::Deserialize(error);
    let (header, body) =
        bytes.split_first_chunk::<4>().ok_or_else(|| failed("no header".into()))?;
    let read = match header[1] {
        0 => cdr_encoding::from_bytes::<M, byteorder::BigEndian>(body),
        1 => cdr_encoding::from_bytes::<M, byteorder::LittleEndian>(body),
        other => return Err(failed(format!("unknown encapsulation {other}"))),
    };
    read.map(|(message, _)| message).map_err(|error| failed(error.to_string()))
}
