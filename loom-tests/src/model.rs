//! Runs a model: under every schedule as written, then once more with each of its mutants.

use crate::mutant;
use loom::sync::atomic::Ordering;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

/// Far more steps than one schedule of any model takes, so that only an endless loop reaches it.
const BRANCHES_MAX: usize = 20_000;
/// How loom reports that it gave up; it says nothing about the model's claim.
const GAVE_UP: [&str; 2] = ["exceeded maximum number of branches", "[loom internal bug]"];

/// How a model is explored, and what it must detect.
pub(crate) struct Model {
    schedules_min: usize,
    preemptions_max: Option<usize>,
    kills: Vec<(&'static str, Ordering)>,
    needs: Vec<&'static str>,
}

impl Model {
    /// A model that explores at least `schedules_min` schedules; with fewer, it does not let its
    /// threads meet, and proves nothing.
    pub(crate) fn new(schedules_min: usize) -> Self {
        Self { schedules_min, preemptions_max: None, kills: Vec::new(), needs: Vec::new() }
    }

    /// Explores only the schedules with at most this many preemptions.
    pub(crate) fn preemptions(self, preemptions_max: usize) -> Self {
        Self { preemptions_max: Some(preemptions_max), ..self }
    }

    /// The model must fail when the ordering at `site` is only `weaker`.
    pub(crate) fn kills(mut self, site: &'static str, weaker: Ordering) -> Self {
        self.kills.push((site, weaker));
        self
    }

    /// The model must fail when the part of the source named `part` is left out.
    pub(crate) fn needs(mut self, part: &'static str) -> Self {
        self.needs.push(part);
        self
    }

    /// Runs `model`, then its mutants. To be called with a closure written inside the test itself,
    /// whose name is found that way.
    pub(crate) fn check<F: Fn() + Send + Sync + 'static>(self, model: F) {
        let start = Instant::now();
        let schedules = self.explore(model);
        if mutant::is_selected() {
            return;
        }
        let test = test_name::<F>();
        println!("{test}: {schedules} schedules in {:.1?}", start.elapsed());
        assert!(schedules >= self.schedules_min, "schedules explored: {schedules}");
        for (site, weaker) in self.kills {
            demand_failure(test, &format!("{site}={weaker:?}"));
        }
        for part in self.needs {
            demand_failure(test, &format!("{part}={}", mutant::OMITTED));
        }
    }

    fn explore(&self, model: impl Fn() + Send + Sync + 'static) -> usize {
        let mut builder = loom::model::Builder::new();
        builder.max_branches = BRANCHES_MAX;
        builder.max_duration = None;
        builder.max_permutations = None;
        builder.preemption_bound = self.preemptions_max;
        let schedules = Arc::new(AtomicUsize::new(0));
        let counter = schedules.clone();
        builder.check(move || {
            counter.fetch_add(1, SeqCst);
            model();
        });
        schedules.load(SeqCst)
    }
}

/// Runs `test` in a process of its own with the mutant, and fails unless the model does.
fn demand_failure(test: &str, mutant: &str) {
    let output = Command::new(std::env::current_exe().expect("a test knows its executable"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(mutant::VARIABLE, mutant)
        .output()
        .expect("a test can run its executable");
    assert!(!output.status.success(), "the mutant {mutant} survived");
    let report = String::from_utf8_lossy(&output.stderr);
    let reason = report.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    let reason = reason.unwrap_or_else(|| panic!("{mutant}: {} without a panic", output.status));
    let gave_up = GAVE_UP.iter().any(|message| reason.contains(message));
    assert!(!gave_up, "the mutant {mutant} was not refuted: {reason}");
    println!("    kills {mutant}: {reason}");
}

/// The test in which the closure `F` was written, as the test harness calls it.
fn test_name<F>() -> &'static str {
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    path.split_once("::").expect("a closure's path starts with its crate").1
}

/// A plain variable without any synchronisation of its own: loom fails the model when two threads
/// use it and nothing orders them.
pub(crate) struct Plain<T>(loom::cell::UnsafeCell<T>);

// SAFETY: loom aborts the model before two threads' uses could overlap.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::cell::UnsafeCell::new(value))
    }

    pub(crate) fn set(&self, value: T) {
        // SAFETY: loom checks that this thread is alone.
        self.0.with_mut(|cell| unsafe { *cell = value });
    }

    pub(crate) fn get(&self) -> T {
        // SAFETY: loom checks that nobody writes.
        self.0.with(|cell| unsafe { *cell })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    #[should_panic(expected = "schedules explored: 1")]
    fn a_model_whose_threads_never_meet_is_refused() {
        Model::new(2).check(|| ());
    }

    #[test]
    fn a_mutant_that_nothing_notices_is_refused() {
        let refusal = refusal_by(|| {
            Model::new(1).kills("no.such.site", Ordering::Relaxed).check(|| ());
        });
        assert!(refusal.is_none_or(|reason| reason.contains("survived")));
    }

    #[test]
    fn a_mutant_on_which_loom_gives_up_is_refused() {
        let refusal = refusal_by(|| {
            Model::new(1).kills("no.such.site", Ordering::Relaxed).check(|| {
                while mutant::is_selected() {
                    loom::thread::yield_now();
                }
            });
        });
        assert!(refusal.is_none_or(|reason| reason.contains("was not refuted")));
    }

    /// With which message `check` fails. The mutant's own process just runs it.
    fn refusal_by(check: fn()) -> Option<String> {
        if mutant::is_selected() {
            check();
            return None;
        }
        let refused = catch_unwind(check).expect_err("the mutant must be refused");
        Some(*refused.downcast().expect("the refusal is a formatted message"))
    }
}
