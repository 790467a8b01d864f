//! The tables of a page. Each is in its own scrolling box, so that a phone shows the whole page at
//! its width.

use crate::data::{Definition, OptimizationData, PhaseRow, Prediction, ReportData, TradeOffs};
use crate::figures::{self, Row, Source};
use crate::format::{self, ms};
use crate::markup::Markup;
use crate::published::{PAPER, Transport, peer_crunch_ms, peers_at};

/// Writes a table; the columns in `left` hold text, the others numbers.
pub(crate) fn table(
    out: &mut Markup,
    header: &[&str],
    left: usize,
    rows: impl IntoIterator<Item = (&'static str, Vec<String>)>,
) {
    out.element("div", &[("class", &"scroll"), ("tabindex", &"0")], |out| {
        out.element("table", &[], |out| {
            out.element("thead", &[], |out| {
                out.element("tr", &[], |out| {
                    for (n, name) in header.iter().enumerate() {
                        let class = column(n, left);
                        out.leaf("th", &[("class", &class), ("scope", &"col")], name);
                    }
                });
            });
            out.element("tbody", &[], |out| {
                for (class, cells) in rows {
                    out.element("tr", &[("class", &class)], |out| {
                        for (n, cell) in cells.iter().enumerate() {
                            let class = column(n, left);
                            out.leaf("td", &[("class", &class)], cell);
                        }
                    });
                }
            });
        });
    });
    out.line();
}

/// The class of column `n`. The last text column stays visible while the others scroll.
fn column(n: usize, left: usize) -> &'static str {
    match n + 1 {
        next if next == left => "left key",
        next if next < left => "left",
        _ => "",
    }
}

/// Writes every row of every crunch limit.
pub(crate) fn latencies(out: &mut Markup, data: &ReportData) {
    let header = [
        "N",
        "executor",
        "latency",
        "min",
        "mean",
        "p50",
        "p99",
        "max",
        "std",
        "floor",
        "mean ÷ floor",
    ];
    let mut rows = Vec::new();
    for n in figures::crunch_limits(data) {
        let of_n = Definition::ALL.into_iter().flat_map(|by| figures::rows(data, n, by));
        for (index, row) in of_n.enumerate() {
            let class = match (index, row.source) {
                (0, _) => "first ours",
                (_, Source::Live(_) | Source::Twin(_)) => "ours",
                _ => "",
            };
            rows.push((class, latency_cells(n, &row)));
        }
    }
    table(out, &header, 3, rows);
}

fn latency_cells(n: u64, row: &Row) -> Vec<String> {
    let known = |value: Option<f64>| value.map_or_else(|| "–".into(), ms);
    vec![
        n.to_string(),
        row.executor.clone(),
        row.latency.clone(),
        known(row.min),
        ms(row.mean),
        known(row.p50),
        ms(row.p99),
        ms(row.max),
        known(row.std),
        known(row.floor),
        above_floor(row.mean, row.floor),
    ]
}

fn above_floor(mean: f64, floor: Option<f64>) -> String {
    let ratio = floor.filter(|floor| *floor > 0.0).map(|floor| mean / floor);
    ratio.map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}"))
}

/// Writes the run with rclcpp at these crunch limits, by transport; returns whether it has one.
pub(crate) fn peers(out: &mut Markup, limits: &[u64]) -> bool {
    let header =
        ["N", "transport", "executor", "mean", "p99", "max", "mean ÷ floor", "CPU, % of a core"];
    let crunches = f64::from(Definition::SampleToStart.floor_crunches());
    let mut rows = Vec::new();
    for (&n, transport) in limits.iter().flat_map(|n| TRANSPORTS.map(|transport| (n, transport))) {
        for (index, (peer, figures)) in peers_at(n, transport).enumerate() {
            let floor = peer_crunch_ms(n).map(|crunch_ms| crunches * crunch_ms);
            let cells = vec![
                n.to_string(),
                transport.name().into(),
                peer.name.into(),
                ms(figures.mean_ms),
                ms(figures.p99_ms),
                ms(figures.max_ms),
                above_floor(figures.mean_ms, floor),
                format!("{:.1}", figures.cpu_percent),
            ];
            rows.push((if index == 0 { "first" } else { "" }, cells));
        }
    }
    if !rows.is_empty() {
        table(out, &header, 3, rows);
        return true;
    }
    false
}

