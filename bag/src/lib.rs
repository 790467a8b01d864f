//! rosbag2 recordings: reading, writing, and replay through the nodes of a graph.

#![forbid(unsafe_code)]

mod inlet;
mod memory;
mod message_types;
mod outlet;
mod player;
mod recorder;
mod recording;
mod requester;
mod source;

pub use memory::{MemoryRecording, MemorySink, SharedRecording};
pub use message_types::MessageTypes;
pub use player::{PlayError, PlayReport, Player, PlayerHandle, TimeBase};
pub use recorder::{RecordError, RecordReport, RecordedTopic, Recorder, RecorderHandle};
pub use recording::{Definition, Record, Topic, TopicId};
pub use source::{Order, ReadOptions, RecordSink, RecordSource, Records};
