//! The search for a good assignment, and its baseline strategies.
//!
//! All randomness derives from the seed, and no result depends on the number of threads: the same
//! model, options and crate versions give the same assignment on every 64-bit machine.

mod climb;
mod compare;
mod exact;
mod genetic;
mod heuristics;
mod random;
mod run;
mod space;
mod stop;

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::assignment::Assignment;
use crate::cost_model::CostModel;
use crate::evaluation::ModelError;
use crate::load_model::LoadModel;
use crate::loads::{Loads, LoadsError};
use crate::objective::Score;
use crate::pareto::{ParetoFront, TradeOff};

pub use compare::{Comparison, Entry};
pub use heuristics::{chain_clustering, longest_processing_time, round_robin};
pub use stop::Stop;

use run::{Judged, Run, RunParameters};
use space::{Genes, Space};

/// A search strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Evolution from the greedy candidates, then local search. Recommended.
    Genetic,
    /// Independent random candidates.
    Random,
    /// [`round_robin`].
    RoundRobin,
    /// The best of [`chain_clustering`] at several limits and [`longest_processing_time`].
    Greedy,
    /// Local search from random starts.
    HillClimbing,
    /// Exhaustive search, whatever the budget; refused when there are too many candidates.
    Exact,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 6] = [
        Self::Genetic,
        Self::Random,
        Self::RoundRobin,
        Self::Greedy,
        Self::HillClimbing,
        Self::Exact,
    ];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Genetic => "genetic",
            Self::Random => "random",
            Self::RoundRobin => "round robin",
            Self::Greedy => "greedy",
            Self::HillClimbing => "hill climbing",
            Self::Exact => "exact",
        }
    }

    /// Whether the result depends on the seed.
    pub fn is_random(self) -> bool {
        matches!(self, Self::Genetic | Self::Random | Self::HillClimbing)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Budget and starting conditions of a search. Every bound is a count, never a time, so that the
/// result does not depend on the machine.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The number of cores.
    pub cores: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of candidates that a strategy may evaluate. Repeated ones are free.
    pub evaluations: usize,
    /// The number of threads that evaluate candidates. Affects only the run time.
    pub threads: usize,
    /// The number of priorities a loop can have. With 1, priorities stay unchanged.
    pub priority_levels: u8,
    /// The number of threads a core can have, each with a priority of the operating system, so that
    /// a higher one preempts callbacks of the others. With 1, nothing preempts; more need the
    /// permission for SCHED_FIFO where the mapping is to run.
    pub thread_levels: u8,
    /// Individuals in the population of the genetic search; at least one for each heuristic.
    pub population: usize,
    /// The largest number of candidates for [`Strategy::Exact`].
    pub exact_candidates_max: u64,
    /// A flag that ends the search early.
    pub stop: Stop,
}

impl SearchOptions {
    /// The defaults: seed 0, one thread, no priorities, no preemption, 5000 evaluations in a
    /// population of 60, exact search up to 20 000 candidates.
    pub fn new(cores: usize) -> Self {
        Self {
            cores,
            seed: 0,
            evaluations: 5000,
            threads: 1,
            priority_levels: 1,
            thread_levels: 1,
            population: 60,
            exact_candidates_max: 20_000,
            stop: Stop::default(),
        }
    }
}

/// The progress of a strategy.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The running strategy.
    pub strategy: Strategy,
    /// Its seed.
    pub seed: u64,
    /// The number of candidates evaluated so far.
    pub evaluations: usize,
    /// The number of candidates that it may evaluate.
    pub budget: usize,
    /// The best score so far.
    pub best: &'a Score,
}

/// The best score after a number of evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convergence {
    /// The number of evaluated candidates.
    pub evaluations: usize,
    /// The best score among them.
    pub best: Score,
}

/// The result of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The strategy.
    pub strategy: Strategy,
    /// Its seed.
    pub seed: u64,
    /// The best assignment, in [canonical](Assignment::canonical) form; of equally good ones the
    /// first found.
    pub assignment: Assignment,
    /// Its score.
    pub score: Score,
    /// The number of evaluated candidates.
    pub evaluations: usize,
    /// Every improvement, the last one to `score`.
    pub convergence: Vec<Convergence>,
    /// Whether the search was [stopped](Stop) before its end.
    pub stopped: bool,
}

