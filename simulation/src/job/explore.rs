//! Exploring: the same job in many orders, until one of them fails.
//!
//! The threads of an exploration take seeds in ascending order from one search behind a lock, run
//! the job without the lock, and add the outcome under it. After a failure no thread takes another
//! seed, but the runs under way end: all lower seeds are among them or done, so the failure that is
//! returned is that of the lowest seed, whatever the number of threads. If each thread had a range
//! of seeds instead, the failure would depend on their speed, or all ranges would have to be run.
//! Shrinking is done by the calling thread.

use super::shrink::{self, Found};
use super::{Job, Ran, Records, Report};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::deterministic::{Jitter, Schedule, Simulation, TiePolicy};
use ringspin_modes::exploration::{SCHEDULE_VARIABLE, schedule_from_environment};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How the orders of an exploration are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The default order: what differs is drawn from the seed.
    Default,
    /// Each order of an instant is as likely as any other.
    Shuffle,
    /// Probabilistic concurrency testing ([`TiePolicy::Pct`]) with this depth and as many steps as
    /// the default order has.
    Pct {
        /// Number of events that must occur in a certain order for the bug.
        depth: u32,
    },
}

/// Options of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// One run for each, in which it decides about the order and is the seed of everything random:
    /// losses, delays, durations, jitter, and what nodes draw.
    pub seeds: Range<u64>,
    /// Whether only order and jitter differ, and everything else that is random has the seed of the
    /// job.
    pub keep_seed: bool,
    /// How orders are chosen.
    pub order: Order,
    /// Each message arrives up to this much later; by default as the job's own jitter has it.
    pub jitter: Option<Duration>,
    /// Number of concurrent runs; zero for one on each core.
    pub threads: usize,
    /// Maximum number of runs for shrinking.
    pub shrink_runs_max: usize,
}

impl Default for Exploration {
    /// A thousand seeds with shuffled orders, on all cores, with the jitter of the job.
    fn default() -> Self {
        Self {
            seeds: 0..1000,
            keep_seed: false,
            order: Order::Shuffle,
            jitter: None,
            threads: 0,
            shrink_runs_max: 2000,
        }
    }
}

/// An exploration that found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Number of runs.
    pub runs: u64,
    /// In how many of them something happened in another order than by default.
    pub deviating: u64,
    /// The codes with which nodes ended runs, and how many runs each: that is no failure.
    pub exit_codes: BTreeMap<u8, u64>,
}

/// A run in which a job fails, and how it differs from the default order with the job's own seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The seed; `None` if the schedule came from the environment.
    pub seed: Option<u64>,
    /// Number of deviations of its run from the default order and the delays of links.
    pub deviations: usize,
    /// The fewest with which it still fails for the same reason. It has a seed if the job does not
    /// fail with its own one.
    pub schedule: Schedule,
    /// How it fails then.
    pub failure: String,
    /// Number of runs that shrinking took.
    pub shrink_runs: usize,
    /// The deviations in words.
    pub explanation: Vec<String>,
}

impl std::error::Error for Counterexample {}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seed {
            Some(seed) => {
                let deviations = self.deviations;
                let enough = match self.schedule.len() - usize::from(self.schedule.seed.is_some()) {
                    0 => "none is needed".to_owned(),
                    1 => "1 is enough".to_owned(),
                    n => format!("{n} are enough"),
                };
                let runs = self.shrink_runs;
                writeln!(
                    f,
                    "seed {seed} fails; of its {deviations} deviations from the default order, \
                     {enough} ({runs} runs to find out):"
                )?;
            }
            None if self.schedule.is_empty() => writeln!(f, "it fails in the default order:")?,
            None => writeln!(f, "it fails with these deviations from the default order:")?,
        }
        for line in &self.explanation {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "  {}", self.failure)?;
        write!(f, "to see it again: {SCHEDULE_VARIABLE}='{}' and the same command", self.schedule)
    }
}

