//! The interface between the search and a model: a score for each assignment.

use crate::assignment::Assignment;
use crate::evaluation::{Model, ModelError};
use crate::objective::{Objective, Score};
use crate::pareto::TradeOff;

/// Scores assignments; less is better.
///
/// [`Judge`] combines a [`Model`] with an [`Objective`]; [`LoadModel`](crate::LoadModel) needs no
/// simulation. Scores are deterministic: equal assignments have bit-identical scores.
pub trait CostModel: Sync {
    /// The event loops to place; an assignment uses the same indices.
    fn loops(&self) -> &[String];

    /// The score of `assignment`. A search calls this thousands of times, from several threads.
    ///
    /// # Errors
    /// An assignment that cannot be evaluated; the search ends with this error.
    fn score(&self, assignment: &Assignment) -> Result<Score, ModelError>;

    /// The score, and the figures of the [Pareto front](crate::ParetoFront) if the model has them.
    ///
    /// # Errors
    /// The errors of [`score`](Self::score).
    fn judge(&self, assignment: &Assignment) -> Result<(Score, Option<TradeOff>), ModelError> {
        Ok((self.score(assignment)?, None))
    }
}

/// A [`CostModel`] made of a model and an objective.
#[derive(Clone, Debug)]
pub struct Judge<M> {
    model: M,
    objective: Objective,
}

impl<M: Model> Judge<M> {
    /// Creates a cost model that scores the evaluations of `model` by `objective`.
    pub fn new(model: M, objective: Objective) -> Self {
        Self { model, objective }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The objective.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }
}

impl<M: Model> CostModel for Judge<M> {
    fn loops(&self) -> &[String] {
        self.model.loops()
    }

    fn score(&self, assignment: &Assignment) -> Result<Score, ModelError> {
        Ok(self.judge(assignment)?.0)
    }

    fn judge(&self, assignment: &Assignment) -> Result<(Score, Option<TradeOff>), ModelError> {
        let evaluation = self.model.evaluate(assignment)?;
        let score = self.objective.score(&self.model, &evaluation);
        Ok((score, Some(TradeOff::of(&self.model, &evaluation))))
    }
}
