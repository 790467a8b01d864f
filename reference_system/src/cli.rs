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
mod random_graph;
mod report;
mod run;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use reference_system::bench::Kind;
use reference_system::description::Workload;
use reference_system::dot;
use reference_system::middleware::Middleware;
use ringspin_conformance::determinism::ties::Ties;
use ringspin_modes::Mode;

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
    /// Measure variants x N on this machine, beside published figures of rclcpp within the process:
    /// the hot path, and the wake-up latency that the system gives to a bare thread.
    #[command(visible_alias = "compare")]
    Bench(BenchArguments),
    /// Show the results of `bench` side by side, of several machines, with the paper's table.
    CompareResults(CompareResultsArguments),
    /// Search for a mapping of nodes to cores by simulation, and confirm it live.
    Optimize(optimize::OptimizeArguments),
    /// Measure, simulate, and write a page with charts, timelines and the graph; takes less than a
    /// minute.
    Report(ReportArguments),
    /// Repeat the synthetic determinism benchmark of RSLCPP: 19,011 callbacks with random sleeps
    /// per run, and a single valid result.
    Determinism(DeterminismArguments),
    /// Run random graphs that use every feature in deterministic mode, and print the digest of
    /// each, to compare builds and machines.
    RandomGraph(RandomGraphArguments),
    /// Measure the cost of the number cruncher on this machine.
    Calibrate(CalibrateArguments),
    /// Keep a core busy until the parent process ends.
    #[command(hide = true)]
    Busy,
    /// Print the graph in the DOT language, the hot path in bold; draw it with `dot -Tsvg`.
    Graph,
}

#[derive(Debug, Args)]
#[command(after_help = "\
JSON keys of --json:
  mode, workload, n, crunch, duration_s, interrupted, wall_s, node_s, cpu_percent, rss_bytes,
  dispatched, overwritten, missed_periods, simulated_s_per_wall_s, digest, mapping,
  kpis: { sample_to_start, release_to_end, planner_period: { count, min_ns, mean_ns, p50_ns,
          p99_ns, p999_ns, max_ns, std_ns }, hot_path_drops, samples, warm_up_samples, end_unknown,
          without_lidar, not_recorded },
  chains: [ { name, nodes, deadline_ms, published: [ { system, mean_ms, p99_ms, max_ms } ],
              floor_ns, sample_to_start, release_to_end: { as the KPIs }, misses, lost,
              started, not_recorded } ]

