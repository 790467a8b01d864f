//! Timers.
//!
//! A timer of the graph is the clockwork: it is due each period, whether there is a callback or
//! not. The callback lies in a slot, from which it is taken while it runs, so that it can be
//! exchanged then, too.

mod callback;
mod options;

pub use callback::{
    AnyTimerCallback, IntoNodeTimerOneshotCallback, IntoNodeTimerRepeatingCallback,
    IntoWorkerTimerOneshotCallback, IntoWorkerTimerRepeatingCallback,
};
pub use options::{IntoTimerOptions, TimerClock, TimerOptions};

use crate::clock::{Clock, Time};
use crate::error::{RclReturnCode, RclrsError};
use crate::event_loop::{EventLoop, Slot, State};
use crate::node::{Node, NodeState};
use crate::worker::{WorkScope, Worker};
use ringspin::ErrorKind;
use ringspin_adapter::lock;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

/// A handle of a timer of a node.
pub type Timer = Arc<TimerState<Node>>;

/// A handle of a timer of a worker.
pub type WorkerTimer<Payload> = Arc<TimerState<Worker<Payload>>>;

/// Calls a callback each period, until its last handle is dropped.
///
/// Created by [`NodeState::create_timer_repeating`](crate::NodeState::create_timer_repeating) and
/// its relatives. The first period begins with the executor, or with the timer if that is later. A
/// late call does not move the later ones, and periods that are over when it begins are left out.
///
/// # Clocks
/// All timers run by the clock of the executor: simulated time in deterministic mode, the time of
/// `/clock` if `use_sim_time` says so, and else a time that no correction of the system time moves.
/// So with `use_sim_time` timers of steady and system time follow `/clock`, where those of rclrs
/// follow the system. The [clock](Self::clock) of a timer is that of the options: it gives the time
/// that callbacks take, and that of [`last_elapse`](Self::last_elapse) and
/// [`time_since_last_call`](Self::time_since_last_call).
pub struct TimerState<Scope: WorkScope> {
    timer: ringspin::Timer,
    clock: Clock,
    callback: Slot<AnyTimerCallback<Scope>>,
    calls: Mutex<Calls>,
    event_loop: Arc<EventLoop<Scope::Payload>>,
}

struct Calls {
    /// The time of the last call or reset, else of the creation.
    last: Time,
    /// The time between the last call and its predecessor.
    last_elapse: Duration,
}

impl<Scope: WorkScope> TimerState<Scope> {
    /// # Errors
    /// [`RclReturnCode::InvalidArgument`] for a period of zero or beyond 584 years;
    /// [`RclReturnCode::Unsupported`] for a clock with a [`ClockSource`](crate::ClockSource);
    /// another one after the end of the executor.
    pub(crate) fn create(
        node: &NodeState,
        event_loop: &Arc<EventLoop<Scope::Payload>>,
        options: TimerOptions<'_>,
        callback: AnyTimerCallback<Scope>,
    ) -> Result<Arc<Self>, RclrsError> {
        let clock = options.clock.of(node);
        if clock.has_source() {
            let text = "failed to create a timer: its clock has a source, which no timer follows; \
                        use `node_time` and publish the time on /clock";
            return Err(RclrsError::of(RclReturnCode::Unsupported, text));
        }
        // A timer that is due before this is set leaves that call out.
        let created = Arc::new(OnceLock::<Weak<Self>>::new());
        let due = created.clone();
        let call = move |state: &mut State<Scope::Payload>, _: &mut ringspin::Context<'_>| {
            if let Some(timer) = due.get().and_then(Weak::upgrade) {
                timer.call(&mut state.payload);
                state.notify();
            }
        };
        let failed = |error: ringspin::Error| {
            let is_period = error.kind() == ErrorKind::InvalidArgument;
            let code =
                if is_period { RclReturnCode::InvalidArgument } else { RclReturnCode::Error };
            RclrsError::of(code, error)
        };
        let timer = event_loop.node.create_timer(options.period, call).map_err(failed)?;
        let calls = Mutex::new(Calls { last: clock.now(), last_elapse: Duration::ZERO });
        let (callback, event_loop) = (Slot::new(callback), event_loop.clone());
        let this = Arc::new(Self { timer, clock, callback, calls, event_loop });
        let _ = created.set(Arc::downgrade(&this));
        Ok(this)
    }

    fn call(self: &Arc<Self>, payload: &mut Scope::Payload) {
        let now = self.clock.now();
        let mut calls = lock(&self.calls);
        calls.last_elapse = calls.until(&now);
        calls.last = now;
        drop(calls);
        self.callback.with(|callback| callback.call(payload, self));
    }

    /// The period.
    ///
    /// # Errors
    /// None.
    pub fn get_timer_period(&self) -> Result<Duration, RclrsError> {
        Ok(self.timer.period())
    }

    /// Stops the timer until a [`reset`](Self::reset). A call that is due is withdrawn, unless it
    /// has begun.
    ///
    /// # Errors
    /// None.
    pub fn cancel(&self) -> Result<(), RclrsError> {
        self.timer.cancel();
        Ok(())
    }

    /// Whether the timer was stopped by [`cancel`](Self::cancel).
    ///
    /// # Errors
    /// None.
    pub fn is_canceled(&self) -> Result<bool, RclrsError> {
        Ok(self.timer.is_cancelled())
    }

    /// The time between the begin of the last call and the call or reset before it, or the
    /// creation. Zero before the first call.
    pub fn last_elapse(&self) -> Duration {
        lock(&self.calls).last_elapse
    }

    /// The time since the begin of the last call, the last reset, or the creation.
    ///
    /// # Errors
    /// None.
    pub fn time_since_last_call(&self) -> Result<Duration, RclrsError> {
        let now = self.clock.now();
        Ok(lock(&self.calls).until(&now))
    }

    /// The time until the timer is due: zero if it is overdue, where rclrs has an error, and the
    /// period before the executor runs.
    ///
    /// # Errors
    /// [`RclReturnCode::TimerCanceled`] after [`cancel`](Self::cancel).
    pub fn time_until_next_call(&self) -> Result<Duration, RclrsError> {
        match self.timer.time_until_next() {
            Some(time) => Ok(time),
            None if self.timer.is_cancelled() => {
                let text = "failed to find the next call of a timer: it was cancelled; reset it";
                Err(RclrsError::of(RclReturnCode::TimerCanceled, text))
            }
            None => Ok(self.timer.period()),
        }
    }

    /// Starts the timer anew, also after [`cancel`](Self::cancel): it is due a period after now.
    ///
    /// # Errors
    /// If the graph cannot run in its mode.
    pub fn reset(&self) -> Result<(), RclrsError> {
        // Before that the clock of the executor stands at zero.
        self.event_loop.app.start()?;
        lock(&self.calls).last = self.clock.now();
        self.timer.reset();
        Ok(())
    }

    /// Whether the timer is due and not cancelled. An executor that spins takes note of that at
    /// once, and the answer is that for the next period.
    ///
    /// # Errors
    /// None.
    pub fn is_ready(&self) -> Result<bool, RclrsError> {
        Ok(self.timer.time_until_next().is_some_and(|time| time.is_zero()))
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Calls `callback` from the next period on. Returns the callback before it; `None` in that
    /// callback itself.
    pub fn set_callback(
        &self,
        callback: AnyTimerCallback<Scope>,
    ) -> Option<AnyTimerCallback<Scope>> {
        self.callback.set(Some(callback))
    }

    /// Calls nothing from the next period on; the timer stays. Returns the callback before;
    /// `None` in that callback itself.
    pub fn set_inert(&self) -> Option<AnyTimerCallback<Scope>> {
        self.set_callback(AnyTimerCallback::Inert)
    }
}

