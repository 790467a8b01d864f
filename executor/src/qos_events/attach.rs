//! Adds the callbacks for QoS events to the graph as watches.

use super::conditions::{Deadline, OwnLiveliness, Source, TopicLiveliness};
use super::peers::{Loss, Match, Misfit, Outside, Peers};
use super::{DeadlineMissed, EventCallback, PublisherEvents, SubscriptionEvents};
use crate::control::CallbackCounters;
use crate::entity::Notifier;
use crate::graph::{GraphBuilder, MiddlewareError};
use crate::liveliness::PublisherLiveliness;
use crate::node::Node;
use crate::qos::QoS;
use crate::remote::{RemoteEventKind, RemoteEvents, RemoteNotifier, Reports};
use std::sync::Arc;

/// A publisher or subscription that is watched, with the middleware's events for it.
pub(crate) struct Watched<'a> {
    /// Such as `publisher /scan`.
    pub(crate) name: String,
    pub(crate) topic: &'a str,
    pub(crate) qos: QoS,
    pub(crate) remote: Option<Arc<dyn RemoteEvents>>,
}

impl Watched<'_> {
    /// The middleware's reports of events of `kind`, and the notifier to call for them.
    fn outside(
        &self,
        builder: &GraphBuilder,
        kind: RemoteEventKind,
    ) -> Result<(Outside, Arc<Notifier>), MiddlewareError> {
        let remote_notifier = RemoteNotifier::default();
        let notifier = remote_notifier.notifier().clone();
        let Some(remote) = &self.remote else {
            return Ok((Outside::default(), notifier));
        };
        let watched = remote.watch(kind, remote_notifier);
        let event = watched.map_err(|error| MiddlewareError {
            middleware: builder.middleware_name(),
            what: format!("{kind:?} of {}", self.name),
            reason: error.to_string(),
        })?;
        let outside = event.map(|event| {
            let reports = Reports::new(event, &format!("{kind:?} of {}", self.name));
            Outside::new(reports, remote.includes_locals())
        });
        Ok((outside.unwrap_or_default(), notifier))
    }
}

impl<S: Send + 'static> Node<S> {
    /// Adds the watches of a publisher.
    pub(crate) fn watch_publisher(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        liveliness: Arc<PublisherLiveliness>,
        events: PublisherEvents<S>,
    ) -> Result<(), MiddlewareError> {
        let registry = builder.liveliness_registry(watched.topic);
        let signs = Source::Publisher(liveliness.clone());
        self.watch_deadline(builder, watched, signs, events.deadline_missed);
        if let Some(callback) = events.liveliness_lost {
            let notifier = Arc::<Notifier>::default();
            registry.watch(&notifier);
            let name = format!("liveliness of {}", watched.name);
            self.watch(builder, &name, notifier, OwnLiveliness::new(liveliness), callback);
        }
        if let Some(callback) = events.incompatible_qos {
            let (outside, notifier) = watched.outside(builder, RemoteEventKind::IncompatibleQos)?;
            let name = format!("misfits of {}", watched.name);
            self.watch(builder, &name, notifier, Misfit { outside, told: 0 }, callback);
        }
        if let Some(callback) = events.matched {
            let (outside, notifier) = watched.outside(builder, RemoteEventKind::Matched)?;
            let name = format!("peers of {}", watched.name);
            registry.watch(&notifier);
            let condition = Match { peers: Peers::Subscriptions(registry), outside, told: (0, 0) };
            self.watch(builder, &name, notifier, condition, callback);
        }
        Ok(())
    }

    /// Adds the watches of a subscription, for which messages from outside are announced to
    /// `remote_notifier`.
    pub(crate) fn watch_subscription(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        remote_notifier: Option<RemoteNotifier>,
        counters: Arc<CallbackCounters>,
        events: SubscriptionEvents<S>,
    ) -> Result<(), MiddlewareError> {
        let registry = builder.liveliness_registry(watched.topic);
        if let (Some(remote_notifier), Some(_)) = (&remote_notifier, &events.deadline_missed) {
            remote_notifier.note_time(builder.clock().clone());
        }
        let signs = Source::Topic(registry.clone(), remote_notifier);
        self.watch_deadline(builder, watched, signs, events.deadline_missed);
        if let Some(callback) = events.liveliness_changed {
            let (outside, notifier) =
                watched.outside(builder, RemoteEventKind::LivelinessChanged)?;
            registry.watch(&notifier);
            let condition =
                TopicLiveliness::new(registry.clone(), builder.failures().clone(), outside);
            let name = format!("liveliness of {}", watched.name);
            self.watch(builder, &name, notifier, condition, callback);
        }
        if let Some(callback) = events.incompatible_qos {
            let (outside, notifier) = watched.outside(builder, RemoteEventKind::IncompatibleQos)?;
            let name = format!("misfits of {}", watched.name);
            self.watch(builder, &name, notifier, Misfit { outside, told: 0 }, callback);
        }
        if let Some(callback) = events.message_lost {
            let (outside, notifier) = watched.outside(builder, RemoteEventKind::MessageLost)?;
            counters.tell_of_losses(notifier.clone());
            let name = format!("losses of {}", watched.name);
            self.watch(builder, &name, notifier, Loss { counters, outside, told: 0 }, callback);
        }
        if let Some(callback) = events.matched {
            let (outside, notifier) = watched.outside(builder, RemoteEventKind::Matched)?;
            let name = format!("peers of {}", watched.name);
            registry.watch(&notifier);
            let condition = Match { peers: Peers::Publishers(registry), outside, told: (0, 0) };
            self.watch(builder, &name, notifier, condition, callback);
        }
        Ok(())
    }

    /// Calls `callback` when the deadline passes without a message from `source`.
    fn watch_deadline(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        source: Source,
        callback: Option<EventCallback<S, DeadlineMissed>>,
    ) {
        let (Some(period), Some(callback)) = (watched.qos.deadline_period(), callback) else {
            return;
        };
        let condition = Deadline::new(source, period);
        let name = format!("deadline of {}", watched.name);
        self.watch(builder, &name, Arc::default(), condition, callback);
    }
}
