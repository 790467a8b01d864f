//! Subscriptions that are declared while the graph is built, and join later.

use super::transient_local_cache::TransientLocalCache;
use super::{Connections, Port, Subscription, SubscriptionReceiver, Topic, lock};
use crate::control::CallbackCounters;
use crate::event::CallbackId;
use crate::qos::QoS;
use crate::remote::{Join, LateRemote};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A declared subscription that gets messages from its [activation](Self::activate) on. Cheap to
/// clone.
#[derive(Clone)]
pub struct LateSubscription {
    topic: Arc<str>,
    late: Arc<dyn Activate>,
}

impl LateSubscription {
    /// Joins the topic: the callback is called for the newest messages that each of its publishers
    /// keeps, then for every later one; none is left out in between, and none comes twice. Further
    /// calls do nothing.
    ///
    /// From any thread; in a callback, the messages are events after it. While the graph is being
    /// built, it becomes a subscription like any other. Takes a lock of each publisher, and time
    /// proportional to the messages that they keep.
    pub fn activate(&self) {
        self.late.activate();
    }

    /// Whether it was activated.
    pub fn is_active(&self) -> bool {
        self.late.is_active()
    }
}

impl fmt::Debug for LateSubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateSubscription")
            .field("topic", &self.topic)
            .field("active", &self.is_active())
            .finish()
    }
}

trait Activate: Send + Sync {
    fn activate(&self);
    fn is_active(&self) -> bool;
}

/// A late subscription, as its topic sees it.
pub(super) struct Late<M>(Mutex<State<M>>);

struct State<M> {
    active: bool,
    /// Whether the middleware delivers messages of this process to it.
    is_local: bool,
    end: End<M>,
}

enum End<M> {
    Declared(Subscription<M>),
    Connected(Arc<Port<M>>),
    /// Only while it is being connected.
    Nowhere,
}

impl<M: Send + Sync + 'static> Late<M> {
    pub(super) fn connect(
        &self,
        topic: &Topic<M>,
        connections: Connections<'_>,
        caches: &[Arc<TransientLocalCache<M>>],
    ) {
        let state = &mut *lock(&self.0);
        let End::Declared(subscription) = std::mem::replace(&mut state.end, End::Nowhere) else {
            unreachable!("a graph is frozen once");
        };
        let port = Arc::new(topic.port(subscription, connections));
        state.end = End::Connected(port.clone());
        if state.active && state.is_local {
            // No message is kept yet, so none is displaced.
            caches.iter().for_each(|cache| drop(cache.join(&port)));
        }
    }
}

struct Handle<M> {
    topic: Arc<Topic<M>>,
    late: Arc<Late<M>>,
    /// Joins the topic beyond the process.
    join: Mutex<Option<Join>>,
    /// Whether the middleware delivers messages of this process to it.
    is_exclusive: bool,
}

impl<M: Send + Sync + 'static> Activate for Handle<M> {
    fn activate(&self) {
        let mut displaced = Vec::new();
        let state = &mut *lock(&self.late.0);
        if std::mem::replace(&mut state.active, true) {
            return;
        }
        let join = lock(&self.join).take();
        let is_carried = join.is_some_and(|join| {
            join().unwrap_or_else(|error| {
                let topic = &*self.topic.name;
                tracing::error!(
                    topic,
                    %error,
                    "failed to subscribe to messages of other processes"
                );
                false
            })
        });
        state.is_local = !(is_carried && self.is_exclusive);
        if let End::Connected(port) = &state.end
            && state.is_local
        {
            let (to, sim_network) = (port.clone(), &port.ready.sim_network);
            let topic = self.topic.clone();
            let join = move || -> Vec<_> {
                topic.caches.get().iter().flat_map(|cache| cache.join(&to)).collect()
            };
            match sim_network {
                // Like messages that a callback publishes: once it has returned.
                Some(sim_network) if sim_network.departs_later() => {
                    sim_network.fly(sim_network.departure(), move || drop(join()));
                }
                _ => displaced.extend(join()),
            }
        }
    }

    fn is_active(&self) -> bool {
        lock(&self.late.0).active
    }
}

impl<M: Send + Sync + 'static> Topic<M> {
    /// Adds a late subscription; returns it and its end of the queue.
    pub(crate) fn subscribe_late(
        self: &Arc<Self>,
        callback: CallbackId,
        qos: QoS,
        counters: Arc<CallbackCounters>,
        remote: Option<LateRemote<M>>,
    ) -> (LateSubscription, SubscriptionReceiver<M>) {
        let (subscription, mut receiver) = self.queue(callback, qos, 0, counters);
        let state = State { active: false, is_local: true, end: End::Declared(subscription) };
        let late = Arc::new(Late(Mutex::new(state)));
        lock(&self.late).push(late.clone());
        let (remote, join) = remote.unzip();
        let is_exclusive = remote.as_ref().is_some_and(|remote| remote.is_exclusive);
        receiver.remote = remote.map(Box::new);
        let topic = self.name.clone();
        let handle = Handle { topic: self.clone(), late, join: Mutex::new(join), is_exclusive };
        (LateSubscription { topic, late: Arc::new(handle) }, receiver)
    }
}
