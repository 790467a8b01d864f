//! `reference-system run`: one run and its summary.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use reference_system::bench::Cell;
use reference_system::crunch::{Calibration, DEFAULT_CRUNCH_LIMIT, calibrate_within, estimate_ns};
use reference_system::description::Workload;
use reference_system::kpi::{Collector, KEPT_SAMPLES};
use reference_system::run::{
    Recorded, RecordersFactory, RunOptions, RunReport, mode_name, run_recorded,
    total_utilization_of,
};
use reference_system::system::Work;
use reference_system::table;
use ringspin_executor::Recorder;
use ringspin_modes::{Cores, Mapping, Mode, Simulation, allowed_cores};
use ringspin_report::{Summary, format_ms};
use ringspin_simulation::job_file::JobFile;
use ringspin_simulation::timeline::{
    DEFAULT_CAPACITY, Timeline, TimelineRecorder, write_chrome_trace,
};

use super::output::{self, Output};
use super::progress::TimeBar;
use super::{RunArguments, bench};

/// The time budget to calibrate the floor; without a floor if three crunches take longer.
const FLOOR_BUDGET: Duration = Duration::from_millis(60);

pub(super) fn run(arguments: RunArguments, verbose: bool, quiet: bool) -> Result<()> {
    let json = arguments.json.as_deref().map(|path| Output::create(path, true)).transpose()?;
    let samples = arguments.samples.as_deref().map(|p| Output::create(p, false)).transpose()?;
    let mode = match arguments.mode {
        Mode::MultiCore(None) => Mode::MultiCore(arguments.mapping.map(Mapping::load).transpose()?),
        Mode::Deterministic(_) => Mode::Deterministic(Box::new(simulation(&arguments)?)),
        Mode::SingleCore | Mode::MultiCore(Some(_)) => arguments.mode,
    };
    let workload = Workload::from(arguments.workload);
    let n = arguments.n.unwrap_or(DEFAULT_CRUNCH_LIMIT);
    let (crunch, sleep_max) = (!arguments.no_work, arguments.sleep_max);
    let work = Work { n, crunch, sleep_max };
    note_conditions(&mode, workload, &work);
    let collector = match &samples {
        Some(_) => Collector::new().keeping_samples(),
        None => Collector::new(),
    };
    let (collector, floor_ns) = (Arc::new(collector), floor_ns(&mode, workload, &work));
    let timeline = arguments.timeline.as_deref().map(|p| Output::create(p, false)).transpose()?;
    let (trace, duration) = (arguments.trace, arguments.duration);
    let profile = arguments.profile;
    let (middleware, stop_on_ctrl_c) = (arguments.middleware, true);
    let options = RunOptions { mode, work, duration, middleware, trace, profile, stop_on_ctrl_c };
    let Recorded { report, recorders, info, mode } =
        measure(workload, &options, &collector, timeline.is_some(), quiet)?;
    if let Some(output) = timeline {
        let name = label(workload, &options);
        write_timeline(output, &Timeline::of(recorders, &info, &mode)?, &name)?;
    }
    if let Some(output) = samples {
        let paths = collector.samples();
        if paths.len() == KEPT_SAMPLES {
            eprintln!("note: --samples has only the first {KEPT_SAMPLES} samples");
        }
        output.write_lines(&paths)?;
    }
    let summarized = !json.as_ref().is_some_and(Output::is_stdout);
    if let Some(output) = json {
        output.write_json(&report)?;
    }
    if summarized {
        output::print(&summary(&report, floor_ns, verbose))?;
    }
    Ok(())
}

/// The simulation of a deterministic run.
fn simulation(arguments: &RunArguments) -> Result<Simulation> {
    let file = arguments.simulation.as_ref().map(JobFile::load).transpose()?;
    let mut simulation = file.map(JobFile::into_simulation).transpose()?.unwrap_or_default();
    if let Some(path) = &arguments.mapping {
        ensure!(
            simulation.cores == Cores::Unlimited,
            "--simulation has `cores` already: take them out of the file, or leave --mapping out"
        );
        simulation.cores = Cores::Mapped(Mapping::load(path)?);
    }
    Ok(simulation)
}

fn measure(
    workload: Workload,
    options: &RunOptions,
    collector: &Arc<Collector>,
    timeline: bool,
    quiet: bool,
) -> Result<Recorded> {
    let simulated = matches!(options.mode, Mode::Deterministic(_));
    // The real time of a simulated run is unknown, so it has no bar.
    let label = label(workload, options);
    let bar = TimeBar::start(quiet || simulated, &label, options.duration);
    let recorder = || Box::new(TimelineRecorder::new(DEFAULT_CAPACITY)) as Box<dyn Recorder>;
    let factory: RecordersFactory = Box::new(move |_, _| vec![recorder()]);
    let recorded = run_recorded(workload, options, collector, timeline.then_some(factory));
    drop(bar);
    recorded.map_err(anyhow::Error::from_boxed)
}

fn label(workload: Workload, options: &RunOptions) -> String {
    format!("{}, {}", mode_name(&options.mode), load_name(workload, options.work.n))
}

