//! The command line.

use crate::shard::{self, Shard};
#[cfg(feature = "bag")]
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
#[cfg(feature = "bag")]
use regex::Regex;
#[cfg(feature = "bag")]
use ringspin_bag::{Compression, Order as ReplayOrder, TimeBase};
#[cfg(feature = "bag")]
use ringspin_executor::Error;
use ringspin_modes::Schedule;
use ringspin_modes::quantity::parse_duration;
use ringspin_simulation::{Exploration, Order};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes:
  0    all went well, and no node had another word on it
  1    a callback failed, other code of a node panicked (its builder in a run of `explore`,
       a `Digest`, a `Drop`), runs diverged, an order was found that fails, recordings
       differ, or one is damaged
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
    /// Run a job with many seeds and in many orders of simultaneous events, until one fails.
    Explore(Explore),
    /// Look into the results of shards.
    #[command(subcommand)]
    Results(ResultsCommand),
    /// Build the graph of a job, and show the inputs that its digest does not cover.
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
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Replay {
    /// The recordings, merged by time: rosbag2 directories, or single files in MCAP or SQLite3, or
    /// patterns of their names.
    #[arg(required = true, value_name = "BAG")]
    pub(super) bags: Vec<String>,
    /// The job file with the nodes; by default one node of each type. Its `for` counts from the
    /// first message.
    #[arg(long, value_name = "FILE")]
    pub(super) job: Option<PathBuf>,
    /// Another seed than the job file's.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Replay with each of these seeds.
    #[arg(long, value_parser = seeds, conflicts_with_all = ["seed", "record"])]
    pub(super) seeds: Option<Range<u64>>,
    /// Replay each recording on its own, instead of all of them merged.
    #[arg(long, conflicts_with = "record")]
    pub(super) each: bool,
    #[command(flatten)]
    pub(super) farm: Farm,
    /// Record the topics of the graph: a file if the name ends in `.mcap`, else a rosbag2
    /// directory.
    #[arg(long, value_name = "OUT")]
    pub(super) record: Option<PathBuf>,
    /// Record hidden topics as well, such as service events.
    #[arg(long)]
    pub(super) include_hidden_topics: bool,
    /// Record these topics only.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = absolute)]
    pub(super) record_topics: Vec<String>,
    /// Compress the recording.
    #[arg(long, value_parser = one_of(COMPRESSIONS))]
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
    #[command(flatten)]
    pub(super) selection: Selection,
    /// The order of messages: by the time of their reception, or of their publication.
    #[arg(long, default_value = "log", value_parser = one_of(ORDERS))]
    pub(super) order: ReplayOrder,
    /// The time of messages: of their reception, of their publication, or in their headers.
    #[arg(long, default_value = "log", value_parser = one_of(TIME_BASES))]
    pub(super) time_base: TimeBase,
    /// Publish the time of the recording on /clock, this often in a second (40 without a number).
    #[arg(long, value_name = "HERTZ", num_args = 0..=1, default_missing_value = "40",
        value_parser = hertz)]
    pub(super) clock: Option<f64>,
    /// Send recorded requests of services again, instead of publishing service events.
    #[arg(long)]
    pub(super) service_requests: bool,
    /// Play topics that were recorded with another definition of their type than the program has:
    /// fields are matched by their names, and missing ones get their defaults.
    #[arg(long)]
    pub(super) allow_evolution: bool,
    /// QoS of topics, in the YAML of rosbag2.
    #[arg(long, value_name = "FILE")]
    pub(super) qos_profile_overrides_path: Option<PathBuf>,
    /// Continue for this long after the last message; by default not at all in simulated time, in
    /// which its instant is completed, and for a second in the live modes.
    #[arg(long, value_parser = seconds)]
    pub(super) settle: Option<Duration>,
    /// The speed, in the live modes.
    #[arg(long, default_value_t = 1.0)]
    pub(super) rate: f64,
    /// Wait before the first message, in the live modes.
    #[arg(long, default_value = "0", value_parser = seconds)]
    pub(super) delay: Duration,
    /// Wait for the Enter key before nodes and player start, in the live modes.
    #[arg(short = 'p', long)]
    pub(super) start_paused: bool,
    /// Begin again after the last message until Ctrl-C, in the live modes.
    #[arg(short, long = "loop")]
    pub(super) repeat: bool,
}

