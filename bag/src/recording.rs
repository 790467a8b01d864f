//! The content of recordings, in any file format.

use ringspin_executor::{Durability, QoS, Reliability, Time};
use ringspin_message_generator::{TypeName, parse_schema};
use ringspin_messages::RosMessage;

/// The largest depth of a publisher that is taken over from a recording.
const DEPTH_MAX: usize = 1000;

/// The index of a topic within a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(
    /// Zero-based, in the order of [`Topic`]s.
    pub usize,
);

/// A recorded topic. Several publishers of a topic are one topic here.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// The fully qualified name. A [`Bag`](crate::Bag) adds the slash to a name that was recorded
    /// without one, as `ros2 bag play` does.
    pub name: String,
    /// The type of its messages, such as `sensor_msgs/msg/Imu`.
    pub type_name: String,
    /// The hash of the type (`RIHS01_...`), if the recording has it.
    pub type_hash: Option<String>,
    /// The definition of the type, if the recording has it.
    pub definition: Option<Definition>,
    /// The serialization of its messages; `cdr` for ROS 2.
    pub serialization_format: String,
    /// The QoS of each recorded publisher, if the recording has it.
    pub offered_qos: Vec<QoS>,
}

impl Topic {
    /// The topic `name` with messages of type `M`, offered with `qos`.
    pub fn of<M: RosMessage>(name: impl Into<String>, qos: QoS) -> Self {
        let (encoding, text) = ("ros2msg".into(), M::DEFINITION.into());
        Self {
            name: name.into(),
            type_name: M::TYPE_NAME.into(),
            type_hash: Some(M::TYPE_HASH.into()),
            definition: Some(Definition { encoding, text }),
            serialization_format: "cdr".into(),
            offered_qos: vec![qos],
        }
    }

    /// The QoS with which it is played: compatible with every subscription that one of the recorded
    /// offers is compatible with, the strongest of each policy. It keeps as many messages for
    /// subscriptions that join later as the recorded publishers kept together, such as those of
    /// `/tf_static`.
    pub fn offer(&self) -> QoS {
        let offered = &self.offered_qos;
        let latched = offered.iter().filter(|qos| qos.durability() == Durability::TransientLocal);
        let depth = offered.iter().map(QoS::depth).max().max(Some(latched.map(QoS::depth).sum()));
        // A depth of zero stands for the default of the middleware.
        let depth =
            depth.filter(|depth| *depth > 0).unwrap_or(QoS::default().depth()).min(DEPTH_MAX);
        let mut qos = QoS::keep_last(depth);
        let any = |offers: fn(&QoS) -> bool| offered.iter().any(offers);
        if !offered.is_empty() && !any(|qos| qos.reliability() == Reliability::Reliable) {
            qos = qos.best_effort();
        }
        if any(|qos| qos.durability() == Durability::TransientLocal) {
            qos = qos.transient_local();
        }
        if let Some(deadline) = offered.iter().filter_map(QoS::deadline_period).min() {
            qos = qos.deadline(deadline);
        }
        qos
    }

    /// The hash of the type: the recorded one, else that of the recorded definition, as recordings
    /// before ROS 2 Iron have it. `None` if there is neither, or the definition cannot be parsed.
    pub fn hash(&self) -> Option<String> {
        if let Some(hash) = &self.type_hash {
            return Some(hash.clone());
        }
        let Definition { encoding, text } = self.definition.as_ref()?;
        // Recorders that have not found a definition store an empty one.
        if encoding != "ros2msg" || text.trim().is_empty() {
            return None;
        }
        let name = TypeName::parse(&self.type_name)?;
        parse_schema(&name, text, &self.name).ok()?.type_hash(&name)
    }
}

/// A topic name with its leading slash.
pub(crate) fn absolute(name: impl Into<String>) -> String {
    let name = name.into();
    if name.starts_with('/') { name } else { format!("/{name}") }
}

/// The definition of a message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The language of the text: `ros2msg` or `ros2idl`.
    pub encoding: String,
    /// The text.
    pub text: String,
}

/// A recorded message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its topic.
    pub topic: TopicId,
    /// The time of its reception by the recorder.
    pub log_time: Time,
    /// The time of its publication. SQLite files have the time of its reception only, which is then
    /// here too.
    pub publish_time: Time,
    /// The number of the message within its publisher; zero if the recording has none.
    pub sequence: u32,
    /// The message as it was serialized, with its header.
    pub data: Vec<u8>,
}
