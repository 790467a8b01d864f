//! A comparison of modes over N on this machine: order of cells and pooling of turns.
//!
//! Cells run one after the other, with their timers in phase. The turns are interleaved (turn 1 of
//! every cell, then turn 2), so that a temporary slowdown of the machine affects all cells alike.
//! Each turn begins with a calibration per N, so that the floor is measured under the conditions of
//! the cells.
//!
//! The deterministic mode has its own rows ([`Simulation`]): callbacks take no simulated time, so
//! its latencies are zero by construction and would be misleading.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringspin_executor::BoxError;
use ringspin_modes::{Mapping, Mode, allowed_cores};
use ringspin_report::Definition;
use serde::Serialize;

use crate::crunch::{Calibration, calibrate_within};
use crate::kpi::{self, Collector, Kpis};
use crate::optimize::{Target, quick_mapping};
use crate::process::{OthersMeter, processor_name};
use crate::run::{RunOptions, RunReport, mode_name, run};
use crate::system::Work;

/// The time budget of one calibration, which is repeated each turn.
const CALIBRATION_BUDGET: Duration = Duration::from_millis(50);

/// The options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The modes. Multi-core without a mapping uses a tuned one for each N.
    pub modes: Vec<Mode>,
    /// The crunch limits.
    pub crunch_limits: Vec<u64>,
    /// The duration of each turn of each cell, in the executor's time.
    pub duration: Duration,
    /// The number of turns of each cell.
    pub turns: usize,
}

/// A turn of a cell that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The number of cells begun so far, over all turns.
    pub index: usize,
    /// The total number of cells, over all turns.
    pub total: usize,
    /// The turn, starting at 1.
    pub turn: usize,
    /// The mode's name.
    pub mode: &'static str,
    /// The crunch limit.
    pub n: u64,
    /// The approximate duration of this and all later steps.
    pub remaining: Duration,
}

/// The result of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The processor's name.
    pub processor: String,
    /// The number of cores that this process may use.
    pub cores: usize,
    /// The duration of each turn of each cell, in the executor's time.
    pub duration_s: f64,
    /// The average number of cores that other programs kept busy, if known.
    pub other_busy_cores: Option<f64>,
    /// Whether the comparison ended early; only completed turns count.
    pub interrupted: bool,
    /// The cost of a crunch on this machine, for each N.
    pub calibrations: Vec<Calibration>,
    /// The live modes.
    pub cells: Vec<Cell>,
    /// The deterministic mode.
    pub simulations: Vec<Simulation>,
}

/// The pooled result of one mode at one crunch limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The crunch limit.
    pub n: u64,
    /// The mode's name.
    pub mode: String,
    /// The number of runs pooled in `kpis`.
    pub turns: usize,
    /// The lower bound for the hot path latency to its start, see [`Calibration::floor_ns`]; 0
    /// without crunches.
    pub floor_ns: u64,
    /// The KPIs of all turns.
    pub kpis: Kpis,
    /// CPU time as a percentage of one core, the mean of the turns.
    pub cpu_percent: f64,
    /// Resident memory, in bytes: the maximum over the turns.
    pub rss_bytes: u64,
    /// The number of messages that a newer one displaced before dispatch.
    pub overwritten: u64,
    /// The number of timer periods without a call.
    pub missed_periods: u64,
    /// The mapping of a multi-core cell.
    pub mapping: Option<Mapping>,
}

impl Cell {
    /// The lower bounds on enough cores for the hot path from sample to start, 4 crunches, and from
    /// release to end, 5 crunches. On one core, each is a crunch more.
    #[must_use]
    pub fn floors_ns(&self) -> [u64; 2] {
        let [start, end] = Definition::ALL.map(|of| u64::from(of.floor_crunches()));
        [self.floor_ns, self.floor_ns / start * end]
    }

    /// The cell of a single run.
    #[must_use]
    pub fn of_run(report: &RunReport, floor_ns: u64) -> Self {
        Self {
            n: report.n,
            mode: report.mode.to_owned(),
            turns: 1,
            floor_ns,
            kpis: report.kpis,
            cpu_percent: report.cpu_percent,
            rss_bytes: report.rss_bytes,
            overwritten: report.overwritten,
            missed_periods: report.missed_periods,
            mapping: report.mapping.clone(),
        }
    }
}

/// The deterministic runs at one crunch limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Simulation {
    /// The crunch limit.
    pub n: u64,
    /// The number of runs.
    pub turns: usize,
    /// Simulated time of all runs.
    pub simulated_s: f64,
    /// Real time of all runs.
    pub wall_s: f64,
    /// Events dispatched in each run.
    pub dispatched: u64,
    /// The distinct digests: more than one means that the mode is not deterministic.
    pub digests: Vec<String>,
}

