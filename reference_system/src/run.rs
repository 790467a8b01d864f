//! A measured run of the reference system, in any mode.

use crate::chains::{self, ChainReport, Watch};
use crate::crunch::estimate_ns;
use crate::description::{AUTOWARE, Workload, total_crunches_per_second};
use crate::kpi::{Collector, EstimatorWatch, Kpis};
use crate::lame;
use crate::middleware::{self, Middleware};
use crate::optimize::{Target, quick_mapping};
use crate::system::{self, Work};
use crate::trace::TraceWriter;
use ringspin_bench::process::{CpuMeter, ProcessUsage};
use ringspin_executor::{BoxError, Completion, Dispatch, GraphInfo, Recorder, Statistics};
use ringspin_modes::deterministic::AnyModel;
use ringspin_modes::{Cores, Executor, Mapping, Mode, RunDigest, allowed_cores};
use ringspin_simulation::models::{Durations, Profile, Profiler};
use serde::Serialize;
use std::any::Any;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The mode. Multi-core without a mapping uses [`quick_mapping`].
    pub mode: Mode,
    /// The work of the callbacks.
    pub work: Work,
    /// The duration, in the executor's time.
    pub duration: Duration,
    /// The path of the messages.
    pub middleware: Middleware,
    /// The file for the dispatch records of a deterministic run, one JSON object per line.
    pub trace: Option<PathBuf>,
    /// The file for the profile of a live run: durations of callbacks, and costs of messages.
    pub profile: Option<PathBuf>,
    /// Whether Ctrl-C ends the run early, with the figures so far.
    pub stop_on_ctrl_c: bool,
}

