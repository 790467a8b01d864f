//! Verifying: the same job again, compared dispatch by dispatch.

use super::{Job, Report};
use crate::deterministic::{Record, Trace};
use ringspin_executor::{BoxError, EventId, GraphInfo};
use std::fmt;
use thiserror::Error;

/// How many causes of a divergence are listed.
const CHAIN_MAX: usize = 16;

/// Why a job could not be verified.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// A run ended with an error.
    #[error("run {run} failed: {reason}")]
    Failed {
        /// Which run, from one.
        run: usize,
        /// Why.
        reason: BoxError,
    },
    /// A run differed from the first.
    #[error(transparent)]
    Diverged(#[from] Box<Divergence>),
}

/// What differs first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Another event was dispatched.
    Order,
    /// The same event was dispatched at another time.
    Time,
    /// The same event was dispatched, and the callback showed other messages or another state.
    Digest,
    /// One of the runs ended here.
    Length,
    /// What was published after the last dispatch, by an input or a test.
    Outside,
    /// The graphs differ: building them is not deterministic.
    Graph,
}

/// The first dispatch in which two runs of a job differ.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Divergence {
    /// Which run differed from the first, from one.
    pub run: usize,
    /// The dispatch, counted from zero.
    pub index: usize,
    /// What differs.
    pub difference: Difference,
    /// The dispatch of the first run, in words; `None` if that had ended.
    pub first: Option<String>,
    /// The dispatch of the other run.
    pub other: Option<String>,
    /// The dispatches that led there: what sent the event, and so on, up to one from outside. All
    /// of these were equal in both runs.
    pub chain: Vec<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.difference {
            Difference::Order => "another event was dispatched",
            Difference::Time => "the same event was dispatched at another time",
            Difference::Digest => {
                "the same callback, called for the same event, showed other messages or another \
                 state"
            }
            Difference::Length => "one of the runs ended",
            Difference::Outside => "other messages were published after that, by no callback",
            Difference::Graph => {
                return write!(f, "run {}: building the graph gave another graph", self.run);
            }
        };
        let none = || "(the end)".to_owned();
        writeln!(f, "run {} diverges from run 1 at dispatch {}: {what}", self.run, self.index)?;
        writeln!(f, "  run 1: {}", self.first.clone().unwrap_or_else(none))?;
        write!(f, "  run {}: {}", self.run, self.other.clone().unwrap_or_else(none))?;
        for cause in &self.chain {
            write!(f, "\n  because of {cause}")?;
        }
        Ok(())
    }
}

impl<T> Job<'_, T> {
    /// Runs the job `runs` times, at least twice, and compares each dispatch of each run with the
    /// first.
    ///
    /// What callbacks do with their messages and states is compared as far as they
    /// [show](ringspin_executor::Context::digest) it. Keeps two traces, of about 100 bytes for each
    /// dispatch.
    ///
    /// # Errors
    /// [`VerifyError`] names the first dispatch that differs, and what led there.
    pub fn verify(&self, runs: usize) -> Result<Report, VerifyError> {
        let traced = |run| {
            let ran = self.run_with(self.simulation.clone(), true);
            ran.into_report().map_err(|reason| VerifyError::Failed { run, reason })
        };
        let mut first = traced(1)?;
        let expected = first.trace.take().unwrap_or_default();
        for run in 2..=runs.max(2) {
            let mut report = traced(run)?;
            let trace = report.trace.take().unwrap_or_default();
            let divergence = compare(&expected, &trace, &first, &report);
            if let Some(divergence) = divergence {
                return Err(Box::new(Divergence { run, ..divergence }).into());
            }
        }
        Ok(first)
    }
}

/// The first difference of two runs; the number of the run is left open.
fn compare(expected: &Trace, trace: &Trace, first: &Report, other: &Report) -> Option<Divergence> {
    let graphs_differ = first.info != other.info;
    let (ours, theirs) = (&expected.records, &trace.records);
    let longest = ours.len().max(theirs.len());
    let index = (0..longest).find(|&n| ours.get(n) != theirs.get(n));
    let index = index.or(graphs_differ.then_some(0));
    let index = index.or((first.digest != other.digest).then_some(longest))?;
    let (one, two) = (ours.get(index), theirs.get(index));
    let difference = match (one, two) {
        _ if graphs_differ => Difference::Graph,
        (Some(one), Some(two)) => match (one.dispatch, two.dispatch) {
            (a, b) if (a.callback, a.event) != (b.callback, b.event) => Difference::Order,
            (a, b) if a.time != b.time => Difference::Time,
            _ => Difference::Digest,
        },
        (None, None) => Difference::Outside,
        _ => Difference::Length,
    };
    // The run that goes on has the event whose causes are of interest.
    let (trace, record) = match two {
        Some(two) => (trace, Some(two)),
        None => (expected, one),
    };
    let chain = record.map(|record| chain(trace, record, &other.info)).unwrap_or_default();
    Some(Divergence {
        run: 0,
        index,
        difference,
        first: one.map(|record| describe(record, &first.info)),
        other: two.map(|record| describe(record, &other.info)),
        chain,
    })
}

/// What led to `record`, the latest cause first.
fn chain(trace: &Trace, record: &Record, info: &GraphInfo) -> Vec<String> {
    let mut chain = Vec::new();
    let mut event = record.dispatch.event;
    while let Some(cause) = trace.cause(event)
        && chain.len() < CHAIN_MAX
    {
        let Some(record) = trace.records.get(cause) else { break };
        chain.push(describe(record, info));
        event = record.dispatch.event;
    }
    chain
}

/// A dispatch in words.
pub(crate) fn describe(record: &Record, info: &GraphInfo) -> String {
    let dispatch = &record.dispatch;
    let callback = info.name_of(dispatch.callback);
    let EventId { source, sequence } = dispatch.event;
    let sent_by = info
        .publisher(source)
        .map(|(_, by)| format!("message {sequence} of {}", info.loops[by.0 as usize].full_name()));
    let event = sent_by.unwrap_or_else(|| format!("event {}#{sequence}", source.0));
    let shown = record.digest.map(|digest| format!(", showing {digest:016x}"));
    format!("{} {callback} on {event}{}", dispatch.time, shown.unwrap_or_default())
}
