//! Concurrent runs of the benchmark, and the comparison of their results.

use super::nodes::{self, RunEnvironment};
use super::ties::{Ties, UpstreamTies};
use super::{CALLBACKS, END, NODES, START, States};
use ringspin_executor::{BoxError, StopHandle};
use ringspin_simulation::Job;
use serde::{Serialize, Serializer};
use std::ops::Range;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Simulated seconds of one run.
pub const SECONDS_PER_RUN: u64 = END.since(START).as_secs();

/// The options of a benchmark.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of runs.
    pub runs: usize,
    /// The number of concurrent runs, each on its own thread.
    pub threads: usize,
    /// The longest random real-time sleep at the start of each callback; upstream's is 20 ms.
    pub sleep_max: Duration,
    /// The order of timers of one instant.
    pub ties: Ties,
}

/// The progress of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated seconds that have passed, over all runs.
    pub simulated_s: u64,
    /// Runs that have ended.
    pub runs: usize,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The nodes' states at the end.
    pub states: States,
    /// The number of calls of each of [`CALLBACKS`].
    #[serde(serialize_with = "by_name")]
    pub calls: [u64; CALLBACKS.len()],
    /// The number of dispatched events; equal to the number of calls if nothing else runs.
    pub dispatches: u64,
    /// The digest of all dispatches.
    pub digest: String,
}

impl Outcome {
    /// Whether this is the expected result: states, and calls of each callback.
    #[must_use]
    pub fn is_known_answer(&self, ties: Ties) -> bool {
        self.states == ties.expected()
            && self.calls == CALLBACKS.map(|callback| callback.calls)
            && self.dispatches == self.calls.iter().sum::<u64>()
    }
}

fn by_name<S: Serializer>(
    calls: &[u64; CALLBACKS.len()],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let names = CALLBACKS.iter().map(|of| format!("{} {}", of.node_name(), of.name()));
    serializer.collect_map(names.zip(calls))
}

/// Runs with equal results.
#[derive(Clone, Debug, Serialize)]
pub struct EqualRuns {
    /// The number of runs.
    pub runs: usize,
    /// Their result.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The results of all runs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Whether the benchmark ended early. Only completed runs count.
    pub interrupted: bool,
    /// The order of timers of one instant.
    pub ties: Ties,
    /// The number of concurrent runs.
    pub threads: usize,
    /// The longest random sleep at the start of each callback.
    pub sleep_max_s: f64,
    /// Real time of all runs.
    pub wall_s: f64,
    /// A group for each distinct outcome, in order of appearance: more than one means that the mode
    /// is not deterministic.
    pub outcomes: Vec<EqualRuns>,
}

impl Report {
    /// The number of completed runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.outcomes.iter().map(|equal| equal.runs).sum()
    }

    /// Whether every completed run has the expected result and the same digest.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        match &self.outcomes[..] {
            [] => true,
            [equal] => equal.outcome.is_known_answer(self.ties),
            _ => false,
        }
    }

    fn add(&mut self, outcome: Outcome) {
        match self.outcomes.iter_mut().find(|equal| equal.outcome == outcome) {
            Some(equal) => equal.runs += 1,
            None => self.outcomes.push(EqualRuns { runs: 1, outcome }),
        }
    }
}

/// Runs the benchmark once; `None` if `stop` ended it early. Calls `on_second` for each simulated
/// second.
///
/// # Errors
/// An error if the graph cannot be built, or a callback fails.
pub fn run(
    ties: Ties,
    sleep_max: Duration,
    stop: &StopHandle,
    on_second: impl Fn() + Send + Sync + 'static,
) -> Result<Option<Outcome>, BoxError> {
    let environment =
        RunEnvironment { sleep_max, stop: stop.clone(), on_second: Arc::new(on_second) };
    let (sender, ends) = mpsc::channel();
    let job =
        Job::new(|graph| nodes::build(graph, &environment, &sender)).start_at(START).end_at(END);
    let report = match ties {
        Ties::Total => job.run()?,
        Ties::Upstream => job.with_tie_breaker(UpstreamTies::new).run()?,
    };
    if stop.is_stopped() {
        return Ok(None);
    }
    let mut states = States([0; NODES.len()]);
    for (node, state) in ends.try_iter() {
        states.0[node] = state;
    }
    let calls = CALLBACKS.map(|callback| {
        let (node, name) = (format!("/{}", callback.node_name()), callback.name());
        let mut of_node = report.statistics().of(&node);
        of_node.find(|of| of.callback == name).map_or(0, |of| of.dispatched)
    });
    let (dispatches, digest) = (report.dispatches(), report.digest().to_string());
    Ok(Some(Outcome { states, calls, dispatches, digest }))
}

/// A message from a running thread.
enum ThreadReport {
    Second,
    Ended(Outcome),
    Failed(BoxError),
}

