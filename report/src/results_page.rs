//! The page of several results side by side.

use crate::comparison::{Group, Named, Row, groups, paper_beside};
use crate::data::Definition;
use crate::figures::{self, Source, summarised};
use crate::format::ms;
use crate::markup::Markup;
use crate::page::{head, panels};
use crate::published::PAPER_SOURCE;
use crate::results::{Cell, Results, WakeUp};
use crate::statistics::{Ratio, Statistic};
use crate::summary::Summary;
use crate::{distribution, tables};

pub(crate) fn render(all: &[Named]) -> String {
    let groups = groups(all);
    let title = all.first().map_or("Latencies", |(_, results)| results.title.as_str());
    let mut out = Markup::default();
    out.raw("<!DOCTYPE html>\n");
    out.element("html", &[("lang", &"en"), ("xmlns", &"http://www.w3.org/1999/xhtml")], |out| {
        head(out, title);
        out.element("body", &[], |out| {
            out.element("main", &[], |out| {
                out.leaf("h1", &[], title);
                machines(out, all);
                charts(out, &groups, all);
                out.leaf("h2", &[], "All figures, in milliseconds");
                latencies(out, &groups, all);
                comparisons(out, &groups, all);
                wake_ups(out, all);
                costs(out, all);
                callbacks(out, all);
                findings(out, all);
            });
        });
    });
    out.line();
    out.into_text()
}

fn machines(out: &mut Markup, all: &[Named]) {
    let header = [
        "results",
        "machine",
        "operating system",
        "kernel",
        "cores",
        "governor",
        "isolated",
        "turn, s",
        "busy on purpose",
    ];
    let rows = all.iter().map(|(name, results)| {
        let machine = &results.machine;
        let real_time = if machine.real_time { ", real-time" } else { "" };
        let cells = vec![
            name.clone(),
            format!("{}, {}", machine.model, machine.architecture),
            machine.os.clone(),
            format!("{}{real_time}", machine.kernel),
            machine.cores.to_string(),
            machine.governor.clone(),
            machine.isolated.clone(),
            results.turn_s.to_string(),
            results.load_threads.to_string(),
        ];
        ("", cells)
    });
    tables::table(out, &header, 4, rows);
    for (name, results) in all {
        out.leaf("p", &[("class", &"muted")], &format!("{name}: {}", results.command));
    }
}

fn charts(out: &mut Markup, groups: &[Group], all: &[Named]) {
    out.leaf("h2", &[], "Latencies");
    let drawings = groups.iter().filter(|group| group.is_latency).filter_map(|group| {
        let rows: Vec<figures::Row> = drawn(group, all).chain(published(group)).collect();
        distribution::panel(&heading(group), &rows)
    });
    let caption = format!(
        "Violin: distribution of the latencies. White box: from the first to the third quartile; \
         thick stroke: median; thin stroke: 99th percentile; diamond: mean. A plain bar reaches \
         from the minimum to the maximum of the {PAPER_SOURCE}; those messages go through a \
         middleware, so compare like with like."
    );
    panels(out, drawings, &caption);
}

fn heading(group: &Group) -> String {
    match group.n {
        Some(n) => format!("N = {n}: {}", group.series),
        None => group.series.clone(),
    }
}

/// The name of a row; with that of its results if there are several.
fn label(results: usize, variant: &str, all: &[Named]) -> String {
    if all.len() == 1 { variant.to_owned() } else { format!("{variant}, {}", all[results].0) }
}

fn drawn(group: &Group, all: &[Named]) -> impl Iterator<Item = figures::Row> {
    group.rows.iter().filter_map(move |row| {
        let Row { results, variant, summary, samples_ns, .. } = row;
        let cell = cell(&all[*results].1, group.n, variant)?;
        // Machines have different floors, and a chart has one.
        let definition = Definition::ALL.into_iter().find(|of| of.name() == group.series);
        let floor = definition.filter(|_| all.len() == 1);
        let floor = floor.and_then(|of| figures::floor_ms(of, cell.crunch_ns));
        let label = label(*results, variant, all);
        summarised(label, Source::Live(*results), &group.series, summary, samples_ns, floor)
    })
}