A duration is a number and its unit: 500ms, 15s, 2min.")]
struct RunArguments {
    /// single, multi or deterministic.
    #[arg(long, default_value = "single")]
    mode: Mode,
    /// The costs of callbacks: autoware, or lame, which has uneven costs and three chains with
    /// deadlines (1.86 cores of load). Under simulated time, the costs of lame are simulated.
    #[arg(long, value_enum, default_value_t)]
    workload: WorkloadName,
    /// The path of messages: none (within the process), ros2 (every hop through ROS 2) or hybrid
    /// (directly from node to node, and to other processes through ROS 2). ros2 and hybrid need a
    /// build with feature `ros2`; a message is sent as reference_interfaces/msg/Message4kb.
    #[arg(long, default_value = "none")]
    middleware: Middleware,
    /// The limit of the number cruncher: the load of each callback grows with its square; for
    /// autoware only [default: 4096].
    #[arg(long, value_parser = crunch_limit)]
    n: Option<u64>,
    /// The duration of the run; simulated time in deterministic mode.
    #[arg(long, default_value = "15s", value_parser = duration::nonzero)]
    duration: Duration,
    /// The cores and priorities of nodes (TOML); virtual cores in deterministic mode. Without it,
    /// multi uses the mapping that the optimizer finds for this load on the cores of this process;
    /// --verbose prints it.
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
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
    /// Write every sample that reached a Command node, with its history, as a JSON line.
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Do not crunch: callbacks only pass messages on.
    #[arg(long)]
    no_work: bool,
    /// Let each callback first sleep for a random time up to this.
    #[arg(long, value_name = "DURATION", default_value = "0ms", value_parser = duration::any)]
    sleep_max: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Variants: single, multi (with the optimizer's mapping), round-robin (nodes dealt out to the cores),
deterministic (at the smallest N), realtime (one worker: SCHED_FIFO, locked memory, spinning),
multi-realtime (the optimizer's mapping, SCHED_FIFO, locked memory).

--out keeps the results after each turn. Ctrl-C ends the benchmark, and the same command continues
it. docs/benchmarks.md describes the file; compare-results reads it.

A duration is a number and its unit: 500ms, 15s, 2min.")]
struct BenchArguments {
    /// The variants, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "single,multi,round-robin,deterministic")]
    modes: Vec<Kind>,
    /// Add the variants realtime and multi-realtime.
    #[arg(long)]
    realtime: bool,
    /// Add a variant with the cores and priorities of this file (TOML).
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// The paths of messages, separated by commas, as for `run`: each live variant is measured with
    /// each.
    #[arg(long, value_delimiter = ',', default_value = "none")]
    middleware: Vec<Middleware>,
    /// Add the executors of rclcpp: upstream's executables in this folder, or in the workspaces
    /// that are sourced.
    #[arg(long, value_name = "FOLDER")]
    #[expect(clippy::option_option, reason = "an option whose value is optional")]
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
    #[expect(clippy::option_option, reason = "an option whose value is optional")]
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
#[command(after_help = "\
The page is one HTML file that loads nothing. Each live run is followed by its deterministic twin,
which takes no time to speak of. The page's chart that stands in the README:
  reference-system report --n 64,512,1024,2048,4096 --duration 5s --chart-out docs/report.svg

A duration is a number and its unit: 500ms, 15s, 2min.")]
struct ReportArguments {
    /// The file of the page.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// The live modes, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "single,multi", value_parser = live_mode)]
    modes: Vec<Mode>,
    /// The limits of the number cruncher, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "64,1024,4096", value_parser = crunch_limit)]
    n: Vec<u64>,
    /// The duration of each live run.
    #[arg(long, default_value = "6s", value_parser = duration::nonzero)]
    duration: Duration,
    /// Write the timelines at the largest N as a trace for Perfetto's viewer or chrome://tracing.
    #[arg(long, value_name = "FILE")]
    trace_out: Option<PathBuf>,
    /// Write the data of the page as JSON, for --data.
    #[arg(long, value_name = "FILE")]
    data_out: Option<PathBuf>,
    /// Write the page's first chart as SVG.
    #[arg(long, value_name = "FILE")]
    chart_out: Option<PathBuf>,
    /// Run nothing, and draw the data of an earlier --data-out.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["modes", "n", "duration", "data_out"])]
    data: Option<PathBuf>,
    /// The result of an optimization (JSON), shown on the page.
    #[arg(long, value_name = "FILE")]
    optimization: Option<PathBuf>,
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
    /// The order of timers that are due at the same instant.
    #[arg(long, value_enum, default_value_t)]
    ties: TiesName,
    /// The number of concurrent runs. Default: one per core; up to 128 if runs sleep for 1ms or
    /// more, because sleeping runs need no core.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write the results as JSON; with `-` to stdout, replacing the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints a line for each graph: its seed, its digest, and its number of events.")]
struct RandomGraphArguments {
    /// The seed of the first graph; further graphs use the following seeds.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of graphs.
    #[arg(
        long,
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    count: u32,
    /// Run graphs whose callbacks create and destroy nodes and endpoints.
    #[arg(long)]
    changing: bool,
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
        Some(Command::Report(arguments)) => report::report(&arguments, quiet),
        Some(Command::Determinism(arguments)) => determinism::determinism(arguments, quiet),
        Some(Command::RandomGraph(arguments)) => random_graph::random_graph(&arguments),
        Some(Command::Calibrate(calibrate)) => calibrate::calibrate(&calibrate.n),
        Some(Command::Graph) => output::print(&dot::to_dot(true)),
    }
}

impl Arguments {
    /// Whether late and failing nodes are expected in this command.
    pub(crate) fn fails_on_purpose(&self) -> bool {
        matches!(self.command, Some(Command::RandomGraph(_)))
    }
}

impl RunArguments {
    /// Refuses files that the mode would ignore.
    fn check(&self) -> Result<(), clap::Error> {
        let refuse =
            |message| Err(Arguments::command().error(ErrorKind::ArgumentConflict, message));
        if self.mapping.is_some() && matches!(self.mode, Mode::SingleCore) {
            return refuse(
                "--mapping assigns nodes to cores, and `--mode single` has only one core: choose \
                 `--mode multi` or `--mode deterministic`, or leave --mapping out",
            );
        }
        if self.n.is_some() && self.workload == WorkloadName::Lame {
            return refuse(
                "--n is the limit of a crunch, and the callbacks of `--workload lame` have costs \
                 of their own: leave one of the two out",
            );
        }
        if self.trace.is_some() && !matches!(self.mode, Mode::Deterministic(_)) {
            return refuse(
                "--trace records the sequence of dispatches, which only a deterministic run has: \
                 add `--mode deterministic` or leave --trace out",
            );
        }
        let simulated = matches!(self.mode, Mode::Deterministic(_));
        if self.simulation.is_some() && !simulated {
            return refuse(
                "--simulation controls simulated time, which live modes do not use: add `--mode \
                 deterministic` or leave --simulation out",
            );
        }
        if self.profile.is_some() && simulated {
            return refuse(
                "--profile records measured durations, and a simulation only repeats its input: \
                 add `--mode single` or `--mode multi`",
            );
        }
        Ok(())
    }
}

/// The command line name of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum WorkloadName {
    #[default]
    Autoware,
    Lame,
}

impl From<WorkloadName> for Workload {
    fn from(name: WorkloadName) -> Self {
        match name {
            WorkloadName::Autoware => Self::Autoware,
            WorkloadName::Lame => Self::Lame,
        }
    }
}

/// The command line name of an order of timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TiesName {
    /// By deadline, then creation: the order of the deterministic mode
    #[default]
    Total,
    /// The order of rclcpp's timer heap, for upstream's golden value
    Upstream,
}

impl From<TiesName> for Ties {
    fn from(name: TiesName) -> Self {
        match name {
            TiesName::Total => Self::Total,
            TiesName::Upstream => Self::Upstream,
        }
    }
}

fn live_mode(text: &str) -> Result<Mode, String> {
    match text.parse() {
        Ok(Mode::Deterministic(_)) => Err("the report always includes the deterministic twins; \
                                           give `single`, `multi` or both"
            .into()),
        mode => mode.map_err(|error: ringspin_modes::UnknownModeError| error.to_string()),
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
    fn a_report_measures_live_modes_only() {
        assert_eq!(live_mode("multi"), Ok(Mode::MultiCore(None)));
        assert!(live_mode("deterministic").unwrap_err().contains("`single`"));
        assert!(live_mode("fast").unwrap_err().contains("`single`"));
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
        assert!(check("reference-system run --workload lame").is_ok());
        let error = check("reference-system run --workload lame --n 64").unwrap_err();
        assert!(error.contains("leave one of the two out"), "{error}");
        let error = check("reference-system run --mode multi --trace t.jsonl").unwrap_err();
        assert!(error.contains("--mode deterministic"), "{error}");
    }
}
