//! `reference-system run`: one run and its summary.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use reference_system::crunch::{calibrate_within, estimate_ns};
use reference_system::description::AUTOWARE;
use reference_system::kpi::Collector;
use reference_system::run::{
    RunOptions, RunReport, mode_name, run as run_system, total_utilization,
};
use reference_system::system::Work;
use reference_system::table::{self, Beside};
use ringspin_bench::System;
use ringspin_bench::results::{Cell, Results, Turn};
use ringspin_modes::mapping::LoopName;
use ringspin_modes::{Cores, Mapping, Mode, Simulation, allowed_cores};
use ringspin_simulation::job_file::JobFile;

use super::output::{self, Output};
use super::progress::Bar;
use super::{RunArguments, bench};

/// The time budget to calibrate the floor; without a floor if three crunches take longer.
const FLOOR_BUDGET: Duration = Duration::from_millis(60);

pub(super) fn run(arguments: RunArguments, verbose: bool, quiet: bool) -> Result<()> {
    let json = arguments.json.as_deref().map(|path| Output::create(path, true)).transpose()?;
    let nodes = arguments.only_core.map(|core| nodes_of(core, &arguments)).transpose()?;
    let mode = match Mode::replay_from_env()?.unwrap_or_else(|| arguments.mode.clone()) {
        Mode::MultiCore(None) if nodes.is_none() => {
            Mode::MultiCore(arguments.mapping.map(Mapping::load).transpose()?)
        }
        Mode::Deterministic(_) => Mode::Deterministic(Box::new(simulation(&arguments)?)),
        mode @ (Mode::SingleCore | Mode::MultiCore(_) | Mode::Replay(_)) => mode,
    };
    let n = arguments.n;
    let (crunch, sleep_max) = (!arguments.no_work, arguments.sleep_max);
    let work = Work { n, crunch, sleep_max };
    note_conditions(&mode, &work);
    let (collector, crunch_ns) = (Arc::default(), crunch_ns(&mode, &work));
    let options = RunOptions {
        mode,
        work,
        nodes,
        duration: arguments.duration,
        middleware: arguments.middleware,
        trace: arguments.trace,
        profile: arguments.profile,
        timeline: arguments.timeline,
        stop_on_ctrl_c: true,
    };
    let report = measure(&options, &collector, quiet)?;
    let summarized = !json.as_ref().is_some_and(Output::is_stdout);
    if let Some(output) = json {
        output.write_json(&report)?;
    }
    if summarized {
        output::print(&summary(&report, crunch_ns, verbose))?;
    }
    Ok(())
}

/// The nodes that the mapping assigns to `core`, each with all of its callback groups.
fn nodes_of(core: usize, arguments: &RunArguments) -> Result<Vec<&'static str>> {
    let Some(path) = &arguments.mapping else { return Ok(Vec::new()) };
    let mapping = Mapping::load(path)?;
    let names: Vec<_> = AUTOWARE.iter().map(|node| format!("/{}", node.name)).collect();
    let loops: Vec<_> = names.iter().map(|node| LoopName { node, group: "" }).collect();
    let ids = mapping.cores.iter().map(|entry| entry.id).chain(mapping.default_core);
    let plans = mapping.resolve(&loops, &ids.collect::<Vec<_>>())?;
    let plans = plans.iter().filter(|plan| plan.core == core);
    let nodes: Vec<_> =
        plans.flat_map(|plan| &plan.loops).map(|index| AUTOWARE[*index].name).collect();
    ensure!(
        !nodes.is_empty(),
        "--only-core {core}: {} assigns no node to this core",
        path.display()
    );
    Ok(nodes)
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

fn measure(options: &RunOptions, collector: &Arc<Collector>, quiet: bool) -> Result<RunReport> {
    let simulated = matches!(options.mode, Mode::Deterministic(_));
    let label = format!("{}, N = {}", mode_name(&options.mode), options.work.n);
    // The real time of a simulated run is unknown, so it has no bar.
    let bar = Bar::timed(quiet || simulated, &label, options.duration);
    let report = run_system(options, collector);
    drop(bar);
    report.map_err(anyhow::Error::from_boxed)
}

