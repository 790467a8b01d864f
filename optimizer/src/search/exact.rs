//! Exhaustive search for small numbers of candidates.

use super::run::Run;
use super::space::{Genes, Space};

/// Evaluates every candidate. The model is opaque, so no branch can be bounded.
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

/// The number of candidates evaluated at once.
const BATCH: usize = 256;