/// The reason why a search was not created.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SearchSetupError {
    /// The number of cores is 0.
    #[error("there are 0 cores; give at least one")]
    NoCores,
    /// The budget is 0.
    #[error("the budget is 0 evaluations; give at least one, 5000 is a good start")]
    NoEvaluations,
    /// The number of threads is 0.
    #[error("there are 0 threads to evaluate on; give at least one")]
    NoThreads,
    /// The number of priority levels is 0.
    #[error("there are 0 priority levels; give 1 to leave priorities alone, or more")]
    NoPriorities,
    /// The number of thread levels is 0, or above the number of SCHED_FIFO priorities.
    #[error("there are {levels} thread levels; give 1 for one thread on each core, or up to 100")]
    ThreadLevels {
        /// The requested number.
        levels: u8,
    },
    /// The population is too small for crossover.
    #[error("the population is {population}; give at least 2, 60 is a good start")]
    PopulationTooSmall {
        /// The requested population.
        population: usize,
    },
    /// The loads are invalid.
    #[error("failed to use the loads: {0}")]
    Loads(#[from] LoadsError),
    /// The model and the loads have different loops.
    #[error(
        "the model places {model:?}, the loads are of {loads:?}; give the loads of the same loops \
         in the same order"
    )]
    LoopsDiffer {
        /// The loops of the model.
        model: Vec<String>,
        /// The loops of the loads.
        loads: Vec<String>,
    },
}

/// The reason why candidates were not evaluated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CandidateError {
    /// The model failed.
    #[error("failed to evaluate a candidate: {0}")]
    Model(#[source] ModelError),
    /// The genetic search refused its configuration.
    #[error("the genetic search refused its configuration ({reason}); this is a bug, report it")]
    Genetic {
        /// The message of the crate `genetic_algorithm`.
        reason: &'static str,
    },
}

/// The reason why a search found nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Candidates were not evaluated.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    /// Too many candidates for an exact search.
    #[error(
        "there are {} candidates, more than the {max} that an exact search may evaluate; use fewer \
         cores, loops or priority levels, or allow more", count.map_or("over 10^38".to_owned(),
         |count| count.to_string())
    )]
    TooLarge {
        /// The number of candidates, if it fits in 128 bits.
        count: Option<u128>,
        /// The limit.
        max: u64,
    },
    /// The search was stopped before the first evaluation.
    #[error("the search was stopped before it evaluated anything; let it run longer")]
    Stopped,
}

/// The reason why an optimization failed or did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// The search was not created.
    #[error(transparent)]
    Setup(#[from] SearchSetupError),
    /// The search found nothing.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Searches for the assignment with the lowest [`LoadModel`] cost of `loads`, genetically.
///
/// # Errors
/// [`OptimizeError`].
pub fn search(loads: &Loads, options: &SearchOptions) -> Result<Found, OptimizeError> {
    let model = LoadModel::new(loads).map_err(SearchSetupError::from)?;
    let mut search = Search::new(&model, loads, options.clone())?;
    Ok(search.run(Strategy::Genetic, &mut |_| ())?)
}

/// One search problem, for any number of strategies.
///
/// ```
/// use ringspin_optimizer::{LoadModel, Loads, LoopLoad, Search, SearchOptions, Strategy};
///
/// let node = |index: u32| LoopLoad { name: format!("/{index}"), utilization: 0.1 };
/// let loads = Loads { loops: (0..8).map(node).collect(), ..Loads::default() };
/// let model = LoadModel::new(&loads)?;
/// let mut search = Search::new(&model, &loads, SearchOptions::new(2))?;
/// let found = search.run(Strategy::Genetic, &mut |progress| {
///     println!("{} of {}", progress.evaluations, progress.budget);
/// })?;
/// let exact = search.run(Strategy::Exact, &mut |_| ())?;
/// assert_eq!(found.score.gap(&exact.score), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Search<'a> {
    model: &'a dyn CostModel,
    loads: &'a Loads,
    options: SearchOptions,
    space: Space,
    known: BTreeMap<Genes, Judged>,
}

