//! Evaluations of assignments, and the models that produce them.
//!
//! [`Model`] separates the search from the evaluation of a candidate, which is either the
//! deterministic twin or a formula.

use crate::assignment::Assignment;
use crate::chain::Chain;

/// Why a candidate could not be evaluated.
pub type ModelError = Box<dyn std::error::Error + Send + Sync>;

/// The latencies of the samples of one chain, in simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChainLatency {
    /// The number of samples that reached the end of the chain. If it is 0, the other fields carry
    /// no information, and every objective treats the chain as infinitely late.
    pub samples: u64,
    /// The mean latency.
    pub mean_ns: u64,
    /// The 99th percentile of the latency.
    pub p99_ns: u64,
    /// The longest latency.
    pub max_ns: u64,
    /// The number of samples that missed the deadline of the chain; 0 without a deadline.
    pub misses: u64,
}

/// The result of running an assignment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The chains, in the order of [`Model::chains`].
    pub chains: Vec<ChainLatency>,
    /// Messages that a newer one displaced before dispatch, plus timer periods that passed without
    /// a call.
    pub drops: u64,
    /// Busy seconds per second of each core of the assignment, used or not.
    pub core_loads: Vec<f64>,
    /// The number of cores with at least one loop.
    pub cores_used: usize,
}

/// Evaluates assignments.
///
/// The search evaluates [canonical](Assignment::canonical) assignments only, caches the results,
/// and calls from several threads. A model must therefore be deterministic: equal assignments have
/// bit-identical evaluations.
pub trait Model: Sync {
    /// The event loops to place, named as in a mapping; an assignment uses the same indices.
    fn loops(&self) -> &[String];

    /// The chains whose latencies an evaluation contains.
    fn chains(&self) -> &[Chain];

    /// Evaluates `assignment`. A search calls this thousands of times.
    ///
    /// # Errors
    /// An assignment that cannot be evaluated; the search ends with this error.
    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation, ModelError>;
}

impl<M: Model + ?Sized> Model for &M {
    fn loops(&self) -> &[String] {
        (**self).loops()
    }

    fn chains(&self) -> &[Chain] {
        (**self).chains()
    }

    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation, ModelError> {
        (**self).evaluate(assignment)
    }
}
