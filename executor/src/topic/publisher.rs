//! The publishing end of a topic.

use super::offer::{Content, Offer, Owned, Unpublished};
use super::{Topic, deliver};
use crate::event::{EventId, SourceId};
use crate::event_loop::BoxError;
use crate::evidence::Evidence;
use crate::lock::lock;
use crate::message::{Envelope, Expiry};
use ringspin_ringbuf::{Counter, pool};
use std::fmt;
use std::sync::Arc;

/// Publishes messages of type `M` on a topic; from any thread, and cheap to clone.
///
/// One thread's messages never overtake each other. Clones are the same publisher: they share its
/// sequence numbers.
pub struct Publisher<M> {
    topic: Arc<Topic<M>>,
    source: SourceId,
    sequence: Arc<Counter>,
    /// `None` for the ordinary publisher, which promises nothing beyond delivery.
    offer: Option<Arc<Offer<M>>>,
}

impl<M> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        let Self { topic, source, sequence, offer } = self;
        Self {
            topic: topic.clone(),
            source: *source,
            sequence: sequence.clone(),
            offer: offer.clone(),
        }
    }
}

impl<M> fmt::Debug for Publisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("topic", &self.topic.name).finish_non_exhaustive()
    }
}

impl<M: Send + Sync + 'static> Publisher<M> {
    pub(crate) fn new(
        topic: Arc<Topic<M>>,
        source: SourceId,
        offer: Option<Arc<Offer<M>>>,
    ) -> Self {
        let sequence = Arc::<Counter>::default();
        lock(&topic.sequences).push(sequence.clone());
        Self { topic, source, sequence, offer }
    }

    /// Hands `message` to every subscription of the topic: to all of them, or, on an error, to
    /// none.
    ///
    /// The message is moved once and then shared. Lock-free up to the callback: a thread that is
    /// suspended in here delays only its own message. Without allocation and without a lock unless
    /// callbacks keep so many messages that the topic's pool has to grow. Time is proportional to
    /// the number of subscriptions. A keep-last subscription that is full gives up its oldest
    /// message, which is counted.
    ///
    /// With a lifespan, deadline or manual liveliness it also reads the clock. A deadline and
    /// manual liveliness take a lock for a moment, which the watchers of these take, too; a
    /// publisher that is transient-local holds a lock of its own meanwhile, so that late joiners
    /// miss nothing.
    ///
    /// # Errors
    /// [`PublishError`] hands the message back when the graph is not frozen yet (unless the
    /// publisher is transient-local and keeps it), a keep-all subscription is full, or a middleware
    /// does not take it.
    #[inline]
    pub fn publish(&self, message: M) -> Result<(), PublishError<M>> {
        if let Some(offer) = &self.offer {
            return self.publish_as_offered(offer, Owned::new(&mut None, message));
        }
        self.publish_after(message, || ())
    }

    /// As [`publish`](Self::publish), for an ordinary publisher, with `prepare` called once it is
    /// certain that all take the message, and before any of them has it.
    #[inline]
    pub(crate) fn publish_after(
        &self,
        message: M,
        prepare: impl FnOnce(),
    ) -> Result<(), PublishError<M>> {
        debug_assert!(self.offer.is_none(), "internal topics promise nothing more");
        let ports = match self.topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(message)),
        };
        prepare();
        let id = self.next_id();
        if let Some((last, others)) = ports.split_last() {
            deliver(self.topic.pool.insert(Envelope::lasting(id, message)), last, others);
        }
        Ok(())
    }

    /// Lends a message of the topic's pool, to be filled in place and [published](Loan::publish).
    ///
    /// It holds what an earlier loaned message was left with, or else the default: overwrite all
    /// that matters. Buffers in it keep their capacity, so in the steady state even messages with a
    /// `Vec` or `String` allocate nothing.
    ///
    /// ```
    /// # use ringspin_executor::{Graph, QoS};
    /// # let graph = Graph::new();
    /// # let node = graph.create_node("camera", ())?;
    /// let out = node.create_publisher::<Vec<u8>>("image", QoS::sensor_data())?;
    /// let mut image = out.loan();
    /// image.clear();
    /// image.extend([1, 2, 3]);
    /// # let _ =
    /// image.publish();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn loan(&self) -> Loan<'_, M>
    where
        M: Default,
    {
        let empty = || Envelope::lasting(EventId::default(), M::default());
        Loan { publisher: self, envelope: self.topic.pool.loan(empty) }
    }

    #[inline(never)]
    fn publish_as_offered<C>(&self, offer: &Offer<M>, content: C) -> Result<(), PublishError<M>>
    where
        C: Content<M>,
    {
        let published = offer.publish(&self.topic, || self.next_id(), content);
        published.map_err(|unpublished| match unpublished {
            Unpublished::Refused(refusal, content) => refusal.of(content.into_message()),
            Unpublished::Remote(reason, content) => {
                let message = content.map(|content| Box::new(content.into_message()));
                PublishError::Remote { message, reason }
            }
        })
    }

    /// Says that this publisher is alive, as publishing does; see
    /// [`Liveliness::ManualByTopic`](crate::Liveliness::ManualByTopic). With automatic liveliness,
    /// nothing.
    pub fn assert_liveliness(&self) {
        if let Some(offer) = &self.offer {
            offer.assert_liveliness();
        }
    }

    /// The same publisher, which shows its messages.
    pub(crate) fn showing(mut self, show: fn(&M, &Evidence)) -> Self {
        self.topic.evidence.digest_publisher(self.source);
        let offer = self.offer.as_deref().cloned().unwrap_or_default();
        self.offer = Some(Arc::new(offer.showing(show, self.topic.evidence.clone())));
        self
    }

    fn next_id(&self) -> EventId {
        EventId { source: self.source, sequence: self.sequence.next() }
    }

    /// The topic's fully qualified name.
    pub fn topic(&self) -> &str {
        &self.topic.name
    }
}

