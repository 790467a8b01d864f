//! A search for an order of simultaneous events in which a process fails, and for the fewest
//! deviations from the default order that are enough for it.
//!
//! The choices, their text and the shrinking are those of jobs and of threads: a choice is the
//! time, its number at that instant, and the candidate.

use crate::{Options, Report, System, run};
use ringspin_executor::{Result, Time};
use ringspin_modes::exploration::minimize;
use ringspin_modes::{Deviation, Schedule, TiePolicy};
use std::fmt;
use std::ops::Range;

/// The number of priorities that change in a run that follows priorities.
const DEPTH: u32 = 3;

/// The most runs to shrink a schedule.
const SHRINK_RUNS_MAX: usize = 100;

/// An order that fails.
pub(crate) struct Found {
    runs: usize,
    /// How often the run deviated from the default order.
    deviations: usize,
    pub(crate) schedule: Schedule,
    /// The run with the schedule.
    report: Report,
}

/// Runs the default order, and then orders with these seeds, until a process fails.
pub(crate) fn explore(
    system: &System,
    seeds: Range<u64>,
    is_stopped: fn() -> bool,
    progress: &dyn Fn(&str),
) -> Result<Option<Found>> {
    let try_order = |ties| {
        let options = Options { ties, ends_on_failure: true, is_stopped, ..Options::default() };
        let mut quiet = |_: Time, _: &str, _: bool, _: &str| ();
        run(system, options, &mut quiet)
    };
    let (mut runs, mut steps) = (0, 0);
    let orders = seeds.map(|seed| match seed % 2 {
        0 => TiePolicy::Shuffle { seed },
        _ => TiePolicy::Pct { seed, depth: DEPTH, steps: 0 },
    });
    for order in std::iter::once(TiePolicy::Fifo).chain(orders) {
        let order = match order {
            TiePolicy::Pct { seed, depth, .. } => TiePolicy::Pct { seed, depth, steps },
            order => order,
        };
        let report = try_order(order)?;
        runs += 1;
        steps = steps.max(report.choices);
        progress(&format!("{runs} orders"));
        if !report.failures.is_empty() {
            return shrink(report, runs, &try_order, progress).map(Some);
        }
    }
    Ok(None)
}

/// Removes deviations as long as the same processes fail in the same way.
fn shrink(
    first: Report,
    mut runs: usize,
    try_order: &dyn Fn(TiePolicy) -> Result<Report>,
    progress: &dyn Fn(&str),
) -> Result<Found> {
    let all: Vec<Deviation> = first.deviations.iter().map(|(deviation, _)| *deviation).collect();
    let schedule = |of: &[Deviation]| Schedule { deviations: of.to_vec(), ..Schedule::default() };
    let (deviations, wanted) = (all.len(), kind(&first));
    let (mut last, mut error) = (first, None);
    let mut fails = |fewer: &[Deviation]| {
        runs += 1;
        progress(&format!("{runs} orders, {} deviations", fewer.len()));
        match try_order(TiePolicy::Scripted(schedule(fewer))) {
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
        let enough = self.schedule.deviations.len();
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
