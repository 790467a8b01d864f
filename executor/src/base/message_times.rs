//! Publication and reception times of messages, for the subscriptions that ask for them.
//!
//! They lie in a table of the subscription, at the number of the slot in which the message lies. So
//! other subscriptions pay nothing, and the times of a message stay as long as it is held.

use crate::base::slot_table::SlotTable;
use crate::base::time::{Clock, NodeClock, Time};
use ringspin_ringbuf::Counter;
use std::sync::OnceLock;

/// The times of publication and reception of a message; by the executor's clock, or by that of the
/// middleware that delivered it.
///
/// | | within the process | in simulated time | from ROS 2 |
/// |---|---|---|---|
/// | source | when it was published | when it left its publisher | the sender's |
/// | received | when it was published | when it arrived | the middleware's |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageTimes {
    /// The time of publication.
    pub source_timestamp: Time,
    /// The time of reception, which may be long before the callback is called.
    pub received_timestamp: Time,
}

impl MessageTimes {
    /// The times of a message if the middleware does not know them.
    pub const UNKNOWN: Self = Self { source_timestamp: Time::ZERO, received_timestamp: Time::ZERO };
}

/// The times of the messages of one subscription.
#[derive(Debug, Default)]
pub(crate) struct Times {
    clock: OnceLock<NodeClock>,
    stamps: SlotTable<Stamps>,
}

/// The times of the message in one slot, in nanoseconds. Written before the message is queued, and
/// by its arrival, hence visible to the thread that has taken it.
#[derive(Debug, Default)]
struct Stamps {
    source: Counter,
    received: Counter,
}

/// The point on a message's way at which times become known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is published, and arrives now unless a simulated link delays it.
    Published,
    /// It arrives at the end of its simulated link.
    Arrived,
}

impl Times {
    /// The graph is frozen: times are read from `clock`, and up to `slots` slots are expected.
    pub(crate) fn start(&self, clock: NodeClock, slots: usize) {
        let _ = self.clock.set(clock);
        self.stamps.reserve(slots);
    }

    /// Records that the message in `slot` reaches `stage` now. It was published at `source`, if
    /// that is not now.
    pub(crate) fn note(&self, slot: usize, stage: Stage, source: Option<Time>) {
        let Some(clock) = self.clock.get() else { return };
        let stamps = self.stamps.get(slot);
        match stage {
            Stage::Published => {
                let departure = clock.departure();
                stamps.source.set(source.unwrap_or(departure).as_nanos());
                stamps.received.set(departure.as_nanos());
            }
            Stage::Arrived => stamps.received.set(clock.now().as_nanos()),
        }
    }

    /// Records the times of the message in `slot`, which a middleware brought; zero stands for now.
    pub(crate) fn note_remote(&self, slot: usize, times: MessageTimes) {
        let Some(clock) = self.clock.get() else { return };
        let stamps = self.stamps.get(slot);
        let or_now = |time| if time == Time::ZERO { clock.now() } else { time };
        stamps.source.set(or_now(times.source_timestamp).as_nanos());
        stamps.received.set(or_now(times.received_timestamp).as_nanos());
    }

    /// The message in slot `copy` takes the place of the one in `slot` on its way.
    pub(crate) fn inherit(&self, slot: usize, copy: usize) {
        let source = self.stamps.get(slot).source.get();
        self.stamps.get(copy).source.set(source);
    }

    pub(crate) fn get(&self, slot: usize) -> MessageTimes {
        let stamps = self.stamps.get(slot);
        MessageTimes {
            source_timestamp: Time::from_nanos(stamps.source.get()),
            received_timestamp: Time::from_nanos(stamps.received.get()),
        }
    }
}
