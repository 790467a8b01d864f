//! Exact statistics of a recorded series. A histogram would be smaller, but its buckets would round
//! the maximum and the deviation, in which executors differ most.

use serde::{Deserialize, Serialize};

/// The distribution of a series of durations, in nanoseconds; all zero when the series is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of values.
    pub count: u64,
    /// The smallest, in nanoseconds.
    pub min_ns: u64,
    /// The arithmetic mean, in nanoseconds.
    pub mean_ns: f64,
    /// The median by nearest rank: a value that occurred, in nanoseconds.
    pub p50_ns: u64,
    /// The 99th percentile by nearest rank, in nanoseconds.
    pub p99_ns: u64,
    /// The largest, in nanoseconds.
    pub max_ns: u64,
    /// The sample standard deviation (n - 1, as upstream), in nanoseconds; 0 below two values.
    pub std_ns: f64,
}

impl Summary {
    /// Summarises `values_ns` exactly. O(n log n) time and one copy of the series.
    #[must_use]
    pub fn of(values_ns: &[u64]) -> Self {
        let mut sorted = values_ns.to_vec();
        sorted.sort_unstable();
        let (Some(&min_ns), Some(&max_ns)) = (sorted.first(), sorted.last()) else {
            return Self::default();
        };
        let mean_ns = mean(&sorted);
        Self {
            count: sorted.len() as u64,
            min_ns,
            mean_ns,
            p50_ns: nearest_rank(&sorted, 50),
            p99_ns: nearest_rank(&sorted, 99),
            max_ns,
            std_ns: sample_deviation(&sorted, mean_ns),
        }
    }

    /// Whether the series is empty, and the other fields carry no information.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

fn mean(values: &[u64]) -> f64 {
    let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
    sum as f64 / values.len() as f64
}

fn sample_deviation(values: &[u64], mean: f64) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// The smallest value with at least `percent` % of the series at or below it.
fn nearest_rank(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}
