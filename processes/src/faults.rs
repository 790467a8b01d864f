//! The faults of a run, and their choice at random while orders are explored.
//!
//! A fault of a schedule is placed at a turn of a process or at a message between two processes,
//! and not at a time: so it happens at the same event whatever else is removed from the schedule,
//! and no seed decides about it. The numbers of turns and messages of the default run are the range
//! from which faults are drawn.

use crate::system::{Fault, System};
use ringspin_executor::{CallbackId, Error, ErrorKind, EventId, Result, SourceId, Time};
use ringspin_modes::quantity::Nanos;
use ringspin_modes::random::SplitMix64;
use ringspin_modes::{Loss, ProcessFault, Schedule, ScheduleEntry};
use ringspin_simulation::models::LinkRule;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// The simulated time from the end of a process to its next start.
pub(crate) const RESTART_DELAY: u64 = 1_000_000_000;

const MILLISECOND: u64 = 1_000_000;

/// The longest delay of a start, partition, and jump of a clock that are drawn, in milliseconds.
const DRAWN_MAX: u64 = 2000;

/// The faults of a run.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The time until the next start, by process and turn.
    kills: BTreeMap<(u32, u64), Option<u64>>,
    /// Whether the system has kills, which happen at their times.
    kills_at_times: bool,
    late: BTreeMap<u32, u64>,
    /// The jumps of clocks, with the places of their processes: time and length.
    jumps: Vec<(usize, u64, i64)>,
    /// The messages to lose. Those of the system are removed when they are lost.
    losses: BTreeSet<(Loss, IsOwn)>,
    /// The faults of the schedule that were applied, in words.
    pub(crate) applied: Vec<(ScheduleEntry, String)>,
}

/// Whether the system has it, not a schedule.
type IsOwn = bool;

/// The loss of message `sequence` of those from one process to another one.
fn loss(from: u32, sequence: u64, to: u32) -> Loss {
    Loss { event: EventId { source: SourceId(from), sequence }, callback: CallbackId(to) }
}

/// The loss that a fault is, if it is one.
fn loss_of(system: &System, fault: &Fault) -> Option<Loss> {
    let Fault::Loss { from, to, message } = fault else { return None };
    Some(loss(system.place(from)? as u32, *message, system.place(to)? as u32))
}

impl Faults {
    /// The faults of the system and of `schedule`, and the links by which partitions come about.
    pub(crate) fn new(system: &System, schedule: &Schedule) -> (Self, Vec<LinkRule>) {
        let (mut faults, mut links) = (Self::default(), Vec::new());
        for fault in &system.fault {
            match fault {
                Fault::Kill { .. } => faults.kills_at_times = true,
                Fault::Clock { process, at, by } => {
                    faults.jumps.extend(system.place(process).map(|place| (place, at.0, *by)));
                }
                Fault::Loss { .. } => {
                    faults.losses.extend(loss_of(system, fault).map(|loss| (loss, true)));
                }
                Fault::Partition { between, since, until } => {
                    let time = |time: &Option<Nanos>| time.map(|time| Time::from_nanos(time.0));
                    links.extend(partition(between, time(since), time(until)));
                }
            }
        }
        faults.losses.extend(schedule.losses.iter().map(|loss| (*loss, false)));
        for fault in &schedule.faults {
            match *fault {
                ProcessFault::Kill { process, turn, restart_ns } => {
                    faults.kills.insert((process, turn), restart_ns);
                }
                ProcessFault::Late { process, delay_ns } => {
                    faults.late.insert(process, delay_ns);
                }
                ProcessFault::Partition { since, processes, duration_ns } => {
                    let is_known = |n: u32| (n as usize) < system.processes.len();
                    if processes.into_iter().all(is_known) {
                        let until = Time::from_nanos(since.as_nanos().saturating_add(duration_ns));
                        let between = processes.map(|n| system.name_of(n).to_owned());
                        links.extend(partition(&between, Some(since), Some(until)));
                        let [one, other] = between;
                        let words = format!("{one} and {other} separated from {since} to {until}");
                        faults.applied.push((ScheduleEntry::Fault(*fault), words));
                    }
                }
                ProcessFault::Clock { process, at, by_ns } => {
                    if let Some(spec) = system.processes.get(process as usize) {
                        faults.jumps.push((process as usize, at.as_nanos(), by_ns));
                        let by = seconds(by_ns);
                        let words = format!("the clock of {} jumps by {by} s at {at}", spec.name);
                        faults.applied.push((ScheduleEntry::Fault(*fault), words));
                    }
                }
            }
        }
        (faults, links)
    }

    /// How much later the process of this number and name starts.
    pub(crate) fn delay_of(&mut self, process: u32, name: &str) -> u64 {
        let Some(&delay_ns) = self.late.get(&process) else { return 0 };
        let entry = ScheduleEntry::Fault(ProcessFault::Late { process, delay_ns });
        self.applied.push((entry, format!("{name} starts {} late", Nanos(delay_ns))));
        delay_ns
    }

    /// The jumps of the clock of the process at this place, as it gets them; none without one. Its
    /// times are those since `date`.
    pub(crate) fn jumps_of(&self, place: usize, date: u64) -> Option<String> {
        let jumps = self.jumps.iter().filter(|(of, ..)| *of == place);
        let jump = |(_, at, by): &(usize, u64, i64)| {
            format!("{}:{}", seconds(at.saturating_add(date) as i64), seconds(*by))
        };
        let jumps: Vec<_> = jumps.map(jump).collect();
        (!jumps.is_empty()).then(|| jumps.join(","))
    }

    /// Whether the process is killed before this turn, and the time until it is started again.
    pub(crate) fn kill(&mut self, process: u32, turn: u64) -> Option<Option<u64>> {
        self.kills.remove(&(process, turn))
    }

