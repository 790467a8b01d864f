//! The figures of one crunch limit in one definition: measured here, simulated, and published ones
//! of rclcpp within the process. Charts and tables show the same rows.

use crate::data::{Definition, HotPath, Latencies, ReportData};
use crate::published::{Transport, peer_crunch_ms, peers_at};
use crate::summary::Summary;

/// The source of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Measured live; the index of its colour.
    Live(usize),
    /// Simulated; the index of the colour of the live run.
    Twin(usize),
    /// Measured with another executor on another machine.
    Peer,
}

/// A row; times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) executor: String,
    pub(crate) source: Source,
    /// The name of the latency's definition.
    pub(crate) latency: String,
    pub(crate) min: Option<f64>,
    pub(crate) mean: f64,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    pub(crate) std: Option<f64>,
    /// The work on the path on the same machine, if known.
    pub(crate) floor: Option<f64>,
    /// Every latency, ascending, if known.
    pub(crate) samples: Vec<f64>,
}

/// The measured or simulated crunch limits, ascending.
pub(crate) fn crunch_limits(data: &ReportData) -> Vec<u64> {
    let measured = data.measured.iter().map(|measured| measured.n);
    let mut limits: Vec<u64> = measured.chain(data.twins.iter().map(|twin| twin.n)).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// The live modes in the order of their first appearance; the index is the colour.
pub(crate) fn modes(data: &ReportData) -> Vec<&str> {
    let mut modes: Vec<&str> = Vec::new();
    let measured = data.measured.iter().map(|measured| measured.mode.as_str());
    for mode in measured.chain(data.twins.iter().map(|twin| twin.mode.as_str())) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes
}

/// The lower bound of a latency by `definition`, in milliseconds; `None` without a crunch.
pub(crate) fn floor_ms(definition: Definition, crunch_ns: u64) -> Option<f64> {
    (crunch_ns > 0).then(|| f64::from(definition.floor_crunches()) * crunch_ns as f64 / 1e6)
}

/// All rows of crunch limit `n` in one definition: each live mode and its twin, then rclcpp within
/// the process, whose latency is known from sample to start only.
pub(crate) fn rows(data: &ReportData, n: u64, definition: Definition) -> Vec<Row> {
    let mut rows = Vec::new();
    let row = |executor, source, hot_path: &HotPath, floor| {
        let Latencies { summary, latencies_ns } = hot_path.by(definition);
        summarised(executor, source, definition.name(), summary, latencies_ns, floor)
    };
    for (colour, mode) in modes(data).into_iter().enumerate() {
        for measured in data.measured.iter().filter(|m| m.n == n && m.mode == mode) {
            let floor = floor_ms(definition, measured.crunch_ns);
            rows.extend(row(mode.into(), Source::Live(colour), &measured.hot_path, floor));
        }
        for twin in data.twins.iter().filter(|twin| twin.n == n && twin.mode == mode) {
            let executor = format!("{mode}, its twin");
            rows.extend(row(executor, Source::Twin(colour), &twin.hot_path, None));
        }
    }
    if definition == Definition::SampleToStart {
        rows.extend(peers(n));
    }
    rows
}

/// The row of a measured or simulated series; `None` without a sample.
pub(crate) fn summarised(
    executor: String,
    source: Source,
    latency: &str,
    summary: &Summary,
    samples_ns: &[u64],
    floor: Option<f64>,
) -> Option<Row> {
    let ms = |ns: u64| ns as f64 / 1e6;
    let mut samples: Vec<f64> = samples_ns.iter().map(|ns| ms(*ns)).collect();
    samples.sort_by(f64::total_cmp);
    let Summary { min_ns, mean_ns, p50_ns, p99_ns, max_ns, std_ns, .. } = *summary;
    (!summary.is_empty()).then(|| Row {
        executor,
        source,
        latency: latency.to_owned(),
        min: Some(ms(min_ns)),
        mean: mean_ns / 1e6,
        p50: Some(ms(p50_ns)),
        p99: ms(p99_ns),
        max: ms(max_ns),
        std: Some(std_ns / 1e6),
        floor,
        samples,
    })
}

/// The published rows within the process. Those of an earlier ringspin are left to the tables of
/// published figures.
fn peers(n: u64) -> impl Iterator<Item = Row> {
    let rclcpp = peers_at(n, Transport::InProcess).filter(|(peer, _)| peer.is_rclcpp());
    let crunches = f64::from(Definition::SampleToStart.floor_crunches());
    rclcpp.map(move |(peer, figures)| Row {
        executor: peer.name.into(),
        source: Source::Peer,
        latency: Definition::SampleToStart.name().into(),
        min: None,
        mean: figures.mean_ms,
        p50: None,
        p99: figures.p99_ms,
        max: figures.max_ms,
        std: None,
        floor: peer_crunch_ms(n).map(|crunch_ms| crunches * crunch_ms),
        samples: Vec::new(),
    })
}
