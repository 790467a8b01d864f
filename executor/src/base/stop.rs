//! The request to stop, and the threads of the workers that it has to reach.
//!
//! Any thread raises the flag of the request and wakes the workers that sleep; each worker reads
//! the flag between two callbacks. The end of a task that a spin waits for raises the same flag for
//! a pause; requests have a second one, so that the end of a pause withdraws no request. Each
//! worker writes the number of its running callback into a counter that it alone writes, and
//! [`stop_and_wait`](StopHandle::stop_and_wait) reads these to name a callback that takes too long.
//! A lock around the name would cost every dispatch more than these two plain stores. A
//! thread-local mark tells code that its thread runs a worker, which must not wait for one.

use crate::base::directory::Directory;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::event::CallbackId;
use crate::base::lock::lock;
use ringspin_ringbuf::reclaim::{Domain, Reading};
use ringspin_ringbuf::{Counter, Flag, ReadySet};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Stops an executor from any thread; cheap to clone.
///
/// Stopping goes in steps:
/// 1. The request is noted; workers that sleep are woken.
/// 2. Each worker returns when its current callback has. Queued events stay where they are, and
///    messages that are published meanwhile join them.
/// 3. When all have returned, `spin` does. After a [`reset`](Self::reset) it can spin again and
///    continues there.
/// 4. Dropping the executor drops the nodes' states, tasks and queues. A thread that waits for the
///    end of a call gets the error that there is none.
///
/// Only step 2 can take long, if a callback does: [`stop_and_wait`](Self::stop_and_wait) names it.
#[derive(Clone, Default)]
pub struct StopHandle(Arc<StopState>);

#[derive(Default)]
struct StopState {
    /// Raised by requests and [pauses](StopHandle::pause).
    flag: Flag,
    /// Raised by requests.
    requested: Flag,
    exit_code: Mutex<Option<u8>>,
    workers: Mutex<Vec<(Arc<ReadySet>, Running)>>,
    /// Of threads that run several workers in turns.
    threads: Mutex<Vec<Arc<ReadySet>>>,
    /// The number of running workers.
    active: Mutex<usize>,
    left: Condvar,
}

impl StopHandle {
    /// Asks every worker to return after its current callback, and wakes those that sleep.
    pub fn stop(&self) {
        self.0.requested.raise();
        self.pause();
    }

    /// Makes the workers return as [`stop`](Self::stop) does, until [`resume`](Self::resume).
    /// Executors call this.
    pub fn pause(&self) {
        self.0.flag.raise();
        lock(&self.0.workers).iter().for_each(|(set, _)| set.wake());
        lock(&self.0.threads).iter().for_each(|set| set.wake());
    }

    /// Stops the executor like [`stop`](Self::stop), with an exit code: the first code that is
    /// given counts.
    pub fn exit(&self, code: u8) {
        lock(&self.0.exit_code).get_or_insert(code);
        self.stop();
    }

    /// The code that was given, if any was.
    pub fn exit_code(&self) -> Option<u8> {
        *lock(&self.0.exit_code)
    }

    /// Stops the executor like [`stop`](Self::stop), and waits until every worker has returned, for
    /// `grace` of real time at most.
    ///
    /// # Errors
    /// The error names the callbacks that still run, or says that this is one of them.
    pub fn stop_and_wait(&self, grace: Duration) -> Result<()> {
        self.stop();
        if is_current() {
            let text =
                "a callback cannot wait for its executor to stop; use `stop`, which does not wait";
            return Err(Error::new(ErrorKind::Deadlock, text));
        }
        let active = lock(&self.0.active);
        let waited = self.0.left.wait_timeout_while(active, grace, |active| *active > 0);
        match *waited.unwrap_or_else(PoisonError::into_inner).0 {
            0 => Ok(()),
            _ => {
                let callbacks = self.running_callbacks().join(", ");
                let text = format!("still running {grace:?} after the stop: {callbacks}");
                Err(Error::new(ErrorKind::TimedOut, text))
            }
        }
    }

    /// The callbacks that run at this moment, with their nodes.
    pub fn running_callbacks(&self) -> Vec<String> {
        let workers = lock(&self.0.workers);
        let name = |running: &Running| Some(running.directory.name_of(running.callback()?));
        workers.iter().filter_map(|(_, running)| name(running)).collect()
    }

