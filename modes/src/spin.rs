//! Spinning in steps, for programs with another loop.

use crate::executor::Executor;
use ringspin_executor::Result;
use std::time::Duration;

impl Executor {
    /// Dispatches the next event, waiting for it up to `timeout` of the executor's time. Returns
    /// false if there was none.
    ///
    /// In deterministic mode time jumps to the event, or over the timeout.
    ///
    /// # Errors
    /// Fails in multi-core mode.
    pub fn spin_once(&mut self, timeout: Duration) -> Result<bool> {
        self.freeze()?;
        let end = self.end_after(timeout);
        let dispatched = self.scheduled(|scheduler, spin| scheduler.run_one(spin, end))?;
        self.failed().map(|()| dispatched)
    }

    /// Dispatches the events that are ready now, and none that become ready by that, without
    /// waiting. Returns how many there were.
    ///
    /// In deterministic mode a due timer is ready only when no other event is: call it until it
    /// returns zero, or [`spin_all`](Self::spin_all), to make the instant quiet.
    ///
    /// # Errors
    /// Fails in multi-core mode, or if a callback fails under the policy that stops.
    pub fn spin_some(&mut self) -> Result<u64> {
        self.freeze()?;
        let dispatched = self.scheduled(|scheduler, spin| scheduler.run_ready(spin))?;
        self.failed().map(|()| dispatched)
    }

    /// Dispatches events, also those that become ready meanwhile, until none is left or `max` of
    /// the executor's time has passed, without waiting. Returns how many there were.
    ///
    /// # Errors
    /// Fails in multi-core mode, or if a callback fails under the policy that stops.
    pub fn spin_all(&mut self, max: Duration) -> Result<u64> {
        self.freeze()?;
        let end = self.end_after(max);
        let dispatched = self.scheduled(|scheduler, spin| scheduler.run_all(spin, end))?;
        self.failed().map(|()| dispatched)
    }
}
