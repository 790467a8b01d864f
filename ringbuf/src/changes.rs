//! Changes of a worker, which other threads prepare and the worker takes between two events.
//!
//! ```text
//! any thread                            worker
//! 1. rings and tokens are added         pass: a change was announced
//! 2. push: the changes                  take: applies them, starts the new sources
//! 3. their sources get their tokens     dispatch: a token that it does not know leads to take
//! 4. wake: announces, wakes
//! ```
//!
//! An event of a source thus finds the changes in the queue. The worker may start a
//! [notifier](crate::notifier) that has no token yet: then the notifier makes its first event ready
//! when it gets one.
//!
//! A change that takes a source away is pushed first, and the source ends afterwards. The token is
//! freed by a further change, which the last handle of the token pushes: by then the worker can see
//! every event of it.

use crate::list::List;
use crate::ready_set::ReadySet;
use crate::reclaim::Domain;
use crate::sync::{Arc, omitted};
use std::fmt;
use std::sync;

/// The changes of one worker, in the order in which they were pushed. Lock-free.
///
/// ```
/// use ringspin_ringbuf::{Inbox, changes};
/// let mut inbox = Inbox::with_room(1, 1);
/// let changes = changes::Queue::new(inbox.set().clone(), Default::default());
/// changes.push(["add a loop", "add a callback"]);
/// changes.wake();
/// assert_eq!(changes.take(), ["add a loop", "add a callback"]);
/// ```
pub struct Queue<C> {
    changes: List<Vec<C>>,
    set: Arc<ReadySet>,
    domain: sync::Arc<Domain>,
}

impl<C> Queue<C> {
    /// Creates the queue of the worker that sleeps on `set`, and reads in `domain`.
    pub fn new(set: Arc<ReadySet>, domain: sync::Arc<Domain>) -> Self {
        Self { changes: List::new(), set, domain }
    }

    /// The domain in which the worker reads.
    pub fn domain(&self) -> &sync::Arc<Domain> {
        &self.domain
    }

    /// Adds changes, of which a [`take`](Self::take) returns all or none. The worker may take them
    /// at once, because of other changes; [`wake`](Self::wake) makes sure that it does.
    pub fn push(&self, changes: impl IntoIterator<Item = C>) {
        self.changes.push(changes.into_iter().collect());
    }

    /// Lets the worker take the changes at its next quiescent point, for which it wakes.
    pub fn wake(&self) {
        if !omitted!("changes.announce") {
            self.domain.announce();
        }
        if !omitted!("changes.wake") {
            self.set.wake();
        }
    }

    /// Takes all changes.
    pub fn take(&self) -> Vec<C> {
        self.changes.take().into_iter().flatten().collect()
    }
}

impl<C> fmt::Debug for Queue<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
