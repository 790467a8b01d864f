//! Causal stamps: the source event that led to a message, for the chains that are watched.
//!
//! A chain is a sequence of steps, each a set of callbacks; a hop is the way from one publisher to
//! a callback of the next step. A worker's recorder [enters](CausalStamps::enter) a callback with
//! the stamp of the event that it handles. While the callback runs, each port that a hop leads
//! through writes that stamp beside the message, at the number of its slot, before the message is
//! queued; the recorder of the receiving worker reads it from there. So the stamp is exact however
//! often a callback publishes, however long a message waits, and whichever thread takes it, live
//! and in simulated time. A message that is published outside of a callback of the chain carries no
//! stamp. Ports without a hop do nothing of this, and a graph without chains has no table at all.

use crate::base::event::{CallbackId, SourceId};
use crate::base::lock::lock;
use crate::base::slot_table::SlotTable;
use crate::base::table::Table;
use crate::base::time::{Clock, NodeClock, Time};
use ringspin_ringbuf::Counter;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

/// The origin of a message: the source event that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausalStamp {
    /// The release of the source event: a timer was due, or a message ready to be taken.
    pub released: Time,
    /// The start of the callback of the source event; of several joined inputs, the newest one.
    pub started: Time,
}

/// A step of a chain, numbered over all chains that are watched together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

/// The way from one publisher to one callback of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampHop {
    /// The publisher, or the source of the requests or responses of a client.
    pub source: SourceId,
    /// The callback that receives.
    pub callback: CallbackId,
    /// The step that sends; `None` if the message itself is the source event.
    pub from: Option<StepId>,
    /// The step of the callback.
    pub to: StepId,
    /// Whether the releases of the stamps that are sent here are kept.
    pub is_counted: bool,
}

/// The stamps of the messages on all hops of a graph. Clones share them.
#[derive(Clone, Debug)]
pub struct CausalStamps(Arc<Table<CallbackId, Vec<StampedHop>>>);

#[derive(Debug)]
struct StampedHop {
    hop: StampHop,
    stamps: SlotTable<[Counter; 2]>,
    /// In nanoseconds; several messages of one callback are one.
    releases: Mutex<Vec<u64>>,
}

/// The steps that a callback is, while it runs on this thread.
struct StampedCall {
    /// Tells these steps from those of another graph that runs on the same thread.
    stamps: CausalStamps,
    steps: Vec<(StepId, CausalStamp)>,
    /// The callback that this one runs within, if a callback runs another graph.
    outer: Option<Box<Self>>,
}

thread_local! {
    static CALL: RefCell<Option<StampedCall>> = const { RefCell::new(None) };
}

/// In the place of a release, if the message carries no stamp.
const UNSTAMPED: u64 = u64::MAX;

impl CausalStamps {
    /// The maximum number of releases that a hop keeps.
    pub const RELEASES_MAX: usize = 1 << 20;

    /// The stamps on these hops.
    pub fn new(hops: impl IntoIterator<Item = StampHop>) -> Self {
        let mut inputs = Table::<CallbackId, Vec<StampedHop>>::new();
        for hop in hops {
            let (stamps, releases) = (SlotTable::default(), Mutex::default());
            let of_callback = inputs.get_or_insert_with(hop.callback, Vec::new);
            of_callback.push(StampedHop { hop, stamps, releases });
        }
        Self(Arc::new(inputs))
    }

    /// The stamp with which the message in `slot` of this source has reached `step`.
    pub fn get(
        &self,
        callback: CallbackId,
        step: StepId,
        source: SourceId,
        slot: usize,
    ) -> Option<CausalStamp> {
        let of = self.hops(callback, source).find(|of| of.hop.to == step)?;
        let [released, started] = of.stamps.get(slot);
        let stamp = CausalStamp {
            released: Time::from_nanos(released.get()),
            started: Time::from_nanos(started.get()),
        };
        (released.get() != UNSTAMPED).then_some(stamp)
    }

