//! Results as text tables of at most 100 columns.
//!
//! One row per (N, mode): the paper's layout, with six figures per mode in one row, does not fit a
//! terminal. Durations keep about three significant digits, because 0.018 ms and 504.8 ms appear in
//! one column.

mod chains;
mod results;
mod tuning;

pub use chains::render_chains;
pub use results::render_results;
pub use tuning::{
    render_confirmed, render_estimates, render_phases, render_side_effects, render_strategies,
    render_trade_offs,
};

use std::fmt::Write;

use comfy_table::{Cell as TableCell, CellAlignment, Table, TableStyle};

use crate::bench::{Cell, Simulation};
use crate::crunch::Calibration;
use ringspin_bench::results::WakeUp;
use ringspin_conformance::determinism::runs::Outcome;
use ringspin_conformance::determinism::ties::Ties;
use ringspin_conformance::determinism::{CALLBACKS, NODES};
use ringspin_report::published::{self, Transport};
use ringspin_report::{Definition, Summary, format_ms};

/// Renders the hot path of every cell in both definitions, by rising N, modes in the given order.
///
/// Latencies and the planner's deviation are in ms; "-" marks missing measurements. Drops are those
/// on the hot path.
#[must_use]
pub fn render(cells: &[Cell]) -> String {
    let header = [
        "\nN",
        "\nmode",
        "start\navg",
        "\np50",
        "\np99",
        "\nmax",
        "end\navg",
        "\np50",
        "\np99",
        "\nmax",
        "\ndrops",
        "planner\nstd",
        "CPU\n%",
    ];
    let mut table = table(&header, &[1]);
    let mut floors = String::new();
    let sorted = by_n(cells);
    for (index, cell) in sorted.iter().enumerate() {
        let starts_group = index == 0 || sorted[index - 1].n != cell.n;
        if starts_group && cell.floor_ns > 0 {
            let [start, end] = cell.floors_ns().map(|ns| format_ms(ns as f64));
            let _ = write!(floors, " N = {}: {start}, {end}.", cell.n);
        }
        table.add_row(aligned(row_of(cell, starts_group), &[1]));
    }
    format!(
        "The hot path in ms. Sample to start (start): from the newer lidar sample to the start of\n\
         the collision estimator; release to end (end): from the lidars' timers to its end.\n\
         {}\n{}",
        text(&table),
        if floors.is_empty() {
            floors
        } else {
            wrapped(&format!(
                "Floors: 4 and 5 crunches, one more of each on a single core.{floors}"
            ))
        }
    )
}

fn row_of(cell: &Cell, starts_group: bool) -> Vec<String> {
    let planner = &cell.kpis.planner_period;
    let mut row =
        vec![if starts_group { cell.n.to_string() } else { String::new() }, cell.mode.clone()];
    for hot_path in [&cell.kpis.sample_to_start, &cell.kpis.release_to_end] {
        let Summary { mean_ns, p50_ns, p99_ns, max_ns, .. } = *hot_path;
        let figures = [mean_ns, p50_ns as f64, p99_ns as f64, max_ns as f64];
        row.extend(figures.map(|ns| figure(hot_path, ns)));
    }
    row.extend([
        cell.kpis.hot_path_drops.to_string(),
        figure(planner, planner.std_ns),
        format!("{:.1}", cell.cpu_percent),
    ]);
    row
}

/// Wraps `text` to lines of at most 100 characters.
pub(super) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let word_length = word.chars().count();
        let gap = match length {
            0 => "",
            length if length + 1 + word_length > 100 => {
                lines.push('\n');
                ""
            }
            _ => " ",
        };
        length = if gap.is_empty() { word_length } else { length + 1 + word_length };
        lines.push_str(gap);
        lines.push_str(word);
    }
    lines + "\n"
}

/// Renders the cells whose N was measured beside rclcpp, with the published figures of messages
/// that stay in the process, too: from sample to start, and as multiples of each machine's floor.
/// Empty when there is no such cell.
#[must_use]
pub fn render_beside_published(cells: &[Cell]) -> String {
    let header = [
        "\nN",
        "\nexecutor",
        "\nfloor",
        "\nmean",
        "\np99",
        "\nmax",
        "x floor\nmean",
        "\np99",
        "\nmax",
    ];
    let left = [1];
    let mut table = table(&header, &left);
    for group in by_n(cells).chunk_by(|a, b| a.n == b.n) {
        for (index, mut row) in rows_beside_published(group).into_iter().enumerate() {
            if index > 0 {
                row[0].clear();
            }
            table.add_row(aligned(row, &left));
        }
    }
    if table.is_empty() {
        return String::new();
    }
    let source = wrapped(&format!(
        "Sample to start in ms; *published, messages within the process: {}. Times depend on the \
         machine: compare multiples of the floor, 4 crunches on the machine of the row. Published \
         figures through Fast DDS: docs/benchmarks.md.",
        published::PEERS_SOURCE
    ));
    format!("{source}{}\n", text(&table))
}

