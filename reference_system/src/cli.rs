//! The command line arguments, their limits, and their dispatch to commands.
//!
//! Exit codes: 0 on success, also after Ctrl-C; 1 for a failure or unequal digests; 2 for a usage
//! error, for which clap ends the process.

mod bench;
mod calibrate;
mod compare_results;
mod determinism;
mod duration;
mod optimize;
mod output;
mod progress;
mod run;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use reference_system::bench::Kind;
use reference_system::crunch::DEFAULT_CRUNCH_LIMIT;
use reference_system::determinism::ties::Ties;
use reference_system::dot;
use reference_system::middleware::Middleware;
use ringspin_modes::{Mapping, Mode};

/// The largest N: one crunch takes about a second, and a run cannot end within a callback.
const CRUNCH_LIMIT_MAX: u64 = 100_000;

/// The Autoware reference system (24 nodes) on ringspin: run it, measure it, compare the modes.
///
/// Without a command: a comparison of a minute and a half, then two runs in deterministic mode with
/// their digests.
#[derive(Debug, Parser)]
#[command(name = "reference-system", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print more: the mapping in use, and the executor's log.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Draw no progress bar. Implied unless stderr is a terminal.
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the system once in one mode.
    Run(RunArguments),
    /// Measure variants x N on this machine, beside rclcpp as measured on another one of its kind:
    /// the hot path, and the wake-up latency that the system gives to a bare thread.
    #[command(visible_alias = "compare")]
    Bench(BenchArguments),
    /// Show the results of `bench` side by side, of several machines, with the paper's table.
    CompareResults(CompareResultsArguments),
    /// Search for a mapping of nodes to cores by simulation, and confirm it live.
    Optimize(optimize::OptimizeArguments),
    /// Repeat the synthetic determinism benchmark of RSLCPP: 19,011 callbacks with random sleeps
    /// per run, and a single valid result.
    Determinism(DeterminismArguments),
    /// Measure the cost of the number cruncher on this machine.
    Calibrate(CalibrateArguments),
    /// Keep a core busy until the parent process ends.
    #[command(hide = true)]
    Busy,
    /// Print the graph in the DOT language, the hot path in bold; draw it with `dot -Tsvg`.
    Graph(GraphArguments),
}

