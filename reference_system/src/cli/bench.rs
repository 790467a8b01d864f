//! `reference-system compare`, and the default command.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use reference_system::compare::{CompareOptions, Comparison, Step, compare as measure_cells};
use reference_system::kpi::Collector;
use reference_system::run::{RunOptions, RunReport, mode_name, run};
use reference_system::system::Work;
use reference_system::table;
use ringspin_modes::{Executor, Mode, allowed_cores};

use super::CompareArguments;
use super::output::{self, Output};
use super::progress::StepBar;

/// A note on multi-core figures from a single core.
pub(super) const ONE_CORE: &str = "this process may use only one core: multi runs on it, so its \
    figures show the cost of its threads, not of parallelism";

/// Seconds below which a turn has hardly any counted samples.
const SHORTEST_S: f64 = 1.5;

/// The number of cores kept busy by other programs above which a remark is printed.
const NOTABLE_CORES: f64 = 0.1;

/// The simulated time of the two deterministic runs of [`tour`].
const TOUR_SIMULATED: Duration = Duration::from_secs(60);

/// The crunch limit of these runs.
const TOUR_N: u64 = 64;

pub(super) fn compare(arguments: CompareArguments, verbose: bool, quiet: bool) -> Result<()> {
    let CompareArguments { modes, n, duration, turns, json } = arguments;
    let json = json.as_deref().map(|path: &Path| Output::create(path, true)).transpose()?;
    let options =
        CompareOptions { modes: distinct(modes), crunch_limits: n, duration, turns: turns.into() };
    let comparison = measure(&options, quiet, Duration::ZERO)?;
    let shown = !json.as_ref().is_some_and(Output::is_stdout);
    if let Some(output) = json {
        output.write_json(&comparison)?;
    }
    if shown {
        output::print(&text(&comparison, options.turns, verbose))?;
    }
    one_digest(&comparison.digests())
}

/// The default command: the comparison, then two deterministic runs with their digests.
pub(super) fn tour(quiet: bool) -> Result<()> {
    let modes = ["single", "multi", "deterministic"].map(str::parse);
    let options = CompareOptions {
        modes: modes.into_iter().collect::<Result<_, _>>()?,
        crunch_limits: vec![64, 1024, 4096],
        duration: Duration::from_secs(3),
        turns: 3,
    };
    let comparison = measure(&options, quiet, Duration::from_secs(1))?;
    output::print(&text(&comparison, options.turns, false))?;
    one_digest(&comparison.digests())?;
    if comparison.interrupted {
        return Ok(());
    }
    let first = simulate()?;
    let (simulated_s, dispatched) = (TOUR_SIMULATED.as_secs(), first.dispatched);
    output::print(&format!(
        "\nThe deterministic mode, twice: {simulated_s} simulated s at N = {TOUR_N}, \
         {dispatched} dispatches in order.\n{}",
        digest_line(&first)
    ))?;
    let second = simulate()?;
    output::print(&digest_line(&second))?;
    let digests: Vec<&str> = [&first, &second].iter().filter_map(|r| r.digest.as_deref()).collect();
    if first.interrupted || second.interrupted {
        return output::print("interrupted: not compared\n");
    }
    one_digest(&digests)?;
    output::print("equal\n")
}

fn simulate() -> Result<RunReport> {
    let (mode, work) = ("deterministic".parse()?, Work::crunching(TOUR_N));
    let options =
        RunOptions { stop_on_ctrl_c: true, ..RunOptions::new(mode, work, TOUR_SIMULATED) };
    run(&options, &Arc::new(Collector::new())).map_err(anyhow::Error::from_boxed)
}

fn digest_line(report: &RunReport) -> String {
    format!("digest: {}\n", report.digest.as_deref().unwrap_or("none"))
}

/// Fails if the digests differ.
fn one_digest(digests: &[&str]) -> Result<()> {
    match digests.iter().find(|digest| **digest != digests[0]) {
        None => Ok(()),
        Some(other) => bail!(
            "the digests {} and {other} differ: the deterministic mode is broken on this machine. \
             Find the first dispatch that differs in the --trace files of two runs, and report it",
            digests[0]
        ),
    }
}

