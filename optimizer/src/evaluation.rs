//! What running an assignment came to, and who can tell.
//!
//! [`Model`] is the seam between the search and whatever evaluates a candidate: the deterministic
//! twin, or a formula.

use crate::assignment::Assignment;
use crate::chain::Chain;

/// Why a candidate could not be evaluated.
pub type ModelError = Box<dyn std::error::Error + Send + Sync>;

/// How long the samples of one chain took, in simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChainLatency {
    /// How many samples came to the end of the chain. With none, the other fields say nothing, and
    /// every objective takes the chain for infinitely late.
    pub samples: u64,
    /// Their mean latency.
    pub mean_ns: u64,
    /// The latency that 99 % of them keep.
    pub p99_ns: u64,
    /// The longest one.
    pub max_ns: u64,
    /// How many took longer than the deadline of the chain; 0 without a deadline.
    pub misses: u64,
}

/// What running an assignment came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The chains, in the order of [`Model::chains`].
    pub chains: Vec<ChainLatency>,
    /// Messages that a newer one displaced before their callback saw them, and timer periods that
    /// passed without a call.
    pub drops: u64,
    /// Busy seconds per second of each core of the assignment, used or not.
    pub core_loads: Vec<f64>,
    /// How many cores have something to do.
    pub cores_used: usize,
}

/// Evaluates assignments.
///
/// The search evaluates [canonical](Assignment::canonical) assignments only, remembers what it has
/// seen, and asks from several threads at once. So a model must be deterministic: equal
/// assignments, equal evaluations, to the last bit.
pub trait Model: Sync {
    /// The event loops to place, named as a mapping names them. An assignment is indexed like
    /// this.
    fn loops(&self) -> &[String];

    /// The chains whose latencies an evaluation has.
    fn chains(&self) -> &[Chain];

    /// What `assignment` comes to. Called thousands of times in a search.
    ///
    /// # Errors
    /// When it cannot be told; the search then ends with this error.
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
