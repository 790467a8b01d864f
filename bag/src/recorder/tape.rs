//! The state of the recorder's node: its callbacks pass messages to the writer thread.

use crate::inlet::{Entry, Tap};
use crate::writer_thread::{Item, QueuedMessage, WriterThread};
use ringspin_executor::{BoxError, Context, EventId, SourceId};
use ringspin_ringbuf::Counter;
use ringspin_ringbuf::spsc::Full;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The losses of one topic.
#[derive(Debug, Default)]
pub(super) struct TopicCounters {
    /// Messages for which the ring had no room.
    pub(super) overflow: Counter,
    /// Messages that did not reach the recorder: its queue overflowed, or they were lost on their
    /// way.
    pub(super) missed: Counter,
}

/// The state of the recorder's node. When it is dropped, the run is over, and the writer completes
/// the recording, unless that is done.
pub(super) struct Tape {
    writer: WriterThread,
    /// The counters of each topic, by topic number.
    counters: Arc<[TopicCounters]>,
    /// The next sequence number of each publisher, by topic number.
    expected: Vec<BTreeMap<SourceId, u64>>,
}

impl Tape {
    pub(super) fn new(writer: WriterThread, counters: Arc<[TopicCounters]>) -> Self {
        let expected = counters.iter().map(|_| BTreeMap::new()).collect();
        Self { writer, counters, expected }
    }
}

impl Tap for Tape {
    fn take(&mut self, entry: Entry, cx: &Context<'_>) -> Result<(), BoxError> {
        let Entry { topic, id, log_time, publish_time, body } = entry;
        let EventId { source, sequence } = id;
        let expected = self.expected[topic].entry(source).or_default();
        self.counters[topic].missed.add_by_owner(sequence.saturating_sub(*expected));
        *expected = sequence + 1;
        let sequence = sequence as u32;
        let message = QueuedMessage { topic, log_time, publish_time, sequence, body };
        let is_pushed = match self.writer.push(Item::Message(message)) {
            Ok(()) => true,
            // Simulated time stands still meanwhile.
            Err(Full(message)) if cx.is_simulated() => self.writer.push_waiting(message),
            Err(Full(_)) => false,
        };
        if !is_pushed {
            self.counters[topic].overflow.add_by_owner(1);
        }
        self.writer.error().map_or(Ok(()), |error| Err(error.clone().into()))
    }
}
