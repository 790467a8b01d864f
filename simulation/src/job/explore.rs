//! Exploring: the same job in many orders, until one of them fails.
//!
//! The threads of an exploration take seeds in ascending order from one search behind a lock, run
//! the job without the lock, and add the outcome under it. After a failure no thread takes another
//! seed, but the runs under way end: all lower seeds are among them or done, so the failure that is
//! returned is that of the lowest seed, whatever the number of threads. If each thread had a range
//! of seeds instead, the failure would depend on their speed, or all ranges would have to be run.
//! Shrinking is done by the calling thread. A search that several machines share hands each run to
//! its caller ([`Job::explore_each`]), who keeps it, and shrinks when the lowest seed is known.

use super::shrink::{self, Found};
use super::{Job, Ran, Records, Report};
use ringspin_executor::{Error, ErrorKind, Result};
use ringspin_modes::deterministic::{Jitter, Schedule, Simulation, TiePolicy};
#[cfg(doc)]
use ringspin_modes::exploration::Mixed;
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
    /// Turns of several strategies ([`Mixed`]): good at most bugs.
    Mixed,
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
    /// A thousand seeds in [mixed](Order::Mixed) order, on all cores, with the jitter of the job.
    fn default() -> Self {
        Self {
            seeds: 0..1000,
            keep_seed: false,
            order: Order::Mixed,
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

    /// Runs the job in the default order and then with each of `seeds`, in ascending order, and
    /// hands each run with its seed to `each`, from whichever thread it ran on: for a search that
    /// machines share. After a failure it stops, unless `keep_going` is set; all lower seeds than
    /// that of the failure are run in either case. The seeds of `exploration` are not used.
    ///
    /// The default order has no seed. If the job fails in it, no seed is run.
    ///
    /// ```
    /// # use proptest::prelude::*; // the methods of `rand`
    /// # use ringspin_executor::{Error, ErrorKind};
    /// # use ringspin_simulation::{Exploration, Job};
    /// # use std::sync::Mutex;
    /// # use std::time::Duration;
    /// let job = Job::new(|graph| {
    ///     let node = graph.create_node("node", ())?;
    ///     let mut noise = node.create_random("noise")?;
    ///     node.create_timer(Duration::from_secs(1), move |_, _| match noise.random_range(0..4) {
    ///         0 => Err("too low"),
    ///         _ => Ok(()),
    ///     })?;
    ///     Ok(())
    /// });
    /// let job = job.run_for(Duration::from_secs(1)).simulate(|simulation| simulation.seed = 2);
    /// let (exploration, failed) = (Exploration::default(), Mutex::new(Vec::new()));
    /// // This machine's half of the seeds.
    /// job.explore_each(&exploration, (0..40).step_by(2), true, |seed, ran| {
    ///     failed.lock().unwrap().extend(seed.filter(|_| ran.error.is_some()));
    ///     Ok(())
    /// })?;
    /// let lowest = *failed.lock().unwrap().iter().min().expect("a quarter of them fails");
    /// assert!(job.counterexample(&exploration, lowest)?.failure.contains("too low"));
    /// # let passes = (0..40).step_by(2).find(|seed| !failed.lock().unwrap().contains(seed));
    /// # let error = job.counterexample(&exploration, passes.unwrap()).unwrap_err();
    /// # assert_eq!(error.kind(), ErrorKind::Diverged);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `each`, after which no run starts.
    pub fn explore_each(
        &self,
        exploration: &Exploration,
        seeds: impl Iterator<Item = u64> + Send,
        keep_going: bool,
        each: impl Fn(Option<u64>, &Ran) -> Result<()> + Sync,
    ) -> Result<()> {
        let default = self.run_scripted(&Schedule::default(), None);
        each(None, &default)?;
        let Ok(default) = default.into_report() else { return Ok(()) };
        let stopped = Mutex::new(None);
        let run = |seed| {
            let ran = self.run_seed(exploration, seed, default.choices());
            if let Err(error) = each(Some(seed), &ran) {
                stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            ran
        };
        let is_stopped = || stopped.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let search = Search::new(seeds.take_while(|_| !is_stopped()), keep_going);
        search.work_on(exploration.threads, run);
        stopped.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Runs the job with `seed` again, and shrinks the failure of that run.
    ///
    /// # Errors
    /// An error of kind [`ErrorKind::Diverged`] if the run does not fail.
    pub fn counterexample(&self, exploration: &Exploration, seed: u64) -> Result<Counterexample> {
        let choices = match exploration.order {
            Order::Mixed | Order::Pct { .. } => {
                self.run_scripted(&Schedule::default(), None).report
            }
            _ => None,
        };
        let choices = choices.map_or(0, |report| report.choices());
        let Ran { report, error } = self.run_seed(exploration, seed, choices);
        let schedule = report.map(|report| report.schedule).unwrap_or_default();
        match error {
            Some(error) => Ok(self.shrunk(exploration, Found { seed, schedule, error })),
            None => Err(Error::new(
                ErrorKind::Diverged,
                format!(
                    "seed {seed} failed and does not fail again: something else than seed and \
                     order decides about it; look for it with `verify`"
                ),
            )),
        }
    }

    /// A run with `seed`; `choices` is how often the default order has a choice.
    fn run_seed(&self, exploration: &Exploration, seed: u64, choices: u64) -> Ran {
        let ties = match exploration.order {
            Order::Default => TiePolicy::Fifo,
            Order::Mixed => TiePolicy::Mixed { seed, steps: choices.max(1) },
            Order::Shuffle => TiePolicy::Shuffle { seed },
            Order::Pct { depth } => TiePolicy::Pct { seed, depth, steps: choices.max(1) },
        };
        let mut simulation = Simulation { ties, ..self.simulation.clone() };
        if !exploration.keep_seed {
            simulation.seed = seed;
        }
        let max = exploration.jitter.unwrap_or(simulation.jitter.max);
        simulation.jitter = Jitter { max, seed };
        self.run_with(simulation, Records { all_deviations: true, ..Records::default() })
    }

    fn shrunk(&self, exploration: &Exploration, mut found: Found) -> Counterexample {
        if !exploration.keep_seed {
            found.schedule.seed = Some(found.seed);
        }
        shrink::shrink(self, &found, exploration.shrink_runs_max)
    }

    fn explore_seeds(&self, exploration: &Exploration) -> Result<Explored> {
        let default = self.run_scripted(&Schedule::default(), None);
        let default = default.into_report().map_err(|error| {
            let text = format!("the job fails in the default order already: {error}");
            Error::new(ErrorKind::CallbackFailed, text).caused_by(error)
        })?;
        let search = Search::new(exploration.seeds.clone(), false);
        let run = |seed| self.run_seed(exploration, seed, default.choices());
        search.work_on(exploration.threads, run);
        let found = match search.end() {
            Ok(explored) => return Ok(explored),
            Err(found) => *found,
        };
        Err(found_error(self.shrunk(exploration, found)))
    }
}

fn found_error(found: Counterexample) -> Error {
    Error::new(ErrorKind::Diverged, found.to_string()).caused_by(found)
}

struct Search<S> {
    progress: Mutex<SearchProgress<S>>,
    /// Whether seeds after one that failed are run.
    keep_going: bool,
}

struct SearchProgress<S> {
    seeds: S,
    explored: Explored,
    /// The run with the lowest seed that fails.
    failed: Option<Found>,
}

impl<S: Iterator<Item = u64> + Send> Search<S> {
    fn new(seeds: S, keep_going: bool) -> Self {
        let explored = Explored { runs: 0, deviating: 0, exit_codes: BTreeMap::new() };
        let progress = SearchProgress { seeds, explored, failed: None };
        Self { progress: Mutex::new(progress), keep_going }
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, SearchProgress<S>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// [Works](Self::work) on so many threads; zero for one on each core.
    fn work_on(&self, threads: usize, run: impl Fn(u64) -> Ran + Sync) {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(&run));
            }
            self.work(&run);
        });
    }

    /// Runs seeds, in order, until none is left or one has failed.
    fn work(&self, run: impl Fn(u64) -> Ran) {
        loop {
            let mut progress = self.progress();
            // Lower seeds than one that failed are all under way.
            let goes_on = self.keep_going || progress.failed.is_none();
            let Some(seed) = progress.seeds.next().filter(|_| goes_on) else {
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
        let progress = self.progress.into_inner().unwrap_or_else(PoisonError::into_inner);
        progress.failed.map_or(Ok(progress.explored), |found| Err(Box::new(found)))
    }
}
