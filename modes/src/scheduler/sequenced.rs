//! The scheduler of the deterministic mode: the sequencer of simulated time.

use super::{Exchange, SEQUENCER, Scheduler, Spin, Step};
use crate::deterministic::{Condition, Sequencer};
use crate::live_clock::SpinEnd;
use ringspin_executor::{Result, Time};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a step lasts in real time, unless its last instant is longer.
const STEP: Duration = Duration::from_millis(1);

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
        self.check_schedule(spin)
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

    fn wake_by(&mut self, _: Arc<dyn Fn() + Send + Sync>) -> bool {
        // It never rests by itself, and waits for threads as one of them.
        !self.is_among_threads()
    }

    fn step(&mut self, spin: Spin<'_>) -> Result<Step> {
        let (began, mut is_busy) = (Instant::now(), false);
        let mut over = |_| {
            is_busy = began.elapsed() >= STEP;
            is_busy
        };
        let run = || self.run_until(Time::MAX, spin.stop, spin.monitor, &mut over);
        spin.monitor.contain(SEQUENCER, run).unwrap_or(Ok(()))?;
        if is_busy {
            return Ok(Step::Busy);
        }
        self.check_schedule(spin).map(|()| Step::Ended)
    }

    fn each_recorder(&mut self, exchange: Exchange<'_>) {
        let mut recorder = self.replace_recorder(None);
        exchange(&mut recorder);
        self.replace_recorder(recorder);
    }

    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        Some(self)
    }
}

impl Sequencer {
    /// Fails if entries of a schedule were not applied in a run that has ended, and should be.
    fn check_schedule(&self, spin: Spin<'_>) -> Result<()> {
        let not_applied = self.not_applied_yet(&spin.monitor.info());
        if spin.applies_schedule && !not_applied.is_empty() && !spin.stop.is_stopped() {
            return Err(not_applied.not_applied());
        }
        Ok(())
    }
}