const TRANSPORTS: [Transport; 2] = [Transport::InProcess, Transport::FastDds];

/// Writes the paper's table at these crunch limits; returns whether it has one.
pub(crate) fn paper(out: &mut Markup, limits: &[u64]) -> bool {
    let header = ["N", "executor", "min", "mean", "max", "std"];
    let mut rows = Vec::new();
    for row in PAPER.iter().filter(|row| limits.contains(&row.n)) {
        let executors = [
            ("ring buffer", row.ring_buffer),
            ("rclcpp static single", row.static_single_threaded),
            ("rclcpp multi", row.multi_threaded),
            ("rclcpp single", row.single_threaded),
        ];
        for (index, (executor, of)) in executors.into_iter().enumerate() {
            let figures = [of.min_ms, of.avg_ms, of.max_ms, of.std_ms].map(ms);
            let names = [row.n.to_string(), executor.into()];
            let cells = names.into_iter().chain(figures).collect();
            rows.push((if index == 0 { "first" } else { "" }, cells));
        }
    }
    if !rows.is_empty() {
        table(out, &header, 2, rows);
        return true;
    }
    false
}

/// Writes the costs of the live runs, and their losses.
pub(crate) fn costs(out: &mut Markup, data: &ReportData) {
    let header = [
        "N",
        "mode",
        "samples",
        "hot path drops",
        "overwritten",
        "missed periods",
        "planner std, ms",
        "CPU, % of a core",
        "resident, MiB",
    ];
    let rows = data.measured.iter().map(|measured| {
        let cells = vec![
            measured.n.to_string(),
            measured.mode.clone(),
            measured.hot_path.sample_to_start.summary.count.to_string(),
            measured.hot_path_drops.to_string(),
            measured.overwritten.to_string(),
            measured.missed_periods.to_string(),
            ms(measured.planner_std_ns / 1e6),
            format!("{:.1}", measured.cpu_percent),
            format!("{:.1}", measured.rss_bytes as f64 / (1024.0 * 1024.0)),
        ];
        ("", cells)
    });
    table(out, &header, 2, rows);
}

/// Writes the runs of the twins.
pub(crate) fn twins(out: &mut Markup, data: &ReportData) {
    let header = ["N", "twin of", "digest", "simulated, s", "real, s", "simulated s per s"];
    let rows = data.twins.iter().map(|twin| {
        let speed = if twin.wall_s > 0.0 { twin.simulated_s / twin.wall_s } else { 0.0 };
        let cells = vec![
            twin.n.to_string(),
            twin.mode.clone(),
            twin.digest.clone(),
            format!("{:.1}", twin.simulated_s),
            format!("{:.3}", twin.wall_s),
            format!("{speed:.0}"),
        ];
        ("", cells)
    });
    table(out, &header, 3, rows);
}

/// Writes predicted and measured latencies, with errors.
pub(crate) fn predictions(out: &mut Markup, rows: &[Prediction]) {
    let header = [
        "chain",
        "mean predicted",
        "measured",
        "error",
        "p99 predicted",
        "measured",
        "error",
        "max predicted",
        "measured",
        "error",
    ];
    let rows = rows.iter().map(|row| {
        let mut cells = vec![row.chain.clone()];
        let (predicted, measured) = (row.predicted.figures(), row.measured.figures());
        for (n, percent) in row.errors_percent().into_iter().enumerate() {
            cells.extend([
                ms(predicted[n].1 / 1e6),
                ms(measured[n].1 / 1e6),
                format::error(percent),
            ]);
        }
        ("", cells)
    });
    table(out, &header, 1, rows);
}

