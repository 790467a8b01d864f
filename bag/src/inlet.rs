//! Subscriptions of the recorder, and the ring from them to the thread that writes.
//!
//! A callback does no more than share its message with that thread, which serializes it.

use ringspin_executor::{
    BoxError, Context, CreateSubscriptionError, Message, Node, QoS, SourceId, Time, panic_message,
};
use ringspin_messages::cdr::CdrError;
use ringspin_ringbuf::spsc::{Full, HeapRing, Producer};
use ringspin_ringbuf::wait::{Park, Signal};
use ringspin_ringbuf::{Counter, Flag};
use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A topic to which the recorder subscribes.
pub(crate) struct Inlet {
    /// The name of the topic.
    pub(crate) topic: String,
    /// Its number among the recorder's topics.
    pub(crate) index: usize,
    pub(crate) qos: QoS,
}

/// Serializes a message.
pub(crate) type Encode<M> = fn(&M) -> Result<Cow<'_, [u8]>, CdrError>;

/// A message on its way to the writing thread.
pub(crate) struct Entry {
    /// The number of the topic.
    pub(crate) topic: usize,
    pub(crate) log_time: Time,
    pub(crate) publish_time: Time,
    pub(crate) sequence: u32,
    pub(crate) body: Box<dyn Body>,
}

/// A message that can be serialized.
pub(crate) trait Body: Send {
    fn encode(&self) -> Result<Cow<'_, [u8]>, CdrError>;
}

struct TypedBody<M>(Message<M>, Encode<M>);

impl<M: Send + Sync> Body for TypedBody<M> {
    fn encode(&self) -> Result<Cow<'_, [u8]>, CdrError> {
        (self.1)(&self.0)
    }
}

/// The written messages of one topic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// The written messages, by topic number, or the reason why the recording is not complete.
pub(crate) type Outcome = Result<Vec<Written>, String>;

/// The thread that writes.
#[derive(Debug)]
pub(crate) enum Thread {
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
pub(crate) struct Shared {
    pub(crate) thread: Mutex<Thread>,
    /// Wakes the thread when there are entries, and at the end.
    pub(crate) entries: Signal,
    /// Wakes the recorder that waits for room in the ring.
    pub(crate) room: Signal,
    /// Raised when no further entries come.
    pub(crate) is_closed: Flag,
    /// Raised when the thread does not write any more.
    pub(crate) is_over: Flag,
    /// The reason for that, if it is an error.
    pub(crate) failed: OnceLock<String>,
    /// By number.
    pub(crate) topics: Vec<TopicCounters>,
}

impl Shared {
    /// Has the thread complete the recording with the entries that are in the ring, waits for it,
    /// and returns its outcome.
    pub(crate) fn finish(&self) -> Outcome {
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
pub(crate) struct TopicCounters {
    /// Messages for which the ring had no room.
    pub(crate) overflow: Counter,
    /// Messages that did not reach the recorder: its queue overflowed, or they were lost on their
    /// way.
    pub(crate) missed: Counter,
}

/// The state of the recorder's node: the end of the ring where entries are pushed.
pub(crate) struct Tape {
    ring: Producer<HeapRing<Entry>>,
    shared: Arc<Shared>,
    /// By topic number: the next sequence number of each publisher.
    expected: Vec<BTreeMap<SourceId, u64>>,
}

impl Tape {
    pub(crate) fn new(ring: Producer<HeapRing<Entry>>, shared: Arc<Shared>) -> Self {
        let expected = shared.topics.iter().map(|_| BTreeMap::new()).collect();
        Self { ring, shared, expected }
    }

    fn record<M: Send + Sync + 'static>(
        &mut self,
        topic: usize,
        message: &Message<M>,
        encode: Encode<M>,
        cx: &Context<'_>,
    ) -> Result<(), BoxError> {
        let id = message.id();
        let expected = self.expected[topic].entry(id.source).or_default();
        self.shared.topics[topic].missed.add_by_owner(id.sequence.saturating_sub(*expected));
        *expected = id.sequence + 1;
        let times = message.times();
        let entry = Entry {
            topic,
            log_time: times.map_or(cx.now(), |times| times.received_timestamp),
            publish_time: times.map_or(cx.now(), |times| times.source_timestamp),
            sequence: id.sequence as u32,
            body: Box::new(TypedBody(message.clone(), encode)),
        };
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

impl Drop for Tape {
    /// The run is over: completes the recording, unless that is done.
    fn drop(&mut self) {
        if let Err(error) = self.shared.finish() {
            tracing::error!(error, "the recording is not complete");
        }
    }
}

/// Subscribes the recorder to the topic of `inlet`, which has messages of type `M`.
pub(crate) fn subscribe<M: Send + Sync + 'static>(
    node: &Node<Tape>,
    inlet: Inlet,
    encode: Encode<M>,
) -> Result<(), CreateSubscriptionError> {
    let Inlet { topic, index, qos } = inlet;
    node.create_subscription(&topic, qos, move |tape: &mut Tape, message: &Message<M>, cx| {
        tape.record(index, message, encode, cx)
    })
}
