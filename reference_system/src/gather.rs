//! Runs the measurements of a report: each live mode at each N, each followed by its deterministic
//! twin with the measured durations.
//!
//! Live runs never overlap. Latencies, durations and, at the largest N, the timeline are recorded
//! in the same run, so that charts and timelines show the same calls.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringspin_bench::System;
use ringspin_bench::process::OthersMeter;
use ringspin_executor::{BoxError, GraphInfo, LoopId, LoopInfo, Recorder, Table};
use ringspin_modes::mapping::loop_names;
use ringspin_modes::{Cores, Mapping, Mode, Simulation, allowed_cores};
use ringspin_report::{
    GraphData, GraphEdge, GraphLoop, HotPath, Latencies, Mark, Measured, Origin, ReportData,
    TimelineSection, Twin, format_ms,
};
use ringspin_simulation::models::{Durations, Profile, Profiler};
use ringspin_simulation::timeline::{DEFAULT_CAPACITY, Timeline, TimelineRecorder};

use crate::crunch::{Calibration, calibrate_within};
use crate::description::{COLLISION_ESTIMATOR, HOT_PATH, Workload};
use crate::kpi::{Collector, SamplePath};
use crate::run::{Recorded, RecordersFactory, RunOptions, mode_name, run_recorded};
use crate::system::Work;

/// The time budget of one calibration.
const CALIBRATION_BUDGET: Duration = Duration::from_millis(60);

/// The shortest and the longest excerpt of a timeline.
const PART_NS: std::ops::RangeInclusive<u64> = 200_000_000..=1_500_000_000;

/// The part of an excerpt before the slowest sample.
const LEAD_NS: u64 = 20_000_000;

/// The measurements of a report.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// The live modes. Multi-core without a mapping uses a tuned one for each N.
    pub modes: Vec<Mode>,
    /// The crunch limits.
    pub crunch_limits: Vec<u64>,
    /// The duration of each live run.
    pub duration: Duration,
    /// The simulated time of each twin.
    pub simulated: Duration,
    /// The command line that reproduces the report.
    pub command: String,
}

/// A run that is about to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of live runs so far.
    pub index: usize,
    /// The total number of live runs.
    pub total: usize,
    /// The mode's name.
    pub mode: &'static str,
    /// The crunch limit.
    pub n: u64,
    /// The approximate duration of this and all later steps.
    pub remaining: Duration,
}

/// The gathered data.
#[derive(Default)]
pub struct Gathered {
    /// The content of the page.
    pub data: ReportData,
    /// The named timelines of the runs at the largest N, with the length of a live run.
    pub timelines: Vec<(String, Timeline)>,
    /// Whether it ended before its last run.
    pub interrupted: bool,
    /// The number of values that were not recorded because their storage was full.
    not_recorded: u64,
}

/// Runs each mode at each N, followed by its twin. Calls `before_step` before each live run; it may
/// end the measurements, and completed runs count.
///
/// # Errors
/// The error of a failed run; see [`run()`](crate::run::run()).
pub fn gather(
    options: &ReportOptions,
    mut before_step: impl FnMut(&Step) -> ControlFlow<()>,
) -> Result<Gathered, BoxError> {
    let mut limits = options.crunch_limits.clone();
    limits.sort_unstable();
    limits.dedup();
    let (others, wall) = (OthersMeter::start(), Instant::now());
    let total = limits.len() * options.modes.len();
    let mut gathered = Gathered::default();
    'all: for (row, n) in limits.iter().enumerate() {
        let calibration = calibrate_within(*n, CALIBRATION_BUDGET);
        for (column, mode) in options.modes.iter().enumerate() {
            let index = row * options.modes.len() + column;
            let remaining = options.duration * u32::try_from(total - index).unwrap_or(u32::MAX);
            let step = Step { index, total, mode: mode_name(mode), n: *n, remaining };
            let keeps = row + 1 == limits.len();
            if before_step(&step).is_break() || !gathered.run(options, mode, &calibration, keeps)? {
                gathered.interrupted = true;
                break 'all;
            }
        }
    }
    let busy = others.and_then(|others| others.busy_cores(wall.elapsed()));
    gathered.data.origin = origin(options, &gathered, busy);
    Ok(gathered)
}

