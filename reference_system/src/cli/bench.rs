//! `reference-system bench`, and the default command.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reference_system::bench::{BenchOptions, Kind, PRIORITY, digests, measure};
use reference_system::crunch::number_cruncher;
use reference_system::description::total_crunches_per_second;
use reference_system::kpi::Collector;
use reference_system::rclcpp::peers;
use reference_system::run::{RunOptions, RunReport, run};
use reference_system::system::Work;
use reference_system::table::{self, Beside};
use ringspin_bench::process::OthersMeter;
use ringspin_bench::results::Cell;
use ringspin_bench::{Permissions, Results, Step, System, load, save, wake_ups};
use ringspin_executor::BoxError;
use ringspin_modes::{Executor, Mapping, allowed_cores};
use ringspin_report::Definition;

use super::BenchArguments;
use super::output;
use super::progress::Bar;

/// A note on multi-core figures from a single core.
pub(super) const ONE_CORE: &str = "this process may use only one core: multi runs on it, so its \
    figures show the cost of its threads, not of parallelism";

/// Seconds below which a turn has hardly any counted samples.
const SHORTEST_S: f64 = 1.5;

/// The number of cores kept busy by other programs above which a remark is printed.
const NOTABLE_CORES: f64 = 0.1;

/// The time in which the load of other programs is measured before the first turn.
const LOOK: Duration = Duration::from_millis(300);

/// The simulated time of the two deterministic runs of [`tour`].
const TOUR_SIMULATED: Duration = Duration::from_secs(60);

/// The crunch limit of these runs.
const TOUR_N: u64 = 64;

/// The size of the memory that a busy process walks through: more than most caches.
const BUSY_BYTES: usize = 16 << 20;

pub(super) fn bench(arguments: BenchArguments, verbose: bool, quiet: bool) -> Result<()> {
    let seconds = |quick, full| Duration::from_secs(if arguments.quick { quick } else { full });
    let duration = arguments.duration.unwrap_or(seconds(2, 18));
    let floor = arguments.floor.unwrap_or(seconds(2, 10));
    let mut kinds = arguments.modes;
    if arguments.realtime {
        kinds.extend([Kind::Realtime, Kind::MultiRealtime]);
    }
    kinds.extend(arguments.mapping.map(Mapping::load).transpose()?.map(Kind::Mapped));
    if let Some(folder) = arguments.rclcpp {
        let peers = peers(folder.as_deref()).map_err(anyhow::Error::from_boxed)?;
        kinds.extend(peers.into_iter().map(Kind::Rclcpp));
    }
    let turns = usize::from(arguments.turns);
    let options = BenchOptions {
        middlewares: arguments.middleware,
        rclcpp_limit: arguments.rclcpp_n,
        ..BenchOptions::new(kinds, &arguments.n, duration, turns)
    };
    let out = arguments.out.as_deref();
    let to_stdout = out.is_some_and(|path| path.as_os_str() == "-");
    let file = out.filter(|_| !to_stdout);
    let threads = arguments.load.map_or(0, |given| given.unwrap_or(allowed_cores().len()));
    let mut results = options.results(output::command_line());
    results.load_threads = threads;
    if let Some(path) = file.filter(|path| path.exists()) {
        results = continued(load(path)?, &results, path)?;
    }
    let listener = listen_for_ctrl_c()?;
    results.findings = findings(quiet);
    let keep = |results: &Results| file.map_or(Ok(()), |path| save(results, path));
    // A file that cannot be written fails before any measurement.
    keep(&results)?;
    let _busy = Busy::start(threads)?;
    if results.wake_ups.is_empty() && !floor.is_zero() {
        let stop = listener.stop_handle();
        results.wake_ups = wake_ups(&allowed_cores(), &[None, Some(PRIORITY)], floor, &stop);
    }
    let measured = measure_with(&options, &mut results, &listener, quiet, Duration::ZERO, keep);
    let checked = one_digest(&digests(&results));
    if to_stdout {
        output::print(&(serde_json::to_string_pretty(&results)? + "\n"))?;
    } else {
        let is_complete = matches!(measured, Ok(true));
        output::print(&text(results, is_complete, verbose))?;
    }
    let is_complete = measured?;
    if let (false, Some(path)) = (is_complete, file) {
        eprintln!("note: the same command continues `{}` where it ended", path.display());
    }
    checked
}

