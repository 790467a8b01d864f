//! Shrinking: the fewest and smallest deviations from the default order with which a job still
//! fails for the same reason.
//!
//! Delta debugging ([`minimize`]) removes entries of the schedule, those of one instant together. A
//! subset of a schedule is a schedule, because deviations are numbered within their instants. The
//! deviations of one instant depend on each other, though: without one of them, the others take
//! other events. So they are replaced by postponements: each pair of events that swapped places is
//! one, all of them are the order of the failing run, and few are needed. These name the events
//! that matter, where a deviation names the one that happened to be next. Where several events wait
//! for one, a deviation that takes that one earlier is tried instead.

use super::cause::Cause;
use super::explore::Counterexample;
use super::{Job, Ran};
use ringspin_executor::{BoxError, CallbackId, Error, Failure, GraphInfo, Time};
use ringspin_modes::deterministic::{
    DelayPerturbation, Deviation, InstantEvent, InstantLog, LinkEffect, Loss, Postponement,
    Schedule, ScheduleEntry,
};
use ringspin_modes::exploration::minimize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The instant in which an entry changes the order.
fn instant_of(entry: &ScheduleEntry) -> Option<Time> {
    match entry {
        ScheduleEntry::Deviation(deviation) => Some(deviation.time),
        ScheduleEntry::Postponement(postponement) => Some(postponement.time),
        _ => None,
    }
}

/// Groups of the entries that are removed together.
fn by_instant(items: &[ScheduleEntry]) -> Vec<Vec<ScheduleEntry>> {
    let is_same = |a: &ScheduleEntry, b: &ScheduleEntry| {
        instant_of(a).is_some() && instant_of(a) == instant_of(b)
    };
    items.chunk_by(is_same).map(<[_]>::to_vec).collect()
}

fn one_by_one(items: &[ScheduleEntry]) -> Vec<Vec<ScheduleEntry>> {
    items.iter().map(|item| vec![*item]).collect()
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
    let failure = found.error.downcast_ref::<Error>().and_then(Error::cause::<Failure>);
    let callback = failure.map(|failure| failure.callback_id);
    let mut shrinker = Shrinker { job, cause, callback, runs: 0, limit: 0, runs_max, of_links: 0 };
    let shrunk: Schedule =
        shrinker.shrink(found.schedule.entries().collect()).into_iter().collect();
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
    let deviations = deviations + shrinker.of_links;
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
    /// The callback that failed.
    callback: Option<CallbackId>,
    runs: usize,
    /// Maximum number of runs up to the end of this step.
    limit: usize,
    runs_max: usize,
    /// The lost and late messages that have taken the place of the seed.
    of_links: usize,
}

impl<T> Shrinker<'_, '_, T> {
    /// Grants the next step one of so many equal shares of the runs that are left.
    fn grant(&mut self, shares: usize) {
        self.limit = self.runs + (self.runs_max - self.runs) / shares;
    }

    /// Runs with `items`, unless there were too many runs.
    fn run(&mut self, items: &[ScheduleEntry], instant: Option<Time>) -> Option<Ran> {
        if self.runs >= self.limit {
            return None;
        }
        self.runs += 1;
        Some(self.job.run_scripted(&items.iter().copied().collect(), instant))
    }

    /// Whether a run with these entries fails for the same reason. Beyond the limit of runs nothing
    /// fails, so that nothing changes any more.
    fn fails(&mut self, items: &[&[ScheduleEntry]]) -> bool {
        let error = self.run(&items.concat(), None).and_then(|ran| ran.error);
        error.is_some_and(|error| Cause::of(&error) == self.cause)
    }

    /// The least number, up to `enough`, for which a run with these items fails; small numbers are
    /// tried first.
    fn least<I: AsRef<[ScheduleEntry]>>(
        &mut self,
        mut enough: u64,
        items: impl Fn(u64) -> I,
    ) -> u64 {
        let (mut none, mut step) = (0, 1);
        while enough - none > 1 && self.runs < self.limit {
            let half = none + step.min((enough - none) / 2);
            step = step.saturating_mul(4);
            match self.fails(&[items(half).as_ref()]) {
                true => enough = half,
                false => none = half,
            }
        }
        enough
    }

