//! A worker on a separate thread, and a thread that is suspended.

use ringspin_executor::{
    FailurePolicy, Graph, LiveClock, Monitor, Plan, ReadyOrder, StopHandle, TimeSource, Worker,
};
use ringspin_ringbuf::suspend::Gate;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// Far longer than anything takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `holds` says so; false if it does not for a long time.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > PATIENCE {
            return false;
        }
        sleep(Duration::from_micros(100));
    }
    true
}

/// Whether `act` returns on a separate thread; false if it does not for a long time.
pub(crate) fn returns(act: impl FnOnce() + Send + 'static) -> bool {
    let thread = spawn(act);
    eventually(|| thread.is_finished()) && thread.join().is_ok()
}

/// The messages that callbacks have seen.
#[derive(Clone, Debug)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone + PartialEq> Log<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, item: T) {
        self.lock().push(item);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.lock().clone()
    }

    pub(crate) fn has(&self, item: &T) -> bool {
        self.lock().contains(item)
    }
}

/// A graph that runs on one worker, which sleeps whenever nothing is ready.
pub(crate) struct Running {
    pub(crate) monitor: Monitor,
    stop: StopHandle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Freezes `graph`; `before` is called between that and the start of the worker.
    pub(crate) fn start(graph: &Graph, order: ReadyOrder, before: impl FnOnce()) -> Self {
        let loops = graph.info().loops.keys().collect();
        let plan = Plan::new(vec![loops], order);
        let stop = StopHandle::default();
        let clock = Arc::new(LiveClock::start());
        let time = TimeSource::Live(clock.clone());
        let frozen = graph.freeze(&plan, &stop, FailurePolicy::StopAll, &time).unwrap();
        let mut workers = frozen.workers;
        let worker = workers.pop().unwrap();
        before();
        let stopped = stop.clone();
        let thread = Some(spawn(move || run(worker, &*clock, &stopped)));
        Self { monitor: frozen.monitor, stop, thread }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        let joined = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || joined.is_none_or(|result| result.is_ok()));
    }
}

/// As the live modes do, without a spin before the sleep.
fn run(mut worker: Worker, clock: &dyn ringspin_executor::Clock, stop: &StopHandle) {
    let mut thread = worker.enter();
    worker.ready_set().register_sleeper();
    worker.start(clock.now());
    while !stop.is_stopped() {
        worker.pass(&mut thread);
        let now = clock.now();
        while worker.expire_one(now) {}
        if worker.dispatch_next().is_none() && !worker.has_ready() {
            let left = worker.next_deadline().map_or(PATIENCE, |due| due.since(clock.now()));
            worker.sleep(&mut thread, left);
        }
    }
}

/// A thread that is suspended, until this is dropped.
pub(crate) struct Suspended {
    gate: Gate,
    thread: Option<JoinHandle<()>>,
}

impl Suspended {
    /// A thread that does `act` again and again until it is suspended at `step`; once more when it
    /// goes on.
    pub(crate) fn at(step: &'static str, act: impl Fn() + Send + 'static) -> Self {
        Self::after(step, 0, act)
    }

    /// The same for a thread that passes the step `passes` times before.
    pub(crate) fn after(
        step: &'static str,
        passes: usize,
        act: impl Fn() + Send + 'static,
    ) -> Self {
        let gate = Gate::at(step, passes);
        let thread = Some(spawn({
            let gate = gate.clone();
            move || {
                gate.arm();
                let start = Instant::now();
                for round in 0.. {
                    act();
                    if gate.was_reached() || start.elapsed() > PATIENCE {
                        break;
                    }
                    if round % 8 == 7 {
                        sleep(Duration::from_millis(1)); // the worker goes to sleep, too
                    }
                }
                act();
            }
        }));
        let suspended = Self { gate, thread };
        assert!(suspended.gate.wait(PATIENCE), "step {step} was not reached");
        suspended
    }

    /// Lets it go on, and waits for its end.
    pub(crate) fn resume(self) {
        drop(self);
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        self.gate.open();
        let joined = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || joined.is_none_or(|result| result.is_ok()));
    }
}
