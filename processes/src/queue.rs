//! The total order of the events and deadlines of all processes.
//!
//! An event has a time, and a number among all events. Events of one time happen in the order of
//! their numbers, so those from one process to another one keep their order. A deadline of a
//! process comes after all events of its time, and deadlines of one time come in the order of the
//! processes. Where a run explores other orders, each choice among the events of an instant, or
//! among the deadlines of one, may take another candidate than the first. The candidates are the
//! first events of each way from one process to another: so the order of a way stays.

use ringspin_executor::Time;
use ringspin_modes::exploration::{Mixed, Pct, Script};
use ringspin_modes::random::{SplitMix64, mix};
use ringspin_modes::{Deviation, ScheduleEntry, TiePolicy};
use std::collections::{BTreeMap, BTreeSet};

/// The events of a run that have not happened.
pub(crate) struct EventQueue<T> {
    /// By time and number.
    events: BTreeMap<(u64, u64), Sent<T>>,
    count: u64,
    order: Order,
    /// The instant of the last choice, and the choices there.
    instant: (u64, u32),
    /// The choices that did not take the first candidate, in words.
    pub(crate) deviations: Vec<(ScheduleEntry, String)>,
    /// How often there was a choice.
    pub(crate) choices: u64,
}

/// An event, from one process to another one.
struct Sent<T> {
    way: (u32, u32),
    event: T,
}

/// How ties are broken.
enum Order {
    First,
    Last,
    Shuffle(SplitMix64),
    Pct(Pct),
    Mixed(Mixed),
    Scripted(Script),
}

/// The next step of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<T> {
    /// An event happens to a process.
    Event(u64, u32, T),
    /// The deadline of a process comes.
    Deadline(u64, u32),
}

impl<T> EventQueue<T> {
    /// No events.
    pub(crate) fn new(ties: &TiePolicy) -> Self {
        let order = match *ties {
            TiePolicy::Shuffle { seed } => Order::Shuffle(SplitMix64(mix(seed))),
            TiePolicy::Pct { seed, depth, steps } => Order::Pct(Pct::new(seed, depth, steps)),
            TiePolicy::Mixed { seed, steps } => Order::Mixed(Mixed::new(seed, steps)),
            TiePolicy::Scripted(ref schedule) => Order::Scripted(Script::new(&schedule.deviations)),
            TiePolicy::Fifo => Order::First,
            TiePolicy::Reverse => Order::Last,
        };
        let (events, deviations) = (BTreeMap::new(), Vec::new());
        Self { events, count: 0, order, instant: (0, 0), deviations, choices: 0 }
    }

    /// Adds an event for the process `to` at `time`, from the process `from`.
    pub(crate) fn push(&mut self, time: u64, from: u32, to: u32, event: T) {
        self.count += 1;
        self.events.insert((time, self.count), Sent { way: (from, to), event });
    }

