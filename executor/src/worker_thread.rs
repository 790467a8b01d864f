//! Which threads run workers, and what those are at.

use crate::control::StopHandle;
use crate::event::{CallbackId, SourceId};
use crate::graph::GraphInfo;
use crate::lock::lock;
use ringspin_ringbuf::Counter;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

thread_local! {
    static CURRENT: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// What a worker is at.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// One more than the callback that is running; zero in between.
    pub(crate) callback: Arc<Counter>,
    pub(crate) info: Arc<GraphInfo>,
}

impl Running {
    /// The callback that is running.
    pub(crate) fn callback(&self) -> Option<CallbackId> {
        Some(CallbackId(self.callback.get().checked_sub(1)? as u32))
    }
}

/// Marks this thread as one that runs a worker, until it is dropped: it must not wait for what that
/// worker does.
#[derive(Debug)]
#[must_use = "the mark goes with this"]
pub struct WorkerThread {
    stop: StopHandle,
    before: Option<Running>,
    /// The mark is this thread's.
    not_send: PhantomData<*const ()>,
}

impl WorkerThread {
    pub(crate) fn enter(stop: StopHandle, running: Running) -> Self {
        stop.enter_worker();
        Self { stop, before: CURRENT.replace(Some(running)), not_send: PhantomData }
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
        self.stop.leave_worker();
    }
}

thread_local! {
    /// Its address tells threads that run at the same time apart, at the cost of a load.
    static MARK: Cell<u8> = const { Cell::new(0) };
}

/// A number of this thread: no other thread that runs has it. Not zero.
#[inline]
fn thread_number() -> u64 {
    MARK.with(|mark| std::ptr::from_ref(mark).addr() as u64)
}

/// Tells the thread that runs a graph in simulated time from all others: events of other threads
/// come at times that no other run repeats.
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

    /// Counts `event` if this thread is not the owner.
    #[inline]
    pub(crate) fn note(&self, event: impl FnOnce() -> ForeignEvent) {
        if thread_number() != self.number.get() {
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

/// What `look` finds in what this thread is at; `None` if it runs no worker, or is ending.
fn current<T>(look: impl FnOnce(&Running) -> Option<T>) -> Option<T> {
    CURRENT.try_with(|current| current.borrow().as_ref().and_then(look)).ok()?
}

/// Whether this thread runs a worker.
pub(crate) fn is_current() -> bool {
    current(|_| Some(())).is_some()
}

/// The fully qualified name of the node whose callback this thread runs, if it runs one: for a log,
/// say, that is to know who speaks.
///
/// ```
/// use ringspin_executor::running_node;
/// fn log(text: &str) {
///     eprintln!("[{}] {text}", running_node().as_deref().unwrap_or("-"));
/// }
/// log("no callback runs here");
/// assert_eq!(running_node(), None);
/// ```
pub fn running_node() -> Option<String> {
    current(|running| Some(running.info.loop_of(running.callback()?).node.clone()))
}
