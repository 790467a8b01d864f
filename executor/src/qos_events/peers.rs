//! Conditions about the other ends of a topic, in the process and outside: matches, incompatible
//! QoS, and lost messages.

use super::conditions::{Condition, change};
use super::{IncompatibleQos, Matched, MessageLost};
use crate::control::CallbackCounters;
use crate::liveliness::LivelinessRegistry;
use crate::remote::{RemoteStatus, Reports};
use crate::time::Time;
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

/// The ends of the process that are the peers.
pub(crate) enum Peers {
    Publishers(Arc<LivelinessRegistry>),
    Subscriptions(Arc<LivelinessRegistry>),
}

impl Peers {
    /// The number of peers so far, and of those that exist.
    fn count(&self) -> (u64, u64) {
        match self {
            Self::Publishers(registry) => registry.advertised(),
            Self::Subscriptions(registry) => registry.subscriptions(),
        }
    }
}

/// The matched peers.
pub(crate) struct Match {
    pub(crate) peers: Peers,
    pub(crate) outside: Outside,
    /// The counts of the last event: all peers so far, and the present ones.
    pub(crate) told: (u64, u64),
}

impl Condition for Match {
    type Event = Matched;
    const IS_TIMED: bool = false;

    fn look(&mut self, _: Time) -> (Option<Matched>, Option<Time>) {
        let local = if self.outside.includes_locals() { (0, 0) } else { self.peers.count() };
        let mut counts = local;
        if let Some(RemoteStatus::Matched { total, current }) = self.outside.look() {
            counts = (local.0 + total, local.1 + current);
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
    pub(crate) outside: Outside,
    pub(crate) told: u64,
}

impl Condition for Misfit {
    type Event = IncompatibleQos;
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
    pub(crate) counters: Arc<CallbackCounters>,
    pub(crate) outside: Outside,
    pub(crate) told: u64,
}

impl Condition for Loss {
    type Event = MessageLost;
    const IS_TIMED: bool = false;

    fn look(&mut self, _: Time) -> (Option<MessageLost>, Option<Time>) {
        let mut total_count = self.counters.lost.get();
        if let Some(RemoteStatus::MessageLost { total }) = self.outside.look() {
            total_count += total;
        }
        let before = std::mem::replace(&mut self.told, total_count);
        let total_count_change = total_count.saturating_sub(before);
        let event = MessageLost { total_count, total_count_change };
        ((total_count != before).then_some(event), None)
    }
}
