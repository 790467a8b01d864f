//! The table of latencies: every command that measures prints the same one.

use super::{aligned, figure, table, text, wrapped};
use comfy_table::Table;
use ringspin_bench::results::{Cell, Turn, WakeUp};
use ringspin_report::comparison::{Group, Named, PeerRow, Row, groups};
use ringspin_report::peers::{PAPER, RCLCPP};
use ringspin_report::statistics::Statistic;
use ringspin_report::{Summary, format_ms};
use std::fmt::Write;

/// The rows that stand beside those of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// rclcpp within the process, which has a known floor.
    Rclcpp,
    /// In addition the paper's Table I, and the ratios of variants with their intervals.
    All,
}

/// Renders the machines, each series by N with its peers, the costs, the wake-ups of bare threads,
/// and the digests of deterministic cells.
#[must_use]
pub fn render_results(all: &[Named], beside: Beside) -> String {
    let groups = groups(all);
    let mut shown = machines(all);
    let mut names: Vec<&str> = Vec::new();
    for group in &groups {
        if !names.contains(&&*group.series) {
            names.push(&group.series);
        }
    }
    for name in names {
        let of_name: Vec<&Group> = groups.iter().filter(|group| group.series == name).collect();
        let _ = write!(shown, "\n{name}, in ms\n{}\n", text(&figures(&of_name, all, beside)));
        if of_name.iter().any(|group| group.peers.iter().any(|peer| is_shown(peer, beside))) {
            let paper =
                if beside == Beside::All { format!("; {}", PAPER.source) } else { String::new() };
            shown += &wrapped(&format!("*{}{paper}.", RCLCPP.source));
        }
        if of_name.iter().any(|group| group.rows.iter().any(|row| row.floor_ns.is_some())) {
            shown += &wrapped(MULTIPLES);
        }
        let ratios = ratios(&of_name);
        if beside == Beside::All && !ratios.is_empty() {
            let _ = write!(shown, "\n{name}, ratios\n{}\n", text(&ratios));
            shown += &wrapped(RATIO);
        }
    }
    for (about, table) in
        [(COSTS, costs(all)), (SIMULATED, simulations(all)), (FLOOR, wake_ups(all))]
    {
        if !table.is_empty() {
            let _ = write!(shown, "\n{}{}\n", wrapped(about), text(&table));
        }
    }
    shown
}

const MULTIPLES: &str = "x floor: the mean as multiple of the work on the path on its machine, 4 \
    crunches to the start of the collision estimator and 5 to its end; one more on a single core.";

const RATIO: &str = "A ratio is a 95 % interval over turns and blocks of samples; - where there \
    are fewer than two turns, or too few samples. Of many rows, one in twenty differs by chance.";

const COSTS: &str = "Costs and losses: CPU in percent of a core, resident memory in MiB, messages \
    that a newer one overwrote, timer periods without a call, samples dropped on the hot path.";

const SIMULATED: &str = "Deterministic mode. No simulated time passes in callbacks, so its hot \
    path takes 0 ms by construction. How fast it computes the same result every time:";

const FLOOR: &str =
    "The floor of the system in ms: how late a bare thread wakes up, all cores at once.";

