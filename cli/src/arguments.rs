//! The command line.

use clap::{Args, Parser, Subcommand};
use ringspin_modes::Schedule;
use ringspin_modes::quantity::parse_duration;
use ringspin_simulation::Order;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes:
  0    all went well, and no node had another word on it
  1    a callback failed, other code of a node panicked (its builder in a run of `explore`,
       a `Digest`, a `Drop`), runs diverged, an order was found that fails, or recordings
       differ
  2    the command line, the job file, a recording or the graph is not usable; also if a
       builder panics
  124  the watchdog found a callback that does not return
  N    of `run`: the code with which a node ended the run

ROS arguments come last, after `--ros-args`. They are stronger than those of the
environment's RINGSPIN_ROS_ARGS, which are stronger than the job file.";

/// Runs nodes of this program in simulated time, as job files say.
#[derive(Debug, Parser)]
#[command(after_help = EXIT_CODES)]
pub(super) struct CommandLine {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a job once.
    Run(Run),
    /// Run a job several times, also in fresh processes, and compare each dispatch.
    Verify(Verify),
    /// Run a job with many seeds and in many orders of what happens at the same time, until one
    /// fails.
    Explore(Explore),
    /// Build the graph of a job, and say what its digest does not see.
    Check(JobArguments),
    /// List the node types that a job file can name.
    Nodes,
    /// Look into recordings.
    #[cfg(feature = "bag")]
    #[command(subcommand)]
    Bag(Bag),
}

/// A command for recordings: rosbag2 directories, and single files in MCAP or SQLite3.
#[cfg(feature = "bag")]
#[derive(Debug, Subcommand)]
pub(super) enum Bag {
    /// Show files, times and topics of a recording, as `ros2 bag info` does.
    Info {
        /// The recording.
        bag: PathBuf,
    },
    /// Compare two recordings, and show the first message that differs, field by field. The exit
    /// code is 0 if they are equal, and 1 if they differ.
    Diff(BagDiff),
}

#[cfg(feature = "bag")]
#[derive(Debug, Args)]
pub(super) struct BagDiff {
    /// The first recording.
    pub(super) left: PathBuf,
    /// The second recording.
    pub(super) right: PathBuf,
    /// Compare these topics only.
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub(super) topics: Vec<String>,
    /// Compare the messages, not the times of their reception and publication.
    #[arg(long)]
    pub(super) ignore_stamps: bool,
    /// The number of fields of a message that are shown.
    #[arg(long, default_value_t = 20)]
    pub(super) fields: usize,
}

#[derive(Debug, Args)]
pub(super) struct JobArguments {
    /// The job file, in TOML.
    pub(super) job: PathBuf,
    /// Another seed than the file's.
    #[arg(long)]
    pub(super) seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) job: JobArguments,
    /// Repeat this order and these delays, as `explore` printed them; replaces ties and jitter.
    #[arg(long)]
    pub(super) schedule: Option<Schedule>,
    /// Write a certificate of the run, in JSON; `-` is the standard output, which then has
    /// nothing else.
    #[arg(long, value_name = "FILE")]
    pub(super) certificate: Option<PathBuf>,
    /// Write a line for each dispatch; `-` as for certificates.
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    pub(super) job: JobArguments,
    /// How many runs: two in this process, the others in a fresh process each, with another
    /// environment.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(3..))]
    pub(super) runs: u32,
    /// Compare the run with this certificate, too, which `run --certificate` wrote, here or on
    /// another machine.
    #[arg(long, value_name = "FILE")]
    pub(super) against: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Explore {
    #[command(flatten)]
    pub(super) job: JobArguments,
    /// One run for each of these seeds, which decide about the order and everything that is random.
    #[arg(long, default_value = "0..1000", value_parser = seeds)]
    pub(super) seeds: Range<u64>,
    /// Keep the job's seed for losses, delays, durations and what nodes draw: only order and jitter
    /// differ.
    #[arg(long)]
    pub(super) keep_seed: bool,
    /// How orders are chosen: `shuffle`; `pct:DEPTH`, which is better at bugs that need DEPTH
    /// events in a certain order; or `default`, to explore only what is random.
    #[arg(long, default_value = "shuffle", value_parser = order)]
    pub(super) order: Order,
    /// Each message arrives up to this much later; by default as the job file's jitter says.
    #[arg(long, value_parser = parse_duration)]
    pub(super) jitter: Option<Duration>,
    /// How many runs at a time; 0 for one on each core.
    #[arg(long, default_value_t = 0)]
    pub(super) threads: usize,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let parse = |text: &str| text.parse::<u64>().ok();
    let range = text.split_once("..").and_then(|(from, to)| Some(parse(from)?..parse(to)?));
    let range = range.filter(|range| !range.is_empty());
    range.ok_or_else(|| "write the first seed and the one after the last, as 0..1000".into())
}

fn order(text: &str) -> Result<Order, String> {
    let depth = |text: &str| text.parse().ok().filter(|depth| *depth > 0);
    match text.split_once(':') {
        None if text == "shuffle" => Some(Order::Shuffle),
        None if text == "default" => Some(Order::Default),
        Some(("pct", text)) => depth(text).map(|depth| Order::Pct { depth }),
        _ => None,
    }
    .ok_or_else(|| "write `shuffle`, `default`, or `pct:3` for bugs of three events".into())
}
