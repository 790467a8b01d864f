//! Schedules: how a run deviated from the default order, in a form that can be repeated, shrunk,
//! and typed into a shell.

use ringspin_executor::{CallbackId, EventId, GraphInfo, SourceId, Time};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;

/// A choice at which another event than the first in the contract's order was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deviation {
    /// The instant.
    pub time: Time,
    /// Zero-based number of the choice at that instant. A single candidate is not a choice.
    pub choice: u32,
    /// Index of the candidate that was taken, at least one: zero is the default order.
    pub taken: u32,
}

/// A message that was later than the delay of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DelayPerturbation {
    /// The message.
    pub event: EventId,
    /// The receiving callback.
    pub callback: CallbackId,
    /// The additional delay, in nanoseconds.
    pub delay_ns: u64,
}

impl DelayPerturbation {
    /// The perturbation in words.
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let EventId { source, sequence } = self.event;
        let delay = Duration::from_nanos(self.delay_ns);
        let by = match info.publisher(source) {
            Some((topic, by)) => format!("{} on {}", info.loops[by].node, topic.name),
            None => format!("source {}", source.0),
        };
        format!("message {sequence} of {by} {delay:?} later for {}", info.name_of(self.callback))
    }
}

/// An event of one instant, by the callback that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstantEvent {
    /// The callback.
    pub callback: CallbackId,
    /// Zero-based number of the event among those of the callback at this instant.
    pub number: u32,
}

/// An event that was not taken before another event of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Postponement {
    /// The instant.
    pub time: Time,
    /// The event that waited.
    pub held: InstantEvent,
    /// The event for which it waited.
    pub until: InstantEvent,
}

impl Postponement {
    /// The postponement in words.
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let turn = |turn: InstantEvent| match turn.number {
            0 => info.name_of(turn.callback),
            number => format!("event {number} of {}", info.name_of(turn.callback)),
        };
        format!("at {}: {} only after {}", self.time, turn(self.held), turn(self.until))
    }
}

/// All deviations of a run from the default order, from the delays of its links, and from the seed
/// of its job.
///
/// As text it is a list such as `s9,t2.5:0>1,p3:4.0>5.2,m7.12>3+250`: everything random has seed 9;
/// at 2.5 s, at the first choice (0), the second candidate (1) was taken; at 3 s, the first event
/// (0) of callback 4 was taken after the third (2) of callback 5; message 12 of source 7 reached
/// callback 3 by 250 nanoseconds later. `h2.5:0>1` is the same as `t2.5:0>1`, for threads of the
/// application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Replaces the [seed](crate::Simulation::seed) of everything random.
    pub seed: Option<u64>,
    /// In order of time.
    pub deviations: Vec<Deviation>,
    /// In order of time.
    pub postponements: Vec<Postponement>,
    /// In order of event and callback.
    pub perturbations: Vec<DelayPerturbation>,
    /// Choices of the next thread of the application, where [threads](crate::threads) share
    /// simulated time; in order of time.
    pub threads: Vec<Deviation>,
}

impl Schedule {
    /// The number of entries of all kinds.
    pub fn len(&self) -> usize {
        let Self { seed, deviations, postponements, perturbations, threads } = self;
        let orders = deviations.len() + postponements.len() + threads.len();
        usize::from(seed.is_some()) + orders + perturbations.len()
    }

    /// Whether it is the default order with the job's own seed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sorts the entries, so that equal schedules are equal texts.
    pub fn sort(&mut self) {
        self.deviations.sort_unstable();
        self.postponements.sort_unstable();
        self.perturbations.sort_unstable();
        self.threads.sort_unstable();
    }

    /// The entries that `applied` lacks. A seed is always applied.
    pub(crate) fn without(&self, applied: &Self) -> Self {
        fn lacking<I: Copy + Ord>(all: &[I], applied: &[I]) -> Vec<I> {
            let applied: BTreeSet<I> = applied.iter().copied().collect();
            all.iter().copied().filter(|item| !applied.contains(item)).collect()
        }
        Self {
            seed: None,
            deviations: lacking(&self.deviations, &applied.deviations),
            postponements: lacking(&self.postponements, &applied.postponements),
            perturbations: lacking(&self.perturbations, &applied.perturbations),
            threads: lacking(&self.threads, &applied.threads),
        }
    }