fn write_timeline(output: Output, timeline: &Timeline, name: &str) -> Result<()> {
    if timeline.displaced() > 0 {
        eprintln!(
            "note: --timeline has the last {} calls; {} earlier ones were discarded",
            timeline.spans().len(),
            timeline.displaced()
        );
    }
    output.write_with(|out| write_chrome_trace(out, &[(name, timeline)]))
}

/// Prints notes and warnings about the conditions of the run to stderr.
fn note_conditions(mode: &Mode, workload: Workload, work: &Work) {
    let cores = match mode {
        Mode::Deterministic(_) => return,
        Mode::SingleCore => 1,
        Mode::MultiCore(None) => allowed_cores().len(),
        Mode::MultiCore(Some(mapping)) => cores_of(mapping),
    };
    bench::note_debug_build();
    if matches!(mode, Mode::MultiCore(_)) && cores == 1 {
        eprintln!("note: {}", bench::ONE_CORE);
    }
    let load = if work.crunch { total_utilization_of(workload, work.n) } else { 0.0 };
    if load > cores as f64 {
        eprintln!(
            "warning: overloaded: {} needs {load:.1} cores and {} has {cores}: expect drops",
            load_name(workload, work.n),
            mode_name(mode)
        );
    }
}

/// A short name for the costs of callbacks.
fn load_name(workload: Workload, n: u64) -> String {
    match workload {
        Workload::Autoware => format!("N = {n}"),
        Workload::Lame => "LaME".into(),
    }
}

fn cores_of(mapping: &Mapping) -> usize {
    let mut cores: Vec<usize> = mapping.cores.iter().map(|core| core.id).collect();
    cores.extend(mapping.default_core);
    cores.sort_unstable();
    cores.dedup();
    cores.len()
}

/// The floor of a live run; 0 without crunches, or if a crunch is too long to calibrate.
fn floor_ns(mode: &Mode, workload: Workload, work: &Work) -> u64 {
    let is_live = !matches!(mode, Mode::Deterministic(_)) && workload == Workload::Autoware;
    let is_short = || u128::from(3 * estimate_ns(work.n)) < FLOOR_BUDGET.as_nanos();
    let calibration =
        (is_live && work.crunch && is_short()).then(|| calibrate_within(work.n, FLOOR_BUDGET));
    calibration.as_ref().map_or(0, Calibration::floor_ns)
}

fn summary(report: &RunReport, floor_ns: u64, verbose: bool) -> String {
    let is_lame = !report.chains.is_empty();
    let workload = if is_lame { Workload::Lame } else { Workload::Autoware };
    let load = load_name(workload, report.n);
    let mut text = format!("{}, {load}, {:.3} s", report.mode, report.node_s);
    text += match report.middleware {
        "ros2" => ", every hop through ROS 2",
        "hybrid" => ", connected with ROS 2",
        _ => "",
    };
    // Simulated costs of LaME take time, but no work.
    let is_idle = !report.crunch && (!is_lame || report.digest.is_none());
    text += if is_idle { ", without work" } else { "" };
    text += if report.interrupted { ", interrupted: figures so far" } else { "" };
    text += "\n\n";
    if is_lame {
        text += &table::render_chains(&report.chains);
        text += "\n";
    }
    // Without durations, the hot path takes no simulated time, and its table would be all zeros.
    let has_hot_path = report.digest.is_none() || report.kpis.release_to_end.max_ns > 0;
    if !is_lame && has_hot_path {
        text += &table::render(&[Cell::of_run(report, floor_ns)]);
        text += "\n";
    }
    text += &figures(report);
    if let (true, Some(mapping)) = (verbose, &report.mapping) {
        let _ = write!(text, "\n# mapping\n{}", mapping.to_toml_string());
    }
    if let (Some(digest), Some(speed)) = (&report.digest, report.simulated_s_per_wall_s) {
        let (node_s, wall_s) = (report.node_s, report.wall_s);
        let _ = writeln!(
            text,
            "simulated  {node_s:.3} s in {wall_s:.3} s: {speed:.1} simulated seconds per second\n\
             digest: {digest}"
        );
    }
    text
}

/// The figures outside the tables, one line per kind.
fn figures(report: &RunReport) -> String {
    let kpis = &report.kpis;
    let latency = match report.digest {
        Some(_) if kpis.release_to_end.max_ns == 0 => "; no simulated time passes on it: 0 ms",
        _ => "",
    };
    format!(
        "hot path   {} samples after {} of warm-up, {} drops{latency}\n\
         planner    {}\n\
         events     {} dispatched; {} messages overwritten, {} timer periods missed\n\
         process    CPU {:.1} % of a core, {:.1} MiB resident\n",
        kpis.samples,
        kpis.warm_up_samples,
        kpis.hot_path_drops,
        planner(&kpis.planner_period),
        report.dispatched,
        report.overwritten,
        report.missed_periods,
        report.cpu_percent,
        report.rss_bytes as f64 / (1024.0 * 1024.0)
    )
}

fn planner(period: &Summary) -> String {
    if period.is_empty() {
        return "no period: fewer than two calls".into();
    }
    format!(
        "{} periods, avg {} ms, min {} ms, max {} ms, std {} ms",
        period.count,
        format_ms(period.mean_ns),
        format_ms(period.min_ns as f64),
        format_ms(period.max_ns as f64),
        format_ms(period.std_ns)
    )
}