    /// From here on, the callback that runs on this thread is these steps.
    pub fn enter(&self, steps: Vec<(StepId, CausalStamp)>) {
        CALL.with_borrow_mut(|call| {
            let outer = call.take().map(Box::new);
            *call = Some(StampedCall { stamps: self.clone(), steps, outer });
        });
    }

    /// The callback that was [entered](Self::enter) last has returned: all its messages are sent.
    /// Returns its steps.
    pub fn leave(&self) -> Vec<(StepId, CausalStamp)> {
        CALL.with_borrow_mut(|call| {
            let StampedCall { steps, outer, .. } = call.take()?;
            *call = outer.map(|outer| *outer);
            Some(steps)
        })
        .unwrap_or_default()
    }

    /// The releases of the stamps that were sent on the counted hops to `step`, one list for each
    /// hop, in nanoseconds.
    pub fn releases_ns(&self, step: StepId) -> Vec<Vec<u64>> {
        self.counted(step).map(|of| lock(&of.releases).clone()).collect()
    }

    /// Takes the [releases](Self::releases_ns) that were counted so far: the next ones begin anew.
    pub fn take_releases_ns(&self, step: StepId) -> Vec<Vec<u64>> {
        self.counted(step).map(|of| std::mem::take(&mut *lock(&of.releases))).collect()
    }

    fn counted(&self, step: StepId) -> impl Iterator<Item = &StampedHop> {
        let hops = self.0.values().flatten();
        hops.filter(move |of| of.hop.to == step && of.hop.is_counted)
    }

    /// Whether a hop leads to this callback.
    pub(crate) fn concern(&self, callback: CallbackId) -> bool {
        self.0.contains(callback)
    }

    /// Stamps a message of `source` that goes to `callback` with the origin of the callback that
    /// runs on this thread.
    pub(crate) fn stamp(
        &self,
        callback: CallbackId,
        source: SourceId,
        slot: usize,
        clock: &NodeClock,
    ) {
        for of in self.hops(callback, source) {
            let stamp = match of.hop.from {
                None => Some(CausalStamp { released: clock.now(), started: Time::ZERO }),
                Some(step) => self.running(step),
            };
            let [released, started] = of.stamps.get(slot);
            released.set(stamp.map_or(UNSTAMPED, |stamp| stamp.released.as_nanos()));
            let Some(stamp) = stamp else { continue };
            started.set(stamp.started.as_nanos());
            if of.hop.is_counted {
                of.count(stamp.released.as_nanos());
            }
        }
    }

    /// The message in slot `copy` takes the place of the one in `slot` on its way.
    pub(crate) fn inherit(&self, callback: CallbackId, source: SourceId, slot: usize, copy: usize) {
        for of in self.hops(callback, source) {
            let (from, to) = (of.stamps.get(slot), of.stamps.get(copy));
            from.iter().zip(to).for_each(|(from, to)| to.set(from.get()));
        }
    }

    fn hops(&self, callback: CallbackId, source: SourceId) -> impl Iterator<Item = &StampedHop> {
        let hops = self.0.get(callback).into_iter().flatten();
        hops.filter(move |of| of.hop.source == source)
    }

    /// The stamp of the callback that runs, if it is this step.
    fn running(&self, step: StepId) -> Option<CausalStamp> {
        CALL.with_borrow(|call| {
            let call = call.as_ref().filter(|call| Arc::ptr_eq(&call.stamps.0, &self.0))?;
            Some(call.steps.iter().find(|(running, _)| *running == step)?.1)
        })
    }
}

impl StampedHop {
    fn count(&self, released_ns: u64) {
        let mut releases = lock(&self.releases);
        if releases.last() != Some(&released_ns) && releases.len() < CausalStamps::RELEASES_MAX {
            releases.push(released_ns);
        }
    }
}
