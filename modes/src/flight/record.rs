//! A flight record in memory, in the order in which a replay goes through it.

use super::entry::{Entry, EntryKind};
use ringspin_executor::{
    CallbackId, Error, ErrorKind, EventId, EventOrigin, GraphInfo, Result, Time,
    observed::{Observations, RemoteItem},
};
use std::fmt;
use std::sync::Arc;

/// The description of a recorded run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlightHeader {
    /// The callbacks at the start, by number.
    pub callbacks: Vec<(CallbackId, String)>,
    /// The seed of the graph's random streams.
    pub seed: u64,
    /// The executor's time at the start.
    pub start: Time,
    /// The middleware with the items of other processes, such as `ros2`; empty if the graph had
    /// none.
    pub middleware: String,
}

impl FlightHeader {
    pub(crate) fn new(info: &GraphInfo, seed: u64, start: Time, middleware: &str) -> Self {
        let callbacks = info.callbacks.keys().map(|id| (id, info.name_of(id))).collect();
        Self { callbacks, seed, start, middleware: middleware.into() }
    }

    /// Compares the graph with the recorded one.
    pub(crate) fn check(&self, info: &GraphInfo) -> Result<()> {
        let here = Self::new(info, self.seed, self.start, "").callbacks;
        let differs = |place: usize| self.callbacks.get(place) != here.get(place);
        let Some(place) = (0..self.callbacks.len().max(here.len())).find(|n| differs(*n)) else {
            return Ok(());
        };
        let name = |of: &[(CallbackId, String)]| {
            of.get(place).map_or("none".to_owned(), |(_, name)| name.clone())
        };
        let text = format!(
            "failed to replay: callback {place} of this graph is {}, and of the record {}; replay \
             with the program, arguments and parameters that were recorded",
            name(&here),
            name(&self.callbacks)
        );
        Err(Error::new(ErrorKind::Diverged, text))
    }
}

/// One event of a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedEvent {
    pub(crate) order: u64,
    pub(crate) time: Time,
    pub(crate) callback: CallbackId,
    pub(crate) event: EventId,
    /// A slot of a message says nothing here.
    pub(crate) origin: EventOrigin,
    /// Whether a callback was called.
    pub(crate) is_called: bool,
    /// The place in [`FlightRecord::observed`], if it observed anything.
    pub(crate) observed: Option<usize>,
    /// The digest of the values that the callback showed; `None` if the record ends before its
    /// return.
    pub(crate) shown: Option<Option<u64>>,
    /// Whether this is no event, but the end of a spin.
    pub(crate) is_spin_end: bool,
}

/// A flight record, to be replayed: [`Mode::Replay`](crate::Mode::Replay).
#[derive(Clone, PartialEq)]
pub struct FlightRecord {
    pub(crate) header: FlightHeader,
    pub(crate) steps: Vec<RecordedEvent>,
    pub(crate) observed: Vec<Observations>,
    /// The messages that callbacks took, in order.
    pub(crate) taken: Vec<(CallbackId, EventId)>,
    /// Where the record ends before its run did, because entries were lost.
    pub(crate) gap: Option<Time>,
}

impl FlightRecord {
    /// The description of the run.
    pub fn header(&self) -> &FlightHeader {
        &self.header
    }

    /// The number of recorded calls of callbacks.
    pub fn calls(&self) -> usize {
        self.steps.iter().filter(|step| step.is_called).count()
    }

    /// The time from which on entries were lost because a ring was full, if any were: the replay
    /// ends there.
    pub fn gap(&self) -> Option<Time> {
        self.gap
    }
}

impl fmt::Debug for FlightRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlightRecord")
            .field("start", &self.header.start)
            .field("steps", &self.steps.len())
            .field("gap", &self.gap)
            .finish_non_exhaustive()
    }
}

/// Puts a [`FlightRecord`] together from its entries.
#[derive(Debug)]
pub struct FlightBuilder {
    header: FlightHeader,
    steps: Vec<RecordedEvent>,
    observed: Vec<Observations>,
    /// The step that runs, of each log.
    running: Vec<Option<usize>>,
    /// The items of the middleware, of each log.
    items: Vec<Vec<Arc<RemoteItem>>>,
    gap: Option<(u64, Time)>,
}

impl FlightBuilder {
    /// Begins a record.
    pub fn new(header: FlightHeader) -> Self {
        let (steps, observed) = (Vec::new(), Vec::new());
        Self { header, steps, observed, running: Vec::new(), items: Vec::new(), gap: None }
    }

