//! The benchmark: variants of the executor at each N on this machine, in interleaved turns.
//!
//! Cells run one after the other, with their timers in phase. Each turn begins with a calibration,
//! so that the floor is measured under the conditions of the cells.
//!
//! The deterministic mode has its own rows ([`Simulation`]): callbacks take no simulated time, so
//! its latencies are zero by construction and would be misleading. Its digest does not depend on N,
//! so it runs at the smallest one.

use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringspin_bench::process::OthersMeter;
use ringspin_bench::results::{self, Results, SCHEMA, Series, Turn};
use ringspin_bench::{Permissions, Step, System, Variant, cell_of, take_turns};
use ringspin_executor::{BoxError, Graph, WaitStrategy};
use ringspin_modes::mapping::loop_names;
use ringspin_modes::{Mapping, Mode, allowed_cores};
use ringspin_report::{Definition, Summary};
use serde::Serialize;

use crate::crunch::{Calibration, DEFAULT_CRUNCH_LIMIT, calibrate_within};
use crate::kpi::{Collector, Kpis, PLANNER_PERIOD};
use crate::middleware::Middleware;
use crate::optimize::{Target, quick_mapping};
use crate::rclcpp::Peer;
use crate::run::{RunOptions, RunReport, run, total_utilization};
use crate::system::{self, Work};

/// The time budget of one calibration, which is repeated each turn.
const CALIBRATION_BUDGET: Duration = Duration::from_millis(50);

/// The SCHED_FIFO priority of real-time variants: above the 50 that threads of interrupts have on a
/// kernel with PREEMPT_RT.
pub const PRIORITY: u8 = 80;

/// A variant of the executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The single-core mode.
    Single,
    /// The multi-core mode with the optimizer's mapping.
    Multi,
    /// The multi-core mode with one node after the other dealt out to the cores.
    RoundRobin,
    /// The multi-core mode with a mapping of the user.
    Mapped(Mapping),
    /// The deterministic mode.
    Deterministic,
    /// One worker on the last core: SCHED_FIFO, locked memory, spinning.
    Realtime,
    /// The optimizer's mapping with SCHED_FIFO and locked memory.
    MultiRealtime,
    /// An executor of rclcpp.
    Rclcpp(Peer),
}

/// A text that is no [`Kind`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown variant `{0}`; give single, multi, round-robin, deterministic, realtime or \
     multi-realtime"
)]
pub struct UnknownKindError(String);

impl FromStr for Kind {
    type Err = UnknownKindError;

    fn from_str(text: &str) -> Result<Self, UnknownKindError> {
        Ok(match text {
            "single" => Self::Single,
            "multi" => Self::Multi,
            "round-robin" => Self::RoundRobin,
            "deterministic" => Self::Deterministic,
            "realtime" => Self::Realtime,
            "multi-realtime" => Self::MultiRealtime,
            _ => return Err(UnknownKindError(text.to_owned())),
        })
    }
}

impl Kind {
    /// The name on the command line and in results.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Single => "single",
            Self::Multi => "multi",
            Self::RoundRobin => "round-robin",
            Self::Mapped(_) => "mapping",
            Self::Deterministic => "deterministic",
            Self::Realtime => "realtime",
            Self::MultiRealtime => "multi-realtime",
            Self::Rclcpp(peer) => &peer.name,
        }
    }

    /// Whether it needs a real-time priority and locked memory.
    #[must_use]
    pub fn is_realtime(&self) -> bool {
        matches!(self, Self::Realtime | Self::MultiRealtime)
    }

    /// The mode at crunch limit `n` on these cores; `None` for another executor.
    fn mode(&self, n: u64, cores: &[usize]) -> Result<Option<Mode>, BoxError> {
        let tuned = || quick_mapping(&Target::autoware(n), cores);
        Ok(Some(match self {
            Self::Rclcpp(_) => return Ok(None),
            Self::Single => Mode::SingleCore,
            Self::Deterministic => Mode::Deterministic(Box::default()),
            Self::Multi => Mode::MultiCore(Some(tuned()?)),
            Self::Mapped(mapping) => Mode::MultiCore(Some(mapping.clone())),
            Self::RoundRobin => {
                let graph = Graph::new();
                let collector = Arc::new(Collector::with_capacity(1));
                system::build(&graph, &Work::crunching(n), &collector)?;
                let info = graph.info();
                Mode::MultiCore(Some(Mapping::round_robin(&loop_names(&info), cores)))
            }
            Self::Realtime => {
                let core = *cores.last().ok_or("this process may use no core")?;
                let mapping = Mapping::new().default_core(core).priority(core, PRIORITY);
                Mode::MultiCore(Some(mapping.wait(core, WaitStrategy::Spin).lock_memory()))
            }
            Self::MultiRealtime => {
                let prioritized = |mapping: Mapping, &core| mapping.priority(core, PRIORITY);
                let mapping = cores.iter().fold(tuned()?, prioritized);
                Mode::MultiCore(Some(mapping.lock_memory()))
            }
        }))
    }
}

