//! What the search minimizes: an assignment's score, from whatever evaluates it.

use crate::assignment::Assignment;
use crate::evaluation::{Model, ModelError};
use crate::objective::{Objective, Score};

/// Scores assignments; less is better.
///
/// [`Judge`] makes one of a [`Model`] and an [`Objective`]; [`LoadModel`](crate::LoadModel) is one
/// that needs no simulation. As for a model: equal assignments, equal scores, to the last bit.
pub trait CostModel: Sync {
    /// The event loops to place. An assignment is indexed like this.
    fn loops(&self) -> &[String];

    /// The score of `assignment`. Called thousands of times in a search, from several threads.
    ///
    /// # Errors
    /// When it cannot be told; the search then ends with this error.
    fn score(&self, assignment: &Assignment) -> Result<Score, ModelError>;
}

/// A model and what counts of its evaluations.
#[derive(Clone, Debug)]
pub struct Judge<M> {
    model: M,
    objective: Objective,
}

impl<M: Model> Judge<M> {
    /// Scores the evaluations of `model` by `objective`.
    pub fn new(model: M, objective: Objective) -> Self {
        Self { model, objective }
    }

    /// What evaluates.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// What counts.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }
}

impl<M: Model> CostModel for Judge<M> {
    fn loops(&self) -> &[String] {
        self.model.loops()
    }

    fn score(&self, assignment: &Assignment) -> Result<Score, ModelError> {
        let evaluation = self.model.evaluate(assignment)?;
        Ok(self.objective.score(self.model.chains(), &evaluation))
    }
}
