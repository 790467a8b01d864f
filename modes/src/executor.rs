//! The executor: a graph, a mode, and `spin`.
//!
//! The thread that holds the executor builds the graph, freezes it and spins, by `&mut self`, so
//! the executor needs no lock. Other threads reach a run through handles: a [`Graph`] adds nodes, a
//! [`StopHandle`] ends the spin, a [`Monitor`] reads counters. The mode decides once, at the
//! freeze, about plan, clock and scheduler; after that every spin is a call of the scheduler,
//! so the modes share all the rest. The drop closes the graph first: callbacks may hold handles of
//! it, and would keep it and themselves alive.

use crate::chains::{Chain, ChainReader, ChainRecorder, ChainSamples, Follower};
use crate::deterministic::{
    Condition, Parts, RunDigest, RunOptions, Sequencer, Setting, Simulation, Trace,
};
use crate::error::catch_part;
use crate::flight::{FlightHeader, FlightRecord, FlightRecorder, FlightWriter, RecordedClock, Tee};
use crate::live_clock::SpinEnd;
use crate::mapping::Mapping;
use crate::memory;
pub use crate::mode::Mode;
use crate::plan::{self, Threads};
use crate::scheduler::{self, BalancedScheduler, LiveScheduler, Replayer, Scheduler, Spin};
use crate::signal::{self, Registration};
use ringspin_executor::{
    Clock, Error, ErrorKind, Failure, FailurePolicy, Frozen, Graph, GraphInfo, Middleware, Monitor,
    Node, Plan, ReadyOrder, Recorder, Result, RosClock, Statistics, StopHandle, Task, Time,
    TimeSource, WaitStrategy,
};
use std::sync::Arc;
use std::time::Duration;

/// Runs a graph of nodes in one of the [modes](Mode).
///
/// ```
/// use ringspin_modes::Executor;
/// use ringspin_executor::QoS;
/// use std::time::Duration;
///
/// let mut executor = Executor::deterministic(Default::default());
/// let talker = executor.create_node("talker", 0u64)?;
/// let out = talker.create_publisher("chatter", QoS::default())?;
/// talker.create_timer(Duration::from_millis(100), move |count, _| {
///     *count += 1;
///     out.publish(*count)
/// })?;
/// executor.spin_for(Duration::from_secs(10))?;
/// assert_eq!(executor.statistics().dispatched(), 100);
/// # Ok::<(), ringspin_executor::Error>(())
/// ```
pub struct Executor {
    graph: Graph,
    mode: Mode,
    pub(crate) wait: WaitStrategy,
    pub(crate) policy: FailurePolicy,
    pub(crate) live_order: ReadyOrder,
    /// In the live modes: how long the turn of an event loop is at most.
    pub(crate) turn: Duration,
    /// In the live modes: whether memory is locked; overrides the mapping.
    pub(crate) lock_memory: bool,
    /// The stack of each worker in multi-core mode.
    pub(crate) stack_bytes: usize,
    stop: StopHandle,
    /// Whether the last spin began after a stop.
    was_stopped: bool,
    pub(crate) recorder: Option<RecorderFactory>,
    pub(crate) deterministic: RunOptions,
    /// Writes the record of a live run.
    pub(crate) flight_writer: Option<Box<dyn FlightWriter>>,
    pub(crate) chains: Vec<Chain>,
    /// Whether time is that of `/clock`; overrides the arguments.
    pub(crate) sim_time: bool,
    pub(crate) running: Option<Running>,
    stopped_by_signals: Option<Registration>,
}

/// How long a turn is at most, unless it is chosen: a few short callbacks fit in, and a loop with
/// long ones makes way after each.
const TURN: Duration = Duration::from_millis(1);

/// The stack of a worker's thread, unless it is chosen: as much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

pub(crate) type RecorderFactory = Box<dyn FnMut(&GraphInfo, usize) -> Box<dyn Recorder> + Send>;

impl Drop for Executor {
    fn drop(&mut self) {
        self.graph.close();
    }
}

pub(crate) struct Running {
    pub(crate) monitor: Monitor,
    pub(crate) scheduler: Box<dyn Scheduler>,
    follower: Option<Follower>,
    /// Dropped after the scheduler, whose workers write to it.
    flight: Option<FlightRecorder>,
}

