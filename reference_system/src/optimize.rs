//! Tuning of the reference system: from a profile of a machine to a mapping confirmed live.
//!
//! ```text
//! profile ─▶ twin ─▶ search, and its baselines ─▶ the best few, live in turns ─▶ mapping
//! ```

mod section;

use crate::chains::{self, Watch};
use crate::description::{HOT_PATH, Workload};
use crate::kpi::Collector;
use crate::lame;
use crate::system::{self, Work, build_released};
use ringspin_executor::{BoxError, Graph};
use ringspin_modes::{Executor, Mapping, Mode, Simulation};
use ringspin_optimizer::bounds::NoBound;
use ringspin_optimizer::{
    Assignment, CandidateError, Chain, ChainLatency, Comparison, Confirmed, Evaluation, Judge,
    Loads, Model, Objective, OptimizeError, Profile, Profiler, Progress, Search, SearchError,
    SearchOptions, Strategy, Twin, TwinError, confirm, round_robin,
};
use ringspin_simulation::models::DurationHistogram;
use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use section::optimization_of;

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
}

impl Target {
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

    /// The profile of an ideal machine with the costs of LaME's specification, on which messages
    /// cost nothing. `None` for [`Workload::Autoware`], which has no specified costs.
    ///
    /// # Errors
    /// The error of the simulation that produces the profile.
    pub fn nominal(&self) -> Result<Option<Profile>, BoxError> {
        if self.workload != Workload::Lame {
            return Ok(None);
        }
        let simulation =
            Simulation { durations: lame::durations().into(), ..Simulation::default() };
        let mut executor =
            Executor::deterministic(simulation).with_recorders(|info, _| Profiler::new(info));
        let handles = self.build(executor.graph(), false)?;
        executor.spin_for(NOMINAL_SPAN)?;
        let info = executor.graph().info();
        let mut profile = Profile::of(&info, executor.take_recorders());
        drop(handles);
        profile.machine = None;
        // Edges without entries use the pooled times of all edges.
        profile.calls.clear();
        profile.hops.truncate(1);
        let free = DurationHistogram::of([0]);
        for hop in &mut profile.hops {
            (hop.same_core, hop.cross_core) = (free.clone(), free.clone());
        }
        Ok(Some(profile))
    }

    /// Creates the twin with the times of `profile`.
    ///
    /// # Errors
    /// [`TwinError`] if the profile is of another graph, or a deadline is impossible.
    pub fn twin<'a>(&'a self, profile: &Profile) -> Result<Twin<'a>, TwinError> {
        Twin::new(move |graph: &Graph| self.build(graph, false), profile, self.chains())
    }
}

/// A span in which every callback of LaME is called.
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
    let default = round_robin(&loads, cores);
    Ok(Tuned { comparison, default, loads, candidates })
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

/// The expected latencies of an assignment: simulated, and worst case.
pub struct LatencyEstimate {
    /// The name of the assignment.
    pub name: String,
    /// For each chain, the simulated latencies, and the worst-case bound or the reason for having
    /// none.
    pub chains: Vec<(ChainLatency, Result<Duration, NoBound>)>,
}

impl LatencyEstimate {
    /// Evaluates `assignment` by simulation and by analysis.
    ///
    /// # Errors
    /// The error of the evaluation.
    pub fn new(twin: &Twin<'_>, name: &str, assignment: &Assignment) -> Result<Self, BoxError> {
        let simulated = twin.evaluate(assignment)?.chains.into_iter();
        let chains = simulated.zip(twin.bounds(assignment)?).collect();
        Ok(Self { name: name.to_owned(), chains })
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

    /// Runs one turn. Latencies count from when the sensors' timers were due, like on the twin.
    fn run(&self, assignment: &Assignment) -> Result<Option<Evaluation>, BoxError> {
        let &Target { workload, n, deadline } = self.target;
        let mapping: Mapping = assignment.to_mapping(self.cores);
        let (collector, chains) = (Arc::new(Collector::new()), Arc::new(chains::Collector::new()));
        let mut executor = Executor::new(Mode::MultiCore(Some(mapping)));
        if workload == Workload::Lame {
            let watched = chains.clone();
            executor = executor.with_recorders(move |info, _| Watch::new(watched.clone(), info));
        }
        let (work, anchor) = (Work::crunching(n), Arc::new(OnceLock::new()));
        build_released(executor.graph(), workload, &work, (&collector, &chains), &anchor)?;
        executor.freeze()?;
        anchor.get_or_init(|| executor.now());
        executor.spin_for(self.span)?;
        let latencies = match workload {
            Workload::Autoware => {
                vec![ChainLatency::of(collector.hot_path_ends_ns(), deadline)]
            }
            Workload::Lame => {
                let of_chain = |(chain, latencies_ns): (&lame::Chain, Vec<u64>)| {
                    ChainLatency::of(latencies_ns, Some(chain.deadline()))
                };
                lame::CHAINS.iter().zip(chains.latencies_ns()).map(of_chain).collect()
            }
        };
        let callbacks = executor.statistics().callbacks;
        Ok(Some(Evaluation {
            chains: latencies,
            drops: callbacks.iter().map(|callback| callback.overwritten + callback.missed).sum(),
            core_loads: Vec::new(),
            cores_used: assignment.cores_used(),
        }))
    }
}
