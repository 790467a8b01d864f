//! Exploring: the same job in many orders, until one of them fails.

use super::{Job, Ran, shrink};
use crate::deterministic::{Jitter, Schedule, ScheduleError, TiePolicy};
use ringspin_executor::BoxError;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// The variable that has [`Job::explore`] try one schedule only.
const SCHEDULE_VARIABLE: &str = "RINGSPIN_SCHEDULE";

/// How the orders of an exploration are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each order of an instant is as likely as any other.
    Shuffle,
    /// As [`TiePolicy::Pct`], with this depth and as many steps as the default order has.
    Pct {
        /// How many events have to come in a certain order for the bug.
        depth: u32,
    },
}

/// Which orders are explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// One run for each.
    pub seeds: Range<u64>,
    /// How orders are chosen.
    pub order: Order,
    /// Each message arrives up to this much later.
    pub jitter: Duration,
    /// How many runs at a time; zero for one on each core.
    pub threads: usize,
    /// How many runs shrinking may take at most.
    pub shrink_runs_max: usize,
}

impl Default for Exploration {
    /// A thousand shuffled orders without jitter, on all cores.
    fn default() -> Self {
        let (order, jitter) = (Order::Shuffle, Duration::ZERO);
        Self { seeds: 0..1000, order, jitter, threads: 0, shrink_runs_max: 2000 }
    }
}

/// An exploration that found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many runs there were.
    pub runs: u64,
    /// In how many of them something happened in another order than by default.
    pub deviating: u64,
}

/// Why an exploration ended early.
#[derive(Debug, Error)]
pub enum ExploreError {
    /// It fails in the default order, too: that has to be mended first.
    #[error("the job fails in the default order already: {0}")]
    Default(BoxError),
    /// `RINGSPIN_SCHEDULE` cannot be read.
    #[error("RINGSPIN_SCHEDULE: {0}")]
    Schedule(#[from] ScheduleError),
    /// An order in which it fails.
    #[error(transparent)]
    Found(Box<Counterexample>),
}

/// An order in which a job fails.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Counterexample {
    /// The seed; `None` if the schedule came from the environment.
    pub seed: Option<u64>,
    /// How many deviations from the default order its run has.
    pub deviations: usize,
    /// The fewest of them with which it still fails.
    pub schedule: Schedule,
    /// How it fails then.
    pub failure: String,
    /// How many runs it took to find that out.
    pub shrink_runs: usize,
    /// The deviations in words.
    pub explanation: Vec<String>,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seed {
            Some(seed) => writeln!(
                f,
                "seed {seed} fails; of its {} deviations from the default order, {} {} enough \
                 ({} runs to find out):",
                self.deviations,
                self.schedule.len(),
                if self.schedule.len() == 1 { "is" } else { "are" },
                self.shrink_runs,
            )?,
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
    /// Runs the job in many orders of the events of each instant, until one fails: a callback
    /// panics or returns an error, or a [check](Self::check) does not hold. That order is shrunk to
    /// the fewest deviations from the default order that still fail.
    ///
    /// The failure found is that of the lowest seed, however many threads there are. With the
    /// variable `RINGSPIN_SCHEDULE`, as a failure prints it, that one order is run instead.
    ///
    /// # Errors
    /// [`ExploreError`].
    pub fn explore(&self, exploration: &Exploration) -> Result<Explored, ExploreError> {
        match std::env::var(SCHEDULE_VARIABLE) {
            Ok(schedule) if !schedule.is_empty() => self.try_schedule(&schedule.parse()?),
            _ => self.explore_seeds(exploration),
        }
    }

    /// Runs the job in one order.
    ///
    /// # Errors
    /// [`ExploreError::Found`] if it fails.
    pub fn try_schedule(&self, schedule: &Schedule) -> Result<Explored, ExploreError> {
        let ran = self.run_scripted(schedule);
        match ran.error {
            None => Ok(Explored { runs: 1, deviating: u64::from(!schedule.is_empty()) }),
            Some(error) => Err(ExploreError::Found(Box::new(Counterexample {
                seed: None,
                deviations: schedule.len(),
                schedule: schedule.clone(),
                failure: error.to_string(),
                shrink_runs: 0,
                explanation: ran.report.map(|report| report.deviations).unwrap_or_default(),
            }))),
        }
    }

    fn explore_seeds(&self, exploration: &Exploration) -> Result<Explored, ExploreError> {
        let default = self.run_scripted(&Schedule::default());
        let default = default.into_report().map_err(ExploreError::Default)?;
        let ties = |seed| match exploration.order {
            Order::Shuffle => TiePolicy::Shuffle { seed },
            Order::Pct { depth } => TiePolicy::Pct { seed, depth, steps: default.choices().max(1) },
        };
        let run = |seed| {
            let mut simulation = self.with_ties(ties(seed));
            // Delays and durations are those of the job, only the jitter is this seed's.
            simulation.jitter = Jitter { max: exploration.jitter, seed };
            self.run_with(simulation, false)
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
            Err((seed, schedule)) => {
                let found = shrink::shrink(self, seed, &schedule, exploration.shrink_runs_max);
                Err(ExploreError::Found(Box::new(found)))
            }
        }
    }

    /// Runs the job in one order.
    pub(super) fn run_scripted(&self, schedule: &Schedule) -> Ran {
        self.run_with(self.with_ties(TiePolicy::Scripted(schedule.clone())), false)
    }
}

/// A search that several threads work on.
struct Search(Mutex<Found>);

struct Found {
    seeds: Range<u64>,
    explored: Explored,
    /// The lowest seed that fails, and its order.
    failed: Option<(u64, Schedule)>,
}

impl Search {
    fn new(seeds: Range<u64>) -> Self {
        let explored = Explored { runs: 0, deviating: 0 };
        Self(Mutex::new(Found { seeds, explored, failed: None }))
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs seeds, in order, until none is left or one has failed.
    fn work(&self, run: impl Fn(u64) -> Ran) {
        loop {
            let mut found = self.found();
            // Lower seeds than one that failed are all under way.
            let Some(seed) = found.seeds.next().filter(|_| found.failed.is_none()) else {
                return;
            };
            drop(found);
            let Ran { report, error } = run(seed);
            let schedule = report.map(|report| report.schedule).unwrap_or_default();
            let mut found = self.found();
            found.explored.runs += 1;
            found.explored.deviating += u64::from(!schedule.is_empty());
            if error.is_some() && found.failed.as_ref().is_none_or(|(lowest, _)| seed < *lowest) {
                found.failed = Some((seed, schedule));
            }
        }
    }

    fn end(self) -> Result<Explored, (u64, Schedule)> {
        let found = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.failed.map_or(Ok(found.explored), Err)
    }
}