#[derive(Debug, Args)]
struct GraphArguments {
    /// Group the nodes by the cores of this mapping (TOML).
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
JSON keys of --json:
  mode, middleware, n, crunch, interrupted, node_s, mapping, decisions,
  and those of a turn in the file of `bench`: latencies, periods, wall_s, cpu_percent, rss_bytes,
  watts, other_busy_cores, dispatched, drops, overwritten, missed_periods, digest, after,
  kpis: { sample_to_start, release_to_end, planner_period: { count, min_ns, mean_ns, p50_ns,
          p99_ns, p999_ns, max_ns, std_ns }, hot_path_drops, samples, warm_up_samples, end_unknown,
          without_lidar, not_recorded }

A duration is a number and its unit: 500ms, 15s, 2min.")]
struct RunArguments {
    /// single, multi or deterministic.
    #[arg(long, default_value = "single")]
    mode: Mode,
    /// The path of messages. ros2 and hybrid need a build with feature `ros2`; a message is sent as
    /// reference_interfaces/msg/Message4kb.
    #[arg(long, value_enum, default_value = "none")]
    middleware: Middleware,
    /// The limit of the number cruncher: the load of each callback grows with its square.
    #[arg(long, default_value_t = DEFAULT_CRUNCH_LIMIT, value_parser = crunch_limit)]
    n: u64,
    /// The duration of the run; simulated time in deterministic mode.
    #[arg(long, default_value = "15s", value_parser = duration::nonzero)]
    duration: Duration,
    /// The cores and priorities of nodes (TOML); virtual cores in deterministic mode. Without it,
    /// multi uses the mapping that the optimizer finds for this load on the cores of this process;
    /// --verbose prints it.
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Run only the nodes that --mapping assigns to this core. The others run in other processes,
    /// also on another machine, that --middleware connects.
    #[arg(long, value_name = "ID", requires = "mapping")]
    only_core: Option<usize>,
    /// Write the figures as JSON; with `-` to stdout, replacing the summary.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write every dispatch as a JSON line; deterministic mode only.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The simulation: delays, durations, virtual cores (TOML, a job file without nodes);
    /// deterministic mode only.
    #[arg(long, value_name = "FILE")]
    simulation: Option<PathBuf>,
    /// Write the profile (TOML): durations of callbacks and costs of messages, for a simulation's
    /// `profile` and for `optimize --profile`; live modes only.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Write a timeline of callbacks and cores as a trace for Perfetto's viewer or
    /// chrome://tracing; the newest 65,536 calls of each core.
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Do not crunch: callbacks only pass messages on.
    #[arg(long)]
    no_work: bool,
    /// Let each callback first sleep for a random time up to this.
    #[arg(long, value_name = "DURATION", default_value = "0ms", value_parser = duration::any)]
    sleep_max: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Variants: single, multi, tuned (multi with the optimizer's mapping),
deterministic (at the smallest N), realtime (one worker: SCHED_FIFO, locked memory, spinning),
multi-realtime (the optimizer's mapping, SCHED_FIFO, locked memory).

--out keeps the results after each turn. Ctrl-C ends the benchmark, and the same command continues
it. docs/benchmarks.md describes the file; compare-results reads it.

A duration is a number and its unit: 500ms, 15s, 2min.")]
struct BenchArguments {
    /// The variants, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "single,multi,tuned,deterministic")]
    modes: Vec<Kind>,
    /// Add the variants realtime and multi-realtime.
    #[arg(long)]
    realtime: bool,
    /// Add a variant with the cores and priorities of this file (TOML).
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// The paths of messages, separated by commas, as for `run`: each live variant is measured with
    /// each.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "none")]
    middleware: Vec<Middleware>,
    /// Add the executors of rclcpp: upstream's executables in this folder, or in the workspaces
    /// that are sourced.
    #[arg(long, value_name = "FOLDER")]
    #[expect(clippy::option_option, reason = "the option may have no value")]
    rclcpp: Option<Option<PathBuf>>,
    /// The limit of the number cruncher with which those were compiled.
    #[arg(long, value_name = "N", default_value_t = 4096)]
    rclcpp_n: u64,
    /// The limits of the number cruncher, separated by commas.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "64,512,1024,2048,4096,6144,8192",
        value_parser = crunch_limit
    )]
    n: Vec<u64>,
    /// The duration of each turn of each cell, simulated time in deterministic mode [default: 18s,
    /// with --quick 2s].
    #[arg(long, value_parser = duration::nonzero)]
    duration: Option<Duration>,
    /// The number of turns of each cell. More turns give narrower intervals.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    turns: u16,
    /// The time in which wake-ups are measured; 0s measures none [default: 10s, with --quick 2s].
    #[arg(long, value_parser = duration::any)]
    floor: Option<Duration>,
    /// Take some minutes instead of half an hour.
    #[arg(long)]
    quick: bool,
    /// Keep this number of processes busy beside the measurement; one for each core without a
    /// number.
    #[arg(long, value_name = "PROCESSES")]
    #[expect(clippy::option_option, reason = "the option may have no value")]
    load: Option<Option<usize>>,
    /// The file of the results (JSON), new or to be continued; with `-` to stdout, replacing the
    /// tables.
    #[arg(long, visible_alias = "json", value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A variant is compared with the same one of the first file, and within that file with its first
variant. `faster` and `slower` mean that the 95 % interval of the ratio does not include 1.")]
struct CompareResultsArguments {
    /// Files that `bench --out` wrote.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write a page with charts (HTML).
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct CalibrateArguments {
    /// The limits of the number cruncher, separated by commas.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "64,512,1024,2048,4096,6144,8192",
        value_parser = crunch_limit
    )]
    n: Vec<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The benchmark of RSLCPP: four nodes, three timers, five topics and a service, from 10 s to 110 s of
simulated time. The states are hashes of every callback and message in order. The exit code is 0
only if every run has the expected result and the same digest. With the sleeps of the paper:
  reference-system determinism --runs 100 --sleep-max 20ms     (200 s)

JSON keys of --json:
  runs, deterministic, interrupted, ties, threads, sleep_max_s, wall_s,
  expected: { A, B, C, D, hash },
  outcomes: [ { runs, states: { A, B, C, D, hash }, calls, dispatches, digest } ]

A duration is a number and its unit: 2us, 20ms, 1s.")]
struct DeterminismArguments {
    /// The number of runs.
    #[arg(
        long,
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    runs: u32,
    /// Let each callback first sleep for a random time up to this; the paper sleeps up to 20ms.
    #[arg(long, value_name = "DURATION", default_value = "5us", value_parser = duration::any)]
    sleep_max: Duration,
    /// The order of timers that are due at the same instant: total (by deadline, then creation, as
    /// in the deterministic mode) or upstream (rclcpp's timer heap, for upstream's golden value).
    #[arg(long, default_value = "total", value_parser = ties)]
    ties: Ties,
    /// The number of concurrent runs. Default: one per core; up to 128 if runs sleep for 1ms or
    /// more, because sleeping runs need no core.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write the results as JSON; with `-` to stdout, replacing the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Executes the command of the arguments.
pub(crate) fn execute(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { command, verbose, quiet } = arguments;
    match command {
        None => bench::tour(quiet),
        Some(Command::Run(run)) => {
            run.check().unwrap_or_else(|error| error.exit());
            run::run(run, verbose, quiet)
        }
        Some(Command::Bench(arguments)) => bench::bench(arguments, verbose, quiet),
        Some(Command::CompareResults(arguments)) => compare_results::compare_results(&arguments),
        Some(Command::Busy) => bench::busy(),
        Some(Command::Optimize(arguments)) => optimize::optimize(&arguments, quiet),
        Some(Command::Determinism(arguments)) => determinism::determinism(arguments, quiet),
        Some(Command::Calibrate(calibrate)) => calibrate::calibrate(&calibrate.n),
        Some(Command::Graph(GraphArguments { mapping })) => {
            let mapping = mapping.map(Mapping::load).transpose()?;
            output::print(&dot::to_dot(mapping.as_ref()))
        }
    }
}

impl RunArguments {
    /// Refuses files that the mode would ignore.
    fn check(&self) -> Result<(), clap::Error> {
        let simulated = matches!(self.mode, Mode::Deterministic(_));
        let refused = [
            (
                self.only_core.is_some() && (simulated || self.middleware == Middleware::None),
                "--only-core runs a part of the system, which the other parts have to reach: add \
                 `--middleware ros2` or `--middleware hybrid`, in a live mode",
            ),
            (
                self.mapping.is_some()
                    && self.only_core.is_none()
                    && matches!(self.mode, Mode::SingleCore),
                "--mapping assigns nodes to cores, and `--mode single` has only one core: choose \
                 `--mode multi` or `--mode deterministic`, or leave --mapping out",
            ),
            (
                self.trace.is_some() && !simulated,
                "--trace records the sequence of dispatches, which only a deterministic run has: \
                 add `--mode deterministic` or leave --trace out",
            ),
            (
                self.simulation.is_some() && !simulated,
                "--simulation controls simulated time, which live modes do not use: add `--mode \
                 deterministic` or leave --simulation out",
            ),
            (
                self.profile.is_some() && simulated,
                "--profile records measured durations, and a simulation only repeats its input: \
                 add `--mode single` or `--mode multi`",
            ),
        ];
        match refused.iter().find(|(is_refused, _)| *is_refused) {
            None => Ok(()),
            Some((_, text)) => Err(Arguments::command().error(ErrorKind::ArgumentConflict, text)),
        }
    }
}

/// Parses the name of an order of timers.
fn ties(text: &str) -> Result<Ties, String> {
    match text {
        "total" => Ok(Ties::Total),
        "upstream" => Ok(Ties::Upstream),
        _ => Err("unknown order; give total or upstream".into()),
    }
}

fn crunch_limit(text: &str) -> Result<u64, String> {
    let n: u64 =
        text.parse().map_err(|_| "not a whole number; give one such as 4096".to_owned())?;
    if n > CRUNCH_LIMIT_MAX {
        return Err(format!(
            "one crunch would take seconds to hours, and a run cannot end within a callback; \
             give at most {CRUNCH_LIMIT_MAX}"
        ));
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn crunch_limits_are_bounded_numbers() {
        assert_eq!(crunch_limit("4096"), Ok(4096));
        assert!(crunch_limit("100001").unwrap_err().contains("100000"));
        assert!(crunch_limit("-1").unwrap_err().contains("4096"));
    }

    #[test]
    fn files_that_a_mode_cannot_use_are_refused() {
        let check = |line: &str| match Arguments::parse_from(line.split(' ')).command {
            Some(Command::Run(run)) => run.check().map_err(|error| error.to_string()),
            _ => unreachable!("every line is a run"),
        };
        assert!(check("reference-system run --mode multi --mapping m.toml").is_ok());
        assert!(check("reference-system run --mode deterministic --trace t.jsonl").is_ok());
        assert!(check("reference-system run --mode deterministic --simulation s.toml").is_ok());
        assert!(check("reference-system run --mode multi --profile p.toml").is_ok());
        for (wrong, way_out) in [
            ("run --simulation s.toml", "deterministic"),
            ("run --mode deterministic --profile p.toml", "single"),
        ] {
            let error = check(&format!("reference-system {wrong}")).unwrap_err();
            assert!(error.to_string().contains(&format!("--mode {way_out}")), "{error}");
        }
        let error = check("reference-system run --mapping m.toml").unwrap_err();
        assert!(error.contains("--mode multi"), "{error}");
        assert!(check("reference-system run --mode deterministic --mapping m.toml").is_ok());
        let part = "reference-system run --mapping m.toml --only-core 1";
        assert!(check(&format!("{part} --middleware ros2")).is_ok());
        let error = check(part).unwrap_err();
        assert!(error.contains("--middleware ros2"), "{error}");
        let error = check("reference-system run --mode multi --trace t.jsonl").unwrap_err();
        assert!(error.contains("--mode deterministic"), "{error}");
    }
}
