//! The reference system over a real ROS 2.
//!
//! Upstream's `reference_interfaces/msg/Message4kb` comes with no ROS distribution, so a message
//! goes over the wire as 4096 bytes of `std_msgs/msg/UInt8MultiArray`, in the layout of
//! `Message4kb`: the serialized size differs by its 12 bytes of layout and length.

use ringspin_executor::BoxError;
use ringspin_modes::Executor;
use std::str::FromStr;

/// The path of messages between the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Middleware {
    /// Through the process only.
    #[default]
    None,
    /// Every hop through ROS 2, like rclcpp without intra-process communication.
    Ros2,
    /// Directly between the nodes, and to other processes through ROS 2.
    Hybrid,
}

impl Middleware {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ros2 => "ros2",
            Self::Hybrid => "hybrid",
        }
    }
}

impl FromStr for Middleware {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::None, Self::Ros2, Self::Hybrid];
        let found = all.into_iter().find(|middleware| middleware.name() == name);
        found.ok_or_else(|| format!("unknown middleware {name:?}: use `none`, `ros2` or `hybrid`"))
    }
}

/// Connects `executor`, whose graph must be empty.
///
/// # Errors
/// An error if ROS 2 is unavailable, or the program was built without it.
pub fn connect(executor: Executor, middleware: Middleware) -> Result<Executor, BoxError> {
    match middleware {
        Middleware::None => Ok(executor),
        Middleware::Ros2 | Middleware::Hybrid => connect_ros2(executor, middleware),
    }
}

#[cfg(not(feature = "ros2"))]
fn connect_ros2(_: Executor, _: Middleware) -> Result<Executor, BoxError> {
    Err(ringspin_modes::ConnectionError::NotBuilt.into())
}

#[cfg(feature = "ros2")]
fn connect_ros2(executor: Executor, middleware: Middleware) -> Result<Executor, BoxError> {
    use ringspin_ros2::{Ros2, Traffic, Types};
    let traffic = match middleware {
        Middleware::Hybrid => Traffic::Direct,
        Middleware::None | Middleware::Ros2 => Traffic::Loopback,
    };
    let types = Types::installed().with_mapping::<wire::AsBytes>();
    // Upstream's nodes have parameter services, but no figure depends on them.
    let ros2 = Ros2::builder().traffic(traffic).types(types).parameter_services(false);
    Ok(executor.with_middleware(std::sync::Arc::new(ros2.connect()?))?)
}

#[cfg(feature = "ros2")]
mod wire {
    use crate::message::{BYTES, Message4kb};
    use ringspin_ros2::r2r::std_msgs::msg::UInt8MultiArray;
    use ringspin_ros2::rcl::{Mapping, RosMessage, octets, octets_mut};

    /// Type mapping of a message to its 4096 bytes.
    pub(super) enum AsBytes {}

    impl Mapping for AsBytes {
        type Rust = Message4kb;
        type Wire = UInt8MultiArray;

        fn to_wire(message: &Message4kb, wire: &mut <UInt8MultiArray as RosMessage>::Native) {
            let bytes = octets_mut(&mut wire.data, BYTES);
            message.write_to(bytes.try_into().expect("it has the length that was asked for"));
        }

        fn from_wire(wire: &<UInt8MultiArray as RosMessage>::Native) -> Message4kb {
            Message4kb::from_bytes(octets(&wire.data))
        }
    }
}
