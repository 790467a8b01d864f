//! The way of a message that does not arrive as it is published: through the graph's transit.

use super::{Aside, BY_VALUE_MAX, Port, Stage, Topic, lock};
use crate::graph::{CreateError, Graph};
use crate::message::{Envelope, Message};
use crate::name;
use crate::time::{Clock, Time};
use crate::transit::{Fate, Passage, Transit};
use crate::worker_thread::ForeignEvent;
use ringspin_ringbuf::Pool;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{iter, mem};

/// What an [interceptor](crate::Graph::intercept) has become of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<M> {
    /// It goes its way.
    Pass,
    /// It does not arrive.
    Drop,
    /// Another one goes its way, with the identity of the first.
    Replace(M),
    /// It goes its way this much later.
    Delay(Duration),
}

pub(crate) type Interceptor<M> = Box<dyn FnMut(&Message<M>, &Passage) -> Verdict<M> + Send>;

/// The interceptor of a topic; it is taken out while it runs, so that it may publish itself.
pub(super) type Interception<M> = Arc<Mutex<Option<Interceptor<M>>>>;

/// The way of messages to one port through the transit.
pub(super) struct Detour<M> {
    transit: Arc<Transit>,
    interception: Interception<M>,
    pool: Pool<Envelope<M>>,
    /// Where they arrive.
    to: Arc<Port<M>>,
}

impl<M: Send + Sync + 'static> Detour<M> {
    /// The detour of messages to `to` if they have to make one.
    pub(super) fn of(
        topic: &Topic<M>,
        transit: Option<&Arc<Transit>>,
        to: &Port<M>,
    ) -> Option<Self> {
        let transit = transit?;
        let intercepted = lock(&topic.interception).is_some();
        if !intercepted && !transit.is_concerned(to.subscription.callback) {
            return None;
        }
        let Port { subscription, ready, .. } = to;
        let aside = Aside::new(subscription, Stage::Arrived, None);
        let to = Port { subscription: subscription.clone(), ready: ready.clone(), aside };
        let (interception, pool) = (topic.interception.clone(), topic.pool.clone());
        Some(Self { transit: transit.clone(), interception, pool, to: Arc::new(to) })
    }

    /// Sends `message` on its way.
    pub(super) fn send(&self, message: Message<M>) {
        let subscription = &self.to.subscription;
        let place = Ahead(iter::once(&*self.to));
        let fate = self.transit.fate(message.id(), subscription.callback, size_of::<M>());
        let intercepted = self.intercept(message);
        mem::forget(place); // nobody has panicked
        let Some((message, delay)) = intercepted else {
            return subscription.lose();
        };
        match fate {
            Fate::Lost => {
                self.note_thread();
                subscription.lose();
            }
            Fate::Once(time) => self.fly(time + delay, message),
            Fate::Twice(time, again) => {
                self.fly(time + delay, message.clone());
                // The second one needs a place of its own.
                if subscription.reserve() {
                    self.fly(again + delay, message);
                } else {
                    subscription.counters.lose(1);
                }
            }
        }
    }

    fn fly(&self, arrival: Time, message: Message<M>) {
        if arrival > self.transit.clock().now() {
            self.note_thread(); // on its arrival it will be the sequencer's
        }
        let to = self.to.clone();
        self.transit.fly(arrival, move || drop(to.push(message)));
    }

    fn note_thread(&self) {
        self.transit.owner().note(|| ForeignEvent::For(self.to.subscription.callback));
    }

    /// What goes on its way, and how much later; `None` if nothing does.
    fn intercept(&self, message: Message<M>) -> Option<(Message<M>, Duration)> {
        let interceptor = lock(&self.interception).take();
        match interceptor {
            Some(interceptor) => self.intercept_by(interceptor, message),
            None => Some((message, Duration::ZERO)),
        }
    }

    /// Apart from [`intercept`](Self::intercept), because a verdict may be as large as a message.
    fn intercept_by(
        &self,
        interceptor: Interceptor<M>,
        message: Message<M>,
    ) -> Option<(Message<M>, Duration)> {
        let mut interceptor =
            PutBack { interception: &self.interception, taken: Some(interceptor) };
        let passage = Passage {
            event: message.id(),
            callback: self.to.subscription.callback,
            departure: self.transit.departure_of(message.id().source),
            bytes: size_of::<M>(),
        };
        let verdict = interceptor.judge(&message, &passage);
        drop(interceptor);
        match verdict {
            Verdict::Pass => Some((message, Duration::ZERO)),
            Verdict::Drop => None,
            Verdict::Replace(other) => {
                let (id, expiry) = (message.id(), message.0.expiry);
                let other = Envelope { id, expiry, message: other };
                let Some(times) = &self.to.subscription.times else {
                    drop(message); // perhaps the last reference: its slot is free then
                    return Some((Message::new(self.pool.insert(other)), Duration::ZERO));
                };
                let other = Message::new(self.pool.insert(other));
                times.inherit(&message.0, &other.0);
                Some((other, Duration::ZERO))
            }
            Verdict::Delay(delay) => Some((message, delay)),
        }
    }
}

