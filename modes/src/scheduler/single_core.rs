//! The scheduler of the single-core mode: every event loop on the thread that spins.

use super::live::{self, Run};
use super::{Scheduler, Spin, WORKER};
use crate::deterministic::Condition;
use crate::error::SpinError;
use crate::live_clock::End;
use ringspin_executor::{Clock, Recorder, RosClock, Time, Worker};
use std::sync::Arc;
use std::time::Duration;

/// One worker, which runs on the thread that spins.
pub(crate) struct SingleCore {
    worker: Box<Worker>,
    clock: Arc<RosClock>,
    is_started: bool,
}

impl SingleCore {
    pub(crate) fn new(worker: Worker, clock: Arc<RosClock>) -> Self {
        Self { worker: Box::new(worker), clock, is_started: false }
    }
}

impl Scheduler for SingleCore {
    fn start(&mut self) {
        if !std::mem::replace(&mut self.is_started, true) {
            self.worker.start(self.clock.now());
        }
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn end_after(&self, duration: Duration) -> End {
        End::after(duration, &self.clock)
    }

    fn run(&mut self, spin: Spin<'_>, end: End, _: Condition<'_>) -> Result<(), SpinError> {
        let Self { worker, clock, .. } = self;
        let run = Run::new(clock, spin, end);
        spin.monitor.contain(WORKER, || live::run_worker(worker, run));
        Ok(())
    }

    fn run_one(&mut self, spin: Spin<'_>, end: End) -> Result<bool, SpinError> {
        let Self { worker, clock, .. } = self;
        let run = || live::run_one(worker, clock, spin.stop, end);
        Ok(spin.monitor.contain(WORKER, run).unwrap_or_default())
    }

    fn run_ready(&mut self, spin: Spin<'_>) -> Result<u64, SpinError> {
        let Self { worker, clock, .. } = self;
        let run = || live::run_ready(worker, clock, spin.stop);
        Ok(spin.monitor.contain(WORKER, run).unwrap_or_default())
    }

    fn run_all(&mut self, spin: Spin<'_>, end: End) -> Result<u64, SpinError> {
        let Self { worker, clock, .. } = self;
        let run = || live::run_all(worker, clock, spin.stop, end);
        Ok(spin.monitor.contain(WORKER, run).unwrap_or_default())
    }

    fn take_recorders(&mut self) -> Vec<Box<dyn Recorder>> {
        self.worker.set_recorder(None).into_iter().collect()
    }
}
