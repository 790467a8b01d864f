//! Links of the simulated network, for messages that do not arrive as they are published. A port
//! gets a link when it is connected in simulated time and messages to it may be delayed, lost,
//! doubled or intercepted. The publisher hands the message to the link, the network decides about
//! it, and the sequencer delivers it at its time.

use super::{Aside, Connections, Port, Stage, Topic, lock};
use crate::base::escape::drop_each;
use crate::base::owner_thread::ForeignEvent;
use crate::base::time::{Clock, Time};
use crate::delivery::causal_stamps::CausalStamps;
use crate::delivery::message::{Envelope, Message};
use crate::delivery::sim_network::{DeliveryOutcome, InFlight, SimNetwork};
use ringspin_ringbuf::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{iter, mem};

/// An [interceptor](crate::Graph::intercept)'s decision about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<M> {
    /// It is delivered unchanged.
    Pass,
    /// It does not arrive.
    Drop,
    /// Another message is delivered, with the identity of the first.
    Replace(M),
    /// It is delivered this much later.
    Delay(Duration),
}

pub(crate) type Interceptor<M> = Box<dyn FnMut(&Message<M>, &InFlight) -> Verdict<M> + Send>;

/// The interceptor of a topic; it is taken out while it runs, so that it may publish itself.
pub(super) struct Interception<M>(pub(super) Mutex<Option<Interceptor<M>>>);

impl<M> Default for Interception<M> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<M> Drop for Interception<M> {
    fn drop(&mut self) {
        drop_each(lock(&self.0).take());
    }
}

/// The link to one port through the simulated network.
pub(super) struct SimulatedLink<M> {
    sim_network: Arc<SimNetwork>,
    interception: Arc<Interception<M>>,
    pool: Pool<Envelope<M>>,
    stamps: Option<CausalStamps>,
    /// The port at which they arrive.
    to: Arc<Port<M>>,
}

impl<M: Send + Sync + 'static> SimulatedLink<M> {
    /// The link to `to`, if messages need one.
    pub(super) fn of(topic: &Topic<M>, connections: Connections<'_>, to: &Port<M>) -> Option<Self> {
        let sim_network = connections.sim_network?;
        let intercepted = lock(&topic.interception.0).is_some();
        if !intercepted && !sim_network.is_concerned(to.subscription.callback) {
            return None;
        }
        let Port { subscription, ready, .. } = to;
        let times = subscription.times.clone().map(|times| (times, Stage::Arrived));
        let aside = Aside { times, stamps: None, link: None, detached: None }.if_needed();
        let to = Port { subscription: subscription.clone(), ready: ready.clone(), aside };
        let (interception, pool) = (topic.interception.clone(), topic.pool.clone());
        let stamps = connections.stamps.cloned();
        Some(Self {
            sim_network: sim_network.clone(),
            interception,
            pool,
            stamps,
            to: Arc::new(to),
        })
    }

    pub(super) fn send(&self, message: Message<M>) {
        let subscription = &self.to.subscription;
        let place = UndeliveredGuard(iter::once(&*self.to));
        let outcome = self.sim_network.outcome(message.id(), subscription.callback, size_of::<M>());
        let intercepted = self.intercept(message);
        mem::forget(place); // the interceptor has not panicked
        let Some((message, delay)) = intercepted else {
            return subscription.lose();
        };
        match outcome {
            DeliveryOutcome::Lost => {
                self.note_thread();
                subscription.lose();
            }
            DeliveryOutcome::Once(time) => self.fly(time + delay, message),
            DeliveryOutcome::Held => {
                let (to, id) = (self.to.clone(), message.id());
                let arrive = move || drop(to.push(message));
                self.sim_network.wait(subscription.callback, id, arrive);
            }
            DeliveryOutcome::Twice(time, again) => {
                self.fly(time + delay, message.clone());
                // The second one needs another place.
                if subscription.reserve() {
                    self.fly(again + delay, message);
                } else {
                    subscription.counters.lose(1);
                }
            }
        }
    }

    fn fly(&self, arrival: Time, message: Message<M>) {
        if arrival > self.sim_network.clock().now() {
            self.note_thread(); // on its arrival it will be the sequencer's
        }
        let to = self.to.clone();
        self.sim_network.fly(arrival, move || drop(to.push(message)));
    }

    fn note_thread(&self) {
        self.sim_network.owner().note(|| ForeignEvent::For(self.to.subscription.callback));
    }

    /// Returns the message to send and its delay; `None` if it is dropped.
    fn intercept(&self, message: Message<M>) -> Option<(Message<M>, Duration)> {
        let interceptor = lock(&self.interception.0).take();
        match interceptor {
            Some(interceptor) => self.intercept_by(interceptor, message),
            None => Some((message, Duration::ZERO)),
        }
    }

    /// Apart from [`intercept`](Self::intercept), because a verdict may be as large as a message.
    fn intercept_by(
        &self,
        mut interceptor: Interceptor<M>,
        message: Message<M>,
    ) -> Option<(Message<M>, Duration)> {
        let in_flight = InFlight {
            event: message.id(),
            callback: self.to.subscription.callback,
            departure: self.sim_network.departure_of(message.id().source),
            bytes: size_of::<M>(),
        };
        let judged = catch_unwind(AssertUnwindSafe(|| interceptor(&message, &in_flight)));
        *lock(&self.interception.0) = Some(interceptor);
        let verdict = judged.unwrap_or_else(|panic| resume_unwind(panic));
        match verdict {
            Verdict::Pass => Some((message, Duration::ZERO)),
            Verdict::Drop => None,
            Verdict::Replace(other) => {
                let (id, expiry) = (message.id(), message.0.expiry);
                let other = Envelope { id, expiry, message: other };
                let subscription = &self.to.subscription;
                if subscription.times.is_none() && self.stamps.is_none() {
                    drop(message); // perhaps the last reference: its slot is free then
                    return Some((Message::new(self.pool.insert(other)), Duration::ZERO));
                }
                let other = Message::new(self.pool.insert(other));
                if let Some(times) = &subscription.times {
                    times.inherit(message.slot(), other.slot());
                }
                if let Some(stamps) = &self.stamps {
                    stamps.inherit(subscription.callback, id.source, message.slot(), other.slot());
                }
                Some((other, Duration::ZERO))
            }
            Verdict::Delay(delay) => Some((message, delay)),
        }
    }
}

impl<M> Topic<M> {
    /// Sets the `interceptor` of the topic's messages; false if it has one already.
    pub(crate) fn intercept(&self, interceptor: Interceptor<M>) -> bool {
        let mut interception = lock(&self.interception.0);
        let is_free = interception.is_none();
        if is_free {
            *interception = Some(interceptor);
        }
        is_free
    }
}

/// The ports that a message has still to reach, each with a place reserved for it. If an
/// interceptor panics for one of them, the remaining ones count the message as lost, so that their
/// places are released.
pub(super) struct UndeliveredGuard<'a, M: 'a, I: Iterator<Item = &'a Port<M>>>(pub(super) I);

impl<'a, M: 'a, I: Iterator<Item = &'a Port<M>>> Drop for UndeliveredGuard<'a, M, I> {
    #[inline]
    fn drop(&mut self) {
        self.0.by_ref().for_each(|port| port.subscription.lose());
    }
}