impl Gathered {
    /// Runs one mode at one N, followed by its twin; returns `false` if interrupted, without a
    /// result. `keeps` keeps its timeline and its graph.
    fn run(
        &mut self,
        options: &ReportOptions,
        mode: &Mode,
        calibration: &Calibration,
        keeps: bool,
    ) -> Result<bool, BoxError> {
        let n = calibration.n;
        let mut live = once(mode.clone(), Work::crunching(n), options.duration, keeps)?;
        if live.recorded.report.interrupted {
            return Ok(false);
        }
        let profile = live.take_profile();
        let twin_mode = twin_mode(&live.recorded.mode, &profile);
        let work = Work { crunch: false, ..Work::crunching(n) };
        let twin = once(twin_mode, work, options.simulated, keeps)?;
        if twin.recorded.report.interrupted {
            return Ok(false);
        }
        if keeps {
            let name = format!("{}, N = {n}", mode_name(mode));
            self.keep_timeline(&live, name.clone(), options.duration);
            let name = format!("{name}: the deterministic twin");
            self.keep_timeline(&twin, name, options.duration);
            self.keep_graph(&live, &profile)?;
        }
        self.not_recorded += live.recorded.report.kpis.not_recorded;
        self.data.measured.push(live.measured(calibration));
        self.data.twins.push(twin.twin(mode_name(mode)));
        Ok(true)
    }

    /// Keeps a timeline. A twin runs longer than its live run, so it is cut to the same length.
    fn keep_timeline(&mut self, run: &Run, title: String, most: Duration) {
        if let Some(timeline) = run.timeline.clone() {
            self.data.timelines.extend(slowest_part(&timeline, &run.samples, &title));
            let most_ns = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
            self.timelines.push((title, timeline.between(0, most_ns)));
        }
    }

    /// Keeps the graph of the run with the most cores so far.
    fn keep_graph(&mut self, run: &Run, profile: &Profile) -> Result<(), BoxError> {
        let (mode, report) = (&run.recorded.mode, &run.recorded.report);
        let mapping = match mode {
            Mode::MultiCore(Some(mapping)) => Some(mapping),
            _ if self.data.graph.is_some() => return Ok(()),
            _ => None,
        };
        let mut graph = graph_of(&run.recorded.info, mapping, profile, report.node_s, is_hot)?;
        graph.title = match mapping {
            Some(_) => format!(
                "The mapping of the multi-core mode at N = {}, and the utilization of each event \
                 loop.",
                report.n
            ),
            None => format!("The utilization of each event loop at N = {}.", report.n),
        };
        self.data.graph = Some(graph);
        Ok(())
    }
}

/// A run with its recordings.
struct Run {
    recorded: Recorded,
    hot_path: HotPath,
    samples: Vec<SamplePath>,
    timeline: Option<Timeline>,
}

fn once(mode: Mode, work: Work, duration: Duration, keeps: bool) -> Result<Run, BoxError> {
    let collector = Arc::new(Collector::new().keeping_samples());
    let options = RunOptions { stop_on_ctrl_c: true, ..RunOptions::new(mode, work, duration) };
    let factory: RecordersFactory = Box::new(move |info, _| {
        let mut recorders: Vec<Box<dyn Recorder>> = vec![Box::new(Profiler::new(info))];
        if keeps {
            recorders.push(Box::new(TimelineRecorder::new(DEFAULT_CAPACITY)));
        }
        recorders
    });
    let mut recorded = run_recorded(Workload::Autoware, &options, &collector, Some(factory))?;
    let (timelines, profilers): (Vec<_>, Vec<_>) =
        std::mem::take(&mut recorded.recorders).into_iter().partition(|recorder| {
            let any: &dyn Any = &**recorder;
            any.is::<TimelineRecorder>()
        });
    recorded.recorders = profilers;
    let timeline = keeps.then(|| Timeline::of(timelines, &recorded.info, &recorded.mode));
    let [release_to_end, sample_to_start] = collector.hot_path_ns().map(Latencies::of);
    let hot_path = HotPath { sample_to_start, release_to_end };
    Ok(Run { recorded, hot_path, samples: collector.samples(), timeline: timeline.transpose()? })
}

