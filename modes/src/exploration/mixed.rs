//! A portfolio of strategies: the default of an exploration.
//!
//! No strategy is good at all bugs. A shuffle finds an order of few events fast, but hardly an
//! event that comes after a long chain; priorities find that, but not an order that must differ
//! from one instant to the next. So the seeds take turns between four strategies. The result of one
//! run does not change the next one: a run depends on its seed alone, on one machine and on many.

use super::Pct;
use crate::random::{Purpose, SplitMix64, Stream, mix};
use ringspin_executor::Time;

/// A strategy of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Any candidate, each with the same probability.
    Shuffle,
    /// New random priorities at each instant. At one of its first choices, the highest one falls.
    Instants,
    /// Random priorities for the whole run, of which up to three fall, all within a window of
    /// random length.
    Window,
    /// The usual order, but for some instants, which are shuffled or have priorities.
    Sparse,
}

impl Strategy {
    const ALL: [Self; 4] = [Self::Shuffle, Self::Instants, Self::Window, Self::Sparse];

    /// The strategy of the run with this seed. Four seeds from a multiple of four on have all
    /// strategies; which one is first differs, so shards that take each n-th seed have all of them.
    pub fn of(seed: u64) -> Self {
        Self::ALL[(seed.wrapping_add(mix(seed / 4)) % 4) as usize]
    }
}

/// The order of the current instant.
#[derive(Clone, Debug)]
enum Rule {
    Usual,
    Shuffle,
    Priorities(Pct),
}

/// Chooses by the [`Strategy`] of a seed.
#[derive(Clone, Debug)]
pub struct Mixed {
    strategy: Strategy,
    random: SplitMix64,
    shuffle: Stream,
    shuffled: u64,
    /// Of the [sparse](Strategy::Sparse) strategy: one of so many instants is not in usual order.
    rarity: u64,
    rule: Rule,
    instant: Option<Time>,
}

impl Mixed {
    /// Creates the strategy of `seed` for a run of about this many `steps`.
    pub fn new(seed: u64, steps: u64) -> Self {
        let strategy = Strategy::of(seed);
        let mut random = SplitMix64(mix(seed ^ 0x6d69_7865_6400_0000));
        let rarity = 2 << random.below(4);
        let rule = match strategy {
            Strategy::Shuffle => Rule::Shuffle,
            Strategy::Window => Rule::Priorities(window(&mut random, steps.max(1))),
            Strategy::Instants | Strategy::Sparse => Rule::Usual,
        };
        let shuffle = Stream::new(seed, "shuffle");
        Self { strategy, random, shuffle, shuffled: 0, rarity, rule, instant: None }
    }

    /// Returns the index of the next of these candidates at the time `now`, each given by a number
    /// that identifies its callback or thread.
    pub fn choose(&mut self, now: Time, candidates: impl Iterator<Item = u64> + Clone) -> usize {
        if self.instant.replace(now) != Some(now) {
            self.begin_instant();
        }
        match &mut self.rule {
            Rule::Usual => 0,
            Rule::Shuffle => {
                self.shuffled += 1;
                let count = candidates.count().max(1) as u64;
                self.shuffle.below(self.shuffled, Purpose::Tie, count) as usize
            }
            Rule::Priorities(pct) => pct.choose(candidates),
        }
    }

    fn begin_instant(&mut self) {
        let random = &mut self.random;
        match self.strategy {
            Strategy::Shuffle | Strategy::Window => {}
            Strategy::Instants => self.rule = Rule::Priorities(instant(random)),
            Strategy::Sparse => {
                self.rule = match (random.below(self.rarity), random.below(2)) {
                    (0, 0) => Rule::Shuffle,
                    (0, _) => Rule::Priorities(instant(random)),
                    _ => Rule::Usual,
                };
            }
        }
    }
}

/// How many lengths the window of an instant may have: 1, 2, 4 and so on.
const INSTANT_WINDOWS: u64 = 7;

/// The priorities of one instant. The number of its choices is not known, so the one at which a
/// priority falls is below a random length.
fn instant(random: &mut SplitMix64) -> Pct {
    let length = 1 << random.below(INSTANT_WINDOWS);
    let change = random.below(length);
    Pct::with_changes(random.draw(), vec![change])
}

/// The priorities of a run, of which up to three fall in a window: one of the whole run or one that
/// is shorter, each power of two as probable as any other.
fn window(random: &mut SplitMix64, steps: u64) -> Pct {
    let lengths = u64::from(steps.ilog2()) + 2;
    let length = (1 << random.below(lengths).min(63)).min(steps);
    let start = random.below(steps - length + 1);
    let changes = random.below(4);
    let changes = (0..changes).map(|_| start + random.below(length)).collect();
    Pct::with_changes(random.draw(), changes)
}

