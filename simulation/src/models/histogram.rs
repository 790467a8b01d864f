//! Histograms of measured durations, the content of every profile.

use super::distribution::Distribution;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest duration that a histogram tells from longer ones: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// The largest number that a TOML file holds: 292 years in nanoseconds.
pub(super) const NUMBER_MAX: u64 = i64::MAX as u64;
/// Durations with the same leading bits, this many, share a bin: values are within 1 % then.
const LEADING_BITS: u32 = 8;

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
///
/// Bins are those of HdrHistogram with two significant digits: a bin for each duration below
/// `1 << LEADING_BITS`, then half as many for each further power of two.
pub(super) struct Measured {
    bins: Box<[u64]>,
    count: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

/// The bits of `ns` that its bin leaves out.
const fn dropped_bits(ns: u64) -> u32 {
    (u64::BITS - LEADING_BITS).saturating_sub(ns.leading_zeros())
}

const fn bin(ns: u64) -> usize {
    let dropped = dropped_bits(ns);
    ((dropped << (LEADING_BITS - 1)) as u64 + (ns >> dropped)) as usize
}

const fn middle(bin: usize) -> u64 {
    let dropped = (bin >> (LEADING_BITS - 1)).saturating_sub(1) as u32;
    let lowest = (bin as u64 - (dropped << (LEADING_BITS - 1)) as u64) << dropped;
    lowest + (1 << dropped >> 1)
}

impl Measured {
    pub(super) fn new() -> Self {
        let bins = vec![0; bin(LONGEST_NS) + 1].into();
        Self { bins, count: 0, total_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    pub(super) fn record(&mut self, ns: u64) {
        let ns = ns.min(NUMBER_MAX);
        self.bins[bin(ns.min(LONGEST_NS))] += 1;
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(ns).min(NUMBER_MAX);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub(super) fn histogram(&self) -> DurationHistogram {
        let mut histogram = BTreeMap::<u64, u64>::new();
        for (bin, &count) in self.bins.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = middle(bin).clamp(self.min_ns, self.max_ns);
            *histogram.entry(value).or_default() += count;
        }
        if let Some(longest) = histogram.pop_last() {
            *histogram.entry(self.max_ns).or_default() += longest.1;
        }
        DurationHistogram {
            count: self.count,
            total_ns: self.total_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: histogram.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_a_bin_lies_in_it_and_within_one_percent() {
        let durations = (0..2_000).chain((11..42).flat_map(|n| [(1 << n) - 1, 1 << n, 3 << n]));
        for ns in durations {
            let value = middle(bin(ns));
            assert_eq!(bin(value), bin(ns), "of {ns}");
            assert!(value.abs_diff(ns) * 100 <= ns, "{value} for {ns}");
        }
        assert_eq!(
            [0, 255, 256, 257, 258, 511, 512, 515].map(|ns| middle(bin(ns))),
            [0, 255, 257, 257, 259, 511, 514, 514]
        );
    }
}
