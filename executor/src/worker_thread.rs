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

/// Whether this thread runs a worker.
pub(crate) fn is_current() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// The fully qualified name of the node whose callback this thread runs, if it runs one: for a log,
/// say, that is to know who speaks.
///
/// ```
/// use ringspin_executor::{Graph, Plan, QoS, running_node};
/// # use std::time::Duration;
/// let graph = Graph::new();
/// let node = graph.create_node("talker", ())?;
/// node.create_timer(Duration::from_secs(1), |(), _| {
///     assert_eq!(running_node().as_deref(), Some("/talker"));
/// })?;
/// assert_eq!(running_node(), None); // no callback runs here
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn running_node() -> Option<String> {
    // A thread may log while it ends.
    let running = CURRENT.try_with(|current| current.borrow().clone()).ok()??;
    let callback = running.callback()?;
    Some(running.info.loop_of(callback).node.clone())
}