#[cfg(test)]
mod tests {
    use super::{Strategy, *};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The choices of a seed among four candidates, of several instants with several choices each.
    fn choices(seed: u64, steps: u64) -> Vec<Vec<usize>> {
        let mut mixed = Mixed::new(seed, steps);
        let mut choose = |instant| mixed.choose(Time::from_nanos(instant), 0..4);
        (0..40).map(|instant| (0..8).map(|_| choose(instant)).collect()).collect()
    }

    fn seeds_of(strategy: Strategy) -> impl Iterator<Item = u64> {
        (0..).filter(move |seed| Strategy::of(*seed) == strategy)
    }

    #[test]
    fn four_seeds_have_all_strategies_and_so_has_each_shard() {
        for first in (0..400).step_by(4) {
            let four: Vec<_> = (first..first + 4).map(Strategy::of).collect();
            assert!(Strategy::ALL.iter().all(|strategy| four.contains(strategy)), "{four:?}");
        }
        for shard in 0..8 {
            let of =
                |strategy| (shard..800).step_by(8).filter(move |n| Strategy::of(*n) == strategy);
            let counts = Strategy::ALL.map(|strategy| of(strategy).count());
            assert!(counts.iter().all(|count| (13..=37).contains(count)), "{counts:?}");
        }
    }

    #[test]
    fn a_seed_has_one_order_and_others_differ() {
        for strategy in Strategy::ALL {
            let orders: Vec<_> = seeds_of(strategy).take(50).map(|n| choices(n, 320)).collect();
            let again: Vec<_> = seeds_of(strategy).take(50).map(|n| choices(n, 320)).collect();
            assert_eq!(orders, again);
            let different: BTreeSet<_> = orders.into_iter().collect();
            assert!(different.len() > 20, "{strategy:?}: {}", different.len());
        }
    }

    #[test]
    fn priorities_are_new_at_each_instant_and_fall_once() {
        let mut falls_at = BTreeSet::new();
        for seed in seeds_of(Strategy::Instants).take(50) {
            let instants = choices(seed, 320);
            let firsts: BTreeSet<_> = instants.iter().map(|choices| choices[0]).collect();
            assert_eq!(firsts.len(), 4, "{instants:?}");
            for choices in instants {
                let falls: Vec<_> = (1..8).filter(|n| choices[*n] != choices[n - 1]).collect();
                assert!(falls.len() <= 1, "{choices:?}");
                falls_at.extend(falls);
            }
        }
        assert_eq!(falls_at, (1..8).collect());
    }

    #[test]
    fn sparse_runs_have_usual_instants_and_others_of_both_kinds() {
        let (mut shares, mut kinds) = (BTreeSet::new(), BTreeSet::new());
        for seed in seeds_of(Strategy::Sparse).take(50) {
            let instants = choices(seed, 320);
            let is_usual = |choices: &&Vec<usize>| choices.iter().all(|taken| *taken == 0);
            shares.insert(instants.iter().filter(is_usual).count());
            let changes =
                |choices: &Vec<usize>| choices.windows(2).filter(|w| w[0] != w[1]).count();
            kinds.extend(instants.iter().map(|choices| changes(choices) > 1));
        }
        let (least, most) = (shares.first().unwrap(), shares.last().unwrap());
        assert!((10..30).contains(least) && (36..=40).contains(most), "{shares:?}");
        assert_eq!(kinds.len(), 2);
    }

    proptest! {
        #[test]
        fn priorities_of_a_run_fall_within_one_window(seed: u64, steps in 1u64..u64::MAX) {
            let pct = window(&mut SplitMix64(seed), steps);
            prop_assert!(pct.changes.len() <= 3);
            prop_assert!(pct.changes.is_sorted());
            prop_assert!(pct.changes.iter().all(|change| *change < steps));
        }
    }

    #[test]
    fn windows_of_a_run_are_short_and_long_and_anywhere() {
        let windows = (0..2000).map(|seed| window(&mut SplitMix64(mix(seed)), 1000).changes);
        let windows: Vec<_> = windows.filter(|changes| changes.len() == 3).collect();
        assert!((400..600).contains(&windows.len()), "a quarter: {}", windows.len());
        let spread = |changes: &Vec<u64>| changes[2] - changes[0];
        let shorter = |than| windows.iter().filter(|changes| spread(changes) < than).count();
        // By far more than in a run of uniform choices, where 8 and 64 hardly occur.
        assert!(shorter(8) > windows.len() / 4, "{}", shorter(8));
        assert!(shorter(64) > windows.len() / 2, "{}", shorter(64));
        assert!(shorter(500) < windows.len(), "the whole run");
        let first = |n: u64| windows.iter().any(|changes| changes[0] / 100 == n);
        assert!((0..9).all(first));
    }
}
