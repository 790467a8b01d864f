//! The result of a comparison as text tables of at most 100 columns.
//!
//! One row per (N, mode): six figures per mode side by side, as the paper prints them, do not fit a
//! terminal. A duration keeps about three significant digits, because 0.018 ms and 504.8 ms stand
//! in one column.

use comfy_table::{Cell as TableCell, CellAlignment, Table, TableStyle};
use serde::{Deserialize, Serialize};

use crate::kpi::{Kpis, Summary};
use crate::published::{self, RclcppExecutor, RclcppRow};

/// The result of one mode at one crunch limit, its turns pooled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The crunch limit.
    pub n: u64,
    /// The mode's name.
    pub mode: String,
    /// Runs pooled in `kpis`.
    pub turns: usize,
    /// The KPIs of all turns.
    pub kpis: Kpis,
    /// CPU time as a percentage of one core.
    pub cpu_percent: f64,
    /// Resident memory, in bytes.
    pub rss_bytes: u64,
}

/// The hot path (to start) of every cell, by rising N, modes in the given order.
///
/// Latencies and the planner's deviation are in ms; "-" stands where nothing was measured.
#[must_use]
pub fn render(cells: &[Cell]) -> String {
    let header = [
        "\nN",
        "\nmode",
        "\nturns",
        "\nmin",
        "\navg",
        "\np50",
        "\np99",
        "\nmax",
        "\nstd",
        "\ndrops",
        "planner\nstd",
        "CPU\n%",
        "RSS\nMiB",
    ];
    let mut table = table(&header, &[1]);
    let sorted = by_n(cells);
    for (index, cell) in sorted.iter().enumerate() {
        let starts_group = index == 0 || sorted[index - 1].n != cell.n;
        table.add_row(aligned(row_of(cell, starts_group), &[1]));
    }
    format!(
        "Hot path latency to the start of the collision estimator, in ms.\n{}\n",
        text(&table)
    )
}

fn row_of(cell: &Cell, starts_group: bool) -> Vec<String> {
    let hot_path = &cell.kpis.hot_path_start;
    let planner = &cell.kpis.planner_period;
    vec![
        if starts_group {
            cell.n.to_string()
        } else {
            String::new()
        },
        cell.mode.clone(),
        cell.turns.to_string(),
        figure(hot_path, hot_path.min_ns as f64),
        figure(hot_path, hot_path.mean_ns),
        figure(hot_path, hot_path.p50_ns as f64),
        figure(hot_path, hot_path.p99_ns as f64),
        figure(hot_path, hot_path.max_ns as f64),
        figure(hot_path, hot_path.std_ns),
        cell.kpis.hot_path_drops.to_string(),
        figure(planner, planner.std_ns),
        format!("{:.1}", cell.cpu_percent),
        format!("{:.1}", cell.rss_bytes as f64 / (1024.0 * 1024.0)),
    ]
}

/// Average and maximum of every cell whose N was measured with rclcpp, beside the best rclcpp
/// executor in each respect. Empty when there is no such cell.
#[must_use]
pub fn render_beside_published(cells: &[Cell]) -> String {
    let header = [
        "\nN",
        "\nmode",
        "our\navg",
        "our\nmax",
        "their\nfloor",
        "rclcpp's\nbest avg",
        "rclcpp's\nbest max",
    ];
    let left = [1];
    let mut table = table(&header, &left);
    let mut previous_n = None;
    for cell in by_n(cells) {
        let Some(published) = published::rclcpp_at(cell.n) else {
            continue;
        };
        let starts_group = previous_n.replace(cell.n) != Some(cell.n);
        table.add_row(aligned(published_row(cell, published, starts_group), &left));
    }
    if previous_n.is_none() {
        return String::new();
    }
    format!(
        "Hot path latency to the start of the collision estimator, in ms, beside\n{}.\n{}\n\
         The machines, compilers and middleware differ: read the order of magnitude, not\n\
         the factor. Their floor is four crunches there; compare four crunches calibrated here.\n\
         * starved the behaviour planner.\n",
        published::RCLCPP_SOURCE,
        text(&table),
    )
}

fn published_row(cell: &Cell, published: &RclcppRow, starts_group: bool) -> Vec<String> {
    let (best_avg, best_max) = (published.best_average(), published.best_maximum());
    let named = |figure: f64, executor: RclcppExecutor| {
        let mark = if executor.starved_the_planner(cell.n) {
            "*"
        } else {
            ""
        };
        format!("{} ({}{mark})", format_ms(figure * 1e6), executor.label())
    };
    let first = |text: String| if starts_group { text } else { String::new() };
    let hot_path = &cell.kpis.hot_path_start;
    vec![
        first(cell.n.to_string()),
        cell.mode.clone(),
        figure(hot_path, hot_path.mean_ns),
        figure(hot_path, hot_path.max_ns as f64),
        first(format_ms(published.floor_ms * 1e6)),
        first(named(published.of(best_avg).avg_ms, best_avg)),
        first(named(published.of(best_max).max_ms, best_max)),
    ]
}

