//! Schedules: how a run deviated from the default order, in a form that can be repeated, shrunk,
//! and typed into a shell.
//!
//! The thread of the run writes the parts as they happen: the tie breaker each choice that is not
//! the first candidate, the network each message with jitter. The sequencer gathers them into a
//! [`Schedule`] when it is asked, and another run follows that one. An entry names an instant and
//! the number of a choice, or a callback and the number of its event, or a message and its
//! receiver: facts of the simulated run, and never an address or a position in the whole run. So it
//! means the same in another process, and shrinking can remove entries without a renumbering of the
//! others.

use crate::quantity::decimal;
use ringspin_executor::{CallbackId, Error, ErrorKind, EventId, GraphInfo, Result, SourceId, Time};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

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
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let delay = Duration::from_nanos(self.delay_ns);
        let message = message_in_words(self.event, info);
        format!("{message} {delay:?} later for {}", info.name_of(self.callback))
    }
}

/// A message that its link lost on the way to one subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The message.
    pub event: EventId,
    /// The callback that does not receive it.
    pub callback: CallbackId,
}

impl Loss {
    /// The loss in words.
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let message = message_in_words(self.event, info);
        format!("{message} lost for {}", info.name_of(self.callback))
    }
}

fn message_in_words(EventId { source, sequence }: EventId, info: &GraphInfo) -> String {
    match info.publisher(source) {
        Some((topic, by)) => {
            format!("message {sequence} of {} on {}", info.loops[by].node, topic.name)
        }
        None => format!("message {sequence} of source {}", source.0),
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
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let turn = |turn: InstantEvent| match turn.number {
            0 => info.name_of(turn.callback),
            number => format!("event {number} of {}", info.name_of(turn.callback)),
        };
        format!("at {}: {} only after {}", self.time, turn(self.held), turn(self.until))
    }
}

/// A fault in a system of several processes. A process has the number of its place in the system;
/// each start of it again adds the number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProcessFault {
    /// A process is killed.
    Kill {
        /// The process.
        process: u32,
        /// The number of the turn that it does not get; turn 0 is its start.
        turn: u64,
        /// The time until it is started again, in nanoseconds; `None` for the policy of the system.
        restart_ns: Option<u64>,
    },
    /// A process starts later.
    Late {
        /// The process.
        process: u32,
        /// How much later, in nanoseconds.
        delay_ns: u64,
    },
    /// Two processes do not get each other's messages for a while.
    Partition {
        /// The beginning.
        since: Time,
        /// The two processes.
        processes: [u32; 2],
        /// How long, in nanoseconds.
        duration_ns: u64,
    },
    /// The clock of the calendar of a process jumps.
    Clock {
        /// The place of the process in the system.
        process: u32,
        /// The instant.
        at: Time,
        /// How far, in nanoseconds; back if it is negative.
        by_ns: i64,
    },
}

/// All deviations of a run from the default order, from the delays of its links, and from the seed
/// of its job.
///
/// As text it is a list such as `s9,t2.5:0>1,p3:4.0>5.2,m7.12>3+250`: everything random has seed 9;
/// at 2.5 s, at the first choice (0), the second candidate (1) was taken; at 3 s, the first event
/// (0) of callback 4 was taken after the third (2) of callback 5; message 12 of source 7 reached
/// callback 3 by 250 nanoseconds later. `l7.12>3` is the loss of that message. `h2.5:0>1` is the
/// same as `t2.5:0>1`, for threads of the application.
///
/// In a system of processes, `l0.12>3` is the loss of the message with index 12 of those from
/// process 0 to process 3, `h3@2.5:0>1` is a choice among the threads of process 3, `k2.17` kills
/// process 2 before its turn 17, `k2.17+1` also starts it again 1 s later, `d1+0.5` starts process
/// 1 half a second late, `c3:0>2+0.5` is a partition of the processes 0 and 2, from 3 s on for half
/// a second, and `j2@3-0.5` sets the clock of process 2 back by half a second at 3 s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Replaces the [seed](crate::Simulation::seed) of everything random.
    pub seed: Option<u64>,
    /// Ordered by time.
    pub deviations: Vec<Deviation>,
    /// Ordered by time.
    pub postponements: Vec<Postponement>,
    /// Ordered by event and callback.
    pub perturbations: Vec<DelayPerturbation>,
    /// Ordered by event and callback. Those of the seed are not among them.
    pub losses: Vec<Loss>,
    /// Choices of the next thread of the application, where [threads](crate::threads) share
    /// simulated time; in order of time.
    pub threads: Vec<Deviation>,
    /// Choices of the next thread of a process of a system; ordered by process and time.
    pub process_threads: Vec<(u32, Deviation)>,
    /// Ordered by kind and process.
    pub faults: Vec<ProcessFault>,
}

