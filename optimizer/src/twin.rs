//! The twin: evaluates assignments by simulation.
//!
//! A [`Twin`] runs the graph itself on the virtual cores of the deterministic mode. Callback
//! durations are drawn from a [`Profile`] with a fixed seed: the same candidate has a
//! bit-identical evaluation on every thread and machine.
//!
//! Hop costs are modelled as follows. On one core, a hop occupies the core: each callback that
//! receives messages takes longer by the median cost of its edges. From core to core, a message
//! arrives later by a time drawn from the times of its edge, less the part that its callback
//! already includes. A hop between two threads of one core counts as one from core to core.
//!
//! Cores that share something slow each other down by the [contention](Profile::contention) of the
//! profile: a callback progresses more slowly while others are busy.
//!
//! # Phases
//! Timers of a live graph are due at the same instants, but which of them a core serves first
//! depends on microseconds. An evaluation therefore has several *variants*, one after the other:
//! one with all timers in phase, and further ones with each timer up to [`PHASES`](Twin::PHASES)
//! late. The simulated time of a variant is a multiple of the common period of all timers, if the
//! horizon is that long, so that every coincidence of timers counts equally.
//!
//! Nodes that come and go do so in the twin as well: their callbacks take the durations of the
//! profile, which has them as `later`, on the first core, or with their node. Only loops of the
//! start are assigned.
//!
//! The callbacks run unchanged, but their own work would take real time and is already part of the
//! durations: give the twin a graph that leaves it out.

mod costs;
mod phases;
mod senders;

pub use phases::PhaseAdvice;

use crate::assignment::Assignment;
use crate::evaluation::{ChainLatency, Evaluation, Model};
use crate::jitter::{JitterRecorder, PeriodicTimer, periodic_timers};
use costs::{Costs, Crossing};
use phases::Shift;
use ringspin_executor::{
    BoxError, CallbackId, Completion, Dispatch, Error, ErrorKind, Graph, GraphChange, GraphInfo,
    LoopId, Recorder, Result, Statistics, Table, TableKey, Time, Timer,
};
use ringspin_modes::names::callback_labels;
use ringspin_modes::{Chain, ChainSamples, Contention, Cores, Executor, Simulation};
use ringspin_simulation::models::Profile;
use senders::Senders;
use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::subscriber::NoSubscriber;

/// Evaluates assignments by simulation.
///
/// ```
/// use ringspin_executor::{BoxError, Graph, Message, QoS};
/// use ringspin_modes::Executor;
/// use ringspin_optimizer::{Assignment, Chain, Model, Profile, Twin};
/// use std::time::Duration;
///
/// fn build(graph: &Graph) -> Result<(), BoxError> {
///     let lidar = graph.create_node("lidar", 0u32)?;
///     let out = lidar.create_publisher("points", QoS::sensor_data())?;
///     lidar.create_timer(Duration::from_millis(1), move |n, cx| {
///         *n += 1;
///         out.publish(*n)
///     })?;
///     let fusion = graph.create_node("fusion", ())?;
///     fusion.create_subscription("points", QoS::sensor_data(), |_, n: &Message<u32>, cx| {
///         if **n == 20 { cx.stop() }
///     })?;
///     Ok(())
/// }
///
/// let profile = Profile::measure(build, Duration::from_secs(10))?;
/// let chain = Chain::new("points", ["/lidar", "/fusion"]);
/// let twin = Twin::new(build, &profile, vec![chain])?;
/// let loops = twin.loops().to_vec();
/// let evaluation = twin.evaluate(&Assignment::new(loops, vec![0, 0], 1))?;
/// assert!(evaluation.chains[0].release_to_end.mean_ns > 0);
/// # Ok::<(), BoxError>(())
/// ```
pub struct Twin<'a> {
    build: Build<'a>,
    loops: Vec<String>,
    chains: Vec<Chain>,
    simulation: Simulation,
    /// Whether the graph has nodes that come later.
    has_later: bool,
    crossing: Vec<Crossing>,
    assumptions: Vec<String>,
    /// The longest duration of a callback.
    longest: Duration,
    /// By chain: the callbacks that can take its first step.
    first_steps: Vec<Vec<CallbackId>>,
    timers: Vec<PeriodicTimer>,
    /// The places of the loops in `loops`.
    loop_places: Table<LoopId, usize>,
    /// By timer: its callback, and its period.
    timer_periods: Vec<(CallbackId, Duration)>,
    /// The least common multiple of the timers' periods, unless it is above a day.
    common_period: Option<Duration>,
    horizon: Duration,
    variants: u32,
}

