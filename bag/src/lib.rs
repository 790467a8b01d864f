//! rosbag2 recordings: reading, writing, and replay through the nodes of a graph.

#![forbid(unsafe_code)]

mod bag;
pub mod diff;
mod dynamic;
mod error;
mod limits;
mod mcap_file;
mod metadata;
mod qos;
mod read;
mod recording;
mod source;
mod sqlite_file;
mod writer;

pub use bag::{Bag, BagFile};
pub use dynamic::{DecodeError, DefinitionUseError, Differences, FieldDifference, MessageComparer};
pub use error::{FileError, OpenError, ReadError};
pub use limits::{
    CHUNK_BYTES_MAX, DESCRIPTION_BYTES_MAX, FILE_BYTES_FREE, FILE_RATIO_MAX, INDEX_BYTES_MAX,
    MESSAGE_BYTES_MAX, OPEN_BYTES_MAX,
};
pub use read::{Order, ReadOptions, Reader};
pub use recording::{Definition, Record, Topic, TopicId};
pub use writer::{Compression, WriteError, WriteOptions, Writer};
