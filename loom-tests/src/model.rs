//! Runs a model under every schedule, first unmodified, then with each of its mutants, each in a
//! process of its own.
//!
//! Loom maps and unmaps the stack of every thread of every schedule. Models that share an address
//! space wait for each other there: two at once take as long as one after the other.

use crate::mutant;
use crate::process::{self, test_name};
use loom::sync::atomic::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

/// Far more steps than one schedule of any model takes; only an endless loop reaches it.
const BRANCHES_MAX: usize = 20_000;
/// Messages with which loom gives up; they say nothing about the model's claim.
const GAVE_UP: [&str; 2] = ["exceeded maximum number of branches", "[loom internal bug]"];

/// The exploration of a model, and the mutants that it must detect.
pub(crate) struct Model {
    schedules_min: usize,
    preemptions_max: Option<usize>,
    kills: Vec<(&'static str, Ordering)>,
    needs: Vec<&'static str>,
}

impl Model {
    /// Creates a model that must explore at least `schedules_min` schedules; with fewer, its
    /// threads do not interact, and it proves nothing.
    pub(crate) fn new(schedules_min: usize) -> Self {
        Self { schedules_min, preemptions_max: None, kills: Vec::new(), needs: Vec::new() }
    }

    /// Limits the exploration to schedules with at most this many preemptions.
    pub(crate) fn preemptions(self, preemptions_max: usize) -> Self {
        Self { preemptions_max: Some(preemptions_max), ..self }
    }

    /// Requires that the model fails when the ordering at `site` is only `weaker`.
    pub(crate) fn kills(mut self, site: &'static str, weaker: Ordering) -> Self {
        self.kills.push((site, weaker));
        self
    }

    /// The model must fail when the part of the source named `part` is left out.
    pub(crate) fn needs(mut self, part: &'static str) -> Self {
        self.needs.push(part);
        self
    }

    /// Runs `model`, then its mutants. Must be called with a closure written inside the test
    /// itself, because the closure's type name identifies the test.
    pub(crate) fn check<F: Fn() + Send + Sync + 'static>(self, model: F) {
        let test = test_name::<F>();
        if mutant::is_delegated() {
            let start = Instant::now();
            let schedules = self.explore(model);
            println!("{test}: {schedules} schedules in {:.1?}", start.elapsed());
            let enough = mutant::is_selected() || schedules >= self.schedules_min;
            assert!(enough, "schedules explored: {schedules}");
            return;
        }
        demand_success(test);
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

/// Fails unless `test` passes without a mutant.
fn demand_success(test: &str) {
    let output = process::run(test, mutant::VARIABLE, mutant::NONE);
    let [report, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{test} failed, {}:\n{report}{errors}", output.status);
    let explored = report.lines().find(|line| line.contains(" schedules in "));
    println!("{}", explored.unwrap_or_else(|| panic!("{test} explored nothing:\n{report}")));
}

/// Fails unless `test` fails with `mutant`, for a reason that the model states.
fn demand_failure(test: &str, mutant: &str) {
    let reason = process::failure(test, mutant::VARIABLE, mutant);
    let gave_up = GAVE_UP.iter().any(|message| reason.contains(message));
    assert!(!gave_up, "the mutant {mutant} was not refuted: {reason}");
}

/// A variable without further synchronisation: loom fails the model when two threads use it
/// unordered.
pub(crate) struct Plain<T>(loom::cell::UnsafeCell<T>);

// SAFETY: loom aborts the model before two threads' uses could overlap.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::cell::UnsafeCell::new(value))
    }

    pub(crate) fn set(&self, value: T) {
        // SAFETY: loom checks that no other thread accesses it.
        self.0.with_mut(|cell| unsafe { *cell = value });
    }

    pub(crate) fn get(&self) -> T {
        // SAFETY: loom checks that no thread writes.
        self.0.with(|cell| unsafe { *cell })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_model_without_interaction_is_refused() {
        let refusal = refusal_by(|| Model::new(2).check(|| ()));
        assert!(refusal.is_none_or(|reason| reason.contains("schedules explored: 1")));
    }

    #[test]
    fn a_model_that_fails_is_refused() {
        let refusal = refusal_by(|| {
            Model::new(1).check(|| assert!(mutant::is_selected(), "the claim is wrong"));
        });
        assert!(refusal.is_none_or(|reason| reason.contains("the claim is wrong")));
    }

    #[test]
    fn a_surviving_mutant_fails_the_check() {
        let refusal = refusal_by(|| {
            Model::new(1).kills("no.such.site", Ordering::Relaxed).check(|| ());
        });
        assert!(refusal.is_none_or(|reason| reason.contains("survived")));
    }

    #[test]
    fn a_mutant_without_a_verdict_fails_the_check() {
        let refusal = refusal_by(|| {
            Model::new(1).kills("no.such.site", Ordering::Relaxed).check(|| {
                while mutant::is_selected() {
                    loom::thread::yield_now();
                }
            });
        });
        assert!(refusal.is_none_or(|reason| reason.contains("was not refuted")));
    }

    /// The message with which `check` fails. A child process only runs it.
    fn refusal_by(check: fn()) -> Option<String> {
        if mutant::is_delegated() {
            check();
            return None;
        }
        let refused = catch_unwind(check).expect_err("the model must be refused");
        Some(*refused.downcast().expect("the refusal is a formatted message"))
    }
}
