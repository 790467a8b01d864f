//! Results as text tables of at most 100 columns.
//!
//! Durations keep about three significant digits, because 0.018 ms and 504.8 ms appear in one
//! column.

mod results;
mod tuning;

pub use results::{Beside, render_results};
pub use tuning::{
    render_confirmed, render_estimates, render_phases, render_search, render_side_effects,
};

use comfy_table::{Cell as TableCell, CellAlignment, Table, TableStyle};

use crate::crunch::Calibration;
use ringspin_report::{Summary, format_ms};

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

fn figure(summary: &Summary, ns: f64) -> String {
    if summary.is_empty() { "-".to_owned() } else { format_ms(ns) }
}

/// A table with a rule under its header and no other lines; the columns `left` are text.
#[must_use]
pub fn table(header: &[&str], left: &[usize]) -> Table {
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

/// A row of such a table.
#[must_use]
pub fn aligned(texts: Vec<String>, left: &[usize]) -> Vec<TableCell> {
    let cell = |(index, text): (usize, String)| {
        let side = if left.contains(&index) { CellAlignment::Left } else { CellAlignment::Right };
        TableCell::new(text).set_alignment(side)
    };
    texts.into_iter().enumerate().map(cell).collect()
}

/// The table as text without spaces at the ends of lines.
#[must_use]
pub fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
