//! Which threads run workers: they must not wait for what a worker does.

use crate::control::StopHandle;
use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that runs a worker, until it is dropped.
#[derive(Debug)]
#[must_use = "the mark goes with this"]
pub struct WorkerThread {
    stop: StopHandle,
    before: bool,
    /// The mark is this thread's.
    not_send: PhantomData<*const ()>,
}

impl WorkerThread {
    pub(crate) fn enter(stop: StopHandle) -> Self {
        Self { stop, before: RUNNING.replace(true), not_send: PhantomData }
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        RUNNING.set(self.before);
        self.stop.leave_worker();
    }
}

/// Whether this thread runs a worker.
pub(crate) fn is_current() -> bool {
    RUNNING.get()
}