    fn shrink(&mut self, all: Vec<ScheduleEntry>) -> Vec<ScheduleEntry> {
        let is_seed = |item: &ScheduleEntry| matches!(item, ScheduleEntry::Seed(_));
        let (seed, others): (Vec<ScheduleEntry>, Vec<ScheduleEntry>) =
            all.iter().partition(|item| is_seed(item));
        let mut fewest = all;
        self.grant(2);
        if !seed.is_empty() {
            if self.fails(&[&seed]) {
                fewest = seed;
            } else if self.fails(&[&others]) {
                fewest = others;
            }
        }
        fewest = self.minimize(&[], by_instant(&fewest));
        self.grant(2);
        if fewest.iter().any(is_seed)
            && let Some(named) = self.messages_for_seed(&fewest)
        {
            fewest = named;
        }
        let mut instants: Vec<_> = fewest.iter().filter_map(instant_of).collect();
        instants.dedup();
        for (n, instant) in instants.iter().enumerate() {
            self.grant(instants.len() - n + 1);
            fewest = self.reorder(fewest, *instant);
        }
        self.grant(1);
        fewest = self.minimize(&[], one_by_one(&fewest));
        self.shorten(fewest)
    }

    /// Names the messages that are lost or late, in place of the seed of `items`, if these are few
    /// and enough.
    fn messages_for_seed(&mut self, items: &[ScheduleEntry]) -> Option<Vec<ScheduleEntry>> {
        let is_seed = |item: &&ScheduleEntry| matches!(item, ScheduleEntry::Seed(_));
        let others: Vec<_> = items.iter().filter(|item| !is_seed(item)).copied().collect();
        let seeded = self.run(items, None)?.report?.links;
        let own = self.run(&others, None)?.report?.links;
        let of_links = link_differences(&own, &seeded);
        let all = [&others[..], &of_links].concat();
        if !self.fails(&[&all]) {
            return None;
        }
        let named = self.minimize(&[], by_instant(&all));
        if named.iter().filter(|item| instant_of(item).is_none()).count() > MESSAGES_MAX {
            return None;
        }
        self.of_links = of_links.len();
        Some(named)
    }

    /// The fewest of these groups of entries with which, and with `others`, the job still fails.
    fn minimize(
        &mut self,
        others: &[ScheduleEntry],
        groups: Vec<Vec<ScheduleEntry>>,
    ) -> Vec<ScheduleEntry> {
        let limit = self.limit - self.runs;
        minimize(groups, |groups| self.fails(&[others, &groups.concat()]), limit).concat()
    }

    /// Replaces the deviations of one instant by others that are fewer, or name the events that
    /// matter.
    fn reorder(&mut self, items: Vec<ScheduleEntry>, instant: Time) -> Vec<ScheduleEntry> {
        let is_here = |item: &ScheduleEntry| instant_of(item) == Some(instant);
        let (here, others): (Vec<ScheduleEntry>, Vec<ScheduleEntry>) =
            items.iter().partition(|item| is_here(item));
        let logs = self.log(&others, instant).zip(self.log(&items, instant));
        let Some(((default, info), (failing, _))) = logs else { return items };
        let loop_of = |callback| info.callbacks.get(callback).map(|of| of.event_loop);
        let failed = self.callback.and_then(loop_of);
        // An order within the loop that failed explains more than one among other nodes.
        let rank = |p: &Postponement| match [p.held, p.until].map(|of| loop_of(of.callback)) {
            [held, until] if held != until => 2,
            [held, _] if held != failed => 1,
            _ => 0,
        };
        let pairs = pairs(&default, &failing, instant, rank);
        let swapped = pairs.iter().take_while(|pair| pair.rank < KEPT).count();
        let mut few = None;
        for count in [swapped, pairs.len()] {
            let pairs = pairs[..count].iter().map(Pair::entry).collect();
            few = few.or_else(|| self.fewest(&others, pairs));
        }
        let Some(mut few) = few else { return items };
        // Of a chain of postponements, one can be enough.
        loop {
            let ends = |end: fn(&Postponement) -> InstantEvent| {
                few.iter().filter_map(postponement).map(end).collect::<BTreeSet<_>>()
            };
            let (held, until) = (ends(|p| p.held), ends(|p| p.until));
            let is_end = |p: &Postponement| held.contains(&p.held) && until.contains(&p.until);
            let ends = pairs.iter().filter(|pair| is_end(&pair.postponement));
            match self.fewest(&others, ends.map(Pair::entry).collect()) {
                Some(fewer) if fewer.len() < few.len() => few = fewer,
                _ => break,
            }
        }
        let mut awaited: Vec<_> = few.iter().filter_map(postponement).map(|p| p.until).collect();
        awaited.sort_unstable();
        awaited.dedup();
        for until in awaited {
            let near = |event: &InstantEvent| loop_of(event.callback) == loop_of(until.callback);
            few = self.take_earlier(&others, few, until, near, instant);
        }
        let few = self.wait_less(&others, few, &pairs);
        let few = self.take_one(&others, few, instant);
        match few.len() <= here.len() {
            true => [others, few].concat(),
            false => items,
        }
    }

