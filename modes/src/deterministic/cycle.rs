//! Cycles without delay: an instant that does not end.

use crate::error::SpinError;
use ringspin_executor::{CallbackId, GraphInfo, Time};

/// Counts the dispatches of the current instant, to name a cycle that never lets time go on.
pub(super) struct Instant {
    limit: u64,
    dispatches: u64,
    /// The callbacks dispatched after the limit was reached.
    suspects: Vec<CallbackId>,
}

/// How many dispatches beyond the limit are looked at to name the cycle.
const SUSPECTS: usize = 256;

impl Instant {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, dispatches: 0, suspects: Vec::new() }
    }

    /// Time goes on.
    pub(super) fn over(&mut self) {
        self.dispatches = 0;
        self.suspects.clear();
    }

    /// Notes a dispatch of this instant, which has to end some time.
    #[inline]
    pub(super) fn dispatched(
        &mut self,
        callback: CallbackId,
        now: impl FnOnce() -> Time,
        info: &GraphInfo,
    ) -> Result<(), Box<SpinError>> {
        self.dispatches += 1;
        if self.dispatches <= self.limit {
            return Ok(());
        }
        self.suspect(callback, now(), info)
    }

    #[cold]
    fn suspect(
        &mut self,
        callback: CallbackId,
        now: Time,
        info: &GraphInfo,
    ) -> Result<(), Box<SpinError>> {
        self.suspects.push(callback);
        if self.suspects.len() < SUSPECTS { Ok(()) } else { Err(self.error(now, info).into()) }
    }

    fn error(&self, time: Time, info: &GraphInfo) -> SpinError {
        let mut callbacks = self.suspects.clone();
        callbacks.sort_unstable();
        callbacks.dedup();
        let names: Vec<_> = callbacks.into_iter().map(|id| info.name_of(id)).collect();
        SpinError::ZeroDelayCycle { time, limit: self.limit, callbacks: names.join(", ") }
    }
}
