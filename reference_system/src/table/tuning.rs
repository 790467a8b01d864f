//! Tables of a search and its confirmation: strategies, simulated and worst-case latencies,
//! predictions and measurements.

use super::{aligned, table, text};
use crate::optimize::{LatencyEstimate, Tuned};
use ringspin_optimizer::{Chain, ChainLatency, Confirmed, Objective, Term};
use ringspin_report::format_ms;

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
    match term {
        Term::P99 | Term::Mean | Term::Max => format!("{}, ms", term.name()),
        Term::Peak => "peak, %".into(),
        Term::Misses | Term::Drops | Term::Cores => term.name().into(),
    }
}

fn value_of(term: Term, value: u64) -> String {
    match term {
        Term::P99 | Term::Mean | Term::Max if value == u64::MAX => "never".into(),
        Term::P99 | Term::Mean | Term::Max => format_ms(value as f64),
        Term::Peak => format!("{:.1}", value as f64 / 1e4),
        Term::Misses | Term::Drops | Term::Cores => value.to_string(),
    }
}

/// Renders a row for each mapping and chain: simulated mean, p99 and maximum, and the worst-case
/// bound; below, the reasons for missing bounds.
#[must_use]
pub fn render_estimates(chains: &[Chain], estimates: &[LatencyEstimate]) -> String {
    let header = ["\nmapping", "\nchain", "simulated\nmean", "\np99", "\nmax", "worst case,\nms"];
    let mut table = table(&header, &[0, 1]);
    let mut reasons: Vec<String> = Vec::new();
    for estimate in estimates {
        for (chain, (simulated, bound)) in chains.iter().zip(&estimate.chains) {
            let mut row = vec![estimate.name.clone(), chain.name.clone()];
            row.extend(figures(simulated));
            row.push(match bound {
                Ok(bound) => format_ms(bound.as_nanos() as f64),
                Err(_) => "-".into(),
            });
            table.add_row(aligned(row, &[0, 1]));
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

/// Wraps `text` to lines of at most 100 characters.
fn wrapped(text: &str) -> String {
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

/// Renders a row for each candidate and chain: predicted and measured mean, p99 and maximum, and
/// the errors of the predicted mean and p99.
#[must_use]
pub fn render_confirmed(chains: &[Chain], confirmed: &[(String, Confirmed)]) -> String {
    let header = [
        "\nmapping",
        "\nchain",
        "predicted\nmean",
        "\np99",
        "\nmax",
        "measured\nmean",
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
            let mut row = vec![name.clone(), chain.name.clone()];
            row.extend(figures(predicted));
            row.extend(figures(measured));
            row.push(measured.misses.to_string());
            row.push(error(predicted.mean_ns, measured.mean_ns));
            row.push(error(predicted.p99_ns, measured.p99_ns));
            table.add_row(aligned(row, &[0, 1]));
        }
    }
    format!("{}\n", text(&table))
}

fn figures(latency: &ChainLatency) -> [String; 3] {
    let figures = [latency.mean_ns, latency.p99_ns, latency.max_ns];
    figures.map(|ns| if latency.samples == 0 { "-".into() } else { format_ms(ns as f64) })
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