    /// Whether both stop the same executor.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a worker of the executor runs.
    pub(crate) fn is_spinning(&self) -> bool {
        *lock(&self.0.active) > 0
    }

    pub(crate) fn enter_worker(&self) {
        *lock(&self.0.active) += 1;
    }

    pub(crate) fn leave_worker(&self) {
        *lock(&self.0.active) -= 1;
        self.0.left.notify_all();
    }

    /// Whether a stop was requested.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.flag.is_raised()
    }

    /// Withdraws the request, so that the executor can spin again.
    pub fn reset(&self) {
        self.0.requested.lower();
        self.0.flag.lower();
    }

    /// Ends a [pause](Self::pause), and no request to stop. Executors call this.
    pub fn resume(&self) {
        self.0.flag.lower();
        // A request is noted before the flag is raised, so none is lost in between.
        if self.0.requested.is_raised() {
            self.0.flag.raise();
        }
    }

    pub(crate) fn attach(&self, set: Arc<ReadySet>, running: Running) {
        lock(&self.0.workers).push((set, running));
    }

    /// Wakes a thread that runs several workers in turns, as a worker is woken.
    pub(crate) fn attach_thread(&self, set: Arc<ReadySet>) {
        lock(&self.0.threads).push(set);
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopHandle").field(&self.is_stopped()).finish()
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// The counters of one worker; written by that worker, on cache lines that no other thread writes.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct WorkerCounters {
    /// The number of the running callback plus one; zero between callbacks.
    pub(crate) running: Counter,
    pub(crate) idle: Counter,
    pub(crate) sleeps: Counter,
}

#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) counters: Arc<WorkerCounters>,
    pub(crate) directory: Directory,
}

impl Running {
    pub(crate) fn callback(&self) -> Option<CallbackId> {
        Some(CallbackId(self.counters.running.get().checked_sub(1)? as u32))
    }
}

/// Marks this thread as one that runs a worker, until it is dropped: such a thread must not wait
/// for its own worker.
#[derive(Debug)]
#[must_use = "the mark goes with this"]
pub struct WorkerThread {
    stop: StopHandle,
    before: Option<Running>,
    /// Keeps values of the graph that it reads, until it passes a quiescent point.
    reading: Reading,
    /// The mark is this thread's.
    not_send: PhantomData<*const ()>,
}

impl WorkerThread {
    pub(crate) fn enter(stop: StopHandle, running: Running, domain: &Arc<Domain>) -> Self {
        stop.enter_worker();
        let before = CURRENT.replace(Some(running));
        Self { stop, before, reading: domain.enter(), not_send: PhantomData }
    }

    /// Marks a quiescent point; whether anything may have changed since the last one: then each
    /// worker that this thread runs has to [adopt](crate::Worker::adopt_changes) changes.
    #[inline]
    pub fn pass(&mut self) -> bool {
        self.reading.pass()
    }

    /// The thread runs another worker of its graph from here on.
    #[inline]
    pub(crate) fn switch_to(&mut self, running: &Running) {
        CURRENT.with_borrow_mut(|current| match current {
            // A graph has one directory, whose count all threads would write.
            Some(current) => current.counters.clone_from(&running.counters),
            None => *current = Some(running.clone()),
        });
    }

    /// Calls `rest`, in which the thread runs no event.
    pub fn pause<R>(&mut self, rest: impl FnOnce() -> R) -> R {
        self.reading.pause(rest)
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
        self.stop.leave_worker();
    }
}

/// Applies `look` to the current activity of this thread; `None` if it runs no worker, or is
/// ending.
fn current<T>(look: impl FnOnce(&Running) -> Option<T>) -> Option<T> {
    CURRENT.try_with(|current| current.borrow().as_ref().and_then(look)).ok()?
}

/// Whether this thread runs a worker.
pub(crate) fn is_current() -> bool {
    current(|_| Some(())).is_some()
}

/// The fully qualified name of the node that owns the callback running on this thread; `None`
/// outside of callbacks. Log messages can name the node with it.
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
    current(|running| Some(running.directory.get(running.callback()?)?.of.node.clone()))
}