impl TimerState<Node> {
    /// Calls `f` each period from the next one on. Returns the callback before it; `None` in that
    /// callback itself.
    pub fn set_repeating<Args>(
        &self,
        f: impl IntoNodeTimerRepeatingCallback<Args>,
    ) -> Option<AnyTimerCallback<Node>> {
        self.set_callback(f.into_node_timer_repeating_callback())
    }

    /// Calls `f` in the next period, and nothing after that. Returns the callback before it;
    /// `None` in that callback itself.
    pub fn set_oneshot<Args>(
        &self,
        f: impl IntoNodeTimerOneshotCallback<Args>,
    ) -> Option<AnyTimerCallback<Node>> {
        self.set_callback(f.into_node_timer_oneshot_callback())
    }
}

impl<Payload: 'static + Send + Sync> TimerState<Worker<Payload>> {
    /// Calls `f` each period from the next one on. Returns the callback before it; `None` in that
    /// callback itself.
    pub fn set_worker_repeating<Args>(
        &self,
        f: impl IntoWorkerTimerRepeatingCallback<Worker<Payload>, Args>,
    ) -> Option<AnyTimerCallback<Worker<Payload>>> {
        self.set_callback(f.into_worker_timer_repeating_callback())
    }

    /// Calls `f` in the next period, and nothing after that. Returns the callback before it;
    /// `None` in that callback itself.
    pub fn set_worker_oneshot<Args>(
        &self,
        f: impl IntoWorkerTimerOneshotCallback<Worker<Payload>, Args>,
    ) -> Option<AnyTimerCallback<Worker<Payload>>> {
        self.set_callback(f.into_worker_timer_oneshot_callback())
    }
}

impl Calls {
    /// The time from the last call to `now`; zero if the clock went back meanwhile.
    fn until(&self, now: &Time) -> Duration {
        let elapsed = now.nsec.saturating_sub(self.last.nsec);
        Duration::from_nanos(u64::try_from(elapsed).unwrap_or(0))
    }
}

impl<Scope: WorkScope> Drop for TimerState<Scope> {
    fn drop(&mut self) {
        self.timer.destroy();
    }
}

impl<Scope: WorkScope> PartialEq for TimerState<Scope> {
    /// Whether it is the same timer.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl<Scope: WorkScope> fmt::Debug for TimerState<Scope> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = self.timer.period();
        f.debug_struct("Timer").field("period", &period).finish_non_exhaustive()
    }
}
