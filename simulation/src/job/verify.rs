//! Verifying: the same job again, compared dispatch by dispatch.
//!
//! The calling thread runs the job again and again, each time with a trace, and compares each run
//! with the first one. Changes of the graph and dispatches are compared one by one, the end of the
//! run as a whole. A comparison of digests would be shorter, but would only tell that two runs
//! differ; from the traces come the first dispatch that differs and the chain of events that led to
//! it. Values that are constant within a process, such as addresses, differ in another one only,
//! which [fresh processes](super::fresh) find.

use super::fresh::{Call, FreshProcess, Reply, Request, Summary};
use super::{Job, Report};
use ringspin_executor::{BoxError, Error, ErrorKind, EventId, GraphChange, GraphInfo, Result};
use ringspin_modes::deterministic::{Record, Trace};
use std::fmt;

/// Maximum number of listed causes of a divergence.
const CHAIN_MAX: usize = 16;

fn failed(run: usize, reason: BoxError) -> Error {
    Error::new(ErrorKind::CallbackFailed, format!("run {run} failed: {reason}")).caused_by(reason)
}

/// The first difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Another event was dispatched.
    Order,
    /// The same event was dispatched at another time.
    Time,
    /// The same event was dispatched, and the callback showed other messages or another state.
    Digest,
    /// The graph changed in another way, or one of them did not change.
    Change,
    /// One of the runs ended here.
    Length,
    /// Messages that an input or a test published after the last dispatch.
    Outside,
    /// The graphs differ: building them is not deterministic.
    Graph,
    /// The dispatches are the same, but the counters or the ends of the runs differ.
    Outcome,
}

/// The first dispatch, or change of the graph, in which two runs of a job differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Number of the run that differed from the first one, from one.
    pub run: usize,
    /// The dispatch, counted from zero; for a change, the one before which it came.
    pub index: usize,
    /// The kind of difference.
    pub difference: Difference,
    /// The dispatch of the first run, in words; `None` if that had ended. For graphs and outcomes,
    /// the first line of their description that differs.
    pub first: Option<String>,
    /// The dispatch of the other run, in words.
    pub other: Option<String>,
    /// The dispatches that led there: what sent the event, and so on, up to one from outside. All
    /// of these were equal in both runs.
    pub chain: Vec<String>,
}

impl std::error::Error for Divergence {}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.difference {
            Difference::Order => "another event was dispatched",
            Difference::Time => "the same event was dispatched at another time",
            Difference::Digest => {
                "the same callback, called for the same event, showed other messages or another \
                 state"
            }
            Difference::Change => "the graph changed in another way before it",
            Difference::Length => "one of the runs ended",
            Difference::Outside => "other messages were published after that, by no callback",
            Difference::Graph => "building the graph gave another graph",
            Difference::Outcome => "the same dispatches came to another outcome",
        };
        let none = || match self.difference {
            Difference::Change => "(no change)".to_owned(),
            _ => "(the end)".to_owned(),
        };
        match self.difference {
            Difference::Graph | Difference::Outcome => writeln!(f, "run {}: {what}", self.run)?,
            _ => {
                let (run, index) = (self.run, self.index);
                writeln!(f, "run {run} diverges from run 1 at dispatch {index}: {what}")?;
            }
        }
        writeln!(f, "  run 1: {}", self.first.clone().unwrap_or_else(none))?;
        write!(f, "  run {}: {}", self.run, self.other.clone().unwrap_or_else(none))?;
        for cause in &self.chain {
            write!(f, "\n  because of {cause}")?;
        }
        Ok(())
    }
}

