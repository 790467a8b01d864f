//! The context of a callback: the time of its event, and its identity. The worker builds it on its
//! stack for each dispatch, the callback reads it and may ask for a stop or a cancelled timer, and
//! the worker reads those requests when the callback has returned.

use crate::base::digest::{Digest, DigestCollector};
use crate::base::directory::LoopName;
use crate::base::event::{Dispatch, EventId, Recorder};
use crate::base::stop::StopHandle;
use crate::base::time::{Clock, SimClock, Time};
use std::sync::Arc;

/// The context of one callback invocation.
pub struct Context<'a> {
    pub(crate) clock: &'a dyn Clock,
    /// In simulated time the same clock, to be asked without a dynamic call.
    pub(crate) simulated: Option<&'a SimClock>,
    pub(crate) stop: &'a StopHandle,
    /// The names of the worker's loops. Most callbacks do not ask for theirs, so it is looked up
    /// only then.
    pub(crate) names: &'a [Arc<LoopName>],
    pub(crate) loop_index: u32,
    pub(crate) recorder: Option<&'a mut dyn Recorder>,
    pub(crate) dispatch: Dispatch,
    /// Whether a timer's callback cancelled its timer.
    pub(crate) cancelled: bool,
    /// Whether another event of the callback may be pending, as far as its entity knows.
    pub(crate) is_pending: bool,
    /// Present in simulated time only.
    pub(crate) digests: Option<&'a DigestCollector>,
    /// The text of the recorder's panic, if it had one.
    pub(crate) recorder_panic: Option<String>,
    /// The time at which the timer was due; `Time::MAX` if the event is no timer's.
    pub(crate) scheduled: Time,
}

impl Context<'_> {
    /// The executor's time: live, the time of this call; in deterministic mode the simulated time,
    /// constant throughout the callback. The only clock that a callback should read.
    #[inline]
    pub fn now(&self) -> Time {
        match self.simulated {
            Some(clock) => clock.now(),
            None => self.clock.now(),
        }
    }

    /// The time at which the timer of this callback was due: a multiple of its period after its
    /// start, or the time of its [start](crate::Timer::start_at), and never later than
    /// [`now`](Self::now). If periods were missed while the expiry waited, it is the time of the
    /// first one. `None` in callbacks of other events.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("control", Duration::ZERO)?;
    /// node.create_timer(Duration::from_millis(10), |latest: &mut Duration, cx| {
    ///     let late = cx.now() - cx.scheduled_time().expect("this is a timer's callback");
    ///     *latest = late.max(*latest);
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    #[inline]
    pub fn scheduled_time(&self) -> Option<Time> {
        (self.scheduled != Time::MAX).then_some(self.scheduled)
    }

    /// Whether time is simulated: a callback may then wait for a thread that it started, and
    /// nothing is late. For recorders and other tools; a node should behave the same in every mode.
    pub fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// The event that this callback was called for.
    pub fn event(&self) -> EventId {
        self.dispatch.event
    }

    /// The fully qualified name of the node.
    pub fn node(&self) -> &str {
        &self.name().node
    }

    /// The name of the callback group; empty for the node's default group.
    pub fn group(&self) -> &str {
        &self.name().group
    }

    fn name(&self) -> &LoopName {
        &self.names[self.loop_index as usize]
    }

    /// Adds `value` to the digest of this dispatch in deterministic mode, so that a difference
    /// between runs is found at this event. Has no effect in live modes.
    ///
    /// ```
    /// # use ringspin_executor::Graph;
    /// # use std::time::Duration;
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("filter", 0.0f64)?;
    /// node.create_timer(Duration::from_millis(10), |estimate, cx| {
    ///     *estimate *= 0.5;
    ///     cx.digest(estimate);
    /// })?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    pub fn digest<T: Digest + ?Sized>(&self, value: &T) {
        if let Some(digests) = self.digests {
            digests.add(value);
        }
    }

    /// Stops the executor once this callback has returned.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Stops the executor like [`stop`](Self::stop), with an exit code for the program: zero for
    /// success.
    pub fn exit(&self, code: u8) {
        self.stop.exit(code);
    }

    /// Cancels the timer of this callback, as [`Timer::cancel`](crate::Timer::cancel) does; has no
    /// effect in callbacks of other events.
    pub fn cancel_timer(&mut self) {
        self.cancelled = true;
    }
}