/// The options of a benchmark.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The variants.
    pub kinds: Vec<Kind>,
    /// The paths of messages; each is a variant of each live one.
    pub middlewares: Vec<Middleware>,
    /// The crunch limits.
    pub crunch_limits: Vec<u64>,
    /// The crunch limit with which the executables of rclcpp were compiled.
    pub rclcpp_limit: u64,
    /// The duration of each turn of each cell, in the executor's time.
    pub duration: Duration,
    /// The number of turns of each cell.
    pub turns: usize,
}

impl BenchOptions {
    /// Variants with messages within the process.
    #[must_use]
    pub fn new(kinds: Vec<Kind>, crunch_limits: &[u64], duration: Duration, turns: usize) -> Self {
        let (middlewares, crunch_limits) = (vec![Middleware::None], crunch_limits.to_vec());
        let rclcpp_limit = DEFAULT_CRUNCH_LIMIT;
        Self { kinds, middlewares, crunch_limits, rclcpp_limit, duration, turns }
    }

    /// Results without a turn yet, for these options on this machine.
    #[must_use]
    pub fn results(&self, command: String) -> Results {
        Results {
            schema: SCHEMA,
            title: "The Autoware reference system".into(),
            command,
            version: env!("CARGO_PKG_VERSION").into(),
            machine: System::default().machine(),
            turn_s: self.duration.as_secs_f64(),
            before: System::default().conditions(),
            ..Results::default()
        }
    }

    /// The cells by N, the variants in the given order. The multi-core mapping of an N is computed
    /// once, so that all its turns use the same one.
    fn plans(&self) -> Result<Vec<Plan>, BoxError> {
        let mut limits = self.crunch_limits.clone();
        limits.sort_unstable();
        limits.dedup();
        let cores = allowed_cores();
        let mut plans: Vec<Plan> = Vec::new();
        for n in limits {
            for (kind, &middleware) in
                self.kinds.iter().flat_map(|kind| self.middlewares.iter().map(move |m| (kind, m)))
            {
                let mut cost = self.duration;
                if *kind == Kind::Deterministic {
                    if plans.iter().any(|plan| plan.kind == *kind) {
                        continue;
                    }
                    cost = cost.mul_f64(total_utilization(n));
                }
                if matches!(kind, Kind::Rclcpp(_))
                    && (n != self.rclcpp_limit || middleware != self.middlewares[0])
                {
                    continue;
                }
                let name = match middleware {
                    _ if matches!(kind, Kind::Rclcpp(_)) => kind.name().to_owned(),
                    Middleware::None => kind.name().to_owned(),
                    _ => format!("{}, {}", kind.name(), middleware.name()),
                };
                let mode = kind.mode(n, &cores)?;
                let variant = Variant { name, n: Some(n), cost };
                if !plans.iter().any(|plan| plan.variant == variant) {
                    plans.push(Plan { kind: kind.clone(), middleware, n, mode, variant });
                }
            }
        }
        Ok(plans)
    }
}

/// A cell to be measured.
struct Plan {
    kind: Kind,
    middleware: Middleware,
    n: u64,
    mode: Option<Mode>,
    variant: Variant,
}

