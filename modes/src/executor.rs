//! The executor: a graph, a mode, and `spin`.

use crate::deterministic::{
    ChainError, ChainSamples, Condition, Follower, Parts, RunDigest, RunOptions, Sequencer,
    Setting, Simulation, Trace,
};
use crate::error::{Panicked, SpinError};
use crate::live_clock::End;
pub use crate::mapping::allowed_cores;
use crate::mapping::{CorePlan, Mapping, Placement};
use crate::memory;
pub use crate::mode::{Mode, ModeError, UnknownModeError};
use crate::plan;
use crate::scheduler::{MultiCore, Scheduler, SingleCore, Spin};
use crate::signal::{self, Registration, SignalError};
use ringspin_executor::{
    CreateNodeError, Failure, FailurePolicy, Frozen, Graph, GraphInfo, Monitor, NamedInput, Node,
    Plan, ReadyOrder, Recorder, RosClock, Statistics, StopHandle, Task, Time, TimeSource,
    WaitStrategy, Worker,
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Executor {
    graph: OwnGraph,
    mode: Mode,
    pub(crate) wait: WaitStrategy,
    pub(crate) policy: FailurePolicy,
    pub(crate) live_order: ReadyOrder,
    /// In the live modes: whether memory is locked, whatever the mapping says.
    pub(crate) lock_memory: bool,
    /// The stack of each worker in multi-core mode.
    pub(crate) stack_bytes: usize,
    stop: StopHandle,
    pub(crate) recorder: Option<RecorderFactory>,
    pub(crate) deterministic: RunOptions,
    /// Whether time is that of `/clock`, whatever the arguments say.
    pub(crate) sim_time: bool,
    running: Option<Running>,
    stopped_by_signals: Option<Registration>,
}

/// The stack of a worker's thread, unless it is chosen: as much as a main thread has.
const STACK_BYTES: usize = 8 << 20;

pub(crate) type RecorderFactory = Box<dyn FnMut(&GraphInfo, usize) -> Box<dyn Recorder> + Send>;

/// The graph of an executor, which is closed with it.
struct OwnGraph(Graph);

impl Drop for OwnGraph {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl std::ops::Deref for OwnGraph {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.0
    }
}

/// A frozen graph and its scheduler.
pub(crate) struct Running {
    pub(crate) monitor: Monitor,
    pub(crate) scheduler: Box<dyn Scheduler>,
}

impl Executor {
    /// An executor for `mode`, with an empty graph, which in deterministic mode has the seed of the
    /// simulation.
    pub fn new(mode: Mode) -> Self {
        let graph = Graph::new();
        if let Mode::Deterministic(simulation) = &mode {
            let seed = simulation.effective_seed();
            graph.set_seed(seed).expect("an empty graph has no random streams");
        }
        Self {
            graph: OwnGraph(graph),
            mode,
            wait: WaitStrategy::default(),
            policy: FailurePolicy::default(),
            live_order: ReadyOrder::RoundRobin,
            lock_memory: false,
            stack_bytes: STACK_BYTES,
            stop: StopHandle::default(),
            recorder: None,
            deterministic: RunOptions::default(),
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

    /// The graph, to build nodes in.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Creates a node in the graph, like [`Graph::create_node`].
    ///
    /// # Errors
    /// The errors of [`Graph::create_node`].
    pub fn create_node<S: Send + 'static>(
        &self,
        name: &str,
        state: S,
    ) -> Result<Node<S>, CreateNodeError> {
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
    /// [`SignalError`] when the process has a handler of another library, or the operating system
    /// refuses one.
    pub fn stop_on_ctrl_c(&mut self) -> Result<(), SignalError> {
        self.stopped_by_signals = Some(signal::stop_on_ctrl_c(self.stop.clone())?);
        Ok(())
    }

    /// Freezes the graph: from here on publishers deliver. The first spin does it, too.
    ///
    /// # Errors
    /// [`SpinError::Mapping`] and [`SpinError::Freeze`] when the graph cannot be run in this mode.
    pub fn freeze(&mut self) -> Result<(), SpinError> {
        if self.running.is_none() {
            self.running = Some(self.start()?);
        }
        Ok(())
    }

    fn start(&mut self) -> Result<Running, SpinError> {
        plan::prioritize(&self.graph, &self.mode)?;
        let info = self.graph.info();
        match self.mode.clone() {
            Mode::SingleCore => self.start_live(&info, None),
            Mode::MultiCore(mapping) => {
                let cores = plan::place(&info, mapping.as_ref())?;
                self.start_live(&info, Some(cores))
            }
            Mode::Deterministic(simulation) => self.start_deterministic(&simulation, &info),
        }
    }

    /// Starts a worker for each of `cores`, or one for the thread that spins.
    fn start_live(
        &mut self,
        info: &GraphInfo,
        cores: Option<(Vec<CorePlan>, Placement)>,
    ) -> Result<Running, SpinError> {
        let order = info.topological_order();
        let workers = match &cores {
            Some((cores, _)) => cores.iter().map(|core| core.in_order(&order)).collect(),
            None => vec![order],
        };
        let mut plan = Plan::new(workers, self.live_order);
        let cores = cores.map(|(cores, placement)| {
            plan.late = placement.into_late();
            cores
        });
        if Follower::new(&self.deterministic.chains, info)?.is_some() {
            return Err(ChainError::Live.into());
        }
        let clock = self.live_clock()?;
        let (monitor, mut workers, _) =
            self.freeze_graph(&plan, &TimeSource::Live(clock.clone()))?;
        workers.iter().for_each(|worker| clock.wake(worker.ready_set().clone()));
        let mut recorders = self.recorders(&monitor.info(), workers.len())?;
        workers.iter_mut().for_each(|worker| drop(worker.set_recorder(recorders.next())));
        if self.lock_memory || plan::locks_memory(&self.mode) {
            memory::lock_all();
        }
        let scheduler: Box<dyn Scheduler> = match cores {
            Some(cores) => {
                Box::new(MultiCore::new(cores.into_iter().zip(workers).collect(), clock))
            }
            None => Box::new(SingleCore::new(workers.remove(0), clock)),
        };
        Ok(Running { monitor, scheduler })
    }

    fn start_deterministic(
        &mut self,
        simulation: &Simulation,
        info: &GraphInfo,
    ) -> Result<Running, SpinError> {
        let RunOptions { is_traced, watched, deviations_max, .. } = self.deterministic;
        let follower = Follower::new(&self.deterministic.chains, info)?;
        let causes = is_traced || follower.is_some();
        let setting = Setting::new(simulation, info, causes, deviations_max)?;
        let mut plan = Plan::new(vec![info.topological_order()], ReadyOrder::Fifo);
        plan.late = setting.late();
        let (monitor, mut workers, inputs) =
            self.freeze_graph(&plan, &TimeSource::Simulated(setting.sim_network.clone()))?;
        let recorder = self.recorders(&monitor.info(), workers.len())?.next();
        let parts = Parts {
            worker: workers.remove(0),
            inputs,
            recorder,
            breaker: self.deterministic.tie_breaker.take(),
            watched,
            follower,
            middleware: self.graph.middleware(),
        };
        let mut sequencer = Sequencer::new(parts, setting, &monitor.info());
        if is_traced {
            sequencer.trace();
        }
        Ok(Running { monitor, scheduler: Box::new(sequencer) })
    }

    fn freeze_graph(
        &self,
        plan: &Plan,
        time: &TimeSource,
    ) -> Result<(Monitor, Vec<Worker>, Vec<NamedInput>), SpinError> {
        let frozen = self.graph.freeze(plan, &self.stop, self.policy, time)?;
        let Frozen { monitor, workers, inputs } = frozen;
        Ok((monitor, workers, inputs))
    }

    /// A recorder for each worker, if there are any.
    fn recorders(
        &mut self,
        info: &GraphInfo,
        workers: usize,
    ) -> Result<impl Iterator<Item = Box<dyn Recorder>> + use<>, Panicked> {
        let create = |factory: &mut RecorderFactory, n| {
            Panicked::catch("creating the recorder", None, || factory(info, n))
        };
        let created = self
            .recorder
            .iter_mut()
            .flat_map(|factory| (0..workers).map(|n| create(factory, n)).collect::<Vec<_>>());
        Ok(created.collect::<Result<Vec<_>, _>>()?.into_iter())
    }

    /// Runs until the executor is stopped or a callback fails; in deterministic mode also until
    /// nothing is left to do.
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin(&mut self) -> Result<(), SpinError> {
        self.spin_until(Time::MAX)
    }

    /// Runs like [`spin`](Self::spin), for at most `duration` of the executor's time. In
    /// deterministic mode the instant at the end is included.
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin_for(&mut self, duration: Duration) -> Result<(), SpinError> {
        self.freeze()?;
        let end = self.end_after(duration);
        self.spin_to(end, &mut |_| false)
    }

    /// The end of a spin that lasts `duration`; the graph is frozen.
    pub(crate) fn end_after(&self, duration: Duration) -> End {
        let running = self.running.as_ref().expect("the caller froze the graph");
        running.scheduler.end_after(duration)
    }

    /// Runs like [`spin_for`](Self::spin_for), also until `task` ends, is cancelled or fails;
    /// returns true if it has. Waits for callbacks that run on other cores at that moment. A task
    /// of the executor goes on in the next spin if it has not ended.
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
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin_until_finished(
        &mut self,
        task: &Task,
        timeout: Duration,
    ) -> Result<bool, SpinError> {
        let stop = self.stop.clone();
        task.stop_when_finished(&stop, || self.spin_for(timeout))?;
        Ok(task.is_finished())
    }

    /// The clock of the live modes, which follows `/clock` if it is to.
    fn live_clock(&self) -> Result<Arc<RosClock>, SpinError> {
        let clock = Arc::new(RosClock::start());
        self.graph.switch_clock(&clock, self.sim_time).map_err(SpinError::Clock)?;
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
    /// [`SpinError`].
    pub fn spin_until(&mut self, end: Time) -> Result<(), SpinError> {
        self.spin_until_over(end, &mut |_| false)
    }

    /// Runs like [`spin_until`](Self::spin_until); in deterministic mode also until `over` returns
    /// true, which is called with the time at each quiet instant.
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin_until_over(&mut self, end: Time, over: Condition<'_>) -> Result<(), SpinError> {
        self.spin_to(End::At(end), over)
    }

    fn spin_to(&mut self, end: End, over: Condition<'_>) -> Result<(), SpinError> {
        self.freeze()?;
        self.scheduled(|scheduler, spin| scheduler.run(spin, end, over))?;
        self.failed()
    }

    /// Calls `run` with the scheduler, its timers started, and the settings of the spin.
    pub(crate) fn scheduled<R>(
        &mut self,
        run: impl FnOnce(&mut dyn Scheduler, Spin<'_>) -> Result<R, SpinError>,
    ) -> Result<R, SpinError> {
        let (stop, wait) = (self.stop.clone(), self.wait);
        let (stack_bytes, applies_schedule) =
            (self.stack_bytes, self.deterministic.applies_schedule);
        let Running { monitor, scheduler } = self.running();
        run(&mut **scheduler, Spin { monitor, stop: &stop, wait, stack_bytes, applies_schedule })
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
        let Running { monitor, scheduler } = self.running();
        Some((monitor, scheduler.sequencer()?))
    }

    fn sequencer(&mut self) -> Option<&mut Sequencer> {
        self.running.as_mut()?.scheduler.sequencer()
    }

    /// The failure that stopped the executor, as an error, if there is one.
    ///
    /// # Errors
    /// [`SpinError::Failed`].
    pub fn failed(&self) -> Result<(), SpinError> {
        match self.monitor().and_then(|monitor| monitor.stopping_failure()) {
            Some(failure) => Err(Box::new(failure).into()),
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
    /// none in the live modes, and until the graph is frozen.
    pub fn chains(&mut self) -> Vec<ChainSamples> {
        self.sequencer().map(Sequencer::chains).unwrap_or_default()
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
        let running = self.running.as_mut();
        running.map(|running| running.scheduler.take_recorders()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor")
            .field("mode", &self.mode)
            .field("graph", &*self.graph)
            .finish_non_exhaustive()
    }
}
