//! Runs a model under many random schedules, first unmodified, then with each of its mutants.

use crate::facade::LeakCheck;
pub(crate) use crate::mutant::is_mutant;
use crate::mutant::{MUTANT, VARIABLE};
use crate::shared::process::{self, test_name};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};
use std::sync::Arc;
use std::time::Instant;

/// The environment variable with a factor for the number of schedules.
const FACTOR: &str = "RINGSPIN_SHUTTLE_FACTOR";
/// The default seed; Shuttle's own variable `SHUTTLE_RANDOM_SEED` overrides it.
const SEED: u64 = 20_260;
/// Far more steps than a schedule takes. A mutant that reaches it is in an endless loop.
const STEPS_MAX: usize = 100_000;
/// The number of preemptions in the priority-based half of the schedules.
const PREEMPTIONS: usize = 4;

/// The number of schedules of a model, and the mutants that it must detect.
pub(crate) struct Model {
    schedules: usize,
    kills: Vec<&'static str>,
}

impl Model {
    /// Creates a model with this number of schedules: one half drawn step by step, the other half
    /// with random priorities that change a few times, which delays threads for long.
    pub(crate) fn new(schedules: usize) -> Self {
        Self { schedules, kills: Vec::new() }
    }

    /// Requires that the model fails with the mutant `name`.
    pub(crate) fn kills(mut self, name: &'static str) -> Self {
        self.kills.push(name);
        self
    }

    /// Runs `model`, then its mutants. Must be called with a closure written inside the test
    /// itself, because the closure's type name identifies the test.
    pub(crate) fn check<F: Fn() + Send + Sync + 'static>(self, model: F) {
        let start = Instant::now();
        let factor = std::env::var(FACTOR).map_or(1, |n| n.parse().expect("a factor is a number"));
        let half = self.schedules * factor / 2;
        let model = Arc::new(model);
        run(PctScheduler::new_from_seed(SEED, PREEMPTIONS, half), model.clone());
        run(RandomScheduler::new_from_seed(SEED, half), model);
        if MUTANT.is_some() {
            return;
        }
        let test = test_name::<F>();
        println!("{test}: {} schedules in {:.1?}", 2 * half, start.elapsed());
        for mutant in self.kills {
            process::failure(test, VARIABLE, mutant);
        }
    }
}

fn run(scheduler: impl Scheduler + 'static, model: Arc<impl Fn() + Send + Sync + 'static>) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || {
        model();
        LeakCheck::assert_none_left();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuttle::thread::{spawn, yield_now};

    #[test]
    fn a_surviving_mutant_fails_the_check() {
        let check = || {
            Model::new(4).kills("no.such.site").check(|| {
                let thread = spawn(yield_now);
                yield_now();
                thread.join().unwrap();
            });
        };
        if MUTANT.is_some() {
            return check();
        }
        let refused = std::panic::catch_unwind(check).expect_err("the mutant must be refused");
        let reason: &String = refused.downcast_ref().expect("the refusal is a formatted message");
        assert!(reason.contains("survived"), "{reason}");
    }
}