impl RunOptions {
    /// The options of a run within the process, without files, which Ctrl-C does not end.
    #[must_use]
    pub fn new(mode: Mode, work: Work, duration: Duration) -> Self {
        Self {
            mode,
            work,
            duration,
            middleware: Middleware::None,
            trace: None,
            profile: None,
            stop_on_ctrl_c: false,
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The mode: `single`, `multi` or `deterministic`.
    pub mode: &'static str,
    /// The path of the messages: `none`, `ros2` or `hybrid`.
    pub middleware: &'static str,
    /// The workload: `autoware` or `lame`.
    pub workload: &'static str,
    /// The limit of the number cruncher, which LaME does not use.
    pub n: u64,
    /// Whether callbacks crunched; otherwise they are nearly free.
    pub crunch: bool,
    /// The requested duration, in the executor's time.
    pub duration_s: f64,
    /// Whether Ctrl-C or a signal ended it early.
    pub interrupted: bool,
    /// The key performance indicators.
    pub kpis: Kpis,
    /// The chains of LaME, with published figures; empty for the other workload.
    pub chains: Vec<ChainReport>,
    /// Processor time of the process during the run, in percent of one core.
    pub cpu_percent: f64,
    /// Resident memory of the process at the end of the run.
    pub rss_bytes: u64,
    /// The real time of the run.
    pub wall_s: f64,
    /// The time that passed for the nodes: real time when live, simulated time when deterministic.
    pub node_s: f64,
    /// The number of dispatched events.
    pub dispatched: u64,
    /// The number of messages that a newer one displaced before dispatch.
    pub overwritten: u64,
    /// The number of timer periods without a call.
    pub missed_periods: u64,
    /// Simulated seconds per second of real time; deterministic runs only.
    pub simulated_s_per_wall_s: Option<f64>,
    /// The digest of a deterministic run: 32 hexadecimal digits.
    pub digest: Option<String>,
    /// The mapping of a multi-core run, given or tuned, or of virtual cores.
    pub mapping: Option<Mapping>,
}

/// The name of `mode` on the command line and in reports.
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
/// An error if the mapping does not fit, the trace cannot be written, or a callback fails.
pub fn run(options: &RunOptions, collector: &Arc<Collector>) -> Result<RunReport, BoxError> {
    run_recorded(Workload::Autoware, options, collector, None).map(|recorded| recorded.report)
}

/// A run with its recorders.
pub struct Recorded {
    /// The result of the run.
    pub report: RunReport,
    /// The caller's recorders, in the order of the workers.
    pub recorders: Vec<Box<dyn Recorder>>,
    /// The graph of the run.
    pub info: GraphInfo,
    /// The mode, with the mapping in use.
    pub mode: Mode,
}

/// Creates the recorders of a worker, from the graph and the worker's index.
pub type RecordersFactory = Box<dyn FnMut(&GraphInfo, usize) -> Vec<Box<dyn Recorder>> + Send>;

/// Runs the reference system like [`run()`], with the given workload; `factory` adds recorders to
/// each worker. In live modes, recording reads the clock once per dispatch.
///
/// In simulated time, the callbacks of [`Lame`](Workload::Lame) compute nothing and take its costs
/// as durations, unless the simulation has others for them.
///
/// # Errors
/// The errors of [`run()`].
pub fn run_recorded(
    workload: Workload,
    options: &RunOptions,
    collector: &Arc<Collector>,
    factory: Option<RecordersFactory>,
) -> Result<Recorded, BoxError> {
    let mode = mode_for(workload, options)?;
    let mut work = options.work.clone();
    let chains = Arc::new(chains::Collector::new());
    let executor = middleware::connect(Executor::new(mode.clone()), options.middleware)?;
    let mut executor = record(executor, workload, options, collector, &chains, factory)?;
    if options.stop_on_ctrl_c {
        executor.stop_on_ctrl_c()?;
    }
    match workload {
        Workload::Autoware => system::build(executor.graph(), &work, collector)?,
        Workload::Lame => {
            work.crunch &= !matches!(mode, Mode::Deterministic(_));
            system::build_lame(executor.graph(), &work, collector, &chains)?;
        }
    }
    executor.freeze()?;
    let node_start = executor.now();
    let (cpu, wall) = (CpuMeter::start()?, Instant::now());
    executor.spin_for(options.duration)?;
    let wall = wall.elapsed();
    let cpu_percent = cpu.cpu_percent_of_one_core(wall)?;
    let node_s = executor.now().since(node_start).as_secs_f64();
    let recorders = executor.take_recorders();
    let recorders = finish(options, &executor.graph().info(), recorders)?;
    let statistics: Statistics = executor.statistics();
    let digest: Option<(RunDigest, u64)> = executor.digest();
    let report = RunReport {
        mode: mode_name(&mode),
        middleware: options.middleware.name(),
        workload: workload.name(),
        n: options.work.n,
        crunch: work.crunch,
        duration_s: options.duration.as_secs_f64(),
        interrupted: executor.stop_handle().is_stopped(),
        kpis: collector.report(),
        chains: if workload == Workload::Lame { chains.report() } else { Vec::new() },
        cpu_percent,
        rss_bytes: ProcessUsage::now()?.rss_bytes,
        wall_s: wall.as_secs_f64(),
        node_s,
        dispatched: statistics.dispatched(),
        overwritten: statistics.overwritten(),
        missed_periods: statistics.callbacks.iter().map(|callback| callback.missed).sum(),
        simulated_s_per_wall_s: digest.is_some().then(|| node_s / wall.as_secs_f64()),
        digest: digest.map(|(digest, _)| digest.to_string()),
        mapping: match &mode {
            Mode::MultiCore(mapping) => mapping.clone(),
            Mode::Deterministic(simulation) => match &simulation.cores {
                Cores::Mapped(mapping) => Some(mapping.clone()),
                Cores::Unlimited | Cores::Single => None,
            },
            Mode::SingleCore => None,
        },
    };
    Ok(Recorded { report, recorders, info: executor.graph().info(), mode })
}

/// The recorders of one worker.
struct CombinedRecorder {
    /// The caller's recorders.
    callers: Vec<Box<dyn Recorder>>,
    writer: Option<TraceWriter>,
    profiler: Option<Profiler>,
    watch: Option<Watch>,
    estimator: Option<EstimatorWatch>,
}

impl CombinedRecorder {
    fn each(&mut self) -> impl Iterator<Item = &mut dyn Recorder> {
        let Self { callers, writer, profiler, watch, estimator } = self;
        let callers = callers.iter_mut().map(|recorder| &mut **recorder);
        let writer = writer.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        let profiler = profiler.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        let watch = watch.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        let estimator = estimator.iter_mut().map(|recorder| recorder as &mut dyn Recorder);
        callers.chain(writer).chain(profiler).chain(watch).chain(estimator)
    }
}

impl Recorder for CombinedRecorder {
    fn started(&mut self, dispatch: &Dispatch) {
        self.each().for_each(|recorder| recorder.started(dispatch));
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.each().for_each(|recorder| recorder.finished(dispatch, completion));
    }
}

/// Attaches the requested recorders to `executor`; none if none is requested, because even an empty
/// recorder costs time.
fn record(
    executor: Executor,
    workload: Workload,
    options: &RunOptions,
    collector: &Arc<Collector>,
    chains: &Arc<chains::Collector>,
    mut factory: Option<RecordersFactory>,
) -> io::Result<Executor> {
    let mut writer = options.trace.as_deref().map(TraceWriter::create).transpose()?;
    let profiled = options.profile.is_some();
    let watched = (workload == Workload::Lame).then(|| chains.clone());
    // Where callbacks take simulated time, they do not see their own ends.
    let takes_time = match &options.mode {
        Mode::Deterministic(simulation) => simulation.durations != AnyModel::default(),
        Mode::SingleCore | Mode::MultiCore(_) => false,
    };
    let estimated = takes_time.then(|| collector.clone());
    let is_watched = watched.is_some() || estimated.is_some();
    if factory.is_none() && writer.is_none() && !profiled && !is_watched {
        return Ok(executor);
    }
    Ok(executor.with_recorders(move |info, worker| CombinedRecorder {
        callers: factory.as_mut().map(|make| make(info, worker)).unwrap_or_default(),
        // Only a deterministic run is traced, and it has a single worker.
        writer: writer.take().map(|writer| writer.with_names(info)),
        profiler: profiled.then(|| Profiler::new(info)),
        watch: watched.clone().map(|chains| Watch::new(chains, info)),
        estimator: estimated.clone().map(|collector| EstimatorWatch::new(collector, info)),
    }))
}

/// Writes the files that `options` request, and returns the caller's recorders.
fn finish(
    options: &RunOptions,
    info: &GraphInfo,
    recorders: Vec<Box<dyn Recorder>>,
) -> Result<Vec<Box<dyn Recorder>>, BoxError> {
    let (mut profilers, mut callers) = (Vec::new(), Vec::new());
    for recorder in recorders {
        let any: Box<dyn Any> = recorder;
        let Ok(combined) = any.downcast::<CombinedRecorder>() else { continue };
        let CombinedRecorder { callers: of_worker, writer, profiler, .. } = *combined;
        if let Some(writer) = writer {
            writer.finish()?;
        }
        profilers.extend(profiler.map(|profiler| Box::new(profiler) as Box<dyn Recorder>));
        callers.extend(of_worker);
    }
    if let Some(path) = &options.profile {
        Profile::of(info, profilers).save(path)?;
    }
    Ok(callers)
}

/// The mode with the additions of the workload.
fn mode_for(workload: Workload, options: &RunOptions) -> Result<Mode, BoxError> {
    Ok(match (&options.mode, workload) {
        (Mode::MultiCore(None), _) => {
            let target = Target { workload, ..Target::autoware(options.work.n) };
            Mode::MultiCore(Some(quick_mapping(&target, &allowed_cores())?))
        }
        (Mode::Deterministic(simulation), Workload::Lame) if options.work.crunch => {
            let mut simulation = simulation.clone();
            let chosen = simulation.durations.get::<Durations>().cloned().unwrap_or_default();
            simulation.durations = lame::durations().and(chosen).into();
            Mode::Deterministic(simulation)
        }
        (mode, _) => mode.clone(),
    })
}

/// The load of the whole system in cores of this machine, for crunches up to `n`.
#[must_use]
pub fn total_utilization(n: u64) -> f64 {
    total_crunches_per_second() * estimate_ns(n) as f64 * 1e-9
}

/// The load of the whole system in cores, for this workload.
#[must_use]
pub fn total_utilization_of(workload: Workload, n: u64) -> f64 {
    match workload {
        Workload::Autoware => total_utilization(n),
        Workload::Lame => AUTOWARE.iter().map(lame::utilization).sum(),
    }
}
