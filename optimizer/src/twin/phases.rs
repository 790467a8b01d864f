//! Advice on the phases of timers: a timer that starts later may leave the cores to a chain.

use super::Twin;
use crate::assignment::Assignment;
use crate::evaluation::Evaluation;
use crate::objective::{Objective, Score};
use ringspin_executor::Result;
use std::time::Duration;

/// A timer that had better start later.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseAdvice {
    /// The index of the timer in [`Model::timers`](crate::Model::timers).
    pub timer: usize,
    /// The best of the delays that were tried.
    pub shift: Duration,
    /// The evaluation with timers in phase.
    pub before: Evaluation,
    /// The evaluation with this timer late by `shift`.
    pub after: Evaluation,
}

/// A timer, by its index, and how much later it starts.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    pub(super) timer: usize,
    pub(super) by: Duration,
}

/// The number of delays tried for each timer.
const STEPS: u32 = 8;

/// The relative difference up to which figures of two evaluations count as equal.
const NOISE: f64 = 0.02;

impl Twin<'_> {
    /// Evaluates `assignment` with each periodic timer started later in eight steps, each as long
    /// as the longest callback, or a ninth of the timer's period; returns the best delay of each
    /// timer that betters the score, with two seeds, by more than two percent. Evaluates some ten
    /// times as often as there are timers.
    ///
    /// Timers that start a chain in parallel stay: a join would hide that the other input waits.
    ///
    /// # Errors
    /// The assignment is of another graph, or a run of the twin fails.
    pub fn advise_phases(
        &self,
        assignment: &Assignment,
        objective: &Objective,
    ) -> Result<Vec<PhaseAdvice>> {
        let score = |evaluation: &Evaluation| objective.score(self, evaluation);
        let evaluate = |shift, seed| self.evaluate_shifted(assignment, shift, seed);
        let (before, again) = (evaluate(None, 0)?, evaluate(None, 1)?);
        let mut advice = Vec::new();
        for (timer, period) in self.shiftable() {
            let step = self.longest.max(2 * Self::PHASES).min(period / (STEPS + 1));
            let mut best: Option<(Score, Shift, Evaluation)> = None;
            for by in (1..=STEPS).map(|n| step * n) {
                let shift = Shift { timer, by };
                let after = evaluate(Some(shift), 0)?;
                let found = score(&after);
                let least =
                    best.as_ref().map_or_else(|| score(&before), |(score, ..)| score.clone());
                if is_better(&found, &least) {
                    best = Some((found, shift, after));
                }
            }
            let Some((_, shift, after)) = best else { continue };
            if is_better(&score(&evaluate(Some(shift), 1)?), &score(&again)) {
                advice.push(PhaseAdvice { timer, shift: shift.by, before: before.clone(), after });
            }
        }
        Ok(advice)
    }
}

/// Whether the first figure that differs by more than [`NOISE`] is less.
fn is_better(score: &Score, than: &Score) -> bool {
    let mut pairs = score.terms().iter().zip(than.terms());
    let differs = |(a, b): &(&u64, &u64)| a.abs_diff(**b) as f64 > NOISE * **a.max(b) as f64;
    pairs.find(differs).is_some_and(|(a, b)| a < b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_within_the_noise_decides_nothing() {
        let better = |a: [u64; 2], b: [u64; 2]| is_better(&Score::new(a), &Score::new(b));
        assert!(better([0, 970], [0, 1_000]) && !better([0, 1_000], [0, 970]));
        assert!(!better([0, 985], [0, 1_000]));
        assert!(better([1_010, 5], [1_000, 9]), "the first term is noise, the second decides");
        assert!(!better([1, 1], [0, 9]));
    }
}
