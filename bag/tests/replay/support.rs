//! Message types, and recordings in memory.

use ringspin_bag::{
    MemoryRecording, MessageTypes, Player, PlayerHandle, Record, Recorder, SharedRecording, Topic,
    TopicId,
};
use ringspin_executor::{BoxError, Digest, Graph, QoS, Time};
use ringspin_messages::{RosMessage, cdr};
use serde::{Deserialize, Serialize};

pub(crate) const MS: std::time::Duration = std::time::Duration::from_millis(1);

/// A time of a recording: these begin long after the zero of clocks.
pub(crate) fn ms(n: u64) -> Time {
    Time::from_nanos(1_600_000_000_000_000_000 + n * 1_000_000)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Digest)]
#[digest(crate = "ringspin_executor")]
pub(crate) struct Number {
    pub(crate) value: u32,
}

impl RosMessage for Number {
    const TYPE_NAME: &'static str = "test_msgs/msg/Number";
    const DEFINITION: &'static str = "uint32 value";
    const TYPE_HASH: &'static str = "RIHS01_aa";
}

/// A message with a header, as `std_msgs/msg/Header` is serialized.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stamped {
    pub(crate) sec: i32,
    pub(crate) nanosec: u32,
    pub(crate) frame_id: String,
    pub(crate) value: u32,
}

impl RosMessage for Stamped {
    const TYPE_NAME: &'static str = "test_msgs/msg/Stamped";
    const DEFINITION: &'static str = "std_msgs/Header header\nuint32 value";
    const TYPE_HASH: &'static str = "RIHS01_bb";
}

pub(crate) fn types() -> MessageTypes {
    MessageTypes::new().with::<Number>().with::<Stamped>()
}

/// A topic with messages of type `M`.
pub(crate) fn topic<M: RosMessage>(name: &str) -> Topic {
    Topic {
        name: name.into(),
        type_name: M::TYPE_NAME.into(),
        type_hash: Some(M::TYPE_HASH.into()),
        definition: None,
        serialization_format: "cdr".into(),
        offered_qos: vec![QoS::default()],
    }
}

/// A message of topic `topic`, received at `time` and published half a millisecond before.
pub(crate) fn record<M: Serialize>(topic: usize, time: Time, sequence: u32, message: &M) -> Record {
    Record {
        topic: TopicId(topic),
        log_time: time,
        publish_time: Time::from_nanos(time.as_nanos() - 500_000),
        sequence,
        data: cdr::to_bytes(message).unwrap(),
    }
}

/// A recording of numbers on one topic.
pub(crate) fn numbers(topic_name: &str, items: &[(u64, u32)]) -> MemoryRecording {
    let records = items.iter().enumerate();
    let records =
        records.map(|(n, (at, value))| record(0, ms(*at), n as u32, &Number { value: *value }));
    MemoryRecording { topics: vec![topic::<Number>(topic_name)], records: records.collect() }
}

/// Adds the player and a recorder of all topics to a graph with the nodes.
pub(crate) fn replay(
    graph: &Graph,
    player: &Player,
) -> Result<(PlayerHandle, ringspin_bag::RecorderHandle, SharedRecording), BoxError> {
    let handle = player.add_to(graph, &types())?;
    let (sink, recording) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).raw_topics(handle.raw_topics()).add_to(graph, &types())?;
    Ok((handle, recorder, recording))
}