/// Prints notes and warnings about the conditions of the run to stderr.
fn note_conditions(mode: &Mode, work: &Work) {
    let cores = match mode {
        Mode::Deterministic(_) => return,
        Mode::SingleCore | Mode::Replay(_) => 1,
        Mode::MultiCore(None) => allowed_cores().len(),
        Mode::MultiCore(Some(mapping)) => cores_of(mapping),
    };
    bench::note_debug_build();
    if matches!(mode, Mode::MultiCore(_)) && cores == 1 {
        eprintln!("note: {}", bench::ONE_CORE);
    }
    let load = if work.crunch { total_utilization(work.n) } else { 0.0 };
    if load > cores as f64 {
        eprintln!(
            "warning: overloaded: N = {} needs {load:.1} cores and {} has {cores}: expect drops",
            work.n,
            mode_name(mode)
        );
    }
}

fn cores_of(mapping: &Mapping) -> usize {
    let mut cores: Vec<usize> = mapping.cores.iter().map(|core| core.id).collect();
    cores.extend(mapping.default_core);
    cores.sort_unstable();
    cores.dedup();
    cores.len()
}

/// The crunch of a live run; 0 without crunches, or if a crunch is too long to calibrate.
fn crunch_ns(mode: &Mode, work: &Work) -> u64 {
    let is_live = !matches!(mode, Mode::Deterministic(_));
    let is_short = || u128::from(3 * estimate_ns(work.n)) < FLOOR_BUDGET.as_nanos();
    let calibration =
        (is_live && work.crunch && is_short()).then(|| calibrate_within(work.n, FLOOR_BUDGET));
    calibration.map_or(0, |calibration| calibration.min_ns)
}

fn summary(report: &RunReport, crunch_ns: u64, verbose: bool) -> String {
    let mut text = format!("{}, N = {}, {:.3} s", report.mode, report.n, report.node_s);
    text += match report.middleware {
        "ros2" => ", every hop through ROS 2",
        "hybrid" => ", connected with ROS 2",
        _ => "",
    };
    text += if !report.crunch { ", without work" } else { "" };
    text += if report.interrupted { ", interrupted: figures so far" } else { "" };
    text += "\n\n";
    let all = [(String::new(), results_of(report, crunch_ns))];
    text += &table::render_results(&all, Beside::Rclcpp);
    let kpis = &report.kpis;
    let _ = write!(
        text,
        "\nhot path   {} samples after {} of warm-up\nevents     {} dispatched\n",
        kpis.samples, kpis.warm_up_samples, report.turn.dispatched
    );
    for decision in &report.decisions {
        let _ = writeln!(text, "mapping    {decision}");
    }
    if let (true, Some(mapping)) = (verbose, &report.mapping) {
        let _ = write!(text, "\n# mapping\n{}", mapping.to_toml_string());
    }
    if let Some(digest) = &report.turn.digest {
        let (node_s, wall_s) = (report.node_s, report.turn.wall_s);
        let speed = node_s / wall_s;
        let _ = writeln!(
            text,
            "simulated  {node_s:.3} s in {wall_s:.3} s: {speed:.1} simulated seconds per second\n\
             digest: {digest}"
        );
    }
    text
}

/// The run as results of one turn. A simulation without durations has no latencies: no simulated
/// time passes on the hot path.
fn results_of(report: &RunReport, crunch_ns: u64) -> Results {
    let mut turn = Turn { digest: None, ..report.turn.clone() };
    if report.turn.digest.is_some() && report.kpis.release_to_end.max_ns == 0 {
        turn.latencies.clear();
    }
    let (name, turns) = (report.mode.to_owned(), vec![turn]);
    let cell = Cell { name, n: Some(report.n), crunch_ns, turns, ..Cell::default() };
    let (machine, turn_s) = (System::default().machine(), report.node_s);
    Results { machine, turn_s, cells: vec![cell], ..Results::default() }
}