    /// The time of the first event.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.events.first_key_value().map(|(key, _)| key.0)
    }

    /// The events in their order: time, process, and event.
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = (u64, u32, &T)> {
        self.events.iter().map(|((time, _), sent)| (*time, sent.way.1, &sent.event))
    }

    /// Keeps the events for which this is true, with their processes.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(u32, &T) -> bool) {
        self.events.retain(|_, sent| is_kept(sent.way.1, &sent.event));
    }

    /// Whether the first of several candidates is always taken.
    pub(crate) fn is_in_order(&self) -> bool {
        matches!(self.order, Order::First)
    }

    /// The next event, if it is at `time`, and `is_it` with its process.
    pub(crate) fn pop_if(&mut self, time: u64, is_it: impl FnOnce(u32, &T) -> bool) -> Option<T> {
        let first = self.events.first_entry()?;
        let Sent { way, event } = first.get();
        (first.key().0 == time && is_it(way.1, event)).then(|| first.remove().event)
    }

    /// Takes the next step, where these are the deadlines of processes, in their order. `label`
    /// names an event for a process.
    pub(crate) fn pop(
        &mut self,
        deadlines: impl Iterator<Item = (u64, u32)> + Clone,
        label: impl Fn(u32, Option<&T>) -> String,
    ) -> Option<Next<T>> {
        let deadline = deadlines.clone().map(|(time, _)| time).min();
        let event = self.next_time();
        match (event, deadline) {
            (Some(time), deadline) if deadline.is_none_or(|deadline| time <= deadline) => {
                let key = self.choose_event(time, label);
                let Sent { way, event } = self.events.remove(&key)?;
                Some(Next::Event(time, way.1, event))
            }
            (_, Some(time)) => {
                let due: Vec<_> = deadlines.filter(|due| due.0 == time).map(|due| due.1).collect();
                let chosen = self.choose(time, &due, |process| label(process, None));
                Some(Next::Deadline(time, due[chosen]))
            }
            (_, None) => None,
        }
    }

    /// The key of the event of this time that is next.
    fn choose_event(&mut self, time: u64, label: impl Fn(u32, Option<&T>) -> String) -> (u64, u64) {
        let all = self.events.range((time, 0)..=(time, u64::MAX));
        let keys: Vec<_> = match self.order {
            Order::First => all.take(1).map(|(key, _)| *key).collect(),
            _ => {
                let mut ways = BTreeSet::new();
                all.filter(|(_, sent)| ways.insert(sent.way)).map(|(key, _)| *key).collect()
            }
        };
        let name = |events: &BTreeMap<_, Sent<T>>, key: &(u64, u64)| {
            events.get(key).map_or(String::new(), |sent| label(sent.way.1, Some(&sent.event)))
        };
        let events = std::mem::take(&mut self.events);
        let places: Vec<u32> = (0..keys.len() as u32).collect();
        let chosen = self.choose(time, &places, |place| name(&events, &keys[place as usize]));
        self.events = events;
        keys[chosen]
    }

    /// The index of the next of these candidates.
    fn choose(&mut self, now: u64, candidates: &[u32], label: impl Fn(u32) -> String) -> usize {
        if candidates.len() < 2 {
            return 0;
        }
        if self.instant.0 != now {
            self.instant = (now, 0);
        }
        let (time, choice) = (Time::from_nanos(now), self.instant.1);
        let taken = match &mut self.order {
            Order::First => 0,
            Order::Last => candidates.len() - 1,
            Order::Shuffle(random) => random.below(candidates.len() as u64) as usize,
            Order::Pct(pct) => pct.choose(candidates.iter().map(|candidate| u64::from(*candidate))),
            Order::Mixed(mixed) => {
                mixed.choose(time, candidates.iter().map(|candidate| u64::from(*candidate)))
            }
            Order::Scripted(script) => script.taken(time, choice, candidates.len()).unwrap_or(0),
        };
        if taken > 0 {
            let deviation = Deviation { time, choice, taken: taken as u32 };
            let (first, other) = (label(candidates[0]), label(candidates[taken]));
            let words = format!("at {time}: {other} before {first}");
            self.deviations.push((ScheduleEntry::Deviation(deviation), words));
        }
        self.instant.1 += 1;
        self.choices += 1;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringspin_modes::Schedule;

    /// The order by the words of the contract alone: a list that is searched.
    #[derive(Default)]
    struct Naive(Vec<(u64, u64, u32, u64)>);

    impl Naive {
        fn pop(&mut self, deadlines: &[(u64, u32)]) -> Option<Next<u64>> {
            let first = self.0.iter().map(|(time, count, ..)| (*time, *count)).min();
            let deadline = deadlines.iter().min();
            if let Some(&(time, process)) = deadline
                && first.is_none_or(|first| time < first.0)
            {
                return Some(Next::Deadline(time, process));
            }
            let first = first?;
            let at = self.0.iter().position(|event| (event.0, event.1) == first)?;
            let (time, _, process, event) = self.0.remove(at);
            Some(Next::Event(time, process, event))
        }
    }

    #[test]
    fn order_is_that_of_a_naive_list() {
        for seed in 0..200 {
            let (mut random, mut naive) = (SplitMix64(seed), Naive::default());
            let (mut queue, mut now) = (EventQueue::new(&TiePolicy::Fifo), 0);
            for n in 0..300 {
                if random.below(3) > 0 {
                    let (time, to) = (now + random.below(4), random.below(4) as u32);
                    queue.push(time, random.below(4) as u32, to, n);
                    naive.0.push((time, n, to, n));
                    continue;
                }
                let deadline = |process| (now + random.below(4), process);
                let deadlines: Vec<_> = (0..3).map(deadline).collect();
                let next = queue.pop(deadlines.iter().copied(), |_, _| String::new());
                assert_eq!(next, naive.pop(&deadlines), "seed {seed}, step {n}");
                if let Some(Next::Event(time, ..) | Next::Deadline(time, _)) = next {
                    now = time;
                }
            }
        }
    }

    #[test]
    fn shuffled_ties_keep_the_order_of_each_way() {
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let mut queue = EventQueue::new(&TiePolicy::Shuffle { seed });
            for n in 0..6u64 {
                queue.push(7, (n % 2) as u32, 2, n);
            }
            let mut order = Vec::new();
            while let Some(Next::Event(7, 2, n)) =
                queue.pop([(9, 2)].into_iter(), |_, _| String::new())
            {
                order.push(n);
            }
            for way in 0..2 {
                let of_way: Vec<_> = order.iter().filter(|n| *n % 2 == way).collect();
                assert!(of_way.is_sorted(), "seed {seed}: {order:?}");
            }
            // The schedule of the deviations repeats the order.
            let schedule: Schedule = queue.deviations.iter().map(|(entry, _)| *entry).collect();
            let mut again = EventQueue::new(&TiePolicy::Scripted(schedule));
            (0..6u64).for_each(|n| again.push(7, (n % 2) as u32, 2, n));
            for n in &order {
                let next = again.pop(std::iter::empty(), |_, _| String::new());
                assert_eq!(next, Some(Next::Event(7, 2, *n)));
            }
            orders.insert(order);
        }
        assert!(orders.len() > 5, "{orders:?}");
    }
}