/// The ports that a message has still to reach, each of which has a place for it. If an interceptor
/// panics on its way to one of them, those that are left lose it, or their places would stay taken.
pub(super) struct Ahead<'a, M: 'a, I: Iterator<Item = &'a Port<M>>>(pub(super) I);

impl<'a, M: 'a, I: Iterator<Item = &'a Port<M>>> Drop for Ahead<'a, M, I> {
    #[inline]
    fn drop(&mut self) {
        self.0.by_ref().for_each(|port| port.subscription.lose());
    }
}

/// Puts an interceptor back where it was, even if it panics.
struct PutBack<'a, M> {
    interception: &'a Interception<M>,
    taken: Option<Interceptor<M>>,
}

impl<M> PutBack<'_, M> {
    fn judge(&mut self, message: &Message<M>, passage: &Passage) -> Verdict<M> {
        self.taken.as_mut().map_or(Verdict::Pass, |interceptor| interceptor(message, passage))
    }
}

impl<M> Drop for PutBack<'_, M> {
    fn drop(&mut self) {
        *lock(self.interception) = self.taken.take();
    }
}

impl Graph {
    /// Has `interceptor` look at each message on its way to each subscription of `topic`, and
    /// decide what becomes of it: for tests that lose, change or delay messages in flight. It is
    /// called when the message is published, once for each subscription.
    ///
    /// Only simulated time has messages in flight: a graph with an interceptor cannot be run live.
    ///
    /// # Errors
    /// [`CreateError`] for an invalid name, another message type on the topic, a topic that has an
    /// interceptor, or a frozen graph.
    ///
    /// # Compile-time errors
    /// Messages of more than [`BY_VALUE_MAX`] bytes cannot be intercepted.
    ///
    /// ```
    /// use ringspin_executor::{Graph, Message, Verdict};
    /// # let graph = Graph::new();
    /// // Every third scan is lost.
    /// graph.intercept("scan", |_: &Message<Vec<f32>>, passage| {
    ///     if passage.event.sequence % 3 == 2 { Verdict::Drop } else { Verdict::Pass }
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn intercept<M: Send + Sync + 'static>(
        &self,
        topic: &str,
        interceptor: impl FnMut(&Message<M>, &Passage) -> Verdict<M> + Send + 'static,
    ) -> Result<(), CreateError> {
        const {
            assert!(
                size_of::<M>() <= BY_VALUE_MAX,
                "messages of more than 64 KiB cannot be intercepted: a verdict may replace a \
                 message by value; put the data into a `Vec` or `Box`"
            );
        }
        let by = "an interceptor";
        let name = name::expand_topic(topic, "/", "interceptor")?;
        let mut draft = self.draft();
        if draft.frozen {
            return Err(CreateError::Frozen { node: by.into(), what: format!("of topic {name}") });
        }
        let topic = draft.topic::<M>(&name, by)?;
        let mut interception = lock(&topic.interception);
        if interception.is_some() {
            return Err(CreateError::Intercepted { topic: name });
        }
        *interception = Some(Box::new(interceptor));
        Ok(())
    }
}
