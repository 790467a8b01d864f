//! Tuning of the reference system: from a profile of a machine to a mapping confirmed live.
//!
//! ```text
//! profile ─▶ twin ─▶ search ─▶ the best, live in turns with round-robin ─▶ mapping
//! ```

mod section;

use crate::crunch::estimate_ns;
use crate::description::{AUTOWARE, HOT_PATH, Kind};
use crate::kpi::Collector;
use crate::system::{self, Work};
use ringspin_executor::{BoxError, Graph, Result};
use ringspin_modes::{Executor, Mapping, Mode, Simulation, allowed_cores};
use ringspin_optimizer::{
    Assignment, Chain, ChainLatency, Evaluation, Found, JitterRecorder, Model, Objective, Online,
    OnlineOptions, Profile, Profiler, SearchOptions, SearchProgress, Twin, round_robin, search,
};
use ringspin_simulation::models::{
    Calls, Distribution, DurationHistogram, DurationRule, Durations,
};
use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use section::definitions;
pub use section::{Figures, PhaseRow, optimization_of, phases_of};

/// The subject of the tuning.
#[derive(Clone, Debug)]
pub struct TuningTarget {
    /// The limit of the number cruncher.
    pub n: u64,
    /// The deadline of the hot path.
    pub deadline: Option<Duration>,
    /// The jitter that the behaviour planner's timer may have.
    pub planner_jitter: Duration,
}

/// Twenty samples of the hot path.
const ONLINE_SPAN: Duration = Duration::from_secs(2);

/// The default limit of the planner's jitter: 1 % of its period.
pub const PLANNER_JITTER: Duration = Duration::from_millis(1);

impl TuningTarget {
    /// Crunches up to `n`, without a deadline.
    #[must_use]
    pub fn autoware(n: u64) -> Self {
        Self { n, deadline: None, planner_jitter: PLANNER_JITTER }
    }

    /// Declares the graph with or without its work.
    fn build(&self, graph: &Graph, crunch: bool) -> Result<Arc<dyn Any + Send + Sync>, BoxError> {
        let work = Work { crunch, ..Work::crunching(self.n) };
        let collector = Arc::new(Collector::with_capacity(PROFILE_SAMPLES));
        system::build(graph, &work, &collector)?;
        Ok(collector)
    }

    /// The chain to optimize: the hot path.
    #[must_use]
    pub fn chains(&self) -> Vec<Chain> {
        vec![Chain { deadline: self.deadline, ..hot_path() }]
    }

    /// Runs the target live for `span` on one core, alone and while the others are busy, and on all
    /// cores, and measures its callbacks and messages.
    ///
    /// # Errors
    /// A callback fails.
    pub fn measure(&self, span: Duration) -> Result<Profile, BoxError> {
        Ok(Profile::measure(|graph| self.build(graph, true), span)?)
    }

    /// A profile without a run: crunches take their time on this machine ([`estimate_ns`]),
    /// messages take `crossing` between cores, and nothing on one core.
    ///
    /// # Errors
    /// The error of the simulation that produces the profile.
    pub fn nominal(&self, crossing: Duration) -> Result<Profile, BoxError> {
        let crunch_ns = estimate_ns(self.n);
        let durations = crunches(Duration::from_nanos(crunch_ns));
        let simulation = Simulation { durations: durations.into(), ..Simulation::default() };
        let mut executor =
            Executor::deterministic(simulation).with_recorders(|info, _| Profiler::new(info));
        let handles = self.build(executor.graph(), false)?;
        executor.spin_for(NOMINAL_SPAN)?;
        let info = executor.graph().info();
        let mut profile = Profile::of(&info, executor.take_recorders());
        drop(handles);
        profile.machine = None;
        profile.calls = fusion_calls(&profile, crunch_ns);
        profile.assume_hops(crossing);
        Ok(profile)
    }

    /// Creates the twin with the times of `profile`.
    ///
    /// # Errors
    /// The profile is of another graph, or a deadline is impossible.
    pub fn twin<'a>(&'a self, profile: &Profile) -> Result<Twin<'a>> {
        let build = move |graph: &Graph| self.build(graph, false);
        Twin::new(build, profile, self.chains())?
            .with_jitter_limit(PLANNER_TIMER, self.planner_jitter)
    }

    /// Improves the mapping of a running executor.
    pub(crate) fn online(&self) -> Online<'static> {
        let target = self.clone();
        let build = move |graph: &Graph| target.build(graph, false);
        let (horizon, span) = (QUICK.1, ONLINE_SPAN);
        let options = OnlineOptions { horizon, span, ..OnlineOptions::default() };
        Online::new(build, self.chains(), options)
    }

    /// Runs the target live for `span` with `assignment` on the cores of these numbers.
    ///
    /// # Errors
    /// The error of a failed run.
    pub fn run(
        &self,
        assignment: &Assignment,
        cores: &[usize],
        span: Duration,
    ) -> Result<Evaluation, BoxError> {
        let mapping: Mapping = assignment.to_mapping(cores);
        let collector = Arc::new(Collector::new());
        let mut executor = Executor::new(Mode::MultiCore(Some(mapping)))
            .with_recorders(|info, _| JitterRecorder::new(info));
        system::build(executor.graph(), &Work::crunching(self.n), &collector)?;
        executor.freeze()?;
        executor.spin_for(span)?;
        let [to_end, to_start] = collector.hot_path_ns();
        // The nodes of the path count the samples that they lost.
        let lost = collector.report().hot_path_drops;
        let hot_path = ChainLatency::of(to_end, to_start, self.deadline, lost);
        let callbacks = executor.statistics().callbacks;
        let jitter = JitterRecorder::among(executor.take_recorders());
        Ok(Evaluation {
            chains: vec![hot_path],
            jitter_ns: JitterRecorder::jitter_ns(&jitter),
            drops: callbacks.iter().map(|callback| callback.overwritten + callback.missed).sum(),
            core_loads: Vec::new(),
            cores_used: assignment.cores_used(),
        })
    }
}