/// An entry of a [`Schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScheduleEntry {
    /// The seed of everything random.
    Seed(u64),
    /// A choice of another event.
    Deviation(Deviation),
    /// An event that waited for another one.
    Postponement(Postponement),
    /// A message that was later.
    Perturbation(DelayPerturbation),
    /// A message that was lost.
    Loss(Loss),
    /// A choice of another thread.
    Thread(Deviation),
    /// A choice of another thread in this process of a system.
    ProcessThread(u32, Deviation),
    /// A fault of a process.
    Fault(ProcessFault),
}

impl Schedule {
    /// The entries, kind by kind.
    pub fn entries(&self) -> impl Iterator<Item = ScheduleEntry> {
        use ScheduleEntry::*;
        let deviations = self.deviations.iter().copied().map(Deviation);
        let postponements = self.postponements.iter().copied().map(Postponement);
        let perturbations = self.perturbations.iter().copied().map(Perturbation);
        let losses = self.losses.iter().copied().map(Loss);
        let threads = self.threads.iter().copied().map(Thread);
        let seed = self.seed.into_iter().map(Seed);
        let faults = self.faults.iter().copied().map(Fault);
        let of_process = |&(process, of): &(u32, _)| ProcessThread(process, of);
        let threads = threads.chain(self.process_threads.iter().map(of_process));
        let messages = perturbations.chain(losses);
        seed.chain(deviations).chain(postponements).chain(messages).chain(threads).chain(faults)
    }

    /// The number of entries of all kinds.
    pub fn len(&self) -> usize {
        self.entries().count()
    }

    /// Whether it is the default order with the job's own seed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The error of a run that has no such choice, event or message as these entries name.
    pub fn not_applied(&self) -> Error {
        let text = format!(
            "failed to apply these entries of the schedule: {self}; the run has no such choice or \
             message: remove them, or explore again"
        );
        Error::new(ErrorKind::ScheduleNotApplied, text)
    }

    /// The entries that `applied` lacks. A seed is always applied.
    pub fn without(&self, applied: &Self) -> Self {
        let applied: BTreeSet<_> = applied.entries().collect();
        let is_lacking = |entry: &ScheduleEntry| {
            !matches!(entry, ScheduleEntry::Seed(_)) && !applied.contains(entry)
        };
        self.entries().filter(is_lacking).collect()
    }

    /// The orders of instants up to `now`.
    pub(crate) fn up_to(&self, now: Time) -> Self {
        let is_past = |entry: &ScheduleEntry| match entry {
            ScheduleEntry::Deviation(of)
            | ScheduleEntry::Thread(of)
            | ScheduleEntry::ProcessThread(_, of) => of.time <= now,
            ScheduleEntry::Postponement(of) => of.time <= now,
            ScheduleEntry::Seed(_)
            | ScheduleEntry::Perturbation(_)
            | ScheduleEntry::Loss(_)
            | ScheduleEntry::Fault(_) => false,
        };
        self.entries().filter(is_past).collect()
    }
}

impl FromIterator<ScheduleEntry> for Schedule {
    /// Sorts the entries, so that equal schedules are equal texts. The last seed counts.
    fn from_iter<I: IntoIterator<Item = ScheduleEntry>>(entries: I) -> Self {
        let mut schedule = Self::default();
        for entry in entries {
            match entry {
                ScheduleEntry::Seed(seed) => schedule.seed = Some(seed),
                ScheduleEntry::Deviation(of) => schedule.deviations.push(of),
                ScheduleEntry::Postponement(of) => schedule.postponements.push(of),
                ScheduleEntry::Perturbation(of) => schedule.perturbations.push(of),
                ScheduleEntry::Loss(of) => schedule.losses.push(of),
                ScheduleEntry::Thread(of) => schedule.threads.push(of),
                ScheduleEntry::ProcessThread(process, of) => {
                    schedule.process_threads.push((process, of));
                }
                ScheduleEntry::Fault(of) => schedule.faults.push(of),
            }
        }
        schedule.deviations.sort_unstable();
        schedule.postponements.sort_unstable();
        schedule.perturbations.sort_unstable();
        schedule.losses.sort_unstable();
        schedule.threads.sort_unstable();
        schedule.process_threads.sort_unstable();
        schedule.faults.sort_unstable();
        schedule
    }
}

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
    pub(crate) fn in_words(&self, info: &GraphInfo) -> String {
        let (taken, instead_of) = (info.name_of(self.taken), info.name_of(self.instead_of));
        let others = match self.deviation.taken {
            0 | 1 => String::new(),
            2 => " and 1 other".into(),
            n => format!(" and {} others", n - 1),
        };
        format!("at {}: {taken} before {instead_of}{others}", self.deviation.time)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<_> = self.entries().map(|entry| entry.to_string()).collect();
        f.write_str(&entries.join(","))
    }
}

