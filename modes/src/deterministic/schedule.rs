//! Schedules: how a run deviated from the default order, in a form that can be repeated, shrunk,
//! and typed into a shell.

use ringspin_executor::{CallbackId, EventId, GraphInfo, SourceId, Time};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;

/// At one choice, another event than the first in the contract's order was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deviation {
    /// The instant.
    pub time: Time,
    /// Which choice of that instant, from zero. Where there is only one candidate is no choice.
    pub choice: u32,
    /// Which of the candidates was taken, from one: zero would be no deviation.
    pub taken: u32,
}

/// A message was later than its link says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Jolt {
    /// The message.
    pub event: EventId,
    /// Whom it was for.
    pub callback: CallbackId,
    /// By how many nanoseconds.
    pub delay_ns: u64,
}

impl Jolt {
    /// The jolt in words.
    pub(super) fn in_words(&self, info: &GraphInfo) -> String {
        let EventId { source, sequence } = self.event;
        let delay = Duration::from_nanos(self.delay_ns);
        let by = match info.publisher(source) {
            Some((topic, by)) => format!("{} on {}", info.loops[by.0 as usize].node, topic.name),
            None => format!("source {}", source.0),
        };
        format!("message {sequence} of {by} {delay:?} later for {}", info.name_of(self.callback))
    }
}

/// All deviations of a run from the default order and from the delays of its links.
///
/// As text it is a list such as `t2.5:0>1,m7.12>3+250`: at 2.5 s, at the first choice (0), the
/// second candidate (1) was taken; message 12 of source 7 reached callback 3 by 250 nanoseconds
/// later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// In order of time.
    pub deviations: Vec<Deviation>,
    /// In order of event and callback.
    pub jolts: Vec<Jolt>,
}

impl Schedule {
    /// How many deviations there are in all.
    pub fn len(&self) -> usize {
        self.deviations.len() + self.jolts.len()
    }

    /// Whether it is the default order.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How many deviations and how many jolts a run keeps, unless it explores: with jitter, each
/// message is one.
pub(crate) const KEPT_MAX: usize = 10_000;

/// The first items of a series, and their number in all.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    items: Vec<T>,
    count: u64,
    max: usize,
}

impl<T> Kept<T> {
    /// Keeps `max` of them.
    pub(super) fn new(max: usize) -> Self {
        Self { items: Vec::new(), count: 0, max }
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        self.count += 1;
        if self.items.len() < self.max {
            self.items.push(item);
        }
    }

    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

/// A deviation, and between which callbacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) deviation: Deviation,
    pub(super) instead_of: CallbackId,
    pub(super) taken: CallbackId,
}

impl Taken {
    /// The deviation in words.
    pub(super) fn in_words(&self, info: &GraphInfo) -> String {
        let (taken, instead_of) = (info.name_of(self.taken), info.name_of(self.instead_of));
        format!("at {}: {taken} before {instead_of}", self.deviation.time)
    }
}

/// A schedule could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no deviation: write `t<seconds>:<choice>><taken>` or \
     `m<source>.<sequence>><callback>+<nanoseconds>`, separated by commas, as it was printed"
)]
pub struct ScheduleError(String);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deviations = self.deviations.iter().map(Deviation::to_string);
        let all: Vec<_> = deviations.chain(self.jolts.iter().map(Jolt::to_string)).collect();
        f.write_str(&all.join(","))
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.time.as_nanos();
        let (seconds, fraction) = (ns / 1_000_000_000, format!("{:09}", ns % 1_000_000_000));
        write!(f, "t{seconds}")?;
        match fraction.trim_end_matches('0') {
            "" => {}
            fraction => write!(f, ".{fraction}")?,
        }
        write!(f, ":{}>{}", self.choice, self.taken)
    }
}

impl fmt::Display for Jolt {
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
            if let Some(rest) = item.strip_prefix('t') {
                schedule.deviations.push(deviation(rest).ok_or_else(error)?);
            } else {
                let rest = item.strip_prefix('m').ok_or_else(error)?;
                schedule.jolts.push(jolt(rest).ok_or_else(error)?);
            }
        }
        schedule.deviations.sort_unstable();
        schedule.jolts.sort_unstable();
        Ok(schedule)
    }
}

fn deviation(text: &str) -> Option<Deviation> {
    let (time, rest) = text.split_once(':')?;
    let (choice, taken) = rest.split_once('>')?;
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    if fraction.len() > 9 {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    let (choice, taken) = (choice.parse().ok()?, taken.parse().ok()?);
    Some(Deviation { time: Time::from_nanos(ns), choice, taken })
}

fn jolt(text: &str) -> Option<Jolt> {
    let (event, rest) = text.split_once('>')?;
    let (source, sequence) = event.split_once('.')?;
    let (callback, delay) = rest.split_once('+')?;
    let source = SourceId(source.parse().ok()?);
    Some(Jolt {
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
        fn what_was_printed_can_be_read(
            deviations in prop::collection::vec(any::<(u64, u32, u32)>(), 0..5),
            jolts in prop::collection::vec(any::<(u32, u64, u32, u64)>(), 0..5),
        ) {
            let deviation = |(ns, choice, taken)| {
                Deviation { time: Time::from_nanos(ns), choice, taken }
            };
            let jolt = |(source, sequence, callback, delay_ns)| Jolt {
                event: EventId { source: SourceId(source), sequence },
                callback: CallbackId(callback),
                delay_ns,
            };
            let mut schedule = Schedule {
                deviations: deviations.into_iter().map(deviation).collect(),
                jolts: jolts.into_iter().map(jolt).collect(),
            };
            schedule.deviations.sort_unstable();
            schedule.jolts.sort_unstable();
            prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule));
        }
    }

    #[test]
    fn text_as_documented() {
        let schedule: Schedule = "t2.5:0>1, m7.12>3+250".parse().unwrap();
        assert_eq!(schedule.deviations[0].time.as_nanos(), 2_500_000_000);
        assert_eq!(schedule.to_string(), "t2.5:0>1,m7.12>3+250");
        for wrong in ["t2.5", "x", "t1:a>2", "m7>3+1", "t0.1234567891:0>1", "t99999999999999:0>1"] {
            let error = wrong.parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
