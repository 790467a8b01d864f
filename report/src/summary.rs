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
    /// The 99.9th percentile by nearest rank, in nanoseconds; 0 in files that do not have it.
    #[serde(default)]
    pub p999_ns: u64,
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
            p50_ns: nearest_rank(&sorted, 500),
            p99_ns: nearest_rank(&sorted, 990),
            p999_ns: nearest_rank(&sorted, 999),
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

/// `ns` in milliseconds with about three significant digits: 0.0004, 0.018, 1.260, 59.40, 504.8.
#[must_use]
pub fn format_ms(ns: f64) -> String {
    let ms = ns / 1e6;
    match ms.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.01 => format!("{ms:.4}"),
        size if size < 10.0 => format!("{ms:.3}"),
        size if size < 100.0 => format!("{ms:.2}"),
        size if size < 10_000.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
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

/// The smallest value with at least `per_mille` of the series at or below it.
fn nearest_rank(sorted: &[u64], per_mille: usize) -> u64 {
    let rank = (sorted.len() * per_mille).div_ceil(1000).max(1);
    sorted[rank - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_keeps_its_leading_digits() {
        let shown = [0.0, 400.0, 18_000.0, 1_260_000.0, 59_400_000.0, 504_800_000.0].map(format_ms);
        assert_eq!(shown, ["0", "0.0004", "0.018", "1.260", "59.40", "504.8"]);
        assert_eq!(format_ms(1_180_100_000.0), "1180.1");
    }

    #[test]
    fn percentiles_are_measured_values() {
        let summary = Summary::of(&(1..=200).rev().collect::<Vec<u64>>());
        assert_eq!((summary.p50_ns, summary.p99_ns, summary.max_ns), (100, 198, 200));
        assert_eq!((summary.mean_ns, summary.p999_ns), (100.5, 200));
        let three = Summary::of(&[30, 10, 20]);
        assert_eq!((three.p50_ns, three.p99_ns, three.std_ns), (20, 30, 10.0));
    }

    #[test]
    fn an_empty_series_and_a_single_value_have_no_nan() {
        let empty = Summary::of(&[]);
        assert!(empty.is_empty());
        assert_eq!(empty, Summary::default());
        let one = Summary::of(&[7]);
        assert_eq!((one.min_ns, one.mean_ns, one.p99_ns, one.std_ns), (7, 7.0, 7, 0.0));
    }
}