impl fmt::Display for ScheduleEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Seed(seed) => write!(f, "s{seed}"),
            Self::Deviation(Deviation { time, choice, taken }) => {
                write!(f, "t{}:{choice}>{taken}", seconds(time))
            }
            Self::Thread(Deviation { time, choice, taken }) => {
                write!(f, "h{}:{choice}>{taken}", seconds(time))
            }
            Self::ProcessThread(process, Deviation { time, choice, taken }) => {
                write!(f, "h{process}@{}:{choice}>{taken}", seconds(time))
            }
            Self::Postponement(Postponement { time, held, until }) => {
                let event = |of: InstantEvent| format!("{}.{}", of.callback.0, of.number);
                write!(f, "p{}:{}>{}", seconds(time), event(held), event(until))
            }
            Self::Perturbation(DelayPerturbation { event, callback, delay_ns }) => {
                let EventId { source, sequence } = event;
                write!(f, "m{}.{sequence}>{}+{delay_ns}", source.0, callback.0)
            }
            Self::Loss(Loss { event: EventId { source, sequence }, callback }) => {
                write!(f, "l{}.{sequence}>{}", source.0, callback.0)
            }
            Self::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl fmt::Display for ProcessFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let for_seconds = |nanos| seconds(Time::from_nanos(nanos));
        match *self {
            Self::Kill { process, turn, restart_ns } => {
                write!(f, "k{process}.{turn}")?;
                restart_ns.map_or(Ok(()), |nanos| write!(f, "+{}", for_seconds(nanos)))
            }
            Self::Late { process, delay_ns } => write!(f, "d{process}+{}", for_seconds(delay_ns)),
            Self::Partition { since, processes: [one, other], duration_ns } => {
                let (since, duration) = (seconds(since), for_seconds(duration_ns));
                write!(f, "c{since}:{one}>{other}+{duration}")
            }
            Self::Clock { process, at, by_ns } => {
                let sign = if by_ns < 0 { '-' } else { '+' };
                write!(f, "j{process}@{}{sign}{}", seconds(at), for_seconds(by_ns.unsigned_abs()))
            }
        }
    }
}

/// Seconds with as many digits as are needed.
fn seconds(time: Time) -> String {
    let ns = time.as_nanos();
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut has_seed = false;
        let mut read = |item: &str| {
            let read = entry(item)?;
            let is_seed = matches!(read, ScheduleEntry::Seed(_));
            let is_second = is_seed && std::mem::replace(&mut has_seed, true);
            (!is_second).then_some(read)
        };
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| read(item).ok_or_else(|| invalid(item))).collect()
    }
}

fn entry(item: &str) -> Option<ScheduleEntry> {
    let (kind, rest) = item.split_at_checked(1)?;
    Some(match kind {
        "s" => ScheduleEntry::Seed(rest.parse().ok()?),
        "t" => ScheduleEntry::Deviation(deviation(rest)?),
        "h" => match rest.split_once('@') {
            Some((process, of)) => {
                ScheduleEntry::ProcessThread(process.parse().ok()?, deviation(of)?)
            }
            None => ScheduleEntry::Thread(deviation(rest)?),
        },
        "p" => ScheduleEntry::Postponement(postponement(rest)?),
        "m" => ScheduleEntry::Perturbation(perturbation(rest)?),
        "l" => ScheduleEntry::Loss(loss(rest)?),
        "k" => ScheduleEntry::Fault(kill(rest)?),
        "d" => ScheduleEntry::Fault(late(rest)?),
        "c" => ScheduleEntry::Fault(partition(rest)?),
        "j" => ScheduleEntry::Fault(jump(rest)?),
        _ => return None,
    })
}

fn invalid(item: &str) -> Error {
    let text = format!(
        "`{item}` is not a deviation: write `s<seed>`, `t<seconds>:<choice>><taken>`, \
         `h<seconds>:<choice>><taken>`, `p<seconds>:<callback>.<number>><callback>.<number>`, \
         `m<source>.<sequence>><callback>+<nanoseconds>` or `l<source>.<sequence>><callback>`, or \
         of processes `h<process>@<seconds>:<choice>><taken>`, `k<process>.<turn>`, \
         `k<process>.<turn>+<seconds>`, `d<process>+<seconds>`, \
         `c<seconds>:<process>><process>+<seconds>` or `j<process>@<seconds>+<seconds>`, separated \
         by commas, as it was printed"
    );
    Error::new(ErrorKind::Parse, text)
}

fn time(text: &str) -> Option<Time> {
    decimal(text, 1_000_000_000).map(Time::from_nanos)
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
    let (message, delay) = text.split_once('+')?;
    let Loss { event, callback } = loss(message)?;
    Some(DelayPerturbation { event, callback, delay_ns: delay.parse().ok()? })
}

