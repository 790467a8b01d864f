//! Which threads run workers, and what those are at.

use crate::control::StopHandle;
use crate::event::CallbackId;
use crate::graph::GraphInfo;
use ringspin_ringbuf::Counter;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

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