impl<T> Job<'_, T> {
    /// Runs the job with many seeds of everything random and in many orders of the events of each
    /// instant, until one fails: a callback panics or returns an error, or a [check](Self::check)
    /// does not hold. That run is shrunk to the fewest deviations from the default order, and from
    /// the job's own seed, with which the same failure comes again.
    ///
    /// On virtual cores, orders are those that are possible there: an event that has waited for its
    /// core goes before those of lower priority.
    ///
    /// The failure found is that of the lowest seed, however many threads there are. With the
    /// variable `RINGSPIN_SCHEDULE`, as a failure prints it, that one order is run instead;
    /// an empty text is the default order.
    ///
    /// # Errors
    /// An error with a [`Counterexample`] as its [cause](Error::cause) if an order fails; one
    /// without if the job fails in the default order already, or its schedule cannot be used.
    pub fn explore(&self, exploration: &Exploration) -> Result<Explored> {
        let refused = |error| Error::new(ErrorKind::Parse, format!("{SCHEDULE_VARIABLE}: {error}"));
        match schedule_from_environment().map_err(refused)? {
            Some(schedule) => self.try_schedule(&schedule),
            None => self.explore_seeds(exploration),
        }
    }

    /// Runs the job in one order.
    ///
    /// # Errors
    /// An error with a [`Counterexample`] as its [cause](Error::cause) if it fails; one
    /// of kind [`ErrorKind::ScheduleNotApplied`] if it does not, and entries of the schedule were
    /// not applied.
    pub fn try_schedule(&self, schedule: &Schedule) -> Result<Explored> {
        let ran = self.run_scripted(schedule, None);
        let not_applied = ran.report.as_ref().map(|report| report.not_applied.clone());
        let not_applied = not_applied.filter(|schedule| !schedule.is_empty());
        let exit_code = ran.report.as_ref().and_then(Report::exit_code);
        let mut explanation = ran.report.map(|report| report.deviations).unwrap_or_default();
        match (ran.error, not_applied) {
            (None, None) => Ok(Explored {
                runs: 1,
                deviating: u64::from(!schedule.is_empty()),
                exit_codes: exit_code.into_iter().map(|code| (code, 1)).collect(),
            }),
            (None, Some(not_applied)) => Err(not_applied.not_applied()),
            (Some(error), not_applied) => {
                explanation.extend(not_applied.map(|left| format!("not applied: {left}")));
                Err(found_error(Counterexample {
                    seed: None,
                    deviations: schedule.len(),
                    schedule: schedule.clone(),
                    failure: error.to_string(),
                    shrink_runs: 0,
                    explanation,
                }))
            }
        }
    }

    fn explore_seeds(&self, exploration: &Exploration) -> Result<Explored> {
        let default = self.run_scripted(&Schedule::default(), None);
        let default = default.into_report().map_err(|error| {
            let text = format!("the job fails in the default order already: {error}");
            Error::new(ErrorKind::CallbackFailed, text).caused_by(error)
        })?;
        let ties = |seed| match exploration.order {
            Order::Default => TiePolicy::Fifo,
            Order::Shuffle => TiePolicy::Shuffle { seed },
            Order::Pct { depth } => TiePolicy::Pct { seed, depth, steps: default.choices().max(1) },
        };
        let run = |seed| {
            let mut simulation = Simulation { ties: ties(seed), ..self.simulation.clone() };
            if !exploration.keep_seed {
                simulation.seed = seed;
            }
            let max = exploration.jitter.unwrap_or(simulation.jitter.max);
            simulation.jitter = Jitter { max, seed };
            self.run_with(simulation, Records { all_deviations: true, ..Records::default() })
        };
        let search = Search::new(exploration.seeds.clone());
        let threads = match exploration.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| search.work(run));
            }
            search.work(run);
        });
        match search.end() {
            Ok(explored) => Ok(explored),
            Err(mut found) => {
                if !exploration.keep_seed {
                    found.schedule.seed = Some(found.seed);
                }
                Err(found_error(shrink::shrink(self, &found, exploration.shrink_runs_max)))
            }
        }
    }
}

fn found_error(found: Counterexample) -> Error {
    Error::new(ErrorKind::Diverged, found.to_string()).caused_by(found)
}

struct Search(Mutex<SearchProgress>);

struct SearchProgress {
    seeds: Range<u64>,
    explored: Explored,
    /// The run with the lowest seed that fails.
    failed: Option<Found>,
}

impl Search {
    fn new(seeds: Range<u64>) -> Self {
        let explored = Explored { runs: 0, deviating: 0, exit_codes: BTreeMap::new() };
        Self(Mutex::new(SearchProgress { seeds, explored, failed: None }))
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, SearchProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs seeds, in order, until none is left or one has failed.
    fn work(&self, run: impl Fn(u64) -> Ran) {
        loop {
            let mut progress = self.progress();
            // Lower seeds than one that failed are all under way.
            let Some(seed) = progress.seeds.next().filter(|_| progress.failed.is_none()) else {
                return;
            };
            drop(progress);
            let Ran { report, error } = run(seed);
            let exit_code = report.as_ref().and_then(Report::exit_code);
            let schedule = report.map(|report| report.schedule).unwrap_or_default();
            let mut progress = self.progress();
            progress.explored.runs += 1;
            progress.explored.deviating += u64::from(!schedule.is_empty());
            if let Some(code) = exit_code {
                *progress.explored.exit_codes.entry(code).or_default() += 1;
            }
            if let Some(error) = error
                && progress.failed.as_ref().is_none_or(|lowest| seed < lowest.seed)
            {
                progress.failed = Some(Found { seed, schedule, error });
            }
        }
    }

    fn end(self) -> Result<Explored, Box<Found>> {
        let progress = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        progress.failed.map_or(Ok(progress.explored), |found| Err(Box::new(found)))
    }
}
