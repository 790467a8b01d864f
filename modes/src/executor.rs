//! The executor: a graph, a mode, and `spin`.

use crate::deterministic::{
    ChainError, ChainPath, ChainSamples, Condition, Follower, KEPT_MAX, NotApplied, Parts,
    RunDigest, Sequencer, Setting, Simulation, TieBreaker, Trace,
};
use crate::error::{Panicked, SpinError};
use crate::live::{self, Run};
use crate::live_clock::End;
use crate::mapping::{CorePlan, Mapping};
use crate::memory;
pub use crate::mode::{Mode, ModeError};
use crate::plan;
use crate::signal::{self, Registration, SignalError};
use ringspin_executor::{
    Clock, CreateNodeError, Failure, FailurePolicy, Frozen, Graph, GraphInfo, Monitor, Node, Plan,
    ReadyOrder, Recorder, RosClock, Statistics, StopHandle, Task, Time, TimeSource, WaitStrategy,
    Worker,
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
    /// In deterministic mode: whether a trace is kept.
    pub(crate) traced: bool,
    pub(crate) tie_breaker: Option<Box<dyn TieBreaker>>,
    /// In deterministic mode: the instant of which a record is kept.
    pub(crate) watched: Option<Time>,
    /// Whether entries of a schedule that cannot be applied are an error.
    pub(crate) applies_schedule: bool,
    /// In deterministic mode: how many deviations of each kind are kept.
    pub(crate) deviations_max: usize,
    /// In deterministic mode: what is followed.
    pub(crate) chains: Vec<ChainPath>,
    /// Whether time is that of `/clock`, whatever the arguments say.
    pub(crate) sim_time: bool,
    running: Option<Running>,
    stopped_by_signals: Option<Registration>,
}

/// The names of schedulers in [failures](Failure) outside of the callbacks.
pub(crate) const WORKER: &str = "the worker";
pub(crate) const SEQUENCER: &str = "the sequencer";
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

/// A frozen graph in the hands of its scheduler.
pub(crate) struct Running {
    pub(crate) monitor: Monitor,
    pub(crate) scheduler: Scheduler,
}

pub(crate) enum Scheduler {
    SingleCore { worker: Box<Worker>, clock: Arc<RosClock>, started: bool },
    MultiCore { workers: Vec<(CorePlan, Worker)>, clock: Arc<RosClock>, started: bool },
    Deterministic(Box<Sequencer>),
}

impl Scheduler {
    /// Starts timers and tasks, unless they are started.
    fn start(&mut self) {
        match self {
            Self::SingleCore { worker, clock, started } => {
                if !std::mem::replace(started, true) {
                    worker.start(clock.now());
                }
            }
            Self::MultiCore { workers, clock, started } => {
                if !std::mem::replace(started, true) {
                    let anchor = clock.now();
                    workers.iter_mut().for_each(|(_, worker)| worker.start(anchor));
                }
            }
            // Its sequencer has done so.
            Self::Deterministic(_) => {}
        }
    }
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
            live_order: ReadyOrder::Sweep,
            lock_memory: false,
            stack_bytes: STACK_BYTES,
            stop: StopHandle::default(),
            recorder: None,
            traced: false,
            tie_breaker: None,
            watched: None,
            applies_schedule: true,
            deviations_max: KEPT_MAX,
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

