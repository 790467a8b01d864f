//! Local search: from a candidate to better neighbours until there is none.

use crate::objective::Score;

use super::random::SplitMix64;
use super::run::Run;
use super::space::{Genes, Space};

/// Climbs from random starts until the budget is spent; a baseline.
pub(super) fn search(run: &mut Run<'_, '_>, space: &Space, seed: u64) {
    let mut random = SplitMix64::new(seed, 2);
    let mut dry = 0;
    while !run.is_done() && dry < DRY_STARTS_MAX {
        let before = run.evaluations();
        let start = space.random(&mut random);
        climb(run, space, start, &mut random);
        dry = if run.evaluations() == before { dry + 1 } else { 0 };
    }
}

/// The number of starts without a new candidate after which the space counts as exhausted.
const DRY_STARTS_MAX: usize = 64;

/// The number of neighbours evaluated at once; the best of them is taken if it improves. Fixed, so
/// that the path does not depend on the number of threads.
const BATCH: usize = 16;

/// Moves one loop, swaps two or changes one priority while that improves the score. Ends at a local
/// optimum or with the budget. Returns the last candidate, or `None` if not even `start` could be
/// evaluated.
pub(super) fn climb(
    run: &mut Run<'_, '_>,
    space: &Space,
    start: Genes,
    random: &mut SplitMix64,
) -> Option<(Score, Genes)> {
    let mut least = run.evaluate(std::slice::from_ref(&start)).pop()??;
    let mut current = start;
    while let Some((score, better)) = first_better(run, space, &current, &least, random) {
        (least, current) = (score, better);
    }
    Some((least, current))
}

fn first_better(
    run: &mut Run<'_, '_>,
    space: &Space,
    current: &Genes,
    least: &Score,
    random: &mut SplitMix64,
) -> Option<(Score, Genes)> {
    for batch in space.neighbours(current, random).chunks(BATCH) {
        let scores = run.evaluate(batch).into_iter().zip(batch);
        let known = scores.filter_map(|(score, genes)| Some((score?, genes)));
        // Of equal candidates, the first.
        let best = known.min_by(|(a, _), (b, _)| a.cmp(b));
        if let Some((score, genes)) = best.filter(|(score, _)| score < least) {
            return Some((score, genes.clone()));
        }
        if run.is_done() {
            break;
        }
    }
    None
}
