//! The live modes: a worker on the real clock, alone on the calling thread or one per core.
//!
//! Each worker is borrowed for the spin by one thread, which is the only one to use it: the thread
//! that spins, or one that is pinned and ends with the spin. Between two callbacks this thread
//! looks at the stop request, adopts changes of the graph, and makes due timers ready. Threads that
//! announce an event mark the ready set of the worker, and wake it if it sleeps; it sleeps until
//! the next deadline, less a tail in which it spins, because a sleep overshoots. All threads are
//! joined before the spin returns: between two spins the executor owns its workers again, and needs
//! no lock for them.

use super::warm_up::WarmUp;
use super::{Exchange, Scheduler, Spin, Step, WORKER};
use crate::deterministic::Condition;
use crate::error::thread_not_started;
use crate::live_clock::SpinEnd;
use crate::mapping::CorePlan;
use crate::pace::Pace;
use crate::thread;
use ringspin_executor::wait::Idle;
use ringspin_executor::{
    Clock, Error, ErrorKind, Result, RosClock, StopHandle, Time, Worker, panic_message,
};
use ringspin_ringbuf::ticks;
use std::sync::Arc;
use std::time::Duration;

/// How long before a deadline a worker stops sleeping and spins. With a timer slack of one
/// nanosecond a sleep overshoots by about 8 microseconds on a quiet machine.
const SPIN_TAIL: Duration = Duration::from_micros(10);

/// How long a worker sleeps that waits for a clock which stands still: until it is woken.
pub(super) const FOREVER: Duration = Duration::from_secs(1 << 30);

pub(crate) struct LiveScheduler {
    workers: Vec<Worker>,
    /// The core of each worker, on threads that live as long as a spin; `None` if the only worker
    /// runs on the thread that spins.
    cores: Option<Vec<CorePlan>>,
    clock: Arc<RosClock>,
    /// Of the only worker, when the thread that spins runs it; others begin as this one.
    pace: Pace,
    is_started: bool,
}

impl LiveScheduler {
    pub(crate) fn new(
        workers: Vec<Worker>,
        cores: Option<Vec<CorePlan>>,
        clock: Arc<RosClock>,
        turn: Duration,
    ) -> Self {
        let pace = Pace::new(clock.real(), turn);
        Self { workers, cores, clock, pace, is_started: false }
    }