impl Running {
    /// A spin has ended.
    pub(crate) fn spun(&mut self) {
        self.flight.iter_mut().for_each(FlightRecorder::spun);
    }
}

impl Executor {
    /// An executor for `mode`, with an empty graph, which in deterministic mode has the seed of the
    /// simulation.
    pub fn new(mode: Mode) -> Self {
        let graph = Graph::new();
        let seed = match &mode {
            Mode::Deterministic(simulation) => Some(simulation.effective_seed()),
            Mode::Replay(record) => Some(record.header().seed),
            Mode::SingleCore | Mode::MultiCore(_) => None,
        };
        if let Some(seed) = seed {
            graph.set_seed(seed).expect("an empty graph has no random streams");
        }
        #[cfg(feature = "messages")]
        graph.check_messages(|message| {
            ringspin_messages::MessageChecks::of_common_packages().check_of(message)
        });
        Self {
            graph,
            mode,
            wait: WaitStrategy::default(),
            policy: FailurePolicy::default(),
            live_order: ReadyOrder::RoundRobin,
            turn: TURN,
            lock_memory: false,
            stack_bytes: STACK_BYTES,
            stop: StopHandle::default(),
            was_stopped: false,
            recorder: None,
            deterministic: RunOptions::default(),
            flight_writer: None,
            chains: Vec::new(),
            sim_time: false,
            running: None,
            stopped_by_signals: None,
        }
    }

    /// Every event loop on the thread that spins.
    pub fn single_core() -> Self {
        Self::new(Mode::SingleCore)
    }

    /// Event loops on pinned cores, as `mapping` says.
    pub fn multi_core(mapping: Mapping) -> Self {
        Self::new(Mode::MultiCore(Some(mapping)))
    }

    /// Every event loop in one sequence under simulated time.
    pub fn deterministic(simulation: Simulation) -> Self {
        Self::new(Mode::Deterministic(Box::new(simulation)))
    }

