//! Local search: from a candidate to better neighbours until there is none.

use crate::objective::Score;

use super::random::SplitMix64;
use super::run::SearchRun;
use super::space::Genes;

/// The number of neighbours evaluated at once; the best of them is taken if it improves. Fixed, so
/// that the path does not depend on the number of threads.
const BATCH: usize = 16;

/// Moves one loop, swaps two or changes one priority while that improves the score. Ends at a local
/// optimum or with the budget. Returns the last candidate, or `None` if not even `start` could be
/// evaluated.
pub(super) fn climb(
    run: &mut SearchRun<'_>,
    start: Genes,
    random: &mut SplitMix64,
) -> Option<(Score, Genes)> {
    let mut least = run.evaluate(std::slice::from_ref(&start)).pop()??;
    let mut current = start;
    while let Some((score, better)) = first_better(run, &current, &least, random) {
        (least, current) = (score, better);
    }
    Some((least, current))
}

fn first_better(
    run: &mut SearchRun<'_>,
    current: &Genes,
    least: &Score,
    random: &mut SplitMix64,
) -> Option<(Score, Genes)> {
    for batch in run.space.neighbours(current, random).chunks(BATCH) {
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
