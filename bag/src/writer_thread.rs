//! The thread that writes a recording, and the bounded ring that brings it messages.

use crate::error::reworded;
use crate::inlet::Body;
use crate::interfaces::RecordSink;
use crate::recording::{Topic, TopicId};
use ringspin_executor::{BoxError, Error, ErrorKind, Result, Time, catch_panic, panic_message};
use ringspin_messages::cdr::CdrError;
use ringspin_ringbuf::Flag;
use ringspin_ringbuf::spsc::{Consumer, Full, Producer, ring};
use ringspin_ringbuf::wait::Signal;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// Passes messages to a thread that writes them, through a ring of fixed size: no call waits for a
/// disk.
///
/// ```
/// use ringspin_bag::{MemoryRecording, Topic, WriterThread};
/// use ringspin_executor::Time;
///
/// let (sink, recording) = MemoryRecording::sink();
/// let mut writer = WriterThread::new(sink, 1024)?;
/// let topic = writer.add_topic(&Topic {
///     name: "/chatter".into(),
///     type_name: "std_msgs/msg/String".into(),
///     type_hash: None,
///     definition: None,
///     serialization_format: "cdr".into(),
///     offered_qos: Vec::new(),
/// })?;
/// let now = Time::from_secs(1);
/// writer.write(topic, now, now, 0, b"\0\x01\0\0\x03\0\0\0hi\0".to_vec())?;
/// writer.finish()?;
/// assert_eq!(recording.get().records.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WriterThread {
    ring: Producer<Item>,
    /// The number of topics.
    topics: usize,
    shared: Arc<Shared>,
}

/// The ring to the writer thread has no room.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "failed to pass an item to the writer thread: its ring is full; count it as lost, or try again \
     later"
)]
pub struct RingFull;

impl fmt::Debug for RingFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error of a recording that is not complete.
pub(crate) fn incomplete(error: BoxError) -> Error {
    reworded(error, ErrorKind::Io, |text| format!("failed to write the recording: {text}"))
}

/// An item of the ring.
pub(crate) enum Item {
    /// The next topic.
    Topic(Box<Topic>),
    Message(QueuedMessage),
}

/// A message on its way to the recording.
pub(crate) struct QueuedMessage {
    /// The number of the topic.
    pub(crate) topic: usize,
    pub(crate) log_time: Time,
    pub(crate) publish_time: Time,
    pub(crate) sequence: u32,
    pub(crate) body: Box<dyn Body>,
}

struct Bytes(Vec<u8>);

impl Body for Bytes {
    fn encode(&self) -> Result<Cow<'_, [u8]>, CdrError> {
        Ok(Cow::Borrowed(&self.0))
    }
}

impl WriterThread {
    /// Starts a thread that writes to `sink`. At most `ring_capacity` messages wait for it.
    ///
    /// # Errors
    /// The operating system refuses the thread.
    ///
    /// # Panics
    /// If `ring_capacity` is zero.
    pub fn new(sink: impl RecordSink + 'static, ring_capacity: usize) -> Result<Self> {
        Self::with_topics(Box::new(sink), Vec::new(), ring_capacity)
    }

    /// Same as [`new`](Self::new), for a sink that has topics with these ids.
    pub(crate) fn with_topics(
        sink: Box<dyn RecordSink>,
        ids: Vec<TopicId>,
        ring_capacity: usize,
    ) -> Result<Self> {
        let ((ring, consumer), shared) = (ring(ring_capacity), Arc::new(Shared::default()));
        let topics = ids.len();
        let writing = Writing { sink, ids, consumer, shared: shared.clone() };
        let thread = thread::Builder::new().name("bag-writer".into()).spawn(|| writing.run());
        let thread = thread.map_err(|error| incomplete(error.into()))?;
        *shared.thread.lock().unwrap_or_else(PoisonError::into_inner) = Thread::Runs(thread);
        Ok(Self { ring, topics, shared })
    }

    /// Adds a topic, before its first message. Returns its id for [`write`](Self::write). A topic
    /// that the sink refuses ends the recording with an [`error`](Self::error).
    ///
    /// # Errors
    /// [`RingFull`]; the topic is not added.
    pub fn add_topic(&mut self, topic: &Topic) -> Result<TopicId, RingFull> {
        self.push(Item::Topic(Box::new(topic.clone()))).map_err(|_| RingFull)?;
        self.topics += 1;
        Ok(TopicId(self.topics - 1))
    }

    /// Passes a message to the thread. Does not wait.
    ///
    /// # Errors
    /// [`RingFull`]; the message is lost.
    ///
    /// # Panics
    /// If `topic` was not added.
    pub fn write(
        &mut self,
        topic: TopicId,
        log_time: Time,
        publish_time: Time,
        sequence: u32,
        data: Vec<u8>,
    ) -> Result<(), RingFull> {
        let TopicId(topic) = topic;
        assert!(topic < self.topics, "failed to write a message: topic {topic} was not added");
        let body = Box::new(Bytes(data));
        let message = QueuedMessage { topic, log_time, publish_time, sequence, body };
        self.push(Item::Message(message)).map_err(|_| RingFull)
    }