/// The part of recordings that is played or converted.
#[cfg(feature = "bag")]
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Selection {
    /// These topics only, by their recorded names.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = absolute)]
    pub(super) topics: Vec<String>,
    /// Without these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = absolute,
        visible_alias = "exclude-topics")]
    pub(super) exclude: Vec<String>,
    /// The topics with a name that matches as a whole, besides those of `--topics`.
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(super) regex: Option<Regex>,
    /// Without the topics with a name that matches as a whole.
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(super) exclude_regex: Option<Regex>,
    /// Give a topic another name.
    #[arg(long, value_name = "FROM:=TO", num_args = 1.., value_parser = remapping)]
    pub(super) remap: Vec<(String, String)>,
    /// Leave out the beginning, up to this offset from the first message. The newest messages of
    /// transient-local topics (/tf_static, maps) before it come first.
    #[arg(long, default_value = "0", value_parser = seconds)]
    pub(super) start_offset: Duration,
    /// Only this much of the recording.
    #[arg(long, value_parser = seconds)]
    pub(super) playback_duration: Option<Duration>,
    /// Up to this time, in seconds since 1970 as `bag info` shows them.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, alias = "playback-until-sec",
        conflicts_with = "playback_duration")]
    pub(super) playback_until: Option<Duration>,
}

#[cfg(feature = "ros2")]
#[derive(Debug, Default, Args)]
pub(super) struct Record {
    /// The topics; all but hidden ones without any choice.
    #[arg(value_name = "TOPIC", value_parser = absolute)]
    pub(super) topics: Vec<String>,
    /// Record all topics, hidden ones as well.
    #[arg(short, long)]
    pub(super) all: bool,
    /// The topics with a name that matches as a whole.
    #[arg(short = 'e', long, value_name = "PATTERN", value_parser = pattern)]
    pub(super) regex: Option<Regex>,
    /// Without the topics with a name that matches as a whole.
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(super) exclude_regex: Option<Regex>,
    /// The topics of these types, such as sensor_msgs/msg/Imu.
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    pub(super) topic_types: Vec<String>,
    /// The events of these services.
    #[arg(long, value_name = "SERVICE", num_args = 1.., value_parser = absolute)]
    pub(super) services: Vec<String>,
    /// The feedback, the status and the service events of these actions.
    #[arg(long, value_name = "ACTION", num_args = 1.., value_parser = absolute)]
    pub(super) actions: Vec<String>,
    /// Record hidden topics as well, such as service events.
    #[arg(long)]
    pub(super) include_hidden_topics: bool,
    /// The recording: a file if the name ends in `.mcap`, else a rosbag2 directory.
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// Do not record these topics.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = absolute,
        visible_alias = "exclude-topics")]
    pub(super) exclude: Vec<String>,
    /// Compress the recording.
    #[arg(long, value_parser = one_of(COMPRESSIONS))]
    pub(super) compression: Option<Compression>,
    /// End after this long.
    #[arg(long, value_parser = seconds)]
    pub(super) duration: Option<Duration>,
    /// End after this many messages.
    #[arg(long, value_name = "COUNT")]
    pub(super) messages: Option<u64>,
    #[command(flatten)]
    pub(super) split: Split,
}

/// The size of the files of a recording.
#[cfg(feature = "bag")]
#[derive(Debug, Default, Args)]
pub(super) struct Split {
    /// Begin a further file after this many bytes of messages, before compression.
    #[arg(short = 'b', long, value_name = "BYTES",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_bag_size: Option<u64>,
    /// Begin a further file after this long, by the times of messages.
    #[arg(short = 'd', long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) max_bag_duration: Option<Duration>,
}

#[cfg(feature = "bag")]
const COMPRESSIONS: [(&str, Compression); 2] =
    [("zstd", Compression::Zstd), ("lz4", Compression::Lz4)];

