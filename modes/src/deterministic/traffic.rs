//! The network of a simulation: the links' delays, and jitter on top.

use super::schedule::{Jolt, Schedule};
use super::simulation::Jitter;
use crate::models::links::LinkTable;
use crate::models::random::Stream;
use ringspin_executor::{
    CallbackId, EventId, Fate, GraphInfo, Network, Passage, SourceId, Time,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The jolts of a run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Jolts(Arc<Mutex<Vec<Jolt>>>);

impl Jolts {
    pub(super) fn all(&self) -> Vec<Jolt> {
        let mut jolts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        jolts.sort_unstable();
        jolts
    }

    fn push(&self, jolt: Jolt) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(jolt);
    }
}

/// Which jolts there are.
pub(super) enum JoltSource {
    None,
    /// Random ones up to a limit.
    Random { stream: Stream, max_ns: u64 },
    /// Those of a schedule.
    Scripted(BTreeMap<(EventId, CallbackId), u64>),
}

impl JoltSource {
    pub(super) fn new(jitter: Jitter) -> Self {
        match u64::try_from(jitter.max.as_nanos()).unwrap_or(u64::MAX) {
            0 => Self::None,
            max_ns => Self::Random { stream: Stream::new(jitter.seed, "jitter"), max_ns },
        }
    }

    pub(super) fn scripted(schedule: &Schedule) -> Self {
        if schedule.jolts.is_empty() {
            return Self::None;
        }
        let jolts = schedule.jolts.iter();
        Self::Scripted(jolts.map(|jolt| ((jolt.event, jolt.callback), jolt.delay_ns)).collect())
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    fn of(&self, passage: &Passage) -> u64 {
        match self {
            Self::None => 0,
            Self::Random { stream, max_ns } => {
                // A stream for each edge, so that a new one does not change the others.
                let edge = stream.draw(
                    u64::from(passage.callback.0),
                    passage.event.source.0,
                );
                let range = max_ns.saturating_add(1);
                stream.below(edge.wrapping_add(passage.event.sequence), 0, range)
            }
            Self::Scripted(jolts) => {
                jolts.get(&(passage.event, passage.callback)).copied().unwrap_or(0)
            }
        }
    }
}

/// Links and jitter of one run.
pub(super) struct Traffic {
    links: LinkTable,
    jitter: JoltSource,
    jolts: Jolts,
    /// Whose messages jitter is for.
    jittered: Vec<bool>,
    /// Of each edge with jitter, the latest arrival so far, by the link and with jitter.
    last: BTreeMap<(CallbackId, SourceId), (Time, Time)>,
}

impl Traffic {
    pub(super) fn new(links: LinkTable, jitter: JoltSource, jolts: Jolts, info: &GraphInfo) -> Self {
        let mut jittered = vec![false; info.callbacks.len()];
        if !jitter.is_none() {
            let subscriptions = info.topics.iter().flat_map(|topic| topic.subscriptions.iter());
            subscriptions.for_each(|id| jittered[id.0 as usize] = true);
        }
        Self { links, jitter, jolts, jittered, last: BTreeMap::new() }
    }
}

impl Network for Traffic {
    fn is_linked(&self, callback: CallbackId) -> bool {
        self.jittered[callback.0 as usize] || self.links.is_linked(callback)
    }

    fn fate(&mut self, passage: &Passage) -> Fate {
        let Passage { event, callback, departure, bytes } = *passage;
        let fate = match self.links.is_linked(callback) {
            true => self.links.fate(callback, event, departure, bytes),
            false => Fate::Once(departure),
        };
        if !self.jittered[callback.0 as usize] {
            return fate;
        }
        let (Fate::Once(base) | Fate::Twice(base, _)) = fate else {
            return fate;
        };
        let delay_ns = self.jitter.of(passage);
        if delay_ns > 0 {
            self.jolts.push(Jolt { event, callback, delay_ns });
        }
        let delay = Duration::from_nanos(delay_ns);
        let (last_base, last) = self.last.entry((callback, event.source)).or_default();
        // It overtakes none, unless the link itself has it do so.
        let in_order = base >= *last_base;
        let late = |time: Time| if in_order { (time + delay).max(*last) } else { time + delay };
        let fate = match fate {
            Fate::Lost => Fate::Lost,
            Fate::Once(time) => Fate::Once(late(time)),
            Fate::Twice(time, again) => Fate::Twice(late(time), late(again)),
        };
        (*last_base, *last) = (base.max(*last_base), late(base).max(*last));
        fate
    }
}