/// Writes the results of the strategies. Leaves out unneeded columns: times without a measurement,
/// and cores if they are a term of the score.
pub(crate) fn strategies(out: &mut Markup, data: &OptimizationData) {
    let timed = data.strategies.iter().any(|row| row.wall_s.is_some());
    let counted = !data.terms.iter().any(|term| term.name == "cores");
    let mut header = vec!["strategy".to_owned(), "evaluations".into()];
    header.extend(timed.then(|| "time, s".to_owned()));
    header.extend(counted.then(|| "cores".to_owned()));
    header.extend(data.terms.iter().map(format::term_name));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let never = || "never".to_owned();
    let rows = data.strategies.iter().map(|row| {
        let chosen = if row.chosen { " (chosen)" } else { "" };
        let mut cells = vec![format!("{}{chosen}", row.strategy), row.evaluations.to_string()];
        let time = || row.wall_s.map_or_else(|| "–".into(), |s| format!("{s:.3}"));
        cells.extend(timed.then(time));
        cells.extend(counted.then(|| row.cores_used.to_string()));
        let terms = row.score.iter().zip(&data.terms);
        cells.extend(
            terms.map(|(value, of)| value.map_or_else(never, |v| format::term(v, of.unit))),
        );
        (if row.chosen { "ours" } else { "" }, cells)
    });
    table(out, &header, 1, rows);
}

/// Writes the Pareto front.
pub(crate) fn front(out: &mut Markup, data: &TradeOffs) {
    let header = [
        "",
        "release to end: mean",
        "p99",
        "max",
        "sample to start: mean",
        "p99",
        "max",
        "jitter",
        "cores",
    ];
    let rows = data.front.iter().map(|of| {
        let mut cells = vec![if of.chosen { "chosen" } else { "" }.to_owned()];
        for latency in [of.release_to_end, of.sample_to_start] {
            cells.extend(latency.figures().map(|(_, ns)| ms(ns / 1e6)));
        }
        cells.extend([ms(of.jitter_ns / 1e6), of.cores.to_string()]);
        (if of.chosen { "ours" } else { "" }, cells)
    });
    table(out, &header, 1, rows);
}

/// Writes the advice on phases.
pub(crate) fn phases(out: &mut Markup, rows: &[PhaseRow]) {
    let header = [
        "timer",
        "chain",
        "latency",
        "later by, ms",
        "mean",
        "shifted",
        "p99",
        "shifted",
        "max",
        "shifted",
    ];
    let rows = rows.iter().map(|row| {
        let names = [&row.timer, &row.chain, &row.definition].map(String::clone);
        let mut cells = names.to_vec();
        cells.push(ms(row.shift_ns / 1e6));
        for ((_, before), (_, after)) in row.before.figures().into_iter().zip(row.after.figures()) {
            cells.extend([ms(before / 1e6), ms(after / 1e6)]);
        }
        ("", cells)
    });
    table(out, &header, 3, rows);
}

/// Writes the worst-case bounds of chains.
pub(crate) fn bounds(out: &mut Markup, data: &OptimizationData) {
    let header =
        ["mapping", "chain", "longest simulated from release to end, ms", "worst case, ms"];
    let shown = |ns: Option<f64>| ns.map_or_else(|| "–".into(), |ns| ms(ns / 1e6));
    let rows = data.bounds.iter().map(|bound| {
        let names = [bound.mapping.clone(), bound.chain.clone()];
        let cells = names.into_iter().chain([bound.simulated_ns, bound.bound_ns].map(shown));
        ("", cells.collect())
    });
    table(out, &header, 2, rows);
    let mut reasons: Vec<&str> = data.bounds.iter().map(|bound| &*bound.reason).collect();
    reasons.dedup();
    for reason in reasons {
        out.leaf("p", &[("class", &"muted")], reason);
    }
}
