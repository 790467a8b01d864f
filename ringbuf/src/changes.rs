//! Changes of a worker, which other threads prepare and the worker takes between two events.
//!
//! ```text
//! any thread                            worker
//! 1. rings and tokens are added         pass: a change was announced
//! 2. push: the changes, and their       take: applies them, starts the new sources
//!    sources of events are connected    dispatch: a token that it does not know leads to take
//! 3. other sources get their tokens
//! 4. wake: announces, wakes
//! ```
//!
//! A change that takes a source away is pushed first, and the source ends afterwards. The token is
//! freed by a change of its own, which the last handle of the token pushes: by then the worker can
//! see every event of it.

use crate::ready_set::ReadySet;
use crate::sync::{Arc, Mutex, omitted};
use std::fmt;
use std::mem::take;
use std::ops::DerefMut;
use std::sync::PoisonError;

/// The changes of one worker, in the order in which they were pushed. Each call takes a lock for
/// some instructions.
///
/// ```
/// use ringspin_ringbuf::{Inbox, changes};
/// let mut inbox = Inbox::with_room(1, 1);
/// let changes = changes::Queue::new(inbox.set().clone());
/// changes.push(["add a loop", "add a callback"], || ());
/// changes.wake();
/// assert_eq!(changes.take(), ["add a loop", "add a callback"]);
/// ```
pub struct Queue<C> {
    changes: Mutex<Vec<C>>,
    set: Arc<ReadySet>,
}

impl<C> Queue<C> {
    /// Creates the queue of the worker that sleeps on `set`.
    pub fn new(set: Arc<ReadySet>) -> Self {
        Self { changes: Mutex::new(Vec::new()), set }
    }

    fn lock(&self) -> impl DerefMut<Target = Vec<C>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds changes, of which a [`take`](Self::take) returns all or none. The worker may take them
    /// at once, because of other changes; [`wake`](Self::wake) makes sure that it does.
    ///
    /// `connect` connects their sources of events, under the lock: a worker that has taken the
    /// changes finds the sources connected, and an event of them finds the changes in the queue.
    pub fn push(&self, changes: impl IntoIterator<Item = C>, connect: impl FnOnce()) {
        let mut queue = self.lock();
        queue.extend(changes);
        let _locked = (!omitted!("changes.connect_under_lock")).then_some(queue);
        connect();
    }

    /// Lets the worker take the changes at its next quiescent point, for which it wakes.
    #[cfg(not(ringbuf_loom))]
    pub fn wake(&self) {
        self.wake_after(crate::reclaim::announce);
    }

    /// Wakes the worker after `announce`, by which the worker knows that there are changes.
    pub(crate) fn wake_after(&self, announce: impl FnOnce()) {
        if !omitted!("changes.announce") {
            announce();
        }
        if !omitted!("changes.wake") {
            self.set.wake();
        }
    }

    /// Takes all changes.
    pub fn take(&self) -> Vec<C> {
        take(&mut *self.lock())
    }
}

impl<C> fmt::Debug for Queue<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