/// The behaviour planner's timer. Its period is a key figure.
const PLANNER_TIMER: &str = "/BehaviorPlanner timer 100ms";

/// The reference system's durations: a crunch in each callback that processes samples, in those of
/// a fusion when it has all inputs, and nothing in the others.
fn crunches(crunch: Duration) -> Durations {
    let [nothing, crunch] = [Duration::ZERO, crunch].map(Distribution::fixed);
    let rules = AUTOWARE.iter().flat_map(|node| {
        let rule = || DurationRule::new(format!("/{}", node.name));
        match node.kind {
            Kind::Sensor { .. } | Kind::Command { .. } => vec![rule().duration(nothing.clone())],
            Kind::Fusion { .. } => {
                vec![rule().duration(nothing.clone()).sending(crunch.clone())]
            }
            Kind::Cyclic { period, .. } => vec![
                rule().duration(nothing.clone()),
                rule().callback(format!("timer {period:?}")).duration(crunch.clone()),
            ],
            Kind::Transform { .. } => vec![rule().duration(crunch.clone())],
            Kind::Intersection { connections } => {
                let groups = connections[1..]
                    .iter()
                    .map(|of| DurationRule::new(format!("/{}:{}", node.name, of.output)));
                [rule()].into_iter().chain(groups).map(|of| of.duration(crunch.clone())).collect()
            }
        }
    });
    Durations { rules: rules.collect() }
}

/// The calls of the fusions of the reference system: a crunch if they send, nothing if not,
/// whichever input comes last.
fn fusion_calls(profile: &Profile, crunch_ns: u64) -> Vec<Calls> {
    let is_fusion = |name: &str| {
        AUTOWARE.iter().any(|of| of.name == name && matches!(of.kind, Kind::Fusion { .. }))
    };
    let of_fusions =
        profile.callbacks.iter().filter(|of| is_fusion(of.node.trim_start_matches('/')));
    let calls = of_fusions.map(|of| Calls {
        node: of.node.clone(),
        callback: of.callback.clone(),
        quiet: DurationHistogram::of([0]),
        sending: DurationHistogram::of([crunch_ns]),
    });
    calls.collect()
}

/// A span in which every callback is called.
const NOMINAL_SPAN: Duration = Duration::from_secs(2);

/// The capacity for latencies of a run on the twin, or of one for a profile.
const PROFILE_SAMPLES: usize = 4_096;

/// From the lidars to the end of the collision estimator; the later of the two branches counts.
fn hot_path() -> Chain {
    let branches = HOT_PATH[..4].chunks(2);
    let joined = branches.map(|pair| format!("/{} | /{}", pair[0], pair[1]));
    let path = joined.chain(HOT_PATH[4..].iter().map(|name| format!("/{name}")));
    Chain::new("hot path", path)
}

/// The result of a search.
pub struct Tuned {
    /// The best assignment, and the course of the search.
    pub found: Found,
    /// The real time of the search.
    pub wall: Duration,
    /// One loop after the other on the cores in turn.
    pub round_robin: Assignment,
}

/// Searches for the best assignment.
///
/// # Errors
/// The options are out of range, the model has unusable loops, chains or loads, or it fails to
/// evaluate a candidate.
pub fn tune(
    twin: &Twin<'_>,
    objective: &Objective,
    options: &SearchOptions,
    observer: &mut (dyn FnMut(&SearchProgress<'_>) -> ControlFlow<()> + Send),
) -> Result<Tuned> {
    let started = Instant::now();
    let found = search(twin, objective, options, observer)?;
    let wall = started.elapsed();
    let round_robin = round_robin(twin.loops(), options.cores);
    Ok(Tuned { found, wall, round_robin })
}

/// The cost of a message between cores in [`quick_mapping`]: about the wake-up of a parked worker,
/// 20 us on the two virtual cores of `docs/benchmarks.md` (`cargo bench -p ringspin-benches --bench
/// delivery`, parked).
const CROSSING: Duration = Duration::from_micros(20);

/// The number of candidates of a quick search, and the simulated time of each. A debug build is ten
/// times slower, and its measurements mean nothing.
const QUICK: (usize, Duration) =
    (if cfg!(debug_assertions) { 40 } else { 600 }, Duration::from_millis(4800));

/// The mapping to `cores` that the optimizer finds on the twin without a live run, with the costs
/// of [`nominal`](TuningTarget::nominal). Takes a fraction of a second in a release build.
///
/// # Errors
/// The error of the twin or the search; there are no cores to use.
pub fn quick_mapping(target: &TuningTarget, cores: &[usize]) -> Result<Mapping, BoxError> {
    let (evaluations, horizon) = QUICK;
    let twin = target.twin(&target.nominal(CROSSING)?)?.with_horizon(horizon);
    let mut options = SearchOptions::new(cores.len());
    (options.evaluations, options.priority_levels) = (evaluations, 3);
    options.threads = allowed_cores().len().max(1);
    let observer = &mut |_: &SearchProgress<'_>| ControlFlow::Continue(());
    let tuned = tune(&twin, &Objective::default(), &options, observer)?;
    Ok(tuned.found.assignment.to_mapping(cores))
}

/// The name of an assignment and its simulated figures.
pub type Estimate = (&'static str, Evaluation);
