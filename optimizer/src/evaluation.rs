//! Evaluations of assignments, and the models that produce them.
//!
//! [`Model`] separates the search from the evaluation of a candidate, which is either the
//! deterministic twin or a formula.

use crate::assignment::Assignment;
use crate::jitter::PeriodicTimer;
use ringspin_executor::{Result, Time};
use ringspin_modes::{Chain, ChainSamples};
use std::time::Duration;

/// The latencies of the samples of one chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChainLatency {
    /// The number of samples that reached the end of the chain. If it is 0, the other fields carry
    /// no information, and every objective treats the chain as infinitely late.
    pub samples: u64,
    /// From the release of the first event (its timer was due) to the end of the last callback: the
    /// latency that a user feels.
    pub release_to_end: Latency,
    /// From the start of the first callback to the start of the last one: the figure of the
    /// reference system. A mapping can improve it by delaying a source.
    pub sample_to_start: Latency,
    /// The number of samples that missed the deadline of the chain, from release to end: those that
    /// ended later, and those that did not end. 0 without a deadline.
    pub misses: u64,
}

/// Figures of a latency in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Latency {
    /// The mean.
    pub mean_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The longest one.
    pub max_ns: u64,
}

impl Latency {
    /// Summarizes latencies in nanoseconds, in any order; zeros if there are none. O(n log n).
    #[must_use]
    pub fn of(mut latencies_ns: Vec<u64>) -> Self {
        latencies_ns.sort_unstable();
        let Some(&max_ns) = latencies_ns.last() else { return Self::default() };
        let count = latencies_ns.len();
        let total_ns: u128 = latencies_ns.iter().map(|&ns| u128::from(ns)).sum();
        let percentile = |percent: usize| latencies_ns[(count * percent).div_ceil(100) - 1];
        Self {
            mean_ns: (total_ns / count as u128) as u64,
            p50_ns: percentile(50),
            p99_ns: percentile(99),
            max_ns,
        }
    }
}

impl ChainLatency {
    /// Summarizes the latencies of a chain's samples in nanoseconds, in any order. Each of the
    /// `lost` samples is a miss if there is a deadline. O(n log n).
    ///
    /// ```
    /// use ringspin_optimizer::ChainLatency;
    /// use std::time::Duration;
    ///
    /// let deadline = Some(Duration::from_nanos(25));
    /// let latency = ChainLatency::of(vec![30, 10, 20], vec![25, 5, 15], deadline, 2);
    /// assert_eq!((latency.samples, latency.misses), (3, 3), "one is late, two are lost");
    /// assert_eq!((latency.release_to_end.mean_ns, latency.sample_to_start.max_ns), (20, 25));
    /// assert_eq!(ChainLatency::of(vec![], vec![], None, 2), ChainLatency::default());
    /// ```
    #[must_use]
    pub fn of(
        release_to_end_ns: Vec<u64>,
        sample_to_start_ns: Vec<u64>,
        deadline: Option<Duration>,
        lost: u64,
    ) -> Self {
        let deadline_ns = deadline.map_or(u128::MAX, |deadline| deadline.as_nanos());
        let late = release_to_end_ns.iter().filter(|&&ns| u128::from(ns) > deadline_ns);
        Self {
            samples: release_to_end_ns.len() as u64,
            misses: late.count() as u64 + deadline.map_or(0, |_| lost),
            release_to_end: Latency::of(release_to_end_ns),
            sample_to_start: Latency::of(sample_to_start_ns),
        }
    }
}

impl ChainLatency {
    /// Summarizes the samples of a run that ended at `end`.
    pub(crate) fn of_samples(samples: ChainSamples, deadline: Option<Duration>, end: Time) -> Self {
        let (started_ns, ended_ns) = (&samples.started_ns, &samples.released_ns);
        let lost = deadline.map_or(0, |of| lost_samples(of, started_ns, ended_ns, end.as_nanos()));
        Self::of(samples.release_to_end_ns, samples.sample_to_start_ns, deadline, lost)
    }
}

/// The number of samples that a chain with this deadline lost in a run that ended at `end_ns`:
/// those that started (`started_ns`, the releases of all) and did not end (`ended_ns`, the releases
/// of those that did) before their deadline and the run were over. A sample whose deadline is after
/// the end of the run may still be under way, and is not lost. O(n).
fn lost_samples(deadline: Duration, started_ns: &[u64], ended_ns: &[u64], end_ns: u64) -> u64 {
    let deadline_ns = u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX);
    let is_due = |released_ns: &&u64| released_ns.saturating_add(deadline_ns) < end_ns;
    let due = |released_ns: &[u64]| released_ns.iter().filter(is_due).count() as u64;
    due(started_ns).saturating_sub(due(ended_ns))
}

/// The result of running an assignment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The chains, in the order of [`Model::chains`].
    pub chains: Vec<ChainLatency>,
    /// The jitter of the timers in nanoseconds, in the order of [`Model::timers`]: the standard
    /// deviation of the distances of successive starts.
    pub jitter_ns: Vec<u64>,
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

    /// The timers whose jitter an evaluation contains; none unless the model measures it.
    fn timers(&self) -> &[PeriodicTimer] {
        &[]
    }

    /// Evaluates `assignment`. A search calls this thousands of times.
    ///
    /// # Errors
    /// An assignment that cannot be evaluated; the search ends with this error.
    fn evaluate(&self, assignment: &Assignment) -> Result<Evaluation>;

    /// The busy seconds per second of each loop alone on a core, from which the heuristics of the
    /// search start.
    ///
    /// # Errors
    /// An assignment of each loop to a separate core that cannot be evaluated.
    fn utilizations(&self) -> Result<Vec<f64>> {
        let (loops, count) = (self.loops(), self.loops().len());
        let apart = Assignment::new(loops, (0..count).collect(), count);
        Ok(self.evaluate(&apart)?.core_loads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_that_may_be_under_way_is_not_lost() {
        // Of four samples, the second is lost; the deadline of the last one is after the end.
        let lost = lost_samples(Duration::from_nanos(50), &[100, 200, 300, 400], &[100, 300], 420);
        assert_eq!(lost, 1);
    }
}
