//! The reference system over a real ROS 2.
//!
//! A message goes over the wire as `reference_interfaces/msg/Message4kb`, the type that upstream's
//! nodes publish. Its package is in `reference_system/reference_interfaces`.

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
    let types = Types::installed().with_mapping::<WireMessage>();
    // Upstream's nodes have parameter services, but no figure depends on them.
    let ros2 = Ros2::builder().traffic(traffic).types(types).parameter_services(false);
    Ok(executor.with_middleware(std::sync::Arc::new(ros2.connect()?))?)
}

#[cfg(feature = "ros2")]
mod wire {
    use crate::message::{Message4kb, TransmissionStats};
    use ringspin_ros2::r2r::reference_interfaces::msg::Message4kb as Wire;
    use ringspin_ros2::rcl::{Mapping, RosMessage};

    /// Type mapping of a [`Message4kb`] to `reference_interfaces/msg/Message4kb`.
    #[derive(Debug)]
    pub enum WireMessage {}

    impl Mapping for WireMessage {
        type Rust = Message4kb;
        type Wire = Wire;

        fn to_wire(message: &Message4kb, wire: &mut <Wire as RosMessage>::Native) {
            wire.size = message.size;
            for (to, entry) in wire.stats.iter_mut().zip(&message.stats) {
                to.timestamp = entry.timestamp;
                to.sequence_number = entry.sequence_number;
                to.dropped_samples = entry.dropped_samples;
                to.node_name = entry.node_name;
            }
            wire.data = message.data;
        }

        fn from_wire(wire: &<Wire as RosMessage>::Native) -> Message4kb {
            let stats = wire.stats.each_ref().map(|entry| TransmissionStats {
                timestamp: entry.timestamp,
                sequence_number: entry.sequence_number,
                dropped_samples: entry.dropped_samples,
                node_name: entry.node_name,
            });
            Message4kb { size: wire.size, stats, data: wire.data }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::message::NodeName;
        use ringspin_ros2::r2r::NativeMsg;

        #[test]
        fn message_is_the_same_after_the_wire() {
            let mut message = Message4kb::new();
            for number in 0..63 {
                let name = NodeName::new(&format!("node{number}")).unwrap();
                message.append(&name, number, u32::MAX - number, u64::MAX - u64::from(number));
            }
            message.data = [1, -2, 3, i64::MIN, i64::MAX, 6, 7];
            let mut native = NativeMsg::<Wire>::new();
            WireMessage::to_wire(&message, &mut native);
            assert_eq!(WireMessage::from_wire(&native), message);
            WireMessage::to_wire(&Message4kb::new(), &mut native);
            assert_eq!(WireMessage::from_wire(&native), Message4kb::new());
        }
    }
}

#[cfg(feature = "ros2")]
pub use wire::WireMessage;