    /// The mode, in multi-core mode with the mapping that was [set](Self::set_mapping) last.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The graph, to build nodes in.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Creates a node in the graph, like [`Graph::create_node`].
    ///
    /// # Errors
    /// Fails for an invalid or duplicate name, or an executor that has ended.
    pub fn create_node<S: Send + 'static>(&self, name: &str, state: S) -> Result<Node<S>> {
        self.graph.create_node(name, state)
    }

    /// Stops this executor from anywhere.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Stops this executor on SIGINT (Ctrl-C), SIGTERM and SIGHUP, as long as it exists.
    ///
    /// A signal that comes when every executor that asked for this is stopped already, or gone,
    /// writes the callbacks that still run to the standard error and ends the process with status
    /// 130.
    ///
    /// # Errors
    /// Fails when the process has a handler of another library, or the operating system
    /// refuses one.
    pub fn stop_on_ctrl_c(&mut self) -> Result<()> {
        self.stopped_by_signals = Some(signal::stop_on_ctrl_c(self.stop.clone())?);
        Ok(())
    }

    /// Freezes the graph: from here on publishers deliver. The first spin does it, too.
    ///
    /// # Errors
    /// Fails when the graph cannot be run in this mode.
    pub fn freeze(&mut self) -> Result<()> {
        if self.running.is_none() {
            self.running = Some(self.start()?);
        }
        Ok(())
    }

    fn start(&mut self) -> Result<Running> {
        plan::tune(&self.graph, self.mode.mapping())?;
        let info = self.graph.info();
        match self.mode.clone() {
            Mode::SingleCore | Mode::MultiCore(_) => {
                let threads = plan::threads(&self.mode, &info)?;
                self.start_live(&info, threads)
            }
            Mode::Deterministic(simulation) => self.start_deterministic(&simulation, &info),
            Mode::Replay(record) => self.start_replay(&record, &info),
        }
    }

    fn start_live(&mut self, info: &GraphInfo, threads: Threads) -> Result<Running> {
        let Threads { workers, cores, placement, sharing } = threads;
        let mut plan = Plan::new(workers, self.live_order);
        if let Some(placement) = placement {
            plan.late = placement.into_late();
        }
        if let Some(cores) = &cores {
            plan.threads = cores.len();
        }
        let follower = Follower::new(&self.chains, info)?;
        plan.stamps = follower.as_ref().map(|follower| follower.stamps().clone());
        let clock = self.live_clock()?;
        let writer = self.flight_writer.take().inspect(|_| self.warn_of_gaps());
        plan.digests_by_worker = writer.is_some();
        let time: Arc<dyn Clock> = match &writer {
            Some(_) => Arc::new(RecordedClock(clock.clone())),
            None => clock.clone(),
        };
        let time = TimeSource::Live(time);
        let frozen = self.graph.freeze(&plan, &self.stop, self.policy, &time)?;
        let Frozen { monitor, mut workers, .. } = frozen;
        workers.iter().for_each(|worker| clock.wake(worker.ready_set().clone()));
        let info = monitor.info();
        let mut recorders = self.recorders(&info, workers.len())?;
        let seed = self.graph.seed();
        let middleware = self.graph.middleware().and_then(|of| of.record_name());
        let header = FlightHeader::new(&info, seed, clock.now(), middleware.unwrap_or_default());
        let start = |writer| FlightRecorder::start(writer, header, &clock, workers.len());
        let (flight, logs) = writer.map(start).transpose()?.unzip();
        let mut logs = logs.into_iter().flatten();
        for worker in &mut workers {
            let recorder = match (&follower, recorders.next()) {
                (Some(follower), next) => Some(ChainRecorder::boxed(follower, next)),
                (None, next) => next,
            };
            worker.set_recorder(Tee::before(logs.next(), recorder));
        }
        if self.lock_memory || plan::locks_memory(&self.mode) {
            memory::lock_all();
        }
        let scheduler: Box<dyn Scheduler> = match (cores, sharing) {
            (Some(cores), Some(sharing)) => {
                Box::new(BalancedScheduler::new(workers, sharing, cores, clock, self.turn))
            }
            (cores, _) => Box::new(LiveScheduler::new(workers, cores, clock, self.turn)),
        };
        Ok(Running { monitor, scheduler, follower, flight })
    }

    /// Warns of inputs that a flight record does not have.
    fn warn_of_gaps(&self) {
        let is_gap = |of: &Arc<dyn Middleware>| of.receives() && of.record_name().is_none();
        if let Some(middleware) = self.graph.middleware().filter(is_gap) {
            let middleware = middleware.name();
            tracing::warn!(
                "the flight record has no messages and requests from {middleware}: a replay ends \
                 at the first one"
            );
        }
    }

    fn start_replay(&mut self, record: &Arc<FlightRecord>, info: &GraphInfo) -> Result<Running> {
        record.header().check(info)?;
        let mut plan = Plan::new(vec![info.topological_order()], ReadyOrder::Fifo);
        plan.digests_by_worker = true;
        let sim_network = scheduler::network(record, info);
        let time = TimeSource::Simulated(sim_network.clone());
        let frozen = self.graph.freeze(&plan, &self.stop, self.policy, &time)?;
        let Frozen { monitor, mut workers, .. } = frozen;
        let recorder = self.recorders(&monitor.info(), workers.len())?.next();
        let scheduler =
            Box::new(Replayer::new(workers.remove(0), sim_network, record.clone(), recorder));
        Ok(Running { monitor, scheduler, follower: None, flight: None })
    }

    fn start_deterministic(
        &mut self,
        simulation: &Simulation,
        info: &GraphInfo,
    ) -> Result<Running> {
        let RunOptions { is_traced, watched, deviations_max, .. } = self.deterministic;
        let follower = Follower::new(&self.chains, info)?;
        let setting = Setting::new(simulation, info, is_traced, deviations_max)?;
        let mut plan = Plan::new(vec![info.topological_order()], ReadyOrder::Fifo);
        plan.late = setting.late();
        plan.stamps = follower.as_ref().map(|follower| follower.stamps().clone());
        let time = TimeSource::Simulated(setting.sim_network.clone());
        let frozen = self.graph.freeze(&plan, &self.stop, self.policy, &time)?;
        let Frozen { monitor, mut workers, inputs } = frozen;
        let recorder = self.recorders(&monitor.info(), workers.len())?.next();
        let parts = Parts {
            worker: workers.remove(0),
            inputs,
            recorder,
            breaker: self.deterministic.tie_breaker.take(),
            watched,
            follower: follower.clone(),
            middleware: self.graph.middleware(),
        };
        let mut sequencer = Sequencer::new(parts, setting, &monitor.info());
        if is_traced {
            sequencer.trace();
        }
        Ok(Running { monitor, scheduler: Box::new(sequencer), follower, flight: None })
    }

    fn recorders(
        &mut self,
        info: &GraphInfo,
        workers: usize,
    ) -> Result<impl Iterator<Item = Box<dyn Recorder>> + use<>> {
        let factory = self.recorder.as_mut();
        let created = factory.map(|factory| {
            let create = |n| catch_part("creating the recorder", None, || factory(info, n));
            (0..workers).map(create).collect::<Result<Vec<_>>>()
        });
        Ok(created.transpose()?.unwrap_or_default().into_iter())
    }

    /// Runs until the executor is stopped or a callback fails; in deterministic mode also until
    /// nothing is left to do. After a stop it logs a warning and returns at once, until
    /// [`StopHandle::reset`].
    ///
    /// # Errors
    /// Fails if the graph cannot run in this mode, if a callback fails under the policy that stops,
    /// and in deterministic mode if the callbacks of one instant never end.
    pub fn spin(&mut self) -> Result<()> {
        self.spin_until(Time::MAX)
    }

    /// Runs like [`spin`](Self::spin), for at most `duration` of the executor's time. In
    /// deterministic mode the instant at the end is included.
    ///
    /// # Errors
    /// Fails if the graph cannot run in this mode, if a callback fails under the policy that stops,
    /// and in deterministic mode if the callbacks of one instant never end.
    pub fn spin_for(&mut self, duration: Duration) -> Result<()> {
        self.note_stop();
        self.run_for(duration)
    }

    fn run_for(&mut self, duration: Duration) -> Result<()> {
        self.freeze()?;
        let end = self.end_after(duration);
        self.spin_to(end, &mut |_| false)
    }

    /// The end of a spin that lasts `duration`; the graph is frozen.
    pub(crate) fn end_after(&self, duration: Duration) -> SpinEnd {
        let running = self.running.as_ref().expect("the caller froze the graph");
        running.scheduler.end_after(duration)
    }

    /// Runs like [`spin_for`](Self::spin_for), also until `task` ends, is cancelled or fails;
    /// returns true if it has. Waits for callbacks that run on other cores at that moment. A task
    /// of the executor continues in the next spin if it has not ended.
    ///
    /// ```
    /// use ringspin_modes::Executor;
    /// use std::time::Duration;
    ///
    /// let mut executor = Executor::single_core();
    /// let node = executor.create_node("node", ())?;
    /// let mut pause = node.create_sleeper()?;
    /// let task = node.spawn("rest", async move {
    ///     pause.sleep(Duration::from_millis(2)).await;
    /// })?;
    /// assert!(executor.spin_until_finished(&task, Duration::MAX)?);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the graph cannot run in this mode, if a callback fails under the policy that stops,
    /// and in deterministic mode if the callbacks of one instant never end. A task that fails is an
    /// error of its callback.
    pub fn spin_until_finished(&mut self, task: &Task, timeout: Duration) -> Result<bool> {
        let stop = self.stop.clone();
        task.stop_when_finished(&stop, || self.run_for(timeout))?;
        Ok(task.is_finished())
    }

    /// The clock of the live modes, which follows `/clock` if it is to.
    fn live_clock(&self) -> Result<Arc<RosClock>> {
        let clock = Arc::new(RosClock::start());
        self.graph.switch_clock(&clock, self.sim_time).map_err(|reason| {
            let text = format!(
                "failed to follow /clock: {reason}; connect the executor with ROS 2, or leave \
                 `use_sim_time` out"
            );
            Error::new(ErrorKind::Unsupported, text)
        })?;
        if self.graph.wants_clock() && self.graph.middleware().is_none_or(|m| !m.receives()) {
            tracing::warn!(
                "use_sim_time is true, but no middleware brings a /clock: time is the real one; \
                 connect with ROS 2 (RINGSPIN_MIDDLEWARE=ros2)"
            );
        }
        Ok(clock)
    }

    /// Runs like [`spin`](Self::spin), up to `end` of the executor's time.
    ///
    /// # Errors
    /// Fails if the graph cannot run in this mode, if a callback fails under the policy that stops,
    /// and in deterministic mode if the callbacks of one instant never end.
    pub fn spin_until(&mut self, end: Time) -> Result<()> {
        self.spin_until_over(end, &mut |_| false)
    }

    /// Runs like [`spin_until`](Self::spin_until); in deterministic mode also until `over` returns
    /// true, which is called with the time at each quiet instant.
    ///
    /// # Errors
    /// Fails if the graph cannot run in this mode, if a callback fails under the policy that stops,
    /// and in deterministic mode if the callbacks of one instant never end.
    pub fn spin_until_over(&mut self, end: Time, over: Condition<'_>) -> Result<()> {
        self.note_stop();
        self.spin_to(SpinEnd::At(end), over)
    }

    /// Logs that the executor was stopped before a spin, once for each stop.
    pub(crate) fn note_stop(&mut self) {
        let was_stopped = std::mem::replace(&mut self.was_stopped, self.stop.is_stopped());
        if self.was_stopped && !was_stopped {
            tracing::warn!(
                "the spin ends at once: the executor was stopped before; call `StopHandle::reset` \
                 to spin again"
            );
        }
    }

    fn spin_to(&mut self, end: SpinEnd, over: Condition<'_>) -> Result<()> {
        self.freeze()?;
        self.scheduled(|scheduler, spin| scheduler.run(spin, end, over))?;
        self.failed()
    }

    /// Calls `run` with the scheduler, its timers started, and the settings of the spin.
    pub(crate) fn scheduled<R>(
        &mut self,
        run: impl FnOnce(&mut dyn Scheduler, Spin<'_>) -> Result<R>,
    ) -> Result<R> {
        let (stop, wait) = (self.stop.clone(), self.wait);
        let (stack_bytes, applies_schedule) =
            (self.stack_bytes, self.deterministic.applies_schedule);
        let running = self.running();
        let Running { monitor, scheduler, .. } = running;
        let spin = Spin { monitor, stop: &stop, wait, stack_bytes, applies_schedule };
        let result = run(&mut **scheduler, spin);
        running.spun();
        result
    }

    /// The frozen graph, its timers started.
    pub(crate) fn running(&mut self) -> &mut Running {
        let running = self.running.as_mut().expect("the caller froze the graph");
        running.scheduler.start();
        running
    }

    /// The monitor and the scheduler of the deterministic mode, for tools that look into a run or
    /// step it; `None` in the live modes, and until the graph is frozen.
    pub fn deterministic_run(&mut self) -> Option<(&Monitor, &mut Sequencer)> {
        self.running.as_ref()?;
        let Running { monitor, scheduler, .. } = self.running();
        Some((monitor, scheduler.sequencer()?))
    }

    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        self.running.as_mut()?.scheduler.sequencer()
    }

    /// The failure that stopped the executor, as an error, if there is one.
    ///
    /// # Errors
    /// An error of kind [`ErrorKind::CallbackFailed`], with the [`Failure`] as its cause.
    pub fn failed(&self) -> Result<()> {
        match self.monitor().and_then(|monitor| monitor.stopping_failure()) {
            Some(failure) => {
                let node = failure.node.clone();
                let error = Error::new(ErrorKind::CallbackFailed, failure.to_string());
                Err(error.in_node(node).caused_by(failure))
            }
            None => Ok(()),
        }
    }

    /// The executor's time: of its clock once it is frozen, before that zero.
    pub fn now(&self) -> Time {
        self.running.as_ref().map_or(Time::ZERO, |running| running.scheduler.now())
    }

    /// The digest of all dispatches so far, and their number; only in deterministic mode, and once
    /// the graph is frozen.
    pub fn digest(&mut self) -> Option<(RunDigest, u64)> {
        self.sequencer().map(Sequencer::digest)
    }

    /// The samples so far of the chains that are [followed](Self::with_chains), in their order;
    /// none until the graph is frozen.
    pub fn chains(&self) -> Vec<ChainSamples> {
        let follower = self.running.as_ref().and_then(|running| running.follower.as_ref());
        follower.map(Follower::samples).unwrap_or_default()
    }

    /// Reads the samples of the chains from any thread; `None` until the graph is frozen, and
    /// without chains.
    pub fn chain_reader(&self) -> Option<ChainReader> {
        self.running.as_ref()?.follower.as_ref().map(Follower::reader)
    }

    /// Takes the [trace](Self::with_trace) so far, which ends; `None` if there is none.
    pub fn take_trace(&mut self) -> Option<Trace> {
        self.sequencer()?.take_trace()
    }

    /// A monitor that any thread can query while the executor spins; `None` until it is frozen.
    pub fn monitor(&self) -> Option<Monitor> {
        self.running.as_ref().map(|running| running.monitor.clone())
    }

    /// All counters; empty until the graph is frozen.
    pub fn statistics(&self) -> Statistics {
        self.monitor().map(|monitor| monitor.statistics()).unwrap_or_default()
    }

    /// The failures so far, in order.
    pub fn failures(&self) -> Vec<Failure> {
        self.monitor().map(|monitor| monitor.failures()).unwrap_or_default()
    }

    /// Takes the recorders out, in the order of the workers.
    pub fn take_recorders(&mut self) -> Vec<Box<dyn Recorder>> {
        self.swap_recorders(std::iter::empty())
    }

    /// Gives each worker of the frozen graph the next one of these recorders, as far as there are
    /// any, and returns those that they had.
    pub fn swap_recorders(
        &mut self,
        recorders: impl IntoIterator<Item = Box<dyn Recorder>>,
    ) -> Vec<Box<dyn Recorder>> {
        let Some(Running { scheduler, follower, .. }) = &mut self.running else {
            return Vec::new();
        };
        let is_live = scheduler.sequencer().is_none();
        let mut recorders = recorders.into_iter().fuse();
        let mut next = || match follower.as_ref().filter(|_| is_live) {
            Some(of) => Some(ChainRecorder::boxed(of, recorders.next())),
            None => recorders.next(),
        };
        let mut before = Vec::new();
        scheduler.each_recorder(&mut |recorder| before.extend(Tee::exchange(recorder, next())));
        before.into_iter().filter_map(ChainRecorder::unwrap).collect()
    }

    /// Has `mapping` decide from here on which cores run which loops, with their priorities and
    /// budgets. Called between two spins of a running multi-core executor it moves the loops: to
    /// threads that this executor started with, each with all that waits for it. Loops that no
    /// entry names run where there is time for them. The other keys, and entries for nodes that are
    /// created later, stay those of the first mapping.
    ///
    /// ```
    /// use ringspin_modes::{Executor, Mapping, Mode, allowed_cores};
    /// use std::time::Duration;
    ///
    /// let mut executor = Executor::new(Mode::MultiCore(None));
    /// let node = executor.create_node("planner", ())?;
    /// node.create_timer(Duration::from_millis(1), |_, _| ())?;
    /// executor.spin_for(Duration::from_millis(5))?;
    /// let last = allowed_cores().pop().unwrap();
    /// # if allowed_cores().len() > 1 {
    /// executor.set_mapping(Mapping::new().core(last, ["/planner"]))?;
    /// # }
    /// executor.spin_for(Duration::from_millis(5))?; // now on the last core
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails in the other modes, if the mapping does not fit the graph or the threads, and if the
    /// executor started with fixed loops: `balance = false`, a default core, or a single core.
    /// Then nothing has changed.
    pub fn set_mapping(&mut self, mapping: Mapping) -> Result<()> {
        if !matches!(self.mode, Mode::MultiCore(_)) {
            let text = "a mapping places event loops in the multi-core mode only: start in it";
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        if let Some(running) = &mut self.running {
            running.scheduler.remap(&self.graph.info(), &mapping)?;
            plan::tune(&self.graph, Some(&mapping))?;
        }
        self.mode = Mode::MultiCore(Some(mapping));
        Ok(())
    }

    /// The cores of a running multi-core executor to which [`set_mapping`](Self::set_mapping) can
    /// move any event loop; none if the loops are fixed, and until the graph is frozen.
    pub fn shared_cores(&self) -> Vec<usize> {
        let running = self.running.as_ref();
        running.map(|running| running.scheduler.shared_cores()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor")
            .field("mode", &self.mode)
            .field("graph", &self.graph)
            .finish_non_exhaustive()
    }
}