    /// Calls `run` with the worker of the thread that spins.
    fn with_worker<R: Default>(
        &mut self,
        spin: Spin<'_>,
        run: impl FnOnce(&mut Worker, &RosClock, &mut Pace) -> R,
    ) -> Result<R> {
        if self.cores.is_some() {
            let text = "the multi-core mode has a thread per core; use `spin`, `spin_for` or \
                        `spin_until`";
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        let (worker, clock, pace) = (&mut self.workers[0], &self.clock, &mut self.pace);
        worker.note_ticks(None);
        Ok(spin.monitor.contain(WORKER, || run(worker, clock, pace)).unwrap_or_default())
    }
}

impl Scheduler for LiveScheduler {
    fn start(&mut self) {
        if !std::mem::replace(&mut self.is_started, true) {
            let anchor = self.clock.now();
            self.workers.iter_mut().for_each(|worker| worker.start(anchor));
        }
        // A spin that was dropped while it rested.
        self.workers.iter().for_each(|worker| worker.ready_set().rise());
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn end_after(&self, duration: Duration) -> SpinEnd {
        SpinEnd::after(duration, &self.clock)
    }

    fn run(&mut self, spin: Spin<'_>, end: SpinEnd, _: Condition<'_>) -> Result<()> {
        let Self { workers, cores: Some(cores), clock, pace, .. } = self else {
            return self.with_worker(spin, |worker, clock, pace| {
                run_worker((worker, pace), clock, spin, end);
            });
        };
        let bodies = workers.iter_mut().map(|worker| {
            let (clock, mut pace) = (&**clock, pace.clone());
            move |spin: Spin<'_>| run_worker((worker, &mut pace), clock, spin, end)
        });
        run_threads(cores.iter().zip(bodies), spin)
    }

    fn run_one(&mut self, spin: Spin<'_>, end: SpinEnd) -> Result<bool> {
        self.with_worker(spin, |worker, clock, pace| run_one((worker, pace), clock, spin.stop, end))
    }

    fn run_ready(&mut self, spin: Spin<'_>) -> Result<u64> {
        self.with_worker(spin, |worker, clock, pace| run_ready((worker, pace), clock, spin.stop))
    }

    fn run_all(&mut self, spin: Spin<'_>, end: SpinEnd) -> Result<u64> {
        self.with_worker(spin, |worker, clock, pace| run_all((worker, pace), clock, spin.stop, end))
    }

    fn wake_by(&mut self, waker: Arc<dyn Fn() + Send + Sync>) -> bool {
        let is_here = self.cores.is_none();
        if is_here {
            self.workers[0].ready_set().wake_by(waker);
        }
        is_here
    }

    fn step(&mut self, spin: Spin<'_>) -> Result<Step> {
        self.with_worker(spin, |worker, clock, pace| step((worker, pace), clock, spin.stop))
    }

    fn each_recorder(&mut self, exchange: Exchange<'_>) {
        self.workers.iter_mut().for_each(|worker| exchange(worker.recorder_mut()));
    }
}

/// Runs `worker` on this thread until it is stopped or the end is reached.
///
/// After each callback it looks whether a timer or the end is due; see [`Pace`].
fn run_worker(
    (worker, pace): (&mut Worker, &mut Pace),
    clock: &RosClock,
    spin: Spin<'_>,
    end: SpinEnd,
) {
    let Spin { stop, wait, .. } = spin;
    let mut warm_up = WarmUp::default();
    let mut thread = worker.enter();
    worker.ready_set().register_sleeper();
    thread::reduce_timer_slack();
    let mut waiter = wait.waiter();
    let mut was_followed = clock.is_followed();
    while !stop.is_stopped() {
        if worker.pass(&mut thread) {
            warm_up = WarmUp::default();
        }
        let due = next_due(worker, end.by(clock));
        let ticks = (due != Time::MAX).then(ticks);
        worker.note_ticks(ticks);
        // A clock that is followed is read at no cost, and advances at its own pace.
        let is_followed = clock.is_followed();
        if is_followed || was_followed || !pace.is_ahead(due, ticks) {
            was_followed = is_followed;
            let now = read(clock, worker, pace);
            if end.has_come(now, clock) {
                return;
            }
            while worker.expire_one(now) {}
        }
        if worker.dispatch_next().is_some() {
            waiter.reset();
        } else if !worker.has_ready() {
            worker.count_idle();
            if waiter.idle() == Idle::Park || worker.has_no_loop() {
                let now = read(clock, worker, pace);
                let due = next_due(worker, end.by(clock));
                let Some(left) = time_to_sleep(clock, now, due) else {
                    std::hint::spin_loop();
                    continue;
                };
                warm_up.before(left, || worker.cache_lines());
                worker.sleep(&mut thread, warm_up.shorten(left));
                if !worker.has_ready() {
                    warm_up.after(left, clock.real());
                }
            }
        }
    }
}

#[inline]
fn next_due(worker: &Worker, end: Time) -> Time {
    worker.next_deadline().map_or(end, |deadline| deadline.min(end))
}

/// Reads the time, of which `worker` has to know if its source may be switched.
fn read(clock: &RosClock, worker: &mut Worker, pace: &mut Pace) -> Time {
    let is_followed = clock.is_followed();
    if is_followed && pace.turn_ticks().is_some() {
        return worker.note_time(clock.now());
    }
    let now = pace.read(clock.real());
    if let Some(ticks) = pace.turn_ticks() {
        worker.limit_turns(ticks);
    }
    worker.note_time(if is_followed { clock.now() } else { now })
}

/// How long to sleep from `now` until something is `due`; `None` if it is so soon that spinning is
/// better. A clock that is followed wakes its sleepers itself.
pub(super) fn time_to_sleep(clock: &RosClock, now: Time, due: Time) -> Option<Duration> {
    if clock.is_followed() {
        return Some(FOREVER);
    }
    due.since(now).checked_sub(SPIN_TAIL).filter(|left| !left.is_zero())
}

/// Dispatches one event, waiting for it until `end`; false if there was none.
fn run_one(
    (worker, pace): (&mut Worker, &mut Pace),
    clock: &RosClock,
    stop: &StopHandle,
    end: SpinEnd,
) -> bool {
    let mut thread = worker.enter();
    worker.ready_set().register_sleeper();
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let now = read(clock, worker, pace);
        while worker.expire_one(now) {}
        if worker.dispatch_next().is_some() {
            return true;
        }
        if end.has_come(now, clock) {
            return false;
        }
        if worker.has_ready() {
            continue; // nothing handled so far was an event
        }
        match time_to_sleep(clock, now, next_due(worker, end.by(clock))) {
            Some(left) => worker.sleep(&mut thread, left),
            None => std::hint::spin_loop(),
        }
    }
    false
}

/// Dispatches events until none is ready or `end` is due; returns their number.
fn run_all(
    (worker, pace): (&mut Worker, &mut Pace),
    clock: &RosClock,
    stop: &StopHandle,
    end: SpinEnd,
) -> u64 {
    let mut thread = worker.enter();
    let mut dispatched = 0;
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let now = read(clock, worker, pace);
        while worker.expire_one(now) {}
        match worker.dispatch_next() {
            Some(_) => dispatched += 1,
            None if !worker.has_ready() => break,
            None => {}
        }
        if end.has_come(clock.now(), clock) {
            break;
        }
    }
    dispatched
}

