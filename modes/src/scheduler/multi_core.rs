//! The scheduler of the multi-core mode: pinned threads, one or several for each core.

use super::live::{self, Run};
use super::{Scheduler, Spin};
use crate::deterministic::Condition;
use crate::error::SpinError;
use crate::live_clock::End;
use crate::mapping::CorePlan;
use ringspin_executor::{Clock, Recorder, RosClock, Time, Worker};
use std::sync::Arc;
use std::time::Duration;

/// A worker for each core, on threads that live as long as a spin.
pub(crate) struct MultiCore {
    workers: Vec<(CorePlan, Worker)>,
    clock: Arc<RosClock>,
    is_started: bool,
}

impl MultiCore {
    pub(crate) fn new(workers: Vec<(CorePlan, Worker)>, clock: Arc<RosClock>) -> Self {
        Self { workers, clock, is_started: false }
    }
}

impl Scheduler for MultiCore {
    fn start(&mut self) {
        if !std::mem::replace(&mut self.is_started, true) {
            let anchor = self.clock.now();
            self.workers.iter_mut().for_each(|(_, worker)| worker.start(anchor));
        }
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn end_after(&self, duration: Duration) -> End {
        End::after(duration, &self.clock)
    }

    fn run(&mut self, spin: Spin<'_>, end: End, _: Condition<'_>) -> Result<(), SpinError> {
        live::run_pinned(&mut self.workers, Run::new(&self.clock, spin, end), spin.monitor)
    }

    fn run_one(&mut self, _: Spin<'_>, _: End) -> Result<bool, SpinError> {
        Err(SpinError::SeveralThreads)
    }

    fn run_ready(&mut self, _: Spin<'_>) -> Result<u64, SpinError> {
        Err(SpinError::SeveralThreads)
    }

    fn run_all(&mut self, _: Spin<'_>, _: End) -> Result<u64, SpinError> {
        Err(SpinError::SeveralThreads)
    }

    fn take_recorders(&mut self) -> Vec<Box<dyn Recorder>> {
        self.workers.iter_mut().filter_map(|(_, worker)| worker.set_recorder(None)).collect()
    }
}
