//! The policies that only some publishers have: a check of messages, transient-local durability,
//! lifespan, liveliness, digests, other processes. They stand behind one pointer that an ordinary
//! publisher leaves empty, so its messages pay one branch.

use super::transient_local_cache::TransientLocalCache;
use super::{PublishError, ReturnedMessage, Topic, deliver};
use crate::base::digest::DigestCollector;
use crate::base::escape::BoxError;
use crate::base::event::{EventId, SourceId};
use crate::base::qos::{Liveliness, QoS};
use crate::base::time::{Clock, NodeClock};
use crate::delivery::liveliness::PublisherLiveliness;
use crate::delivery::message::{Envelope, Expiry};
use crate::delivery::remote::RemotePublisher;
use ringspin_ringbuf::pool;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// Checks a message, which has the type that the check was registered for, before it is published.
/// Its error names the violation.
pub type MessageCheck = fn(&dyn Any) -> Result<(), BoxError>;

/// The policies of one publisher, of which there is at least one.
pub(crate) struct PublisherPolicy<M> {
    check: Option<MessageCheck>,
    /// Whether there is no policy but the check.
    only_checks: bool,
    clock: NodeClock,
    lifespan: Option<Duration>,
    /// With a deadline, or manual liveliness.
    liveliness: Option<Arc<PublisherLiveliness>>,
    /// Present if the publisher is transient-local.
    cache: Option<Arc<TransientLocalCache<M>>>,
    show: Option<Show<M>>,
    /// Present if messages leave the process.
    remote: Option<Arc<dyn RemotePublisher>>,
}

/// The function that adds messages to the digests.
type Show<M> = (fn(&M, &DigestCollector), Arc<DigestCollector>);

impl<M> Clone for PublisherPolicy<M> {
    fn clone(&self) -> Self {
        let Self { check, only_checks, clock, lifespan, liveliness, cache, show, remote } = self;
        Self {
            check: *check,
            only_checks: *only_checks,
            clock: clock.clone(),
            lifespan: *lifespan,
            liveliness: liveliness.clone(),
            cache: cache.clone(),
            show: show.clone(),
            remote: remote.clone(),
        }
    }
}

impl<M> Default for PublisherPolicy<M> {
    fn default() -> Self {
        let (clock, lifespan) = (NodeClock::default(), None);
        let (check, only_checks) = (None, false);
        let (liveliness, cache, show, remote) = (None, None, None, None);
        Self { check, only_checks, clock, lifespan, liveliness, cache, show, remote }
    }
}

impl<M: Send + Sync + 'static> PublisherPolicy<M> {
    /// Creates the policy that `qos` requests for a publisher of `topic`; `None` for an ordinary
    /// one.
    pub(crate) fn new(
        (topic, source): (&Topic<M>, SourceId),
        (qos, check): (QoS, Option<MessageCheck>),
        clock: NodeClock,
        liveliness: &Arc<PublisherLiveliness>,
        remote: Option<Arc<dyn RemotePublisher>>,
    ) -> Option<Self> {
        let manual = qos.liveliness() == Liveliness::ManualByTopic;
        let liveliness = (manual || qos.deadline_period().is_some()).then(|| liveliness.clone());
        let lifespan = qos.lifespan_age();
        let cache = qos
            .is_transient_local()
            .then(|| Arc::new(TransientLocalCache::new(qos.depth(), lifespan)));
        let only_checks =
            liveliness.is_none() && lifespan.is_none() && cache.is_none() && remote.is_none();
        if only_checks && check.is_none() {
            return None;
        }
        if let Some(cache) = &cache {
            topic.add_cache(source, cache.clone());
        }
        let show = None;
        Some(Self { check, only_checks, clock, lifespan, liveliness, cache, show, remote })
    }

    /// The same policies, with each message added to `digests`.
    pub(super) fn showing(
        mut self,
        show: fn(&M, &DigestCollector),
        digests: Arc<DigestCollector>,
    ) -> Self {
        self.show = Some((show, digests));
        self.only_checks = false;
        self
    }

    /// Checks a message; then returns the policy, if there is more of it.
    #[inline]
    pub(super) fn checked(&self, message: &M) -> Result<Option<&Self>, BoxError> {
        if let Some(check) = self.check {
            check(message)?;
        }
        Ok((!self.only_checks).then_some(self))
    }

    /// The publisher outside of the process.
    pub(super) fn remote(&self) -> Option<&dyn RemotePublisher> {
        self.remote.as_deref()
    }

    /// Hands `envelope` to every subscription of `topic`, or, on a refusal, to none, and hands it
    /// back.
    #[inline(never)]
    pub(super) fn publish(
        &self,
        topic: &Arc<Topic<M>>,
        next_id: impl FnOnce() -> EventId,
        mut envelope: pool::Loan<Envelope<M>>,
    ) -> Result<(), PublishError<M>> {
        if let Some((show, digests)) = &self.show {
            show(&envelope.message, digests);
        }
        let departure = self.clock.departure();
        envelope.expiry = Expiry::of(departure, self.lifespan);
        let published = match &self.cache {
            Some(cache) => {
                let beyond =
                    self.remote.is_some().then_some(|message: &M| self.publish_remotely(message));
                cache.publish(topic, next_id, envelope, departure, beyond)
            }
            None => self.publish_once(topic, next_id, envelope),
        };
        // The subscriptions in the process have it even if sending to other processes failed.
        if let Some(liveliness) = &self.liveliness
            && matches!(published, Ok(()) | Err(PublishError::Remote { message: None, .. }))
        {
            liveliness.published(departure);
        }
        published
    }

    /// Publishes like [`publish`](Self::publish), without keeping the message.
    fn publish_once(
        &self,
        topic: &Arc<Topic<M>>,
        next_id: impl FnOnce() -> EventId,
        mut envelope: pool::Loan<Envelope<M>>,
    ) -> Result<(), PublishError<M>> {
        let ports = match topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(refusal.of(topic, envelope)),
        };
        envelope.id = next_id();
        let Some((last, others)) = ports.split_last() else {
            topic.note_unheard(envelope.id);
            let published = self.publish_remotely(&envelope.message);
            let message = || Some(ReturnedMessage::in_slot(topic, envelope));
            return published.map_err(|reason| PublishError::Remote { message: message(), reason });
        };
        let shared = envelope.share();
        let beyond = self.remote.is_some().then(|| shared.clone());
        deliver(shared, last, others);
        // Last, because it takes a hundred times as long.
        let published = beyond.map_or(Ok(()), |of| self.publish_remotely(&of.message));
        published.map_err(|reason| PublishError::Remote { message: None, reason })
    }

    fn publish_remotely(&self, message: &M) -> Result<(), BoxError> {
        self.remote.as_ref().map_or(Ok(()), |remote| remote.publish(message))
    }

    pub(super) fn assert_liveliness(&self) {
        if let Some(remote) = &self.remote
            && let Err(error) = remote.assert_liveliness()
        {
            tracing::error!(
                %error,
                "failed to assert the liveliness of a publisher to other processes"
            );
        }
        if let Some(liveliness) = &self.liveliness {
            liveliness.asserted(self.clock.departure());
        }
    }
}
