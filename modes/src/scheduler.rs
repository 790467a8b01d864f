//! Schedulers: the interface to an executor, and one implementation for each mode.
//!
//! | module | contents |
//! |---|---|
//! | `live` | worker loops on the real clock, for both live schedulers |
//! | `single_core`, `multi_core` | the live schedulers |
//! | `sequenced` | the deterministic scheduler |

mod live;
mod multi_core;
mod sequenced;
mod single_core;

pub(crate) use multi_core::MultiCore;
pub(crate) use single_core::SingleCore;

use crate::deterministic::{Condition, Sequencer};
use crate::error::SpinError;
use crate::live_clock::End;
use ringspin_executor::{Monitor, Recorder, StopHandle, Time, WaitStrategy};
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
/// decisions. There is one implementation for each mode.
pub(crate) trait Scheduler: Send {
    /// Starts timers and tasks, unless they are started.
    fn start(&mut self);

    /// The executor's time.
    fn now(&self) -> Time;

    /// The end of a spin that lasts `duration`.
    fn end_after(&self, duration: Duration) -> End;

    /// Runs until the executor is stopped or `end` is reached. The deterministic scheduler also
    /// ends when nothing is left to do, or at a quiet instant at which `over` returns true.
    fn run(&mut self, spin: Spin<'_>, end: End, over: Condition<'_>) -> Result<(), SpinError>;

    /// Dispatches the next event, waiting for it until `end`; false if there was none.
    fn run_one(&mut self, spin: Spin<'_>, end: End) -> Result<bool, SpinError>;

    /// Dispatches the events that are ready now; returns their number.
    fn run_ready(&mut self, spin: Spin<'_>) -> Result<u64, SpinError>;

    /// Dispatches events until none is ready or `end` is reached; returns their number.
    fn run_all(&mut self, spin: Spin<'_>, end: End) -> Result<u64, SpinError>;

    /// Takes the recorders out, in the order of the workers.
    fn take_recorders(&mut self) -> Vec<Box<dyn Recorder>>;

    /// The sequencer of the deterministic mode.
    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        None
    }
}