    /// Few of `items` with which, and with `others`, the job fails, if it does with all of them.
    /// The first ones are preferred.
    ///
    /// From: Junker, "QuickXplain: preferred explanations and relaxations for over-constrained
    /// problems", AAAI 2004, here by bisection.
    fn fewest(
        &mut self,
        others: &[ScheduleEntry],
        mut items: Vec<ScheduleEntry>,
    ) -> Option<Vec<ScheduleEntry>> {
        if !self.fails(&[others, &items]) {
            return None;
        }
        let mut needed = Vec::new();
        while !items.is_empty() && !self.fails(&[others, &needed]) {
            if self.runs >= self.limit {
                return None;
            }
            let with = |n: u64| [others, &needed, &items[..n as usize]].concat();
            let least = self.least(items.len() as u64, with);
            items.truncate(least as usize);
            needed.extend(items.pop());
        }
        Some(self.minimize(others, one_by_one(&needed)))
    }

    /// Lets each event of `few` wait for the earliest event, of those of the same rank in `pairs`,
    /// that is enough.
    fn wait_less(
        &mut self,
        others: &[ScheduleEntry],
        mut few: Vec<ScheduleEntry>,
        pairs: &[Pair],
    ) -> Vec<ScheduleEntry> {
        for n in 0..few.len() {
            let Some(long) = pairs.iter().find(|pair| pair.entry() == few[n]) else { continue };
            let is_shorter = |pair: &&Pair| {
                let held = |pair: &Pair| pair.postponement.held;
                held(pair) == held(long) && pair.rank == long.rank && *pair >= long
            };
            let shorter: Vec<_> = pairs.iter().filter(is_shorter).map(Pair::entry).collect();
            let nth = |nth: u64| shorter[shorter.len() - nth as usize];
            let with = |k| [others, &few[..n], &[nth(k)], &few[n + 1..]].concat();
            few[n] = nth(self.least(shorter.len() as u64, with));
        }
        few
    }

    /// Takes the event `until`, and before it the other ones of its loop that do not wait, at the
    /// beginning of the instant, where these are fewer than the events that wait for it.
    fn take_earlier(
        &mut self,
        others: &[ScheduleEntry],
        few: Vec<ScheduleEntry>,
        until: InstantEvent,
        is_near: impl Fn(&InstantEvent) -> bool,
        instant: Time,
    ) -> Vec<ScheduleEntry> {
        let waits = |item: &&ScheduleEntry| postponement(item).is_some_and(|p| p.until == until);
        let (waiting, rest): (Vec<_>, Vec<ScheduleEntry>) = few.iter().partition(waits);
        let is_free = |event: &InstantEvent| {
            is_near(event) && !few.iter().filter_map(postponement).any(|p| p.held == *event)
        };
        let mut with = [others, &rest].concat();
        let Some((log, _)) = self.log(&with, instant) else { return few };
        let before = events(&log).into_iter().take_while(|event| *event != until);
        let first: Vec<_> = before.filter(is_free).chain([until]).collect();
        if first.len() >= waiting.len() {
            return few;
        }
        for (choice, event) in first.into_iter().enumerate() {
            let Some((log, _)) = self.log(&with, instant) else { return few };
            let choices = earlier(&log, instant).filter(|of| of.choice as usize == choice);
            let place = |of: ScheduleEntry| {
                let (log, _) = self.log(&[&with[..], &[of]].concat(), instant)?;
                Some((events(&log).iter().position(|of| *of == event)?, of))
            };
            let Some((_, best)) = choices.map(ScheduleEntry::Deviation).filter_map(place).min()
            else {
                return few;
            };
            with.push(best);
        }
        if self.fails(&[&with]) { with.split_off(others.len()) } else { few }
    }

