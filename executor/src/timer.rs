//! The handle of a timer: cancel, restart, change the period, from any thread.
//!
//! What is asked of a timer is written into its control and becomes an event of the timer's loop,
//! so that the worker alone touches its deadlines, and the deterministic mode has its order.

use crate::lock::lock;
use crate::notifier::Notifier;
use crate::time::{Clock, NodeClock, Time, nanos};
use ringspin_ringbuf::Counter;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use thiserror::Error;

/// A timer; cheap to clone, and usable from any thread.
///
/// ```
/// # use ringspin_executor::Graph;
/// use std::time::Duration;
/// # let graph = Graph::new();
/// # let node = graph.create_node("watchdog", ())?;
/// let timeout = node.create_timer(Duration::from_secs(1), |_, _| println!("no sign of life"))?;
/// let alive = timeout.clone();
/// // In the callback of each sign of life:
/// alive.reset();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timer(Arc<TimerControl>);

/// A timer's period was out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a timer cannot have a period of {0:?}; use 1 ns to 584 years")]
pub struct PeriodError(
    /// The period as given.
    pub Duration,
);

impl Timer {
    pub(crate) fn new(control: Arc<TimerControl>) -> Self {
        Self(control)
    }

    pub(crate) fn control(&self) -> &Arc<TimerControl> {
        &self.0
    }

    /// Stops the timer until it is [`reset`](Self::reset). An expiry whose callback has not begun
    /// is withdrawn.
    pub fn cancel(&self) {
        self.0.request(Request::Cancel);
    }

    /// Starts the timer anew: it is due a period after now. An expiry whose callback has not begun
    /// is withdrawn.
    pub fn reset(&self) {
        self.start_at(self.0.clock.now() + self.period());
    }

    /// Starts the timer anew, due at `time` and, if it repeats, every period after that. An expiry
    /// whose callback has not begun is withdrawn.
    pub fn start_at(&self, time: Time) {
        self.0.request(Request::At(time));
    }

    /// Changes the period, in which the timer repeats after its next deadline, which stays.
    ///
    /// # Errors
    /// [`PeriodError`] for zero, or more than 584 years.
    pub fn set_period(&self, period: Duration) -> Result<(), PeriodError> {
        self.0.settings().period = period_ns(period)?;
        self.0.changed.notify();
        Ok(())
    }

    /// The period; of a one-shot timer, its delay.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.0.settings().period)
    }

    /// The time until the timer is due; zero if it is overdue, `None` if it was cancelled, has had
    /// its one shot, or the executor has not started.
    pub fn time_until_next(&self) -> Option<Duration> {
        let requested = match self.0.settings().request {
            Some(Request::Cancel) => return None,
            Some(Request::At(time)) => Some(time),
            None => None,
        };
        let deadline = requested.unwrap_or(Time::from_nanos(self.0.deadline.get()));
        (deadline != Time::MAX).then(|| deadline.since(self.0.clock.now()))
    }

    /// Whether the timer was cancelled, or has had its one shot.
    pub fn is_cancelled(&self) -> bool {
        let settings = self.0.settings();
        match settings.request {
            Some(request) => matches!(request, Request::Cancel),
            None => self.0.deadline.get() == u64::MAX && settings.started,
        }
    }
}

/// A period in nanoseconds.
pub(crate) fn period_ns(period: Duration) -> Result<u64, PeriodError> {
    match nanos(period) {
        0 | u64::MAX => Err(PeriodError(period)),
        ns => Ok(ns),
    }
}

/// What is asked of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Cancel,
    At(Time),
}

/// What may be changed from any thread. A lock, because that is rare and no part of a timer's
/// expiry.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Nanoseconds, not zero.
    pub(crate) period: u64,
    /// What the worker has not done yet.
    pub(crate) request: Option<Request>,
    /// Whether the worker has started the timer.
    pub(crate) started: bool,
}

/// What a timer's handles share with its worker.
#[derive(Debug)]
#[repr(C, align(16))] // version and deadline, which every expiry needs, share a cache line
pub(crate) struct TimerControl {
    /// Counts the requests: an expiry of another version is not dispatched any more.
    pub(crate) version: Counter,
    /// The next deadline in nanoseconds, `u64::MAX` if there is none; written by the worker.
    pub(crate) deadline: Counter,
    name: String,
    clock: NodeClock,
    /// False for a one-shot timer.
    pub(crate) repeats: bool,
    settings: Mutex<Settings>,
    /// Tells the worker of a change.
    pub(crate) changed: Arc<Notifier>,
}

impl TimerControl {
    pub(crate) fn new(name: String, clock: NodeClock, period: u64, repeats: bool) -> Self {
        let deadline = Counter::default();
        deadline.set(u64::MAX);
        Self {
            name,
            clock,
            repeats,
            settings: Mutex::new(Settings { period, request: None, started: false }),
            changed: Arc::default(),
            version: Counter::default(),
            deadline,
        }
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        lock(&self.settings)
    }

    fn request(&self, request: Request) {
        let mut settings = self.settings();
        settings.request = Some(request);
        self.version.next();
        drop(settings);
        self.changed.notify();
    }

    /// Logs missed periods: the first, and then whenever their number has doubled.
    #[cold]
    pub(crate) fn report_missed(&self, before: u64, missed: u64) {
        let total = before + missed;
        if before.checked_ilog2() != total.checked_ilog2() {
            let timer = &*self.name;
            tracing::warn!(timer, missed = total, "periods passed without a call");
        }
    }
}
