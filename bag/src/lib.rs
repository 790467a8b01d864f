//! rosbag2 recordings: reading, writing, and replay through the nodes of a graph.

#![forbid(unsafe_code)]

mod bag;
mod channel;
pub mod closed_loop;
pub mod diff;
mod dynamic;
mod error;
mod evolution;
mod inlet;
mod interfaces;
mod limits;
mod mcap_file;
mod memory;
mod merge;
mod message_types;
mod metadata;
mod outlet;
mod player;
mod qos;
mod read;
mod recorder;
mod recording;
mod requester;
mod source;
mod sqlite_file;
mod value;
mod writer;
mod writer_thread;

pub use bag::{Bag, BagFile};
pub use dynamic::{Differences, FieldDifference, MessageComparer};
pub use evolution::Migration;
pub use interfaces::{RecordSink, RecordSource, Records};
pub use limits::{
    CHUNK_BYTES_MAX, DESCRIPTION_BYTES_MAX, FILE_BYTES_FREE, FILE_RATIO_MAX, INDEX_BYTES_MAX,
    MESSAGE_BYTES_MAX, OPEN_BYTES_MAX,
};
pub use memory::{MemoryRecording, MemorySink, SharedRecording};
pub use message_types::MessageTypes;
pub use player::{PlayReport, Player, PlayerHandle, TimeBase};
pub use qos::qos_overrides;
pub use read::{Order, ReadOptions, Reader};
pub use recorder::{RecordReport, RecordedTopic, Recorder, RecorderHandle};
pub use recording::{Definition, Record, Topic, TopicId};
pub use value::{DecodedMessage, MessageDecoder};
pub use writer::{Compression, WriteOptions, Writer};
pub use writer_thread::{RingFull, WriterThread};
