//! The calls of a client that have no response yet.

use super::then::Then;
use crate::middleware::Sent;
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// The calls without a response.
pub(super) struct Calls<S, P> {
    pub(super) slots: Box<[Option<Call<S, P>>]>,
    pub(super) free: Vec<usize>,
    /// The slots of the calls that left the process, by the number that the middleware gave them.
    pub(super) beyond: BTreeMap<i64, usize>,
    pub(super) made: u64,
    /// When calls time out, and their slots.
    pub(super) deadlines: BTreeSet<(Time, usize)>,
    /// Whether there is nobody any more whose calls could end.
    pub(super) stopped: bool,
}

pub(super) struct Call<S, P> {
    /// `None` once it has timed out: the slot is kept for the response, should it still come.
    pub(super) then: Option<Then<S, P>>,
    pub(super) deadline: Option<Time>,
    /// If the call left the process.
    pub(super) beyond: Option<Sent>,
}

impl<S, P> Calls<S, P> {
    /// Room for `depth` calls.
    pub(super) fn new(depth: usize) -> Self {
        Self {
            slots: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            beyond: BTreeMap::new(),
            made: 0,
            deadlines: BTreeSet::new(),
            stopped: false,
        }
    }

    /// Ends the call in `slot`.
    pub(super) fn end(&mut self, slot: usize) -> Option<Then<S, P>> {
        let call = self.slots[slot].take()?;
        self.free.push(slot);
        if let Some(deadline) = call.deadline {
            self.deadlines.remove(&(deadline, slot));
        }
        if let Some(sent) = call.beyond {
            self.beyond.remove(&sent.number);
        }
        call.then
    }

    /// The slot of the call that left the process under `number`, unless it has ended. From now on
    /// its response alone frees it.
    pub(super) fn answered_beyond(&mut self, number: i64) -> Option<usize> {
        let slot = self.beyond.remove(&number)?;
        self.slots[slot].as_mut()?.beyond = None;
        Some(slot)
    }

    /// As [`answered_beyond`](Self::answered_beyond), for the first call that none but the first
    /// `gone` servers could answer.
    pub(super) fn lost_beyond(&mut self, gone: u64) -> Option<usize> {
        let sent = |slot: usize| self.slots[slot].as_ref().and_then(|call| call.beyond);
        let mut calls = self.beyond.values().filter_map(|slot| sent(*slot));
        let lost = calls.find(|sent| sent.servers <= gone)?;
        self.answered_beyond(lost.number)
    }

    /// What is to be called for the next call that has timed out.
    pub(super) fn expire(&mut self, now: Time) -> Option<Then<S, P>> {
        let &(deadline, slot) = self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.deadlines.pop_first();
        let call = self.slots[slot].as_mut()?;
        call.deadline = None;
        if call.beyond.is_some() {
            // Who answers may be gone for good; should the response come, nobody waits for it.
            return self.end(slot);
        }
        call.then.take()
    }
}
