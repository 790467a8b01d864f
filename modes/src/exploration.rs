//! The parts of an exploration that do not depend on the kind of choice: the events of an instant,
//! which [`TiePolicy`](crate::TiePolicy) orders and `Job::explore` of `ringspin-simulation`
//! searches, and the threads of a program, which `ringspin-simulated-threads` orders and searches.
//!
//! [`Pct`] and [`Mixed`] pick the next candidate while a run is explored. [`minimize`] shrinks
//! the schedule of a run that failed. [`schedule_from_environment`] reads the schedule that a
//! failure printed.

mod mixed;

pub use mixed::{Mixed, Strategy};

use crate::random::{Purpose, Stream};
use crate::schedule::{Deviation, Schedule};
use ringspin_executor::{Result, Time};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The environment variable with the only schedule that an exploration runs.
pub const SCHEDULE_VARIABLE: &str = "RINGSPIN_SCHEDULE";

/// The schedule in [`SCHEDULE_VARIABLE`]; `None` if the variable is unset. An empty text is the
/// default order.
///
/// # Errors
/// Fails for another text.
pub fn schedule_from_environment() -> Result<Option<Schedule>> {
    let text = std::env::var_os(SCHEDULE_VARIABLE);
    text.map(|text| text.to_string_lossy().parse()).transpose()
}

/// Probabilistic concurrency testing. Each callback or thread has a random priority, and the
/// candidate with the highest is next, except at `depth - 1` random choices: there the priority of
/// the candidate that would be next falls below all others.
///
/// From: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
/// guarantees of finding bugs", ASPLOS 2010.
#[derive(Clone, Debug)]
pub struct Pct {
    stream: Stream,
    /// The choice at which the priority of a candidate fell; the later, the lower.
    lowered: BTreeMap<u64, u64>,
    /// The choices at which a priority falls, in order.
    changes: Vec<u64>,
    choices: u64,
}

impl Pct {
    /// Creates the priorities for a run of about this many `steps`.
    pub fn new(seed: u64, depth: u32, steps: u64) -> Self {
        let stream = Stream::new(seed, "pct");
        let draw = |n| stream.below(n, Purpose::PriorityChange, steps.max(1));
        let changes = (1..u64::from(depth.max(1))).map(draw).collect();
        Self::with_changes(seed, changes)
    }

    /// Creates priorities of which the highest falls at each of these choices.
    fn with_changes(seed: u64, mut changes: Vec<u64>) -> Self {
        changes.sort_unstable();
        Self { stream: Stream::new(seed, "pct"), lowered: BTreeMap::new(), changes, choices: 0 }
    }

    /// Returns the index of the next of these candidates, each given by a number that identifies
    /// its callback or thread.
    pub fn choose(&mut self, candidates: impl Iterator<Item = u64> + Clone) -> usize {
        while self.changes.first().is_some_and(|&change| change <= self.choices) {
            if let Some((_, highest)) = self.highest(candidates.clone()) {
                self.lowered.insert(highest, self.choices);
            }
            self.changes.remove(0);
        }
        self.choices += 1;
        self.highest(candidates).map_or(0, |(n, _)| n)
    }

    fn highest(&self, candidates: impl Iterator<Item = u64>) -> Option<(usize, u64)> {
        let priority = |candidate| match self.lowered.get(&candidate) {
            Some(&change) => (0, u64::MAX - change),
            None => (1, self.stream.draw(candidate, Purpose::Priority)),
        };
        // The first of equal ones: a callback that is ready and a due timer of it cannot both be.
        candidates.enumerate().max_by_key(|&(n, candidate)| (priority(candidate), Reverse(n)))
    }
}

/// Deviations by their choice, to be followed by a run.
#[derive(Clone, Debug)]
pub struct Script(BTreeMap<(Time, u32), u32>);

impl Script {
    /// Creates the script of these deviations.
    pub fn new(deviations: &[Deviation]) -> Self {
        Self(deviations.iter().map(|of| ((of.time, of.choice), of.taken)).collect())
    }

    /// Returns the index, at least one, of the candidate that a deviation takes at this choice;
    /// `None` if there is no deviation, or no such candidate.
    pub fn taken(&self, time: Time, choice: u32, candidates: usize) -> Option<usize> {
        let taken = *self.0.get(&(time, choice))? as usize;
        (1..candidates).contains(&taken).then_some(taken)
    }
}

/// Delta debugging: reduces `items`, for which `fails` holds, to a subset for which it holds but
/// for no subset of that with one item less. After `runs_max` calls of `fails` it returns the
/// smallest subset so far. It never tries the empty set.
///
/// From: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions
/// on Software Engineering 28 (2002).
pub fn minimize<I: Clone>(
    mut items: Vec<I>,
    mut fails: impl FnMut(&[I]) -> bool,
    runs_max: usize,
) -> Vec<I> {
    let mut parts = 2;
    let mut runs = 0;
    let mut tried = |items: &[I]| {
        runs += 1;
        (runs <= runs_max).then(|| fails(items))
    };
    while items.len() > 1 {
        let size = items.len().div_ceil(parts);
        let chunks: Vec<Vec<I>> = items.chunks(size).map(<[I]>::to_vec).collect();
        let mut smaller = None;
        for chunk in &chunks {
            match tried(chunk) {
                None => return items,
                Some(true) => {
                    smaller = Some((chunk.clone(), 2));
                    break;
                }
                Some(false) => {}
            }
        }
        for left_out in (0..chunks.len()).filter(|_| chunks.len() > 2) {
            if smaller.is_some() {
                break;
            }
            let others = chunks.iter().enumerate().filter(|(n, _)| *n != left_out);
            let rest: Vec<I> = others.flat_map(|(_, chunk)| chunk.iter().cloned()).collect();
            match tried(&rest) {
                None => return items,
                Some(true) => smaller = Some((rest, (parts - 1).max(2))),
                Some(false) => {}
            }
        }
        match smaller {
            Some((fewer, granularity)) => (items, parts) = (fewer, granularity),
            None if parts >= items.len() => break,
            None => parts = (2 * parts).min(items.len()),
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fewest_that_still_fail(
            n in 1usize..60,
            needed in prop::collection::btree_set(0usize..60, 1..4),
        ) {
            let needed: Vec<usize> = needed.into_iter().map(|item| item % n).collect();
            let fails = |items: &[usize]| needed.iter().all(|item| items.contains(item));
            let fewest = minimize((0..n).collect(), fails, usize::MAX);
            let mut expected = needed.clone();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(fewest, expected);
        }
    }

    #[test]
    fn a_limit_of_runs_is_kept() {
        let mut runs = 0;
        let fails = |items: &[u32]| {
            runs += 1;
            items.contains(&0) && items.contains(&99)
        };
        let items = minimize((0..100).collect(), fails, 10);
        assert!(items.contains(&0) && items.contains(&99));
        assert_eq!(runs, 10);
    }
}