impl<T> Job<'_, T> {
    /// Runs the job `runs` times, at least twice, in this process, and compares each dispatch of
    /// each run with the first.
    ///
    /// Messages and states are compared as far as callbacks
    /// [show](ringspin_executor::Context::digest) them. Keeps two traces, of about 100 bytes for
    /// each dispatch. Does not find a dependence on values that are constant within a process, such
    /// as its id, addresses, or the keys of a shared `RandomState`: see
    /// [`verify_in_processes`](Self::verify_in_processes).
    ///
    /// # Errors
    /// An error with a [`Divergence`] as its [cause](Error::cause): the first dispatch that
    /// differs, and the events that led there. An error without one if a run fails, or another
    /// thread has caused [events](Report::foreign).
    pub fn verify(&self, runs: usize) -> Result<Report> {
        let first = self.run_first()?;
        for run in 2..=runs.max(2) {
            self.compare_here(run, &first)?;
        }
        first.without_threads()
    }

    /// Compares at least three runs like [`verify`](Self::verify). The first two are in this
    /// process, which finds state that one run leaves to the next; all others are in fresh
    /// processes, each with another environment (locale, time zone, temporary folder, size) and,
    /// where namespaces are permitted, host name and uptime; every second one on one core.
    ///
    /// A fresh process is this program, started again with the arguments of `process`. It has to
    /// come to this call again, on a thread that makes the same calls before it; there, it runs the
    /// job once and exits.
    ///
    /// ```no_run
    /// # use ringspin_simulation::{FreshProcess, Job};
    /// # let job = Job::new(|_| Ok(()));
    /// // in a test:
    /// job.verify_in_processes(3, &FreshProcess::this_test())?;
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error with a [`Divergence`] as its [cause](Error::cause): the first dispatch that
    /// differs. An error without one if a run fails, another thread has caused
    /// [events](Report::foreign), or a process does not start or does not reach this call.
    #[track_caller]
    pub fn verify_in_processes(&self, runs: usize, process: &FreshProcess) -> Result<Report> {
        let call = Call::next(std::panic::Location::caller());
        if let Some(request) = Request::from_env() {
            if request.is_for(&call) {
                request.reply(self.run_with_report(true));
            }
            // Another call is asked. This one must not start processes that start processes.
            return self.verify(runs.max(3));
        }
        let first = self.run_first()?;
        self.compare_here(2, &first)?;
        for run in 3..=runs.max(3) {
            let Reply { summary, trace } = process.run(&call, run)?;
            if let Some(reason) = summary.failed {
                return Err(failed(run, reason.into()));
            }
            first.compare(run, &summary, &trace)?;
            let told = self.tell_of_run();
            told.map_err(|panic| failed(run, panic.into()))?;
        }
        first.without_threads()
    }

    fn run_first(&self) -> Result<First> {
        let (report, summary, trace) = self.run_traced(1)?;
        Ok(First { report, summary, trace })
    }

    /// Another run in this process.
    fn compare_here(&self, run: usize, first: &First) -> Result<()> {
        let (_, summary, trace) = self.run_traced(run)?;
        first.compare(run, &summary, &trace)
    }

    fn run_traced(&self, run: usize) -> Result<(Report, Summary, Trace)> {
        let ran = self.run_with_report(true);
        let mut report = ran.into_report().map_err(|reason| failed(run, reason))?;
        let trace = report.trace.take().unwrap_or_default();
        let summary = Summary::of(&report, &trace);
        Ok((report, summary, trace))
    }
}

/// The run that others are compared with.
struct First {
    report: Report,
    summary: Summary,
    trace: Trace,
}

impl First {
    /// The report, unless other threads had a part in the run: their events have the same places
    /// in other runs only by chance.
    fn without_threads(self) -> Result<Report> {
        let caused: Vec<_> =
            self.report.foreign().iter().map(|(of, n)| format!("{n} {of}")).collect();
        if caused.is_empty() {
            return Ok(self.report);
        }
        let text = format!(
            "the runs were the same, but another thread of the program caused {}: only chance, or \
             a callback that waits for the thread, gives these events their place; use a task or \
             a timer of a node, or link `ringspin-simulated-threads`, which puts threads in one \
             order",
            caused.join(", ")
        );
        Err(Error::new(ErrorKind::Diverged, text))
    }

    fn compare(&self, run: usize, summary: &Summary, trace: &Trace) -> Result<()> {
        let dispatches = compare(&self.trace, trace, self.report.graph());
        let difference = match self.compare_changes(summary, trace) {
            Some(change) => dispatches.filter(|other| other.index < change.index).or(Some(change)),
            None if !summary.has_graph_of(&self.summary) => {
                Some(self.other_lines(Difference::Graph, graph_of, summary))
            }
            None => dispatches.or_else(|| self.compare_ends(summary)),
        };
        match difference {
            None => Ok(()),
            Some(divergence) => {
                let divergence = Divergence { run, ..divergence };
                let text = divergence.to_string();
                Err(Error::new(ErrorKind::Diverged, text).caused_by(divergence))
            }
        }
    }

    /// The first change of the graph that differs.
    fn compare_changes(&self, other: &Summary, trace: &Trace) -> Option<Divergence> {
        let (ours, theirs) = (&self.summary.changes, &other.changes);
        let longest = ours.len().max(theirs.len());
        let place = (0..longest).find(|&n| ours.get(n) != theirs.get(n))?;
        let (one, two) = (ours.get(place), theirs.get(place));
        let index = one.into_iter().chain(two).map(|(after, _)| *after).min()?;
        let (info, here) = (self.report.graph(), |change: &&(usize, String)| change.0 == index);
        let maker = index.checked_sub(1).and_then(|maker| trace.records.get(maker));
        let chain_of_maker = maker.map(|maker| chain(trace, maker, info)).unwrap_or_default();
        Some(Divergence {
            run: 0,
            index,
            difference: Difference::Change,
            first: one.filter(here).map(|(_, change)| change.clone()),
            other: two.filter(here).map(|(_, change)| change.clone()),
            chain: maker
                .map(|maker| describe(maker, info))
                .into_iter()
                .chain(chain_of_maker)
                .collect(),
        })
    }