impl Simulation {
    /// Simulated seconds per second of real time.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.simulated_s / self.wall_s
    }
}

impl Comparison {
    /// The distinct digests over all N. The digest does not depend on N, so there is at most one
    /// unless the mode is broken.
    #[must_use]
    pub fn digests(&self) -> Vec<&str> {
        let mut digests: Vec<&str> =
            self.simulations.iter().flat_map(|row| &row.digests).map(String::as_str).collect();
        digests.sort_unstable();
        digests.dedup();
        digests
    }
}

/// The runs so far of one mode at one crunch limit.
struct Series {
    mode: Mode,
    n: u64,
    collectors: Vec<Arc<Collector>>,
    reports: Vec<RunReport>,
}

/// Measures every mode at every N. Calls `before_step` before each turn of each cell; it may end
/// the comparison. No other code of the caller runs during a cell.
///
/// # Errors
/// The error of a failed run; see [`run()`].
pub fn compare(
    options: &CompareOptions,
    mut before_step: impl FnMut(&Step) -> ControlFlow<()>,
) -> Result<Comparison, BoxError> {
    let crunch_limits = sorted_and_distinct(&options.crunch_limits);
    let mut calibrations: Vec<Calibration> =
        crunch_limits.into_iter().map(|n| calibrate_within(n, CALIBRATION_BUDGET)).collect();
    let mut series = all_series(options, &calibrations)?;
    let costs: Vec<_> = series.iter().map(|cell| expected(cell, options, &calibrations)).collect();
    let (total, turn_cost) = (series.len() * options.turns, costs.iter().sum::<Duration>());
    let mut remaining = turn_cost * u32::try_from(options.turns).unwrap_or(u32::MAX);
    let (others, wall, mut interrupted) = (OthersMeter::start(), Instant::now(), false);
    'turns: for turn in 1..=options.turns {
        if turn > 1 {
            recalibrate(&mut calibrations);
        }
        for (position, cell) in series.iter_mut().enumerate() {
            let index = (turn - 1) * costs.len() + position;
            let (mode, n) = (mode_name(&cell.mode), cell.n);
            let step = Step { index, total, turn, mode, n, remaining };
            if before_step(&step).is_break() || !cell.run_once(options.duration)? {
                interrupted = true;
                break 'turns;
            }
            remaining = remaining.saturating_sub(costs[position]);
        }
    }
    Ok(Comparison {
        processor: processor_name().unwrap_or_else(|| "unknown processor".into()),
        cores: allowed_cores().len(),
        duration_s: options.duration.as_secs_f64(),
        other_busy_cores: others.and_then(|others| others.busy_cores(wall.elapsed())),
        interrupted,
        cells: series.iter().filter_map(|cell| cell.pooled(&calibrations)).collect(),
        simulations: series.iter().filter_map(Series::simulation).collect(),
        calibrations,
    })
}

/// The expected duration of one turn of `cell`; for a simulated turn, the duration of its crunches.
fn expected(cell: &Series, options: &CompareOptions, calibrations: &[Calibration]) -> Duration {
    let calibration = calibrations.iter().find(|calibration| calibration.n == cell.n);
    match (&cell.mode, calibration) {
        (Mode::Deterministic(_), Some(calibration)) => {
            options.duration.mul_f64(calibration.load_cores())
        }
        _ => options.duration,
    }
}

/// A series for each cell, by N, the modes in the given order. The multi-core mapping of an N is
/// computed once, so that all its turns use the same one.
fn all_series(
    options: &CompareOptions,
    calibrations: &[Calibration],
) -> Result<Vec<Series>, BoxError> {
    let mut series = Vec::new();
    for n in calibrations.iter().map(|calibration| calibration.n) {
        for mode in &options.modes {
            let mode = match mode {
                Mode::MultiCore(None) => {
                    let mapping = quick_mapping(&Target::autoware(n), &allowed_cores())?;
                    Mode::MultiCore(Some(mapping))
                }
                mode => mode.clone(),
            };
            series.push(Series { mode, n, collectors: Vec::new(), reports: Vec::new() });
        }
    }
    Ok(series)
}

fn recalibrate(calibrations: &mut [Calibration]) {
    for calibration in calibrations {
        let again = calibrate_within(calibration.n, CALIBRATION_BUDGET);
        *calibration = calibration.combined_with(again);
    }
}

