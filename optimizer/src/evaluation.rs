//! Evaluations of assignments, and the models that produce them.
//!
//! [`Model`] separates the search from the evaluation of a candidate, which is either the
//! deterministic twin or a formula.

use crate::assignment::Assignment;
use crate::chain::Chain;
use std::time::Duration;

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

impl ChainLatency {
    /// Summarizes the latencies of a chain in nanoseconds, in any order. O(n log n).
    ///
    /// ```
    /// use ringspin_optimizer::ChainLatency;
    /// use std::time::Duration;
    ///
    /// let latency = ChainLatency::of(vec![30, 10, 20], Some(Duration::from_nanos(25)));
    /// assert_eq!((latency.samples, latency.mean_ns, latency.misses), (3, 20, 1));
    /// assert_eq!(ChainLatency::of(vec![], None), ChainLatency::default());
    /// ```
    #[must_use]
    pub fn of(mut latencies_ns: Vec<u64>, deadline: Option<Duration>) -> Self {
        latencies_ns.sort_unstable();
        let Some(&max_ns) = latencies_ns.last() else { return Self::default() };
        let samples = latencies_ns.len() as u64;
        let total_ns: u128 = latencies_ns.iter().map(|&ns| u128::from(ns)).sum();
        let deadline_ns = deadline.map_or(u128::MAX, |deadline| deadline.as_nanos());
        let in_time = latencies_ns.partition_point(|&ns| u128::from(ns) <= deadline_ns);
        Self {
            samples,
            mean_ns: (total_ns / u128::from(samples)) as u64,
            p99_ns: latencies_ns[(latencies_ns.len() * 99).div_ceil(100) - 1],
            max_ns,
            misses: samples - in_time as u64,
        }
    }
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