impl Run {
    /// The profile of the run. Takes the recorders.
    fn take_profile(&mut self) -> Profile {
        let Recorded { info, recorders, .. } = &mut self.recorded;
        Profile::of(info, std::mem::take(recorders))
    }

    fn measured(&self, calibration: &Calibration) -> Measured {
        let report = &self.recorded.report;
        Measured {
            n: report.n,
            mode: report.mode.to_owned(),
            crunch_ns: calibration.min_ns,
            hot_path: self.hot_path.clone(),
            hot_path_drops: report.kpis.hot_path_drops,
            planner_std_ns: report.kpis.planner_period.std_ns,
            cpu_percent: report.cpu_percent,
            rss_bytes: report.rss_bytes,
            overwritten: report.overwritten,
            missed_periods: report.missed_periods,
        }
    }

    fn twin(&self, mode: &str) -> Twin {
        let report = &self.recorded.report;
        Twin {
            n: report.n,
            mode: mode.to_owned(),
            simulated_s: report.node_s,
            wall_s: report.wall_s,
            digest: report.digest.clone().unwrap_or_default(),
            hot_path: self.hot_path.clone(),
        }
    }
}

/// The deterministic mode with the same cores, and the durations of `profile`.
fn twin_mode(live: &Mode, profile: &Profile) -> Mode {
    let cores = match live {
        Mode::MultiCore(Some(mapping)) => Cores::Mapped(mapping.clone()),
        Mode::SingleCore | Mode::MultiCore(None) | Mode::Deterministic(_) => Cores::Single,
    };
    let durations = Durations::from_profile(profile).into();
    Mode::Deterministic(Box::new(Simulation { cores, durations, ..Simulation::default() }))
}

/// The excerpt of a timeline around its slowest counted sample.
fn slowest_part(
    timeline: &Timeline,
    samples: &[SamplePath],
    title: &str,
) -> Option<TimelineSection> {
    let first_ns = timeline.origin_ns() + timeline.spans().first()?.start_ns;
    let way = |sample: &SamplePath| {
        let estimator = sample.history.iter().find(|entry| entry.node == COLLISION_ESTIMATOR)?;
        let latency_ns = sample.sample_to_start_ns.filter(|_| sample.counted)?;
        let lidar_ns = estimator.timestamp_ns.saturating_sub(latency_ns);
        Some((latency_ns, lidar_ns, sample.release_to_end_ns))
    };
    let covered = samples.iter().filter_map(way).filter(|(_, lidar_ns, _)| *lidar_ns >= first_ns);
    // Of equal samples, the first.
    let (latency_ns, lidar_ns, to_end_ns) =
        covered.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let lidar_ns = lidar_ns - timeline.origin_ns();
    let from_ns = lidar_ns.saturating_sub(LEAD_NS);
    let wanted = latency_ns.saturating_add(latency_ns / 4).saturating_add(2 * LEAD_NS);
    let to_ns = from_ns + wanted.clamp(*PART_NS.start(), *PART_NS.end());
    let to_end = to_end_ns.map_or("unknown".into(), |ns| format!("{} ms", format_ms(ns as f64)));
    let label = format!(
        "slowest hot path: sample to start {} ms (release to end {to_end})",
        format_ms(latency_ns as f64)
    );
    Some(TimelineSection {
        title: title.to_owned(),
        timeline: timeline.between(from_ns, to_ns),
        from_ns,
        to_ns,
        hot: hot_loops(),
        mark: Some(Mark { label, from_ns: lidar_ns, to_ns: lidar_ns + latency_ns }),
    })
}

/// The event loops of the hot path: each node's default group.
fn hot_loops() -> Vec<String> {
    HOT_PATH.iter().map(|name| format!("/{name}")).collect()
}

fn is_hot(event_loop: &LoopInfo) -> bool {
    event_loop.group.is_empty()
        && event_loop.node.strip_prefix('/').is_some_and(|name| HOT_PATH.contains(&name))
}

