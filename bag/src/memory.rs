//! Recordings in memory, for tests and short runs.

use crate::interfaces::{RecordSink, RecordSource, Records};
use crate::read::{Order, ReadOptions};
use crate::recording::{Record, Topic, TopicId};
use ringspin_executor::{BoxError, Time};
use std::sync::{Arc, Mutex, PoisonError};

/// A recording in memory, which can be played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryRecording {
    /// The topics, indexed by [`TopicId`].
    pub topics: Vec<Topic>,
    /// The messages, in the order in which they were recorded.
    pub records: Vec<Record>,
}

impl MemoryRecording {
    /// A sink for a [`Recorder`](crate::Recorder), and the recording as it grows.
    pub fn sink() -> (MemorySink, SharedRecording) {
        let shared = SharedRecording::default();
        (MemorySink(shared.clone()), shared)
    }
}

impl RecordSource for MemoryRecording {
    fn name(&self) -> String {
        "recording in memory".into()
    }

    fn topics(&self) -> &[Topic] {
        &self.topics
    }

    fn start(&self) -> Option<Time> {
        self.records.iter().map(|record| record.log_time).min()
    }

    fn end(&self) -> Option<Time> {
        self.records.iter().map(|record| record.log_time).max()
    }

    fn records(&self, options: &ReadOptions) -> Result<Records, BoxError> {
        let key = |record: &Record| match options.order {
            Order::LogTime => record.log_time,
            Order::PublishTime => record.publish_time,
        };
        let is_selected = |record: &&Record| {
            options.topics.as_ref().is_none_or(|topics| topics.contains(&record.topic))
                && options.start.is_none_or(|start| key(record) >= start)
                && options.end.is_none_or(|end| key(record) <= end)
        };
        let mut records: Vec<_> = self.records.iter().filter(is_selected).cloned().collect();
        records.sort_by_key(key);
        Ok(Box::new(records.into_iter().map(Ok)))
    }
}

/// A recording in memory that a recorder fills; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SharedRecording(Arc<Mutex<MemoryRecording>>);

impl SharedRecording {
    /// A copy of the recording so far.
    pub fn get(&self) -> MemoryRecording {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes into a [`SharedRecording`].
#[derive(Debug)]
pub struct MemorySink(SharedRecording);

impl RecordSink for MemorySink {
    fn add_topic(&mut self, topic: &Topic) -> Result<TopicId, BoxError> {
        let topics = &mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner).topics;
        topics.push(topic.clone());
        Ok(TopicId(topics.len() - 1))
    }

    fn write(
        &mut self,
        topic: TopicId,
        log_time: Time,
        publish_time: Time,
        sequence: u32,
        data: &[u8],
    ) -> Result<(), BoxError> {
        let record = Record { topic, log_time, publish_time, sequence, data: data.to_vec() };
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).records.push(record);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), BoxError> {
        Ok(())
    }
}
