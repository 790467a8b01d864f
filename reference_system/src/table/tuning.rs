//! Tables of a search and its confirmation: simulated latencies, predictions and measurements.

use super::{aligned, table, text};
use crate::optimize::{Estimate, PhaseRow, Tuned, definitions};
use ringspin_optimizer::{
    Chain, ChainLatency, Confirmed, Latency, Objective, PeriodicTimer, Term, TermUnit,
};
use ringspin_report::format_ms;

/// Renders the result of the search: evaluations, time, and the terms of its score.
#[must_use]
pub fn render_search(tuned: &Tuned, objective: &Objective) -> String {
    let mut header = ["tried", "s"].map(str::to_owned).to_vec();
    header.extend(objective.terms().iter().map(|term| heading(*term)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, &[]);
    let found = &tuned.found;
    let mut row = vec![found.evaluations.to_string(), format!("{:.2}", tuned.wall.as_secs_f64())];
    let terms = objective.terms().iter().zip(found.score.terms());
    row.extend(terms.map(|(term, value)| value_of(*term, *value)));
    table.add_row(aligned(row, &[]));
    format!("{}\n", text(&table))
}

fn heading(term: Term) -> String {
    let name = term.name().replace('-', "\n");
    match term.unit() {
        TermUnit::Nanoseconds => format!("{name}, ms"),
        TermUnit::Millionths => format!("{name}, %"),
        TermUnit::Count => name,
    }
}

fn value_of(term: Term, value: u64) -> String {
    match term.unit() {
        TermUnit::Nanoseconds if value == u64::MAX => "never".into(),
        TermUnit::Nanoseconds => format_ms(value as f64),
        TermUnit::Millionths => format!("{:.1}", value as f64 / 1e4),
        TermUnit::Count => value.to_string(),
    }
}

/// Renders two rows for each mapping and chain, one for each definition of its latency, simulated.
#[must_use]
pub fn render_estimates(chains: &[Chain], estimates: &[Estimate]) -> String {
    let header =
        ["\nmapping", "\nchain", "\nlatency, ms", "simulated\nmean", "\np50", "\np99", "\nmax"];
    let mut table = table(&header, &[0, 1, 2]);
    for (mapping, evaluation) in estimates {
        for (chain, simulated) in chains.iter().zip(&evaluation.chains) {
            for (name, latency) in definitions(simulated) {
                let mut row = vec![mapping.to_string(), chain.name.clone(), name.to_owned()];
                row.extend(figures(simulated, latency));
                table.add_row(aligned(row, &[0, 1, 2]));
            }
        }
    }
    format!("{}\n", text(&table))
}

/// Renders the simulated side effects of a mapping beside another one: the jitter of every
/// timer that changes by more than a microsecond, and lost messages.
#[must_use]
pub fn render_side_effects(timers: &[PeriodicTimer], estimates: &[Estimate]) -> String {
    let names = estimates.iter().map(|(name, _)| format!("\n{name}")).collect::<Vec<_>>();
    let mut header = vec!["\ntimer", "jitter, ms\nlimit"];
    header.extend(names.iter().map(String::as_str));
    let mut table = table(&header, &[0]);
    for (index, timer) in timers.iter().enumerate() {
        let jitter = |(_, of): &Estimate| of.jitter_ns.get(index).copied().unwrap_or_default();
        let all_ns = || estimates.iter().map(jitter);
        let range_ns = all_ns().max().unwrap_or(0) - all_ns().min().unwrap_or(0);
        if timer.limit.is_none() && range_ns < 1_000 {
            continue;
        }
        let limit = timer.limit.map_or("-".into(), |limit| format_ms(limit.as_nanos() as f64));
        let mut row = vec![timer.name.clone(), limit];
        row.extend(all_ns().map(|ns| format_ms(ns as f64)));
        table.add_row(aligned(row, &[0]));
    }
    let drops = estimates.iter().map(|(name, of)| format!("{name} {}", of.drops));
    let drops =
        format!("lost messages and missed periods: {}\n", drops.collect::<Vec<_>>().join(", "));
    match table.is_empty() {
        true => drops,
        false => format!("{}\n{drops}", text(&table)),
    }
}

/// Renders two rows for each timer that had better start later and each chain, one for each
/// definition of its latency; empty without such a timer.
#[must_use]
pub fn render_phases(rows: &[PhaseRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let header = [
        "\ntimer",
        "later\nby, ms",
        "\nlatency, ms",
        "\nmean",
        "\nthen",
        "\np99",
        "\nthen",
        "\nmax",
        "\nthen",
    ];
    let mut table = table(&header, &[0, 2]);
    let chains = rows.iter().any(|row| row.chain != rows[0].chain);
    for row in rows {
        let latency = match chains {
            true => format!("{}, {}", row.chain, row.definition),
            false => row.definition.to_owned(),
        };
        let mut cells = vec![row.timer.clone(), format_ms(row.shift_ns as f64), latency];
        let (a, b) = (row.before, row.after);
        let figures = [a.mean_ns, b.mean_ns, a.p99_ns, b.p99_ns, a.max_ns, b.max_ns];
        cells.extend(figures.map(|ns| format_ms(ns as f64)));
        table.add_row(aligned(cells, &[0, 2]));
    }
    format!(
        "\nTimers that would better the objective if each alone started later \
         (Timer::start_at):\n{}\n",
        text(&table)
    )
}

/// Renders two rows for each candidate and chain, one for each definition of its latency: predicted
/// and measured figures, and the errors of the predicted mean and p99.
#[must_use]
pub fn render_confirmed(chains: &[Chain], confirmed: &[(String, Confirmed)]) -> String {
    let header = [
        "\nmapping",
        "\nlatency, ms",
        "predicted\nmean",
        "\np50",
        "\np99",
        "\nmax",
        "measured\nmean",
        "\np50",
        "\np99",
        "\nmax",
        "\nlate",
        "error\nmean",
        "\np99",
    ];
    let mut table = table(&header, &[0, 1]);
    for (name, candidate) in confirmed {
        let latencies = candidate.predicted.chains.iter().zip(&candidate.measured.chains);
        for (chain, (predicted, measured)) in chains.iter().zip(latencies) {
            let both = definitions(predicted).into_iter().zip(definitions(measured));
            for ((definition, forecast), (_, found)) in both {
                let of =
                    if chains.len() > 1 { format!("{name}, {}", chain.name) } else { name.clone() };
                let mut row = vec![of, definition.to_owned()];
                row.extend(figures(predicted, forecast));
                row.extend(figures(measured, found));
                row.push(measured.misses.to_string());
                row.push(error(forecast.mean_ns, found.mean_ns));
                row.push(error(forecast.p99_ns, found.p99_ns));
                table.add_row(aligned(row, &[0, 1]));
            }
        }
    }
    format!("{}\n", text(&table))
}

fn figures(chain: &ChainLatency, of: &Latency) -> [String; 4] {
    let figures = [of.mean_ns, of.p50_ns, of.p99_ns, of.max_ns];
    figures.map(|ns| if chain.samples == 0 { "-".into() } else { format_ms(ns as f64) })
}

/// The error of a prediction, in percent of the measurement.
fn error(predicted: u64, measured: u64) -> String {
    match measured {
        0 => "-".into(),
        _ => {
            format!("{:+.0} %", 100.0 * (predicted as f64 - measured as f64) / measured as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::Figures;

    #[test]
    fn advice_on_phases_shows_both_latencies_before_and_after() {
        let latency = |ns| Figures { mean_ns: ns, p99_ns: ns, max_ns: ns };
        let row = |definition| PhaseRow {
            timer: "/BehaviorPlanner timer 100ms".into(),
            shift_ns: 4_000_000,
            chain: "hot path".into(),
            definition,
            before: latency(10_800_000),
            after: latency(8_950_000),
        };
        let shown = render_phases(&["release to end", "sample to start"].map(row));
        let wanted = ["4.000", "release to end", "sample to start", "10.80", "8.950"];
        assert!(wanted.iter().all(|text| shown.contains(text)), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        assert_eq!(render_phases(&[]), "");
    }
}
