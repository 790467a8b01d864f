//! One measured run of the reference system, in any mode.

use crate::crunch::estimate_ns;
use crate::description::{
    AUTOWARE, HOT_PATH, crunches_per_second, edges, topic_rate_hz, total_crunches_per_second,
};
use crate::kpi::{Collector, Kpis};
use crate::process::{CpuMeter, ProcessUsage};
use crate::system::{self, Work};
use crate::trace::TraceWriter;
use ringspin_executor::{BoxError, Recorder, Statistics};
use ringspin_modes::models::{DurationProfile, Profiler};
use ringspin_modes::{Executor, Mapping, Mode, RunDigest};
use ringspin_optimizer::{Chain, Edge, Loads, LoopLoad, OptimizeError, SearchOptions, search};
use serde::Serialize;
use std::any::Any;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The mode; multi-core without a mapping gets the one of [`tuned_mapping`].
    pub mode: Mode,
    /// What the callbacks do.
    pub work: Work,
    /// How long, in the executor's own time.
    pub duration: Duration,
    /// Where the dispatch records of a deterministic run are written, one JSON object a line.
    pub trace: Option<PathBuf>,
    /// Where the durations of the callbacks of a live run are written.
    pub profile: Option<PathBuf>,
    /// Whether Ctrl-C ends the run early, with the figures until then.
    pub stop_on_ctrl_c: bool,
}

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The mode: `single`, `multi` or `deterministic`.
    pub mode: &'static str,
    /// The limit of the number cruncher.
    pub n: u64,
    /// Whether it ran; without it every callback is nearly free.
    pub crunch: bool,
    /// How long the run was to take, in the executor's own time.
    pub duration_s: f64,
    /// Whether it was ended early, by Ctrl-C or a signal.
    pub interrupted: bool,
    /// The key performance indicators.
    pub kpis: Kpis,
    /// Processor time of the process during the run, in percent of one core.
    pub cpu_percent: f64,
    /// Resident memory of the process at the end of the run.
    pub rss_bytes: u64,
    /// Real time that the run took.
    pub wall_s: f64,
    /// Time that passed for the nodes: real time when live, simulated time when deterministic.
    pub node_s: f64,
    /// Events that reached a callback.
    pub dispatched: u64,
    /// Messages that a newer one displaced before their callback saw them.
    pub overwritten: u64,
    /// Timer periods that passed without a call.
    pub missed_periods: u64,
    /// Simulated seconds per second of real time; only of a deterministic run.
    pub simulated_s_per_wall_s: Option<f64>,
    /// The digest of a deterministic run: 32 hexadecimal digits.
    pub digest: Option<String>,
    /// The mapping of a multi-core run, whether given or tuned.
    pub mapping: Option<Mapping>,
}

/// The name of `mode` on the command line and in every report.
#[must_use]
pub fn mode_name(mode: &Mode) -> &'static str {
    match mode {
        Mode::SingleCore => "single",
        Mode::MultiCore(_) => "multi",
        Mode::Deterministic(_) => "deterministic",
    }
}

/// Builds the reference system and runs it.
///
/// # Errors
/// When the mapping does not fit, the trace cannot be written, or a callback fails.
pub fn run(options: &RunOptions, collector: &Arc<Collector>) -> Result<RunReport, BoxError> {
    let mode = match &options.mode {
        Mode::MultiCore(None) => Mode::MultiCore(Some(tuned_mapping(options.work.n)?)),
        mode => mode.clone(),
    };
    let mut executor = Executor::new(mode.clone());
    if let Some(path) = &options.trace {
        executor = recording(executor, TraceWriter::create(path)?);
    } else if options.profile.is_some() {
        executor = executor.with_recorders(|info, _| Profiler::new(info));
    }
    if options.stop_on_ctrl_c {
        executor.stop_on_ctrl_c()?;
    }
    system::build(executor.graph(), &options.work, collector)?;
    executor.freeze()?;
    let node_start = executor.now();
    let (cpu, wall) = (CpuMeter::start()?, Instant::now());
    executor.spin_for(options.duration)?;
    let wall = wall.elapsed();
    let cpu_percent = cpu.cpu_percent_of_one_core(wall)?;
    let node_s = executor.now().since(node_start).as_secs_f64();
    let recorders = executor.take_recorders();
    match &options.profile {
        Some(path) => DurationProfile::of(recorders).save(path)?,
        None => finish_trace(recorders)?,
    }
    let statistics: Statistics = executor.statistics();
    let digest: Option<(RunDigest, u64)> = executor.digest();
    Ok(RunReport {
        mode: mode_name(&mode),
        n: options.work.n,
        crunch: options.work.crunch,
        duration_s: options.duration.as_secs_f64(),
        interrupted: executor.stop_handle().is_stopped(),
        kpis: collector.report(),
        cpu_percent,
        rss_bytes: ProcessUsage::now()?.rss_bytes,
        wall_s: wall.as_secs_f64(),
        node_s,
        dispatched: statistics.dispatched(),
        overwritten: statistics.overwritten(),
        missed_periods: statistics.callbacks.iter().map(|callback| callback.missed).sum(),
        simulated_s_per_wall_s: digest.is_some().then(|| node_s / wall.as_secs_f64()),
        digest: digest.map(|(digest, _)| digest.to_string()),
        mapping: match mode {
            Mode::MultiCore(mapping) => mapping,
            Mode::SingleCore | Mode::Deterministic(_) => None,
        },
    })
}

fn recording(executor: Executor, writer: TraceWriter) -> Executor {
    let mut writer = Some(writer);
    executor.with_recorders(move |info, _| {
        writer.take().expect("a deterministic run has one worker").with_names(info)
    })
}

fn finish_trace(recorders: Vec<Box<dyn Recorder>>) -> io::Result<()> {
    for recorder in recorders {
        let any: Box<dyn Any> = recorder;
        if let Ok(writer) = any.downcast::<TraceWriter>() {
            writer.finish()?;
        }
    }
    Ok(())
}

/// The load that the nodes put on one core of this machine with crunches up to `n`: rates from the
/// description, times the duration of a crunch ([`estimate_ns`]).
#[must_use]
pub fn loads(n: u64) -> Loads {
    let crunch_s = estimate_ns(n) as f64 * 1e-9;
    let loops = AUTOWARE.iter().map(|node| LoopLoad {
        name: format!("/{}", node.name),
        utilization: crunches_per_second(node) * crunch_s,
    });
    let edges = edges().map(|edge| Edge {
        from: format!("/{}", edge.from),
        to: format!("/{}", edge.to),
        messages_per_second: topic_rate_hz(edge.topic),
    });
    let hot_path = Chain::new("hot path", HOT_PATH.iter().map(|name| format!("/{name}")));
    Loads { loops: loops.collect(), edges: edges.collect(), chains: vec![hot_path] }
}

/// The load of the whole system in cores of this machine, for crunches up to `n`.
#[must_use]
pub fn total_utilization(n: u64) -> f64 {
    total_crunches_per_second() * estimate_ns(n) as f64 * 1e-9
}

/// The mapping of the nodes to the cores of this process that the optimizer finds for crunches up
/// to `n`, in some ten milliseconds.
///
/// # Errors
/// When the process may use no core.
pub fn tuned_mapping(n: u64) -> Result<Mapping, OptimizeError> {
    let cores = ringspin_modes::allowed_cores();
    let found = search(&loads(n), &SearchOptions::new(cores.len()))?;
    Ok(found.assignment.to_mapping(&cores))
}
