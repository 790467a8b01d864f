//! A search for an order of simultaneous events, or for faults, with which a process fails, and for
//! the fewest deviations from the default run that are enough for it.
//!
//! The choices, their text and the shrinking are those of jobs and of threads: a choice is the
//! time, its number at that instant, and the candidate. Every other pair of runs also chooses among
//! the threads of each process. A fault is an entry of the same schedule. With faults, every third
//! run keeps the default order: there, a turn or message is the one from which the fault was drawn.

use crate::faults::Choice;
use crate::{Options, Report, System, run};
use ringspin_executor::{Result, Time};
use ringspin_modes::exploration::minimize;
use ringspin_modes::random::{SplitMix64, mix};
use ringspin_modes::{Schedule, ScheduleEntry, TiePolicy};
use std::fmt;
use std::ops::Range;

/// The number of priorities that change in a run that follows priorities.
const DEPTH: u32 = 3;

/// The most runs to shrink a schedule.
const SHRINK_RUNS_MAX: usize = 200;

/// The runs of an exploration.
pub(crate) struct Search<'a> {
    pub(crate) system: &'a System,
    pub(crate) seeds: Range<u64>,
    /// The faults that are drawn, and the most of them in a run.
    pub(crate) faults: &'a [Choice],
    pub(crate) faults_max: u64,
    pub(crate) options: Options,
    pub(crate) progress: &'a dyn Fn(&str),
}

/// A run that fails.
pub(crate) struct Found {
    runs: usize,
    /// How often the run deviated from the default order.
    deviations: usize,
    pub(crate) schedule: Schedule,
    /// The run with the schedule.
    report: Report,
}

impl Search<'_> {
    /// Runs the default order, and then the seeds, until a process fails.
    ///
    /// # Errors
    /// A run that cannot be made, as of [`run`].
    pub(crate) fn explore(&self) -> Result<Option<Found>> {
        let usual = TiePolicy::Scripted(Schedule::default());
        let default = self.run((TiePolicy::Fifo, usual.clone()), Schedule::default())?;
        if !default.failures.is_empty() {
            return self.shrink(default, 1).map(Some);
        }
        let (mut steps, mut thread_steps) = (default.choices, default.thread_choices);
        for (seed, runs) in self.seeds.clone().zip(2..) {
            let policy = |steps| match seed % 2 {
                0 => TiePolicy::Shuffle { seed },
                _ => TiePolicy::Pct { seed, depth: DEPTH, steps },
            };
            let is_default = !self.faults.is_empty() && seed % 3 == 0;
            let ties = if is_default { TiePolicy::Fifo } else { policy(steps) };
            let explores_threads = seed % 4 >= 2 && !is_default;
            let threads = if explores_threads { policy(thread_steps) } else { usual.clone() };
            let report = self.run((ties, threads), self.draw(seed, &default))?;
            steps = steps.max(report.choices);
            thread_steps = thread_steps.max(report.thread_choices);
            (self.progress)(&format!("{runs} runs"));
            if !report.failures.is_empty() {
                return self.shrink(report, runs).map(Some);
            }
        }
        Ok(None)
    }

    fn run(&self, (ties, threads): (TiePolicy, TiePolicy), faults: Schedule) -> Result<Report> {
        let ends_on_failure = true;
        let options = Options { ties, threads, faults, ends_on_failure, ..self.options.clone() };
        let mut quiet = |_: Time, _: &str, _: bool, _: &str| ();
        run(self.system, options, &mut quiet)
    }

    /// The faults of a run, from the turns and messages of the default one.
    fn draw(&self, seed: u64, default: &Report) -> Schedule {
        if self.faults.is_empty() {
            return Schedule::default();
        }
        let mut random = SplitMix64(mix(seed));
        let count = 1 + random.below(self.faults_max.max(1));
        let draw = |_| {
            let choice = &self.faults[random.below(self.faults.len() as u64) as usize];
            choice.draw(self.system, &default.activity, default.time, &mut random)
        };
        (0..count).filter_map(draw).collect()
    }

    /// Removes deviations as long as the same processes fail in the same way.
    fn shrink(&self, first: Report, mut runs: usize) -> Result<Found> {
        let all: Vec<ScheduleEntry> = first.deviations.iter().map(|(entry, _)| *entry).collect();
        let schedule = |of: &[ScheduleEntry]| of.iter().copied().collect::<Schedule>();
        let (deviations, wanted) = (all.len(), kind(&first));
        let (mut last, mut error) = (first, None);
        let mut fails = |fewer: &[ScheduleEntry]| {
            runs += 1;
            (self.progress)(&format!("{runs} runs, {} deviations", fewer.len()));
            let scripted = TiePolicy::Scripted(schedule(fewer));
            match self.run((scripted, TiePolicy::Fifo), Schedule::default()) {
                Ok(report) if kind(&report) == wanted => {
                    last = report;
                    true
                }
                Ok(_) => false,
                Err(stopped) => {
                    error = Some(stopped);
                    false
                }
            }
        };
        let fewest = match all.is_empty() || fails(&[]) {
            true => Vec::new(),
            false => minimize(all, fails, SHRINK_RUNS_MAX),
        };
        match error {
            Some(error) => Err(error),
            None => Ok(Found { runs, deviations, schedule: schedule(&fewest), report: last }),
        }
    }
}

/// The failures without their times.
fn kind(report: &Report) -> Vec<String> {
    let without_time = |failure: &String| match failure.split_once(" at ") {
        Some((name, rest)) => format!("{name}{}", rest.split_once(':').unwrap_or_default().1),
        None => failure.clone(),
    };
    report.failures.iter().map(without_time).collect()
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enough = self.schedule.len();
        self.report.failures.iter().try_for_each(|failure| writeln!(f, "{failure}"))?;
        let Self { runs, deviations, .. } = self;
        write!(
            f,
            "{enough} of {deviations} deviations from the default order are enough ({runs} runs \
             to find out)"
        )?;
        self.report.deviations.iter().try_for_each(|(_, text)| write!(f, "\n  {text}"))
    }
}
