//! The deterministic mode: one sequencer, simulated time, and a digest of everything that happened.
//!
//! All loops share one ready ring, so data events are dispatched first-in first-out over the whole
//! graph. When none is left, one due timer is made ready (by deadline, then creation), and so on
//! until the instant is quiet. Then time jumps to the next of these: a deadline, a message that was
//! under way, the end of a callback that takes time, or the next item of an input. Nothing here
//! reads a real clock, hashes an address or starts a thread.
//!
//! | module | part |
//! |---|---|
//! | `simulation` | settings of a simulation: [`Simulation`] |
//! | `virtual_cores` | events that wait for a busy thread, or for the break of a tie |
//! | `contention` | ends of callbacks that move: cores that slow each other down, preemption |
//! | `ties` | other orders of one instant; `crate::schedule` repeats them |
//! | `timing`, `traffic` | durations of callbacks, and delivery of messages |
//! | `inputs` | external inputs |
//! | `record` | digest and trace |
//! | [`threads`] | threads of the application that share simulated time |
//! | `cycle` | detection of an instant that does not end |

mod contention;
mod cycle;
mod display;
mod inputs;
mod models;
mod options;
mod record;
mod results;
mod simulation;
pub mod threads;
mod ties;
mod timing;
mod traffic;
mod virtual_cores;

pub use contention::Contention;
pub use models::{AnyModel, Execution, Model, ResolvedDurations, ResolvedLinks};
pub use options::RunOptions;
pub use record::{Record, RunDigest, Trace};
pub(crate) use simulation::Setting;
pub use simulation::{Cores, Jitter, Simulation};
pub use ties::{Candidate, TieBreaker, TiePolicy};
pub use traffic::LinkEffect;
pub use virtual_cores::InstantLog;

use crate::chains::Follower;
use crate::error::catch_part;
pub use crate::schedule::{
    DelayPerturbation, Deviation, InstantEvent, Loss, Postponement, ProcessFault, Schedule,
    ScheduleEntry,
};
use contention::RunningCall;
use cycle::Instant;
use display::ClockDisplay;
use inputs::Inputs;
use record::{DataProgress, Digester};
use ringspin_executor::{
    CallbackId, Clock, Error, ErrorKind, GraphInfo, LoopId, Middleware, Monitor, NamedInput,
    Recorder, Result, SimNetwork, StopHandle, Time, Worker, WorkerThread,
};
use std::sync::Arc;
use std::time::Duration;
use threads::{SimulatedThreads, WaitEnd};
use ties::Chooser;
use timing::Timing;
use traffic::Perturbations;
use virtual_cores::{Breaker, VirtualCoreScheduler};

/// The one worker of the deterministic mode and its time.
pub struct Sequencer {
    worker: Worker,
    sim_network: Arc<SimNetwork>,
    instant: Instant,
    inputs: Inputs,
    progress: Option<(Duration, DataProgress)>,
    /// If events do not just go in the order in which they became ready.
    virtual_cores: Option<VirtualCoreScheduler>,
    breaker: Option<Breaker>,
    timing: Option<Timing>,
    perturbations: Perturbations,
    display: Option<ClockDisplay>,
    follower: Option<Follower>,
    /// The other threads of this world, if it is one.
    threads: Option<&'static dyn SimulatedThreads>,
    /// The time up to which its instants are over, in such a world.
    passed: Time,
    start: Time,
    end: Option<Time>,
    /// The schedule that the run follows, if it does.
    script: Option<Schedule>,
    /// Whether nothing is left to do up to the run's end.
    is_over: bool,
}

/// Outcome of one step at an instant.
enum Turn {
    Dispatched(CallbackId),
    /// Something, but no dispatch.
    Something,
    /// Nothing is left to do.
    Quiet,
}

/// A function that is called at each quiet instant and returns whether the run is over.
pub type Condition<'a> = &'a mut dyn FnMut(Time) -> bool;

/// The parts of a sequencer besides its simulation.
pub(crate) struct Parts {
    pub(crate) worker: Worker,
    pub(crate) inputs: Vec<NamedInput>,
    pub(crate) recorder: Option<Box<dyn Recorder>>,
    pub(crate) breaker: Option<Box<dyn TieBreaker>>,
    /// The instant of which a record is kept.
    pub(crate) watched: Option<Time>,
    pub(crate) follower: Option<Follower>,
    pub(crate) middleware: Option<Arc<dyn Middleware>>,
}

