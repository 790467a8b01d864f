//! `reference-system determinism`: repeated runs of the RSLCPP determinism benchmark.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Result, bail};
use reference_system::determinism::runs::{
    Options, Outcome, Progress, Report, SECONDS_PER_RUN, run_all,
};
use reference_system::determinism::ties::Ties;
use reference_system::determinism::{CALLBACKS, NODES, States};
use reference_system::table::{aligned, table, text as shown};
use ringspin_modes::allowed_cores;
use serde::Serialize;

use super::DeterminismArguments;
use super::bench::listen_for_ctrl_c;
use super::output::{self, Output};
use super::progress::Bar;

/// From this sleep on, runs mostly leave the cores to other runs.
const LONG_SLEEP: Duration = Duration::from_millis(1);

/// The default number of concurrent runs that mostly sleep.
const SLEEPERS: usize = 128;

pub(super) fn determinism(arguments: DeterminismArguments, quiet: bool) -> Result<()> {
    let DeterminismArguments { runs, sleep_max, ties, threads, json } = arguments;
    // Comes first: once the file exists, an interrupt is handled.
    let listener = listen_for_ctrl_c()?;
    let stop = listener.stop_handle();
    let json = json.as_deref().map(|path| Output::create(path, true)).transpose()?;
    let threads = threads.map_or_else(|| default_threads(sleep_max), usize::from);
    let options = Options { runs: runs as usize, threads, sleep_max, ties };
    let bar = Bar::new(quiet);
    // In simulated seconds, because one run may take minutes.
    let total_s = u64::from(runs) * SECONDS_PER_RUN;
    let report = run_all(&options, &stop, |Progress { simulated_s, runs: done, .. }| {
        bar.show(simulated_s, total_s, format!("{done} of {runs} runs"));
    });
    drop(bar);
    let report = report.map_err(anyhow::Error::from_boxed)?;
    let shown = !json.as_ref().is_some_and(Output::is_stdout);
    if let Some(output) = json {
        output.write_json(&Document::of(&report))?;
    }
    if shown {
        output::print(&text(&report, &options))?;
    }
    check(&report)
}

fn default_threads(sleep_max: Duration) -> usize {
    match sleep_max >= LONG_SLEEP {
        true => SLEEPERS,
        false => allowed_cores().len().max(1),
    }
}

/// The report with its verdict.
#[derive(Serialize)]
struct Document<'a> {
    runs: usize,
    deterministic: bool,
    #[serde(flatten)]
    report: &'a Report,
    expected: States,
}

impl<'a> Document<'a> {
    fn of(report: &'a Report) -> Self {
        let (runs, deterministic) = (report.runs(), report.is_deterministic());
        Self { runs, deterministic, report, expected: report.ties.expected() }
    }
}

fn text(report: &Report, options: &Options) -> String {
    let Some(first) = report.outcomes.first() else {
        return "interrupted: no run was completed\n".into();
    };
    let runs = report.runs();
    let sleeps = match options.sleep_max {
        Duration::ZERO => "without sleeps".to_owned(),
        max => format!("each after a random sleep of up to {max:?}"),
    };
    let ties = match report.ties {
        Ties::Total => "",
        Ties::Upstream => "\nTimers of one instant in upstream's order.",
    };
    let mut text = format!(
        "{} callbacks in {SECONDS_PER_RUN} simulated s, {sleeps}.{ties}\n\n{}\n",
        first.outcome.dispatches,
        tables(&first.outcome, report.ties)
    );
    for other in &report.outcomes[1..] {
        let (count, hash, digest) =
            (other.runs, other.outcome.states.hash(), &other.outcome.digest);
        let _ = writeln!(text, "others     {count} runs with final hash {hash}, digest {digest}");
    }
    let known = match first.outcome.is_known_answer(report.ties) {
        true => "and as expected",
        false => "but not as expected",
    };
    let _ = writeln!(text, "runs       {runs}, {} of them equal, {known}", first.runs);
    if report.interrupted {
        let _ = writeln!(text, "           interrupted: {} were requested", options.runs);
    }
    let at_once = report.threads;
    let _ = writeln!(text, "wall time  {:.2} s, {at_once} at once", report.wall_s);
    let _ = writeln!(text, "digest: {}", first.outcome.digest);
    text
}

/// Fails unless every run has the expected result.
fn check(report: &Report) -> Result<()> {
    if report.is_deterministic() {
        return Ok(());
    }
    match &report.outcomes[..] {
        [_] => bail!(
            "all runs agree, but not with the expected result {}: the order of events differs \
             from other machines; please report it with the table",
            report.ties.expected().hash()
        ),
        outcomes => bail!(
            "the runs gave {} different results: the deterministic mode is broken on this \
             machine; please report it with the output of --json",
            outcomes.len()
        ),
    }
}

/// Renders the calls of each callback of the determinism benchmark in a run with this `outcome`,
/// and the nodes' final states, with the expected values.
fn tables(outcome: &Outcome, ties: Ties) -> String {
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
    format!("{}\n\n{}\n", shown(&calls), shown(&states))
}

fn compared(mut row: Vec<String>, found: u64, expected: u64) -> Vec<String> {
    let mark = if found == expected { "" } else { "differs" };
    row.extend([found.to_string(), expected.to_string(), mark.to_owned()]);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_count_and_a_wrong_state_are_marked() {
        let mut outcome = Outcome {
            states: Ties::Total.expected(),
            calls: CALLBACKS.map(|callback| callback.calls),
            dispatches: 19_011,
            digest: String::new(),
        };
        assert!(!tables(&outcome, Ties::Total).contains("differs"));
        outcome.calls[4] = 2500;
        outcome.states.0[1] ^= 1;
        let text = tables(&outcome, Ties::Total);
        let marked = text.lines().filter(|line| line.ends_with("differs"));
        let marked: Vec<_> = marked.map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!(marked, ["B", "B", "final"], "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
