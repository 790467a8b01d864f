//! A measured run of the reference system, in any mode.

use crate::crunch::estimate_ns;
use crate::description::total_crunches_per_second;
use crate::kpi::{Collector, EstimatorWatch, Kpis, PLANNER_PERIOD};
use crate::middleware::{self, Middleware};
use crate::optimize::TuningTarget;
use crate::system::{self, Work};
use crate::trace::{TraceWriter, created, not_written};
use ringspin_bench::measure_turn;
use ringspin_bench::results::{Series, Turn};
use ringspin_executor::{BoxError, Completion, Dispatch, GraphInfo, Recorder, Time};
use ringspin_modes::{Executor, Mapping, Mode};
use ringspin_optimizer::{Decision, Evaluation};
use ringspin_report::Definition;
use ringspin_simulation::models::{Profile, Profiler};
use ringspin_simulation::timeline::{
    DEFAULT_CAPACITY, Timeline, TimelineRecorder, write_chrome_trace,
};
use serde::Serialize;
use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The mode.
    pub mode: Mode,
    /// The work of the callbacks.
    pub work: Work,
    /// The nodes that are built; the others run in processes that the middleware connects. `None`
    /// is all of them.
    pub nodes: Option<Vec<&'static str>>,
    /// The duration, in the executor's time.
    pub duration: Duration,
    /// The path of the messages.
    pub middleware: Middleware,
    /// The file for the dispatch records of a deterministic run, one JSON object per line.
    pub trace: Option<PathBuf>,
    /// The file for the profile of a live run: durations of callbacks, and costs of messages.
    pub profile: Option<PathBuf>,
    /// The file for a timeline of callbacks and cores in the Chrome trace format.
    pub timeline: Option<PathBuf>,
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
            nodes: None,
            duration,
            middleware: Middleware::None,
            trace: None,
            profile: None,
            timeline: None,
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
    /// The limit of the number cruncher.
    pub n: u64,
    /// Whether callbacks crunched; otherwise they are nearly free.
    pub crunch: bool,
    /// Whether Ctrl-C or a signal ended it early.
    pub interrupted: bool,
    /// The key performance indicators.
    pub kpis: Kpis,
    /// The time that passed for the nodes: real time when live, simulated time when deterministic.
    pub node_s: f64,
    /// The mapping at the end of a multi-core run, or of virtual cores.
    pub mapping: Option<Mapping>,
    /// With `optimize = "online"`: the mappings that were compared, in words.
    pub decisions: Vec<String>,
    /// The latencies, costs and losses in the format of results.
    #[serde(flatten)]
    pub turn: Turn,
}

/// The name of `mode` on the command line and in reports.
#[must_use]
pub fn mode_name(mode: &Mode) -> &'static str {
    match mode {
        Mode::SingleCore => "single",
        Mode::MultiCore(_) => "multi",
        Mode::Deterministic(_) => "deterministic",
        Mode::Replay(_) => "replay",
    }
}

/// Builds the reference system, runs it, and writes the files of the options.
///
/// Live, recording for a file reads the clock once per dispatch.
///
/// # Errors
/// An error if the mapping does not fit, a file cannot be written, or a callback fails.
pub fn run(options: &RunOptions, collector: &Arc<Collector>) -> Result<RunReport, BoxError> {
    let mode = options.mode.clone();
    let timeline = options.timeline.as_deref().map(created).transpose()?;
    let executor = middleware::connect(Executor::new(mode.clone()), options.middleware)?;
    let mut executor = record(executor, options, collector)?;
    executor.record_from_env()?;
    let target = TuningTarget::autoware(options.work.n);
    let mut online = None;
    if mode.mapping().is_some_and(|mapping| mapping.optimize.is_some()) {
        executor = executor.with_chains(target.chains());
        online = Some(target.online());
    }
    if options.stop_on_ctrl_c {
        executor.stop_on_ctrl_c()?;
    }
    let here = |name: &str| options.nodes.as_ref().is_none_or(|nodes| nodes.contains(&name));
    system::build_part(executor.graph(), &options.work, collector, here)?;
    executor.freeze()?;
    let node_start = executor.now();
    let turn = measure_turn(&mut executor, |executor| match &mut online {
        Some(online) => online.spin_for(executor, options.duration),
        None => executor.spin_for(options.duration),
    })?;
    let node_s = executor.now().since(node_start).as_secs_f64();
    let recorders = executor.take_recorders();
    finish(options, &mode, &executor.graph().info(), recorders, timeline)?;
    let [release_to_end, sample_to_start] = collector.hot_path_ns();
    let [start, end] = Definition::ALL.map(Definition::name);
    let kpis = collector.report();
    Ok(RunReport {
        mode: mode_name(&mode),
        middleware: options.middleware.name(),
        n: options.work.n,
        crunch: options.work.crunch,
        interrupted: executor.stop_handle().is_stopped(),
        kpis,
        node_s,
        mapping: executor.mode().mapping().cloned(),
        decisions: online
            .iter()
            .flat_map(|online| online.decisions())
            .map(|of| describe(of, node_start))
            .collect(),
        turn: Turn {
            latencies: vec![Series::new(start, sample_to_start), Series::new(end, release_to_end)],
            periods: vec![Series::new(PLANNER_PERIOD, collector.planner_periods_ns())],
            drops: kpis.hot_path_drops,
            ..turn
        },
    })
}

