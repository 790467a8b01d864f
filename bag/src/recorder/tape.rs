//! The ring from the recorder's callbacks to the thread that writes.

use crate::inlet::{Entry, Tap};
use ringspin_executor::{BoxError, Context, EventId, SourceId, panic_message};
use ringspin_ringbuf::spsc::{Full, HeapRing, Producer};
use ringspin_ringbuf::wait::{Park, Signal};
use ringspin_ringbuf::{Counter, Flag};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The written messages of one topic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

/// The written messages, by topic number, or the reason why the recording is not complete.
pub(super) type Outcome = Result<Vec<Written>, String>;

/// The thread that writes.
#[derive(Debug)]
pub(super) enum Thread {
    Runs(JoinHandle<Outcome>),
    Ended(Outcome),
}

impl Default for Thread {
    fn default() -> Self {
        Self::Ended(Ok(Vec::new()))
    }
}

/// The parts that the recorder's callbacks share with the writing thread.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) thread: Mutex<Thread>,
    /// Wakes the thread when there are entries, and at the end.
    pub(super) entries: Signal,
    /// Wakes the recorder that waits for room in the ring.
    pub(super) room: Signal,
    /// Raised when no further entries come.
    pub(super) is_closed: Flag,
    /// Raised when the thread does not write any more.
    pub(super) is_over: Flag,
    /// The reason for that, if it is an error.
    pub(super) failed: OnceLock<String>,
    /// By number.
    pub(super) topics: Vec<TopicCounters>,
}

impl Shared {
    /// Has the thread complete the recording with the entries that are in the ring, waits for it,
    /// and returns its outcome.
    pub(super) fn finish(&self) -> Outcome {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = match std::mem::take(&mut *thread) {
            Thread::Runs(handle) => {
                self.is_closed.raise();
                self.entries.notify();
                let panicked = |panic: Box<dyn Any + Send>| Err(panic_message(&*panic));
                handle.join().unwrap_or_else(panicked)
            }
            Thread::Ended(outcome) => outcome,
        };
        *thread = Thread::Ended(outcome.clone());
        outcome
    }
}

/// The losses of one topic.
#[derive(Debug, Default)]
pub(super) struct TopicCounters {
    /// Messages for which the ring had no room.
    pub(super) overflow: Counter,
    /// Messages that did not reach the recorder: its queue overflowed, or they were lost on their
    /// way.
    pub(super) missed: Counter,
}

/// The state of the recorder's node: the end of the ring where entries are pushed.
pub(super) struct Tape {
    ring: Producer<HeapRing<Entry>>,
    shared: Arc<Shared>,
    /// By topic number: the next sequence number of each publisher.
    expected: Vec<BTreeMap<SourceId, u64>>,
}

impl Tape {
    pub(super) fn new(ring: Producer<HeapRing<Entry>>, shared: Arc<Shared>) -> Self {
        let expected = shared.topics.iter().map(|_| BTreeMap::new()).collect();
        Self { ring, shared, expected }
    }

    fn note(&self, topic: usize, is_pushed: bool) {
        if !is_pushed {
            self.shared.topics[topic].overflow.add_by_owner(1);
        }
    }

    /// Waits until there is room for `entry`, or the thread does not write any more: simulated time
    /// stands still meanwhile.
    #[cold]
    fn wait_and_push(&mut self, entry: Entry) {
        let Self { ring, shared, .. } = self;
        let (topic, mut waiting) = (entry.topic, Some(entry));
        shared.entries.notify();
        let pushed = shared.room.wait_for(&mut Park, Duration::MAX, || {
            let is_over = shared.is_over.is_raised();
            match ring.push(waiting.take()?) {
                Ok(()) => Some(true),
                Err(Full(_)) if is_over => Some(false),
                Err(Full(back)) => {
                    waiting = Some(back);
                    None
                }
            }
        });
        self.note(topic, pushed == Some(true));
    }
}

impl Tap for Tape {
    fn take(&mut self, entry: Entry, cx: &Context<'_>) -> Result<(), BoxError> {
        let (topic, EventId { source, sequence }) = (entry.topic, entry.id);
        let expected = self.expected[topic].entry(source).or_default();
        self.shared.topics[topic].missed.add_by_owner(sequence.saturating_sub(*expected));
        *expected = sequence + 1;
        match self.ring.push(entry) {
            Err(Full(entry)) if cx.is_simulated() => self.wait_and_push(entry),
            pushed => self.note(topic, pushed.is_ok()),
        }
        self.shared.entries.notify();
        match self.shared.failed.get() {
            Some(reason) => Err(reason.clone().into()),
            None => Ok(()),
        }
    }
}

impl Drop for Tape {
    /// The run is over: completes the recording, unless that is done.
    fn drop(&mut self) {
        if let Err(error) = self.shared.finish() {
            tracing::error!(error, "the recording is not complete");
        }
    }
}