    /// Takes a single event earlier instead of `few` deviations, if that is enough.
    fn take_one(
        &mut self,
        others: &[ScheduleEntry],
        few: Vec<ScheduleEntry>,
        instant: Time,
    ) -> Vec<ScheduleEntry> {
        if few.len() < 2 {
            return few;
        }
        let Some((log, _)) = self.log(others, instant) else { return few };
        let mut all = earlier(&log, instant).map(ScheduleEntry::Deviation);
        all.find(|one| self.fails(&[others, &[*one]])).map_or(few, |one| vec![one])
    }

    /// The record of one instant of a run with `items`, and the graph.
    fn log(
        &mut self,
        items: &[ScheduleEntry],
        instant: Time,
    ) -> Option<(InstantLog, std::sync::Arc<GraphInfo>)> {
        let report = self.run(items, Some(instant))?.report?;
        Some((report.instant, report.info))
    }

    /// Makes delays as short as is enough.
    fn shorten(&mut self, mut items: Vec<ScheduleEntry>) -> Vec<ScheduleEntry> {
        for n in 0..items.len() {
            let ScheduleEntry::Perturbation(perturbation) = items[n] else { continue };
            let with = |delay_ns| {
                let mut items = items.clone();
                items[n] =
                    ScheduleEntry::Perturbation(DelayPerturbation { delay_ns, ..perturbation });
                items
            };
            let delay_ns = self.least(perturbation.delay_ns, with);
            items = with(delay_ns);
        }
        items
    }
}

/// A longer list of messages explains less than their seed.
const MESSAGES_MAX: usize = 20;

/// The entries that make the links of a run with the effects `own` those of a run with `other`: of
/// messages that are lost, or later.
fn link_differences(own: &[LinkEffect], other: &[LinkEffect]) -> Vec<ScheduleEntry> {
    let own: BTreeMap<_, _> = own.iter().map(|of| ((of.0, of.1), of.2)).collect();
    let differs =
        |&(event, callback, delay): &LinkEffect| match (own.get(&(event, callback)), delay) {
            (Some(None), _) => None,
            (_, None) => Some(ScheduleEntry::Loss(Loss { event, callback })),
            (Some(Some(own)), Some(delay)) if delay > *own => {
                let delay_ns = delay - own;
                Some(ScheduleEntry::Perturbation(DelayPerturbation { event, callback, delay_ns }))
            }
            _ => None,
        };
    other.iter().filter_map(differs).collect()
}

/// Every single deviation that is possible at an instant with this record.
fn earlier(log: &InstantLog, time: Time) -> impl Iterator<Item = Deviation> {
    let choices = log.candidates.iter().zip(0..);
    choices.flat_map(move |(&candidates, choice)| {
        (1..candidates).map(move |taken| Deviation { time, choice, taken })
    })
}

/// Two events, in the order in which the failing run took them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u8,
    /// How much earlier the held event is taken by default; less than zero if it is taken later.
    distance: Reverse<isize>,
    postponement: Postponement,
}

impl Pair {
    fn entry(&self) -> ScheduleEntry {
        ScheduleEntry::Postponement(self.postponement)
    }
}

/// All pairs of events, by rank and then by distance: those that keep the default order come last.
fn pairs(
    default: &InstantLog,
    failing: &InstantLog,
    time: Time,
    rank: impl Fn(&Postponement) -> u8,
) -> Vec<Pair> {
    let by_default = events(default);
    let then: BTreeMap<_, _> = events(failing).into_iter().zip(0..).collect();
    let mut pairs = Vec::new();
    for (place, &until) in (0..).zip(&by_default) {
        let Some(at) = then.get(&until) else { continue };
        for (held_place, &held) in (0..).zip(&by_default) {
            let is_later = then.get(&held).is_none_or(|held_at| held_at > at);
            if is_later && held.callback != until.callback {
                let postponement = Postponement { time, held, until };
                let distance: isize = place - held_place;
                let rank = if distance > 0 { rank(&postponement) } else { KEPT };
                pairs.push(Pair { rank, distance: Reverse(distance), postponement });
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The rank of pairs that keep the default order.
const KEPT: u8 = u8::MAX;

fn postponement(entry: &ScheduleEntry) -> Option<&Postponement> {
    match entry {
        ScheduleEntry::Postponement(postponement) => Some(postponement),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_in_order_of_time() {
        let deviation = |ns| Deviation { time: Time::from_nanos(ns), choice: 0, taken: 1 };
        let schedule: Schedule =
            [2, 1].map(deviation).map(ScheduleEntry::Deviation).into_iter().collect();
        assert_eq!(schedule.deviations, [deviation(1), deviation(2)]);
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }
}
