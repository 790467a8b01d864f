//! The API of `rosidl_runtime_rs` 0.7.0 in Rust alone, without C and without a ROS installation:
//! the strings and sequences of message structs, and the traits of messages, services and actions.
//!
//! The types are for `rclrs` and for generated code. Strings and sequences own Rust memory, so the
//! conversion to an RMW message only moves most fields. All types implement serde's traits and
//! [`Digest`](ringspin_executor::Digest) in the same form as the plain Rust types, so a message in
//! any form has the same CDR bytes.

#![forbid(unsafe_code)]

mod bounded_string;
mod convert;
mod error;
mod macros;
mod sequence;
mod string;
mod traits;

pub use bounded_string::{BoundedString, BoundedWString};
#[doc(hidden)]
pub use convert::Convert;
pub use error::{SequenceExceedsBoundsError, StringExceedsBoundsError};
#[doc(hidden)]
pub use ringspin_messages;
pub use sequence::{BoundedSequence, Sequence};
pub use string::{String, WString};
pub use traits::*;