/// Measures every variant at every N that `results` does not have yet. Calls `before_step` before
/// each turn of each cell, with the results so far; it may end the benchmark. No other code of the
/// caller runs during a turn. Returns whether all is measured.
///
/// # Errors
/// The error of a failed run, or of a real-time variant that is not permitted. The turns so far are
/// in `results`.
pub fn measure(
    options: &BenchOptions,
    results: &mut Results,
    mut before_step: impl FnMut(&Results, &Step<'_>) -> Result<ControlFlow<()>, BoxError>,
) -> Result<bool, BoxError> {
    refuse_unpermitted(&options.kinds, Permissions::here())?;
    let plans = options.plans()?;
    let variants: Vec<Variant> = plans.iter().map(|plan| plan.variant.clone()).collect();
    take_turns(results, &variants, options.turns, |results, step| {
        if before_step(results, step)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let plan = &plans[step.variant];
        plan.prepare(results);
        plan.turn(options.duration)
    })
}

/// Refuses real-time variants that would run with normal priority.
fn refuse_unpermitted(kinds: &[Kind], permitted: Permissions) -> Result<(), BoxError> {
    let wanted = kinds.iter().find(|kind| kind.is_realtime());
    match wanted.filter(|_| !(permitted.fifo && permitted.lock_memory)) {
        None => Ok(()),
        Some(kind) => Err(format!(
            "failed to measure `{name}`: SCHED_FIFO or locked memory is not permitted to this \
             process; run it as root, raise the limits (`ulimit -r 99 -l unlimited`), or leave \
             `{name}` out",
            name = kind.name()
        )
        .into()),
    }
}

impl Plan {
    /// Calibrates, and notes crunch and mapping.
    fn prepare(&self, results: &mut Results) {
        let Calibration { min_ns, median_ns, .. } = calibrate_within(self.n, CALIBRATION_BUDGET);
        let lower = |known: u64, ns: u64| if known == 0 { ns } else { known.min(ns) };
        let cell = cell_of(results, &self.variant);
        if let Some(Mode::MultiCore(Some(mapping))) = &self.mode {
            cell.mapping = Some(mapping.to_toml_string());
        }
        let of_n = results.cells.iter().filter(|cell| cell.n == Some(self.n));
        let (min_ns, median_ns) = of_n.fold((min_ns, median_ns), |(min, median), cell| {
            (lower(cell.crunch_ns, min), lower(cell.crunch_median_ns, median))
        });
        for cell in results.cells.iter_mut().filter(|cell| cell.n == Some(self.n)) {
            (cell.crunch_ns, cell.crunch_median_ns) = (min_ns, median_ns);
        }
    }

    /// Runs one turn; breaks if it was interrupted and does not count.
    fn turn(&self, duration: Duration) -> Result<ControlFlow<(), Turn>, BoxError> {
        let system = System::default();
        let (others, wall, energy_j) = (OthersMeter::start(), Instant::now(), system.energy_j());
        let measured = match &self.kind {
            Kind::Rclcpp(peer) => peer.run(duration)?,
            _ => self.run(duration)?,
        };
        let (wall, Some(turn)) = (wall.elapsed(), measured) else {
            return Ok(ControlFlow::Break(()));
        };
        let used_j = system.energy_j().zip(energy_j).map(|(end, start)| end - start);
        Ok(ControlFlow::Continue(Turn {
            // A counter that has begun anew says nothing.
            watts: used_j.filter(|j| *j >= 0.0).map(|j| j / wall.as_secs_f64()),
            other_busy_cores: others.and_then(|others| others.busy_cores(wall)),
            after: system.conditions(),
            ..turn
        }))
    }

    /// Runs ringspin; `None` if it was interrupted.
    fn run(&self, duration: Duration) -> Result<Option<Turn>, BoxError> {
        let collector = Arc::new(Collector::new());
        let mode = self.mode.clone().ok_or("only a mode of ringspin runs within the process")?;
        let (middleware, stop_on_ctrl_c) = (self.middleware, true);
        let work = Work::crunching(self.n);
        let options =
            RunOptions { middleware, stop_on_ctrl_c, ..RunOptions::new(mode, work, duration) };
        let report = run(&options, &collector)?;
        if self.kind.is_realtime() {
            // The next turn has its memory as the system gives it.
            let _ = nix::sys::mman::munlockall();
        }
        Ok((!report.interrupted).then(|| turn_of(report, &collector)))
    }
}

/// The figures of a run.
fn turn_of(report: RunReport, collector: &Collector) -> Turn {
    let [release_to_end, sample_to_start] = collector.hot_path_ns();
    let [start, end] = Definition::ALL.map(Definition::name);
    Turn {
        latencies: vec![Series::new(start, sample_to_start), Series::new(end, release_to_end)],
        periods: vec![Series::new(PLANNER_PERIOD, collector.planner_periods_ns())],
        wall_s: report.wall_s,
        cpu_percent: report.cpu_percent,
        rss_bytes: report.rss_bytes,
        dispatched: report.dispatched,
        drops: report.kpis.hot_path_drops,
        overwritten: report.overwritten,
        missed_periods: report.missed_periods,
        digest: report.digest,
        ..Turn::default()
    }
}

/// The pooled result of one variant at one crunch limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The crunch limit.
    pub n: u64,
    /// The variant's name.
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
        }
    }

    /// The cell of a live variant; `None` for others, and before its first turn.
    #[must_use]
    pub fn pooled(cell: &results::Cell) -> Option<Self> {
        let turns = &cell.turns;
        let n = cell.n.filter(|_| turns.first().is_some_and(|turn| turn.digest.is_none()))?;
        let summary = |name: &str| Summary::of(&cell.pooled(name));
        let [sample_to_start, release_to_end] = Definition::ALL.map(|of| summary(of.name()));
        let kpis = Kpis {
            sample_to_start,
            release_to_end,
            planner_period: summary(PLANNER_PERIOD),
            hot_path_drops: turns.iter().map(|turn| turn.drops).sum(),
            samples: sample_to_start.count,
            ..Kpis::default()
        };
        let cpu_percent = turns.iter().map(|turn| turn.cpu_percent).sum::<f64>();
        Some(Self {
            n,
            mode: cell.name.clone(),
            turns: turns.len(),
            floor_ns: u64::from(Definition::SampleToStart.floor_crunches()) * cell.crunch_ns,
            kpis,
            cpu_percent: cpu_percent / turns.len() as f64,
        })
    }
}