fn sorted_and_distinct(values: &[u64]) -> Vec<u64> {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values
}

impl Series {
    /// Runs one turn; returns false if it was interrupted and does not count.
    fn run_once(&mut self, duration: Duration) -> Result<bool, BoxError> {
        let collector = Arc::new(Collector::new());
        let (mode, work) = (self.mode.clone(), Work::crunching(self.n));
        let options = RunOptions { stop_on_ctrl_c: true, ..RunOptions::new(mode, work, duration) };
        let report = run(&options, &collector)?;
        let complete = !report.interrupted;
        if complete {
            self.collectors.push(collector);
            self.reports.push(report);
        }
        Ok(complete)
    }

    /// The cell of a live mode; `None` before its first turn.
    fn pooled(&self, calibrations: &[Calibration]) -> Option<Cell> {
        let last = self.reports.last().filter(|report| report.digest.is_none())?;
        let floor = calibrations.iter().find(|calibration| calibration.n == self.n);
        Some(Cell {
            n: self.n,
            mode: last.mode.to_owned(),
            turns: self.reports.len(),
            floor_ns: floor.map_or(0, Calibration::floor_ns),
            kpis: kpi::pool(&self.collectors),
            cpu_percent: self.sum(|report| report.cpu_percent) / self.reports.len() as f64,
            rss_bytes: self.reports.iter().map(|report| report.rss_bytes).max().unwrap_or(0),
            overwritten: self.reports.iter().map(|report| report.overwritten).sum(),
            missed_periods: self.reports.iter().map(|report| report.missed_periods).sum(),
            mapping: self.mapping().cloned(),
        })
    }

    /// The row of the deterministic mode; `None` before its first turn.
    fn simulation(&self) -> Option<Simulation> {
        let first = self.reports.first().filter(|report| report.digest.is_some())?;
        let mut digests: Vec<_> =
            self.reports.iter().filter_map(|report| report.digest.clone()).collect();
        digests.sort_unstable();
        digests.dedup();
        Some(Simulation {
            n: self.n,
            turns: self.reports.len(),
            simulated_s: self.sum(|report| report.node_s),
            wall_s: self.sum(|report| report.wall_s),
            dispatched: first.dispatched,
            digests,
        })
    }

    fn mapping(&self) -> Option<&Mapping> {
        match &self.mode {
            Mode::MultiCore(mapping) => mapping.as_ref(),
            Mode::SingleCore | Mode::Deterministic(_) => None,
        }
    }

    fn sum(&self, figure: impl Fn(&RunReport) -> f64) -> f64 {
        self.reports.iter().map(figure).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(modes: &[&str], crunch_limits: &[u64], turns: usize) -> CompareOptions {
        CompareOptions {
            modes: modes.iter().map(|mode| mode.parse().unwrap()).collect(),
            crunch_limits: crunch_limits.to_vec(),
            duration: Duration::from_millis(200),
            turns,
        }
    }

    #[test]
    fn turns_are_interleaved_and_cells_rise_by_n() {
        let mut steps = Vec::new();
        let modes = ["single", "deterministic"];
        let comparison = compare(&options(&modes, &[64, 3, 64], 2), |step| {
            steps.push((step.turn, step.n, step.mode));
            ControlFlow::Continue(())
        })
        .unwrap();
        let turn = [(3, modes[0]), (3, modes[1]), (64, modes[0]), (64, modes[1])];
        let expected: Vec<_> =
            [1, 2].iter().flat_map(|t| turn.iter().map(move |(n, mode)| (*t, *n, *mode))).collect();
        assert_eq!(steps, expected);
        assert!(!comparison.interrupted);
        let cells: Vec<_> = comparison.cells.iter().map(|cell| (cell.n, cell.turns)).collect();
        assert_eq!(cells, [(3, 2), (64, 2)]);
        assert_eq!(comparison.simulations.len(), 2);
        assert_eq!(comparison.digests().len(), 1);
    }

    #[test]
    fn the_remaining_time_decreases_to_the_last_step() {
        let mut left = Vec::new();
        compare(&options(&["single"], &[3], 3), |step| {
            left.push(step.remaining.as_millis());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(left, [600, 400, 200]);
    }

    #[test]
    fn a_comparison_that_is_stopped_keeps_the_completed_turns() {
        let comparison = compare(&options(&["single"], &[3, 64], 2), |step| {
            if step.index == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        assert!(comparison.interrupted);
        assert_eq!(comparison.cells.len(), 1);
        assert_eq!((comparison.cells[0].n, comparison.cells[0].turns), (3, 1));
    }
}