    /// Compares the ends of two runs with the same dispatches.
    fn compare_ends(&self, other: &Summary) -> Option<Divergence> {
        if self.summary.digest != other.digest {
            let index = self.trace.records.len();
            let (first, chain) = (None, Vec::new());
            let difference = Difference::Outside;
            return Some(Divergence { run: 0, index, difference, first, other: None, chain });
        }
        let differs = self.summary.outcome != other.outcome;
        differs.then(|| self.other_lines(Difference::Outcome, outcome_of, other))
    }

    /// The first of the lines that differ.
    fn other_lines(
        &self,
        difference: Difference,
        lines: impl Fn(&Summary) -> &[String],
        other: &Summary,
    ) -> Divergence {
        let (ours, theirs) = (lines(&self.summary), lines(other));
        let longest = ours.len().max(theirs.len());
        let index = (0..longest).find(|&n| ours.get(n) != theirs.get(n)).unwrap_or(0);
        Divergence {
            run: 0,
            index,
            difference,
            first: ours.get(index).cloned(),
            other: theirs.get(index).cloned(),
            chain: Vec::new(),
        }
    }
}

fn graph_of(summary: &Summary) -> &[String] {
    &summary.graph
}

fn outcome_of(summary: &Summary) -> &[String] {
    &summary.outcome
}

/// The first difference of two runs of one graph; the number of the run is left open.
fn compare(expected: &Trace, trace: &Trace, info: &GraphInfo) -> Option<Divergence> {
    let (ours, theirs) = (&expected.records, &trace.records);
    let longest = ours.len().max(theirs.len());
    let index = (0..longest).find(|&n| ours.get(n) != theirs.get(n))?;
    let (one, two) = (ours.get(index), theirs.get(index));
    let difference = match (one, two) {
        (Some(one), Some(two)) => match (one.dispatch, two.dispatch) {
            (a, b) if (a.callback, a.event) != (b.callback, b.event) => Difference::Order,
            (a, b) if a.time != b.time => Difference::Time,
            _ => Difference::Digest,
        },
        _ => Difference::Length,
    };
    // The longer run has the event with the causes of interest.
    let (trace, record) = match two {
        Some(two) => (trace, Some(two)),
        None => (expected, one),
    };
    let chain = record.map(|record| chain(trace, record, info)).unwrap_or_default();
    Some(Divergence {
        run: 0,
        index,
        difference,
        first: one.map(|record| describe(record, info)),
        other: two.map(|record| describe(record, info)),
        chain,
    })
}

/// The changes of the graph in words, each with the number of dispatches before it.
pub(super) fn describe_changes(trace: &Trace) -> Vec<(usize, String)> {
    let describe = |change: &GraphChange| match change {
        GraphChange::LoopAdded { name, .. } => format!("{name} was created"),
        GraphChange::CallbackAdded { callback, event_loop, name } => {
            format!("{name} (callback {}) of loop {} was created", callback.0, event_loop.0)
        }
        GraphChange::LoopRemoved { event_loop } => format!("loop {} was destroyed", event_loop.0),
        GraphChange::CallbackRemoved { callback } => {
            format!("callback {} was destroyed", callback.0)
        }
        GraphChange::CallbackEnded { callback } => format!("callback {} ended", callback.0),
        other => format!("{other:?}"),
    };
    trace.changes.iter().map(|(after, change)| (*after, describe(change))).collect()
}

/// The causes of `record`, latest first.
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
pub fn describe(record: &Record, info: &GraphInfo) -> String {
    let dispatch = &record.dispatch;
    let callback = info.name_of(dispatch.callback);
    let EventId { source, sequence } = dispatch.event;
    let sent_by = info
        .publisher(source)
        .map(|(_, by)| format!("message {sequence} of {}", info.loops[by].full_name()));
    let event = sent_by.unwrap_or_else(|| format!("event {}#{sequence}", source.0));
    let shown = record.digest.map(|digest| format!(", showing {digest:016x}"));
    format!("{} {callback} on {event}{}", dispatch.time, shown.unwrap_or_default())
}
