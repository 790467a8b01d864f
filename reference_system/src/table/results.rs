//! Tables of several results, with the paper's.

use super::{aligned, figure, table, text, wrapped};
use comfy_table::Table;
use ringspin_report::comparison::{Group, Named, Row, groups, paper_beside};
use ringspin_report::format_ms;
use ringspin_report::published::PAPER_SOURCE;
use ringspin_report::statistics::Statistic;
use std::fmt::Write;

/// Renders the machines, the figures of each series by N with the paper's Table I, and the ratios
/// with their intervals.
#[must_use]
pub fn render_results(all: &[Named]) -> String {
    let mut shown = String::new();
    for (index, (name, results)) in all.iter().enumerate() {
        let machine = &results.machine;
        let real_time = if machine.real_time { ", real-time" } else { "" };
        let about = format!(
            "{}: {name}: {}, {} cores, {}, kernel {}{real_time}; turns of {} s",
            letter(index),
            machine.model,
            machine.cores,
            machine.os,
            machine.kernel,
            results.turn_s,
        );
        shown += &wrapped(&about);
        let turns = || results.cells.iter().flat_map(|cell| &cell.turns);
        let words = turns().filter_map(|turn| turn.after.throttled).reduce(|a, b| a | b);
        if let Some(said) = words.and_then(ringspin_bench::throttling) {
            shown += &wrapped(&format!("   Attention, {said}: the figures are too long."));
        }
    }
    let groups = groups(all);
    let mut names: Vec<&str> = groups.iter().map(|group| &*group.series).collect();
    names.sort_unstable();
    names.dedup();
    for name in &names {
        let of_name: Vec<&Group> = groups.iter().filter(|group| group.series == *name).collect();
        let _ = write!(shown, "\n{name}, in ms\n{}\n", text(&figures(&of_name)));
        if of_name.iter().any(|group| !paper_beside(group).is_empty()) {
            shown += &wrapped(&format!("*{PAPER_SOURCE}."));
        }
        let ratios = ratios(&of_name);
        if !ratios.is_empty() {
            let _ = write!(shown, "\n{name}, ratios\n{}\n", text(&ratios));
        }
    }
    let about = "A ratio is a 95 % interval over turns and blocks of samples; - where there are \
                 fewer than two turns, or too few samples. Of many rows, one in twenty differs by \
                 chance.";
    shown + "\n" + &wrapped(about)
}

/// The short name of results.
fn letter(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map_or_else(|| format!("#{}", index + 1), |index| char::from(b'A' + index).to_string())
}

fn figures(groups: &[&Group]) -> Table {
    let header = ["N", "", "variant", "min", "mean", "max", "std", "p50", "p99", "p99.9", "late"];
    let left = [1, 2];
    let mut table = table(&header, &left);
    for group in groups {
        let mut n = group.n.map_or_else(String::new, |n| n.to_string());
        for Row { results, variant, summary, misses, .. } in &group.rows {
            let mut cells = vec![std::mem::take(&mut n), letter(*results), variant.clone()];
            let of = summary;
            let all = [of.min_ns as f64, of.mean_ns, of.max_ns as f64, of.std_ns, of.p50_ns as f64];
            let all = all.into_iter().chain([of.p99_ns as f64, of.p999_ns as f64]);
            cells.extend(all.map(|ns| figure(of, ns)));
            cells.push(misses.map_or_else(String::new, |misses| misses.to_string()));
            table.add_row(aligned(cells, &left));
        }
        for (name, figures_ms) in paper_beside(group) {
            let mut cells = vec![String::new(), "*".into(), name.into()];
            cells.extend(figures_ms.map(|ms| format_ms(ms * 1e6)));
            cells.resize(header.len(), String::new());
            table.add_row(aligned(cells, &left));
        }
    }
    table
}

fn ratios(groups: &[&Group]) -> Table {
    let names = Statistic::ALL.map(Statistic::name);
    let header: Vec<&str> = ["N", "variant", "against"].into_iter().chain(names).collect();
    let left: Vec<usize> = (1..header.len()).collect();
    let mut table = table(&header, &left);
    for group in groups {
        for row in &group.rows {
            let Some(against) = &row.against else { continue };
            let named = |results: usize, variant: &str| format!("{} {variant}", letter(results));
            let mut cells = vec![
                group.n.map_or_else(String::new, |n| n.to_string()),
                named(row.results, &row.variant),
                named(against.results, &against.variant),
            ];
            cells.extend(against.ratios.map(|ratio| {
                ratio.map_or_else(
                    || "-".to_owned(),
                    |of| format!("{:.2} to {:.2}\n{}", of.low, of.high, of.verdict()),
                )
            }));
            table.add_row(aligned(cells, &left));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_bench::results::{Cell, Conditions, Results, Series, Turn};

    fn results(scale: u64, throttled: Option<u32>) -> Results {
        let turn = |turn: u64| Turn {
            latencies: vec![Series::new(
                "sample to start",
                (0..40).map(|n| scale * (n + 90 + turn)).collect(),
            )],
            after: Conditions { throttled, ..Conditions::default() },
            ..Turn::default()
        };
        let turns = [0, 1, 2].map(turn).to_vec();
        let name = "multi-realtime, hybrid".to_owned();
        let cell = Cell { name, n: Some(4096), turns, ..Cell::default() };
        Results { cells: vec![cell], ..Results::default() }
    }

    #[test]
    fn results_stand_beside_the_paper_with_verdicts_in_100_columns() {
        let all = [
            ("here.json".to_owned(), results(100_000, None)),
            ("pi.json".to_owned(), results(200_000, Some(4))),
        ];
        let text = render_results(&all);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let row = |start: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(start));
            line.unwrap_or_else(|| panic!("{text}")).split_whitespace().map(String::from).collect()
        };
        let start = ["4096", "A", "multi-realtime,", "hybrid", "9.000", "11.05", "13.10"];
        assert_eq!(row("4096")[..7], start);
        assert_eq!(row("*  ring")[1..5], ["ring", "buffer,", "paper", "23.60"]);
        assert!(text.contains("slower") && !text.contains("faster"), "{text}");
        assert!(text.contains("Attention, the processor is throttled"), "{text}");
    }
}
