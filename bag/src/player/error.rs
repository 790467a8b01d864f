//! Errors of the player.

use ringspin_executor::{AddInputError, BoxError, CreateNodeError};
use thiserror::Error;

/// The reason why recordings cannot be played.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A recording cannot be read.
    #[error("failed to read {recording}: {error}")]
    Read {
        /// The recording.
        recording: String,
        /// The reason.
        error: BoxError,
    },
    /// A setting names a topic that was not recorded.
    #[error(
        "failed to play topic {topic}: it is not in the recording, which has {}", topics.join(", ")
    )]
    UnknownTopic {
        /// The topic.
        topic: String,
        /// The recorded topics.
        topics: Vec<String>,
    },
    /// A node and the recording disagree about the type of a topic.
    #[error(
        "failed to play topic {topic}: it was recorded with type {recorded} ({}), but a node of \
         the graph has type {expected} ({expected_hash}); build the node with the recorded \
         definition, or exclude or remap the topic",
        hash(recorded_hash)
    )]
    TypeMismatch {
        /// The topic, by its name in the graph.
        topic: String,
        /// The name of the recorded type.
        recorded: String,
        /// Its hash, if the recording has it or its definition.
        recorded_hash: Option<String>,
        /// The name of the type in the graph.
        expected: String,
        /// Its hash.
        expected_hash: String,
    },
    /// A node has messages without a ROS type on a topic.
    #[error(
        "failed to play topic {topic}: it was recorded with type {recorded}, but a node of the \
         graph has messages of type {rust_type}, which is no known ROS message; add the type by \
         `MessageTypes::with`, or exclude or remap the topic"
    )]
    UnknownType {
        /// The topic, by its name in the graph.
        topic: String,
        /// The name of the recorded type.
        recorded: String,
        /// The type in Rust.
        rust_type: String,
    },
    /// A topic was recorded with two types.
    #[error(
        "failed to play topic {topic}: it was recorded with type {first} ({}) and with type \
         {second} ({}); exclude or remap one of them",
        hash(first_hash),
        hash(second_hash)
    )]
    TwoTypes {
        /// The topic, by its name in the graph.
        topic: String,
        /// The one type.
        first: String,
        /// Its hash, if the recording has it or its definition.
        first_hash: Option<String>,
        /// The other type.
        second: String,
        /// Its hash, if the recording has it or its definition.
        second_hash: Option<String>,
    },
    /// The messages of a topic are not in CDR.
    #[error(
        "failed to play topic {topic}: its messages are serialized as {format:?}, not as \"cdr\"; \
         exclude the topic, or convert the recording"
    )]
    Format {
        /// The topic, by its name in the graph.
        topic: String,
        /// The recorded serialization.
        format: String,
    },
    /// The rate is no speed.
    #[error(
        "failed to play at rate {0}: it is not a positive number; use 1.0 for the recorded speed"
    )]
    Rate(f64),
    /// The clock has no period.
    #[error("failed to publish /clock: its period is zero; use 25 ms for 40 Hz")]
    ClockPeriod,
    /// The node was not created.
    #[error("failed to play: {0}")]
    Node(#[from] CreateNodeError),
    /// A publisher or client was not created.
    #[error("failed to play topic {topic}: {error}")]
    Create {
        /// The topic.
        topic: String,
        /// The reason.
        error: BoxError,
    },
    /// The graph has a player already, or runs.
    #[error("failed to play: {0}")]
    Input(#[from] AddInputError),
}

/// A hash as errors show it.
fn hash(hash: &Option<String>) -> &str {
    hash.as_deref().unwrap_or("hash not recorded")
}
