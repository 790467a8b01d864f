//! Trade-offs: the figures of candidates in which a user may prefer one over the other, and the
//! candidates that no other one beats in all of them.

use crate::evaluation::{Evaluation, Latency, Model};
use crate::objective::Term;

/// The figures of a candidate; less is better. Latencies are weighted sums over the chains, as in
/// the [terms](crate::Term) of an objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TradeOff {
    /// Samples that missed the deadline of their chain.
    pub misses: u64,
    /// Displaced messages and missed timer periods.
    pub drops: u64,
    /// The latency from release to end, of which mean, p99 and maximum count.
    pub release_to_end: Latency,
    /// The latency from sample to start, for information: a mapping can improve it by delaying a
    /// source.
    pub sample_to_start: Latency,
    /// The largest jitter among the timers that have a limit, in nanoseconds; 0 without one.
    pub jitter_ns: u64,
    /// The number of cores used.
    pub cores: u64,
}

impl TradeOff {
    /// The figures of an evaluation by `model`. O(chains + timers).
    pub fn of<M: Model + ?Sized>(model: &M, evaluation: &Evaluation) -> Self {
        let figure = |term: Term| term.of(model.chains(), model.timers(), evaluation);
        let latency = |mean, p99, max| Latency {
            mean_ns: figure(mean),
            p50_ns: 0,
            p99_ns: figure(p99),
            max_ns: figure(max),
        };
        let timers = model.timers().iter().zip(&evaluation.jitter_ns);
        let limited = timers.filter(|(timer, _)| timer.limit.is_some());
        Self {
            misses: figure(Term::Misses),
            drops: figure(Term::Drops),
            release_to_end: latency(Term::Mean, Term::P99, Term::Max),
            sample_to_start: latency(Term::StartMean, Term::StartP99, Term::StartMax),
            jitter_ns: limited.map(|(_, jitter_ns)| *jitter_ns).max().unwrap_or(0),
            cores: figure(Term::Cores),
        }
    }

    /// Whether `self` breaks fewer promises (misses, then drops), or as many and is at least as
    /// good in every other figure. Figures that differ by less than about one percent count as
    /// equal; of candidates that are equal in all, the one with the least mean is better, then p99,
    /// maximum, jitter and cores.
    pub fn dominates(&self, other: &Self) -> bool {
        let promises = |of: &Self| (of.misses, of.drops);
        if promises(self) != promises(other) {
            return promises(self) < promises(other);
        }
        let (ours, theirs) = (self.figures(), other.figures());
        let rounded = (ours.map(rounded), theirs.map(rounded));
        match rounded.0 == rounded.1 {
            true => ours < theirs,
            false => rounded.0.iter().zip(rounded.1).all(|(a, b)| *a <= b),
        }
    }

    /// The figures apart from broken promises.
    fn figures(&self) -> [u64; 5] {
        let Latency { mean_ns, p99_ns, max_ns, .. } = self.release_to_end;
        [mean_ns, p99_ns, max_ns, self.jitter_ns, self.cores]
    }
}

/// The leading seven bits of a figure.
fn rounded(figure: u64) -> u64 {
    let dropped = (u64::BITS - figure.leading_zeros()).saturating_sub(7);
    figure >> dropped << dropped
}

/// The candidates that no other one [dominates](TradeOff::dominates), by rising mean.
///
/// ```
/// use ringspin_optimizer::{Latency, ParetoFront, TradeOff};
///
/// let of = |mean_ns, p99_ns| TradeOff {
///     release_to_end: Latency { mean_ns, p99_ns, max_ns: p99_ns, ..Latency::default() },
///     ..TradeOff::default()
/// };
/// let mut front = ParetoFront::default();
/// assert!(front.insert(of(90, 100), "b"));
/// assert!(front.insert(of(80, 120), "a"));
/// assert!(!front.insert(of(95, 120), "worse"));
/// let names: Vec<_> = front.iter().map(|(_, name)| *name).collect();
/// assert_eq!(names, ["a", "b"]);
/// ```
#[derive(Clone, Debug)]
pub struct ParetoFront<T> {
    /// By rising figures.
    entries: Vec<(TradeOff, T)>,
}

