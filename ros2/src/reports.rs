//! QoS events of publishers and subscriptions in ROS 2: they call the callbacks of the graph, and
//! without a callback an incompatible peer causes a warning.

use crate::noted::note;
use crate::rcl::{Event, Node, PublisherEndpoint, SubscriptionEndpoint};
use ringspin_executor::observed::RemoteChannel;
use ringspin_executor::{
    AnnouncedService, BoxError, Error, Incompatibility, IncompatiblePeer, MiddlewareService, QoS,
    QosPolicy, RemoteEvent, RemoteEventKind, RemoteEvents, RemoteNotifier, RemoteStatus,
};
use ringspin_messages::std_msgs::msg::Empty;
use ringspin_messages::{cdr, complaints_channel};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of rmw for a node that it does not know.
const UNKNOWN_NODE: &str = "_NODE_NAME_UNKNOWN_";

/// A publisher or subscription that is watched.
pub(crate) enum WatchedEndpoint {
    Publisher(PublisherEndpoint),
    Subscription(SubscriptionEndpoint),
}

impl WatchedEndpoint {
    fn topic(&self) -> &str {
        match self {
            Self::Publisher(publisher) => publisher.topic(),
            Self::Subscription(subscription) => subscription.topic(),
        }
    }

    fn event(&self, kind: RemoteEventKind) -> Result<Option<Event>, Error> {
        match self {
            Self::Publisher(publisher) => publisher.event(kind),
            Self::Subscription(subscription) => subscription.event(kind).map(Some),
        }
    }

    /// The incompatible policies of this endpoint, which has `qos`, and a peer, which has `other`.
    fn misfit(&self, qos: &QoS, other: &QoS) -> Option<Incompatibility> {
        match self {
            Self::Publisher(_) => qos.incompatibility(other),
            Self::Subscription(_) => other.incompatibility(qos),
        }
    }
}

/// One publisher or subscription of the graph, with its node.
pub(crate) struct Watched {
    pub(crate) node: Node,
    pub(crate) end: WatchedEndpoint,
    pub(crate) qos: QoS,
}

impl Watched {
    fn watch(
        self: &Arc<Self>,
        kind: RemoteEventKind,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Watch>, Error> {
        let Some(event) = self.end.event(kind)? else {
            return Ok(None);
        };
        event.on_event(move |count| remote_notifier.announce(count))?;
        Ok(Some(Watch { event, watched: self.clone() }))
    }

    /// The peer that was discovered last among those that are incompatible because of `policy`.
    fn misfit(&self, policy: Option<QosPolicy>) -> Result<Option<IncompatiblePeer>, Error> {
        let peers = match &self.end {
            WatchedEndpoint::Publisher(_) => self.node.subscriptions(self.end.topic())?,
            WatchedEndpoint::Subscription(_) => self.node.publishers(self.end.topic())?,
        };
        let mut misfits = peers.into_iter().rev().filter_map(|peer| {
            let incompatibility = self.end.misfit(&self.qos, &peer.qos)?;
            let (namespace, name) = (peer.node.namespace.trim_end_matches('/'), peer.node.name);
            // rmw discovers an endpoint a moment before it learns the name of its node.
            let node = (name != UNKNOWN_NODE).then(|| format!("{namespace}/{name}"));
            Some(IncompatiblePeer { node, incompatibility })
        });
        let of_policy = |peer: &IncompatiblePeer| Some(peer.incompatibility.policy) == policy;
        Ok(misfits.find(of_policy))
    }

    fn describe(&self) -> String {
        match &self.end {
            WatchedEndpoint::Publisher(publisher) => format!("{publisher:?}"),
            WatchedEndpoint::Subscription(subscription) => format!("{subscription:?}"),
        }
    }
}

/// One kind of event of one publisher or subscription.
struct Watch {
    event: Event,
    watched: Arc<Watched>,
}

impl RemoteEvent for Watch {
    fn take(&mut self) -> Result<Option<RemoteStatus>, BoxError> {
        let mut status = self.event.take()?;
        if let Some(RemoteStatus::IncompatibleQos { last_policy, last_peer, .. }) = &mut status {
            *last_peer = self.watched.misfit(*last_policy)?;
        }
        Ok(status)
    }
}

/// The events of one publisher or subscription. Without a callback for incompatible peers the node
/// logs a warning about them.
pub(crate) struct Reporter {
    watched: Arc<Watched>,
    includes_locals: bool,
    complaints: Arc<Complaints>,
    number: u64,
}

impl Reporter {
    pub(crate) fn new(
        watched: Arc<Watched>,
        includes_locals: bool,
        complaints: &Arc<Complaints>,
    ) -> Result<Self, Error> {
        let number = complaints.add(&watched)?;
        Ok(Self { watched, includes_locals, complaints: complaints.clone(), number })
    }
}

impl Drop for Reporter {
    /// The watch keeps its endpoint alive.
    fn drop(&mut self) {
        self.complaints.withdraw(self.number);
    }
}

impl RemoteEvents for Reporter {
    fn includes_locals(&self) -> bool {
        self.includes_locals
    }