    /// The graph, to build nodes in.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// As [`Graph::create_node`].
    ///
    /// # Errors
    /// As [`Graph::create_node`].
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
        let order = info.topological_order();
        let cores = match &self.mode {
            Mode::MultiCore(mapping) => Some(plan::cores(&info, mapping.as_ref())?),
            Mode::SingleCore | Mode::Deterministic(_) => None,
        };
        let workers = match &cores {
            Some(cores) => cores.iter().map(|core| plan::on_core(&order, core)).collect(),
            None => vec![order],
        };
        let order = match self.mode {
            Mode::Deterministic(_) => ReadyOrder::Fifo,
            Mode::SingleCore | Mode::MultiCore(_) => self.live_order,
        };
        let follower = Follower::new(&self.chains, &info)?;
        let setting = match &self.mode {
            Mode::Deterministic(simulation) => {
                let causes = self.traced || follower.is_some();
                Some(Setting::new(simulation, &info, causes, self.deviations_max)?)
            }
            Mode::SingleCore | Mode::MultiCore(_) if follower.is_some() => {
                return Err(ChainError::Live.into());
            }
            Mode::SingleCore | Mode::MultiCore(_) => None,
        };
        let live = self.live_clock(setting.is_some())?;
        let time = match &setting {
            Some(setting) => TimeSource::Simulated(setting.sim_network.clone()),
            None => TimeSource::Live(live.clone()),
        };
        let plan = Plan { workers, order };
        let frozen = self.graph.freeze(&plan, &self.stop, self.policy, &time)?;
        let Frozen { monitor, mut workers, inputs } = frozen;
        workers.iter().for_each(|worker| live.wake(worker.ready_set().clone()));
        let mut recorders = self.recorders(monitor.info(), workers.len())?;
        let mut next_recorder = || recorders.next();
        let scheduler = match (&self.mode, setting) {
            (_, Some(setting)) => {
                let (worker, recorder) = (workers.remove(0), next_recorder());
                let breaker = self.tie_breaker.take();
                let (watched, middleware) = (self.watched, self.graph.middleware());
                let parts =
                    Parts { worker, inputs, recorder, breaker, watched, follower, middleware };
                let mut sequencer = Sequencer::new(parts, setting, monitor.info());
                if self.traced {
                    sequencer.trace();
                }
                Scheduler::Deterministic(Box::new(sequencer))
            }
            (Mode::SingleCore, None) => {
                let mut worker = Box::new(workers.remove(0));
                worker.set_recorder(next_recorder());
                Scheduler::SingleCore { worker, clock: live, started: false }
            }
            (_, None) => {
                workers.iter_mut().for_each(|worker| drop(worker.set_recorder(next_recorder())));
                let workers = cores.into_iter().flatten().zip(workers).collect();
                Scheduler::MultiCore { workers, clock: live, started: false }
            }
        };
        if plan::locks_memory(&self.mode, self.lock_memory) {
            memory::lock_all();
        }
        Ok(Running { monitor, scheduler })
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

    /// Runs until somebody stops the executor or a callback fails; in deterministic mode also until
    /// nothing is left to do.
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin(&mut self) -> Result<(), SpinError> {
        self.spin_until(Time::MAX)
    }

    /// As [`spin`](Self::spin), for `duration` of the executor's own time at most. In deterministic
    /// mode the instant at the end is included.
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin_for(&mut self, duration: Duration) -> Result<(), SpinError> {
        self.freeze()?;
        let end = self.end_after(duration);
        self.spin_to(end, &mut |_| false)
    }

    /// The end of a spin that lasts `duration`, of a graph that is frozen.
    pub(crate) fn end_after(&self, duration: Duration) -> End {
        match self.running.as_ref().map(|running| &running.scheduler) {
            Some(Scheduler::SingleCore { clock, .. } | Scheduler::MultiCore { clock, .. }) => {
                End::after(duration, clock)
            }
            _ => End::At(self.now() + duration),
        }
    }

    /// As [`spin_for`](Self::spin_for), also until `task` ends, is cancelled or fails; true if it
    /// has. The callback that runs on another core at that moment is waited for. A task of the
    /// executor goes on in the next spin if it has not ended.
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
    fn live_clock(&self, is_simulated: bool) -> Result<Arc<RosClock>, SpinError> {
        let clock = Arc::new(RosClock::start());
        if is_simulated {
            return Ok(clock);
        }
        self.graph.switch_clock(&clock, self.sim_time).map_err(SpinError::Clock)?;
        if self.graph.wants_clock() && self.graph.middleware().is_none_or(|m| !m.receives()) {
            tracing::warn!(
                "use_sim_time is true, but no middleware brings a /clock: time is the real one; \
                 connect with ROS 2 (RINGSPIN_MIDDLEWARE=ros2)"
            );
        }
        Ok(clock)
    }

    /// As [`spin`](Self::spin), up to `end` of the executor's own time.
    ///
    /// # Errors
    /// [`SpinError`].
    pub fn spin_until(&mut self, end: Time) -> Result<(), SpinError> {
        self.spin_until_over(end, &mut |_| false)
    }

    /// As [`spin_until`](Self::spin_until); in deterministic mode also until `over` says at a quiet
    /// instant that this is the end.
    pub(crate) fn spin_until_over(
        &mut self,
        end: Time,
        over: Condition<'_>,
    ) -> Result<(), SpinError> {
        self.spin_to(End::At(end), over)
    }