/// Runs the benchmark as `options` say, and reports progress to `watch`. `stop` ends it early; a
/// failed run stops `stop`, to end the others.
///
/// # Errors
/// The first failure of a run, or a failure to start a thread.
pub fn run_all(
    options: &Options,
    stop: &StopHandle,
    mut watch: impl FnMut(Progress),
) -> Result<Report, BoxError> {
    let threads = options.threads.clamp(1, options.runs.max(1));
    let sleep_max_s = options.sleep_max.as_secs_f64();
    let ties = options.ties;
    let mut report = Report {
        interrupted: false,
        ties,
        threads,
        sleep_max_s,
        wall_s: 0.0,
        outcomes: Vec::new(),
    };
    let (start, pending) = (Instant::now(), Mutex::new(0..options.runs));
    let mut progress = Progress::default();
    let mut failure = None;
    thread::scope(|scope| {
        let (sender, reports) = mpsc::channel();
        for number in 0..threads {
            let (pending, sender) = (&pending, sender.clone());
            let work = move || run_pending(pending, options, stop, &sender);
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                stop.stop();
                failure = Some(too_many_threads(number, &error));
                break;
            }
        }
        drop(sender);
        for reports in reports {
            match reports {
                ThreadReport::Second => progress.simulated_s += 1,
                ThreadReport::Ended(outcome) => {
                    progress.runs += 1;
                    report.add(outcome);
                }
                ThreadReport::Failed(error) => {
                    stop.stop();
                    failure.get_or_insert(error);
                }
            }
            watch(progress);
        }
    });
    report.wall_s = start.elapsed().as_secs_f64();
    report.interrupted = stop.is_stopped();
    failure.map_or(Ok(report), Err)
}

/// Runs pending runs until none is left.
fn run_pending(
    pending: &Mutex<Range<usize>>,
    options: &Options,
    stop: &StopHandle,
    reports: &Sender<ThreadReport>,
) {
    let next = || pending.lock().unwrap_or_else(PoisonError::into_inner).next();
    while !stop.is_stopped() && next().is_some() {
        let seconds = reports.clone();
        let on_second = move || drop(seconds.send(ThreadReport::Second));
        let told = match run(options.ties, options.sleep_max, stop, on_second) {
            Ok(Some(outcome)) => ThreadReport::Ended(outcome),
            Ok(None) => return,
            Err(error) => ThreadReport::Failed(error),
        };
        if reports.send(told).is_err() {
            return;
        }
    }
}

fn too_many_threads(started: usize, error: &std::io::Error) -> BoxError {
    format!("only {started} threads could be started ({error}); ask for fewer").into()
}

#[cfg(test)]
mod tests {
    use super::super::TOTAL_ORDER;
    use super::*;

    fn options(runs: usize, threads: usize) -> Options {
        Options { runs, threads, sleep_max: Duration::ZERO, ties: Ties::Total }
    }

    #[test]
    fn one_run_gives_the_expected_result() {
        let outcome =
            run(Ties::Total, Duration::ZERO, &StopHandle::default(), || ()).unwrap().unwrap();
        assert_eq!(outcome.states, TOTAL_ORDER);
        assert_eq!(outcome.states.hash(), 14_807_076_229_895_937_644);
        assert_eq!(outcome.calls, CALLBACKS.map(|callback| callback.calls));
        assert_eq!(outcome.dispatches, 19_011);
        assert!(outcome.is_known_answer(Ties::Total));
    }

    #[test]
    fn runs_on_several_threads_are_equal_and_all_are_watched() {
        let options = Options { sleep_max: Duration::from_nanos(200), ..options(7, 3) };
        let mut last = Progress::default();
        let report = run_all(&options, &StopHandle::default(), |progress| {
            assert!(progress.runs >= last.runs && progress.simulated_s >= last.simulated_s);
            last = progress;
        });
        let report = report.unwrap();
        assert_eq!(last, Progress { simulated_s: 7 * SECONDS_PER_RUN, runs: 7 });
        assert_eq!((report.runs(), report.outcomes.len(), report.threads), (7, 1, 3));
        assert!(report.is_deterministic() && !report.interrupted);
    }

    #[test]
    fn a_stop_interrupts_a_run() {
        let (sender, seconds) = mpsc::channel();
        let stop = StopHandle::default();
        let stopper = stop.clone();
        let on_second = move || {
            stopper.stop();
            sender.send(()).unwrap();
        };
        assert_eq!(run(Ties::Total, Duration::ZERO, &stop, on_second).unwrap(), None);
        assert_eq!(seconds.iter().count(), 1);
    }

    #[test]
    fn a_stop_counts_completed_runs_only() {
        let stop = StopHandle::default();
        let report = run_all(&options(usize::MAX, 2), &stop, |progress| {
            if progress.runs == 1 {
                stop.stop();
            }
        });
        let report = report.unwrap();
        assert!(report.interrupted && report.is_deterministic());
        assert!(report.runs() > 0);
    }

    #[test]
    fn one_different_run_is_detected() {
        let known =
            run(Ties::Total, Duration::ZERO, &StopHandle::default(), || ()).unwrap().unwrap();
        let changes: [fn(&mut Outcome); 4] = [
            |outcome| outcome.states.0[2] ^= 1,
            |outcome| outcome.calls[6] -= 1,
            |outcome| outcome.dispatches += 1,
            |outcome| outcome.digest.push('0'),
        ];
        for change in changes {
            let mut report = run_all(&options(2, 1), &StopHandle::default(), |_| ()).unwrap();
            let mut other = known.clone();
            change(&mut other);
            report.add(other.clone());
            assert!(!report.is_deterministic());
            assert_eq!((report.runs(), report.outcomes[0].runs), (3, 2));
            // All equal, but wrong. The digest has no expected value.
            report.outcomes = vec![EqualRuns { runs: 3, outcome: other.clone() }];
            assert_eq!(report.is_deterministic(), other.digest != known.digest);
        }
    }
}