    fn watch(
        &self,
        kind: RemoteEventKind,
        remote_notifier: RemoteNotifier,
    ) -> Result<Option<Box<dyn RemoteEvent>>, BoxError> {
        if kind == RemoteEventKind::IncompatibleQos {
            // Each kind of event has one callback, and this one replaces the warnings.
            self.complaints.withdraw(self.number);
        }
        let watch = self.watched.watch(kind, remote_notifier)?;
        Ok(watch.map(|watch| -> Box<dyn RemoteEvent> { Box::new(watch) }))
    }
}

/// The ends of a node that no callback watches for peers that do not fit: each such peer is warned
/// of, once, on the node's event loop.
pub(crate) struct Complaints {
    remote_notifier: RemoteNotifier,
    watches: Mutex<Watches>,
    /// The warnings in a flight record.
    channel: Arc<RemoteChannel>,
}

#[derive(Default)]
struct Watches {
    /// The number of ends so far.
    ends: u64,
    /// By the number of the publisher or subscription.
    watched: BTreeMap<u64, Watch>,
}

impl Complaints {
    pub(crate) fn new(node: &str) -> Self {
        let channel = Arc::new(complaints_channel(node));
        Self { remote_notifier: RemoteNotifier::default(), watches: Mutex::default(), channel }
    }

    fn add(&self, watched: &Arc<Watched>) -> Result<u64, Error> {
        let watch =
            watched.watch(RemoteEventKind::IncompatibleQos, self.remote_notifier.clone())?;
        let mut watches = self.lock();
        let number = watches.ends;
        watches.ends += 1;
        watches.watched.extend(watch.map(|watch| (number, watch)));
        Ok(number)
    }

    fn withdraw(&self, number: u64) {
        let withdrawn = self.lock().watched.remove(&number);
        drop(withdrawn); // without the lock
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The service of the node that logs the warnings.
    pub(crate) fn middleware_service(self: &Arc<Self>) -> AnnouncedService {
        let complain = Complain { complaints: self.clone(), next: None };
        (Box::new(complain), self.remote_notifier.clone())
    }
}

struct Complain {
    complaints: Arc<Complaints>,
    /// The endpoint of the next warning, and its status.
    next: Option<(String, RemoteStatus)>,
}

impl MiddlewareService for Complain {
    fn name(&self) -> String {
        "complaints about incompatible QoS".into()
    }

    fn take(&mut self) -> Result<bool, BoxError> {
        for watch in self.complaints.lock().watched.values_mut() {
            if let Some(status) = watch.take()? {
                self.next = Some((watch.watched.describe(), status));
                note(&self.complaints.channel, 0, &cdr::to_bytes(&Empty::default())?);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn run(&mut self) -> Result<(), BoxError> {
        let Some((end, RemoteStatus::IncompatibleQos { last_policy, last_peer, .. })) =
            self.next.take()
        else {
            return Ok(());
        };
        let policy = last_policy.map_or_else(|| "?".into(), |policy| policy.to_string());
        match last_peer {
            Some(peer) => tracing::warn!(
                "{end} and {peer}: incompatible QoS, so no message goes between them"
            ),
            None => tracing::warn!(
                "{end} and a peer have incompatible QoS ({policy}), so no message goes between \
                 them"
            ),
        }
        Ok(())
    }
}
