//! What a report is made of, as data: it can be kept as JSON and drawn again without running
//! anything, here or elsewhere.
//!
//! Every section may be missing; a page has those that have data. Numbers are expected to be
//! finite: JSON has no others, and a chart leaves them out.

use ringspin_modes::allowed_cores;
use ringspin_modes::timeline::Timeline;
use serde::{Deserialize, Serialize};

use crate::kpi::Summary;
use crate::process::processor_name;
use crate::table::Cell;

use super::optimization::OptimizationData;

/// Everything that a report shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportData {
    /// How it was made.
    pub origin: Origin,
    /// What was measured, live.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measured>,
    /// What the deterministic twins of live runs came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<Twin>,
    /// Parts of runs: who ran when on which core.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<TimelineSection>,
    /// The graph, with the core of each loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphData>,
    /// What an optimizer found, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimization: Option<OptimizationData>,
}

/// How a report was made: what somebody needs to make it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// Programs and libraries with their versions: name, version.
    pub versions: Vec<(String, String)>,
    /// The processor's name.
    pub processor: String,
    /// Cores that the process could use.
    pub cores: usize,
    /// The operating system.
    pub system: String,
    /// Cores that other programs kept busy meanwhile, on average; none where that is not known.
    pub other_busy_cores: Option<f64>,
    /// Whatever else a reader of the figures has to know, a sentence each.
    #[serde(default)]
    pub remarks: Vec<String>,
}

impl Origin {
    /// This machine and this build.
    #[must_use]
    pub fn here(command: &str, remarks: Vec<String>) -> Self {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        Self {
            command: command.into(),
            versions: vec![("ringspin".into(), env!("CARGO_PKG_VERSION").into())],
            processor: processor_name().unwrap_or_else(|| "an unknown processor".into()),
            cores: allowed_cores().len(),
            system: format!("{os} {arch} {}", release.trim()),
            other_busy_cores: None,
            remarks,
        }
    }
}

/// A live mode at one crunch limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Its figures.
    pub cell: Cell,
    /// The counted latencies of the hot path to its start, in their order, in nanoseconds.
    pub latencies_ns: Vec<u64>,
}

/// The deterministic twin of a live run: the same graph on virtual cores, each callback as long as
/// it was live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The crunch limit.
    pub n: u64,
    /// The live mode whose twin it is.
    pub mode: String,
    /// Simulated time.
    pub simulated_s: f64,
    /// Real time that it took.
    pub wall_s: f64,
    /// The digest of the run.
    pub digest: String,
    /// The latency of the hot path to its start.
    pub hot_path: Summary,
    /// The same latencies one by one, in nanoseconds.
    pub latencies_ns: Vec<u64>,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineSection {
    /// What ran.
    pub title: String,
    /// Who ran when.
    pub timeline: Timeline,
    /// Where the part begins, in nanoseconds since the timeline's origin.
    pub from_ns: u64,
    /// Where it ends, in nanoseconds since the timeline's origin.
    pub to_ns: u64,
    /// Event loops to emphasise: those of the hot path.
    #[serde(default)]
    pub hot: Vec<String>,
    /// A stretch of time to mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

/// A marked stretch of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// What it is.
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
    /// Whose mapping it shows.
    pub title: String,
    /// The event loops.
    pub loops: Vec<GraphLoop>,
    /// Who feeds whom. An edge of a loop that is not listed is left out.
    pub edges: Vec<GraphEdge>,
}

/// An event loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphLoop {
    /// `/node`, or `/node:group`.
    pub name: String,
    /// The core that runs it, where it has one of its own choosing.
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
