//! Spreads: compressed distributions of up to millions of measured times.

use ringspin_simulation::models::Distribution;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The number of groups if each value occurs once; at most twice as many otherwise.
const GROUPS: u64 = 64;

/// The distribution of measured times: exact extremes and sum, and up to 128 groups of about
/// equally many neighbouring values, each stored as its mean. The mean is exact up to rounding; a
/// quantile is off by less than a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The number of times; never 0.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The mean and the number of values of each group, in ascending order.
    groups: Vec<(u64, u64)>,
}

impl Spread {
    /// Creates the spread of these times in nanoseconds; `None` if there are none. O(n log n).
    ///
    /// ```
    /// use ringspin_optimizer::Spread;
    /// let spread = Spread::of([30, 10, 20, 20]).unwrap();
    /// assert_eq!((spread.count, spread.mean().as_nanos()), (4, 20));
    /// assert_eq!((spread.quantile(0.5).as_nanos(), spread.max_ns), (20, 30));
    /// ```
    pub fn of(times_ns: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = times_ns.into_iter().map(|ns| ns.min(NUMBER_MAX)).collect();
        sorted.sort_unstable();
        let (&min_ns, &max_ns) = (sorted.first()?, sorted.last()?);
        let (count, total_ns) = (sorted.len() as u64, sum(sorted.iter().copied()));
        let groups = grouped(sorted.into_iter().map(|ns| (ns, 1)), count);
        Some(Self { count, total_ns, min_ns, max_ns, groups })
    }

    /// Merges two spreads.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let mut all: Vec<_> = self.groups.into_iter().chain(other.groups).collect();
        all.sort_unstable();
        let count = sum([self.count, other.count]);
        Self {
            count,
            total_ns: sum([self.total_ns, other.total_ns]),
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
            groups: grouped(all.into_iter(), count),
        }
    }

    /// Merges two spreads, if present.
    pub(crate) fn joined(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.merge(other)),
            (one, other) => one.or(other),
        }
    }

    /// The mean.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.total_ns / self.count.max(1))
    }

    /// The `q`-quantile: 0 is the shortest time, 1 the longest.
    pub fn quantile(&self, q: f64) -> Duration {
        let rank = (q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        let mut below = 0u64;
        let group = self.groups.iter().find(|(_, count)| {
            below = below.saturating_add(*count);
            below >= rank
        });
        Duration::from_nanos(match (rank, group) {
            (0 | 1, _) => self.min_ns,
            (rank, _) if rank >= self.count => self.max_ns,
            (_, Some((ns, _))) => *ns,
            (_, None) => self.max_ns,
        })
    }

    /// Converts to a distribution, with `change` applied to each value.
    pub fn distribution(&self, change: impl Fn(Duration) -> Duration) -> Distribution {
        let values = self.groups.iter();
        let values = values.map(|&(ns, count)| (change(Duration::from_nanos(ns)), count));
        Distribution::weighted(values).expect("a spread has a value")
    }

    /// The first inconsistency, if any.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let of_groups = self.groups.iter().map(|(_, count)| u128::from(*count)).sum::<u128>();
        let within = |(ns, _): &(u64, u64)| (self.min_ns..=self.max_ns).contains(ns);
        let mean_ns = self.total_ns / self.count.max(1);
        let problems = [
            (self.count == 0, "it counts nothing"),
            (
                of_groups != u128::from(self.count),
                "its groups have not as many values as its count",
            ),
            (self.groups.iter().any(|(_, count)| *count == 0), "one of its groups is empty"),
            (!self.groups.iter().all(within), "its groups are not within its extremes"),
            (!self.groups.is_sorted_by(|a, b| a.0 <= b.0), "its groups do not ascend"),
            (
                !(self.min_ns..=self.max_ns).contains(&mean_ns),
                "its mean is not within its extremes",
            ),
        ];
        problems.into_iter().find_map(|(is_so, problem)| is_so.then_some(problem))
    }
}

