//! Tuning of the reference system: from a profile of a machine to a mapping confirmed live.
//!
//! ```text
//! profile ─▶ twin ─▶ search, and its baselines ─▶ the best few, live in turns ─▶ mapping
//! ```

mod cache;
mod section;

use crate::chains::{self, ChainReport, Watch};
use crate::crunch::estimate_ns;
use crate::description::{AUTOWARE, HOT_PATH, Kind, Workload};
use crate::kpi::Collector;
use crate::lame;
use crate::system::{self, Work};
use ringspin_executor::{BoxError, Completion, Dispatch, Graph, Recorder};
use ringspin_modes::{Executor, Mapping, Mode, Simulation, allowed_cores};
use ringspin_optimizer::bounds::NoBound;
use ringspin_optimizer::{
    Assignment, CandidateError, Chain, ChainLatency, Comparison, Confirmed, Evaluation,
    JitterRecorder, Judge, Loads, Model, Objective, OptimizeError, ParetoFront, Profile, Profiler,
    Progress, Search, SearchError, SearchOptions, Strategy, TradeOff, Twin, TwinError, confirm,
    round_robin,
};
use ringspin_simulation::models::{
    Calls, Distribution, DurationHistogram, DurationRule, Durations,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

pub use section::{optimization_of, phases_of, trade_offs_of};

/// The baseline strategies, run with the same budget as the search.
pub const BASELINES: [Strategy; 4] =
    [Strategy::RoundRobin, Strategy::Greedy, Strategy::Random, Strategy::HillClimbing];

/// The subject of the tuning.
#[derive(Clone, Debug)]
pub struct Target {
    /// The workload.
    pub workload: Workload,
    /// The limit of the number cruncher, for [`Workload::Autoware`].
    pub n: u64,
    /// The deadline of the hot path; LaME's chains have their own.
    pub deadline: Option<Duration>,
    /// The jitter that the behaviour planner's timer may have.
    pub planner_jitter: Duration,
}

/// The default limit of the planner's jitter: 1 % of its period.
pub const PLANNER_JITTER: Duration = Duration::from_millis(1);

impl Target {
    /// Crunches up to `n`, without a deadline.
    #[must_use]
    pub fn autoware(n: u64) -> Self {
        let (workload, deadline) = (Workload::Autoware, None);
        Self { workload, n, deadline, planner_jitter: PLANNER_JITTER }
    }

    /// Declares the graph with or without its work.
    fn build(&self, graph: &Graph, crunch: bool) -> Result<Arc<dyn Any + Send + Sync>, BoxError> {
        let work = Work { crunch, ..Work::crunching(self.n) };
        let collector = Arc::new(Collector::with_capacity(PROFILE_SAMPLES));
        let chains = Arc::new(chains::Collector::new());
        match self.workload {
            Workload::Autoware => system::build(graph, &work, &collector)?,
            Workload::Lame => system::build_lame(graph, &work, &collector, &chains)?,
        }
        Ok(Arc::new((collector, chains)))
    }

    /// The chains to optimize: the hot path, or the three of LaME.
    #[must_use]
    pub fn chains(&self) -> Vec<Chain> {
        match self.workload {
            Workload::Autoware => vec![Chain { deadline: self.deadline, ..hot_path() }],
            Workload::Lame => {
                let chain = |of: &lame::Chain| {
                    let path = of.nodes.iter().map(|node| format!("/{node}"));
                    Chain::new(of.name, path).with_deadline(of.deadline())
                };
                lame::CHAINS.iter().map(chain).collect()
            }
        }
    }

    /// Runs the target live for `span` on one core, alone and while the others are busy, and on all
    /// cores, and measures its callbacks and messages.
    ///
    /// # Errors
    /// The error of a failed run.
    pub fn measure(&self, span: Duration) -> Result<Profile, BoxError> {
        Ok(Profile::measure(|graph| self.build(graph, true), span)?)
    }

    /// A profile from the workload's description, without a run: LaME's specified costs, or the
    /// crunches at their cost on this machine ([`estimate_ns`]); messages take `crossing` between
    /// cores, and nothing on one core.
    ///
    /// # Errors
    /// The error of the simulation that produces the profile.
    pub fn nominal(&self, crossing: Duration) -> Result<Profile, BoxError> {
        self.nominal_of(estimate_ns(self.n), crossing)
    }

    fn nominal_of(&self, crunch_ns: u64, crossing: Duration) -> Result<Profile, BoxError> {
        let durations = match self.workload {
            Workload::Lame => lame::durations(),
            Workload::Autoware => crunches(Duration::from_nanos(crunch_ns)),
        };
        let simulation = Simulation { durations: durations.into(), ..Simulation::default() };
        let mut executor =
            Executor::deterministic(simulation).with_recorders(|info, _| Profiler::new(info));
        let handles = self.build(executor.graph(), false)?;
        executor.spin_for(NOMINAL_SPAN)?;
        let info = executor.graph().info();
        let mut profile = Profile::of(&info, executor.take_recorders());
        drop(handles);
        profile.machine = None;
        profile.calls = match self.workload {
            Workload::Lame => Vec::new(), // its callbacks cost the same whether they send or not
            Workload::Autoware => fusion_calls(&profile, crunch_ns),
        };
        // Edges without entries use the pooled times of all edges.
        profile.hops.truncate(1);
        for hop in &mut profile.hops {
            hop.same_core = DurationHistogram::of([0]);
            hop.cross_core = DurationHistogram::of([crossing.as_nanos() as u64]);
        }
        Ok(profile)
    }

    /// Creates the twin with the times of `profile`.
    ///
    /// # Errors
    /// [`TwinError`] if the profile is of another graph, or a deadline is impossible.
    ///
    /// # Panics
    /// Never: every workload has the planner.
    pub fn twin<'a>(&'a self, profile: &Profile) -> Result<Twin<'a>, TwinError> {
        let build = move |graph: &Graph| self.build(graph, false);
        let twin = Twin::new(build, profile, self.chains())?;
        let limited = twin.with_jitter_limit(PLANNER_TIMER, self.planner_jitter);
        Ok(limited.expect("both workloads have the behaviour planner"))
    }
}