/// The core of nodes that come later.
const FIRST_CORE: usize = 0;

type Build<'a> = Box<dyn Fn(&Graph) -> Result<Box<dyn Any>, BoxError> + Send + Sync + 'a>;

impl<'a> Twin<'a> {
    /// The default simulated time of an evaluation, over all variants.
    pub const HORIZON: Duration = Duration::from_secs(10);
    /// The largest phase of a timer in a variant.
    pub const PHASES: Duration = Duration::from_micros(200);
    /// The default number of variants.
    pub const VARIANTS: u32 = 8;

    /// Creates a twin of the graph that `build` declares, with the durations and hops of `profile`.
    /// `build` is called for each candidate, on any thread; its return value is kept until the run
    /// is over.
    ///
    /// # Errors
    /// `build` fails, the profile is of another graph or has no durations, or a chain does not
    /// exist in the graph or has an impossible deadline.
    pub fn new<T: 'static>(
        build: impl Fn(&Graph) -> Result<T, BoxError> + Send + Sync + 'a,
        profile: &Profile,
        chains: Vec<Chain>,
    ) -> Result<Self> {
        let build: Build<'a> = Box::new(move |graph| Ok(Box::new(build(graph)?)));
        let graph = Graph::new();
        let handles = build(&graph).map_err(not_built)?;
        let info = graph.info();
        profile.check_graph(&info)?;
        let longest_period = graph.timers().iter().map(|(_, timer)| timer.period()).max();
        let senders = Senders::observe(&build, &info, longest_period.unwrap_or_default())?;
        let costs = Costs::new(&info, profile, |callback| senders.sends_sometimes(callback))?;
        let steps = chains.iter().map(|chain| chain.resolve(&info)).collect::<Result<Vec<_>>>()?;
        for (chain, steps) in chains.iter().zip(&steps) {
            check_deadline(chain, steps, &costs.least)?;
        }
        let first_steps = steps.into_iter().filter_map(|of| of.into_iter().next()).collect();
        let labels = callback_labels(&info);
        let loop_of = |id: CallbackId| info.callbacks[id].event_loop;
        let loop_places = places(&info.loops);
        let timers = periodic_timers(&info).into_iter().map(|id| {
            let event_loop = &info.loops[loop_of(id)];
            let name = format!("{} {}", event_loop.full_name(), labels[id]);
            PeriodicTimer { name, limit: None }
        });
        let repeating = repeating_timers(&graph, &info);
        let common_period = common_period(&repeating);
        let timer_periods = periodic_timers(&info).into_iter().zip(&repeating);
        let timer_periods = timer_periods.map(|(id, timer)| (id, timer.period()));
        drop(handles);
        Ok(Self {
            build,
            loops: info.loops.values().map(|of| of.full_name()).collect(),
            chains,
            simulation: Simulation {
                durations: costs.durations.into(),
                contention: profile.contention(),
                ..Simulation::default()
            },
            has_later: senders.has_later || profile.callbacks.iter().any(|of| of.later),
            crossing: costs.crossing,
            assumptions: costs.assumptions,
            longest: costs.longest,
            first_steps,
            timers: timers.collect(),
            loop_places,
            timer_periods: timer_periods.collect(),
            common_period,
            horizon: Self::HORIZON,
            variants: Self::VARIANTS,
        })
    }

    /// Sets the simulated time of an evaluation, which its variants share; the part of each is
    /// rounded up to a multiple of the common period of all timers, if that is at most the horizon.
    /// A longer time yields more samples of each chain and takes proportionally longer.
    #[must_use]
    pub fn with_horizon(self, horizon: Duration) -> Self {
        Self { horizon, ..self }
    }

    /// Sets the number of variants: 1 for timers in phase only.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    pub fn with_variants(self, variants: u32) -> Self {
        assert!(variants > 0, "give at least one variant: timers in phase");
        Self { variants, ..self }
    }

    /// Limits the jitter of a timer, named by its callback as in `/planner timer 100ms`, for the
    /// term [`Jitter`](crate::Term::Jitter).
    ///
    /// # Errors
    /// The graph has no such timer.
    pub fn with_jitter_limit(mut self, name: &str, limit: Duration) -> Result<Self> {
        let Some(timer) = self.timers.iter_mut().find(|timer| timer.name == name) else {
            let known: Vec<_> = self.timers.into_iter().map(|timer| timer.name).collect();
            let known = match known.is_empty() {
                true => "none, it has no timers".to_owned(),
                false => known.join(", "),
            };
            let text = format!("the graph has no periodic timer `{name}`: use one of {known}");
            return Err(Error::new(ErrorKind::NotFound, text));
        };
        timer.limit = Some(limit);
        Ok(self)
    }

    /// The simulated time of one variant.
    fn span(&self) -> Duration {
        let span_ns = self.horizon.as_nanos().div_ceil(self.variants.into());
        let unit = self.common_period.filter(|period| *period <= self.horizon);
        let unit_ns = unit.map_or(1, |period| period.as_nanos());
        Duration::from_nanos_u128(span_ns.next_multiple_of(unit_ns))
    }

    /// The simulated time of all variants.
    fn total(&self) -> Duration {
        self.span() * self.variants
    }

    /// Sets the seed for durations, hops and the random numbers of nodes; 0 unless set.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.simulation.seed = seed;
        self
    }

    /// The assumptions in place of measurements that the profile lacks, as sentences: callbacks
    /// without a call take no time, and messages without a measured cost are free.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// The simulation of this assignment.
    fn simulation(&self, assignment: &Assignment) -> Result<Simulation> {
        let refused = |text| Err(Error::new(ErrorKind::InvalidArgument, text));
        if assignment.loops() != self.loops {
            return refused(format!(
                "the assignment is of other event loops than the twin's, {}: make it from its \
                 `loops`",
                self.loops.join(", ")
            ));
        }
        if assignment.core_count() == 0 {
            return refused("the assignment has no cores: give it one at least".into());
        }
        if self.horizon.is_zero() {
            return refused(
                "a twin with a horizon of zero simulates nothing: give it a span of simulated time"
                    .into(),
            );
        }
        let mut simulation = self.simulation.clone();
        simulation.end = Some(simulation.start + self.total());
        let (cores, levels) = (assignment.cores(), assignment.thread_levels());
        let thread_of = |id: LoopId| {
            let place = self.loop_places[id];
            (cores[place], levels[place])
        };
        let crossing = self.crossing.iter().filter(|of| thread_of(of.from) != thread_of(of.to));
        simulation.links = ringspin_simulation::models::Links {
            rules: crossing.map(|of| of.rule.clone()).collect(),
        }
        .into();
        let ids: Vec<_> = (0..assignment.core_count()).collect();
        let mapping = assignment.to_mapping(&ids);
        simulation.cores = Cores::Mapped(match self.has_later {
            true => mapping.default_core(FIRST_CORE),
            false => mapping,
        });
        Ok(simulation)
    }

    /// The timers that may start later, with their periods: all but those that start a chain
    /// together with others.
    fn shiftable(&self) -> impl Iterator<Item = (usize, Duration)> {
        let starts = |callback: &CallbackId| {
            self.first_steps.iter().any(|step| step.len() > 1 && step.contains(callback))
        };
        let timers = self.timer_periods.iter().enumerate();
        let free = timers.filter(move |(_, (callback, _))| !starts(callback));
        free.map(|(timer, (_, period))| (timer, *period))
    }

    /// Evaluates with one timer shifted, with the seed `seed` after the twin's own.
    fn evaluate_shifted(
        &self,
        assignment: &Assignment,
        shift: Option<Shift>,
        seed: u64,
    ) -> Result<Evaluation> {
        let mut simulation = self.simulation(assignment)?;
        simulation.seed = simulation.seed.wrapping_add(seed);
        Ok(self.evaluation(assignment, self.run(assignment, simulation, shift)?))
    }

    fn evaluation(&self, assignment: &Assignment, ran: TwinRun) -> Evaluation {
        let mut core_busy_ns = ran.core_busy_ns;
        core_busy_ns.resize(assignment.core_count(), 0);
        let total_ns = self.total().as_nanos() as f64;
        let chains = self.chains.iter().zip(ran.chains);
        let end = self.simulation.start + self.total();
        let latencies = chains.map(|(chain, of)| ChainLatency::of_samples(of, chain.deadline, end));
        let Statistics { callbacks, removed, .. } = &ran.statistics;
        let callbacks = callbacks.iter().chain([removed]);
        Evaluation {
            chains: latencies.collect(),
            jitter_ns: JitterRecorder::jitter_ns([&ran.jitter]),
            drops: callbacks.map(|callback| callback.overwritten + callback.missed).sum(),
            core_loads: core_busy_ns.into_iter().map(|ns| ns as f64 / total_ns).collect(),
            cores_used: assignment.cores_used(),
        }
    }

    /// Runs all variants of the graph.
    fn run(
        &self,
        assignment: &Assignment,
        simulation: Simulation,
        shift: Option<Shift>,
    ) -> Result<TwinRun> {
        without_logs(|| self.run_logged(assignment, simulation, shift))
    }

    fn run_logged(
        &self,
        assignment: &Assignment,
        simulation: Simulation,
        shift: Option<Shift>,
    ) -> Result<TwinRun> {
        let (start, span) = (simulation.start, self.span());
        let end = start + self.total();
        let cores = assignment.cores().to_vec();
        let mut executor = Executor::deterministic(simulation)
            .with_chains(self.chains.iter().cloned())
            .with_recorders(move |info, _| TwinRecorder::new(info, end, span, cores.clone()));
        let handles = (self.build)(executor.graph());
        let handles = handles.map_err(not_built)?;
        let timers = repeating_timers(executor.graph(), &executor.graph().info());
        executor.freeze().map_err(not_run)?;
        // Each ends right before the first deadlines of the next one.
        let mut left = span.saturating_sub(Duration::from_nanos(1));
        for variant in 0..self.variants {
            start_timers(&timers, start + span * variant, variant, shift);
            executor.spin_for(left).map_err(not_run)?;
            left = span;
        }
        let (chains, statistics) = (executor.chains(), executor.statistics());
        let recorder: Option<Box<dyn Any>> =
            executor.take_recorders().pop().map(|recorder| recorder as Box<dyn Any>);
        let recorder = recorder.and_then(|recorder| recorder.downcast::<TwinRecorder>().ok());
        drop(handles);
        let Some(recorder) = recorder else {
            let text = "failed to run the twin: it was not recorded";
            return Err(Error::new(ErrorKind::InvalidState, text));
        };
        let TwinRecorder { core_busy_ns, jitter, .. } = *recorder;
        Ok(TwinRun { chains, statistics, core_busy_ns, jitter })
    }
}

