//! The queue between a topic and the stream that a task awaits. The event loop of the stream writes
//! to it, or, for a detached stream, the threads that publish; the task reads, on any executor of
//! futures, and is woken by each message.

use crate::delivery::control::CallbackCounters;
use crate::delivery::message::Message;
use atomic_waker::AtomicWaker;
use ringspin_ringbuf::keep_last::{self, Pushed};
use ringspin_ringbuf::{Flag, Pool};
use std::sync::Arc;

/// Messages of a stream that are in no queue: one that is pushed, one that was displaced, and one
/// that is taken.
const IN_HAND: usize = 3;

/// The sending end of a stream's queue. Messages come from events of the loop, and if the stream is
/// detached, from the threads that publish.
pub(crate) struct Arrivals<M> {
    pool: Pool<Message<M>>,
    messages: keep_last::Producer<Message<M>>,
    awaited: Arc<Awaited>,
    counters: Arc<CallbackCounters>,
}

/// The parts that both ends share, besides the messages between them.
#[derive(Default)]
pub(crate) struct Awaited {
    pub(crate) waker: AtomicWaker,
    /// Raised when the entity is retired: messages that are left are dropped.
    pub(crate) is_retired: Flag,
}

impl<M> Arrivals<M> {
    /// Creates a queue of the newest `depth` messages, and its taking end.
    pub(crate) fn new(
        depth: usize,
        counters: Arc<CallbackCounters>,
    ) -> (Self, keep_last::Consumer<Message<M>>) {
        let pool = Pool::new();
        pool.reserve(depth + IN_HAND);
        let (messages, consumer) = keep_last::queue(&pool, depth);
        (Self { pool, messages, awaited: Arc::default(), counters }, consumer)
    }

    pub(crate) fn awaited(&self) -> &Arc<Awaited> {
        &self.awaited
    }

    /// Appends `message`, and wakes the task. Returns the oldest one if the queue was full, and so
    /// displaced it.
    pub(crate) fn push(&self, message: Message<M>) -> Option<Message<M>> {
        let displaced = match self.messages.push(self.pool.insert(message)) {
            Pushed::Grew => None,
            Pushed::Overwrote(oldest) => {
                self.counters.overwritten.next();
                Some((*oldest).clone())
            }
        };
        // The task looks again after it has registered, so either it sees the message, or this sees
        // the task.
        self.awaited.waker.wake();
        displaced
    }

    /// Appends like [`push`](Self::push) a message of the thread that publishes it.
    pub(super) fn hand_over(&self, message: Message<M>) -> Option<Message<M>> {
        self.counters.handed_over.next();
        self.push(message)
    }

    pub(crate) fn retire(&self) {
        self.awaited.is_retired.raise();
        drop(self.awaited.waker.take());
    }
}