/// The behaviour planner's timer, whose period is a key figure.
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
    /// The results of all strategies.
    pub comparison: Comparison,
    /// The default assignment, which runs without a mapping.
    pub default: Assignment,
    /// The utilization of each loop, and the message rates between them.
    pub loads: Loads,
    /// The number of assignments up to core symmetry; `None` if above 2^128.
    pub candidates: Option<u128>,
    /// The candidates of all strategies that no other one dominates.
    pub front: ParetoFront<Assignment>,
    /// The figures of all candidates.
    pub trade_offs: Vec<TradeOff>,
}

/// Searches with the genetic strategy and the given baselines.
///
/// # Errors
/// [`OptimizeError`] for invalid options, or [`Stopped`](SearchError::Stopped) if stopped before
/// the first evaluation.
pub fn tune(
    twin: &Twin<'_>,
    objective: &Objective,
    strategies: &[Strategy],
    options: SearchOptions,
    observer: &mut (dyn FnMut(&Progress<'_>) + Send),
) -> Result<Tuned, OptimizeError> {
    let failed = |error| OptimizeError::Search(SearchError::Candidate(error));
    let loads = twin.loads().map_err(|error| failed(CandidateError::Model(error.into())))?;
    let judge = Judge::new(twin, objective.clone());
    let (seed, cores) = (options.seed, options.cores);
    let mut search = Search::new(&judge, &loads, options)?;
    let candidates = search.candidates();
    let comparison = search.compare(strategies, &[seed], observer).map_err(failed)?;
    if comparison.best().is_none() {
        return Err(SearchError::Stopped.into());
    }
    let (front, trade_offs) = (search.pareto_front(), search.trade_offs().collect());
    let default = round_robin(&loads, cores);
    Ok(Tuned { comparison, default, loads, candidates, front, trade_offs })
}

impl Tuned {
    /// The `count` best distinct assignments, the best first.
    #[must_use]
    pub fn best(&self, count: usize) -> Vec<Assignment> {
        let mut found: Vec<_> = self.comparison.entries.iter().flat_map(|e| &e.found).collect();
        found.sort_by(|a, b| a.score.cmp(&b.score));
        let mut best: Vec<Assignment> = Vec::new();
        for found in found {
            if !best.contains(&found.assignment) {
                best.push(found.assignment.clone());
            }
        }
        best.truncate(count);
        best
    }
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
/// of [`nominal`](Target::nominal): the default of the multi-core mode. Takes a fraction of a
/// second; a release build then keeps it in the user's cache, by target, cores, and the cost of a
/// crunch in steps of 10 %.
///
/// # Errors
/// The error of the twin or the search; there are no cores to use.
pub fn quick_mapping(target: &Target, cores: &[usize]) -> Result<Mapping, BoxError> {
    let step = 1.1_f64;
    let exponent = (estimate_ns(target.n).max(1) as f64).log(step).round() as i32;
    let &Target { workload, n, deadline, planner_jitter } = target;
    let key = (workload.name(), n, deadline, planner_jitter, exponent, cores);
    cache::cached(&key, || search_quickly(target, step.powi(exponent) as u64, cores))
}

fn search_quickly(target: &Target, crunch_ns: u64, cores: &[usize]) -> Result<Mapping, BoxError> {
    let (evaluations, horizon) = QUICK;
    let twin = target.twin(&target.nominal_of(crunch_ns, CROSSING)?)?.with_horizon(horizon);
    let mut options = SearchOptions::new(cores.len());
    (options.evaluations, options.priority_levels) = (evaluations, 3);
    options.threads = allowed_cores().len().max(1);
    let tuned = tune(&twin, &Objective::default(), &[Strategy::Genetic], options, &mut |_| ())?;
    Ok(tuned.best(1).remove(0).to_mapping(cores))
}

/// The expectations of an assignment: simulated, and worst case.
pub struct LatencyEstimate {
    /// The name of the assignment.
    pub name: String,
    /// The simulated figures.
    pub evaluation: Evaluation,
    /// For each chain, the worst-case bound from release to end, or the reason for having none.
    pub bounds: Vec<Result<Duration, NoBound>>,
}

impl LatencyEstimate {
    /// Evaluates `assignment` by simulation and by analysis.
    ///
    /// # Errors
    /// The error of the evaluation.
    pub fn new(twin: &Twin<'_>, name: &str, assignment: &Assignment) -> Result<Self, BoxError> {
        let (evaluation, bounds) = (twin.evaluate(assignment)?, twin.bounds(assignment)?);
        Ok(Self { name: name.to_owned(), evaluation, bounds })
    }
}

/// The conditions for live measurements of candidates.
pub struct Trial<'a> {
    /// The graph to run.
    pub target: &'a Target,
    /// The operating system's numbers of the cores, as many as the assignments have.
    pub cores: &'a [usize],
    /// The duration of each turn.
    pub span: Duration,
    /// The number of turns of each candidate.
    pub turns: usize,
}

impl Trial<'_> {
    /// Runs `candidates` in turns. Calls `before` with the next candidate and turn; `false` ends
    /// the measurement.
    ///
    /// # Errors
    /// The error of a failed run.
    pub fn confirm(
        &self,
        twin: &Twin<'_>,
        objective: &Objective,
        candidates: &[Assignment],
        mut before: impl FnMut(usize) -> bool,
    ) -> Result<Vec<Confirmed>, BoxError> {
        let mut done = 0;
        confirm(twin, objective, candidates, self.turns, |_, assignment| {
            if !before(done) {
                return Ok(None);
            }
            done += 1;
            self.run(assignment)
        })
    }

    /// Runs one turn.
    fn run(&self, assignment: &Assignment) -> Result<Option<Evaluation>, BoxError> {
        let &Target { workload, n, deadline, .. } = self.target;
        let mapping: Mapping = assignment.to_mapping(self.cores);
        let (collector, chains) = (Arc::new(Collector::new()), Arc::new(chains::Collector::new()));
        let watched = (workload == Workload::Lame).then(|| chains.clone());
        let mut executor =
            Executor::new(Mode::MultiCore(Some(mapping))).with_recorders(move |info, _| {
                TrialRecorder {
                    jitter: JitterRecorder::new(info),
                    watch: watched.clone().map(|chains| Watch::new(chains, info)),
                }
            });
        let work = Work::crunching(n);
        match workload {
            Workload::Autoware => system::build(executor.graph(), &work, &collector)?,
            Workload::Lame => system::build_lame(executor.graph(), &work, &collector, &chains)?,
        }
        executor.freeze()?;
        executor.spin_for(self.span)?;
        let latencies = match workload {
            Workload::Autoware => {
                let [to_end, to_start] = collector.hot_path_ns();
                // The nodes of the path count what they saw dropped.
                let lost = collector.report().hot_path_drops;
                vec![ChainLatency::of(to_end, to_start, deadline, lost)]
            }
            Workload::Lame => {
                let of_chain = |(report, [to_end, to_start]): (ChainReport, [Vec<u64>; 2])| {
                    let deadline = Some(report.chain.deadline());
                    ChainLatency::of(to_end, to_start, deadline, report.lost)
                };
                chains.report().into_iter().zip(chains.latencies_ns()).map(of_chain).collect()
            }
        };
        let callbacks = executor.statistics().callbacks;
        let recorders = executor.take_recorders().into_iter();
        let recorders = recorders.filter_map(|recorder| {
            (recorder as Box<dyn Any>).downcast::<TrialRecorder>().ok().map(|all| all.jitter)
        });
        let jitter: Vec<_> = recorders.collect();
        Ok(Some(Evaluation {
            chains: latencies,
            jitter_ns: JitterRecorder::jitter_ns(&jitter),
            drops: callbacks.iter().map(|callback| callback.overwritten + callback.missed).sum(),
            core_loads: Vec::new(),
            cores_used: assignment.cores_used(),
        }))
    }
}

/// The recorders of a worker in a live turn.
struct TrialRecorder {
    jitter: JitterRecorder,
    watch: Option<Watch>,
}

impl Recorder for TrialRecorder {
    fn started(&mut self, dispatch: &Dispatch) {
        self.jitter.started(dispatch);
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        if let Some(watch) = &mut self.watch {
            watch.finished(dispatch, completion);
        }
    }
}