/// The periodic timers of a graph that is not frozen.
fn repeating_timers(graph: &Graph, info: &GraphInfo) -> Vec<Timer> {
    let periodic = periodic_timers(info);
    let timers = graph.timers().into_iter().filter(|(id, _)| periodic.contains(id));
    timers.map(|(_, timer)| timer).collect()
}

/// The least common multiple of the periods of all periodic timers, unless it is above a day.
fn common_period(timers: &[Timer]) -> Option<Duration> {
    let gcd = |mut a: u128, mut b: u128| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut periods = timers.iter().map(|timer| timer.period().as_nanos());
    let longest = Duration::from_secs(86_400).as_nanos();
    let multiple = periods.try_fold(1, |all: u128, period| {
        Some(all / gcd(all, period) * period).filter(|&all| all <= longest)
    });
    multiple.map(Duration::from_nanos_u128)
}

/// Starts the timers anew at `start`, each late by its part of [`Twin::PHASES`]: multiples of the
/// golden ratio modulo one, which lie evenly over all timers and variants. One of them is later by
/// `shift`. The first deadlines are at `start`, not a period later, so that all timers coincide
/// once in each common period.
fn start_timers(timers: &[Timer], start: Time, variant: u32, shift: Option<Shift>) {
    for (n, timer) in timers.iter().enumerate() {
        let part = ((n as u64 + 1) * u64::from(variant)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let phase_ns = (u128::from(part) * Twin::PHASES.as_nanos()) >> 64;
        let later = shift.filter(|shift| shift.timer == n).map_or(Duration::ZERO, |shift| shift.by);
        timer.start_at(start + Duration::from_nanos_u128(phase_ns) + later);
    }
}

impl Model for Twin<'_> {
    fn loops(&self) -> &[String] {
        &self.loops
    }

    fn chains(&self) -> &[Chain] {
        &self.chains
    }

    fn timers(&self) -> &[PeriodicTimer] {
        &self.timers
    }

    /// Simulates the [horizon](Twin::with_horizon).
    ///
    /// # Errors
    /// The assignment is of another graph, or a callback fails.
    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation> {
        self.evaluate_shifted(assignment, None, 0)
    }

    /// Simulates one core per loop, in which no loop delays another or slows it down.
    fn utilizations(&self) -> Result<Vec<f64>> {
        let count = self.loops.len();
        let apart = Assignment::new(self.loops.clone(), (0..count).collect(), count);
        let contention = Contention::default();
        let simulation = Simulation { contention, ..self.simulation(&apart)? };
        Ok(self.evaluation(&apart, self.run(&apart, simulation, None)?).core_loads)
    }
}

