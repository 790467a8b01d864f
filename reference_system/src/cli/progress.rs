//! A progress bar on stderr. It is cleared at the end, and not drawn without a terminal.
//!
//! Drawing must not disturb measurements: a benchmark draws only between its cells, a run once per
//! second for some ten microseconds.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The interval at which the bar of a run moves.
const TICK: Duration = Duration::from_secs(1);

/// The bar; invisible when quiet.
pub(super) struct Bar {
    bar: ProgressBar,
    quiet: bool,
    /// The part of the work that was shown last.
    part: String,
}

impl Bar {
    /// Creates a bar.
    pub(super) fn new(quiet: bool) -> Self {
        Self::styled(quiet, "{bar:30} {msg}")
    }

    /// Creates a bar for a run of a known length, which counts the time by itself.
    pub(super) fn timed(quiet: bool, label: &str, duration: Duration) -> Self {
        let bar = Self::styled(quiet, "{elapsed} of {prefix}: {msg}");
        bar.bar.set_prefix(format!("{duration:?}"));
        bar.bar.set_message(label.to_owned());
        if !bar.bar.is_hidden() {
            bar.bar.enable_steady_tick(TICK);
        }
        bar
    }

    fn styled(quiet: bool, template: &str) -> Self {
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        Self { bar: bar.with_style(style), quiet, part: String::new() }
    }

    /// Shows the progress of the work.
    pub(super) fn show(&self, done: u64, total: u64, message: String) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message);
    }

    /// Shows the progress of a part of the work; without a terminal, as a line for each new part.
    pub(super) fn show_part(&mut self, part: &str, done: usize, total: usize, message: &str) {
        let gap = if message.is_empty() { "" } else { ", " };
        let text = format!("{part}: {done} of {total}{gap}{message}");
        if self.bar.is_hidden() && !self.quiet && self.part != part {
            eprintln!("{text}");
        }
        part.clone_into(&mut self.part);
        self.show(done as u64, total as u64, text);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