fn cell<'a>(results: &'a Results, n: Option<u64>, variant: &str) -> Option<&'a Cell> {
    results.cells.iter().find(|cell| cell.n == n && cell.name == variant)
}

fn published(group: &Group) -> impl Iterator<Item = figures::Row> {
    paper_beside(group).into_iter().map(|(name, [min, mean, max, std])| figures::Row {
        executor: name.into(),
        source: Source::Peer,
        latency: group.series.clone(),
        min: Some(min),
        mean,
        p50: None,
        p99: f64::NAN,
        max,
        std: Some(std),
        floor: None,
        samples: Vec::new(),
    })
}

fn latencies(out: &mut Markup, groups: &[Group], all: &[Named]) {
    let header = [
        "N", "series", "variant", "samples", "min", "mean", "max", "std", "p50", "p99", "p99.9",
        "late",
    ];
    let mut rows = Vec::new();
    for group in groups {
        let n = group.n.map_or_else(String::new, |n| n.to_string());
        let first = rows.len();
        for row in &group.rows {
            let Summary { count, min_ns, mean_ns, p50_ns, p99_ns, p999_ns, max_ns, std_ns } =
                row.summary;
            let figures = [min_ns as f64, mean_ns, max_ns as f64, std_ns];
            let figures = figures.into_iter().chain([p50_ns, p99_ns, p999_ns].map(|ns| ns as f64));
            let name = label(row.results, &row.variant, all);
            let mut cells = vec![n.clone(), group.series.clone(), name, count.to_string()];
            cells.extend(figures.map(|ns| ms(ns / 1e6)));
            cells.push(row.misses.map_or_else(String::new, |misses| misses.to_string()));
            rows.push(("ours", cells));
        }
        for (name, figures) in paper_beside(group) {
            let mut cells = vec![n.clone(), group.series.clone(), name.into(), String::new()];
            cells.extend(figures.map(ms));
            cells.resize(header.len(), String::new());
            rows.push(("", cells));
        }
        if let Some((class, _)) = rows.get_mut(first) {
            *class = "first ours";
        }
    }
    tables::table(out, &header, 3, rows);
}

/// Text of a ratio: its interval and its verdict.
fn ratio_text(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(
        || "–".into(),
        |of| format!("{:.2} to {:.2}: {}", of.low, of.high, of.verdict()),
    )
}

fn comparisons(out: &mut Markup, groups: &[Group], all: &[Named]) {
    let mut rows = Vec::new();
    for group in groups {
        for row in &group.rows {
            let Some(against) = &row.against else { continue };
            let mut cells = vec![
                heading(group),
                label(row.results, &row.variant, all),
                label(against.results, &against.variant, all),
            ];
            cells.extend(against.ratios.map(ratio_text));
            rows.push(("", cells));
        }
    }
    if rows.is_empty() {
        return;
    }
    out.leaf("h2", &[], "Faster or slower");
    let text = "Ratio of the figures, as 95 % interval over turns and blocks of successive \
                samples. A dash: fewer than two turns, or too few samples. With many rows, one in \
                twenty differs by chance.";
    out.leaf("p", &[("class", &"muted")], text);
    let names = Statistic::ALL.map(Statistic::name);
    let header: Vec<&str> = ["latency", "variant", "against"].into_iter().chain(names).collect();
    tables::table(out, &header, 3, rows);
}

