//! Schedulers: the interface to an executor, and an implementation for live and for simulated time.
//!
//! | module | contents |
//! |---|---|
//! | `balanced` | the scheduler of multi-core without a mapping: event loops that move |
//! | `live` | the scheduler of both live modes: workers on the real clock |
//! | `sequenced` | the deterministic scheduler |

mod balanced;
mod live;
mod sequenced;

pub(crate) use balanced::BalancedScheduler;
pub(crate) use live::LiveScheduler;

use crate::deterministic::{Condition, Sequencer};
use crate::live_clock::SpinEnd;
use ringspin_executor::{Monitor, Recorder, Result, StopHandle, Time, WaitStrategy};
use std::time::Duration;

/// Names of schedulers in [failures](ringspin_executor::Failure) outside of the callbacks.
pub(crate) const WORKER: &str = "the worker";
pub(crate) const SEQUENCER: &str = "the sequencer";

/// The settings of an executor that every spin reads.
#[derive(Clone, Copy)]
pub(crate) struct Spin<'a> {
    pub(crate) monitor: &'a Monitor,
    pub(crate) stop: &'a StopHandle,
    pub(crate) wait: WaitStrategy,
    /// The stack of a worker's own thread.
    pub(crate) stack_bytes: usize,
    /// Whether entries of a schedule that cannot be applied are an error.
    pub(crate) applies_schedule: bool,
}

/// Dispatches the events of a frozen graph: the next event, the thread and the clock are its
/// decisions. There is one implementation for the live modes and one
/// for the deterministic mode.
pub(crate) trait Scheduler: Send {
    /// Starts timers and tasks, unless they are started.
    fn start(&mut self);

    fn now(&self) -> Time;

    fn end_after(&self, duration: Duration) -> SpinEnd;

    /// Runs until the executor is stopped or `end` is reached. The deterministic scheduler also
    /// ends when nothing is left to do, or at a quiet instant at which `over` returns true.
    fn run(&mut self, spin: Spin<'_>, end: SpinEnd, over: Condition<'_>) -> Result<()>;

    /// Dispatches the next event, waiting for it until `end`; false if there was none.
    fn run_one(&mut self, spin: Spin<'_>, end: SpinEnd) -> Result<bool>;

    /// Dispatches the events that are ready now; returns their number.
    fn run_ready(&mut self, spin: Spin<'_>) -> Result<u64>;

    /// Dispatches events until none is ready or `end` is reached; returns their number.
    fn run_all(&mut self, spin: Spin<'_>, end: SpinEnd) -> Result<u64>;

    /// Takes the recorders out, in the order of the workers.
    fn take_recorders(&mut self) -> Vec<Box<dyn Recorder>>;

    /// The sequencer of the deterministic mode.
    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        None
    }
}
