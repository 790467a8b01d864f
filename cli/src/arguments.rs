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
    /// Replay recordings through the nodes of this program: with nothing lost and as fast as
    /// callbacks allow in the deterministic mode (the default), paced by the wall clock with
    /// RINGSPIN_MODE=single or multi.
    #[cfg(feature = "bag")]
    Replay(Box<Replay>),
    /// Record topics of ROS 2, of any type, until Ctrl-C.
    #[cfg(feature = "ros2")]
    Record(Record),
    /// Look into recordings.
    #[cfg(feature = "bag")]
    #[command(subcommand)]
    Bag(Bag),
}

#[cfg(feature = "bag")]
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The recordings, merged by time: rosbag2 directories, or single files in MCAP or SQLite3.
    #[arg(required = true, value_name = "BAG")]
    pub(super) bags: Vec<PathBuf>,
    /// The job file with the nodes; by default one node of each type. Its `for` counts from the
    /// first message.
    #[arg(long, value_name = "FILE")]
    pub(super) job: Option<PathBuf>,
    /// Another seed than the job file's.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Record the topics of the graph: a file if the name ends in `.mcap`, else a rosbag2
    /// directory.
    #[arg(long, value_name = "OUT")]
    pub(super) record: Option<PathBuf>,
    /// Record these topics only.
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub(super) record_topics: Vec<String>,
    /// Compress the recording.
    #[arg(long, value_enum)]
    pub(super) compression: Option<Compression>,
    /// Replay several times: two runs in this process, the others in a fresh process each, with
    /// another environment. All must have the same dispatches and the same recording, byte for
    /// byte.
    #[arg(long)]
    pub(super) verify: bool,
    /// How many runs `--verify` compares.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(3..))]
    pub(super) runs: u32,
    /// The recording of the first run, for the other processes of `--verify`.
    #[arg(long, hide = true)]
    pub(super) recording_of_first: Option<PathBuf>,
    /// Play these topics only, by their recorded names.
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub(super) topics: Vec<String>,
    /// Do not play these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., visible_alias = "exclude-topics")]
    pub(super) exclude: Vec<String>,
    /// Play a topic under another name.
    #[arg(long, value_name = "FROM:=TO", num_args = 1.., value_parser = remapping)]
    pub(super) remap: Vec<(String, String)>,
    /// Leave out the beginning, up to this offset from the first message.
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(super) start_offset: Duration,
    /// Play this much of the recording.
    #[arg(long, value_parser = parse_duration)]
    pub(super) playback_duration: Option<Duration>,
    /// The order of messages: by the time of their reception, or of their publication.
    #[arg(long, value_enum, default_value_t)]
    pub(super) order: ReplayOrder,
    /// The time of messages: of their reception, of their publication, or in their headers.
    #[arg(long, value_enum, default_value_t)]
    pub(super) time_base: TimeBase,
    /// Publish the time of the recording on /clock, this often in a second (40 without a number).
    #[arg(long, value_name = "HERTZ", num_args = 0..=1, default_missing_value = "40",
        require_equals = true, value_parser = hertz)]
    pub(super) clock: Option<f64>,
    /// Send recorded requests of services again, instead of publishing service events.
    #[arg(long)]
    pub(super) service_requests: bool,
    /// QoS of topics, in the YAML of rosbag2.
    #[arg(long, value_name = "FILE")]
    pub(super) qos_profile_overrides_path: Option<PathBuf>,
    /// Go on for this long after the last message; by default not at all in simulated time, in
    /// which its instant is completed, and for a second in the live modes.
    #[arg(long, value_parser = parse_duration)]
    pub(super) settle: Option<Duration>,
    /// The speed, in the live modes.
    #[arg(long, default_value_t = 1.0)]
    pub(super) rate: f64,
    /// Wait before the first message, in the live modes.
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(super) delay: Duration,
}

#[cfg(feature = "ros2")]
#[derive(Debug, Default, Args)]
pub(super) struct Record {
    /// The topics; all but hidden ones without any.
    #[arg(value_name = "TOPIC")]
    pub(super) topics: Vec<String>,
    /// The recording: a file if the name ends in `.mcap`, else a rosbag2 directory.
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Do not record these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., visible_alias = "exclude-topics")]
    pub(super) exclude: Vec<String>,
    /// Compress the recording.
    #[arg(long, value_enum)]
    pub(super) compression: Option<Compression>,
    /// End after this long.
    #[arg(long, value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    /// End after this many messages.
    #[arg(long, value_name = "COUNT")]
    pub(super) messages: Option<u64>,
}

#[cfg(feature = "bag")]
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Compression {
    Zstd,
    Lz4,
}

#[cfg(feature = "bag")]
impl From<Compression> for ringspin_bag::Compression {
    fn from(compression: Compression) -> Self {
        match compression {
            Compression::Zstd => Self::Zstd,
            Compression::Lz4 => Self::Lz4,
        }
    }
}

#[cfg(feature = "bag")]
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(super) enum ReplayOrder {
    #[default]
    Log,
    Publish,
}

#[cfg(feature = "bag")]
impl From<ReplayOrder> for ringspin_bag::Order {
    fn from(order: ReplayOrder) -> Self {
        match order {
            ReplayOrder::Log => Self::LogTime,
            ReplayOrder::Publish => Self::PublishTime,
        }
    }
}

#[cfg(feature = "bag")]
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(super) enum TimeBase {
    #[default]
    Log,
    Publish,
    Stamp,
}

#[cfg(feature = "bag")]
impl From<TimeBase> for ringspin_bag::TimeBase {
    fn from(base: TimeBase) -> Self {
        match base {
            TimeBase::Log => Self::Log,
            TimeBase::Publish => Self::Publish,
            TimeBase::Stamp => Self::Stamp,
        }
    }
}

#[cfg(feature = "bag")]
fn remapping(text: &str) -> Result<(String, String), String> {
    let names = text.split_once(":=").filter(|(from, to)| !from.is_empty() && !to.is_empty());
    let names = names.map(|(from, to)| (from.into(), to.into()));
    names.ok_or_else(|| "write both names, as /imu:=/imu/raw".into())
}

#[cfg(feature = "bag")]
fn hertz(text: &str) -> Result<f64, String> {
    let hertz = text.parse().ok().filter(|hertz: &f64| (1e-3..=1e6).contains(hertz));
    hertz.ok_or_else(|| "write how often in a second, as 40".into())
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
