//! The scheduler of the deterministic mode: the sequencer of simulated time.

use super::{SEQUENCER, Scheduler, Spin};
use crate::deterministic::{Condition, Sequencer};
use crate::live_clock::SpinEnd;
use ringspin_executor::{Recorder, Result, Time};
use std::time::Duration;

impl Scheduler for Sequencer {
    /// A sequencer starts timers and tasks when it is created.
    fn start(&mut self) {}

    fn now(&self) -> Time {
        Self::now(self)
    }

    fn end_after(&self, duration: Duration) -> SpinEnd {
        SpinEnd::At(Self::now(self) + duration)
    }

    fn run(&mut self, spin: Spin<'_>, end: SpinEnd, over: Condition<'_>) -> Result<()> {
        // Simulated time has begun.
        let SpinEnd::At(end) = end else { return Ok(()) };
        let run = || self.run_until(end, spin.stop, spin.monitor, over);
        spin.monitor.contain(SEQUENCER, run).unwrap_or(Ok(()))?;
        let not_applied = self.not_applied_yet(&spin.monitor.info());
        if spin.applies_schedule && !not_applied.is_empty() && !spin.stop.is_stopped() {
            return Err(not_applied.not_applied());
        }
        Ok(())
    }

    fn run_one(&mut self, spin: Spin<'_>, end: SpinEnd) -> Result<bool> {
        let SpinEnd::At(end) = end else { return Ok(false) };
        let run = || self.dispatch_one(end, spin.stop, spin.monitor);
        Ok(spin.monitor.contain(SEQUENCER, run).unwrap_or(Ok(None))?.is_some())
    }

    fn run_ready(&mut self, spin: Spin<'_>) -> Result<u64> {
        let run = || self.dispatch_ready(spin.stop, spin.monitor);
        spin.monitor.contain(SEQUENCER, run).unwrap_or(Ok(0))
    }

    /// Time stands still, so that `end` is not reached.
    fn run_all(&mut self, spin: Spin<'_>, _: SpinEnd) -> Result<u64> {
        let run = || self.run_instant(spin.stop, spin.monitor);
        spin.monitor.contain(SEQUENCER, run).unwrap_or(Ok(0))
    }

    fn take_recorders(&mut self) -> Vec<Box<dyn Recorder>> {
        self.take_recorder().into_iter().collect()
    }

    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        Some(self)
    }
}