    /// The reason why the thread does not write any more, if it has failed.
    pub fn error(&self) -> Option<&Error> {
        self.shared.failed.get()
    }

    /// Completes the recording with the messages in the ring. Waits for the thread. A dropped
    /// writer completes the recording as well, and logs an error.
    ///
    /// # Errors
    /// The recording is not complete.
    pub fn finish(self) -> Result<()> {
        self.shared.finish().map(drop)
    }

    /// The parts that callers share with the thread.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Appends an item to the ring. Does not wait.
    pub(crate) fn push(&mut self, item: Item) -> Result<(), Full<Item>> {
        self.ring.push(item)?;
        self.shared.items.notify();
        Ok(())
    }

    /// Appends an item to the ring. Waits until there is room, or the thread does not write any
    /// more. Returns whether the item is in the ring.
    #[cold]
    pub(crate) fn push_waiting(&mut self, item: Item) -> bool {
        let Self { ring, shared, .. } = self;
        let mut waiting = Some(item);
        shared.items.notify();
        let pushed = shared.room.wait_for(|| {
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
        shared.items.notify();
        pushed
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        if let Err(error) = self.shared.finish() {
            tracing::error!(%error, "the recording is not complete");
        }
    }
}

/// The written messages of one topic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// The written messages, by topic number, or the reason why the recording is not complete.
type Outcome = Result<Vec<Written>>;

/// The state of the thread.
#[derive(Debug)]
enum Thread {
    Runs(JoinHandle<Outcome>),
    Ended(Outcome),
}

impl Default for Thread {
    fn default() -> Self {
        Self::Ended(Ok(Vec::new()))
    }
}

/// The parts that the callers share with the thread.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    thread: Mutex<Thread>,
    /// Wakes the thread when there are items, and at the end.
    items: Signal,
    /// Wakes the caller that waits for room in the ring.
    room: Signal,
    /// Raised when no further items come.
    is_closed: Flag,
    /// Raised when the thread does not write any more.
    is_over: Flag,
    /// The reason for that, if it is an error.
    failed: OnceLock<Error>,
}

impl Shared {
    /// Has the thread complete the recording with the items that are in the ring, waits for it, and
    /// returns its outcome; when it is called again, too.
    pub(crate) fn finish(&self) -> Outcome {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = match std::mem::take(&mut *thread) {
            Thread::Runs(handle) => {
                self.is_closed.raise();
                self.items.notify();
                let panicked =
                    |panic: Box<dyn Any + Send>| incomplete(panic_message(&*panic).into());
                handle.join().unwrap_or_else(|panic| Err(panicked(panic)))
            }
            Thread::Ended(outcome) => outcome,
        };
        *thread = Thread::Ended(outcome.clone());
        outcome
    }
}

/// The thread's own part.
struct Writing {
    sink: Box<dyn RecordSink>,
    /// The ids that the sink gave to the topics, by topic number.
    ids: Vec<TopicId>,
    consumer: Consumer<Item>,
    shared: Arc<Shared>,
}

impl Writing {
    fn run(mut self) -> Outcome {
        let shared = self.shared.clone();
        let written = catch_panic(|| self.write()).unwrap_or_else(|panic| Err(panic.into()));
        let finished = written.and_then(|written| {
            catch_panic(|| self.sink.finish()).unwrap_or_else(|panic| Err(panic.into()))?;
            Ok(written)
        });
        let finished = finished.map_err(incomplete);
        if let Err(error) = &finished {
            let _ = shared.failed.set(error.clone());
        }
        shared.is_over.raise();
        shared.room.notify();
        finished
    }

    /// Writes all items until no further ones come.
    fn write(&mut self) -> Result<Vec<Written>, BoxError> {
        let Self { sink, ids, consumer, shared } = self;
        let mut written = vec![Written::default(); ids.len()];
        let mut next = || {
            let is_closed = shared.is_closed.is_raised();
            // After the look at the flag: items from before it was raised are there.
            consumer.pop().map(Some).or(is_closed.then_some(None))
        };
        while let Some(item) = shared.items.wait_for(&mut next) {
            shared.room.notify();
            match item {
                Item::Topic(topic) => {
                    ids.push(sink.add_topic(&topic)?);
                    written.push(Written::default());
                }
                Item::Message(message) => {
                    let data = message.body.encode()?;
                    let QueuedMessage { topic, log_time, publish_time, sequence, .. } = message;
                    sink.write(ids[topic], log_time, publish_time, sequence, &data)?;
                    written[topic].messages += 1;
                    written[topic].bytes += data.len() as u64;
                }
            }
        }
        Ok(written)
    }
}