impl<'a> Search<'a> {
    /// Creates a search for the best assignment by `model`. The heuristics use `loads`, which must
    /// have the same loops.
    ///
    /// # Errors
    /// [`SearchSetupError`] for invalid options or loads.
    pub fn new(
        model: &'a dyn CostModel,
        loads: &'a Loads,
        options: SearchOptions,
    ) -> Result<Self, SearchSetupError> {
        loads.validate()?;
        let names = loads.names();
        if names != model.loops() {
            return Err(SearchSetupError::LoopsDiffer {
                model: model.loops().to_vec(),
                loads: names,
            });
        }
        match &options {
            SearchOptions { cores: 0, .. } => return Err(SearchSetupError::NoCores),
            SearchOptions { evaluations: 0, .. } => return Err(SearchSetupError::NoEvaluations),
            SearchOptions { threads: 0, .. } => return Err(SearchSetupError::NoThreads),
            SearchOptions { priority_levels: 0, .. } => return Err(SearchSetupError::NoPriorities),
            &SearchOptions { thread_levels: levels @ (0 | 101..), .. } => {
                return Err(SearchSetupError::ThreadLevels { levels });
            }
            &SearchOptions { population: population @ 0..2, .. } => {
                return Err(SearchSetupError::PopulationTooSmall { population });
            }
            _ => {}
        }
        let (levels, threads) = (options.priority_levels.into(), options.thread_levels.into());
        let space = Space::new(&names, options.cores, levels, threads);
        Ok(Self { model, loads, options, space, known: BTreeMap::new() })
    }

    /// The number of candidates up to core symmetry; `None` if above 2^128.
    pub fn candidates(&self) -> Option<u128> {
        self.space.size()
    }

    /// The figures of every candidate evaluated so far by any strategy, in no particular order;
    /// none if the model has no trade-offs.
    pub fn trade_offs(&self) -> impl Iterator<Item = TradeOff> {
        self.known.values().filter_map(|(_, trade_off)| *trade_off)
    }

    /// The candidates evaluated so far that no other one dominates. O(candidates * front).
    pub fn pareto_front(&self) -> ParetoFront<Assignment> {
        let mut front = ParetoFront::default();
        for (genes, (_, trade_off)) in &self.known {
            if let Some(trade_off) = trade_off {
                front.insert(*trade_off, self.space.assignment(genes));
            }
        }
        front
    }

    /// Searches for the best assignment. Calls `observer` after every batch.
    ///
    /// The genetic search is never worse than greedy and round robin, provided that its budget
    /// covers their evaluation.
    ///
    /// # Errors
    /// [`SearchError`] when the model fails, the search is stopped before any evaluation, or an
    /// exact search has too many candidates.
    pub fn run(
        &mut self,
        strategy: Strategy,
        observer: &mut (dyn FnMut(&Progress<'_>) + Send),
    ) -> Result<Found, SearchError> {
        self.run_seeded(strategy, self.options.seed, observer)
    }

    fn run_seeded(
        &mut self,
        strategy: Strategy,
        seed: u64,
        observer: &mut (dyn FnMut(&Progress<'_>) + Send),
    ) -> Result<Found, SearchError> {
        let Self { model, loads, options, space, known } = self;
        let budget = match strategy {
            Strategy::Exact => exact_budget(space, options.exact_candidates_max)?,
            _ => options.evaluations,
        };
        let parameters = RunParameters {
            model: *model,
            space,
            stop: &options.stop,
            threads: options.threads,
            strategy,
            seed,
            budget,
        };
        let mut run = Run::new(parameters, known, observer);
        let greedy = || heuristics::greedy_candidates(loads, space, options.cores);
        let in_turn = || space.candidate(round_robin(loads, options.cores).cores(), &[], &[]);
        match strategy {
            Strategy::Genetic => {
                let starts = greedy().into_iter().chain([in_turn()]).collect();
                genetic::search(&mut run, space, starts, options.population, seed)?;
            }
            Strategy::Random => random::search(&mut run, space, seed),
            Strategy::RoundRobin => heuristics::search(&mut run, &[in_turn()]),
            Strategy::Greedy => heuristics::search(&mut run, &greedy()),
            Strategy::HillClimbing => climb::search(&mut run, space, seed),
            Strategy::Exact => exact::search(&mut run, space),
        }
        let outcome = run.finish();
        if let Some(error) = outcome.error {
            return Err(CandidateError::Model(error).into());
        }
        let (score, genes) = outcome.best.ok_or(SearchError::Stopped)?;
        Ok(Found {
            strategy,
            seed,
            assignment: space.assignment(&genes),
            score,
            evaluations: outcome.evaluations,
            convergence: outcome.convergence,
            stopped: options.stop.is_stopped(),
        })
    }
}

/// The budget of an exact search: the number of candidates, if it is at most `max`.
fn exact_budget(space: &Space, max: u64) -> Result<usize, SearchError> {
    let count = space.size();
    let few = count.filter(|&count| count <= u128::from(max));
    let budget = few.and_then(|count| usize::try_from(count).ok());
    budget.ok_or(SearchError::TooLarge { count, max })
}

#[cfg(test)]
pub(crate) mod tests;
