//! Running calls with ends that move: contention between cores, and preemption on one core.
//!
//! Cores can share something: two virtual cores the units of a physical one, others a cache or a
//! memory bus. While other cores are busy, a callback progresses at a fraction of its speed alone.
//! While a thread of higher priority runs a callback on the same core, it does not progress. So its
//! end moves whenever a callback begins or ends elsewhere. Until it has ended, its messages are
//! [held](ringspin_executor::SimNetwork::hold_for), and recorders have not been told.
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

/// The running calls of threads that slow each other down or preempt each other.
pub(super) struct RunningCalls {
    contention: Contention,
    /// By thread, the number of its core. Threads of one core descend in priority.
    core_of: Vec<u32>,
    cores: usize,
    calls: Vec<RunningCall>,
}

pub(super) struct RunningCall {
    pub(super) event_loop: LoopId,
    pub(super) call: Call,
    /// The end as things stand.
    pub(super) end: Time,
    thread: u32,
    core: u32,
    /// The work that is left at `since`, as time without other cores.
    left_ns: u64,
    since: Time,
    speed: Speed,
}

/// The progress of a running call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speed {
    /// It began at this instant, or a call of higher priority runs on its core.
    Standstill,
    /// It runs while this number of cores is busy.
    Beside(usize),
}

impl RunningCalls {
    pub(super) fn new(contention: Contention, core_of: Vec<u32>) -> Self {
        let cores = core_of.iter().max().map_or(0, |last| *last as usize + 1);
        Self { contention, calls: Vec::with_capacity(core_of.len()), core_of, cores }
    }

    pub(super) fn begin(&mut self, thread: u32, event_loop: LoopId, call: Call, now: Time) {
        let left_ns = call.end.since(now).as_nanos() as u64;
        let (since, end, core) = (now, call.end, self.core_of[thread as usize]);
        let speed = Speed::Standstill;
        self.calls.push(RunningCall { event_loop, call, end, thread, core, left_ns, since, speed });
    }

    /// Moves the ends of the calls with a changed speed; whether there are any. To be called when
    /// everything has begun that begins at `now`.
    pub(super) fn settle(&mut self, now: Time) -> bool {
        // On each busy core, one call runs.
        let busy = self.calls.iter().filter(|call| !self.is_preempted(call)).count();
        let mut changed = false;
        for n in 0..self.calls.len() {
            let speed = match self.is_preempted(&self.calls[n]) {
                true => Speed::Standstill,
                false => Speed::Beside(busy),
            };
            if self.calls[n].speed != speed {
                self.change_speed(n, speed, now);
                changed = true;
            }
        }
        if changed {
            self.expect_ends(busy);
        }
        changed
    }

    fn is_preempted(&self, call: &RunningCall) -> bool {
        self.calls.iter().any(|other| other.core == call.core && other.thread < call.thread)
    }

    fn pace(&self, busy: usize) -> Pace {
        self.contention.pace(busy.saturating_sub(1), self.cores)
    }

    fn change_speed(&mut self, n: usize, speed: Speed, now: Time) {
        let pace = |speed| match speed {
            Speed::Standstill => None,
            Speed::Beside(busy) => Some(self.pace(busy)),
        };
        let (before, after) = (pace(self.calls[n].speed), pace(speed));
        let call = &mut self.calls[n];
        let elapsed_ns = now.since(call.since).as_nanos() as u64;
        let done_ns = before.map_or(0, |pace| pace.work_ns(elapsed_ns));
        call.left_ns = call.left_ns.saturating_sub(done_ns);
        (call.since, call.speed) = (now, speed);
        if let Some(pace) = after {
            call.end = now + Duration::from_nanos(pace.time_ns(call.left_ns));
        }
    }

    /// Sets the ends of preempted calls, which continue after the running one of their core, in the
    /// order of their priorities.
    fn expect_ends(&mut self, busy: usize) {
        let pace = self.pace(busy);
        for n in 0..self.calls.len() {
            let RunningCall { core, thread, speed, .. } = self.calls[n];
            if speed != Speed::Standstill {
                continue;
            }
            let before = self.calls.iter().filter(|of| of.core == core && of.thread <= thread);
            let (mut end, mut left_ns) = (Time::ZERO, 0_u64);
            for call in before {
                match call.speed {
                    Speed::Beside(_) => end = call.end,
                    Speed::Standstill => {
                        left_ns = left_ns.saturating_add(pace.time_ns(call.left_ns));
                    }
                }
            }
            self.calls[n].end = end + Duration::from_nanos(left_ns);
        }
    }

    /// The calls, in the order in which they began.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RunningCall> {
        self.calls.iter()
    }

    /// The ends of the calls, and their threads.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Time, u32)> {
        self.calls.iter().map(|call| (call.end, call.thread))
    }

    /// Takes out the calls that have ended by `now`, in the order in which they began.
    pub(super) fn take_ended(&mut self, now: Time) -> Vec<RunningCall> {
        self.calls.extract_if(.., |call| call.end <= now).collect()
    }
}
