//! The benchmark: variants of the executor at each N on this machine, in interleaved turns.
//!
//! Cells run one after the other, with their timers in phase. Each turn begins with a calibration,
//! so that the floor is measured under the conditions of the cells.
//!
//! Callbacks of the deterministic mode take no simulated time, so its latencies are zero by
//! construction. Its digest does not depend on N, so it runs at the smallest one.

use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ringspin_bench::results::{Results, SCHEMA, Turn};
use ringspin_bench::{Permissions, Step, System, Variant, cell_of, take_turns};
use ringspin_executor::{BoxError, WaitStrategy};
use ringspin_modes::{Mapping, Mode, allowed_cores};

use crate::crunch::{Calibration, DEFAULT_CRUNCH_LIMIT, calibrate_within};
use crate::kpi::Collector;
use crate::middleware::Middleware;
use crate::optimize::{TuningTarget, quick_mapping};
use crate::rclcpp::Peer;
use crate::run::{RunOptions, run, total_utilization};
use crate::system::Work;

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
    /// The multi-core mode without a mapping.
    Multi,
    /// The multi-core mode with the optimizer's mapping.
    Tuned,
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

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use Kind::{Deterministic, Multi, MultiRealtime, Realtime, Single, Tuned};
        let all = [Single, Multi, Tuned, Deterministic, Realtime, MultiRealtime];
        all.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            format!(
                "unknown variant `{text}`; give single, multi, tuned, deterministic, realtime or \
                 multi-realtime"
            )
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
            Self::Tuned => "tuned",
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
        let tuned = || quick_mapping(&TuningTarget::autoware(n), cores);
        Ok(Some(match self {
            Self::Rclcpp(_) => return Ok(None),
            Self::Single => Mode::SingleCore,
            Self::Deterministic => Mode::Deterministic(Box::default()),
            Self::Multi => Mode::MultiCore(None),
            Self::Tuned => Mode::MultiCore(Some(tuned()?)),
            Self::Mapped(mapping) => Mode::MultiCore(Some(mapping.clone())),
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
            let all =
                self.kinds.iter().flat_map(|kind| self.middlewares.iter().map(move |m| (kind, *m)));
            for (kind, middleware) in all {
                let is_peer = matches!(kind, Kind::Rclcpp(_));
                let is_simulated = *kind == Kind::Deterministic;
                let is_known = is_simulated && plans.iter().any(|plan| plan.kind == *kind);
                let is_compiled = n == self.rclcpp_limit && middleware == self.middlewares[0];
                if is_known || is_peer && !is_compiled {
                    continue;
                }
                let factor = if is_simulated { total_utilization(n) } else { 1.0 };
                let name = match middleware {
                    Middleware::Ros2 | Middleware::Hybrid if !is_peer => {
                        format!("{}, {}", kind.name(), middleware.name())
                    }
                    _ => kind.name().to_owned(),
                };
                let variant = Variant { name, n: Some(n), cost: self.duration.mul_f64(factor) };
                let mode = kind.mode(n, &cores)?;
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
        let measured = match &self.kind {
            Kind::Rclcpp(peer) => peer.run(duration)?,
            _ => self.run(duration)?,
        };
        Ok(measured.map_or(ControlFlow::Break(()), ControlFlow::Continue))
    }

    /// Runs ringspin; `None` if it was interrupted.
    fn run(&self, duration: Duration) -> Result<Option<Turn>, BoxError> {
        let mode = self.mode.clone().ok_or("only a mode of ringspin runs within the process")?;
        let (middleware, stop_on_ctrl_c) = (self.middleware, true);
        let work = Work::crunching(self.n);
        let options =
            RunOptions { middleware, stop_on_ctrl_c, ..RunOptions::new(mode, work, duration) };
        let report = run(&options, &Arc::new(Collector::new()))?;
        if self.kind.is_realtime() {
            // The next turn has its memory as the system gives it.
            let _ = nix::sys::mman::munlockall();
        }
        Ok((!report.interrupted).then_some(report.turn))
    }
}

/// The distinct digests of all deterministic turns. A digest does not depend on N.
#[must_use]
pub fn digests(results: &Results) -> Vec<&str> {
    let turns = results.cells.iter().flat_map(|cell| &cell.turns);
    let mut digests: Vec<&str> = turns.filter_map(|turn| turn.digest.as_deref()).collect();
    digests.sort_unstable();
    digests.dedup();
    digests
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
        let options = options(&["single", "tuned", "deterministic"], &[64, 3, 64], 2);
        let mut results = options.results(String::new());
        let first = measured(&options, &mut results, 4);
        assert_eq!(first, ["1 3 single", "1 3 tuned", "1 3 deterministic", "1 64 single"]);
        let rest = measured(&options, &mut results, 9);
        let second = ["2 3 single", "2 3 tuned", "2 3 deterministic", "2 64 single"];
        assert_eq!(rest[0], "1 64 tuned");
        assert_eq!(rest[1..5], second);
        let cells: Vec<_> =
            results.cells.iter().map(|of| (of.n.unwrap(), &*of.name, of.turns.len())).collect();
        let expected = [(3, "single"), (3, "tuned"), (3, "deterministic"), (64, "single")];
        assert_eq!(cells[..4], expected.map(|(n, mode)| (n, mode, 2)));
        assert_eq!(cells[4], (64, "tuned", 2));
        let crunches: Vec<u64> = results.cells.iter().map(|cell| cell.crunch_ns).collect();
        assert!(crunches[3] > 0);
        assert_eq!(crunches[3], crunches[4], "one crunch for all variants of an N");
        assert_eq!(digests(&results).len(), 1);
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
        for name in ["single", "multi", "tuned", "deterministic", "realtime"] {
            let kind: Kind = name.parse().unwrap();
            assert_eq!(kind.name(), name);
        }
        assert!("fast".parse::<Kind>().unwrap_err().contains("tuned"));
        let Ok(Some(Mode::MultiCore(Some(mapping)))) = Kind::Realtime.mode(64, &[0, 2]) else {
            panic!("a single worker with a separate core")
        };
        assert_eq!((mapping.default_core, mapping.lock_memory), (Some(2), true));
        assert_eq!(mapping.cores[0].priority, Some(PRIORITY));
        let Ok(Some(Mode::MultiCore(Some(mapping)))) = Kind::MultiRealtime.mode(64, &[0, 1]) else {
            panic!("a worker for each core")
        };
        assert!(mapping.cores.iter().all(|core| core.priority == Some(PRIORITY)));
    }
}