    /// Whether any process may be killed.
    pub(crate) fn has_kills(&self) -> bool {
        self.kills_at_times || !self.kills.is_empty()
    }

    /// Whether the process is killed before a turn.
    pub(crate) fn has_kill(&self, process: u32) -> bool {
        self.kills.range((process, 0)..=(process, u64::MAX)).next().is_some()
    }

    /// Whether the message of this index, of those from one process to another one, is lost;
    /// `words` describes it.
    pub(crate) fn is_lost(
        &mut self,
        (from, to): (u32, u32),
        index: u64,
        words: impl FnOnce() -> String,
    ) -> bool {
        let loss = loss(from, index, to);
        let is_of_schedule = self.losses.contains(&(loss, false));
        if is_of_schedule {
            self.applied.push((ScheduleEntry::Loss(loss), words()));
        }
        self.losses.remove(&(loss, true)) || is_of_schedule
    }

    /// Whether this loss of the system has not happened.
    pub(crate) fn is_left(&self, system: &System, fault: &Fault) -> bool {
        loss_of(system, fault).is_some_and(|loss| self.losses.contains(&(loss, true)))
    }
}

fn seconds(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// The links of a partition, one for each direction.
fn partition(between: &[String; 2], since: Option<Time>, until: Option<Time>) -> [LinkRule; 2] {
    [[0, 1], [1, 0]].map(|[from, to]| LinkRule {
        since,
        until,
        ..LinkRule::new("*").from(&*between[from]).to(&*between[to]).loss(1.0)
    })
}

/// The numbers of a run from which faults are drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// The turns of each process, with its start.
    pub(crate) turns: BTreeMap<u32, u64>,
    /// The messages from each process to each other one.
    pub(crate) messages: BTreeMap<(u32, u32), u64>,
}

/// A kind of faults that an exploration draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Kill,
    Restart,
    Late,
    Partition,
    Loss,
    Clock,
}

/// The faults that an exploration draws: of a kind, and of one process if it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    kind: Kind,
    pub(crate) process: Option<String>,
}

impl FromStr for Choice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, process) = match text.split_once(':') {
            Some((kind, process)) => (kind, Some(process.to_owned())),
            None => (text, None),
        };
        let kind = match kind {
            "kill" => Kind::Kill,
            "restart" => Kind::Restart,
            "late" => Kind::Late,
            "partition" => Kind::Partition,
            "loss" => Kind::Loss,
            "clock" => Kind::Clock,
            _ => {
                let text = format!(
                    "`{kind}` is no fault: write `kill`, `restart`, `late`, `partition`, `loss` or \
                     `clock`, and `:` and a process if it is for one, as in `restart:server`"
                );
                return Err(Error::new(ErrorKind::InvalidArgument, text));
            }
        };
        Ok(Self { kind, process })
    }
}

impl Choice {
    /// Draws a fault of a run with this activity that ends at `end`; `None` if none is possible.
    pub(crate) fn draw(
        &self,
        system: &System,
        activity: &Activity,
        end: Time,
        random: &mut SplitMix64,
    ) -> Option<ScheduleEntry> {
        let is_it = |n: u32| self.process.as_ref().is_none_or(|name| name == system.name_of(n));
        let ways = activity.messages.iter().map(|(way, count)| (*way, *count));
        let ways = ways.filter(|((from, to), _)| is_it(*from) || is_it(*to));
        let places = (0..system.processes.len() as u32).filter(|place| is_it(*place));
        let mut millis = |max: u64| (1 + random.below(max.max(1))) * MILLISECOND;
        let fault = match self.kind {
            Kind::Kill | Kind::Restart => {
                let processes =
                    activity.turns.iter().filter(|(n, turns)| is_it(**n) && **turns > 1);
                let (process, turns) = pick(processes.map(|(n, turns)| (*n, *turns)), random)?;
                let restart_ns = (self.kind == Kind::Restart).then_some(RESTART_DELAY);
                let turn = 1 + random.below(turns - 1);
                ProcessFault::Kill { process, turn, restart_ns }
            }
            Kind::Late => {
                let delay_ns = millis(DRAWN_MAX);
                ProcessFault::Late { process: pick(places, random)?, delay_ns }
            }
            Kind::Partition => {
                let since = Time::from_nanos(millis(end.as_nanos() / MILLISECOND));
                let duration_ns = millis(DRAWN_MAX);
                let of_system = |n: u32| n % system.processes.len() as u32;
                let ((from, to), _) = pick(ways, random)?;
                let processes = [of_system(from), of_system(to)];
                ProcessFault::Partition { since, processes, duration_ns }
            }
            Kind::Clock => {
                let at = Time::from_nanos(millis(end.as_nanos() / MILLISECOND));
                let by = millis(DRAWN_MAX) as i64;
                let by_ns = if random.below(2) == 0 { by } else { -by };
                ProcessFault::Clock { process: pick(places, random)?, at, by_ns }
            }
            Kind::Loss => {
                let mut index = random.below(ways.clone().map(|(_, count)| count).sum());
                for ((from, to), count) in ways {
                    if index < count {
                        return Some(ScheduleEntry::Loss(loss(from, index, to)));
                    }
                    index -= count;
                }
                return None;
            }
        };
        Some(ScheduleEntry::Fault(fault))
    }
}

/// One of these at random.
fn pick<T>(items: impl Iterator<Item = T> + Clone, random: &mut SplitMix64) -> Option<T> {
    let count = items.clone().count() as u64;
    (count > 0).then(|| random.below(count)).and_then(|n| items.clone().nth(n as usize))
}
