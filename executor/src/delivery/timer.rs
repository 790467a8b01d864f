//! The handle of a timer: cancel, restart, change the period, from any thread.
//!
//! A request to a timer is written into its control and becomes an event of the timer's loop, so
//! that the worker alone touches its deadlines, and the deterministic mode has its order. The
//! control is made of atomic words: nothing here waits for another thread.

use crate::base::departure::Registration;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::time::{Clock, NodeClock, Time, nanos};
use crate::delivery::ready::Notifier;
use ringspin_ringbuf::{Counter, Flag, Request};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timer(Arc<TimerControl>);

impl Timer {
    pub(crate) fn new(control: Arc<TimerControl>) -> Self {
        Self(control)
    }

    pub(crate) fn control(&self) -> &Arc<TimerControl> {
        &self.0
    }

    /// Ends the timer for good: its callback is dropped at the next pause of its event loop, and is
    /// not called any more; a call that runs finishes. From any thread, and in the timer's own
    /// callback. Further calls have no effect. Dropping the handle does not end the timer.
    pub fn destroy(&self) {
        if let Some(registration) = self.0.registration.get() {
            registration.destroy();
        }
    }

    /// Stops the timer until it is [`reset`](Self::reset). An expiry is withdrawn unless its
    /// callback has begun.
    pub fn cancel(&self) {
        self.0.request(CANCEL);
    }

    /// Starts the timer anew: it is due a period after now. An expiry is withdrawn unless its
    /// callback has begun.
    pub fn reset(&self) {
        self.start_at(self.0.clock.now() + self.period());
    }

    /// Starts the timer anew, due at `time` and, if it repeats, every period after that; if `time`
    /// is over, the periods since then are missed. An expiry is withdrawn unless its callback has
    /// begun.
    pub fn start_at(&self, time: Time) {
        self.0.request(time.as_nanos().min(LATEST));
    }

    /// Sets the deadline of a timer that [keeps earlier deadlines](Self::keep_earlier) to `time`,
    /// unless it is due earlier.
    pub(crate) fn start_by(&self, time: Time) {
        self.0.request.post_min(time.as_nanos().min(LATEST));
        self.0.changed.notify();
    }

    /// From now on no request removes an earlier deadline or an expiry. To be called before the
    /// graph is frozen, on a one-shot timer.
    pub(crate) fn keep_earlier(&self) {
        self.0.keeps_earlier.raise();
    }

    /// Changes the period, in which the timer repeats after its next deadline, which stays.
    ///
    /// # Errors
    /// Fails for zero, or more than 584 years.
    pub fn set_period(&self, period: Duration) -> Result<()> {
        self.0.period.set(period_ns(period)?);
        self.0.changed.notify();
        Ok(())
    }

    /// The period; of a one-shot timer, its delay.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.0.period.get())
    }

    /// The time until the timer is due; zero if it is overdue, `None` if it was cancelled, has had
    /// its one shot, or the executor has not started.
    pub fn time_until_next(&self) -> Option<Duration> {
        let deadline = match self.0.request.posted() {
            Some(CANCEL) => return None,
            Some(time) => time,
            None => self.0.deadline.get(),
        };
        let deadline = Time::from_nanos(deadline);
        (deadline != Time::MAX).then(|| deadline.since(self.0.clock.now()))
    }

    /// Whether the timer was cancelled, or has had its one shot.
    pub fn is_cancelled(&self) -> bool {
        match self.0.request.posted() {
            Some(request) => request == CANCEL,
            None => self.0.deadline.get() == u64::MAX && self.0.started.is_raised(),
        }
    }
}

pub(crate) fn period_ns(period: Duration) -> Result<u64> {
    match nanos(period) {
        0 | u64::MAX => {
            let text = format!("timer period {period:?} is out of range; use 1 ns to 584 years");
            Err(Error::new(ErrorKind::InvalidArgument, text))
        }
        ns => Ok(ns),
    }
}

/// The request to stop; any other one is the next deadline in nanoseconds.
pub(crate) const CANCEL: u64 = u64::MAX - 1;
/// The request for the latest deadline. It stands for all later ones, and is never reached.
pub(crate) const LATEST: u64 = CANCEL - 1;

/// The state that a timer's handles share with its worker.
#[derive(Debug)]
#[repr(C, align(16))] // request and deadline, which every expiry needs, share a cache line
pub(crate) struct TimerControl {
    /// The pending request to the timer; settled by the worker. An expiry from before it is not
    /// dispatched any more.
    pub(crate) request: Request,
    /// The next deadline in nanoseconds, `u64::MAX` if there is none; written by the worker.
    pub(crate) deadline: Counter,
    name: String,
    clock: NodeClock,
    /// False for a one-shot timer.
    pub(crate) repeats: bool,
    /// Whether requests only ever bring the next deadline forward.
    pub(crate) keeps_earlier: Flag,
    /// Nanoseconds, not zero.
    pub(crate) period: Counter,
    /// Whether the worker has started the timer.
    pub(crate) started: Flag,
    /// Tells the worker of a change.
    pub(crate) changed: Arc<Notifier>,
    /// Set if its handle may destroy it.
    pub(crate) registration: OnceLock<Registration>,
}

impl TimerControl {
    pub(crate) fn new(name: String, clock: NodeClock, period: u64, repeats: bool) -> Self {
        let (deadline, period_of) = (Counter::default(), Counter::default());
        deadline.set(u64::MAX);
        period_of.set(period);
        Self {
            request: Request::default(),
            deadline,
            name,
            clock,
            repeats,
            keeps_earlier: Flag::default(),
            period: period_of,
            started: Flag::default(),
            changed: Arc::default(),
            registration: OnceLock::new(),
        }
    }

    fn request(&self, request: u64) {
        self.request.post(request);
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
