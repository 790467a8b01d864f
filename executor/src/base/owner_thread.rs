//! The identity of the thread that runs a graph in simulated time. Every event is checked against
//! it where it is made ready: events of other threads come at times that no run repeats, so they
//! are counted, and the scheduler reports them at the end of the run.

use crate::base::event::{CallbackId, SourceId};
use crate::base::lock::lock;
use ringspin_ringbuf::Counter;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;

thread_local! {
    /// Its address tells threads that run at the same time apart, at the cost of a load.
    static MARK: Cell<u8> = const { Cell::new(0) };
}

/// A number of this thread, which is not zero: no other thread that runs has it.
#[inline]
fn thread_number() -> u64 {
    MARK.with(|mark| std::ptr::from_ref(mark).addr() as u64)
}

/// Instead of a thread's number: all threads.
const ALL: u64 = 0;

/// Distinguishes the thread that runs a graph in simulated time from all others: events of other
/// threads come at times that no other run repeats.
#[derive(Debug)]
pub(crate) struct OwnerThread {
    number: Counter,
    foreign: Mutex<BTreeMap<ForeignEvent, u64>>,
}

/// An event from another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ForeignEvent {
    /// For this callback; a number beyond those of the graph's callbacks is for the worker itself,
    /// as the change of a timer.
    For(CallbackId),
    /// A message of this publisher, which no subscription receives.
    Of(SourceId),
}

impl OwnerThread {
    /// This thread is the owner.
    pub(crate) fn current() -> Self {
        let number = Counter::default();
        number.set(thread_number());
        Self { number, foreign: Mutex::default() }
    }

    /// This thread is the owner from now on.
    pub(crate) fn take_over(&self) {
        self.number.set(thread_number());
    }

    /// All threads own the graph from now on.
    pub(crate) fn include_all(&self) {
        self.number.set(ALL);
    }

    /// Counts `event` if this thread is not the owner.
    #[inline]
    pub(crate) fn note(&self, event: impl FnOnce() -> ForeignEvent) {
        let owner = self.number.get();
        if thread_number() != owner && owner != ALL {
            self.count(event());
        }
    }

    #[cold]
    fn count(&self, event: ForeignEvent) {
        *lock(&self.foreign).entry(event).or_default() += 1;
    }

    /// The events of other threads so far, with their numbers.
    pub(crate) fn foreign(&self) -> Vec<(ForeignEvent, u64)> {
        lock(&self.foreign).iter().map(|(event, count)| (*event, *count)).collect()
    }
}