/// A message on loan from its publisher: filled in place, then published, or dropped unpublished.
pub struct Loan<'a, M> {
    publisher: &'a Publisher<M>,
    envelope: pool::Loan<Envelope<M>>,
}

impl<M: Send + Sync + Default + 'static> Loan<'_, M> {
    /// As [`Publisher::publish`], without moving the message.
    ///
    /// # Errors
    /// As [`Publisher::publish`]; the message is handed back.
    #[inline]
    pub fn publish(mut self) -> Result<(), PublishError<M>> {
        if let Some(offer) = &self.publisher.offer {
            return self.publisher.publish_as_offered(offer, self.envelope);
        }
        let topic = &*self.publisher.topic;
        let ports = match topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(std::mem::take(&mut *self))),
        };
        self.envelope.id = self.publisher.next_id();
        self.envelope.expiry = Expiry::NEVER;
        if let Some((last, others)) = ports.split_last() {
            deliver(self.envelope.share(), last, others);
        }
        Ok(())
    }
}

impl<M> std::ops::Deref for Loan<'_, M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.envelope.message
    }
}

impl<M> std::ops::DerefMut for Loan<'_, M> {
    #[inline]
    fn deref_mut(&mut self) -> &mut M {
        &mut self.envelope.message
    }
}

impl<M: fmt::Debug> fmt::Debug for Loan<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Why a message was not published; it is handed back, boxed so that the good result stays small.
pub enum PublishError<M> {
    /// The graph is still being built: publish from callbacks, after `freeze`, or with
    /// transient-local durability.
    NotFrozen(Box<M>),
    /// A keep-all subscription holds as many messages as its limit.
    Full(Box<M>),
    /// The middleware did not take it.
    Remote {
        /// The message, unless the subscriptions in this process have it.
        message: Option<Box<M>>,
        /// What the middleware says.
        reason: BoxError,
    },
}

impl<M> PublishError<M> {
    /// The message, if nobody has it.
    pub fn into_message(self) -> Option<M> {
        match self {
            Self::NotFrozen(message) | Self::Full(message) => Some(*message),
            Self::Remote { message, .. } => message.map(|message| *message),
        }
    }
}

impl<M> fmt::Debug for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFrozen(_) => "NotFrozen(..)",
            Self::Full(_) => "Full(..)",
            Self::Remote { reason, .. } => return write!(f, "Remote({reason:?})"),
        })
    }
}

impl<M> fmt::Display for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFrozen(_) => {
                "the graph is still being built: publish from a callback, freeze the graph first, \
                 or make the publisher transient-local"
            }
            Self::Full(_) => {
                "a keep-all subscription is full: raise its limit or publish more slowly"
            }
            Self::Remote { reason, .. } => {
                return write!(f, "the message did not leave the process: {reason}");
            }
        })
    }
}

impl<M> std::error::Error for PublishError<M> {}