/// A message and its receiver.
fn loss(text: &str) -> Option<Loss> {
    let (event, callback) = text.split_once('>')?;
    let (source, sequence) = event.split_once('.')?;
    let source = SourceId(source.parse().ok()?);
    let event = EventId { source, sequence: sequence.parse().ok()? };
    Some(Loss { event, callback: CallbackId(callback.parse().ok()?) })
}

fn nanos(text: &str) -> Option<u64> {
    Some(time(text)?.as_nanos())
}

fn kill(text: &str) -> Option<ProcessFault> {
    let (turn, restart) = match text.split_once('+') {
        Some((turn, restart)) => (turn, Some(nanos(restart)?)),
        None => (text, None),
    };
    let (process, turn) = turn.split_once('.')?;
    let (process, turn) = (process.parse().ok()?, turn.parse().ok()?);
    Some(ProcessFault::Kill { process, turn, restart_ns: restart })
}

fn late(text: &str) -> Option<ProcessFault> {
    let (process, delay) = text.split_once('+')?;
    Some(ProcessFault::Late { process: process.parse().ok()?, delay_ns: nanos(delay)? })
}

fn partition(text: &str) -> Option<ProcessFault> {
    let (since, rest) = text.split_once(':')?;
    let (processes, duration) = rest.split_once('+')?;
    let (one, other) = processes.split_once('>')?;
    let processes = [one.parse().ok()?, other.parse().ok()?];
    Some(ProcessFault::Partition { since: time(since)?, processes, duration_ns: nanos(duration)? })
}

fn jump(text: &str) -> Option<ProcessFault> {
    let (process, jump) = text.split_once('@')?;
    let sign = jump.find(['+', '-'])?;
    let (at, by) = (time(&jump[..sign])?, i128::from(nanos(&jump[sign + 1..])?));
    let by = if jump[sign..].starts_with('-') { -by } else { by };
    Some(ProcessFault::Clock { process: process.parse().ok()?, at, by_ns: by.try_into().ok()? })
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
            losses in prop::collection::vec(any::<(u32, u64, u32)>(), 0..5),
            threads in prop::collection::vec(any::<(u64, u32, u32)>(), 0..5),
            faults in prop::collection::vec(any::<(u8, u64, [u32; 2], u64)>(), 0..5),
        ) {
            let deviation = |(ns, choice, taken)| {
                Deviation { time: Time::from_nanos(ns), choice, taken }
            };
            let perturbation = |(source, sequence, callback, delay_ns)| DelayPerturbation {
                event: EventId { source: SourceId(source), sequence },
                callback: CallbackId(callback),
                delay_ns,
            };
            let loss = |(source, sequence, callback)| Loss {
                event: EventId { source: SourceId(source), sequence },
                callback: CallbackId(callback),
            };
            let turn = |callback, number| InstantEvent { callback: CallbackId(callback), number };
            let postponement = |(ns, [a, n, b, m]): (u64, [u32; 4])| Postponement {
                time: Time::from_nanos(ns),
                held: turn(a, n),
                until: turn(b, m),
            };
            let fault = |(kind, at, processes, nanos): (u8, u64, [u32; 2], u64)| match kind % 4 {
                0 => ProcessFault::Kill {
                    process: processes[0],
                    turn: at,
                    restart_ns: (nanos % 2 == 0).then_some(nanos),
                },
                1 => ProcessFault::Late { process: processes[0], delay_ns: nanos },
                2 => ProcessFault::Partition {
                    since: Time::from_nanos(at),
                    processes,
                    duration_ns: nanos,
                },
                _ => ProcessFault::Clock {
                    process: processes[0],
                    at: Time::from_nanos(at),
                    by_ns: nanos as i64,
                },
            };
            let schedule = Schedule {
                seed,
                deviations: deviations.into_iter().map(deviation).collect(),
                postponements: postponements.into_iter().map(postponement).collect(),
                perturbations: perturbations.into_iter().map(perturbation).collect(),
                losses: losses.into_iter().map(loss).collect(),
                process_threads: threads.iter().map(|of| (of.1, deviation(*of))).collect(),
                threads: threads.into_iter().map(deviation).collect(),
                faults: faults.into_iter().map(fault).collect(),
            };
            let schedule: Schedule = schedule.entries().collect();
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
        let faults = "l0.12>3,h3@2.5:0>1,k2.17,k2.17+1,d1+0.5,c3:0>2+0.5,j2@3-0.5,j2@3+0.5";
        assert_eq!(faults.parse::<Schedule>().unwrap().to_string(), faults);
        for wrong in [
            "k2",
            "d1",
            "c3:0+1",
            "j2@3",
            "j2@3+9999999999",
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
