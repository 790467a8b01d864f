//! rosbag2 recordings: reading, writing, and replay through the nodes of a graph.

#![forbid(unsafe_code)]

mod recording;

pub use recording::{Definition, Record, Topic, TopicId};
