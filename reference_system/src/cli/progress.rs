//! Progress bars on stderr. They are cleared at the end, and not drawn without a terminal.
//!
//! Drawing must not disturb measurements: a comparison draws only between its cells, a run once per
//! second for some ten microseconds.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reference_system::gather;
use ringspin_bench::Step;
use ringspin_conformance::determinism::runs::{Progress, SECONDS_PER_RUN};

/// The interval at which the bar of a run moves.
const TICK: Duration = Duration::from_secs(1);

/// The progress bar of a comparison.
pub(super) struct StepBar(ProgressBar);

impl StepBar {
    /// Creates the bar; invisible when `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
        Self(visible(quiet, 0).with_style(style.expect("the template is valid")))
    }

    /// Shows the step that is about to start.
    pub(super) fn show(&self, step: &Step<'_>) {
        let Step { index, total, turn, name, n, remaining, .. } = *step;
        self.0.set_length(total as u64);
        self.0.set_position(index as u64);
        let (left_s, n) = (remaining.as_secs_f64().ceil(), n.unwrap_or_default());
        self.0.set_message(format!("turn {turn}: N = {n}, {name}; about {left_s} s left"));
    }
}

impl Drop for StepBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress bar of a search, with the best score. Prints one line per strategy without a
/// terminal.
pub(super) struct SearchBar {
    bar: ProgressBar,
    quiet: bool,
    /// The strategy shown last.
    of: Option<&'static str>,
}

impl SearchBar {
    /// Creates the bar; without any output when `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{prefix:13} {bar:30} {pos}/{len} {msg}");
        let bar = visible(quiet, 0).with_style(style.expect("the template is valid"));
        Self { bar, quiet, of: None }
    }

    /// Shows that the strategy `of` has evaluated `done` of `total` candidates, with its best
    /// score.
    pub(super) fn show(&mut self, of: &'static str, done: usize, total: usize, best: &str) {
        let is_next = self.of.replace(of) != Some(of);
        if !self.bar.is_hidden() {
            self.bar.set_prefix(of);
            self.bar.set_length(total as u64);
            self.bar.set_position(done as u64);
            self.bar.set_message(best.to_owned());
        } else if is_next && !self.quiet {
            let gap = if best.is_empty() { "" } else { ", " };
            eprintln!("{of}: {done} of {total}{gap}{best}");
        }
    }
}

impl Drop for SearchBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The progress bar of a report.
pub(super) struct GatherBar(ProgressBar);

impl GatherBar {
    /// Creates the bar; invisible when `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
        Self(visible(quiet, 0).with_style(style.expect("the template is valid")))
    }

    /// Shows the step that is about to start.
    pub(super) fn show(&self, step: &gather::Step) {
        self.0.set_length(step.total as u64);
        self.0.set_position(step.index as u64);
        let left_s = step.remaining.as_secs_f64().ceil();
        self.0.set_message(format!("N = {}, {}; about {left_s} s left", step.n, step.mode));
    }
}

impl Drop for GatherBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress bar of the determinism benchmark, in simulated seconds, because one run may take
/// minutes.
pub(super) struct RunsBar(ProgressBar);

impl RunsBar {
    /// Creates the bar for `runs` runs; invisible when `quiet`.
    pub(super) fn new(quiet: bool, runs: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}, {eta} left");
        let bar = visible(quiet, runs as u64 * SECONDS_PER_RUN)
            .with_style(style.expect("the template is valid"));
        Self(bar)
    }

    /// Shows the progress of the runs.
    pub(super) fn show(&self, progress: Progress, runs: usize) {
        if !self.0.is_hidden() {
            self.0.set_position(progress.simulated_s);
            self.0.set_message(format!("{} of {runs} runs", progress.runs));
        }
    }
}

impl Drop for RunsBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress bar of a run of known length, updated by its own thread until dropped.
pub(super) struct TimeBar {
    bar: ProgressBar,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl TimeBar {
    /// Starts a labelled bar for `duration` of real time; without a thread when `quiet`.
    pub(super) fn start(quiet: bool, label: &str, duration: Duration) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}, {elapsed} of {prefix}");
        let bar = visible(quiet, duration.as_millis().try_into().unwrap_or(u64::MAX))
            .with_style(style.expect("the template is valid"))
            .with_prefix(format!("{duration:?}"))
            .with_message(label.to_owned());
        let ticker = (!bar.is_hidden()).then(|| {
            let (stop, stopped) = channel::<()>();
            let (bar, start) = (bar.clone(), Instant::now());
            let tick = move || {
                while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    bar.set_position(start.elapsed().as_millis().try_into().unwrap_or(u64::MAX));
                }
            };
            (stop, std::thread::spawn(tick))
        });
        Self { bar, ticker }
    }
}

impl Drop for TimeBar {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.ticker.take() {
            drop(stop);
            // Fails only if drawing panicked, and then there is nothing to clear.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

fn visible(quiet: bool, length: u64) -> ProgressBar {
    if quiet { ProgressBar::hidden() } else { ProgressBar::new(length) }
}