#[cfg(feature = "bag")]
const ORDERS: [(&str, ReplayOrder); 2] =
    [("log", ReplayOrder::LogTime), ("publish", ReplayOrder::PublishTime)];

#[cfg(feature = "bag")]
const TIME_BASES: [(&str, TimeBase); 3] =
    [("log", TimeBase::Log), ("publish", TimeBase::Publish), ("stamp", TimeBase::Stamp)];

/// Parses one of these names.
#[cfg(feature = "bag")]
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.map(|(name, _)| name)).map(move |given| {
        let found = values.iter().find(|(name, _)| *name == given);
        found.expect("the names are the possible values").1
    })
}

#[cfg(feature = "bag")]
fn remapping(text: &str) -> Result<(String, String), String> {
    let names = text.split_once(":=").filter(|(from, to)| !from.is_empty() && !to.is_empty());
    let (from, to) = names.ok_or("write both names, as /imu:=/imu/raw")?;
    Ok((absolute(from)?, absolute(to)?))
}

/// The name of a topic, with its leading slash.
#[cfg(feature = "bag")]
fn absolute(name: &str) -> Result<String, String> {
    Ok(if name.starts_with('/') { name.into() } else { format!("/{name}") })
}

/// A duration; seconds without a unit, as in `ros2 bag`.
#[cfg(feature = "bag")]
fn seconds(text: &str) -> Result<Duration, Error> {
    parse_duration(text).or_else(|error| parse_duration(&format!("{text}s")).map_err(|_| error))
}

/// A pattern of whole names, as in `ros2 bag`.
#[cfg(feature = "bag")]
fn pattern(text: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!("^(?:{text})$"))
}

#[cfg(feature = "bag")]
fn hertz(text: &str) -> Result<f64, String> {
    let hertz = text.parse().ok().filter(|hertz: &f64| (1e-3..=1e6).contains(hertz));
    hertz.ok_or_else(|| {
        "write how often in a second, as 40; recordings come before `--clock`".into()
    })
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
    /// Read a recording whole, compare the messages with those that it counts, and show the number
    /// of each topic. The exit code is 1 if there is any problem.
    Check {
        /// The recording.
        bag: PathBuf,
    },
    /// Write the messages of a damaged recording that can be read to another one, and show those
    /// that are lost.
    Recover {
        /// The recording.
        bag: PathBuf,
        /// The recording to be written: a file if the name ends in `.mcap`, else a rosbag2
        /// directory.
        output: PathBuf,
    },
    /// Write recordings to another one, merged by time: all of them, or some topics, or a part of
    /// the time. Messages and their times stay as they are.
    #[command(visible_aliases = ["filter", "merge"])]
    Convert(BagConvert),
    /// Show messages as lines of JSON.
    Echo(BagEcho),
    /// Compare two recordings, and show the first message that differs, field by field. The exit
    /// code is 0 if they are equal, and 1 if they differ.
    Diff(BagDiff),
}

#[cfg(feature = "bag")]
#[derive(Debug, Args)]
pub(super) struct BagConvert {
    /// The recordings.
    #[arg(required = true, value_name = "BAG")]
    pub(super) bags: Vec<PathBuf>,
    /// The recording to be written: a file if the name ends in `.mcap`, else a rosbag2 directory.
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) selection: Selection,
    /// Compress the recording.
    #[arg(long, value_parser = one_of(COMPRESSIONS))]
    pub(super) compression: Option<Compression>,
    #[command(flatten)]
    pub(super) split: Split,
}

#[cfg(feature = "bag")]
#[derive(Debug, Args)]
pub(super) struct BagEcho {
    /// The recordings, merged by time.
    #[arg(required = true, value_name = "BAG")]
    pub(super) bags: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) selection: Selection,
}

#[cfg(feature = "bag")]
#[derive(Debug, Args)]
pub(super) struct BagDiff {
    /// The first recording.
    pub(super) left: PathBuf,
    /// The second recording.
    pub(super) right: PathBuf,
    /// Compare these topics only.
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_parser = absolute)]
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
pub(super) struct Jobs {
    /// The job files, in TOML, or patterns of their names.
    #[arg(required = true, value_name = "JOB")]
    pub(super) jobs: Vec<String>,
    /// Another seed than the file's.
    #[arg(long)]
    pub(super) seed: Option<u64>,
}

