//! The state of a running search: evaluated candidates, remaining budget, and the best one so far.
//!
//! An evaluation is a candidate that the search has not requested before. A repeated one is
//! answered from memory at no cost.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use rayon::ThreadPool;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use ringspin_executor::{Error, Result};

use crate::evaluation::Model;
use crate::objective::{Objective, Score};

use super::space::{Genes, Space};
use super::{Convergence, SearchOptions, SearchProgress};

/// A running search.
pub(super) struct SearchRun<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) objective: &'a Objective,
    pub(super) space: &'a Space,
    pub(super) options: &'a SearchOptions,
    observer: &'a mut super::Observer<'a>,
    threads: &'a ThreadPool,
    /// The candidates evaluated so far.
    scores: BTreeMap<Genes, Score>,
    /// The best candidate so far; of equal ones the first.
    pub(super) best: Option<(Score, Genes)>,
    pub(super) convergence: Vec<Convergence>,
    pub(super) stopped: bool,
    pub(super) error: Option<Error>,
}

impl<'a> SearchRun<'a> {
    pub(super) fn new(
        model: &'a dyn Model,
        objective: &'a Objective,
        space: &'a Space,
        options: &'a SearchOptions,
        observer: &'a mut super::Observer<'a>,
        threads: &'a ThreadPool,
    ) -> Self {
        let (scores, convergence) = (BTreeMap::new(), Vec::new());
        let (best, stopped, error) = (None, false, None);
        Self {
            model,
            objective,
            space,
            options,
            observer,
            threads,
            scores,
            best,
            convergence,
            stopped,
            error,
        }
    }

    /// The number of evaluated candidates.
    pub(super) fn evaluations(&self) -> usize {
        self.scores.len()
    }

    /// Whether the run evaluates no further candidates.
    pub(super) fn is_done(&self) -> bool {
        self.scores.len() >= self.options.evaluations || self.error.is_some() || self.stopped
    }

    /// The scores of canonical candidates, in their order; `None` for those that the budget, a stop
    /// or an error left out. The number of threads affects only the run time.
    pub(super) fn evaluate(&mut self, batch: &[Genes]) -> Vec<Option<Score>> {
        let left = if self.is_done() { 0 } else { self.options.evaluations - self.scores.len() };
        let mut seen = BTreeSet::new();
        let unknown = batch.iter().filter(|genes| !self.scores.contains_key(*genes));
        let fresh: Vec<_> = unknown.filter(|genes| seen.insert(*genes)).take(left).collect();
        for (&genes, result) in fresh.iter().zip(self.evaluated(&fresh)) {
            match result {
                Ok(score) => self.note(genes, score),
                Err(error) => {
                    self.error.get_or_insert(error);
                }
            }
        }
        if let Some((best, _)) = self.best.as_ref().filter(|_| !fresh.is_empty()) {
            let (evaluations, budget) = (self.scores.len(), self.options.evaluations);
            let flow = (self.observer)(&SearchProgress { evaluations, budget, best });
            self.stopped |= flow == ControlFlow::Break(());
        }
        batch.iter().map(|genes| self.scores.get(genes).cloned()).collect()
    }

    fn note(&mut self, genes: &Genes, score: Score) {
        self.scores.insert(genes.clone(), score.clone());
        if self.best.as_ref().is_none_or(|(least, _)| score < *least) {
            let evaluations = self.scores.len();
            self.convergence.push(Convergence { evaluations, best: score.clone() });
            self.best = Some((score, genes.clone()));
        }
    }

    /// The scores of `batch`, in its order.
    fn evaluated(&self, batch: &[&Genes]) -> Vec<Result<Score>> {
        let &Self { model, objective, space, .. } = self;
        let score = |genes: &Genes| {
            let evaluation = model.evaluate(&space.assignment(genes))?;
            Ok(objective.score(model, &evaluation))
        };
        self.threads.install(|| batch.par_iter().map(|genes| score(genes)).collect())
    }
}
