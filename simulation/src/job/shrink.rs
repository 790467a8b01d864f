//! Shrinking: the fewest and smallest deviations from the default order with which a job still
//! fails for the same reason.
//!
//! Delta debugging (ddmin) over the entries of the schedule: Zeller and Hildebrandt, "Simplifying
//! and isolating failure-inducing input", IEEE Transactions on Software Engineering 28 (2002). A
//! subset of a schedule is a schedule, because deviations are numbered within their instants. The
//! deviations of one instant depend on each other, though: without one of them, the others take
//! other events. So several deviations of one instant are replaced by one where that is enough: an
//! event that is taken earlier, or one that waits for another.

use super::cause::Cause;
use super::explore::Counterexample;
use super::{Job, Ran};
use ringspin_executor::{BoxError, CallbackId, GraphInfo, Time};
use ringspin_modes::deterministic::{
    DelayPerturbation, Deviation, InstantEvent, InstantLog, Postponement, Schedule,
};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    Seed(u64),
    Deviation(Deviation),
    Postponement(Postponement),
    DelayPerturbation(DelayPerturbation),
    Thread(Deviation),
}

impl Item {
    /// The instant whose order it changes.
    fn instant(&self) -> Option<Time> {
        match self {
            Self::Deviation(deviation) => Some(deviation.time),
            Self::Postponement(postponement) => Some(postponement.time),
            Self::Seed(_) | Self::DelayPerturbation(_) | Self::Thread(_) => None,
        }
    }
}

fn items(schedule: &Schedule) -> Vec<Item> {
    let Schedule { seed, deviations, postponements, perturbations, threads } = schedule;
    let mut items: Vec<Item> = seed.iter().copied().map(Item::Seed).collect();
    items.extend(deviations.iter().copied().map(Item::Deviation));
    items.extend(postponements.iter().copied().map(Item::Postponement));
    items.extend(perturbations.iter().copied().map(Item::DelayPerturbation));
    items.extend(threads.iter().copied().map(Item::Thread));
    items
}

fn schedule(items: &[Item]) -> Schedule {
    let mut schedule = Schedule::default();
    for item in items {
        match *item {
            Item::Seed(seed) => schedule.seed = Some(seed),
            Item::Deviation(deviation) => schedule.deviations.push(deviation),
            Item::Postponement(postponement) => schedule.postponements.push(postponement),
            Item::DelayPerturbation(perturbation) => schedule.perturbations.push(perturbation),
            Item::Thread(deviation) => schedule.threads.push(deviation),
        }
    }
    schedule.sort();
    schedule
}

/// A run that failed.
pub(super) struct Found {
    /// Its number in the exploration.
    pub(super) seed: u64,
    /// All of its deviations, and its seed if that is not the job's.
    pub(super) schedule: Schedule,
    pub(super) error: BoxError,
}

/// Shrinks the schedule of a run that failed, in `runs_max` runs at most, and one more.
pub(super) fn shrink<T>(job: &Job<'_, T>, found: &Found, runs_max: usize) -> Counterexample {
    let cause = Cause::of(&found.error);
    let mut shrinker = Shrinker { job, cause, runs: 0, runs_max };
    let shrunk = schedule(&shrinker.shrink(items(&found.schedule)));
    let last = job.run_scripted(&shrunk, None);
    let failure = match &last.error {
        Some(error) => error.to_string(),
        None => format!(
            "the failure did not come again: something else than seed and order decides about it; \
             look for it with `verify`. It was: {}",
            found.error
        ),
    };
    // Beyond the limit of runs there may be entries left that do nothing.
    let (schedule, explanation) = match last.report {
        Some(report) => (report.schedule, report.deviations),
        None => (shrunk, Vec::new()),
    };
    let deviations = found.schedule.len() - usize::from(found.schedule.seed.is_some());
    Counterexample {
        seed: Some(found.seed),
        deviations,
        schedule,
        failure,
        shrink_runs: shrinker.runs + 1,
        explanation,
    }
}

struct Shrinker<'j, 'a, T> {
    job: &'j Job<'a, T>,
    cause: Cause,
    runs: usize,
    runs_max: usize,
}

impl<T> Shrinker<'_, '_, T> {
    /// Runs with `items`, unless there were too many runs.
    fn run(&mut self, items: &[Item], instant: Option<Time>) -> Option<Ran> {
        if self.runs >= self.runs_max {
            return None;
        }
        self.runs += 1;
        Some(self.job.run_scripted(&schedule(items), instant))
    }