/// The rows of the cells of one N and of the published executors; empty without published figures.
fn rows_beside_published(cells: &[&Cell]) -> Vec<Vec<String>> {
    let Some((n, crunch_ms)) =
        cells.first().and_then(|cell| Some((cell.n, published::peer_crunch_ms(cell.n)?)))
    else {
        return Vec::new();
    };
    let row = |name: String, floor_ms: f64, figures_ms: [f64; 3]| {
        let shown = |ms: f64| format_ms(ms * 1e6);
        let mut row = vec![n.to_string(), name, shown(floor_ms)];
        row.extend(figures_ms.map(shown));
        row.extend(figures_ms.map(|ms| times(ms / floor_ms)));
        row
    };
    let ours = cells
        .iter()
        .filter(|cell| cell.floor_ns > 0 && !cell.kpis.sample_to_start.is_empty())
        .map(|cell| {
            let Summary { mean_ns, p99_ns, max_ns, .. } = cell.kpis.sample_to_start;
            let figures = [mean_ns, p99_ns as f64, max_ns as f64].map(|ns| ns / 1e6);
            row(format!("ringspin {}", cell.mode), cell.floor_ns as f64 / 1e6, figures)
        });
    let floor_ms = f64::from(Definition::SampleToStart.floor_crunches()) * crunch_ms;
    let peers = published::peers_at(n, Transport::InProcess);
    let theirs = peers.map(|(peer, figures)| {
        let figures = [figures.mean_ms, figures.p99_ms, figures.max_ms];
        row(format!("*{}", peer.name), floor_ms, figures)
    });
    ours.chain(theirs).collect()
}

/// Renders the cost of a crunch for each N, in ms, with the resulting load of the whole system.
#[must_use]
pub fn render_calibrations(calibrations: &[Calibration]) -> String {
    let header = ["N", "primes", "min", "median", "max", "floor", "load"];
    let mut table = table(&header, &[]);
    for calibration in calibrations {
        let row = vec![
            calibration.n.to_string(),
            calibration.primes.to_string(),
            format_ms(calibration.min_ns as f64),
            format_ms(calibration.median_ns as f64),
            format_ms(calibration.max_ns as f64),
            format_ms(calibration.floor_ns() as f64),
            format!("{:.3}", calibration.load_cores()),
        ];
        table.add_row(aligned(row, &[]));
    }
    format!(
        "One crunch, in ms; floor = 4 of the fastest: lower bound of the hot path.\n{}\n\
         load = cores that the whole system needs: 190 median crunches per second.\n",
        text(&table)
    )
}

/// Renders the wake-up latencies of bare threads, in ms.
#[must_use]
pub fn render_wake_ups(wake_ups: &[WakeUp]) -> String {
    let header = ["core", "policy", "wake-ups", "min", "mean", "p50", "p99", "p99.9", "max"];
    let mut table = table(&header, &[1]);
    for WakeUp { core, priority, summary } in wake_ups {
        let Summary { min_ns, mean_ns, p50_ns, p99_ns, p999_ns, max_ns, .. } = *summary;
        let policy = priority.map_or("normal".into(), |priority| format!("SCHED_FIFO {priority}"));
        let mut row = vec![core.to_string(), policy, summary.count.to_string()];
        let figures = [min_ns as f64, mean_ns, p50_ns as f64, p99_ns as f64];
        row.extend(figures.into_iter().chain([p999_ns as f64, max_ns as f64]).map(format_ms));
        table.add_row(aligned(row, &[1]));
    }
    let about =
        "The floor of the system in ms: how late a bare thread wakes up, all cores at once.";
    format!("{about}\n{}\n", text(&table))
}