/// The graph with the core of each loop, if there is a `mapping`, and the utilization of each loop
/// in `duration_s` seconds of `profile`. Loops without callbacks are left out. An edge is hot if
/// both of its loops are.
///
/// # Errors
/// An error if the mapping does not fit this graph.
pub fn graph_of(
    info: &GraphInfo,
    mapping: Option<&Mapping>,
    profile: &Profile,
    duration_s: f64,
    is_hot: impl Fn(&LoopInfo) -> bool,
) -> Result<GraphData, BoxError> {
    let core_of = cores_of(info, mapping)?;
    let busy_ns = |name: &str| -> u64 {
        let of_loop = profile.callbacks.iter().filter(|callback| callback.node == name);
        of_loop.map(|callback| callback.durations.total_ns).sum()
    };
    // The index of each loop among those shown.
    let mut shown = Table::new();
    let mut graph = GraphData::default();
    for (id, event_loop) in info.loops.iter().filter(|(_, l)| !l.callbacks.is_empty()) {
        shown.insert(id, graph.loops.len());
        let name = event_loop.full_name();
        let busy_s = busy_ns(&name) as f64 * 1e-9;
        graph.loops.push(GraphLoop {
            name,
            core: core_of.get(id).copied(),
            priority: event_loop.priority,
            utilization: (duration_s > 0.0).then(|| busy_s / duration_s),
            hot: is_hot(event_loop),
        });
    }
    for topic in &info.topics {
        for (publisher, _) in &topic.publishers {
            let subscribers = topic.subscriptions.iter();
            let subscribers = subscribers.map(|c| info.callbacks[*c].event_loop);
            for subscriber in subscribers {
                if let [Some(&from), Some(&to)] = [*publisher, subscriber].map(|id| shown.get(id)) {
                    let hot = graph.loops[from].hot && graph.loops[to].hot;
                    graph.edges.push(GraphEdge { from, to, topic: topic.name.clone(), hot });
                }
            }
        }
    }
    Ok(graph)
}

/// The core that a mapping assigns to each loop.
fn cores_of(info: &GraphInfo, mapping: Option<&Mapping>) -> Result<Table<LoopId, usize>, BoxError> {
    let mut core_of = Table::new();
    let Some(mapping) = mapping else { return Ok(core_of) };
    let (names, ids) = (loop_names(info), info.loops.keys().collect::<Vec<_>>());
    let named: Vec<usize> =
        mapping.cores.iter().map(|core| core.id).chain(mapping.default_core).collect();
    for plan in mapping.resolve(&names, &named)? {
        core_of.extend(plan.loops.iter().map(|index| (ids[*index], plan.core)));
    }
    Ok(core_of)
}

fn origin(options: &ReportOptions, gathered: &Gathered, other_busy_cores: Option<f64>) -> Origin {
    let mut remarks = vec![format!(
        "Each live run took {} s; its first ten samples of the hot path are not counted. Live runs \
         were recorded, which reads the clock once per call. Each twin ran for {} s of \
         simulated time.",
        options.duration.as_secs_f64(),
        options.simulated.as_secs_f64()
    )];
    if gathered.interrupted {
        remarks.push("Interrupted: completed runs only.".into());
    }
    if cfg!(debug_assertions) {
        remarks.push("A debug build: its times are meaningless.".into());
    }
    if allowed_cores().len() == 1 && options.modes.iter().any(|m| matches!(m, Mode::MultiCore(_))) {
        remarks.push("Only one core: the multi-core mode could not run in parallel.".into());
    }
    if gathered.not_recorded > 0 {
        let missing = gathered.not_recorded;
        remarks.push(format!("{missing} values are missing because their storage was full."));
    }
    Origin { other_busy_cores, ..local_origin(&options.command, remarks) }
}

