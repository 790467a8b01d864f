//! The live modes: a worker on the real clock, alone on the calling thread or one per core.

use super::Spin;
use crate::error::SpinError;
use crate::live_clock::End;
use crate::mapping::CorePlan;
use crate::pace::Pace;
use crate::thread;
use ringspin_executor::wait::{Idle, Wait};
use ringspin_executor::{
    Clock, Monitor, RosClock, StopHandle, Time, WaitStrategy, Worker, panic_message,
};
use std::time::Duration;

/// How long before a deadline a worker stops sleeping and spins. With a timer slack of one
/// nanosecond a sleep overshoots by about 8 microseconds on a quiet machine.
const SPIN_TAIL: Duration = Duration::from_micros(10);

/// How long a worker sleeps that waits for a clock which stands still: until it is woken.
const FOREVER: Duration = Duration::from_secs(1 << 30);

/// The clock, end and settings of one spin of a live worker.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) clock: &'a RosClock,
    pub(crate) stop: &'a StopHandle,
    pub(crate) wait: WaitStrategy,
    /// When to return.
    pub(crate) end: End,
    /// The stack of a worker's own thread.
    pub(crate) stack_bytes: usize,
}

impl<'a> Run<'a> {
    pub(crate) fn new(clock: &'a RosClock, spin: Spin<'a>, end: End) -> Self {
        let Spin { stop, wait, stack_bytes, .. } = spin;
        Self { clock, stop, wait, end, stack_bytes }
    }
}

/// Runs `worker` on this thread until it is stopped or the end is reached.
///
/// After each callback it looks whether a timer is due or the end has come; see [`Pace`].
pub(crate) fn run_worker(worker: &mut Worker, run: Run<'_>) {
    let Run { clock, stop, wait, end, .. } = run;
    let mut thread = worker.enter();
    worker.ready_set().register_sleeper();
    thread::reduce_timer_slack();
    let mut waiter = wait.waiter();
    let mut pace = Pace::new(clock.real());
    let mut was_followed = clock.is_followed();
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let due = next_due(worker, end.by(clock));
        // A clock that is followed is read at no cost, and goes at a pace of its own.
        let is_followed = clock.is_followed();
        if is_followed || was_followed || !pace.is_ahead(due) {
            was_followed = is_followed;
            let now = read(clock, worker, &mut pace);
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
                let now = read(clock, worker, &mut pace);
                let due = next_due(worker, end.by(clock));
                match time_to_sleep(clock, now, due) {
                    Some(left) => worker.sleep(&mut thread, left),
                    None => std::hint::spin_loop(),
                }
            }
        }
    }
}

/// When the next timer is due, or the run ends.
#[inline]
fn next_due(worker: &Worker, end: Time) -> Time {
    worker.next_deadline().map_or(end, |deadline| deadline.min(end))
}

/// Reads the time, of which `worker` has to know if its source may be switched.
fn read(clock: &RosClock, worker: &mut Worker, pace: &mut Pace) -> Time {
    if clock.is_followed() {
        return note_time(clock, worker);
    }
    worker.note_time(pace.read(clock.real()))
}

/// Reads the time without a pace, for callers that do so for each event.
fn note_time(clock: &RosClock, worker: &mut Worker) -> Time {
    worker.note_time(clock.now())
}

/// How long to sleep from `now` until something is `due`; `None` if it is so soon that spinning is
/// better. A clock that is followed wakes its sleepers itself.
fn time_to_sleep(clock: &RosClock, now: Time, due: Time) -> Option<Duration> {
    if clock.is_followed() {
        return Some(FOREVER);
    }
    due.since(now).checked_sub(SPIN_TAIL).filter(|left| !left.is_zero())
}

/// Dispatches one event, waiting for it until `end`; false if there was none.
pub(crate) fn run_one(worker: &mut Worker, clock: &RosClock, stop: &StopHandle, end: End) -> bool {
    let mut thread = worker.enter();
    worker.ready_set().register_sleeper();
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let now = note_time(clock, worker);
        while worker.expire_one(now) {}
        if worker.dispatch_next().is_some() {
            return true;
        }
        if end.has_come(now, clock) {
            return false;
        }
        if worker.has_ready() {
            continue; // what was handled so far was no event
        }
        match time_to_sleep(clock, now, next_due(worker, end.by(clock))) {
            Some(left) => worker.sleep(&mut thread, left),
            None => std::hint::spin_loop(),
        }
    }
    false
}

/// Dispatches events until none is ready or `end` has come; returns how many.
pub(crate) fn run_all(worker: &mut Worker, clock: &RosClock, stop: &StopHandle, end: End) -> u64 {
    let mut thread = worker.enter();
    let mut dispatched = 0;
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let now = note_time(clock, worker);
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

/// Dispatches the events that are ready now, expiries of timers among them; returns how many.
pub(crate) fn run_ready(worker: &mut Worker, clock: &RosClock, stop: &StopHandle) -> u64 {
    let mut thread = worker.enter();
    worker.pass(&mut thread);
    let now = note_time(clock, worker);
    while worker.expire_one(now) {}
    worker.dispatch_ready(&mut thread, || stop.is_stopped())
}

/// Runs each worker on a thread of its own, pinned to its core, until all have returned. A panic
/// outside of the callbacks stops all of them.
pub(crate) fn run_pinned(
    workers: &mut [(CorePlan, Worker)],
    run: Run<'_>,
    monitor: &Monitor,
) -> Result<(), SpinError> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (plan, worker) in workers.iter_mut() {
            let name = thread_name(plan);
            let run = Run { wait: plan.wait.unwrap_or(run.wait), ..run };
            let body = move || {
                let pinned_run = || {
                    pin(plan).inspect_err(|_| run.stop.stop())?;
                    run_worker(worker, run);
                    Ok(())
                };
                let name = format!("the worker of core {}", plan.core);
                monitor.contain(&name, pinned_run).unwrap_or(Ok(()))
            };
            let thread = std::thread::Builder::new().name(name).stack_size(run.stack_bytes);
            match thread.spawn_scoped(scope, body) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    run.stop.stop();
                    return Err(SpinError::Thread(error.to_string()));
                }
            }
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            let panicked = |panic: Box<_>| Err(SpinError::Thread(panic_message(&*panic)));
            thread.join().unwrap_or_else(panicked)
        };
        // All are joined before the first error is returned.
        let results: Vec<Result<(), SpinError>> = threads.into_iter().map(join).collect();
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
fn pin(plan: &CorePlan) -> Result<(), SpinError> {
    if !thread::pin(plan.core) {
        return Err(SpinError::Pin { core: plan.core });
    }
    if let Some(priority) = plan.priority
        && let Err(error) = thread::set_fifo_priority(priority)
    {
        let core = plan.core;
        tracing::warn!(core, %error, "threads of one core share it in time slices");
    }
    Ok(())
}
