//! The watchdog: names a callback that does not return.
//!
//! A thread beside the run wakes once in each limit, and compares the number of dispatches with
//! that of the look before; if it is the same and a callback runs, the callback has taken at least
//! that long. Both are counters that the worker writes anyway, so the run pays nothing for it. The
//! end of the run comes through a channel, which also ends the wait. The thread can only report,
//! because no thread can be ended from outside: the default ends the process.

use ringspin_executor::Error;
use ringspin_executor::StopHandle;
use ringspin_modes::catch_part;
use ringspin_ringbuf::Counter;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// A callback does not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchdogTimeout {
    /// How long it has run at least.
    pub limit: Duration,
    /// The callback, with its node.
    pub callbacks: Vec<String>,
}

impl fmt::Display for WatchdogTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, callbacks) = (self.limit, self.callbacks.join(", "));
        write!(f, "still running after {limit:?} of real time: {callbacks}")
    }
}

impl std::error::Error for WatchdogTimeout {}

impl WatchdogTimeout {
    /// Prints itself to stderr, and ends the process with exit code 124, as `timeout` does: a
    /// thread that does not return cannot be ended otherwise.
    pub fn abort(&self) {
        eprintln!("{self}");
        std::process::exit(124);
    }
}

/// Time limit of a callback, and the function that is called when it is exceeded.
pub(super) struct Watchdog<'a> {
    limit: Duration,
    report: Box<dyn Fn(&WatchdogTimeout) + Send + Sync + 'a>,
}

pub(super) struct WatchdogThread<'scope> {
    over: Sender<()>,
    thread: ScopedJoinHandle<'scope, Option<Error>>,
}

impl<'a> Watchdog<'a> {
    pub(super) fn new(
        limit: Duration,
        report: impl Fn(&WatchdogTimeout) + Send + Sync + 'a,
    ) -> Self {
        Self { limit, report: Box::new(report) }
    }

    /// Observes a run by its number of dispatches, on a thread of `scope`.
    pub(super) fn watch<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        dispatches: Arc<Counter>,
        stop: StopHandle,
    ) -> WatchdogThread<'scope> {
        let (over, end) = channel();
        let thread = scope.spawn(move || self.look(&dispatches, &stop, &end));
        WatchdogThread { over, thread }
    }

    /// Looks until the run is over; returns the first panic of the report.
    fn look(&self, dispatches: &Counter, stop: &StopHandle, end: &Receiver<()>) -> Option<Error> {
        let (mut before, mut panicked) = (None, None);
        while end.recv_timeout(self.limit) == Err(RecvTimeoutError::Timeout) {
            let now = dispatches.get();
            let callbacks = stop.running_callbacks();
            if before == Some(now) && !callbacks.is_empty() {
                let stuck = WatchdogTimeout { limit: self.limit, callbacks };
                let report = || (self.report)(&stuck);
                panicked = panicked.or(catch_part("the watchdog's report", None, report).err());
            }
            before = Some(now);
        }
        panicked
    }
}

impl WatchdogThread<'_> {
    /// The run is over: returns the first panic of the report, if it panicked.
    pub(super) fn end(self) -> Option<Error> {
        drop(self.over);
        self.thread.join().unwrap_or_default()
    }
}
