//! The search for a good assignment: genetic, from the candidates of heuristics, then local.
//!
//! All randomness derives from the seed, and no result depends on the number of threads: the same
//! model, options and crate versions give the same assignment on every 64-bit machine.

mod climb;
mod genetic;
mod heuristics;
mod loads;
mod random;
mod run;
mod space;

use std::ops::ControlFlow;

use rayon::ThreadPoolBuilder;
use ringspin_executor::{Error, ErrorKind, Result};

use crate::assignment::Assignment;
use crate::evaluation::Model;
use crate::objective::{Objective, Score};

pub use heuristics::round_robin;

use loads::Loads;
use run::SearchRun;
use space::Space;

/// Budget and starting conditions of a search. Every bound is a count, never a time, so that the
/// result does not depend on the machine.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// The number of cores.
    pub cores: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of candidates that the search may evaluate. Repeated ones are free.
    pub evaluations: usize,
    /// The number of threads that evaluate candidates. Affects only the run time.
    pub threads: usize,
    /// The number of priorities a loop can have. With 1, priorities stay unchanged.
    pub priority_levels: u8,
    /// The number of threads a core can have, each with a priority of the operating system, so that
    /// a higher one preempts callbacks of the others. With 1, nothing preempts; more need the
    /// permission for SCHED_FIFO where the mapping is to run.
    pub thread_levels: u8,
    /// Individuals in the population; at least one for each heuristic.
    pub population: usize,
}

impl SearchOptions {
    /// The defaults: seed 0, one thread, no priorities, no preemption, 5000 evaluations in a
    /// population of 60.
    pub fn new(cores: usize) -> Self {
        Self {
            cores,
            seed: 0,
            evaluations: 5000,
            threads: 1,
            priority_levels: 1,
            thread_levels: 1,
            population: 60,
        }
    }

    fn check(&self) -> Result<()> {
        let text = match *self {
            Self { cores: 0, .. } => "there are 0 cores; give at least one".to_owned(),
            Self { evaluations: 0, .. } => {
                "the budget is 0 evaluations; give at least one, 5000 is a good start".to_owned()
            }
            Self { threads: 0, .. } => {
                "there are 0 threads to evaluate on; give at least one".to_owned()
            }
            Self { priority_levels: 0, .. } => {
                "there are 0 priority levels; give 1 to leave priorities alone, or more".to_owned()
            }
            Self { thread_levels: levels @ (0 | 101..), .. } => format!(
                "there are {levels} thread levels; give 1 for one thread on each core, or up to 100"
            ),
            Self { population: population @ 0..2, .. } => {
                format!("the population is {population}; give at least 2, 60 is a good start")
            }
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }
}

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchProgress<'a> {
    /// The number of candidates evaluated so far.
    pub evaluations: usize,
    /// The number of candidates that the search may evaluate.
    pub budget: usize,
    /// The best score so far.
    pub best: &'a Score,
}

/// Is called with the progress after every batch of evaluations.
type Observer<'a> = dyn FnMut(&SearchProgress<'_>) -> ControlFlow<()> + Send + 'a;

/// The best score after a number of evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convergence {
    /// The number of evaluated candidates.
    pub evaluations: usize,
    /// The best score among them.
    pub best: Score,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The best assignment, in [canonical](Assignment::canonical) form; of equally good ones the
    /// first found.
    pub assignment: Assignment,
    /// Its score.
    pub score: Score,
    /// The number of evaluated candidates.
    pub evaluations: usize,
    /// Every improvement, the last one to `score`.
    pub convergence: Vec<Convergence>,
    /// Whether the observer ended the search.
    pub stopped: bool,
}

/// Searches for the assignment whose evaluation by `model` has the lowest score of `objective`.
///
/// Calls `observer` after every batch of evaluations; `Break` ends the search with the best
/// assignment so far. The result is never worse than those of the heuristics, which are its first
/// candidates, provided that the budget covers them.
///
/// # Errors
/// The options are out of range, the model has unusable loops, chains or loads, or it fails to
/// evaluate a candidate.
pub fn search(
    model: &dyn Model,
    objective: &Objective,
    options: &SearchOptions,
    observer: &mut (dyn FnMut(&SearchProgress<'_>) -> ControlFlow<()> + Send),
) -> Result<Found> {
    options.check()?;
    let loads = Loads::of(model)?;
    let space = space_of(model, options);
    let mut starts = heuristics::greedy_candidates(&loads, &space, options.cores);
    starts.push(space.candidate(round_robin(model.loops(), options.cores).cores(), &[], &[]));
    let threads = ThreadPoolBuilder::new().num_threads(options.threads).build();
    let threads = threads.map_err(|error| {
        let text = format!("failed to start {} threads for a search: {error}", options.threads);
        Error::new(ErrorKind::Io, text).caused_by(error)
    })?;
    let mut run = SearchRun::new(model, objective, &space, options, observer, &threads);
    genetic::search(&mut run, starts)?;
    if let Some(error) = run.error {
        return Err(error.reworded(|text| format!("failed to evaluate a candidate: {text}")));
    }
    let evaluations = run.evaluations();
    let SearchRun { best, convergence, stopped, .. } = run;
    let (score, genes) = best.ok_or_else(|| genetic::refused("it evaluated nothing"))?;
    Ok(Found { assignment: space.assignment(&genes), score, evaluations, convergence, stopped })
}

fn space_of(model: &dyn Model, options: &SearchOptions) -> Space {
    let (levels, threads) = (options.priority_levels.into(), options.thread_levels.into());
    Space::new(model.loops(), options.cores, levels, threads)
}

#[cfg(test)]
pub(crate) mod tests;
