//! Messages as bytes, for types known by name only.

use ringspin_executor::Digest;

/// A serialized message: for ROS 2 CDR, with its header of four bytes.
///
/// Topics of types that a program has no struct for carry it: in replays and recordings, and over
/// ROS 2 after `Ros2::carry_raw`. Within the process it is a message like any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Digest)]
#[digest(crate = "ringspin_executor")]
pub struct RawMessage(pub Vec<u8>);