    /// The orders of instants up to `now`.
    pub(crate) fn up_to(mut self, now: Time) -> Self {
        self.deviations.retain(|deviation| deviation.time <= now);
        self.postponements.retain(|postponement| postponement.time <= now);
        self.threads.retain(|deviation| deviation.time <= now);
        self.perturbations.clear();
        self
    }
}

/// The entries of a schedule that were not applied: the run has no such choice, event or message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "failed to apply these entries of the schedule: {0}; the run has no such choice or message: \
     remove them, or explore again"
)]
pub struct NotApplied(pub Schedule);

/// How many deviations and how many perturbations a run keeps, unless it explores: with jitter,
/// each message is one.
pub(crate) const KEPT_MAX: usize = 10_000;

/// The first items of a series, and their number in all.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    items: Vec<T>,
    count: u64,
    max: usize,
}

impl<T> Kept<T> {
    /// Keeps `max` of them.
    pub(crate) fn new(max: usize) -> Self {
        Self { items: Vec::new(), count: 0, max }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.count += 1;
        if self.items.len() < self.max {
            self.items.push(item);
        }
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

/// A deviation, and between which callbacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) deviation: Deviation,
    pub(crate) instead_of: CallbackId,
    pub(crate) taken: CallbackId,
}

impl Taken {
    /// The deviation in words.
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let (taken, instead_of) = (info.name_of(self.taken), info.name_of(self.instead_of));
        format!("at {}: {taken} before {instead_of}", self.deviation.time)
    }
}

/// The error of a text that is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a deviation: write `s<seed>`, `t<seconds>:<choice>><taken>`, \
     `h<seconds>:<choice>><taken>`, \
     `p<seconds>:<callback>.<number>><callback>.<number>` or \
     `m<source>.<sequence>><callback>+<nanoseconds>`, separated by commas, as it was printed"
)]
pub struct ScheduleError(String);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = self.seed.iter().map(|seed| format!("s{seed}"));
        let deviations = self.deviations.iter().map(|deviation| format!("t{deviation}"));
        let postponements = self.postponements.iter().map(Postponement::to_string);
        let perturbations = self.perturbations.iter().map(DelayPerturbation::to_string);
        let threads = self.threads.iter().map(|deviation| format!("h{deviation}"));
        let all = seed.chain(deviations).chain(postponements).chain(perturbations).chain(threads);
        f.write_str(&all.collect::<Vec<_>>().join(","))
    }
}

/// Seconds with as many digits as are needed.
fn write_time(time: Time, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let ns = time.as_nanos();
    let (seconds, fraction) = (ns / 1_000_000_000, format!("{:09}", ns % 1_000_000_000));
    write!(f, "{seconds}")?;
    match fraction.trim_end_matches('0') {
        "" => Ok(()),
        fraction => write!(f, ".{fraction}"),
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_time(self.time, f)?;
        write!(f, ":{}>{}", self.choice, self.taken)
    }
}

impl fmt::Display for Postponement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, held, until } = self;
        f.write_str("p")?;
        write_time(*time, f)?;
        write!(f, ":{}.{}", held.callback.0, held.number)?;
        write!(f, ">{}.{}", until.callback.0, until.number)
    }
}

impl fmt::Display for DelayPerturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event: EventId { source, sequence }, callback, delay_ns } = self;
        write!(f, "m{}.{sequence}>{}+{delay_ns}", source.0, callback.0)
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut schedule = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let error = || ScheduleError(item.into());
            let (kind, rest) = item.split_at_checked(1).ok_or_else(error)?;
            match kind {
                "s" if schedule.seed.is_none() => {
                    schedule.seed = Some(rest.parse().map_err(|_| error())?);
                }
                "t" => schedule.deviations.push(deviation(rest).ok_or_else(error)?),
                "h" => schedule.threads.push(deviation(rest).ok_or_else(error)?),
                "p" => schedule.postponements.push(postponement(rest).ok_or_else(error)?),
                "m" => schedule.perturbations.push(perturbation(rest).ok_or_else(error)?),
                _ => return Err(error()),
            }
        }
        schedule.sort();
        Ok(schedule)
    }
}