/// The deterministic runs at one crunch limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// The crunch limit.
    pub n: u64,
    /// The number of runs.
    pub turns: usize,
    /// Simulated time of all runs.
    pub simulated_s: f64,
    /// Real time of all runs.
    pub wall_s: f64,
    /// The distinct digests: more than one means that the mode is not deterministic.
    pub digests: Vec<String>,
}

impl Simulation {
    /// The deterministic turns of `results`, by cell.
    #[must_use]
    pub fn all(results: &Results) -> Vec<Self> {
        let simulation = |cell: &results::Cell| {
            let mut digests: Vec<String> =
                cell.turns.iter().filter_map(|turn| turn.digest.clone()).collect();
            let turns = digests.len();
            digests.sort_unstable();
            digests.dedup();
            (turns > 0).then(|| Self {
                n: cell.n.unwrap_or_default(),
                turns,
                simulated_s: results.turn_s * turns as f64,
                wall_s: cell.turns.iter().map(|turn| turn.wall_s).sum(),
                digests,
            })
        };
        results.cells.iter().filter_map(simulation).collect()
    }

    /// Simulated seconds per second of real time.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.simulated_s / self.wall_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(200);

    fn options(kinds: &[&str], crunch_limits: &[u64], turns: usize) -> BenchOptions {
        let kinds = kinds.iter().map(|kind| kind.parse().unwrap()).collect();
        BenchOptions::new(kinds, crunch_limits, SHORT, turns)
    }

