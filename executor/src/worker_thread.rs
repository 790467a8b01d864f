//! Which threads run workers: they must not wait for what a worker does.

use std::cell::Cell;

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that runs a worker, until it is dropped.
#[derive(Debug)]
#[must_use = "the mark goes with this"]
pub struct WorkerThread {
    before: bool,
}

impl WorkerThread {
    /// Marks the current thread.
    pub fn enter() -> Self {
        Self { before: RUNNING.replace(true) }
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        RUNNING.set(self.before);
    }
}

/// Whether this thread runs a worker.
pub(crate) fn is_current() -> bool {
    RUNNING.get()
}
