//! The content of a report, as data: it can be kept as JSON and drawn again without running
//! anything.
//!
//! Every section is optional; a page shows those with data. Numbers should be finite: JSON has no
//! others, and charts skip them.

mod hot_path;
mod optimization;

use ringspin_simulation::timeline::Timeline;
use serde::{Deserialize, Serialize};

pub use hot_path::{Definition, HotPath, Latencies};
pub use optimization::{
    Bound, Candidate, Convergence, Latency, OptimizationData, PhaseRow, Prediction, StrategyRow,
    Term, TradeOffs, Unit,
};

/// The content of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportData {
    /// Its origin.
    pub origin: Origin,
    /// The live measurements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
    /// The deterministic twins of live runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<Twin>,
    /// Excerpts of runs, as timelines of cores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<TimelineSection>,
    /// The graph, with the core of each loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphData>,
    /// The result of an optimization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimization: Option<OptimizationData>,
}

/// The information needed to reproduce a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// Programs and libraries with their versions: name, version.
    pub versions: Vec<(String, String)>,
    /// The processor's name.
    pub processor: String,
    /// The number of cores that the process could use.
    pub cores: usize,
    /// The operating system.
    pub system: String,
    /// The average number of cores that other programs kept busy, if known.
    pub other_busy_cores: Option<f64>,
    /// Further remarks for the reader of the figures, one sentence each.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// A live mode at one crunch limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The crunch limit.
    pub n: u64,
    /// The mode's name.
    pub mode: String,
    /// The time of the fastest crunch, in nanoseconds; 0 if unknown.
    pub crunch_ns: u64,
    /// The latency of the hot path.
    pub hot_path: HotPath,
    /// The number of samples that hot-path nodes saw dropped.
    pub hot_path_drops: u64,
    /// The standard deviation of the planner's period, in nanoseconds.
    pub planner_std_ns: f64,
    /// CPU time as a percentage of one core.
    pub cpu_percent: f64,
    /// Resident memory, in bytes.
    pub rss_bytes: u64,
    /// The number of messages that a newer one displaced before dispatch.
    pub overwritten: u64,
    /// The number of timer periods without a call.
    pub missed_periods: u64,
}

/// The deterministic twin of a live run: the same graph on virtual cores, with the live durations
/// of the callbacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The crunch limit.
    pub n: u64,
    /// The mode of the live run.
    pub mode: String,
    /// Simulated time.
    pub simulated_s: f64,
    /// The real time of the simulation.
    pub wall_s: f64,
    /// The digest of the run.
    pub digest: String,
    /// The latency of the hot path.
    pub hot_path: HotPath,
}

/// An excerpt of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineSection {
    /// The run.
    pub title: String,
    /// The calls by core and time.
    pub timeline: Timeline,
    /// The start of the excerpt, in nanoseconds since the timeline's origin.
    pub from_ns: u64,
    /// The end of the excerpt, in nanoseconds since the timeline's origin.
    pub to_ns: u64,
    /// Event loops to emphasise: those on the hot path.
    #[serde(default)]
    pub hot: Vec<String>,
    /// An interval to mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

/// A marked interval of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Its label.
    pub label: String,
    /// Its start, in nanoseconds since the timeline's origin.
    pub from_ns: u64,
    /// Its end, in nanoseconds since the timeline's origin.
    pub to_ns: u64,
}

/// A graph of event loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphData {
    /// The title, which names the mapping.
    pub title: String,
    /// The event loops.
    pub loops: Vec<GraphLoop>,
    /// The edges. An edge of a loop that is not listed is left out.
    pub edges: Vec<GraphEdge>,
}

/// An event loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphLoop {
    /// `/node`, or `/node:group`.
    pub name: String,
    /// The core that runs it, if it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<usize>,
    /// Its priority among the loops of its core; higher goes first.
    #[serde(default)]
    pub priority: u8,
    /// Busy seconds per second, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Whether it is on the hot path.
    #[serde(default)]
    pub hot: bool,
}

/// Messages from one loop to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphEdge {
    /// The index of the publishing loop.
    pub from: usize,
    /// The index of the subscribing loop.
    pub to: usize,
    /// The topic.
    pub topic: String,
    /// Whether it is on the hot path.
    #[serde(default)]
    pub hot: bool,
}
