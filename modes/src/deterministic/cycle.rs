//! Cycles without delay: an instant that does not end.
//!
//! Many events of one instant are no cycle: a timer may publish a million messages. A cycle has
//! chains of causes without end. So beyond the limit of dispatches, rounds are counted: as many
//! dispatches as were ready when the round began. In the order of the contract, each event of a
//! round was caused by one of the round before; under other policies a chain needs more rounds, by
//! the logarithm of the number of events. When there were many more rounds than the graph has
//! callbacks, some callback has caused itself, time and again.

use ringspin_executor::{CallbackId, Error, ErrorKind, GraphInfo, Monitor, Result, Time};

/// Counts the dispatches of the current instant, to name a cycle that never lets time advance.
pub(super) struct Instant {
    limit: u64,
    dispatches: u64,
    /// Since the limit was reached, and since something else than an event was the cause.
    rounds: u64,
    rounds_max: u64,
    left_in_round: usize,
    /// The callbacks dispatched after the last round.
    suspects: Vec<CallbackId>,
}

/// More rounds than that have a callback that causes itself.
fn rounds_max(callbacks: usize) -> u64 {
    32 * callbacks as u64 + 256
}

/// How many dispatches beyond the rounds are looked at to name the cycle.
const SUSPECTS: usize = 256;

impl Instant {
    pub(super) fn new(limit: u64, callbacks: usize) -> Self {
        let rounds_max = rounds_max(callbacks);
        let suspects = Vec::new();
        Self { limit, dispatches: 0, rounds: 0, rounds_max, left_in_round: 0, suspects }
    }

    pub(super) fn extend(&mut self, info: &GraphInfo) {
        self.rounds_max = rounds_max(info.callbacks.len());
    }

    /// Time advances.
    pub(super) fn over(&mut self) {
        self.dispatches = 0;
        self.left_in_round = 0;
        self.caused();
    }

    /// A timer or an item of an input is the cause of later events. The number of timers is
    /// limited, and the items of an instant have another limit.
    #[inline]
    pub(super) fn caused(&mut self) {
        self.rounds = 0;
        if !self.suspects.is_empty() {
            self.suspects.clear();
        }
    }

    /// Notes a dispatch of this instant, which has to end some time. `pending` is the number of
    /// events that are ready.
    #[inline]
    pub(super) fn dispatched(
        &mut self,
        callback: CallbackId,
        pending: impl FnOnce() -> usize,
        now: impl FnOnce() -> Time,
        monitor: &Monitor,
    ) -> Result<()> {
        self.dispatches += 1;
        if self.dispatches <= self.limit {
            return Ok(());
        }
        self.suspect(callback, pending, now, monitor)
    }

    #[cold]
    fn suspect(
        &mut self,
        callback: CallbackId,
        pending: impl FnOnce() -> usize,
        now: impl FnOnce() -> Time,
        monitor: &Monitor,
    ) -> Result<()> {
        if self.rounds > self.rounds_max {
            self.suspects.push(callback);
        } else if self.left_in_round == 0 {
            self.rounds += 1;
            self.left_in_round = pending();
        } else {
            self.left_in_round -= 1;
        }
        if self.suspects.len() < SUSPECTS {
            Ok(())
        } else {
            Err(self.error(now(), &monitor.info()))
        }
    }

    fn error(&self, time: Time, info: &GraphInfo) -> Error {
        let mut callbacks = self.suspects.clone();
        callbacks.sort_unstable();
        callbacks.dedup();
        let names: Vec<_> = callbacks.into_iter().map(|id| info.name_of(id)).collect();
        let (limit, callbacks) = (self.limit, names.join(", "));
        let text = format!(
            "more than {limit} callbacks ran at the simulated instant {time}, and it does not end: \
             these feed each other without delay: {callbacks}; give a link between them a delay, \
             or raise `instant_dispatches_max` if this ends by itself"
        );
        Error::new(ErrorKind::ZeroDelayCycle, text)
    }
}
