//! The figures of one crunch limit: measured here, simulated, and published. Charts and tables show
//! the same rows.

use crate::published::{self, PAPER, RclcppExecutor, Spread};

use crate::data::ReportData;
use crate::summary::Summary;

/// The source of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Measured live; the index of its colour.
    Live(usize),
    /// Simulated; the index of the colour of the live run.
    Twin(usize),
    /// The paper's table.
    Paper,
    /// Measured with rclcpp on another machine.
    Rclcpp,
}

/// A row; times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) executor: String,
    pub(crate) source: Source,
    pub(crate) min: Option<f64>,
    pub(crate) mean: f64,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) max: f64,
    pub(crate) std: Option<f64>,
    /// Four crunches on the same machine, if known.
    pub(crate) floor: Option<f64>,
    /// Every latency, ascending, if known.
    pub(crate) samples: Vec<f64>,
    /// Whether a chart shows it; tables show all.
    pub(crate) charted: bool,
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

/// All rows of crunch limit `n`: each live mode and its twin, then the paper's, then rclcpp's best.
pub(crate) fn rows(data: &ReportData, n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (colour, mode) in modes(data).into_iter().enumerate() {
        for measured in data.measured.iter().filter(|m| m.n == n && m.mode == mode) {
            let (figures, floor) = (&measured.hot_path, measured.floor_ns);
            let floor = (floor > 0).then_some(floor as f64 / 1e6);
            let source = Source::Live(colour);
            rows.extend(summarised(mode.into(), source, figures, floor, &measured.latencies_ns));
        }
        for twin in data.twins.iter().filter(|twin| twin.n == n && twin.mode == mode) {
            let (executor, source) = (format!("{mode}, its twin"), Source::Twin(colour));
            rows.extend(summarised(executor, source, &twin.hot_path, None, &twin.latencies_ns));
        }
    }
    rows.extend(published_rows(n));
    rows
}

fn summarised(
    executor: String,
    source: Source,
    summary: &Summary,
    floor: Option<f64>,
    latencies_ns: &[u64],
) -> Option<Row> {
    let ms = |ns: u64| ns as f64 / 1e6;
    let mut samples: Vec<f64> = latencies_ns.iter().map(|ns| ms(*ns)).collect();
    samples.sort_by(f64::total_cmp);
    (!summary.is_empty()).then(|| Row {
        executor,
        source,
        min: Some(ms(summary.min_ns)),
        mean: summary.mean_ns / 1e6,
        p50: Some(ms(summary.p50_ns)),
        p99: Some(ms(summary.p99_ns)),
        max: ms(summary.max_ns),
        std: Some(summary.std_ns / 1e6),
        floor,
        samples,
        charted: true,
    })
}

fn published_rows(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(paper) = PAPER.iter().find(|row| row.n == n) {
        let of = |executor: &str, figures: Spread, charted| Row {
            executor: format!("paper, {executor}"),
            source: Source::Paper,
            min: Some(figures.min_ms),
            mean: figures.avg_ms,
            p50: None,
            p99: None,
            max: figures.max_ms,
            std: Some(figures.std_ms),
            floor: None,
            samples: Vec::new(),
            charted,
        };
        rows.push(of("ring buffer", paper.ring_buffer, true));
        rows.push(of("rclcpp static single", paper.static_single_threaded, true));
        rows.push(of("rclcpp multi", paper.multi_threaded, false));
        rows.push(of("rclcpp single", paper.single_threaded, false));
    }
    if let Some(rclcpp) = published::rclcpp_at(n) {
        let best = rclcpp.best();
        rows.extend(RclcppExecutor::ALL.into_iter().map(|executor| Row {
            executor: match executor.starved_the_planner(n) {
                true => format!("Jazzy, {} †", executor.label()),
                false => format!("Jazzy, {}", executor.label()),
            },
            source: Source::Rclcpp,
            min: None,
            mean: rclcpp.of(executor).avg_ms,
            p50: None,
            p99: None,
            max: rclcpp.of(executor).max_ms,
            std: None,
            floor: Some(rclcpp.floor_ms),
            samples: Vec::new(),
            charted: best.contains(&executor),
        }));
    }
    rows
}
