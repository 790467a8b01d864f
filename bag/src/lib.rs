//! rosbag2 recordings: reading, writing, and replay through the nodes of a graph.

#![forbid(unsafe_code)]

pub mod diff;
mod dynamic;
mod recording;

pub use dynamic::{DecodeError, DefinitionUseError, Differences, FieldDifference, MessageComparer};
pub use recording::{Definition, Record, Topic, TopicId};
