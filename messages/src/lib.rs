//! ROS 2 messages as Rust structs, without a ROS installation and without C.

#![forbid(unsafe_code)]

pub mod cdr;
mod cdr_type;
mod raw;

pub use cdr_type::CdrType;
pub use raw::RawMessage;

use serde::{Serialize, de::DeserializeOwned};

/// A ROS 2 message type: a struct with the name, definition and hash of its type.
pub trait RosMessage: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the type, such as `sensor_msgs/msg/Imu`.
    const TYPE_NAME: &'static str;
    /// The definition as recordings store it (encoding `ros2msg`): the text of the type's own
    /// file, then the text of each type that it contains, separated by a line of `=` and a line
    /// `MSG: package/Type`.
    const DEFINITION: &'static str;
    /// The hash of the type in the form of REP 2016, such as `RIHS01_7d9a...`.
    const TYPE_HASH: &'static str;
}

/// A ROS 2 service type.
pub trait RosService: 'static {
    /// The name of the type, such as `std_srvs/srv/SetBool`.
    const TYPE_NAME: &'static str;
    /// The hash of the type.
    const TYPE_HASH: &'static str;
    /// The type of requests.
    type Request: RosMessage;
    /// The type of responses.
    type Response: RosMessage;
}