impl<T> Default for ParetoFront<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> ParetoFront<T> {
    /// The largest number of candidates. Beyond it, those of the largest mean are left out.
    pub const LEN_MAX: usize = 64;

    /// Adds a candidate unless another one dominates or equals it, and removes those that it
    /// dominates; returns whether it is in the front. O(front).
    pub fn insert(&mut self, trade_off: TradeOff, candidate: T) -> bool {
        let beaten = |(other, _): &(TradeOff, T)| {
            other.dominates(&trade_off)
                || (other.misses, other.drops, other.figures())
                    == (trade_off.misses, trade_off.drops, trade_off.figures())
        };
        if self.entries.iter().any(beaten) {
            return false;
        }
        self.entries.retain(|(other, _)| !trade_off.dominates(other));
        let place = self.entries.partition_point(|(of, _)| of.figures() < trade_off.figures());
        self.entries.insert(place, (trade_off, candidate));
        self.entries.truncate(Self::LEN_MAX);
        place < Self::LEN_MAX
    }

    /// The candidates, by rising mean.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(TradeOff, T)> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Few distinct values, some within the rounding of each other.
    fn trade_offs() -> impl Strategy<Value = Vec<TradeOff>> {
        let figure = || prop::sample::select(vec![1_000, 1_001, 1_100, 2_000, 2_003, 9_000_u64]);
        let latency = (figure(), figure(), figure());
        let one = (0_u64..2, 0_u64..2, latency, figure(), 1_u64..3);
        let one = one.prop_map(|(misses, drops, (mean_ns, p99_ns, max_ns), jitter_ns, cores)| {
            let release_to_end = Latency { mean_ns, p50_ns: 0, p99_ns, max_ns };
            let sample_to_start = Latency::default();
            TradeOff { misses, drops, release_to_end, sample_to_start, jitter_ns, cores }
        });
        prop::collection::vec(one, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn the_front_holds_what_no_other_candidate_dominates(all in trade_offs()) {
            let mut front = ParetoFront::default();
            all.iter().enumerate().for_each(|(n, one)| { front.insert(*one, n); });
            // Brute force: of equal candidates the first.
            let is_best = |n: &usize| {
                let others = all.iter().enumerate().filter(|(other, _)| other != n);
                let mut others = others.map(|(other, of)| (other < *n, of));
                !others.any(|(earlier, of)| of.dominates(&all[*n]) || (earlier && *of == all[*n]))
            };
            let mut expected: Vec<usize> = (0..all.len()).filter(is_best).collect();
            let mut found: Vec<usize> = front.iter().map(|(_, n)| *n).collect();
            prop_assert!(front.iter().map(|(of, _)| of.figures()).is_sorted());
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn dominance_is_a_strict_order(all in trade_offs()) {
            for a in &all {
                prop_assert!(!a.dominates(a));
                for b in all.iter().filter(|b| a.dominates(b)) {
                    prop_assert!(!b.dominates(a));
                    prop_assert!(all.iter().all(|c| !b.dominates(c) || a.dominates(c)));
                }
            }
        }
    }

    #[test]
    fn a_full_front_leaves_out_the_largest_means() {
        let mut front = ParetoFront::default();
        let of = |n: u64| TradeOff {
            release_to_end: Latency { mean_ns: 1 << n, ..Latency::default() },
            jitter_ns: 1 << (63 - n),
            ..TradeOff::default()
        };
        // Cores separate two series of 64 that do not dominate each other.
        let both = |n: u64| TradeOff { cores: 1 + n / 64, ..of(n % 64) };
        let with_max = |n: u64| {
            let mut one = both(n);
            one.release_to_end.max_ns = 2 - n / 64;
            one
        };
        (0..128).for_each(|n| {
            front.insert(with_max(n), n);
        });
        assert_eq!(front.iter().len(), ParetoFront::<u64>::LEN_MAX);
        assert!(front.iter().all(|(of, _)| of.release_to_end.mean_ns < 1 << 32));
        assert!(!front.insert(with_max(127), 127));
    }

    #[test]
    fn figures_within_a_percent_count_as_equal() {
        assert_eq!(
            [0, 1, 127, 128, 129, 1_000, 1_001].map(rounded),
            [0, 1, 127, 128, 128, 1_000, 1_000]
        );
        assert_eq!(rounded(u64::MAX), 127 << 57);
    }
}