fn time(text: &str) -> Option<Time> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    Some(Time::from_nanos(ns))
}

fn deviation(text: &str) -> Option<Deviation> {
    let (at, rest) = text.split_once(':')?;
    let (choice, taken) = rest.split_once('>')?;
    let (choice, taken) = (choice.parse().ok()?, taken.parse().ok()?);
    Some(Deviation { time: time(at)?, choice, taken })
}

fn postponement(text: &str) -> Option<Postponement> {
    let turn = |text: &str| {
        let (callback, number) = text.split_once('.')?;
        let callback = CallbackId(callback.parse().ok()?);
        Some(InstantEvent { callback, number: number.parse().ok()? })
    };
    let (at, rest) = text.split_once(':')?;
    let (held, until) = rest.split_once('>')?;
    Some(Postponement { time: time(at)?, held: turn(held)?, until: turn(until)? })
}

fn perturbation(text: &str) -> Option<DelayPerturbation> {
    let (event, rest) = text.split_once('>')?;
    let (source, sequence) = event.split_once('.')?;
    let (callback, delay) = rest.split_once('+')?;
    let source = SourceId(source.parse().ok()?);
    Some(DelayPerturbation {
        event: EventId { source, sequence: sequence.parse().ok()? },
        callback: CallbackId(callback.parse().ok()?),
        delay_ns: delay.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn printed_schedules_can_be_parsed(
            seed: Option<u64>,
            deviations in prop::collection::vec(any::<(u64, u32, u32)>(), 0..5),
            postponements in prop::collection::vec(any::<(u64, [u32; 4])>(), 0..5),
            perturbations in prop::collection::vec(any::<(u32, u64, u32, u64)>(), 0..5),
            threads in prop::collection::vec(any::<(u64, u32, u32)>(), 0..5),
        ) {
            let deviation = |(ns, choice, taken)| {
                Deviation { time: Time::from_nanos(ns), choice, taken }
            };
            let perturbation = |(source, sequence, callback, delay_ns)| DelayPerturbation {
                event: EventId { source: SourceId(source), sequence },
                callback: CallbackId(callback),
                delay_ns,
            };
            let turn = |callback, number| InstantEvent { callback: CallbackId(callback), number };
            let postponement = |(ns, [a, n, b, m]): (u64, [u32; 4])| Postponement {
                time: Time::from_nanos(ns),
                held: turn(a, n),
                until: turn(b, m),
            };
            let mut schedule = Schedule {
                seed,
                deviations: deviations.into_iter().map(deviation).collect(),
                postponements: postponements.into_iter().map(postponement).collect(),
                perturbations: perturbations.into_iter().map(perturbation).collect(),
                threads: threads.into_iter().map(deviation).collect(),
            };
            schedule.sort();
            prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule));
        }
    }

    #[test]
    fn text_as_documented() {
        let schedule: Schedule = "t2.5:0>1, m7.12>3+250".parse().unwrap();
        assert_eq!(schedule.deviations[0].time.as_nanos(), 2_500_000_000);
        assert_eq!(schedule.to_string(), "t2.5:0>1,m7.12>3+250");
        let schedule: Schedule = "p3:4.0>5.2,s9".parse().unwrap();
        assert_eq!((schedule.len(), schedule.seed), (2, Some(9)));
        assert_eq!(schedule.to_string(), "s9,p3:4.0>5.2");
        for wrong in [
            "t2.5",
            "x",
            "s",
            "s-1",
            "s2",
            "p1:2>3.4",
            "ä",
            "t1:a>2",
            "m7>3+1",
            "t0.1234567891:0>1",
            "t99999999999999:0>1",
        ] {
            let error = format!("s1,{wrong}").parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
