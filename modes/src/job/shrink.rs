//! Shrinking: the fewest deviations from the default order with which a job still fails.
//!
//! Delta debugging (ddmin) over the deviations: Zeller and Hildebrandt, "Simplifying and isolating
//! failure-inducing input", IEEE Transactions on Software Engineering 28 (2002). A subset of a
//! schedule is a schedule, because deviations are numbered within their instants.

use super::Job;
use super::explore::Counterexample;
use crate::deterministic::{Deviation, Jolt, Schedule};

#[derive(Clone, Copy)]
enum Item {
    Deviation(Deviation),
    Jolt(Jolt),
}

fn items(schedule: &Schedule) -> Vec<Item> {
    let deviations = schedule.deviations.iter().copied().map(Item::Deviation);
    deviations.chain(schedule.jolts.iter().copied().map(Item::Jolt)).collect()
}

fn schedule(items: &[Item]) -> Schedule {
    let mut schedule = Schedule::default();
    for item in items {
        match *item {
            Item::Deviation(deviation) => schedule.deviations.push(deviation),
            Item::Jolt(jolt) => schedule.jolts.push(jolt),
        }
    }
    schedule.deviations.sort_unstable();
    schedule
}

/// Shrinks the order of the run with `seed`, in `runs_max` runs at most.
pub(super) fn shrink<T>(
    job: &Job<'_, T>,
    seed: u64,
    found: &Schedule,
    runs_max: usize,
) -> Counterexample {
    let mut runs = 0;
    // Beyond the limit nothing fails, so that nothing changes any more.
    let mut fails = |items: &[Item]| {
        let may_run = runs < runs_max;
        runs += usize::from(may_run);
        may_run && job.run_scripted(&schedule(items)).error.is_some()
    };
    let all = items(found);
    let fewest = ddmin(all.clone(), &mut fails, runs_max);
    let shrunk = schedule(&one_for_many(fewest, fails));
    let last = job.run_scripted(&shrunk);
    let not_again = || {
        "the failure did not come again: something else than the order decides about it; look for \
         it with `verify`"
            .to_owned()
    };
    Counterexample {
        seed: Some(seed),
        deviations: all.len(),
        explanation: last.report.map(|report| report.deviations).unwrap_or_default(),
        schedule: shrunk,
        failure: last.error.map_or_else(not_again, |error| error.to_string()),
        shrink_runs: runs + 1,
    }
}

/// How many candidates of a choice are tried in place of several deviations.
const TAKEN_MAX: u32 = 4;

/// Where several deviations of one instant are needed, another one, as early or earlier, may do
/// alone: to take an event first is one deviation, to take all others later is many.
fn one_for_many(mut items: Vec<Item>, mut fails: impl FnMut(&[Item]) -> bool) -> Vec<Item> {
    let deviation = |item: &Item| match item {
        Item::Deviation(deviation) => Some(*deviation),
        Item::Jolt(_) => None,
    };
    let mut instants: Vec<_> = items.iter().filter_map(deviation).map(|d| d.time).collect();
    instants.dedup();
    for time in instants {
        let is_here = |item: &Item| deviation(item).is_some_and(|d| d.time == time);
        let (here, others): (Vec<Item>, Vec<Item>) = items.iter().partition(|item| is_here(item));
        let last = here.iter().filter_map(deviation).map(|d| d.choice).max().unwrap_or(0);
        if here.len() < 2 {
            continue;
        }
        let choices = (0..=last).flat_map(|choice| (1..=TAKEN_MAX).map(move |n| (choice, n)));
        let mut alone = choices.map(|(choice, taken)| Deviation { time, choice, taken });
        let found = alone.find_map(|deviation| {
            let mut fewer = others.clone();
            fewer.push(Item::Deviation(deviation));
            fails(&fewer).then_some(fewer)
        });
        items = found.unwrap_or(items);
    }
    items
}

/// A subset of `items` for which `fails` holds, but for none with one item less; unless that would
/// take more than `runs_max` calls.
fn ddmin<I: Clone>(
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
    use ringspin_executor::Time;

    proptest! {
        #[test]
        fn the_fewest_that_still_fail(
            n in 1usize..60,
            needed in prop::collection::btree_set(0usize..60, 1..4),
        ) {
            let needed: Vec<usize> = needed.into_iter().map(|item| item % n).collect();
            let fails = |items: &[usize]| needed.iter().all(|item| items.contains(item));
            let fewest = ddmin((0..n).collect(), fails, usize::MAX);
            let mut expected = needed.clone();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(fewest, expected);
        }
    }

    #[test]
    fn a_schedule_is_in_order_of_time() {
        let deviation = |ns| Deviation { time: Time::from_nanos(ns), choice: 0, taken: 1 };
        let schedule = schedule(&[2, 1].map(deviation).map(Item::Deviation));
        assert_eq!(schedule.deviations, [deviation(1), deviation(2)]);
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }

    #[test]
    fn a_limit_of_runs_is_kept() {
        let mut runs = 0;
        let fails = |items: &[u32]| {
            runs += 1;
            items.contains(&0) && items.contains(&99)
        };
        let items = ddmin((0..100).collect(), fails, 10);
        assert!(items.contains(&0) && items.contains(&99));
        assert_eq!(runs, 10);
    }
}