/// The results in the file at `path`, if turns of a run like `fresh` can be added.
fn continued(kept: Results, fresh: &Results, path: &Path) -> Result<Results> {
    let pairs = [
        ("another machine", kept.machine == fresh.machine),
        ("another version of this program", kept.version == fresh.version),
        ("another duration", kept.turn_s == fresh.turn_s),
        ("another load", kept.load_threads == fresh.load_threads),
        ("another program", kept.title == fresh.title),
    ];
    if let Some((what, _)) = pairs.iter().find(|(_, is_equal)| !is_equal) {
        bail!(
            "failed to continue `{}`: it was measured with {what}; give another --out, or remove \
             the file",
            path.display()
        );
    }
    Ok(kept)
}

/// Looks for disturbances, and prints them.
fn findings(quiet: bool) -> Vec<ringspin_bench::results::Finding> {
    let (others, start) = (OthersMeter::start(), Instant::now());
    std::thread::sleep(LOOK);
    let busy = others.and_then(|others| others.busy_cores(start.elapsed()));
    let findings = System::default().findings(Permissions::here(), busy);
    for finding in findings.iter().filter(|_| !quiet) {
        eprintln!("found: {}\n  fix: {}", finding.found, finding.fix);
    }
    findings
}

/// Busy processes beside a measurement; they end with this value.
struct Busy(Vec<Child>);