/// The index of each entry, in order of creation.
fn places<K: TableKey, T>(table: &Table<K, T>) -> Table<K, usize> {
    table.keys().zip(0..).collect()
}

/// Runs `simulate` without log output: warnings about lost messages are part of the scores.
fn without_logs<R>(simulate: impl FnOnce() -> R) -> R {
    tracing::subscriber::with_default(NoSubscriber::default(), simulate)
}

/// The error of a graph whose declaration failed, of the kind of its cause.
fn not_built(error: BoxError) -> Error {
    let text = format!("failed to build the graph of the twin: {error}");
    match error.downcast::<Error>() {
        Ok(error) => error.reworded(|_| text),
        Err(cause) => Error::new(ErrorKind::CallbackFailed, text).caused_by(cause),
    }
}

/// The error of a simulation, as a twin's.
fn not_run(error: Error) -> Error {
    error.reworded(|text| format!("failed to run the twin: {text}"))
}

/// The result of a run.
struct TwinRun {
    chains: Vec<ChainSamples>,
    statistics: Statistics,
    core_busy_ns: Vec<u64>,
    jitter: JitterRecorder,
}

/// Records the busy time of each core up to the end of the run, and the jitter of timers.
struct TwinRecorder {
    end: Time,
    /// By event loop.
    core_of: Table<LoopId, usize>,
    /// The core of the default group of each node, or else of one of its groups.
    core_of_node: BTreeMap<String, usize>,
    /// By core.
    core_busy_ns: Vec<u64>,
    /// By event loop, the busy time of its core when its running call began. The calls that preempt
    /// it add to it.
    before_ns: Table<LoopId, u64>,
    jitter: JitterRecorder,
}

