//! The announcer of a token: a place in the ready ring of an event loop, and the loop's mark.
//!
//! The steps and their guarantees are those of the [`inbox`](crate::inbox).

use crate::ready;
use crate::ready_set::ReadySet;
use crate::sync::{Arc, omitted, step, store_load};

/// How a worker is told of an event that is pending.
pub trait Announce {
    /// One more event is pending.
    fn announce(&self);
    /// An event is pending that has taken the place of another one, whose announcement may not have
    /// been made yet.
    fn remind(&self);
}

/// Announces the events of one token; clones do the same, from any thread.
#[derive(Clone, Debug)]
pub struct Announcer {
    ring: ready::Producer,
    set: Arc<ReadySet>,
    /// The ring's index in the set.
    index: u32,
    token: u32,
    attention: Arc<ReadySet>,
}

impl Announcer {
    pub(crate) fn new(
        ring: ready::Producer,
        set: Arc<ReadySet>,
        index: u32,
        token: u32,
        attention: Arc<ReadySet>,
    ) -> Self {
        Self { ring, set, index, token, attention }
    }

    /// The token that it announces.
    #[inline]
    pub fn token(&self) -> u32 {
        self.token
    }

    /// Pushes the token without a mark in the ready set, for a worker that polls its one ring and
    /// never sleeps.
    ///
    /// # Panics
    /// If the ready ring is full.
    #[inline]
    pub fn push_unmarked(&self) {
        self.ring.push(self.token).expect("a ready ring holds a token for each pending event");
    }

    /// Announces an event as [`announce`](Announce::announce) does. Returns false if the ring had
    /// no place for the token, and the worker's attention was called instead. Lock-free.
    #[inline]
    pub fn try_announce(&self) -> bool {
        // The ring has a place for each pending event. Only the late tokens of stragglers may be
        // too many.
        if self.ring.push(self.token).is_err() {
            self.remind();
            return false;
        }
        step!("token.queued");
        // A mark that stands saves the exchange of a cache line that the worker polls. Either it is
        // seen to be cleared, or the worker that clears it sees the token.
        store_load!("inbox.announced");
        if !self.set.is_marked_awake(self.index as usize) {
            self.set.mark(self.index as usize);
        }
        true
    }
}

impl Announce for Announcer {
    #[inline]
    fn announce(&self) {
        self.try_announce();
    }

    fn remind(&self) {
        if !omitted!("inbox.attention") {
            self.attention.mark(self.token as usize);
        }
        step!("attention.called");
        self.set.mark(self.index as usize);
    }
}