/// Dispatches events until none is ready, and then lets the worker rest; no longer than a turn of a
/// loop lasts.
fn step((worker, pace): (&mut Worker, &mut Pace), clock: &RosClock, stop: &StopHandle) -> Step {
    let mut thread = worker.enter();
    let end = clock.real().now() + pace.turn();
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let now = read(clock, worker, pace);
        while worker.expire_one(now) {}
        if worker.dispatch_next().is_none() && worker.settle() {
            worker.count_idle();
            let due = next_due(worker, Time::MAX);
            let left = time_to_sleep(clock, now, due);
            if let Some(left) = left.filter(|_| worker.ready_set().rest()) {
                return Step::Rest((left < FOREVER).then_some(left));
            }
        }
        if clock.real().now() >= end {
            return Step::Busy;
        }
    }
    Step::Ended
}

/// Dispatches the events that are ready now, expiries of timers among them; returns how many.
fn run_ready((worker, pace): (&mut Worker, &mut Pace), clock: &RosClock, stop: &StopHandle) -> u64 {
    let mut thread = worker.enter();
    worker.pass(&mut thread);
    let now = read(clock, worker, pace);
    while worker.expire_one(now) {}
    worker.dispatch_ready(&mut thread, || stop.is_stopped())
}

/// Runs each body on a separate thread, pinned to its core, until all have returned. A panic
/// outside of the callbacks stops all of them.
pub(super) fn run_threads<'a>(
    bodies: impl Iterator<Item = (&'a CorePlan, impl FnOnce(Spin<'_>) + Send)>,
    spin: Spin<'_>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (plan, body) in bodies {
            let name = thread_name(plan);
            let spin = Spin { wait: plan.wait.unwrap_or(spin.wait), ..spin };
            let body = move || {
                let pinned_run = || {
                    pin(plan).inspect_err(|_| spin.stop.stop())?;
                    body(spin);
                    Ok(())
                };
                let name = format!("the worker of core {}", plan.core);
                spin.monitor.contain(&name, pinned_run).unwrap_or(Ok(()))
            };
            let thread = std::thread::Builder::new().name(name).stack_size(spin.stack_bytes);
            match thread.spawn_scoped(scope, body) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    spin.stop.stop();
                    return Err(thread_not_started(&error.to_string()));
                }
            }
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            let panicked = |panic: Box<_>| Err(thread_not_started(&panic_message(&*panic)));
            thread.join().unwrap_or_else(panicked)
        };
        // All are joined before the first error is returned.
        let results: Vec<Result<()>> = threads.into_iter().map(join).collect();
        results.into_iter().collect()
    })
}

/// The name of a worker's thread, within the 15 characters that Linux keeps.
fn thread_name(plan: &CorePlan) -> String {
    match plan.priority {
        Some(priority) => format!("ringspin-{}-{priority}", plan.core),
        None => format!("ringspin-{}", plan.core),
    }
}

/// Pins this thread to its core and gives it its priority.
fn pin(plan: &CorePlan) -> Result<()> {
    if plan.pin && !thread::pin(plan.core) {
        let text = format!(
            "failed to pin a worker to core {}: the operating system refuses that to this \
             process; choose one of the cores that it may use",
            plan.core
        );
        return Err(Error::new(ErrorKind::PermissionDenied, text));
    }
    if let Some(priority) = plan.priority
        && let Err(error) = thread::set_fifo_priority(priority)
    {
        let core = plan.core;
        tracing::warn!(core, %error, "threads of one core share it in time slices");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_ends_a_tail_before_the_deadline() {
        let (clock, now) = (RosClock::start(), Time::from_nanos(7));
        let sleep = |until: Duration| time_to_sleep(&clock, now, now + until);
        assert_eq!(sleep(Duration::from_millis(5)), Some(Duration::from_millis(5) - SPIN_TAIL));
        assert_eq!(sleep(SPIN_TAIL + Duration::from_nanos(1)), Some(Duration::from_nanos(1)));
        assert_eq!(sleep(SPIN_TAIL), None);
        assert_eq!(sleep(Duration::ZERO), None);
        assert_eq!(time_to_sleep(&clock, now, Time::ZERO), None);
    }
}