    /// Whether a run with `items` fails for the same reason, and all events that are to wait for
    /// others do. Beyond the limit of runs nothing fails, so that nothing changes any more.
    fn fails(&mut self, items: &[Item]) -> bool {
        self.failed_with(items).is_some_and(|not_applied| not_applied.postponements.is_empty())
    }

    /// The same, but events need not wait.
    fn fails_anyhow(&mut self, items: &[Item]) -> bool {
        self.failed_with(items).is_some()
    }

    /// If a run with `items` fails for the same reason, the entries that were not applied.
    fn failed_with(&mut self, items: &[Item]) -> Option<Schedule> {
        let Ran { report, error } = self.run(items, None)?;
        error.filter(|error| Cause::of(error) == self.cause)?;
        Some(report.map(|report| report.not_applied).unwrap_or_default())
    }

    fn shrink(&mut self, all: Vec<Item>) -> Vec<Item> {
        let is_seed = |item: &Item| matches!(item, Item::Seed(_));
        let (seed, others): (Vec<Item>, Vec<Item>) = all.iter().partition(|item| is_seed(item));
        let mut fewest = all;
        if !seed.is_empty() {
            if self.fails(&seed) {
                fewest = seed;
            } else if self.fails(&others) {
                fewest = others;
            }
        }
        fewest = self.minimize(fewest);
        let before = fewest.clone();
        let mut instants: Vec<_> = fewest.iter().filter_map(Item::instant).collect();
        instants.dedup();
        for instant in instants {
            fewest = self.one_for_many(fewest, instant);
        }
        if fewest != before {
            fewest = self.minimize(fewest);
        }
        self.shorten(fewest)
    }

    fn minimize(&mut self, items: Vec<Item>) -> Vec<Item> {
        let limit = self.runs_max - self.runs;
        ddmin(items, |items| self.fails(items), limit)
    }

    /// Replaces the deviations of one instant by one or by fewer, if that is enough.
    fn one_for_many(&mut self, items: Vec<Item>, instant: Time) -> Vec<Item> {
        let is_here = |item: &Item| item.instant() == Some(instant);
        let (here, others): (Vec<Item>, Vec<Item>) = items.iter().partition(|item| is_here(item));
        if here.len() < 2 {
            return items;
        }
        let logs = self.log(&others, instant).zip(self.log(&items, instant));
        let Some(((default, info), (failing, _))) = logs else { return items };
        let with = |few: &[Item]| [&others[..], few].concat();
        let share_loop = |p: &Postponement| {
            let of = |event: InstantEvent| info.callbacks[event.callback].event_loop;
            of(p.held) == of(p.until)
        };
        let (inverted, kept) = pairs(&default, &failing, instant);
        let (near, far): (Vec<Item>, Vec<Item>) = (
            inverted.iter().copied().filter(share_loop).map(Item::Postponement).collect(),
            inverted.into_iter().filter(|p| !share_loop(p)).map(Item::Postponement).collect(),
        );
        let kept: Vec<Item> = kept.into_iter().map(Item::Postponement).collect();
        let earlier: Vec<Item> = earlier(&default, instant).map(Item::Deviation).collect();
        for item in [&near, &earlier, &far, &kept].into_iter().flatten() {
            if self.runs >= self.runs_max {
                return items;
            }
            if self.fails(&with(&[*item])) {
                return with(&[*item]);
            }
        }
        match self.fewest(&others, here.len(), [&near, &far, &earlier]) {
            Some(fewest) => with(&fewest),
            None => items,
        }
    }

    /// Fewer than `count` deviations with which the job fails, if there are some: of the events
    /// that were taken in another order, within one loop (`near`) or not (`far`), and of those that
    /// could be taken `earlier`. One is not enough.
    fn fewest(
        &mut self,
        others: &[Item],
        count: usize,
        [near, far, earlier]: [&[Item]; 3],
    ) -> Option<Vec<Item>> {
        let with = |few: &[Item]| [others, few].concat();
        let all = [near, far].concat();
        let mut fewest = None;
        for set in [near, &all] {
            if fewest.is_some() || !self.fails_anyhow(&with(set)) {
                continue;
            }
            let limit = self.runs_max - self.runs;
            let few = ddmin(set.to_vec(), |few| self.fails_anyhow(&with(few)), limit);
            fewest = Some(few).filter(|few| few.len() < count && self.fails(&with(few)));
        }
        // None of these can be left out, but fewer others may do.
        let pools = [[&all, earlier].concat(), [near, earlier].concat(), all, near.to_vec()];
        for size in 2..fewest.as_ref().map_or(count, Vec::len) {
            let is_small = |pool: &&Vec<Item>| combinations(pool.len(), size) <= SUBSETS_MAX;
            let mut few = Vec::new();
            if let Some(pool) = pools.iter().find(is_small)
                && self.search(pool, size, others, &mut few)
            {
                return Some(few);
            }
        }
        fewest
    }

