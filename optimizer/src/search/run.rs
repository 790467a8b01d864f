//! The state of one strategy: evaluated candidates, remaining budget, and the best one so far.
//!
//! All strategies evaluate candidates through [`Run`], which makes them comparable: an evaluation
//! is a candidate that the strategy has not requested before. A repeated one is answered from
//! memory at no cost.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use crate::cost_model::CostModel;
use crate::evaluation::ModelError;
use crate::objective::Score;
use crate::pareto::TradeOff;

use super::space::{Genes, Space};
use super::{Convergence, Progress, Stop, Strategy};

/// The parameters of a run.
pub(super) struct RunParameters<'a> {
    pub(super) model: &'a dyn CostModel,
    pub(super) space: &'a Space,
    pub(super) stop: &'a Stop,
    pub(super) threads: usize,
    pub(super) strategy: Strategy,
    pub(super) seed: u64,
    pub(super) budget: usize,
}

/// A running strategy.
pub(super) struct Run<'a, 'o> {
    parameters: RunParameters<'a>,
    /// The candidates that any strategy has evaluated on this model: saves time, not budget.
    known: &'a mut BTreeMap<Genes, Judged>,
    observer: &'o mut (dyn FnMut(&Progress<'_>) + Send),
    seen: BTreeSet<Genes>,
    best: Option<(Score, Genes)>,
    convergence: Vec<Convergence>,
    error: Option<ModelError>,
}

/// The result of a run.
pub(super) struct Outcome {
    pub(super) best: Option<(Score, Genes)>,
    pub(super) evaluations: usize,
    pub(super) convergence: Vec<Convergence>,
    pub(super) error: Option<ModelError>,
}

impl<'a, 'o> Run<'a, 'o> {
    pub(super) fn new(
        parameters: RunParameters<'a>,
        known: &'a mut BTreeMap<Genes, Judged>,
        observer: &'o mut (dyn FnMut(&Progress<'_>) + Send),
    ) -> Self {
        Self {
            parameters,
            known,
            observer,
            seen: BTreeSet::new(),
            best: None,
            convergence: Vec::new(),
            error: None,
        }
    }

    /// The number of evaluated candidates.
    pub(super) fn evaluations(&self) -> usize {
        self.seen.len()
    }

    /// The number of candidates that may be evaluated.
    pub(super) fn budget(&self) -> usize {
        self.parameters.budget
    }

    /// Whether the run evaluates no further candidates.
    pub(super) fn is_done(&self) -> bool {
        self.seen.len() >= self.parameters.budget
            || self.error.is_some()
            || self.parameters.stop.is_stopped()
    }

    /// The best candidate so far; of equal ones the first.
    pub(super) fn best(&self) -> Option<&(Score, Genes)> {
        self.best.as_ref()
    }

    pub(super) fn finish(self) -> Outcome {
        Outcome {
            evaluations: self.seen.len(),
            best: self.best,
            convergence: self.convergence,
            error: self.error,
        }
    }

    /// The scores of canonical candidates, in their order; `None` for those that the budget, a stop
    /// or an error left out. The number of threads affects only the run time.
    pub(super) fn evaluate(&mut self, batch: &[Genes]) -> Vec<Option<Score>> {
        let mut fresh = Vec::new();
        for genes in batch {
            if !self.is_done() && !self.seen.contains(genes) {
                self.seen.insert(genes.clone());
                fresh.push(genes);
            }
        }
        self.learn(&fresh);
        let before = self.seen.len() - fresh.len();
        let mut missing = 0;
        for (index, &genes) in fresh.iter().enumerate() {
            match self.known.get(genes) {
                Some((score, _)) => note_best(
                    &mut self.best,
                    &mut self.convergence,
                    (score, genes),
                    before + index + 1 - missing,
                ),
                None => {
                    self.seen.remove(genes);
                    missing += 1;
                }
            }
        }
        if !fresh.is_empty() {
            self.report();
        }
        let score = |genes| self.seen.contains(genes).then(|| self.known.get(genes));
        let score = |genes| score(genes).flatten().map(|(score, _)| score.clone());
        batch.iter().map(score).collect()
    }

    /// Evaluates the candidates of `fresh` that no strategy has evaluated before.
    fn learn(&mut self, fresh: &[&Genes]) {
        if self.error.is_some() {
            return;
        }
        let unknown: Vec<&Genes> =
            fresh.iter().copied().filter(|genes| !self.known.contains_key(*genes)).collect();
        for (genes, result) in unknown.iter().zip(scores(&self.parameters, &unknown)) {
            match result {
                Some(Ok(judged)) => {
                    self.known.insert((*genes).clone(), judged);
                }
                Some(Err(error)) => {
                    self.error.get_or_insert(error);
                }
                None => {}
            }
        }
    }

    fn report(&mut self) {
        if let Some((score, _)) = &self.best {
            (self.observer)(&Progress {
                strategy: self.parameters.strategy,
                seed: self.parameters.seed,
                evaluations: self.seen.len(),
                budget: self.parameters.budget,
                best: score,
            });
        }
    }
}

fn note_best(
    best: &mut Option<(Score, Genes)>,
    convergence: &mut Vec<Convergence>,
    (score, genes): (&Score, &Genes),
    evaluations: usize,
) {
    if best.as_ref().is_none_or(|(least, _)| score < least) {
        *best = Some((score.clone(), genes.clone()));
        convergence.push(Convergence { evaluations, best: score.clone() });
    }
}

/// The score of a candidate, and its trade-off if the model has one.
pub(super) type Judged = (Score, Option<TradeOff>);

type Scored = Option<Result<Judged, ModelError>>;

/// The scores of `batch`, in its order; `None` where the search was stopped first.
fn scores(parameters: &RunParameters<'_>, batch: &[&Genes]) -> Vec<Scored> {
    let score = |genes: &Genes| {
        let stopped = parameters.stop.is_stopped();
        (!stopped).then(|| parameters.model.judge(&parameters.space.assignment(genes)))
    };
    let threads = parameters.threads.min(batch.len());
    if threads <= 1 {
        return batch.iter().map(|genes| score(genes)).collect();
    }
    let next = Mutex::new(0..batch.len());
    // No code panics while it holds the lock.
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Vec<(usize, Scored)> {
        std::iter::from_fn(take).map(|index| (index, score(batch[index]))).collect()
    };
    let mut results: Vec<Scored> = batch.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        for (index, result) in done {
            results[index] = result;
        }
    });
    results
}