/// A decision about a mapping, with its hot path from release to end.
fn describe(decision: &Decision, start: Time) -> String {
    let Decision { at, before, after, is_kept, .. } = decision;
    let ms = |of: &Evaluation| {
        let latency = of.chains[0].release_to_end;
        format!("{:.3} and {:.3}", latency.mean_ns as f64 / 1e6, latency.p99_ns as f64 / 1e6)
    };
    let verdict = if *is_kept { "kept" } else { "taken back" };
    let (before, after) = (ms(before), ms(after));
    let seconds = at.since(start).as_secs_f64();
    format!("{verdict} after {seconds:.1} s: mean and p99 {after} ms, without it {before} ms")
}

/// The recorders of one worker.
#[derive(Default)]
struct Recorders(Vec<Box<dyn Recorder>>);

impl Recorders {
    fn push(&mut self, recorder: Option<impl Recorder>) {
        self.0.extend(recorder.map(|recorder| Box::new(recorder) as Box<dyn Recorder>));
    }
}

impl Recorder for Recorders {
    fn started(&mut self, dispatch: &Dispatch) {
        self.0.iter_mut().for_each(|recorder| recorder.started(dispatch));
    }

    fn finished(&mut self, dispatch: &Dispatch, completion: Completion) {
        self.0.iter_mut().for_each(|recorder| recorder.finished(dispatch, completion));
    }
}

/// Attaches the requested recorders to `executor`; none if none is requested, because even an empty
/// recorder costs time.
fn record(
    executor: Executor,
    options: &RunOptions,
    collector: &Arc<Collector>,
) -> io::Result<Executor> {
    let mut writer = options.trace.as_deref().map(TraceWriter::create).transpose()?;
    let (profiled, timed) = (options.profile.is_some(), options.timeline.is_some());
    // Where callbacks take simulated time, they do not see their own ends.
    let takes_time = match &options.mode {
        Mode::Deterministic(simulation) => simulation.durations.is_some(),
        Mode::SingleCore | Mode::MultiCore(_) | Mode::Replay(_) => false,
    };
    let estimated = takes_time.then(|| collector.clone());
    if writer.is_none() && !profiled && !timed && estimated.is_none() {
        return Ok(executor);
    }
    Ok(executor.with_recorders(move |info, _| {
        let mut recorders = Recorders::default();
        recorders.push(timed.then(|| TimelineRecorder::new(DEFAULT_CAPACITY)));
        // Only a deterministic run is traced, and it has a single worker.
        recorders.push(writer.take().map(|writer| writer.with_names(info)));
        recorders.push(profiled.then(|| Profiler::new(info)));
        recorders.push(estimated.clone().map(|collector| EstimatorWatch::new(collector, info)));
        recorders
    }))
}

/// Writes the files that `options` request.
fn finish(
    options: &RunOptions,
    mode: &Mode,
    info: &GraphInfo,
    recorders: Vec<Box<dyn Recorder>>,
    timeline: Option<File>,
) -> Result<(), BoxError> {
    let (mut profilers, mut timelines) = (Vec::new(), Vec::new());
    for recorder in recorders.into_iter().flat_map(downcast::<Recorders>) {
        for recorder in recorder.0 {
            let any: &dyn Any = &*recorder;
            if any.is::<Profiler>() {
                profilers.push(recorder);
            } else if any.is::<TimelineRecorder>() {
                timelines.push(recorder);
            } else if let Some(writer) = downcast::<TraceWriter>(recorder) {
                writer.finish()?;
            }
        }
    }
    if let Some(path) = &options.profile {
        Profile::of(info, profilers).save(path)?;
    }
    if let Some((file, path)) = timeline.zip(options.timeline.as_deref()) {
        let timeline = Timeline::of(timelines, info, mode)?;
        let mut out = BufWriter::new(file);
        let written = write_chrome_trace(&mut out, &[(mode_name(mode), &timeline)]);
        written.and_then(|()| out.flush()).map_err(|error| not_written(path, &error))?;
    }
    Ok(())
}

fn downcast<T: Recorder>(recorder: Box<dyn Recorder>) -> Option<T> {
    let any: Box<dyn Any> = recorder;
    any.downcast::<T>().ok().map(|recorder| *recorder)
}

/// The load of the whole system in cores of this machine, for crunches up to `n`.
#[must_use]
pub fn total_utilization(n: u64) -> f64 {
    total_crunches_per_second() * estimate_ns(n) as f64 * 1e-9
}