impl Busy {
    fn start(count: usize) -> Result<Self> {
        let mut busy = Self(Vec::new());
        for _ in 0..count {
            let program = std::env::current_exe().context("failed to find this program")?;
            let child = Command::new(program).arg("busy").stdin(Stdio::null()).spawn();
            busy.0.push(child.context("failed to start a busy process for --load")?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by the Ctrl-C that ended the measurement.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Keeps a core and the caches busy until the parent process ends.
pub(super) fn busy() -> Result<()> {
    let parent = std::os::unix::process::parent_id();
    let mut memory = vec![0u8; BUSY_BYTES];
    while std::os::unix::process::parent_id() == parent {
        let _ = number_cruncher(1024);
        memory.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        std::hint::black_box(&memory);
    }
    Ok(())
}

/// The default command: a comparison of the modes, then two deterministic runs with their digests.
pub(super) fn tour(quiet: bool) -> Result<()> {
    let kinds = vec![Kind::Single, Kind::Multi, Kind::Deterministic];
    // Enough for more than a hundred samples of each cell, so that a single one is not its p99.
    let options = BenchOptions::new(kinds, &[64, 1024, 4096], Duration::from_secs(4), 3);
    let mut results = options.results(output::command_line());
    let (listener, keep) = (listen_for_ctrl_c()?, |_: &Results| Ok::<_, BoxError>(()));
    let later = Duration::from_secs(1);
    let is_complete = measure_with(&options, &mut results, &listener, quiet, later, keep)?;
    let checked = one_digest(&digests(&results));
    output::print(&text(results, is_complete, false))?;
    checked?;
    if !is_complete {
        return Ok(());
    }
    let first = simulate()?;
    let (simulated_s, dispatched) = (TOUR_SIMULATED.as_secs(), first.turn.dispatched);
    output::print(&format!(
        "\nThe deterministic mode, twice: {simulated_s} simulated s at N = {TOUR_N}, \
         {dispatched} dispatches in order.\n{}",
        digest_line(&first)
    ))?;
    let second = simulate()?;
    output::print(&digest_line(&second))?;
    let digests = [&first, &second].into_iter().filter_map(|report| report.turn.digest.as_deref());
    if first.interrupted || second.interrupted {
        return output::print("interrupted: not compared\n");
    }
    one_digest(&digests.collect::<Vec<_>>())?;
    output::print("equal\n")
}

fn simulate() -> Result<RunReport> {
    let (mode, work) = ("deterministic".parse()?, Work::crunching(TOUR_N));
    let options =
        RunOptions { stop_on_ctrl_c: true, ..RunOptions::new(mode, work, TOUR_SIMULATED) };
    run(&options, &Arc::new(Collector::new())).map_err(anyhow::Error::from_boxed)
}

fn digest_line(report: &RunReport) -> String {
    format!("digest: {}\n", report.turn.digest.as_deref().unwrap_or("none"))
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

/// Measures with a progress bar, and hands the results to `keep` after each turn. `later` is added
/// to the announced time. Returns whether all is measured.
fn measure_with<E: Into<BoxError>>(
    options: &BenchOptions,
    results: &mut Results,
    listener: &Executor,
    quiet: bool,
    later: Duration,
    keep: impl Fn(&Results) -> Result<(), E>,
) -> Result<bool> {
    note_debug_build();
    if allowed_cores().len() == 1 && options.kinds.contains(&Kind::Multi) {
        eprintln!("note: {ONE_CORE}");
    }
    let interrupted = listener.stop_handle();
    let bar = Bar::new(quiet);
    let measured = measure(options, results, |results, step| {
        if step.index == 0 {
            eprintln!("{}\n", announcement(options, step, later));
        } else {
            keep(results).map_err(Into::into)?;
        }
        let Step { index, total, turn, name, n, remaining, .. } = *step;
        let (left_s, n) = (remaining.as_secs_f64().ceil(), n.unwrap_or_default());
        let message = format!("turn {turn}: N = {n}, {name}; about {left_s} s left");
        bar.show(index as u64, total as u64, message);
        let is_over = interrupted.is_stopped();
        Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let measured = measured.map_err(anyhow::Error::from_boxed)?;
    keep(results).map_err(|error| anyhow::Error::from_boxed(error.into()))?;
    Ok(measured)
}

/// An executor that Ctrl-C stops while it exists. A run in progress handles Ctrl-C itself; this one
/// is checked between runs.
pub(super) fn listen_for_ctrl_c() -> Result<Executor> {
    let mut executor = Executor::single_core();
    executor.stop_on_ctrl_c()?;
    Ok(executor)
}

fn announcement(options: &BenchOptions, step: &Step<'_>, later: Duration) -> String {
    let kinds: Vec<_> = options.kinds.iter().map(Kind::name).collect();
    let limits: Vec<_> = options.crunch_limits.iter().map(u64::to_string).collect();
    format!(
        "The Autoware reference system in modes {} at N = {}, {} x {:?} each: about {} s.",
        kinds.join(", "),
        limits.join(", "),
        options.turns,
        options.duration,
        (step.remaining + later).as_secs_f64().ceil()
    )
}

fn text(results: Results, is_complete: bool, verbose: bool) -> String {
    let remarks = remarks(&results);
    let all = [(String::new(), results)];
    let mut text = table::render_results(&all, Beside::Rclcpp) + &remarks;
    if !is_complete {
        text += "interrupted: completed turns only\n";
    }
    for cell in all[0].1.cells.iter().filter(|_| verbose) {
        if let (Some(mapping), Some(n)) = (&cell.mapping, cell.n) {
            let _ = write!(text, "\n# {} at N = {n}\n{mapping}", cell.name);
        }
    }
    text
}

/// A line for each overloaded cell, for short turns, and for other programs.
fn remarks(results: &Results) -> String {
    let mut text = String::new();
    let turns = || results.cells.iter().flat_map(|cell| &cell.turns);
    let busy: Vec<f64> = turns().filter_map(|turn| turn.other_busy_cores).collect();
    let busy = busy.iter().sum::<f64>() / busy.len().max(1) as f64;
    if busy >= NOTABLE_CORES {
        let _ = writeln!(
            text,
            "Other programs kept {busy:.1} cores busy, which raises maxima and deviations."
        );
    }
    let live =
        || results.cells.iter().filter(|cell| cell.turns.iter().any(|of| of.digest.is_none()));
    let is_empty = |cell: &Cell| cell.pooled(Definition::SampleToStart.name()).is_empty();
    if live().any(is_empty) && results.turn_s < SHORTEST_S {
        let _ = writeln!(
            text,
            "The first 10 hot-path samples of a turn, at 10 Hz, are start-up: turns of {} s\n\
             are too short. Use --duration 2s or more.",
            results.turn_s
        );
    }
    for cell in live() {
        let cores = cell.mapping.as_ref().map_or(1, |_| results.machine.cores);
        let load = total_crunches_per_second() * cell.crunch_median_ns as f64 * 1e-9;
        if load > cores as f64 {
            let _ = writeln!(
                text,
                "Overloaded: N = {} needs {load:.1} cores and {} has {cores}:\n\
                 {} messages overwritten, {} timer periods missed.",
                cell.n.unwrap_or_default(),
                cell.name,
                cell.turns.iter().map(|turn| turn.overwritten).sum::<u64>(),
                cell.turns.iter().map(|turn| turn.missed_periods).sum::<u64>()
            );
        }
    }
    text
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

    #[test]
    fn results_of_other_conditions_are_not_continued() {
        let fresh = Results { turn_s: 3.0, title: "a".into(), ..Results::default() };
        let path = Path::new("results.json");
        assert!(continued(fresh.clone(), &fresh, path).is_ok());
        let mut other_machine = fresh.clone();
        other_machine.machine.kernel = "5.15".into();
        let other_load = Results { load_threads: 2, ..fresh.clone() };
        for (kept, what) in [(other_machine, "another machine"), (other_load, "another load")] {
            let error = continued(kept, &fresh, path).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("results.json"), "{error}");
        }
    }
}