    fn spin_to(&mut self, end: End, over: Condition<'_>) -> Result<(), SpinError> {
        self.freeze()?;
        let (wait, applies_schedule, stack_bytes) =
            (self.wait, self.applies_schedule, self.stack_bytes);
        let (stop, Running { monitor, scheduler }) = self.parts();
        let stop = &stop;
        match scheduler {
            Scheduler::Deterministic(sequencer) => {
                // Simulated time has begun.
                let End::At(end) = end else { return Ok(()) };
                let run = || sequencer.run(end, stop, monitor.info(), over);
                monitor.contain(SEQUENCER, run).unwrap_or(Ok(()))?;
                let not_applied = sequencer.not_applied_yet(monitor.info());
                if applies_schedule && !not_applied.is_empty() && !stop.is_stopped() {
                    return Err(NotApplied(not_applied).into());
                }
            }
            Scheduler::SingleCore { worker, clock, .. } => {
                let run = Run { clock, stop, wait, end, stack_bytes };
                monitor.contain(WORKER, || live::run_worker(worker, run));
            }
            Scheduler::MultiCore { workers, clock, .. } => {
                let run = Run { clock, stop, wait, end, stack_bytes };
                live::run_pinned(workers, run, monitor)?;
            }
        }
        self.failed()
    }

    /// The frozen graph, its timers started.
    pub(crate) fn parts(&mut self) -> (StopHandle, &mut Running) {
        let running = self.running.as_mut().expect("the caller froze the graph");
        running.scheduler.start();
        (self.stop.clone(), running)
    }

    /// The failure that stopped the executor, if there is one.
    pub(crate) fn failed(&self) -> Result<(), SpinError> {
        match self.monitor().and_then(|monitor| monitor.stopping_failure()) {
            Some(failure) => Err(Box::new(failure).into()),
            None => Ok(()),
        }
    }

    /// The executor's time: of its clock once it is frozen, before that zero.
    pub fn now(&self) -> Time {
        match &self.running {
            None => Time::ZERO,
            Some(running) => match &running.scheduler {
                Scheduler::SingleCore { clock, .. } | Scheduler::MultiCore { clock, .. } => {
                    clock.now()
                }
                Scheduler::Deterministic(sequencer) => sequencer.now(),
            },
        }
    }

    /// The digest of all dispatches so far, and their number; only in deterministic mode, and once
    /// the graph is frozen.
    pub fn digest(&mut self) -> Option<(RunDigest, u64)> {
        match &mut self.running.as_mut()?.scheduler {
            Scheduler::Deterministic(sequencer) => Some(sequencer.digest()),
            Scheduler::SingleCore { .. } | Scheduler::MultiCore { .. } => None,
        }
    }

    /// The samples so far of the chains that are [followed](Self::with_chains), in their order;
    /// none in the live modes, and until the graph is frozen.
    pub fn chains(&mut self) -> Vec<ChainSamples> {
        match self.running.as_mut().map(|running| &mut running.scheduler) {
            Some(Scheduler::Deterministic(sequencer)) => sequencer.chains(),
            _ => Vec::new(),
        }
    }

    /// The [trace](Self::with_trace) so far, which ends; `None` if there is none.
    pub fn take_trace(&mut self) -> Option<Trace> {
        match &mut self.running.as_mut()?.scheduler {
            Scheduler::Deterministic(sequencer) => sequencer.take_trace(),
            Scheduler::SingleCore { .. } | Scheduler::MultiCore { .. } => None,
        }
    }

    /// What can be asked from any thread while the executor spins; `None` until it is frozen.
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
        let Some(running) = &mut self.running else {
            return Vec::new();
        };
        match &mut running.scheduler {
            Scheduler::SingleCore { worker, .. } => worker.set_recorder(None).into_iter().collect(),
            Scheduler::MultiCore { workers, .. } => {
                workers.iter_mut().filter_map(|(_, worker)| worker.set_recorder(None)).collect()
            }
            Scheduler::Deterministic(sequencer) => sequencer.take_recorder().into_iter().collect(),
        }
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

/// The cores that this thread may run on, as the operating system numbers them: all of the
/// process's, unless the thread was pinned. Executors pin their own threads only.
pub fn allowed_cores() -> Vec<usize> {
    core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|core| core.id).collect()
}
