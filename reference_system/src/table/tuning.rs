//! Tables of a search and its confirmation: strategies, simulated and worst-case latencies,
//! predictions and measurements.

use super::{aligned, table, text, wrapped};
use crate::optimize::{LatencyEstimate, Tuned};
use ringspin_optimizer::{
    Chain, ChainLatency, Confirmed, Latency, Objective, PeriodicTimer, Term, TermUnit,
};
use ringspin_report::{PhaseRow, TradeOffs, format_ms};

/// Renders a row for each strategy: evaluations and time, gap to the optimum if known, and the
/// terms of its best score. The best row is marked. An exact search that was refused has no row.
#[must_use]
pub fn render_strategies(tuned: &Tuned, objective: &Objective) -> String {
    let mut header = ["", "strategy", "tried", "s", "gap"].map(str::to_owned).to_vec();
    header.extend(objective.terms().iter().map(|term| heading(*term)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, &[0, 1]);
    let best = tuned.comparison.best().map(|found| &found.score);
    for entry in tuned.comparison.entries.iter().filter(|entry| entry.refused.is_none()) {
        let gap = tuned.comparison.optimality_gap(entry.strategy);
        let mut row = vec![
            if entry.best().is_some() && entry.best() == best { "*" } else { "" }.to_owned(),
            entry.strategy.to_string(),
            entry.evaluations().to_string(),
            format!("{:.2}", entry.wall.as_secs_f64()),
            gap.map_or("-".into(), |gap| format!("{:.1} %", 100.0 * gap)),
        ];
        match entry.best() {
            Some(score) => {
                let terms = objective.terms().iter().zip(score.terms());
                row.extend(terms.map(|(term, value)| value_of(*term, *value)));
            }
            None => row.extend(objective.terms().iter().map(|_| "-".to_owned())),
        }
        table.add_row(aligned(row, &[0, 1]));
    }
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

/// Renders two rows for each mapping and chain, one for each definition of its latency, simulated,
/// with the worst-case bound; below, the reasons for missing bounds.
#[must_use]
pub fn render_estimates(chains: &[Chain], estimates: &[LatencyEstimate]) -> String {
    let header = [
        "\nmapping",
        "\nchain",
        "\nlatency, ms",
        "simulated\nmean",
        "\np50",
        "\np99",
        "\nmax",
        "\nworst case",
    ];
    let mut table = table(&header, &[0, 1, 2]);
    let mut reasons: Vec<String> = Vec::new();
    for estimate in estimates {
        let latencies = estimate.evaluation.chains.iter().zip(&estimate.bounds);
        for (chain, (simulated, bound)) in chains.iter().zip(latencies) {
            for (name, latency) in definitions(simulated) {
                let mut row = vec![estimate.name.clone(), chain.name.clone(), name.to_owned()];
                row.extend(figures(simulated, latency));
                row.push(match bound {
                    Ok(bound) if name == RELEASE_TO_END => format_ms(bound.as_nanos() as f64),
                    _ => "-".into(),
                });
                table.add_row(aligned(row, &[0, 1, 2]));
            }
            if let Err(reason) = bound {
                let reason = format!("no worst case, {}: {reason}", estimate.name);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    let reasons: String = reasons.iter().map(|reason| wrapped(reason)).collect();
    format!("{}\n{reasons}", text(&table))
}

const RELEASE_TO_END: &str = "release to end";

/// The definitions of a chain's latency, by name.
fn definitions(of: &ChainLatency) -> [(&'static str, &Latency); 2] {
    [(RELEASE_TO_END, &of.release_to_end), ("sample to start", &of.sample_to_start)]
}

/// Renders what a mapping costs and gains beside the default one, by simulation: the jitter of
/// every timer that changes by more than a microsecond, and lost messages.
#[must_use]
pub fn render_side_effects(timers: &[PeriodicTimer], estimates: &[LatencyEstimate]) -> String {
    let mut header = vec!["\ntimer".to_owned(), "jitter, ms\nlimit".to_owned()];
    header.extend(estimates.iter().map(|estimate| format!("\n{}", estimate.name)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, &[0]);
    for (index, timer) in timers.iter().enumerate() {
        let jitter = |estimate: &LatencyEstimate| {
            estimate.evaluation.jitter_ns.get(index).copied().unwrap_or_default()
        };
        let (low, high) = estimates
            .iter()
            .map(jitter)
            .fold((u64::MAX, 0), |(low, high), ns| (low.min(ns), high.max(ns)));
        if timer.limit.is_none() && high.saturating_sub(low) < 1_000 {
            continue;
        }
        let limit = timer.limit.map_or("-".into(), |limit| format_ms(limit.as_nanos() as f64));
        let mut row = vec![timer.name.clone(), limit];
        row.extend(estimates.iter().map(|estimate| format_ms(jitter(estimate) as f64)));
        table.add_row(aligned(row, &[0]));
    }
    let drops = estimates.iter().map(|of| format!("{} {}", of.name, of.evaluation.drops));
    let drops =
        format!("lost messages and missed periods: {}\n", drops.collect::<Vec<_>>().join(", "));
    match table.is_empty() {
        true => drops,
        false => format!("{}\n{drops}", text(&table)),
    }
}

/// The largest number of rows of a Pareto front.
const FRONT_MAX: usize = 8;

/// Renders the Pareto front of a search, or an even selection of eight candidates from it; the
/// chosen one is marked.
#[must_use]
pub fn render_trade_offs(of: &TradeOffs) -> String {
    let header = [
        "",
        "release to end\nmean",
        "\np99",
        "\nmax",
        "sample to start\nmean",
        "\np99",
        "\nmax",
        "\njitter",
        "\ncores",
    ];
    let mut table = table(&header, &[0]);
    let last = of.front.len().saturating_sub(1);
    let selected = |n: usize| {
        let places = FRONT_MAX - 1;
        of.front.len() <= FRONT_MAX || (0..=places).any(|place| place * last / places == n)
    };
    let rows = of.front.iter().enumerate().filter(|(n, of)| of.chosen || selected(*n));
    for (_, candidate) in rows {
        let mut row = vec![if candidate.chosen { "*" } else { "" }.to_owned()];
        for latency in [candidate.release_to_end, candidate.sample_to_start] {
            row.extend(latency.figures().map(|(_, ns)| format_ms(ns)));
        }
        row.extend([format_ms(candidate.jitter_ns), candidate.cores.to_string()]);
        table.add_row(aligned(row, &[0]));
    }
    format!(
        "Trade-offs of the search in ms, as simulated: none is better in everything.\n{}\n",
        text(&table)
    )
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
            false => row.definition.clone(),
        };
        let mut cells = vec![row.timer.clone(), format_ms(row.shift_ns), latency];
        for ((_, before), (_, after)) in row.before.figures().into_iter().zip(row.after.figures()) {
            cells.extend([before, after].map(format_ms));
        }
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
    use ringspin_report::{Candidate, Latency};

    fn candidate(ms: usize) -> Candidate {
        let mean_ns = ms as f64 * 1e6;
        let latency = Latency { mean_ns, p99_ns: 2.0 * mean_ns, max_ns: 3.0 * mean_ns };
        let (release_to_end, sample_to_start) = (latency, latency);
        let chosen = ms == 4;
        Candidate { release_to_end, sample_to_start, jitter_ns: 5e5, cores: 2, chosen }
    }

    #[test]
    fn a_long_front_is_thinned_to_its_ends_and_the_chosen() {
        let front: Vec<Candidate> = (1..=50).map(candidate).collect();
        let shown = render_trade_offs(&TradeOffs { front, others: Vec::new() });
        let rows: Vec<&str> = shown.lines().skip(4).collect();
        assert_eq!(rows.len(), FRONT_MAX + 1, "{shown}");
        let words = |row: &str| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(rows[0])[..3], ["1.000", "2.000", "3.000"]);
        assert_eq!(words(rows[1])[..2], ["*", "4.000"]);
        assert_eq!(words(rows[FRONT_MAX])[0], "50.00");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    }

    #[test]
    fn advice_on_phases_shows_both_latencies_before_and_after() {
        let latency = |ms: f64| Latency { mean_ns: ms * 1e6, p99_ns: ms * 1e6, max_ns: ms * 1e6 };
        let row = |definition: &str| PhaseRow {
            timer: "/BehaviorPlanner timer 100ms".into(),
            shift_ns: 4e6,
            chain: "hot path".into(),
            definition: definition.into(),
            before: latency(10.8),
            after: latency(8.95),
        };
        let shown = render_phases(&["release to end", "sample to start"].map(row));
        let wanted = ["4.000", "release to end", "sample to start", "10.80", "8.950"];
        assert!(wanted.iter().all(|text| shown.contains(text)), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
        assert_eq!(render_phases(&[]), "");
    }
}
