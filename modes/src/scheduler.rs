//! Schedulers: the interface to an executor, and an implementation for live and for simulated time.
//!
//! | module | contents |
//! |---|---|
//! | `balanced` | the scheduler of multi-core with event loops that move |
//! | `live` | the scheduler of both live modes with fixed loops: workers on the real clock |
//! | `replay` | repeats the record of a live run |
//! | `sequenced` | the deterministic scheduler |
//! | `warm_up` | memory that is fetched before a timer is due |

mod balanced;
mod live;
mod replay;
mod sequenced;
mod warm_up;

pub(crate) use balanced::BalancedScheduler;
pub(crate) use live::LiveScheduler;
pub(crate) use replay::{Replayer, network};

use crate::deterministic::{Condition, Sequencer};
use crate::live_clock::SpinEnd;
use crate::mapping::Mapping;
use ringspin_executor::{
    Error, ErrorKind, GraphInfo, Monitor, Recorder, Result, StopHandle, Time, WaitStrategy,
};
use std::sync::Arc;
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

/// How a [step](Scheduler::step) ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Step {
    /// The executor was stopped, or nothing is left to do.
    #[default]
    Ended,
    /// There may be another event.
    Busy,
    /// There is no event until one is announced, or for this time.
    Rest(Option<Duration>),
}

/// Exchanges the recorder of a worker.
pub(crate) type Exchange<'a> = &'a mut dyn FnMut(&mut Option<Box<dyn Recorder>>);

/// Dispatches the events of a frozen graph: the next event, the thread and the clock are its
/// decisions.
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

    /// Has `waker` called when an event is ready after a [rest](Step::Rest); false if this
    /// scheduler runs on threads that it starts.
    fn wake_by(&mut self, _waker: Arc<dyn Fn() + Send + Sync>) -> bool {
        false
    }

    /// Dispatches events for a moment, without waiting. Only for schedulers that can be
    /// [woken](Self::wake_by).
    fn step(&mut self, _spin: Spin<'_>) -> Result<Step> {
        Ok(Step::Ended)
    }

    /// The cores of the threads that any loop may run on; none with fixed loops.
    fn shared_cores(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Has `mapping` decide from here on which thread runs which loops of the graph `info`.
    ///
    /// # Errors
    /// Fails if this scheduler has fixed loops, or the mapping does not fit its threads.
    fn remap(&mut self, _info: &GraphInfo, _mapping: &Mapping) -> Result<()> {
        let text = "event loops move only in the multi-core mode, and not after a start with \
                    `balance = false` or a default core: leave both out of its first mapping";
        Err(Error::new(ErrorKind::Unsupported, text))
    }

    /// Calls `exchange` with the recorder of each worker, in the order of the workers.
    fn each_recorder(&mut self, exchange: Exchange<'_>);

    /// The sequencer of the deterministic mode.
    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        None
    }
}
