//! Contention: callbacks that progress more slowly while other cores are busy.
//!
//! Cores can share something: two virtual cores the units of a physical one, others a cache or a
//! memory bus. While other cores are busy, a callback progresses at a fraction of its speed alone,
//! so its end moves whenever a callback begins or ends elsewhere. Until it has ended, its messages
//! are [held](ringspin_executor::SimNetwork::hold_for), and recorders have not been told.
//!
//! All numbers are integers. The rest of a call is rounded down to a nanosecond whenever its speed
//! changes: no call takes longer than one that is slowed down throughout.

use super::timing::Call;
use ringspin_executor::{LoopId, Time};
use std::time::Duration;

/// How much the virtual cores of a simulation slow each other down.
///
/// The slowdown is linear in the number of other cores that run a callback: none without them, the
/// full one while all of them do. That is exact on two cores. On several pairs of virtual cores it
/// is the mean over the places of the busy ones, because which cores are pairs is not modelled. All
/// callbacks have the same slowdown.
///
/// Links and lifespans see messages leave when the call would have ended without other cores, and
/// what callbacks on several cores send by one publisher can overtake each other.
///
/// ```
/// use ringspin_modes::deterministic::Contention;
/// use std::time::Duration;
/// let pairs = Contention { slowdown_percent: 190, cores: 4 };
/// let ms = Duration::from_millis(10);
/// let beside = [0, 1, 2, 3].map(|others| pairs.slowed(ms, others, 2).as_millis());
/// assert_eq!(beside, [10, 13, 16, 19]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// The duration of a callback while all other cores are busy, in percent of its duration alone;
    /// with 100 or less, cores do not slow each other down.
    pub slowdown_percent: u32,
    /// The number of cores of the machine on which that was measured. With more virtual cores than
    /// that, the slowdown is the one while all of those are busy.
    pub cores: u32,
}

impl Default for Contention {
    /// None.
    fn default() -> Self {
        Self { slowdown_percent: 100, cores: 1 }
    }
}

impl Contention {
    /// Whether cores do not slow each other down.
    pub fn is_none(&self) -> bool {
        self.slowdown_percent <= 100
    }

    /// The time of a callback that takes `alone` without other cores, while `others` of them are
    /// busy throughout, on a machine with `cores`; rounded down to a nanosecond.
    pub fn slowed(&self, alone: Duration, others: usize, cores: usize) -> Duration {
        let work_ns = u64::try_from(alone.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.pace(others, cores).time_ns(work_ns))
    }

    fn pace(&self, others: usize, cores: usize) -> Pace {
        let span = u128::from(self.cores).max(cores as u128).saturating_sub(1).max(1);
        let extra = u128::from(self.slowdown_percent.saturating_sub(100));
        let alone = 100 * span;
        Pace { time: alone + extra * span.min(others as u128), alone }
    }
}

/// A speed: what takes `alone` without other cores takes `time`.
#[derive(Clone, Copy)]
struct Pace {
    time: u128,
    alone: u128,
}

impl Pace {
    fn time_ns(self, work_ns: u64) -> u64 {
        let ns = u128::from(work_ns) * self.time / self.alone;
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The work that is done in this time, rounded up.
    fn work_ns(self, time_ns: u64) -> u64 {
        let ns = (u128::from(time_ns) * self.alone).div_ceil(self.time);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// The running calls of cores with contention.
pub(super) struct RunningCalls {
    contention: Contention,
    cores: usize,
    calls: Vec<RunningCall>,
}

/// A call that has not ended.
pub(super) struct RunningCall {
    pub(super) event_loop: LoopId,
    pub(super) call: Call,
    /// The end as things stand.
    pub(super) end: Time,
    core: u32,
    /// The work that is left at `since`, as time without other cores.
    left_ns: u64,
    since: Time,
    /// The number of busy cores that `end` is for; 0 before the first one.
    busy: usize,
}

impl RunningCalls {
    pub(super) fn new(contention: Contention, cores: usize) -> Self {
        Self { contention, cores, calls: Vec::with_capacity(cores) }
    }

    /// A call begins at `now` on this core.
    pub(super) fn begin(&mut self, core: u32, event_loop: LoopId, call: Call, now: Time) {
        let left_ns = call.end.since(now).as_nanos() as u64;
        let (since, end) = (now, call.end);
        self.calls.push(RunningCall { event_loop, call, end, core, left_ns, since, busy: 0 });
    }

    /// Moves the ends of the calls, if the number of busy cores has changed; whether it has. To be
    /// called when everything has begun that begins at `now`.
    pub(super) fn settle(&mut self, now: Time) -> bool {
        let busy = self.calls.len();
        let changed = self.calls.iter().any(|call| call.busy != busy);
        for call in self.calls.iter_mut().filter(|call| call.busy != busy) {
            let elapsed_ns = now.since(call.since).as_nanos() as u64;
            let before = self.contention.pace(call.busy.saturating_sub(1), self.cores);
            call.left_ns = call.left_ns.saturating_sub(before.work_ns(elapsed_ns));
            let pace = self.contention.pace(busy - 1, self.cores);
            (call.since, call.busy) = (now, busy);
            call.end = now + Duration::from_nanos(pace.time_ns(call.left_ns));
        }
        changed
    }

    /// The calls, in the order in which they began.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RunningCall> {
        self.calls.iter()
    }

    /// The ends of the calls, and their cores.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Time, u32)> {
        self.calls.iter().map(|call| (call.end, call.core))
    }

    /// Takes out the calls that have ended by `now`, in the order in which they began.
    pub(super) fn take_ended(&mut self, now: Time) -> Vec<RunningCall> {
        self.calls.extract_if(.., |call| call.end <= now).collect()
    }
}