/// The largest integer in TOML.
const NUMBER_MAX: u64 = i64::MAX as u64;

fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0u64, u64::saturating_add).min(NUMBER_MAX)
}

/// Groups ascending values with their counts into groups of 1/64 of all values.
fn grouped(values: impl Iterator<Item = (u64, u64)>, count: u64) -> Vec<(u64, u64)> {
    let share = u128::from(count.div_ceil(GROUPS));
    let mut groups = Vec::new();
    let (mut total, mut members) = (0u128, 0u128);
    let mut close = |total: &mut u128, members: &mut u128| {
        if let Some(mean) = total.checked_div(*members) {
            groups.push((mean as u64, *members as u64));
            (*total, *members) = (0, 0);
        }
    };
    for (ns, count) in values {
        if members + u128::from(count) > share {
            close(&mut total, &mut members);
        }
        total += u128::from(ns) * u128::from(count);
        members += u128::from(count);
    }
    close(&mut total, &mut members);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_are_kept_exactly() {
        let spread = Spread::of([5, 1, 3]).unwrap();
        assert_eq!((spread.count, spread.total_ns, spread.min_ns, spread.max_ns), (3, 9, 1, 5));
        assert_eq!(spread.groups, [(1, 1), (3, 1), (5, 1)]);
        assert_eq!([0.0, 0.5, 1.0].map(|q| spread.quantile(q).as_nanos()), [1, 3, 5]);
        assert_eq!(Spread::of([]), None);
        let less = Duration::from_nanos(2);
        let shifted = spread.distribution(|time| time.saturating_sub(less));
        let expected = [0, 1, 3].map(Duration::from_nanos);
        assert_eq!(shifted, Distribution::empirical(expected).unwrap());
    }

    #[test]
    fn many_values_become_groups() {
        let spread = Spread::of(1..=6_400).unwrap();
        assert_eq!(spread.groups.len(), 64);
        assert_eq!(spread.groups[0], (50, 100));
        assert!(spread.quantile(0.99).as_nanos().abs_diff(6_336) <= 100);
    }

    #[test]
    fn inconsistent_spreads_are_refused() {
        let good = Spread::of([10, 20]).unwrap();
        let problem = |change: fn(&mut Spread)| {
            let mut spread = good.clone();
            change(&mut spread);
            spread.problem()
        };
        assert_eq!(good.problem(), None);
        let changes: [fn(&mut Spread); 6] = [
            |spread| spread.count = 0,
            |spread| spread.count = 3,
            |spread| spread.groups = vec![(10, 2), (20, 0)],
            |spread| spread.min_ns = 11,
            |spread| spread.groups.reverse(),
            |spread| spread.total_ns = 100,
        ];
        assert!(changes.into_iter().all(|change| problem(change).is_some()));
    }

    proptest! {
        #[test]
        fn parts_and_whole_agree(
            one in prop::collection::vec(0..1_000_000u64, 1..300),
            other in prop::collection::vec(0..1_000_000u64, 1..300),
        ) {
            let spread = |values: &[u64]| Spread::of(values.iter().copied()).unwrap();
            let whole = spread(&[one.clone(), other.clone()].concat());
            let merged = spread(&one).merge(spread(&other));
            prop_assert_eq!(
                (whole.count, whole.total_ns, whole.min_ns, whole.max_ns),
                (merged.count, merged.total_ns, merged.min_ns, merged.max_ns)
            );
            for spread in [whole, merged] {
                prop_assert_eq!(spread.problem(), None);
                prop_assert!(spread.groups.len() <= 2 * GROUPS as usize);
                let sum: u64 = spread.groups.iter().map(|(ns, count)| ns * count).sum();
                // The mean of each group is rounded down.
                prop_assert!(sum <= spread.total_ns && spread.total_ns - sum <= 2 * spread.count);
            }
        }
    }
}