fn machines(all: &[Named]) -> String {
    let mut shown = String::new();
    for (index, (name, results)) in all.iter().enumerate() {
        let machine = &results.machine;
        let real_time = if machine.real_time { ", real-time" } else { "" };
        let name =
            if all.len() > 1 { format!("{}: {name}: ", letter(index)) } else { String::new() };
        let about = format!(
            "{name}{}, {}, {}, kernel {}{real_time}; turns of {} s, interleaved",
            machine.model,
            cores(machine.cores),
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
    shown
}

fn cores(count: usize) -> String {
    if count == 1 { "1 core".into() } else { format!("{count} cores") }
}

/// The short name of results.
fn letter(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map_or_else(|| format!("#{}", index + 1), |index| char::from(b'A' + index).to_string())
}

/// A variant with the letter of its results, if there are several.
fn named(results: usize, variant: &str, all: &[Named]) -> String {
    if all.len() > 1 { format!("{} {variant}", letter(results)) } else { variant.to_owned() }
}

fn is_shown(peer: &PeerRow, beside: Beside) -> bool {
    beside == Beside::All || peer.floor_ms.is_some()
}

fn figures(groups: &[&Group], all: &[Named], beside: Beside) -> Table {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let has_floor = rows().any(|row| row.floor_ns.is_some());
    let has_deadline = rows().any(|row| row.misses.is_some());
    let mut header = vec!["N", "variant", "mean", "p50", "p99", "p99.9", "max", "std"];
    header.extend(has_floor.then_some("x floor"));
    header.extend(has_deadline.then_some("late"));
    let mut table = table(&header, &[1]);
    let times = |ratio: Option<f64>| ratio.map_or_else(|| "-".into(), |of| format!("{of:.2}"));
    for group in groups {
        let mut n = group.n.map_or_else(String::new, |n| n.to_string());
        for Row { results, variant, summary, floor_ns, misses, .. } in &group.rows {
            let Summary { mean_ns, p50_ns, p99_ns, p999_ns, max_ns, std_ns, .. } = *summary;
            let whole = [p50_ns, p99_ns, p999_ns, max_ns].map(|ns| ns as f64);
            let mut cells = vec![std::mem::take(&mut n), named(*results, variant, all)];
            let figures = [mean_ns].into_iter().chain(whole).chain([std_ns]);
            cells.extend(figures.map(|ns| figure(summary, ns)));
            cells.push(times(floor_ns.map(|floor| mean_ns / floor as f64)));
            cells.truncate(8 + usize::from(has_floor));
            cells.extend(misses.map(|misses| misses.to_string()));
            table.add_row(aligned(cells, &[1]));
        }
        for peer in group.peers.iter().filter(|peer| is_shown(peer, beside)) {
            let of = &peer.figures;
            let known = [Some(of.mean_ms), None, of.p99_ms, None, Some(of.max_ms), of.std_ms];
            let mut cells = vec![String::new(), format!("*{}", peer.name)];
            cells.extend(known.map(|ms| ms.map_or_else(|| "-".into(), |ms| format_ms(ms * 1e6))));
            cells.push(times(peer.floor_ms.map(|floor| of.mean_ms / floor)));
            cells.truncate(8 + usize::from(has_floor));
            table.add_row(aligned(cells, &[1]));
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

/// The cells with a turn, with the index of their results.
fn measured(all: &[Named]) -> impl Iterator<Item = (usize, &Cell)> {
    let cells = all.iter().enumerate();
    let cells = cells.flat_map(|(index, (_, of))| of.cells.iter().map(move |cell| (index, cell)));
    cells.filter(|(_, cell)| !cell.turns.is_empty())
}

fn costs(all: &[Named]) -> Table {
    let header = ["N", "variant", "turns", "CPU", "MiB", "overwritten", "missed", "dropped"];
    let mut table = table(&header, &[1]);
    let mut last = None;
    let mut sorted: Vec<_> = measured(all).collect();
    sorted.sort_by_key(|(_, cell)| cell.n);
    for (results, cell) in sorted {
        let turns = &cell.turns;
        let sum = |of: fn(&Turn) -> u64| turns.iter().map(of).sum::<u64>().to_string();
        let cpu = turns.iter().map(|turn| turn.cpu_percent).sum::<f64>() / turns.len() as f64;
        let rss = turns.iter().map(|turn| turn.rss_bytes).max().unwrap_or(0);
        let n = cell.n.filter(|_| last.replace(cell.n) != Some(cell.n));
        let cells = vec![
            n.map_or_else(String::new, |n| n.to_string()),
            named(results, &cell.name, all),
            turns.len().to_string(),
            format!("{cpu:.1}"),
            format!("{:.1}", rss as f64 / f64::from(1 << 20)),
            sum(|turn| turn.overwritten),
            sum(|turn| turn.missed_periods),
            sum(|turn| turn.drops),
        ];
        table.add_row(aligned(cells, &[1]));
    }
    table
}

fn wake_ups(all: &[Named]) -> Table {
    let header = ["core", "policy", "wake-ups", "min", "mean", "p50", "p99", "p99.9", "max"];
    let mut table = table(&header, &[0, 1]);
    let each = all.iter().enumerate();
    let each = each.flat_map(|(index, (_, of))| of.wake_ups.iter().map(move |of| (index, of)));
    for (results, WakeUp { core, priority, summary }) in each {
        let Summary { count, min_ns, mean_ns, p50_ns, p99_ns, p999_ns, max_ns, .. } = *summary;
        let policy = priority.map_or("normal".into(), |priority| format!("SCHED_FIFO {priority}"));
        let mut row = vec![named(results, &core.to_string(), all), policy, count.to_string()];
        let figures = [min_ns as f64, mean_ns, p50_ns as f64, p99_ns as f64];
        row.extend(figures.into_iter().chain([p999_ns as f64, max_ns as f64]).map(format_ms));
        table.add_row(aligned(row, &[0, 1]));
    }
    table
}

/// The speed of simulated time, and the distinct digests of each deterministic cell.
fn simulations(all: &[Named]) -> Table {
    let header = ["\nN", "\nruns", "simulated\ns", "real\ns", "simulated s\nper s", "\ndigest"];
    let mut table = table(&header, &[5]);
    for (results, cell) in measured(all) {
        let mut digests: Vec<&str> =
            cell.turns.iter().filter_map(|turn| turn.digest.as_deref()).collect();
        let runs = digests.len();
        if runs == 0 {
            continue;
        }
        digests.sort_unstable();
        digests.dedup();
        let simulated_s = all[results].1.turn_s * runs as f64;
        let wall_s = cell.turns.iter().map(|turn| turn.wall_s).sum::<f64>();
        let row = vec![
            named(results, &cell.n.unwrap_or_default().to_string(), all),
            runs.to_string(),
            format!("{simulated_s:.1}"),
            format!("{wall_s:.3}"),
            format!("{:.1}", simulated_s / wall_s),
            digests.join("\n"),
        ];
        table.add_row(aligned(row, &[5]));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_bench::results::{Conditions, Results, Series};

    fn cell(name: &str, n: u64, scale: u64) -> Cell {
        let turn = |turn: u64| Turn {
            latencies: vec![Series::new(
                "sample to start",
                (0..40).map(|n| scale * (n + 90 + turn)).collect(),
            )],
            periods: vec![Series::new("planner period", vec![99_980_000, 100_020_000])],
            cpu_percent: 171.24,
            overwritten: 2,
            ..Turn::default()
        };
        let turns = [0, 1, 2].map(turn).to_vec();
        Cell { name: name.to_owned(), n: Some(n), crunch_ns: 2_000_000, turns, ..Cell::default() }
    }

    fn results(cells: Vec<Cell>) -> Named {
        ("here".to_owned(), Results { cells, turn_s: 10.0, ..Results::default() })
    }

    /// The words of the line that begins with `start`.
    fn row(text: &str, start: &str) -> Vec<String> {
        let line = text.lines().find(|line| line.trim_start().starts_with(start));
        line.unwrap_or_else(|| panic!("{start}: {text}"))
            .split_whitespace()
            .map(String::from)
            .collect()
    }

    #[test]
    fn results_stand_beside_the_paper_with_verdicts_in_100_columns() {
        let name = "multi-realtime, hybrid";
        let mut throttled = results(vec![cell(name, 4096, 200_000)]);
        for turn in &mut throttled.1.cells[0].turns {
            turn.after = Conditions { throttled: Some(4), ..Conditions::default() };
        }
        let all = [results(vec![cell(name, 4096, 100_000)]), throttled];
        let text = render_results(&all, Beside::All);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let start = ["4096", "A", "multi-realtime,", "hybrid", "11.05", "11.00", "13.00", "13.10"];
        assert_eq!(row(&text, "4096")[..8], start);
        let paper = ["*ring", "buffer,", "paper", "29.10", "-", "-", "-", "56.00", "5.200", "-"];
        assert_eq!(row(&text, "*ring buffer, paper"), paper);
        assert!(text.contains("slower") && !text.contains("faster"), "{text}");
        assert!(text.contains("Attention, the processor is throttled"), "{text}");
    }

    #[test]
    fn one_result_has_each_n_once_beside_rclcpp_within_the_process() {
        let cells =
            vec![cell("single", 1024, 100_000), cell("single", 64, 900), cell("multi", 64, 500)];
        let text = render_results(&[results(cells)], Beside::Rclcpp);
        let rows: Vec<_> = text.lines().map(|line| line.split_whitespace().next()).collect();
        assert_eq!(rows.iter().filter(|first| **first == Some("64")).count(), 3, "{text}");
        let theirs = ["0.067", "-", "0.140", "-", "0.190", "-", "19.14"];
        assert_eq!(row(&text, "*rclcpp events, intra-process")[3..], theirs);
        assert_eq!(text.matches("*rclcpp").count(), 3, "two loads and their source: {text}");
        assert_eq!(row(&text, "multi")[7], "0.01", "a multiple of the floor: {text}");
        assert!(!text.contains("paper") && !text.contains("ratios"), "{text}");
        assert!(text.contains("171.2") && text.contains("planner period"), "{text}");
    }

    #[test]
    fn deterministic_cells_have_no_latencies_and_show_every_digest() {
        let mut simulated = cell("deterministic", 64, 0);
        for (turn, digest) in simulated.turns.iter_mut().zip(["b", "a", "b"]) {
            (turn.digest, turn.wall_s) = (Some(digest.repeat(32)), 0.0625 / 3.0);
        }
        let text = render_results(&[results(vec![simulated])], Beside::Rclcpp);
        let line = text.lines().find(|line| line.contains("480.0")).unwrap_or(&text);
        let row: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(row, ["64", "3", "30.0", "0.062", "480.0", &"a".repeat(32)]);
        assert!(text.contains(&"b".repeat(32)) && !text.contains("sample to start"), "{text}");
    }
}
