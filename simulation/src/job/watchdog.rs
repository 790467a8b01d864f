//! The watchdog: names a callback that does not return.

use ringspin_executor::StopHandle;
use ringspin_modes::Panicked;
use ringspin_ringbuf::Counter;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use thiserror::Error;

/// A callback does not return.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("still running after {limit:?} of real time: {}", callbacks.join(", "))]
pub struct WatchdogTimeout {
    /// How long it has run at least.
    pub limit: Duration,
    /// The callback, with its node.
    pub callbacks: Vec<String>,
}

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

/// The run that a watchdog observes.
pub(super) struct Watched<'a> {
    watchdog: &'a Watchdog<'a>,
    dispatches: Arc<Counter>,
    stop: StopHandle,
    /// The panic of its report.
    panicked: OnceLock<Panicked>,
}

/// The watchdog's thread ends with this.
pub(super) struct Leash {
    _over: Sender<()>,
}

impl<'a> Watchdog<'a> {
    pub(super) fn new(
        limit: Duration,
        report: impl Fn(&WatchdogTimeout) + Send + Sync + 'a,
    ) -> Self {
        Self { limit, report: Box::new(report) }
    }

    pub(super) fn watching(&'a self, dispatches: Arc<Counter>, stop: StopHandle) -> Watched<'a> {
        Watched { watchdog: self, dispatches, stop, panicked: OnceLock::new() }
    }
}

impl Watched<'_> {
    /// Watches on a thread of `scope`.
    pub(super) fn watch<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, '_>,
    ) -> Leash {
        let (over, end) = channel();
        scope.spawn(move || self.look(&end));
        Leash { _over: over }
    }

    /// The first panic of the report, if it panicked.
    pub(super) fn panicked(self) -> Option<Panicked> {
        self.panicked.into_inner()
    }

    fn look(&self, end: &Receiver<()>) {
        let mut before = None;
        while end.recv_timeout(self.watchdog.limit) == Err(RecvTimeoutError::Timeout) {
            let now = self.dispatches.get();
            let callbacks = self.stop.running_callbacks();
            if before == Some(now) && !callbacks.is_empty() {
                let stuck = WatchdogTimeout { limit: self.watchdog.limit, callbacks };
                let report = || (self.watchdog.report)(&stuck);
                if let Err(panic) = Panicked::catch("the watchdog's report", None, report) {
                    self.panicked.get_or_init(|| panic);
                }
            }
            before = Some(now);
        }
    }
}
