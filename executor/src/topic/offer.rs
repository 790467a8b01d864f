//! What only some publishers promise: messages kept for late joiners, a lifespan, signs of life.

use super::latch::Latch;
use super::{Refusal, Topic, deliver};
use crate::event::EventId;
use crate::event_loop::BoxError;
use crate::evidence::Evidence;
use crate::message::{Envelope, Expiry};
use crate::middleware::RemotePublisher;
use crate::qos::pulse::Pulse;
use crate::qos::{Liveliness, QoS};
use crate::time::{Clock, NodeClock};
use ringspin_ringbuf::pool;
use std::sync::Arc;
use std::time::Duration;

/// The promises of one publisher, of which there is at least one.
pub(crate) struct Offer<M> {
    clock: NodeClock,
    lifespan: Option<Duration>,
    /// With a deadline, or manual liveliness.
    pulse: Option<Arc<Pulse>>,
    /// If it is transient-local.
    latch: Option<Arc<Latch<M>>>,
    /// The latch's number in its topic.
    pub(crate) latch_number: Option<usize>,
    show: Option<Show<M>>,
    /// If messages go beyond the process.
    remote: Option<Arc<dyn RemotePublisher>>,
}

/// How messages are added to the evidence.
type Show<M> = (fn(&M, &Evidence), Arc<Evidence>);

impl<M> Clone for Offer<M> {
    fn clone(&self) -> Self {
        let Self { clock, lifespan, pulse, latch, latch_number, show, remote } = self;
        Self {
            clock: clock.clone(),
            lifespan: *lifespan,
            pulse: pulse.clone(),
            latch: latch.clone(),
            latch_number: *latch_number,
            show: show.clone(),
            remote: remote.clone(),
        }
    }
}

impl<M> Default for Offer<M> {
    /// Nothing is promised.
    fn default() -> Self {
        let (clock, lifespan) = (NodeClock::default(), None);
        let (pulse, latch, latch_number, show, remote) = (None, None, None, None, None);
        Self { clock, lifespan, pulse, latch, latch_number, show, remote }
    }
}

impl<M: Send + Sync + 'static> Offer<M> {
    /// What `qos` promises for a publisher of `topic`; `None` for an ordinary one.
    pub(crate) fn new(
        topic: &Topic<M>,
        qos: QoS,
        clock: NodeClock,
        pulse: &Arc<Pulse>,
        remote: Option<Arc<dyn RemotePublisher>>,
    ) -> Option<Self> {
        let manual = qos.liveliness() == Liveliness::ManualByTopic;
        let pulse = (manual || qos.deadline_period().is_some()).then(|| pulse.clone());
        let lifespan = qos.lifespan_age();
        let latch = qos.is_transient_local().then(|| Arc::new(Latch::new(qos.depth(), lifespan)));
        if pulse.is_none() && lifespan.is_none() && latch.is_none() && remote.is_none() {
            return None;
        }
        let latch_number = latch.as_ref().map(|latch| topic.latches.push(latch.clone()));
        Some(Self { clock, lifespan, pulse, latch, latch_number, show: None, remote })
    }

    /// The same promises, with each message added to `evidence`.
    pub(super) fn showing(mut self, show: fn(&M, &Evidence), evidence: Arc<Evidence>) -> Self {
        self.show = Some((show, evidence));
        self
    }

    /// Hands `envelope` to every subscription of `topic`, or, on a refusal, to none, and hands it
    /// back.
    pub(super) fn publish(
        &self,
        topic: &Topic<M>,
        next_id: impl FnOnce() -> EventId,
        mut envelope: pool::Loan<Envelope<M>>,
    ) -> Result<(), Unpublished<M>> {
        if let Some((show, evidence)) = &self.show {
            show(&envelope.message, evidence);
        }
        let departure = self.clock.departure();
        envelope.expiry = Expiry::of(departure, self.lifespan);
        let published = match &self.latch {
            Some(latch) if !latch.is_idle() => {
                let beyond =
                    self.remote.is_some().then_some(|message: &M| self.publish_remotely(message));
                latch.publish(topic, next_id, envelope, departure, beyond)
            }
            _ => self.publish_once(topic, next_id, envelope),
        };
        // Those in the process have it even if it did not leave.
        if let Some(pulse) = &self.pulse
            && matches!(published, Ok(()) | Err(Unpublished::Remote(_, None)))
        {
            pulse.published(departure);
        }
        published
    }

    /// As [`publish`](Self::publish), without keeping the message.
    fn publish_once(
        &self,
        topic: &Topic<M>,
        next_id: impl FnOnce() -> EventId,
        mut envelope: pool::Loan<Envelope<M>>,
    ) -> Result<(), Unpublished<M>> {
        let ports = match topic.reserve() {
            Ok(ports) => ports,
            Err(refusal) => return Err(Unpublished::Refused(refusal, envelope)),
        };
        envelope.id = next_id();
        let Some((last, others)) = ports.split_last() else {
            topic.note_unheard(envelope.id);
            let published = self.publish_remotely(&envelope.message);
            return published.map_err(|error| Unpublished::Remote(error, Some(envelope)));
        };
        let shared = envelope.share();
        let beyond = self.remote.is_some().then(|| shared.clone());
        deliver(shared, last, others);
        // Last, because it takes a hundred times as long.
        match beyond {
            None => Ok(()),
            Some(message) => {
                let published = self.publish_remotely(&message.message);
                published.map_err(|error| Unpublished::Remote(error, None))
            }
        }
    }

    fn publish_remotely(&self, message: &M) -> Result<(), BoxError> {
        self.remote.as_ref().map_or(Ok(()), |remote| remote.publish(message))
    }

    pub(super) fn assert_liveliness(&self) {
        if let Some(remote) = &self.remote
            && let Err(error) = remote.assert_liveliness()
        {
            tracing::error!(%error, "cannot say that a publisher is alive");
        }
        if let Some(pulse) = &self.pulse {
            pulse.asserted(self.clock.departure());
        }
    }
}

/// Why a message was not published, or not everywhere.
pub(super) enum Unpublished<M> {
    /// It was handed to no subscription.
    Refused(Refusal, pool::Loan<Envelope<M>>),
    /// It did not leave the process; without the message, the subscriptions in the process have it.
    Remote(BoxError, Option<pool::Loan<Envelope<M>>>),
}