    /// Measures until `last` turns have begun; returns turn, N and variant of each.
    fn measured(options: &BenchOptions, results: &mut Results, last: usize) -> Vec<String> {
        let mut steps = Vec::new();
        let complete = measure(options, results, |_, step| {
            if steps.len() == last {
                return Ok(ControlFlow::Break(()));
            }
            steps.push(format!("{} {} {}", step.turn, step.n.unwrap(), step.name));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(complete.unwrap(), steps.len() < last);
        steps
    }

    #[test]
    fn turns_are_interleaved_and_an_interrupted_benchmark_is_continued() {
        let options = options(&["single", "round-robin", "deterministic"], &[64, 3, 64], 2);
        let mut results = options.results(String::new());
        let first = measured(&options, &mut results, 4);
        assert_eq!(first, ["1 3 single", "1 3 round-robin", "1 3 deterministic", "1 64 single"]);
        assert_eq!(results.cells.iter().filter_map(Cell::pooled).count(), 3);
        let rest = measured(&options, &mut results, 9);
        let second = ["2 3 single", "2 3 round-robin", "2 3 deterministic", "2 64 single"];
        assert_eq!(rest[0], "1 64 round-robin");
        assert_eq!(rest[1..5], second);
        let cells: Vec<Cell> = results.cells.iter().filter_map(Cell::pooled).collect();
        let pooled: Vec<_> = cells.iter().map(|cell| (cell.n, &*cell.mode, cell.turns)).collect();
        let expected = [(3, "single"), (3, "round-robin"), (64, "single"), (64, "round-robin")];
        assert_eq!(pooled, expected.map(|(n, mode)| (n, mode, 2)));
        assert!(cells[2].floor_ns > 0);
        assert_eq!(cells[2].floor_ns, cells[3].floor_ns, "one crunch for all variants of an N");
        let simulations = Simulation::all(&results);
        assert_eq!((simulations.len(), simulations[0].turns), (1, 2));
        assert_eq!(simulations[0].digests.len(), 1);
    }

    #[test]
    fn a_mapping_to_more_cores_fails_in_its_turn_and_the_turns_before_are_kept() {
        let mapping = Mapping::new().core(4_000, ["/FrontLidarDriver"]).default_core(0);
        let mut options = options(&["single"], &[3], 1);
        options.kinds.push(Kind::Mapped(mapping));
        let mut results = options.results(String::new());
        let go_on = |_: &Results, _: &Step<'_>| Ok(ControlFlow::Continue(()));
        let error = measure(&options, &mut results, go_on).unwrap_err().to_string();
        assert!(error.contains("4000"), "{error}");
        assert_eq!(results.cells[0].turns.len(), 1);
    }

    #[test]
    fn realtime_variants_are_refused_without_permission() {
        let refused = |kinds: &[Kind], fifo, lock_memory| {
            let error = refuse_unpermitted(kinds, Permissions { fifo, lock_memory }).err();
            error.map(|error| error.to_string()).unwrap_or_default()
        };
        let both = [Kind::Single, Kind::Realtime];
        assert!(refused(&both, false, true).contains("`realtime`: SCHED_FIFO"));
        assert!(refused(&both, true, false).contains("ulimit"));
        assert_eq!(refused(&both, true, true), "");
        assert_eq!(refused(&both[..1], false, false), "");
    }

    #[test]
    fn every_variant_has_a_name_and_its_threads() {
        for name in ["single", "multi", "round-robin", "deterministic", "realtime"] {
            let kind: Kind = name.parse().unwrap();
            assert_eq!(kind.name(), name);
        }
        assert!("fast".parse::<Kind>().unwrap_err().to_string().contains("round-robin"));
        let Ok(Some(Mode::MultiCore(Some(mapping)))) = Kind::Realtime.mode(64, &[0, 2]) else {
            panic!("a single worker with a core of its own")
        };
        assert_eq!((mapping.default_core, mapping.lock_memory), (Some(2), true));
        assert_eq!(mapping.cores[0].priority, Some(PRIORITY));
        let Ok(Some(Mode::MultiCore(Some(mapping)))) = Kind::MultiRealtime.mode(64, &[0, 1]) else {
            panic!("a worker for each core")
        };
        assert!(mapping.cores.iter().all(|core| core.priority == Some(PRIORITY)));
    }
}