    /// Adds items of a log, in their order: before the entries of the same round.
    pub fn add_items(&mut self, log: usize, items: impl IntoIterator<Item = Arc<RemoteItem>>) {
        if self.items.len() <= log {
            self.items.resize(log + 1, Vec::new());
        }
        self.items[log].extend(items);
    }

    /// Adds entries of a log, in their order.
    pub fn add(&mut self, log: usize, entries: impl IntoIterator<Item = Entry>) {
        if self.running.len() <= log {
            self.running.resize(log + 1, None);
        }
        for entry in entries {
            self.add_one(log, &entry);
        }
    }

    /// After the entries that were added so far, some of this log were lost.
    pub fn add_gap(&mut self, log: usize) {
        let running = self.running.get(log).copied().flatten();
        let last = running.and_then(|n| self.steps.get(n)).map(|step| (step.order, step.time));
        let gap = last.unwrap_or((0, self.header.start));
        self.gap = Some(self.gap.map_or(gap, |other| other.min(gap)));
    }

    fn add_one(&mut self, log: usize, entry: &Entry) {
        let time = Time::from_nanos(entry.time);
        let kind = entry.kind();
        let running = self.running[log];
        match kind {
            EntryKind::Read => {
                self.observed(running, |observed| observed.readings.push(entry.extra));
                return;
            }
            EntryKind::Refused => {
                let refused = (entry.callback().0, entry.extra as u32);
                self.observed(running, |observed| observed.refused.push(refused));
                return;
            }
            EntryKind::Item => {
                let items = self.items.get(log);
                match items.and_then(|items| items.get(entry.extra as usize)).cloned() {
                    Some(item) => self.observed(running, |observed| observed.items.push(item)),
                    None => self.add_gap(log),
                }
                return;
            }
            EntryKind::Finished => {
                let Some(step) = running.map(|n| &mut self.steps[n]) else { return };
                step.shown = Some((entry.sequence == 1).then_some(entry.extra));
                return;
            }
            _ => {}
        }
        let due = Time::from_nanos(entry.extra);
        let (origin, is_called) = match kind {
            EntryKind::Timer => (EventOrigin::Timer(due), true),
            EntryKind::Message => (EventOrigin::Message { slot: 0 }, true),
            EntryKind::Other => (EventOrigin::Other, true),
            _ if entry.extra > 0 => (EventOrigin::Timer(due), false),
            _ if entry.event() == EventId::NONE => (EventOrigin::Other, false),
            _ => (EventOrigin::Message { slot: 0 }, false),
        };
        self.running[log] = Some(self.steps.len());
        self.steps.push(RecordedEvent {
            order: entry.order,
            time,
            callback: entry.callback(),
            event: entry.event(),
            origin,
            is_called,
            observed: None,
            shown: None,
            is_spin_end: kind == EntryKind::Spun,
        });
    }

    /// Adds to the observations of the running call of a log.
    fn observed(&mut self, running: Option<usize>, add: impl FnOnce(&mut Observations)) {
        let Some(step) = running.map(|n| &mut self.steps[n]) else { return };
        let place = *step.observed.get_or_insert_with(|| {
            self.observed.push(Observations::default());
            self.observed.len() - 1
        });
        add(&mut self.observed[place]);
    }

    /// The record of all that was added, up to the first gap.
    pub fn finish(self) -> FlightRecord {
        let Self { header, mut steps, observed, gap, .. } = self;
        if let Some((order, _)) = gap {
            steps.retain(|step| step.order < order);
        }
        // Observations of calls that had not returned are not known, so the first of these is last.
        let is_open = |step: &&RecordedEvent| step.is_called && step.shown.is_none();
        if let Some(open) = steps.iter().filter(is_open).map(|step| step.order).min() {
            steps.retain(|step| step.order < open || step.order == open && is_open(&step));
        }
        // Stable: entries of one log keep their order.
        steps.sort_by_key(|step| (step.order, step.is_spin_end));
        let messages = steps.iter().filter(|of| matches!(of.origin, EventOrigin::Message { .. }));
        let mut taken: Vec<_> = messages.map(|of| (of.callback, of.event)).collect();
        taken.sort_unstable();
        let gap = gap.map(|(_, time)| time);
        FlightRecord { header, steps, observed, taken, gap }
    }
}