    /// Adds `size` of `set` to `few`, so that the job fails with these.
    fn search(&mut self, set: &[Item], size: usize, others: &[Item], few: &mut Vec<Item>) -> bool {
        if size == 0 {
            return self.fails(&[others, few].concat());
        }
        for n in 0..=set.len().saturating_sub(size) {
            let Some(item) = set.get(n) else { break };
            few.push(*item);
            if self.search(&set[n + 1..], size - 1, others, few) {
                return true;
            }
            few.pop();
        }
        false
    }

    /// The record of one instant of a run with `items`, and the graph.
    fn log(
        &mut self,
        items: &[Item],
        instant: Time,
    ) -> Option<(InstantLog, std::sync::Arc<GraphInfo>)> {
        let report = self.run(items, Some(instant))?.report?;
        Some((report.instant, report.info))
    }

    /// Makes delays as short as is enough.
    fn shorten(&mut self, mut items: Vec<Item>) -> Vec<Item> {
        for n in 0..items.len() {
            let Item::DelayPerturbation(perturbation) = items[n] else { continue };
            // Without it, the job does not fail; with `enough`, it does.
            let (mut none, mut enough) = (0, perturbation.delay_ns);
            while enough - none > 1 && self.runs < self.runs_max {
                let delay_ns = none + (enough - none) / 2;
                items[n] = Item::DelayPerturbation(DelayPerturbation { delay_ns, ..perturbation });
                match self.fails(&items) {
                    true => enough = delay_ns,
                    false => none = delay_ns,
                }
            }
            items[n] =
                Item::DelayPerturbation(DelayPerturbation { delay_ns: enough, ..perturbation });
        }
        items
    }
}

/// How many subsets of one size are tried at most.
const SUBSETS_MAX: usize = 1000;

/// The number of subsets with `size` of `n` elements.
fn combinations(n: usize, size: usize) -> usize {
    (0..size).fold(1usize, |product, k| product.saturating_mul(n.saturating_sub(k)) / (k + 1))
}

/// Every single deviation that is possible at an instant with this record.
fn earlier(log: &InstantLog, time: Time) -> impl Iterator<Item = Deviation> {
    let choices = log.candidates.iter().zip(0..);
    choices.flat_map(move |(&candidates, choice)| {
        (1..candidates).map(move |taken| Deviation { time, choice, taken })
    })
}

/// The pairs of events of which the second one could be taken first: those that were in the failing
/// run, and the others. Those that were closest by default come first.
fn pairs(
    default: &InstantLog,
    failing: &InstantLog,
    time: Time,
) -> (Vec<Postponement>, Vec<Postponement>) {
    let by_default = events(default);
    let then: BTreeMap<_, _> = events(failing).into_iter().zip(0..).collect();
    let mut pairs = Vec::new();
    for (place, until) in by_default.iter().enumerate() {
        for (before, held) in by_default[..place].iter().enumerate() {
            let postponement = Postponement { time, held: *held, until: *until };
            if held.callback != until.callback {
                pairs.push((place - before, postponement));
            }
        }
    }
    pairs.sort_by_key(|(distance, _)| *distance);
    let is_inverted = |p: &Postponement| {
        let at = then.get(&p.until);
        at.is_some_and(|at| then.get(&p.held).is_none_or(|held_at| held_at > at))
    };
    pairs.into_iter().map(|(_, postponement)| postponement).partition(is_inverted)
}

/// The events of an instant, numbered by callback.
fn events(log: &InstantLog) -> Vec<InstantEvent> {
    let mut numbers = BTreeMap::<CallbackId, u32>::new();
    let number = |&callback: &CallbackId| {
        let next = numbers.entry(callback).or_default();
        let number = *next;
        *next += 1;
        InstantEvent { callback, number }
    };
    log.taken.iter().map(number).collect()
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