impl Jobs {
    /// The job with this name.
    pub(super) fn with(&self, name: &str, seed: Option<u64>) -> JobArguments {
        JobArguments { job: name.into(), seed: seed.or(self.seed) }
    }
}

/// The part of a list that is done, and where its results are kept.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Farm {
    /// Do every Nth item of the list only: 1/8 to 8/8, or `auto` as Kubernetes, Slurm, AWS Batch,
    /// the CI system or RINGSPIN_SHARD says.
    #[arg(long, value_name = "K/N", value_parser = shard::parse)]
    pub(super) shard: Option<Shard>,
    /// Keep the result of each run in this folder, and skip runs with a result. Processes and
    /// machines may share the folder.
    #[arg(long, value_name = "DIR")]
    pub(super) results: Option<PathBuf>,
    /// The item that this process was started for.
    #[arg(long, hide = true)]
    pub(super) item: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum ResultsCommand {
    /// Show the findings of all shards: the lowest seed that fails, causes, coverage, missing runs.
    /// The exit code is 1 if anything failed, else 2 if runs are missing.
    Merge(Merge),
}

#[derive(Debug, Args)]
pub(super) struct Merge {
    /// The folder of `--results`.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    /// Write a report for CI systems, in the XML of JUnit.
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Write a page in HTML, which needs nothing else.
    #[arg(long, value_name = "FILE")]
    pub(super) page: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) jobs: Jobs,
    /// Run with each of these seeds.
    #[arg(long, value_parser = seeds, conflicts_with = "seed")]
    pub(super) seeds: Option<Range<u64>>,
    #[command(flatten)]
    pub(super) farm: Farm,
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
    pub(super) jobs: Jobs,
    /// Verify with each of these seeds.
    #[arg(long, value_parser = seeds, conflicts_with = "seed")]
    pub(super) seeds: Option<Range<u64>>,
    #[command(flatten)]
    pub(super) farm: Farm,
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
    pub(super) jobs: Jobs,
    #[command(flatten)]
    pub(super) farm: Farm,
    /// Run all seeds, also after one that fails.
    #[arg(short, long)]
    pub(super) keep_going: bool,
    /// One run for each of these seeds, which decide about the order and everything that is random.
    #[arg(long, default_value = "0..1000", value_parser = seeds)]
    pub(super) seeds: Range<u64>,
    /// Keep the job's seed for losses, delays, durations and what nodes draw: only order and jitter
    /// differ.
    #[arg(long)]
    pub(super) keep_seed: bool,
    /// How orders are chosen: `mixed`, turns of several strategies; `shuffle`; `pct:DEPTH`, for
    /// bugs that need DEPTH events in a certain order; or `default`, to explore random numbers
    /// only.
    #[arg(long, default_value = "mixed", value_parser = order)]
    pub(super) order: Order,
    /// Each message arrives up to this much later; by default as the job file's jitter says.
    #[arg(long, value_parser = parse_duration)]
    pub(super) jitter: Option<Duration>,
    /// How many runs at a time; 0 for one on each core.
    #[arg(long, default_value_t = 0)]
    pub(super) threads: usize,
}

impl Explore {
    pub(super) fn exploration(&self) -> Exploration {
        Exploration {
            seeds: self.seeds.clone(),
            keep_seed: self.keep_seed,
            order: self.order,
            jitter: self.jitter,
            threads: self.threads,
            ..Exploration::default()
        }
    }
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
        None if text == "mixed" => Some(Order::Mixed),
        None if text == "shuffle" => Some(Order::Shuffle),
        None if text == "default" => Some(Order::Default),
        Some(("pct", text)) => depth(text).map(|depth| Order::Pct { depth }),
        _ => None,
    }
    .ok_or_else(|| {
        "write `mixed`, `shuffle`, `default`, or `pct:3` for bugs of three events".into()
    })
}
