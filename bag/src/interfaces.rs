//! Interfaces between nodes and recordings: the player reads from any source, the recorder writes
//! to any sink.

use crate::bag::Bag;
use crate::read::ReadOptions;
use crate::recording::{Record, Topic, TopicId};
use crate::writer::Writer;
use ringspin_executor::{BoxError, Time};

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

impl RecordSource for Bag {
    fn name(&self) -> String {
        self.path().display().to_string()
    }

    fn topics(&self) -> &[Topic] {
        self.topics()
    }

    fn start(&self) -> Option<Time> {
        self.start()
    }

    fn end(&self) -> Option<Time> {
        self.end()
    }

    fn records(&self, options: &ReadOptions) -> Result<Records, BoxError> {
        Ok(Box::new(self.read(options)?.map(|record| Ok(record?))))
    }
}

impl RecordSink for Writer {
    fn add_topic(&mut self, topic: &Topic) -> Result<TopicId, BoxError> {
        Ok(self.add_topic(topic)?)
    }

    fn write(
        &mut self,
        topic: TopicId,
        log_time: Time,
        publish_time: Time,
        sequence: u32,
        data: &[u8],
    ) -> Result<(), BoxError> {
        Ok(self.write(topic, log_time, publish_time, sequence, data)?)
    }

    fn finish(self: Box<Self>) -> Result<(), BoxError> {
        Ok((*self).finish()?)
    }
}