/// Runs the comparison with a progress bar. `later` is added to the announced time.
fn measure(options: &CompareOptions, quiet: bool, later: Duration) -> Result<Comparison> {
    note_debug_build();
    if allowed_cores().len() == 1 && options.modes.iter().any(|m| matches!(m, Mode::MultiCore(_))) {
        eprintln!("note: {ONE_CORE}");
    }
    let listener = listen_for_ctrl_c()?;
    let interrupted = listener.stop_handle();
    let bar = StepBar::new(quiet);
    measure_cells(options, |step| {
        if step.index == 0 {
            eprintln!("{}\n", announcement(options, step, later));
        }
        bar.show(step);
        if interrupted.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .map_err(anyhow::Error::from_boxed)
}

/// An executor that Ctrl-C stops while it exists. A run in progress handles Ctrl-C itself; this one
/// is checked between runs.
pub(super) fn listen_for_ctrl_c() -> Result<Executor> {
    let mut executor = Executor::single_core();
    executor.stop_on_ctrl_c()?;
    Ok(executor)
}

fn announcement(options: &CompareOptions, step: &Step, later: Duration) -> String {
    let modes: Vec<_> = options.modes.iter().map(mode_name).collect();
    let limits: Vec<_> = options.crunch_limits.iter().map(u64::to_string).collect();
    format!(
        "The Autoware reference system in modes {} at N = {}, {} x {:?} each: about {} s.",
        modes.join(", "),
        limits.join(", "),
        options.turns,
        options.duration,
        (step.remaining + later).as_secs_f64().ceil()
    )
}

fn text(comparison: &Comparison, turns: usize, verbose: bool) -> String {
    let mut text = format!(
        "{}, {}; turns of {} s, {turns} per cell, interleaved; timers in phase{}\n",
        comparison.processor,
        cores(comparison.cores),
        comparison.duration_s,
        if comparison.interrupted { ";\ninterrupted: completed turns only" } else { "" }
    );
    let beside = table::render_beside_published(&comparison.cells);
    let tables = [
        (!comparison.cells.is_empty()).then(|| table::render(&comparison.cells)),
        (!comparison.simulations.is_empty())
            .then(|| table::render_simulations(&comparison.simulations)),
        (!beside.is_empty()).then_some(beside),
    ];
    for (index, table) in tables.into_iter().flatten().enumerate() {
        let _ = write!(text, "\n{table}");
        if index == 0 {
            text += &remarks(comparison);
        }
    }
    for cell in comparison.cells.iter().filter(|_| verbose) {
        if let Some(mapping) = &cell.mapping {
            let _ = write!(text, "\n# mapping at N = {}\n{}", cell.n, mapping.to_toml_string());
        }
    }
    text
}

/// A line for each overloaded cell, for short turns, and for other programs.
fn remarks(comparison: &Comparison) -> String {
    let mut text = String::new();
    if let Some(busy) = comparison.other_busy_cores.filter(|busy| *busy >= NOTABLE_CORES) {
        let _ = writeln!(
            text,
            "Other programs kept {busy:.1} cores busy, which raises maxima and deviations."
        );
    }
    let without_samples = comparison.cells.iter().any(|cell| cell.kpis.samples == 0);
    if without_samples && comparison.duration_s < SHORTEST_S {
        let _ = writeln!(
            text,
            "The first 10 hot-path samples of a turn, at 10 Hz, are start-up: turns of {} s\n\
             are too short. Use --duration 2s or more.",
            comparison.duration_s
        );
    }
    for cell in &comparison.cells {
        let cores = cell.mapping.as_ref().map_or(1, |_| comparison.cores);
        let load = comparison.calibrations.iter().find(|c| c.n == cell.n).map(|c| c.load_cores());
        if let Some(load) = load.filter(|load| *load > cores as f64) {
            let _ = writeln!(
                text,
                "Overloaded: N = {} needs {load:.1} cores and {} has {cores}:\n\
                 {} messages overwritten, {} timer periods missed.",
                cell.n, cell.mode, cell.overwritten, cell.missed_periods
            );
        }
    }
    text
}

fn cores(count: usize) -> String {
    if count == 1 { "1 core".into() } else { format!("{count} cores") }
}

pub(super) fn distinct(modes: Vec<Mode>) -> Vec<Mode> {
    let mut distinct = Vec::new();
    for mode in modes {
        if !distinct.contains(&mode) {
            distinct.push(mode);
        }
    }
    distinct
}

/// Warns that the figures of a debug build are meaningless.
pub(super) fn note_debug_build() {
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build: its times mean nothing, use cargo run --release");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_digests_fail_and_both_are_shown() {
        assert!(one_digest(&[]).is_ok());
        assert!(one_digest(&["a", "a"]).is_ok());
        let error = one_digest(&["aaa", "aaa", "bbb"]).unwrap_err().to_string();
        assert!(error.contains("aaa") && error.contains("bbb"), "{error}");
    }
}
