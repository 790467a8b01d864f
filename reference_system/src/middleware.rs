//! The reference system over a real ROS 2.
//!
//! A message goes over the wire as `reference_interfaces/msg/Message4kb`, the type that upstream's
//! nodes publish. Its package is in `reference_system/reference_interfaces`.

use ringspin_executor::BoxError;
use ringspin_modes::Executor;

/// The path of messages between the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
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

/// Connects `executor`. Its graph must be empty.
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
fn connect_ros2(executor: Executor, _: Middleware) -> Result<Executor, BoxError> {
    Ok(executor.connected(ringspin_modes::Connection::Ros2)?) // refuses, and says why
}

#[cfg(feature = "ros2")]
fn connect_ros2(executor: Executor, middleware: Middleware) -> Result<Executor, BoxError> {
    use ringspin_messages::CdrType;
    use ringspin_ros2::{Ros2, Traffic, Types};
    let traffic = match middleware {
        Middleware::Hybrid => Traffic::Direct,
        Middleware::None | Middleware::Ros2 => Traffic::Loopback,
    };
    let types = Types::installed().with_table(CdrType::mapped::<WireMessage>());
    // Upstream's nodes have parameter services, but no figure depends on them.
    let ros2 = Ros2::builder().traffic(traffic).types(types).parameter_services(false);
    Ok(executor.with_middleware(std::sync::Arc::new(ros2.connect()?))?)
}

#[cfg(feature = "ros2")]
mod wire {
    use crate::message::{Message4kb, TransmissionStats};
    use ringspin_messages::cdr::CdrError;
    use ringspin_messages::{CdrMapping, RosType};

    /// Serialization of a [`Message4kb`] as `reference_interfaces/msg/Message4kb`: its own layout,
    /// since all of its fields are aligned.
    #[derive(Debug)]
    pub enum WireMessage {}

    impl CdrMapping for WireMessage {
        type Rust = Message4kb;
        const ROS_TYPE: RosType = RosType {
            name: "reference_interfaces/msg/Message4kb",
            definition: concat!(
                "uint64 size\nTransmissionStats[63] stats\nint64[7] data\n\n",
                "========================================",
                "========================================\n",
                "MSG: reference_interfaces/TransmissionStats\n",
                "uint64 timestamp\nuint32 sequence_number\nuint32 dropped_samples\n",
                "uint8[48] node_name\n",
            ),
            hash: "RIHS01_389a27c3daee68d4804c0f103f047fa4e9f8149ec8a57a0a325a6556d87ad486",
        };

        fn write(message: &Message4kb, bytes: &mut Vec<u8>) -> Result<(), CdrError> {
            bytes.clear();
            bytes.extend_from_slice(&[0, 1, 0, 0]);
            bytes.extend_from_slice(&message.size.to_le_bytes());
            for entry in &message.stats {
                bytes.extend_from_slice(&entry.timestamp.to_le_bytes());
                bytes.extend_from_slice(&entry.sequence_number.to_le_bytes());
                bytes.extend_from_slice(&entry.dropped_samples.to_le_bytes());
                bytes.extend_from_slice(&entry.node_name);
            }
            message.data.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            Ok(())
        }

        fn read(bytes: &[u8]) -> Result<Message4kb, CdrError> {
            let mut bytes = Bytes(bytes);
            let message = bytes.message();
            message.ok_or(CdrError::Deserialize {
                rust_type: "Message4kb",
                bytes: bytes.0.len(),
                cause: "it ends early, or is not little-endian".into(),
            })
        }
    }

    /// The bytes that are not read yet.
    struct Bytes<'a>(&'a [u8]);

    impl Bytes<'_> {
        fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
            let (taken, rest) = self.0.split_first_chunk()?;
            self.0 = rest;
            Some(*taken)
        }

        fn message(&mut self) -> Option<Message4kb> {
            let [0, 1, _, _] = self.take()? else { return None };
            let mut message = Message4kb::new();
            message.size = u64::from_le_bytes(self.take()?);
            for entry in &mut message.stats {
                *entry = TransmissionStats {
                    timestamp: u64::from_le_bytes(self.take()?),
                    sequence_number: u32::from_le_bytes(self.take()?),
                    dropped_samples: u32::from_le_bytes(self.take()?),
                    node_name: self.take()?,
                };
            }
            for number in &mut message.data {
                *number = i64::from_le_bytes(self.take()?);
            }
            Some(message)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::message::NodeName;
        use ringspin_ros2::rcl::check_type_hash;

        #[test]
        fn message_is_the_same_after_the_wire() {
            let mut message = Message4kb::new();
            for number in 0..63 {
                let name = NodeName::new(&format!("node{number}")).unwrap();
                message.append(&name, number, u32::MAX - number, u64::MAX - u64::from(number));
            }
            message.data = [1, -2, 3, i64::MIN, i64::MAX, 6, 7];
            let mut bytes = Vec::new();
            for message in [message, Message4kb::new()] {
                WireMessage::write(&message, &mut bytes).unwrap();
                assert_eq!(bytes.len(), 4 + 4096);
                assert_eq!(WireMessage::read(&bytes).unwrap(), message);
            }
            assert!(WireMessage::read(&bytes[..4000]).is_err());
            bytes[1] = 0; // big-endian
            assert!(WireMessage::read(&bytes).is_err());
        }

        #[test]
        fn the_sourced_ros_defines_the_message_alike() {
            check_type_hash(WireMessage::ROS_TYPE.name, WireMessage::ROS_TYPE.hash).unwrap();
        }
    }
}

#[cfg(feature = "ros2")]
pub use wire::WireMessage;
