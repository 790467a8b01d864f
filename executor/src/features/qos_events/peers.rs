//! Conditions about the other ends of a topic, in the process and outside: matches, incompatible
//! QoS, and lost messages.
//!
//! Threads that create and destroy ends write the counts of the process; the middleware reports
//! those outside, and its thread announces the reports to the watch. The event loop of the watch
//! compares the sums with those of its last event. So several changes between two looks are one
//! event with the right difference, and a notice too many has no effect; a queue with an event for
//! each change would have to be bounded, and could lose one.

use super::conditions::{Condition, change};
use super::{IncompatibleQos, Matched, MessageLost};
use crate::base::observed;
use crate::base::time::Time;
use crate::delivery::control::CallbackCounters;
use crate::delivery::liveliness::LivelinessRegistry;
use crate::delivery::ready::Notifier;
use crate::delivery::remote::{RemoteStatus, Reports};
use std::sync::Arc;

/// The reports of a middleware, if there is one.
#[derive(Default)]
pub(crate) struct Outside {
    reports: Option<Reports>,
    includes_locals: bool,
    status: Option<RemoteStatus>,
}

impl Outside {
    pub(crate) fn new(reports: Reports, includes_locals: bool) -> Self {
        Self { reports: Some(reports), includes_locals, status: None }
    }

    /// Whether the ends of this process are counted there.
    pub(crate) fn includes_locals(&self) -> bool {
        self.includes_locals
    }

    /// The present counts; `None` as long as nothing has happened.
    pub(crate) fn look(&mut self) -> Option<&RemoteStatus> {
        let newest = self.reports.as_mut().and_then(Reports::newest);
        if newest.is_some() {
            self.status = newest;
        }
        self.status.as_ref()
    }
}

/// The matched peers.
pub(crate) struct Match {
    registry: Arc<LivelinessRegistry>,
    /// Counts the peers in the process: all so far, and the present ones.
    count: fn(&LivelinessRegistry) -> (u64, u64),
    outside: Outside,
    /// The counts of the last event: all peers so far, and the present ones.
    told: (u64, u64),
}

impl Match {
    pub(crate) fn new(
        registry: Arc<LivelinessRegistry>,
        count: fn(&LivelinessRegistry) -> (u64, u64),
        outside: Outside,
    ) -> Self {
        Self { registry, count, outside, told: (0, 0) }
    }
}

impl Condition for Match {
    type Event = Matched;
    const NAME: &'static str = "peers";
    const IS_TIMED: bool = false;

    fn look(&mut self, _: Time) -> (Option<Matched>, Option<Time>) {
        let inside = !self.outside.includes_locals();
        let count = || if inside { (self.count)(&self.registry) } else { (0, 0) };
        let mut counts = (observed::reading(|| count().0), observed::reading(|| count().1));
        if let Some(RemoteStatus::Matched { total, current }) = self.outside.look() {
            counts = (counts.0 + total, counts.1 + current);
        }
        let before = std::mem::replace(&mut self.told, counts);
        let event = Matched {
            total_count: counts.0,
            total_count_change: counts.0.saturating_sub(before.0),
            current_count: counts.1,
            current_count_change: change(before.1, counts.1),
        };
        ((before != counts).then_some(event), None)
    }
}

/// The peers with incompatible QoS. In the process there are none: the graph refuses them.
pub(crate) struct Misfit {
    outside: Outside,
    told: u64,
}

impl Misfit {
    pub(crate) fn new(outside: Outside, _: &Arc<Notifier>) -> Self {
        Self { outside, told: 0 }
    }
}

impl Condition for Misfit {
    type Event = IncompatibleQos;
    const NAME: &'static str = "misfits";
    const IS_TIMED: bool = false;

    fn look(&mut self, _: Time) -> (Option<IncompatibleQos>, Option<Time>) {
        let Some(RemoteStatus::IncompatibleQos { total, last_policy, last_peer }) =
            self.outside.look()
        else {
            return (None, None);
        };
        let before = std::mem::replace(&mut self.told, *total);
        let event = IncompatibleQos {
            total_count: *total,
            total_count_change: total.saturating_sub(before),
            last_policy: *last_policy,
            last_peer: last_peer.clone(),
        };
        ((*total != before).then_some(event), None)
    }
}

/// The messages that were lost.
pub(crate) struct Loss {
    counters: Arc<CallbackCounters>,
    outside: Outside,
    told: u64,
}

impl Loss {
    pub(crate) fn new(counters: Arc<CallbackCounters>, outside: Outside) -> Self {
        Self { counters, outside, told: 0 }
    }
}

impl Condition for Loss {
    type Event = MessageLost;
    const NAME: &'static str = "losses";
    const IS_TIMED: bool = false;

    fn look(&mut self, _: Time) -> (Option<MessageLost>, Option<Time>) {
        let mut total_count = observed::reading(|| self.counters.lost.get());
        if let Some(RemoteStatus::MessageLost { total }) = self.outside.look() {
            total_count += total;
        }
        let before = std::mem::replace(&mut self.told, total_count);
        let total_count_change = total_count.saturating_sub(before);
        let event = MessageLost { total_count, total_count_change };
        ((total_count != before).then_some(event), None)
    }
}