impl Sequencer {
    /// Takes over the worker, at the simulation's start.
    pub(crate) fn new(parts: Parts, setting: Setting, info: &GraphInfo) -> Self {
        let Parts { mut worker, inputs, recorder, breaker, watched, follower, middleware } = parts;
        let display = ClockDisplay::new(middleware);
        let Setting { simulation, sim_network, durations, cores, perturbations, deviations_max } =
            setting;
        let timing = durations.map(Timing::new);
        let chooser = breaker.map(Chooser::Breaker).or_else(|| simulation.ties.chooser());
        let breaker = chooser.map(|chooser| Breaker::new(chooser, watched, deviations_max));
        let script = match simulation.ties {
            TiePolicy::Scripted(schedule) => Some(schedule),
            _ => None,
        };
        let virtual_cores = match cores {
            Some(cores) => Some(VirtualCoreScheduler::on_cores(info, cores, simulation.contention)),
            None if timing.is_some() || breaker.is_some() => {
                Some(VirtualCoreScheduler::unlimited(info))
            }
            None => None,
        };
        worker.start(Time::ZERO);
        let mut digester = Digester::new(info, sim_network.clone(), timing.clone());
        digester.set_others(recorder, follower.clone());
        if virtual_cores.as_ref().is_some_and(VirtualCoreScheduler::has_moving_ends) {
            digester.set_moving_ends();
        }
        worker.set_recorder(Some(Box::new(digester)));
        let progress = |limit| (limit, DataProgress::new(info, simulation.start));
        Self {
            worker,
            sim_network,
            instant: Instant::new(simulation.instant_dispatches_max, info.callbacks.len()),
            inputs: Inputs::new(inputs, simulation.instant_dispatches_max),
            progress: simulation.no_progress_max.map(progress),
            virtual_cores,
            breaker,
            timing,
            perturbations,
            display,
            follower,
            threads: None,
            passed: Time::ZERO,
            start: simulation.start,
            end: simulation.end,
            script,
            is_over: false,
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.sim_network.clock().now()
    }

    /// This thread runs the graph until the mark is dropped.
    fn enter(&mut self) -> WorkerThread {
        if self.is_among_threads()
            && let Some(threads) = self.threads
        {
            while threads.now() < self.start {
                threads.wait_until(self.start);
            }
        }
        self.worker.enter()
    }

    /// Whether the graph runs among the threads of a simulated world.
    pub(crate) fn is_among_threads(&mut self) -> bool {
        if self.threads.is_none() {
            self.sim_network.run_by_this_thread();
            self.join_threads();
        }
        self.threads.is_some()
    }

    /// If this thread is one of a simulated world, its time is that of the graph from now on.
    #[inline(never)]
    fn join_threads(&mut self) {
        let clock = self.sim_network.clock();
        let Some(threads) = threads::registered().filter(|threads| threads.join(clock)) else {
            return;
        };
        self.sim_network.run_by_ordered_threads();
        self.threads = Some(threads);
    }

    /// Passes a quiescent point: additions to the graph are scheduled from here on.
    #[inline]
    fn pass(&mut self, thread: &mut WorkerThread, monitor: &Monitor) -> Result<()> {
        if let Some(threads) = self.threads {
            self.run_others(threads)?;
        }
        if self.worker.pass(thread) {
            self.extend(&monitor.info());
        }
        Ok(())
    }

    /// Lets other threads run. They, or a callback before, may have advanced time.
    #[inline(never)]
    fn run_others(&mut self, threads: &'static dyn SimulatedThreads) -> Result<()> {
        threads.run_others();
        let now = self.now();
        if now > self.passed {
            self.passed = now;
            self.instant.over();
            self.inputs.time_goes_on();
            self.arrive(now)?;
        }
        Ok(())
    }

    /// Whether a callback that sleeps has let the time pass `end`.
    fn is_past(&self, end: Time) -> bool {
        self.threads.is_some() && self.now() > end
    }

    /// Adopts additions to the graph.
    #[cold]
    fn extend(&mut self, info: &GraphInfo) {
        self.instant.extend(info);
        if let Some(timing) = &self.timing {
            timing.extend(info);
        }
        if let Some((_, progress)) = &mut self.progress {
            progress.extend(info);
        }
        if let Some(virtual_cores) = &mut self.virtual_cores {
            virtual_cores.extend(info);
        }
    }

    /// Runs every instant up to `end`, inclusive, unless it is stopped, or nothing is left to do,
    /// or `over` says at a quiet instant that this is the end.
    pub(crate) fn run_until(
        &mut self,
        end: Time,
        stop: &StopHandle,
        monitor: &Monitor,
        over: Condition<'_>,
    ) -> Result<()> {
        let mut thread = self.enter();
        let end = self.end.map_or(end, |own| own.min(end));
        if self.now() > end {
            return Ok(());
        }
        while !stop.is_stopped() && !self.is_past(end) {
            self.pass(&mut thread, monitor)?;
            match self.turn(monitor)? {
                Turn::Dispatched(_) | Turn::Something => {}
                Turn::Quiet if over(self.now()) => return Ok(()),
                Turn::Quiet if self.advance(end, monitor)? => {}
                Turn::Quiet => {
                    self.arrive_at(end);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Dispatches the next event up to `end`, if there is one; otherwise advances time to the end.
    ///
    /// # Errors
    /// Fails if the callbacks of one instant never end, or an input fails.
    pub fn dispatch_one(
        &mut self,
        end: Time,
        stop: &StopHandle,
        monitor: &Monitor,
    ) -> Result<Option<CallbackId>> {
        let mut thread = self.enter();
        let end = self.end.map_or(end, |own| own.min(end));
        while !stop.is_stopped() && self.now() <= end {
            self.pass(&mut thread, monitor)?;
            match self.turn(monitor)? {
                Turn::Dispatched(callback) => return Ok(Some(callback)),
                Turn::Something => {}
                Turn::Quiet if self.advance(end, monitor)? => {}
                Turn::Quiet => {
                    self.arrive_at(end);
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Dispatches the ready events of this instant, or if there is none, the next one in the order
    /// of events: an input's item or one due timer. Later events stay, so that no order changes.
    pub(crate) fn dispatch_ready(&mut self, stop: &StopHandle, monitor: &Monitor) -> Result<u64> {
        let mut thread = self.enter();
        let mut dispatched = 0;
        while !stop.is_stopped() && dispatched == 0 {
            self.pass(&mut thread, monitor)?;
            let ready = if self.virtual_cores.is_some() { 0 } else { self.worker.ready_events() };
            if ready == 0 {
                match self.turn(monitor)? {
                    Turn::Dispatched(_) => return Ok(1),
                    Turn::Something => continue,
                    Turn::Quiet => break,
                }
            }
            for _ in 0..ready {
                if stop.is_stopped() {
                    break;
                }
                self.pass(&mut thread, monitor)?;
                let taken = self.worker.take_ready();
                if let Some(callback) = taken.and_then(|event| self.worker.dispatch_taken(event)) {
                    self.dispatched(callback, monitor)?;
                    dispatched += 1;
                }
            }
        }
        Ok(dispatched)
    }

    /// Runs until this instant is quiet.
    pub(crate) fn run_instant(&mut self, stop: &StopHandle, monitor: &Monitor) -> Result<u64> {
        let mut thread = self.enter();
        let mut dispatched = 0;
        while !stop.is_stopped() {
            self.pass(&mut thread, monitor)?;
            match self.turn(monitor)? {
                Turn::Dispatched(_) => dispatched += 1,
                Turn::Something => {}
                Turn::Quiet => break,
            }
        }
        Ok(dispatched)
    }

    /// Does one thing of this instant, if there is any.
    #[inline]
    fn turn(&mut self, monitor: &Monitor) -> Result<Turn> {
        let dispatched = match self.virtual_cores.is_some() {
            false => self.worker.dispatch_next(),
            true => self.dispatch_pending(monitor)?,
        };
        if let Some(callback) = dispatched {
            self.dispatched(callback, monitor)?;
            return Ok(Turn::Dispatched(callback));
        }
        if self.worker.has_ready() {
            return Ok(Turn::Something); // nothing handled so far was an event
        }
        let now = self.now();
        if !self.inputs.is_empty() && self.inputs.deliver_one(now)? {
            self.instant.caused();
            return Ok(Turn::Something);
        }
        if self.virtual_cores.is_some() {
            if self.worker.expire_one(now) {
                self.instant.caused();
                return Ok(Turn::Something);
            }
        } else if let Some(dispatched) = self.worker.dispatch_due(now) {
            self.instant.caused();
            let Some(callback) = dispatched else { return Ok(Turn::Something) };
            self.dispatched(callback, monitor)?;
            return Ok(Turn::Dispatched(callback));
        }
        if self.inputs.is_empty() || self.is_quiet(now)? {
            return Ok(Turn::Quiet);
        }
        Ok(Turn::Something)
    }

    /// Tells the inputs that nothing is left to do; whether they leave it at that.
    #[inline(never)]
    fn is_quiet(&mut self, now: Time) -> Result<bool> {
        self.inputs.quiet(now)?;
        let published = self.worker.has_ready();
        Ok(!published && self.inputs.next_time(now)?.is_none_or(|time| time > now))
    }

    #[inline(always)]
    fn dispatched(&mut self, callback: CallbackId, monitor: &Monitor) -> Result<()> {
        let clock = self.sim_network.clock();
        let (virtual_cores, worker) = (&self.virtual_cores, &self.worker);
        let pending =
            || worker.ready_events() + virtual_cores.as_ref().map_or(0, VirtualCoreScheduler::len);
        self.instant.dispatched(callback, pending, || clock.now(), monitor)?;
        if let Some((_, progress)) = &mut self.progress {
            progress.dispatched(callback, clock.now());
        }
        if !self.inputs.is_empty() {
            self.inputs.dispatched();
        }
        Ok(())
    }

    /// Dispatches the next event of the virtual_cores.
    #[inline(never)]
    fn dispatch_pending(&mut self, monitor: &Monitor) -> Result<Option<CallbackId>> {
        let now = self.now();
        let Self { virtual_cores, worker, breaker, timing, sim_network, inputs, instant, .. } =
            self;
        let Some(virtual_cores) = virtual_cores else { return Ok(None) };
        virtual_cores.take_over(worker, now, monitor);
        if virtual_cores.sweeps() {
            while worker.expire_one(now) {}
            virtual_cores.take_over(worker, now, monitor);
        }
        loop {
            let pending = match breaker {
                None => virtual_cores.pop(),
                // As in the contract's order, timers wait for the items of inputs.
                Some(_)
                    if !virtual_cores.sweeps()
                        && !virtual_cores.has_next()
                        && inputs.deliver_one(now)? =>
                {
                    instant.caused();
                    virtual_cores.take_over(worker, now, monitor);
                    continue;
                }
                Some(breaker) => virtual_cores.choose(breaker, worker, now, monitor)?,
            };
            let Some(pending) = pending else { return Ok(None) };
            if let Some(timing) = timing {
                timing.released(pending.since);
            }
            let event_loop = pending.event.event_loop;
            let has_moving_ends = virtual_cores.has_moving_ends();
            if has_moving_ends {
                sim_network.hold_for(Some(event_loop));
            }
            let callback = worker.dispatch_taken(pending.event);
            let mut call = timing.as_ref().and_then(Timing::take_call);
            if call.is_some() {
                sim_network.end();
            }
            call = call.filter(|call| call.end > now);
            if has_moving_ends {
                sim_network.hold_for(None);
                if call.is_none() {
                    sim_network.launch(event_loop, Duration::ZERO);
                }
            }
            if let Some(call) = call {
                virtual_cores.occupy(event_loop, call, now);
            }
            if callback.is_some() {
                return Ok(callback);
            }
            virtual_cores.take_over(worker, now, monitor);
        }
    }

    /// Nothing is left to do at a time that can be told; whether something would continue
    /// otherwise.
    #[cold]
    fn check_end_of_time(&self, monitor: &Monitor) -> Result<()> {
        let end = |time: Option<Time>| time == Some(Time::MAX);
        let info = monitor.info();
        let timers = self.worker.exhausted_timers().map(|id| info.name_of(id));
        let mut what: Vec<_> = timers.collect();
        if end(self.sim_network.next_arrival()) {
            what.push("messages under way".into());
        }
        if end(self.virtual_cores.as_ref().and_then(VirtualCoreScheduler::next_end)) {
            what.push("a callback that takes time".into());
        }
        match what.is_empty() {
            true => Ok(()),
            false => {
                let (time, what) = (Time::MAX, what.join(", "));
                let text = format!(
                    "simulated time ends at {time}, 584 years after its epoch, and {what} would \
                     go on; end the run before that, or start it earlier"
                );
                Err(Error::new(ErrorKind::LimitReached, text))
            }
        }
    }

    /// Nothing is left to do up to `end`. Time does not go back, if that has passed.
    fn arrive_at(&mut self, end: Time) {
        self.is_over |= self.end == Some(end);
        if end != Time::MAX && end > self.now() {
            self.sim_network.clock().set(end);
            self.display.iter_mut().for_each(|display| display.show(end));
        }
    }

    /// Advances time to the next event, if that is by `end`.
    fn advance(&mut self, end: Time, monitor: &Monitor) -> Result<bool> {
        let now = self.now();
        self.instant.over();
        let mut next = earlier(self.worker.next_deadline(), self.sim_network.next_arrival());
        if let Some(virtual_cores) = &mut self.virtual_cores {
            virtual_cores.settle(now);
            next = earlier(next, virtual_cores.next_end());
        }
        if !self.inputs.is_empty() {
            next = earlier(next, self.inputs.next_time(now)?);
        }
        if let Some(threads) = self.threads {
            let (digest, _) = self.digest();
            threads.note(digest.0 as u64 ^ (digest.0 >> 64) as u64);
            // The inputs are told of quiet instants, which end as soon as another thread ran.
            if threads.wait_until(next.map_or(end, |next| next.min(end))) == WaitEnd::OthersRan {
                return Ok(true);
            }
            next = next.map(|next| next.max(self.now())); // a callback may have slept
        }
        let Some(next) = next.filter(|next| *next < Time::MAX) else {
            self.is_over = true;
            if end == Time::MAX {
                self.check_end_of_time(monitor)?;
            }
            return match self.inputs.refused() {
                None => Ok(false),
                Some(input) => Err(input_stuck(input, now)),
            };
        };
        if let Some((limit, progress)) = &self.progress
            && next.min(end).since(progress.last()) > *limit
        {
            return Err(no_progress(progress.last(), *limit));
        }
        if next > end {
            return Ok(false);
        }
        self.is_over = false;
        self.sim_network.clock().set(next);
        self.display.iter_mut().for_each(|display| display.show(next));
        self.inputs.time_goes_on();
        if let Some(virtual_cores) = &mut self.virtual_cores {
            virtual_cores.free(next);
            if virtual_cores.has_moving_ends() {
                self.end_calls(next)?;
            }
        }
        self.arrive(next)?;
        Ok(true)
    }

    /// Delivers the messages that are due. Those that they overwrite are dropped here.
    fn arrive(&self, now: Time) -> Result<()> {
        catch_part("dropping a message", Some(now), || self.sim_network.arrive())
    }

    /// Ends the calls with moved ends: recorders are told, and the messages leave.
    fn end_calls(&mut self, now: Time) -> Result<()> {
        let ended = self.virtual_cores.as_mut().map(|virtual_cores| virtual_cores.take_ended(now));
        for RunningCall { event_loop, call, end, .. } in ended.unwrap_or_default() {
            let late =
                self.timing.as_ref().map_or(Duration::ZERO, |timing| timing.ended(&call, end));
            self.sim_network.launch(event_loop, late);
            self.record_end(event_loop, end)?;
        }
        Ok(())
    }

    /// Tells the recorders that the running call of a loop ends at `end`.
    fn record_end(&mut self, event_loop: LoopId, end: Time) -> Result<()> {
        self.digester(|digester| {
            catch_part("the recorder", Some(end), || digester.ended(event_loop, end))
        })
    }
}

fn input_stuck(input: &str, time: Time) -> Error {
    let text = format!(
        "failed to continue at {time}: no subscription takes the next item of input {input:?}, and \
         nothing else is left to do; the keep-all subscription that it feeds is full: raise its \
         depth, or let its callback run"
    );
    Error::new(ErrorKind::NoProgress, text)
}

fn no_progress(since: Time, limit: Duration) -> Error {
    let text = format!(
        "failed to continue: no message and no request was handled since {since}, for more than \
         {limit:?}; look for a callback or task that waits for a message or response that does \
         not come, or raise `no_progress_max`"
    );
    Error::new(ErrorKind::NoProgress, text)
}

/// The earlier of two times, as far as there are any.
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Drop for Sequencer {
    /// Drops the messages under way, which may hold handles of the network that holds them.
    fn drop(&mut self) {
        if let Some(panic) = self.sim_network.clear() {
            tracing::error!(panic, "the drop of a message panicked");
        }
    }
}
