//! Histograms of measured durations, the content of every profile.

use super::distribution::Distribution;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest duration that a histogram tells from longer ones: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// The largest number that a TOML file holds: 292 years in nanoseconds.
pub(super) const NUMBER_MAX: u64 = i64::MAX as u64;
/// Significant decimal digits of a histogram's values.
const DIGITS: u8 = 2;

/// A distribution of measured durations: exact count, total and extremes, and values within 1 % of
/// the durations that they stand for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationHistogram {
    /// The number of durations; never 0.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Values and their frequencies, ascending; the last value is the longest duration.
    histogram: Vec<(u64, u64)>,
}

impl DurationHistogram {
    /// Creates the histogram of these durations in nanoseconds; `None` if there are none.
    ///
    /// ```
    /// use ringspin_simulation::models::DurationHistogram;
    /// let durations = DurationHistogram::of([30, 10, 20, 20]).unwrap();
    /// assert_eq!((durations.count, durations.mean().as_nanos()), (4, 20));
    /// assert_eq!((durations.quantile(0.5).as_nanos(), durations.max_ns), (20, 30));
    /// ```
    pub fn of(durations_ns: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut durations_ns = durations_ns.into_iter().peekable();
        durations_ns.peek()?;
        let mut measured = Measured::new();
        durations_ns.for_each(|ns| measured.record(ns));
        Some(measured.histogram())
    }

    /// Merges the durations of two histograms.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let mut histogram: BTreeMap<u64, u64> = self.histogram.into_iter().collect();
        for (value, count) in other.histogram {
            let sum = histogram.entry(value).or_default();
            *sum = sum.saturating_add(count).min(NUMBER_MAX);
        }
        Self {
            count: self.count.saturating_add(other.count).min(NUMBER_MAX),
            total_ns: self.total_ns.saturating_add(other.total_ns).min(NUMBER_MAX),
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
            histogram: histogram.into_iter().collect(),
        }
    }

    /// The mean duration.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.total_ns.checked_div(self.count).unwrap_or(0))
    }

    /// The duration that a fraction `q` of all does not exceed, within 1 %; from 0, the shortest,
    /// to 1, the longest, both exact. A fraction outside counts as the nearer one of them.
    pub fn quantile(&self, q: f64) -> Duration {
        let rank = (q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        if rank <= 1 {
            return Duration::from_nanos(self.min_ns);
        }
        let mut below = 0u64;
        let value = self.histogram.iter().find(|(_, count)| {
            below = below.saturating_add(*count);
            below >= rank
        });
        Duration::from_nanos(value.map_or(self.max_ns, |(value, _)| *value))
    }

    /// The distribution of the durations, with `change` applied to each.
    pub fn distribution(&self, change: impl Fn(Duration) -> Duration) -> Distribution {
        let values = self.histogram.iter();
        let values = values.map(|&(ns, count)| (change(Duration::from_nanos(ns)), count));
        Distribution::weighted(values).expect("a histogram has a value")
    }

    /// The first contradiction between the fields, if any.
    pub fn problem(&self) -> Option<&'static str> {
        let sum = self.histogram.iter().map(|(_, count)| u128::from(*count)).sum::<u128>();
        let last = self.histogram.last().map(|(value, _)| *value);
        let within = |ns: u64| (self.min_ns..=self.max_ns).contains(&ns);
        let all_within = self.histogram.iter().all(|(value, _)| within(*value));
        let problems = [
            (self.count == 0, "it counts nothing"),
            (sum != u128::from(self.count), "its histogram has not as many values as its count"),
            (!all_within, "its histogram is not within its limits"),
            (!self.histogram.is_sorted_by(|a, b| a.0 < b.0), "its histogram does not ascend"),
            (last != Some(self.max_ns), "its histogram does not end with its maximum"),
            (!within(self.mean().as_nanos() as u64), "its mean is not within its limits"),
        ];
        problems.into_iter().find_map(|(is_so, problem)| is_so.then_some(problem))
    }
}

/// A histogram under construction, of constant size: about 35 KiB.
pub(super) struct Measured {
    histogram: Histogram<u64>,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Measured {
    pub(super) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        let histogram = histogram.expect("the bounds are in order, the digits few");
        Self { histogram, total_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    pub(super) fn record(&mut self, ns: u64) {
        let ns = ns.min(NUMBER_MAX);
        self.histogram.saturating_record(ns);
        self.total_ns = self.total_ns.saturating_add(ns).min(NUMBER_MAX);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub(super) fn histogram(&self) -> DurationHistogram {
        let mut histogram = BTreeMap::<u64, u64>::new();
        for bin in self.histogram.iter_recorded() {
            let middle = self.histogram.median_equivalent(bin.value_iterated_to());
            let value = middle.clamp(self.min_ns, self.max_ns);
            *histogram.entry(value).or_default() += bin.count_at_value();
        }
        if let Some(longest) = histogram.pop_last() {
            *histogram.entry(self.max_ns).or_default() += longest.1;
        }
        DurationHistogram {
            count: self.histogram.len(),
            total_ns: self.total_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: histogram.into_iter().collect(),
        }
    }
}