/// `ns` in milliseconds with about three significant digits: 0.0004, 0.018, 1.260, 59.40, 504.8.
#[must_use]
pub fn format_ms(ns: f64) -> String {
    let ms = ns / 1e6;
    match ms.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.01 => format!("{ms:.4}"),
        size if size < 10.0 => format!("{ms:.3}"),
        size if size < 100.0 => format!("{ms:.2}"),
        size if size < 10_000.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

fn figure(summary: &Summary, ns: f64) -> String {
    if summary.is_empty() {
        "-".to_owned()
    } else {
        format_ms(ns)
    }
}

fn by_n(cells: &[Cell]) -> Vec<&Cell> {
    let mut sorted: Vec<&Cell> = cells.iter().collect();
    sorted.sort_by_key(|cell| cell.n);
    sorted
}

/// A table with a rule under its header and no other line; the columns `left` are text.
fn table(header: &[&str], left: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(
        TableStyle::new().header_separator(comfy_table::LineStyle::none().fill('─').junction('─')),
    );
    table.set_header(aligned(
        header.iter().map(|text| (*text).to_owned()).collect(),
        left,
    ));
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table
}

fn aligned(texts: Vec<String>, left: &[usize]) -> Vec<TableCell> {
    let cell = |(index, text): (usize, String)| {
        let side = if left.contains(&index) {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        };
        TableCell::new(text).set_alignment(side)
    };
    texts.into_iter().enumerate().map(cell).collect()
}

fn text(table: &Table) -> String {
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(n: u64, mode: &str, values_ns: &[u64]) -> Cell {
        let kpis = Kpis {
            hot_path_start: Summary::of(values_ns),
            planner_period: Summary::of(&[99_980_000, 100_020_000]),
            hot_path_drops: 3,
            ..Kpis::default()
        };
        Cell {
            n,
            mode: mode.to_owned(),
            turns: 5,
            kpis,
            cpu_percent: 171.24,
            rss_bytes: 9 << 20,
        }
    }

    fn widest(text: &str) -> usize {
        text.lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn a_duration_keeps_its_leading_digits() {
        let shown = [
            0.0,
            400.0,
            18_000.0,
            1_260_000.0,
            59_400_000.0,
            504_800_000.0,
        ]
        .map(format_ms);
        assert_eq!(shown, ["0", "0.0004", "0.018", "1.260", "59.40", "504.8"]);
        assert_eq!(format_ms(1_180_100_000.0), "1180.1");
    }

    #[test]
    fn rows_rise_by_n_and_name_it_once() {
        let cells = [
            cell(512, "multi_core", &[1_000_000]),
            cell(64, "single_core", &[18_000, 20_000]),
            cell(64, "deterministic", &[19_000]),
        ];
        let text = render(&cells);
        let lines: Vec<&str> = text.lines().collect();
        let rows: Vec<Vec<&str>> = lines[4..]
            .iter()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let row = [
            "64",
            "single_core",
            "5",
            "0.018",
            "0.019",
            "0.018",
            "0.020",
            "0.020",
            "0.0014",
        ];
        assert_eq!(rows[0][..9], row);
        assert_eq!(rows[0][9..], ["3", "0.028", "171.2", "9.0"]);
        assert_eq!(rows[1][0], "deterministic");
        assert_eq!(rows[2][..2], ["512", "multi_core"]);
    }

    #[test]
    fn a_cell_without_samples_shows_dashes_and_no_nan() {
        let text = render(&[cell(64, "single_core", &[])]);
        assert_eq!(text.lines().last().unwrap().matches(" -").count(), 6);
        assert!(!text.contains("NaN"));
    }

    #[test]
    fn the_tables_fit_100_columns_even_with_large_figures() {
        let mut large = cell(4096, "deterministic", &[23_600_000, 1_180_100_000]);
        large.kpis.hot_path_drops = 12_345;
        large.kpis.planner_period = Summary::of(&[1, 900_000_000_000]);
        let cells = [large, cell(64, "multi_core", &[18_000])];
        assert!(widest(&render(&cells)) <= 100, "{}", render(&cells));
        let beside = render_beside_published(&cells);
        assert!(widest(&beside) <= 100, "{beside}");
    }

    #[test]
    fn the_best_rclcpp_executors_stand_beside_ours() {
        let cells = [
            cell(64, "single_core", &[18_000]),
            cell(4096, "single_core", &[35_600_000]),
        ];
        let text = render_beside_published(&cells);
        assert!(
            text.contains("0.330 (events)") && text.contains("0.450 (events)"),
            "{text}"
        );
        assert!(text.contains("47.00 (static single*)"), "{text}");
        assert!(text.contains("0.018") && text.contains("35.60"), "{text}");
        assert!(text.contains("machines, compilers and middleware differ"));
    }

    #[test]
    fn nothing_is_compared_where_nothing_was_published() {
        assert_eq!(
            render_beside_published(&[cell(100, "single_core", &[1])]),
            ""
        );
    }

    #[test]
    fn a_cell_survives_json() {
        let cell = cell(64, "single_core", &[18_000]);
        let json = serde_json::to_string(&cell).unwrap();
        assert_eq!(serde_json::from_str::<Cell>(&json).unwrap(), cell);
    }
}