impl TwinRecorder {
    fn new(info: &GraphInfo, end: Time, span: Duration, core_of: Vec<usize>) -> Self {
        let jitter = JitterRecorder::new(info).within(span);
        let cores = core_of.iter().max().map_or(0, |last| last + 1);
        let core_of: Table<LoopId, usize> = info.loops.keys().zip(core_of).collect();
        let nodes = info.loops.iter().rev().map(|(id, of)| (of.node.clone(), core_of[id]));
        let core_of_node = nodes.collect();
        let before_ns = info.loops.map(|_, _| 0);
        let core_busy_ns = vec![0; cores];
        Self { end, core_of, core_of_node, core_busy_ns, before_ns, jitter }
    }
}

impl Recorder for TwinRecorder {
    fn started(&mut self, dispatch: &Dispatch) {
        let event_loop = dispatch.event_loop;
        self.before_ns[event_loop] = self.core_busy_ns[self.core_of[event_loop]];
        self.jitter.started(dispatch);
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        let event_loop = dispatch.event_loop;
        let span = completion.time.min(self.end) - dispatch.time;
        let core_busy_ns = &mut self.core_busy_ns[self.core_of[event_loop]];
        let preempted_ns = *core_busy_ns - self.before_ns[event_loop];
        *core_busy_ns += (span.as_nanos() as u64).saturating_sub(preempted_ns);
    }

    fn changed(&mut self, change: &GraphChange) {
        let GraphChange::LoopAdded { event_loop, name } = change else { return };
        let node = name.split(':').next().unwrap_or_default();
        let core = self.core_of_node.get(node).copied().unwrap_or(FIRST_CORE);
        self.core_of.insert(*event_loop, core);
        self.before_ns.insert(*event_loop, 0);
    }
}

/// Refuses a deadline below the sum of the shortest measured durations along the path.
fn check_deadline(
    chain: &Chain,
    steps: &[Vec<CallbackId>],
    least: &Table<CallbackId, Duration>,
) -> Result<()> {
    let of_callback = |id: &CallbackId| least.get(*id).copied().unwrap_or_default();
    let of_step = |step: &Vec<CallbackId>| step.iter().map(of_callback).min().unwrap_or_default();
    let least = steps.iter().map(of_step).sum();
    match chain.deadline {
        Some(deadline) if deadline < least => {
            let text = format!(
                "chain {:?} has a deadline of {deadline:?}, but its callbacks took {least:?} \
                 together even when each was at its fastest: give it a longer deadline, or a \
                 shorter path",
                chain.name
            );
            Err(Error::new(ErrorKind::InvalidArgument, text))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