fn wake_ups(out: &mut Markup, all: &[Named]) {
    let rows = all.iter().flat_map(|(name, results)| {
        results.wake_ups.iter().map(move |WakeUp { core, priority, summary }| {
            let policy = priority.map_or("normal".into(), |of| format!("SCHED_FIFO {of}"));
            let Summary { min_ns, mean_ns, p50_ns, p99_ns, p999_ns, max_ns, .. } = *summary;
            let figures = [min_ns as f64, mean_ns, max_ns as f64, p50_ns as f64, p99_ns as f64];
            let mut cells = vec![name.clone(), core.to_string(), policy];
            cells.extend(figures.into_iter().chain([p999_ns as f64]).map(|ns| ms(ns / 1e6)));
            ("", cells)
        })
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        out.leaf("h2", &[], "Wake-up of a bare thread, in milliseconds");
        let header = ["results", "core", "policy", "min", "mean", "max", "p50", "p99", "p99.9"];
        tables::table(out, &header, 3, rows);
    }
}

fn costs(out: &mut Markup, all: &[Named]) {
    out.leaf("h2", &[], "Costs and losses");
    let header = [
        "variant",
        "N",
        "turns",
        "CPU, % of a core",
        "resident, MiB",
        "power, W",
        "others, cores",
        "dispatched",
        "overwritten",
        "missed periods",
        "drops",
        "hottest, °C",
        "throttled",
    ];
    let mut rows = Vec::new();
    for (index, (_, results)) in all.iter().enumerate() {
        for cell in results.cells.iter().filter(|cell| !cell.turns.is_empty()) {
            let turns = &cell.turns;
            let mean = |figures: Vec<f64>| {
                let sum: f64 = figures.iter().sum();
                (!figures.is_empty()).then(|| sum / figures.len() as f64)
            };
            let known = |figure: Option<f64>| figure.map_or("–".into(), |of| format!("{of:.1}"));
            let sum = |of: fn(&crate::results::Turn) -> u64| turns.iter().map(of).sum::<u64>();
            let rss = turns.iter().map(|turn| turn.rss_bytes).max().unwrap_or(0);
            let hottest = turns.iter().filter_map(|turn| turn.after.temperature_c);
            let throttled = turns.iter().filter_map(|turn| turn.after.throttled);
            let throttled = throttled.reduce(|a, b| a | b);
            let cells = vec![
                label(index, &cell.name, all),
                cell.n.map_or_else(String::new, |n| n.to_string()),
                turns.len().to_string(),
                known(mean(turns.iter().map(|turn| turn.cpu_percent).collect())),
                format!("{:.1}", rss as f64 / f64::from(1 << 20)),
                known(mean(turns.iter().filter_map(|turn| turn.watts).collect())),
                known(mean(turns.iter().filter_map(|turn| turn.other_busy_cores).collect())),
                sum(|turn| turn.dispatched).to_string(),
                sum(|turn| turn.overwritten).to_string(),
                sum(|turn| turn.missed_periods).to_string(),
                sum(|turn| turn.drops).to_string(),
                known(hottest.reduce(f64::max)),
                throttled.map_or("–".into(), |word| format!("{word:#x}")),
            ];
            rows.push(("", cells));
        }
    }
    tables::table(out, &header, 1, rows);
}

fn callbacks(out: &mut Markup, all: &[Named]) {
    let mut rows = Vec::new();
    for (index, (_, results)) in all.iter().enumerate() {
        for cell in &results.cells {
            // The last turn stands for all: histograms are not for exact figures.
            for callback in cell.turns.last().into_iter().flat_map(|turn| &turn.callbacks) {
                let of = &callback.durations;
                let mean_ns = of.total_ns as f64 / of.count.max(1) as f64;
                let p99_ns = of.quantile(0.99).as_nanos() as f64;
                let mut cells = vec![
                    label(index, &cell.name, all),
                    callback.name.clone(),
                    of.count.to_string(),
                ];
                let figures = [of.min_ns as f64, mean_ns, p99_ns, of.max_ns as f64];
                cells.extend(figures.map(|ns| ms(ns / 1e6)));
                rows.push(("", cells));
            }
        }
    }
    if !rows.is_empty() {
        out.leaf("h2", &[], "Durations of callbacks in the last turn, in milliseconds");
        let header = ["variant", "callback", "calls", "min", "mean", "p99", "max"];
        tables::table(out, &header, 2, rows);
    }
}

fn findings(out: &mut Markup, all: &[Named]) {
    let rows: Vec<_> = all
        .iter()
        .flat_map(|(name, results)| {
            let row = |of: &crate::results::Finding| {
                ("", vec![name.clone(), of.found.clone(), of.fix.clone()])
            };
            results.findings.iter().map(row)
        })
        .collect();
    if !rows.is_empty() {
        out.leaf("h2", &[], "Conditions that disturb a measurement");
        tables::table(out, &["results", "found", "remedy"], 3, rows);
    }
}
