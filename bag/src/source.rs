//! Interfaces between nodes and recordings: the player reads from any source, the recorder writes
//! to any sink.

use crate::recording::{Record, Topic, TopicId};
use ringspin_executor::{BoxError, Time};

/// The order in which the messages of a recording are read. Messages of equal time stay in the
/// order in which they were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By the time of their reception by the recorder.
    #[default]
    LogTime,
    /// By the time of their publication.
    PublishTime,
}

/// The part of a recording that is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The topics; all of them if there is no list.
    pub topics: Option<Vec<TopicId>>,
    /// The first log time, inclusive.
    pub start: Option<Time>,
    /// The last log time, inclusive.
    pub end: Option<Time>,
    /// The order of the messages.
    pub order: Order,
}

/// The messages of a recording, one after the other. After an error there are no more.
pub type Records = Box<dyn Iterator<Item = Result<Record, BoxError>> + Send>;

/// A recording that can be played: a file, or messages in memory.
pub trait RecordSource: Send + Sync {
    /// A name for errors, such as the path.
    fn name(&self) -> String;

    /// The topics, indexed by [`TopicId`].
    fn topics(&self) -> &[Topic];

    /// The log time of the first message, if it is known.
    fn start(&self) -> Option<Time>;

    /// The log time of the last message, if it is known.
    fn end(&self) -> Option<Time>;

    /// Reads the messages that `options` select.
    ///
    /// # Errors
    /// The reason why the recording cannot be read.
    fn records(&self, options: &ReadOptions) -> Result<Records, BoxError>;
}

/// A recording that is being written. Calls come from one thread.
pub trait RecordSink: Send {
    /// Adds a topic, before its first message.
    ///
    /// # Errors
    /// The reason why it cannot be written.
    fn add_topic(&mut self, topic: &Topic) -> Result<TopicId, BoxError>;

    /// Appends a message.
    ///
    /// # Errors
    /// The reason why it cannot be written, such as a full disk.
    fn write(
        &mut self,
        topic: TopicId,
        log_time: Time,
        publish_time: Time,
        sequence: u32,
        data: &[u8],
    ) -> Result<(), BoxError>;

    /// Completes the recording.
    ///
    /// # Errors
    /// The reason why it cannot be completed.
    fn finish(self: Box<Self>) -> Result<(), BoxError>;
}