/// Renders the speed of simulated time, and the digest, for each N of the deterministic mode.
#[must_use]
pub fn render_simulations(simulations: &[Simulation]) -> String {
    let header = ["\nN", "\nruns", "simulated\ns", "real\ns", "simulated s\nper s", "\ndigest"];
    let mut table = table(&header, &[5]);
    for simulation in simulations {
        let row = vec![
            simulation.n.to_string(),
            simulation.turns.to_string(),
            format!("{:.1}", simulation.simulated_s),
            format!("{:.3}", simulation.wall_s),
            format!("{:.1}", simulation.speed()),
            simulation.digests.join("\n"),
        ];
        table.add_row(aligned(row, &[5]));
    }
    format!(
        "Deterministic mode. Its hot path takes 0 ms by construction: no simulated time passes in\n\
         callbacks. The figures show how fast it computes the same result every time.\n{}\n",
        text(&table)
    )
}

/// Renders the calls of each callback of the determinism benchmark in a run with this `outcome`,
/// and the nodes' final states, with the expected values.
#[must_use]
pub fn render_determinism(outcome: &Outcome, ties: Ties) -> String {
    let left = [0, 1];
    let mut calls = table(&["node", "callback", "calls", "expected", ""], &left);
    for (callback, found) in CALLBACKS.iter().zip(outcome.calls) {
        let names = vec![callback.node_name().to_owned(), callback.name()];
        calls.add_row(aligned(compared(names, found, callback.calls), &left));
    }
    let mut states = table(&["node", "state at the end", "expected", ""], &[0]);
    let expected = ties.expected();
    let nodes = NODES.iter().zip(outcome.states.0).zip(expected.0);
    let nodes = nodes.map(|((node, found), expected)| (node.0, found, expected));
    let all = ("final hash", outcome.states.hash(), expected.hash());
    for (name, found, expected) in nodes.chain([all]) {
        states.add_row(aligned(compared(vec![name.to_owned()], found, expected), &[0]));
    }
    format!("{}\n\n{}\n", text(&calls), text(&states))
}

fn compared(mut row: Vec<String>, found: u64, expected: u64) -> Vec<String> {
    let mark = if found == expected { "" } else { "differs" };
    row.extend([found.to_string(), expected.to_string(), mark.to_owned()]);
    row
}

fn times(factor: f64) -> String {
    match factor.abs() {
        size if size < 10.0 => format!("{factor:.2}x"),
        size if size < 1000.0 => format!("{factor:.1}x"),
        _ => format!("{factor:.0}x"),
    }
}

fn figure(summary: &Summary, ns: f64) -> String {
    if summary.is_empty() { "-".to_owned() } else { format_ms(ns) }
}

fn by_n(cells: &[Cell]) -> Vec<&Cell> {
    let mut sorted: Vec<&Cell> = cells.iter().collect();
    sorted.sort_by_key(|cell| cell.n);
    sorted
}

/// A table with a rule under its header and no other lines; the columns `left` are text.
fn table(header: &[&str], left: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(
        TableStyle::new().header_separator(comfy_table::LineStyle::none().fill('─').junction('─')),
    );
    table.set_header(aligned(header.iter().map(|text| (*text).to_owned()).collect(), left));
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table
}

fn aligned(texts: Vec<String>, left: &[usize]) -> Vec<TableCell> {
    let cell = |(index, text): (usize, String)| {
        let side = if left.contains(&index) { CellAlignment::Left } else { CellAlignment::Right };
        TableCell::new(text).set_alignment(side)
    };
    texts.into_iter().enumerate().map(cell).collect()
}

fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kpi::Kpis;

    fn cell(n: u64, mode: &str, values_ns: &[u64]) -> Cell {
        let kpis = Kpis {
            sample_to_start: Summary::of(values_ns),
            release_to_end: Summary::of(&[25_000]),
            planner_period: Summary::of(&[99_980_000, 100_020_000]),
            hot_path_drops: 3,
            ..Kpis::default()
        };
        Cell { n, mode: mode.to_owned(), turns: 5, floor_ns: 12_000, kpis, cpu_percent: 171.24 }
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    #[test]
    fn rows_are_sorted_by_n_which_is_shown_once() {
        let cells = [
            cell(512, "multi_core", &[1_000_000]),
            cell(64, "single_core", &[18_000, 20_000]),
            cell(64, "deterministic", &[19_000]),
        ];
        let text = render(&cells);
        let lines: Vec<&str> = text.lines().collect();
        let rows: Vec<Vec<&str>> =
            lines[5..].iter().map(|line| line.split_whitespace().collect()).collect();
        let start = ["64", "single_core", "0.019", "0.018", "0.020", "0.020"];
        assert_eq!(rows[0][..6], start, "{text}");
        assert_eq!(rows[0][6..10], ["0.025", "0.025", "0.025", "0.025"]);
        assert_eq!(rows[0][10..], ["3", "0.028", "171.2"]);
        assert_eq!(rows[1][0], "deterministic");
        assert_eq!(rows[2][..2], ["512", "multi_core"]);
        assert!(text.contains("N = 64: 0.012, 0.015. N = 512: 0.012,"), "{text}");
    }

    #[test]
    fn a_cell_without_samples_shows_dashes_and_no_nan() {
        let mut empty = cell(64, "single_core", &[]);
        empty.kpis.release_to_end = Summary::default();
        empty.floor_ns = 0;
        let text = render(&[empty]);
        assert_eq!(text.matches(" -").count(), 8, "{text}");
        assert!(!text.contains("NaN"));
    }

    #[test]
    fn the_tables_fit_100_columns_even_with_large_figures() {
        let mut large = cell(4096, "multi", &[23_600_000, 1_180_100_000]);
        large.kpis.hot_path_drops = 12_345;
        large.kpis.planner_period = Summary::of(&[1, 900_000_000_000]);
        let cells = [large, cell(64, "multi_core", &[18_000])];
        assert!(widest(&render(&cells)) <= 100, "{}", render(&cells));
        let beside = render_beside_published(&cells);
        assert!(widest(&beside) <= 100, "{beside}");
    }

    #[test]
    fn cells_stand_beside_published_figures_within_the_process() {
        let cells = [cell(64, "single_core", &[18_000]), cell(4096, "single_core", &[35_600_000])];
        let text = render_beside_published(&cells);
        let row = |start: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(start));
            line.unwrap_or(&text).split_whitespace().map(str::to_owned).collect()
        };
        let ours = ["0.012", "0.018", "0.018", "0.018", "1.50x", "1.50x", "1.50x"];
        let theirs = ["0.0035", "0.067", "0.140", "0.190", "19.1x", "40.0x", "54.3x"];
        assert_eq!(row("64 ")[1..3], ["ringspin", "single_core"]);
        assert_eq!(row("64 ")[3..], ours);
        assert_eq!(row("*rclcpp events, intra-process")[3..], theirs);
        assert_eq!(text.matches("*rclcpp").count(), 2, "none through Fast DDS: {text}");
        assert!(text.contains("another machine of the same kind"), "{text}");
    }

    #[test]
    fn unpublished_limits_have_no_comparison() {
        assert_eq!(render_beside_published(&[cell(100, "single_core", &[1])]), "");
    }

    #[test]
    fn a_simulation_that_differs_shows_every_digest() {
        let simulation = Simulation {
            n: 4096,
            turns: 3,
            simulated_s: 30.0,
            wall_s: 0.0625,
            digests: vec!["a".repeat(32), "b".repeat(32)],
        };
        let text = render_simulations(&[simulation]);
        assert!(text.contains(&"a".repeat(32)) && text.contains(&"b".repeat(32)), "{text}");
        assert!(text.contains("480.0") && widest(&text) <= 100, "{text}");
    }

    #[test]
    fn a_calibration_shows_floor_and_load() {
        let calibration = Calibration {
            n: 4096,
            primes: 564,
            min_ns: 1_000_000,
            median_ns: 2_000_000,
            max_ns: 3_000_000,
        };
        let text = render_calibrations(&[calibration]);
        let row: Vec<&str> = text.lines().nth(3).unwrap().split_whitespace().collect();
        assert_eq!(row, ["4096", "564", "1.000", "2.000", "3.000", "4.000", "0.380"]);
    }

    #[test]
    fn a_wrong_count_and_a_wrong_state_are_marked() {
        let mut outcome = Outcome {
            states: Ties::Total.expected(),
            calls: CALLBACKS.map(|callback| callback.calls),
            dispatches: 19_011,
            digest: String::new(),
        };
        assert!(!render_determinism(&outcome, Ties::Total).contains("differs"));
        outcome.calls[4] = 2500;
        outcome.states.0[1] ^= 1;
        let text = render_determinism(&outcome, Ties::Total);
        let marked = text.lines().filter(|line| line.ends_with("differs"));
        let marked: Vec<_> = marked.map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!(marked, ["B", "B", "final"], "{text}");
        assert!(widest(&text) <= 100, "{text}");
    }
}
