//! The optimum, where there are few enough candidates to look at all of them.

use super::run::Run;
use super::space::{Genes, Space};

/// Evaluates every candidate. The model is a black box, so there is nothing to bound a branch with.
pub(super) fn search(run: &mut Run<'_, '_>, space: &Space) {
    let mut candidates = space.all();
    while !run.is_done() {
        let batch: Vec<Genes> = candidates.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            break;
        }
        run.evaluate(&batch);
    }
}

/// How many candidates are evaluated at once.
const BATCH: usize = 256;