/// The origin of a report made on this machine with this build.
#[must_use]
pub fn local_origin(command: &str, remarks: Vec<String>) -> Origin {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    Origin {
        command: command.into(),
        versions: vec![("ringspin".into(), env!("CARGO_PKG_VERSION").into())],
        processor: System::default().processor().unwrap_or_else(|| "an unknown processor".into()),
        cores: allowed_cores().len(),
        system: format!("{os} {arch} {}", release.trim()),
        other_busy_cores: None,
        remarks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kpi::PathEntry;
    use crate::system;
    use ringspin_executor::Graph;
    use ringspin_simulation::timeline::{Lane, Parts, Span, TimelineCallback};

    #[test]
    fn the_graph_shows_every_running_loop_on_its_mapped_core() {
        let graph = Graph::new();
        let collector = Arc::new(Collector::new());
        system::build(&graph, &Work::crunching(0), &collector).unwrap();
        let info = graph.info();
        let mapping = Mapping::new()
            .core(7, ["PointCloudFusion", "EuclideanClusterDetector:EuclideanIntersection"])
            .default_core(3);
        let shown = graph_of(&info, Some(&mapping), &Profile::default(), 1.0, is_hot).unwrap();
        // 24 nodes, one of which has two groups.
        assert_eq!((shown.loops.len(), shown.edges.len()), (25, 29));
        let on_seven = shown.loops.iter().filter(|of| of.core == Some(7));
        assert_eq!(on_seven.count(), 2);
        assert!(shown.loops.iter().all(|of| of.core.is_some()));
        assert_eq!(shown.loops.iter().filter(|of| of.hot).count(), HOT_PATH.len());
        assert_eq!(shown.edges.iter().filter(|edge| edge.hot).count(), 7);
        let unknown = Mapping::new().core(7, ["Unknown"]).default_core(3);
        let error = graph_of(&info, Some(&unknown), &Profile::default(), 1.0, is_hot);
        assert!(error.unwrap_err().to_string().contains("Unknown"));
    }

    fn sample(lidar_ms: u64, latency_ms: u64, counted: bool) -> SamplePath {
        let estimator = PathEntry {
            node: COLLISION_ESTIMATOR.into(),
            sequence_number: 0,
            timestamp_ns: (lidar_ms + latency_ms) * 1_000_000,
            dropped_samples: 0,
        };
        SamplePath {
            command_node: "VehicleDBWSystem".into(),
            arrived_ns: estimator.timestamp_ns,
            history: vec![estimator],
            sample_to_start_ns: Some(latency_ms * 1_000_000),
            release_to_end_ns: Some((latency_ms + 2) * 1_000_000),
            counted,
        }
    }

    #[test]
    fn the_excerpt_contains_the_slowest_counted_sample() {
        let span = |ms: u64| Span {
            lane: 0,
            callback: 0,
            start_ns: ms * 1_000_000,
            end_ns: (ms + 1) * 1_000_000,
            source: 0,
            sequence: ms,
        };
        let timeline = Timeline::try_from(Parts {
            origin_ns: 5_000_000_000,
            lanes: vec![Lane { name: "one core".into(), core: None }],
            callbacks: vec![TimelineCallback { event_loop: "/a".into(), name: "timer".into() }],
            spans: (100..2_000).step_by(50).map(span).collect(),
            displaced: 0,
        })
        .unwrap();
        let samples = [
            (5_050, 900, true), // before the timeline
            (5_500, 900, false),
            (5_600, 9, true),
            (6_000, 80, true), // the slowest, and one as slow, but later
            (6_200, 80, true),
            (6_400, 70, true),
        ];
        let samples = samples.map(|(lidar, latency, counted)| sample(lidar, latency, counted));
        let part = slowest_part(&timeline, &samples, "title").unwrap();
        assert_eq!((part.from_ns, part.to_ns), (980_000_000, 1_180_000_000));
        let mark = part.mark.unwrap();
        let label = "slowest hot path: sample to start 80.00 ms (release to end 82.00 ms)";
        assert_eq!(mark.label, label);
        assert_eq!((mark.from_ns, mark.to_ns), (1_000_000_000, 1_080_000_000));
        let starts: Vec<u64> = part.timeline.spans().iter().map(|span| span.sequence).collect();
        assert_eq!(starts, [1_000, 1_050, 1_100, 1_150]);
        assert!(slowest_part(&timeline, &samples[..2], "title").is_none());
        assert!(slowest_part(&Timeline::default(), &samples, "title").is_none());
    }
}
