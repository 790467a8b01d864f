//! Watches: the entities that check the conditions behind QoS events.
//!
//! A thread that creates a publisher or subscription adds a watch for each event callback. A watch
//! is notified when its condition may have changed, by a publisher, by the middleware or by its
//! timer; the event loop then checks the condition and calls the callback with the change. Each
//! watch has the port of its notifier and, if its condition depends on time, one for its timer.

use super::conditions::{Condition, Deadline, OwnLiveliness, Source, TopicLiveliness};
use super::peers::{Loss, Match, Misfit, Outside};
use super::{EventCallback, PublisherCallbacks, SubscriptionCallbacks};
use crate::base::error::Result;
use crate::base::event::{EventId, LoopId, SourceId};
use crate::base::qos::QoS;
use crate::base::time::Time;
use crate::delivery::context::Context;
use crate::delivery::control::CallbackCounters;
use crate::delivery::liveliness::{LivelinessRegistry, PublisherLiveliness};
use crate::delivery::ready::Notifier;
use crate::delivery::remote::{RemoteEventKind, RemoteEvents, RemoteNotifier, Reports};
use crate::delivery::timer::Timer;
use crate::running::event_loop::{Entity, Outcome};
use crate::running::graph::{CallbackSpec, EventSource, GraphBuilder};
use crate::running::node::NodeHandle;
use std::sync::Arc;

/// The port of the notifier for changes: at the start, and when a publisher became alive or its
/// node was isolated. The other port is for the timer.
const NOTICE: usize = 0;

/// The part of a watch that knows neither its callback nor the type of the state, so that it is
/// compiled once.
pub(crate) struct Check<C> {
    condition: C,
    notifier: Arc<Notifier>,
    /// `None` unless the condition is timed.
    timer: Option<Timer>,
    due: Option<Time>,
    /// The value of [`Clock::switches`](crate::Clock::switches) at the last check.
    switches: u64,
    source: SourceId,
    events: u64,
}

impl<C: Condition> Check<C> {
    /// Checks the condition, and begins an event if it changed.
    fn look(&mut self, port: usize, is_retired: bool, cx: &mut Context<'_>) -> Option<C::Event> {
        match port {
            NOTICE if !self.notifier.take() => return None,
            NOTICE => {}
            _ => self.due = None,
        }
        let switches = if C::IS_TIMED { cx.clock.switches() } else { 0 };
        if switches != self.switches {
            self.switches = switches;
            self.condition.start_again();
        }
        if C::IS_TIMED && !cx.clock.has_begun() {
            return None; // noticed again when it has
        }
        let (event, next) = self.condition.look(cx.now());
        if next != self.due {
            self.due = next;
            match (&self.timer, next) {
                (Some(timer), Some(time)) => timer.start_at(time),
                (Some(timer), None) => timer.cancel(),
                (None, _) => {}
            }
        }
        let event = event.filter(|_| !is_retired)?;
        cx.begin(EventId { source: self.source, sequence: self.events });
        self.events += 1;
        Some(event)
    }
}

struct Watch<S, C: Condition> {
    check: Check<C>,
    /// `None` once it is retired.
    callback: Option<EventCallback<S, C::Event>>,
}

impl<S, C: Condition> Entity<S> for Watch<S, C> {
    fn dispatch(&mut self, port: usize, state: &mut S, cx: &mut Context<'_>) -> Outcome {
        let event = self.check.look(port, self.callback.is_none(), cx);
        match (&mut self.callback, event) {
            (Some(callback), Some(event)) => Outcome::from(callback(state, event, cx)),
            _ => Outcome::Nothing,
        }
    }

    fn discard(&mut self, port: usize) -> Option<EventId> {
        if port == NOTICE {
            self.check.notifier.take();
        }
        Some(EventId::NONE)
    }

    fn retire(&mut self) {
        self.callback = None;
    }
}

/// Adds the entity of a watch to its event loop. Only the setters of callbacks make one, so that a
/// program has the code for the events that it uses.
pub(crate) type AddWatch<C> = Box<dyn FnOnce(Check<C>, &mut GraphBuilder, LoopId) + Send>;

pub(crate) fn calling<S: Send + 'static, C: Condition>(
    callback: EventCallback<S, C::Event>,
) -> AddWatch<C> {
    Box::new(|check, builder, event_loop| {
        let watch = Watch { check, callback: Some(callback) };
        builder.add_entity::<S>(event_loop, Box::new(watch));
    })
}

/// A publisher or subscription that is watched, with the middleware's events for it.
pub(crate) struct Watched<'a> {
    /// Such as `publisher /scan`.
    pub(crate) name: String,
    pub(crate) topic: &'a str,
    pub(crate) qos: QoS,
    pub(crate) remote: Option<Arc<dyn RemoteEvents>>,
}

impl NodeHandle {
    pub(crate) fn watch_publisher(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        liveliness: Arc<PublisherLiveliness>,
        events: PublisherCallbacks,
    ) -> Result<()> {
        let registry = builder.liveliness_registry(watched.topic);
        let signs = Source::Publisher(liveliness.clone());
        self.watch_deadline(builder, watched, signs, events.deadline_missed);
        if let Some(callback) = events.liveliness_lost {
            let notifier = Arc::<Notifier>::default();
            registry.watch(&notifier);
            self.watch(builder, watched, notifier, OwnLiveliness::new(liveliness), callback);
        }
        let kind = RemoteEventKind::IncompatibleQos;
        self.watch_outside(builder, watched, kind, events.incompatible_qos, Misfit::new)?;
        let matches = |outside, notifier: &Arc<Notifier>| {
            registry.watch(notifier);
            Match::new(registry.clone(), LivelinessRegistry::subscriptions, outside)
        };
        self.watch_outside(builder, watched, RemoteEventKind::Matched, events.matched, matches)
    }

    /// Adds the watches of a subscription, for which messages from outside are announced to
    /// `remote_notifier`.
    pub(crate) fn watch_subscription(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        remote_notifier: Option<RemoteNotifier>,
        counters: Arc<CallbackCounters>,
        events: SubscriptionCallbacks,
    ) -> Result<()> {
        use RemoteEventKind as Kind;
        let registry = builder.liveliness_registry(watched.topic);
        if let (Some(remote_notifier), Some(_)) = (&remote_notifier, &events.deadline_missed) {
            remote_notifier.note_time(builder.clock.clone());
        }
        let signs = Source::Topic(registry.clone(), remote_notifier);
        self.watch_deadline(builder, watched, signs, events.deadline_missed);
        let failures = builder.failures.clone();
        let liveliness = |outside, notifier: &Arc<Notifier>| {
            registry.watch(notifier);
            TopicLiveliness::new(registry.clone(), failures, outside)
        };
        let callback = events.liveliness_changed;
        self.watch_outside(builder, watched, Kind::LivelinessChanged, callback, liveliness)?;
        let callback = events.incompatible_qos;
        self.watch_outside(builder, watched, Kind::IncompatibleQos, callback, Misfit::new)?;
        let losses = |outside, notifier: &Arc<Notifier>| {
            counters.tell_of_losses(notifier.clone());
            Loss::new(counters, outside)
        };
        self.watch_outside(builder, watched, Kind::MessageLost, events.message_lost, losses)?;
        let matches = |outside, notifier: &Arc<Notifier>| {
            registry.watch(notifier);
            Match::new(registry.clone(), LivelinessRegistry::advertised, outside)
        };
        self.watch_outside(builder, watched, Kind::Matched, events.matched, matches)
    }

    /// Calls `callback` when the deadline passes without a message from `source`.
    fn watch_deadline(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        source: Source,
        callback: Option<AddWatch<Deadline>>,
    ) {
        if let (Some(period), Some(callback)) = (watched.qos.deadline_period(), callback) {
            let condition = Deadline::new(source, period);
            self.watch(builder, watched, Arc::default(), condition, callback);
        }
    }

    /// Adds a watch of a condition that includes the middleware's reports of events of `kind`.
    fn watch_outside<C: Condition>(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        kind: RemoteEventKind,
        callback: Option<AddWatch<C>>,
        condition: impl FnOnce(Outside, &Arc<Notifier>) -> C,
    ) -> Result<()> {
        let Some(callback) = callback else { return Ok(()) };
        let remote_notifier = RemoteNotifier::default();
        let notifier = remote_notifier.notifier().clone();
        let mut outside = Outside::default();
        if let Some(remote) = &watched.remote {
            let event = format!("{kind:?} of {}", watched.name);
            let reports = remote.watch(kind, remote_notifier);
            let reports = reports.map_err(|error| builder.refused(&event, &error))?;
            if let Some(reports) = reports {
                outside = Outside::new(Reports::new(reports, &event), remote.includes_locals());
            }
        }
        let condition = condition(outside, &notifier);
        self.watch(builder, watched, notifier, condition, callback);
        Ok(())
    }

    /// Adds a watch, which checks its condition when notified by `notifier`.
    fn watch<C: Condition>(
        &self,
        builder: &mut GraphBuilder,
        watched: &Watched<'_>,
        notifier: Arc<Notifier>,
        condition: C,
        callback: AddWatch<C>,
    ) {
        let event_loop = self.event_loop;
        let name = format!("{} of {}", C::NAME, watched.name);
        let timer = C::IS_TIMED.then(|| self.new_idle_timer(builder, &name));
        let target = builder.next_target(event_loop);
        let source = EventSource::Notifier(notifier.clone());
        let notice = CallbackSpec::new(target, source, Arc::default());
        builder.add_callback(event_loop, format!("{name}, notice"), notice);
        if let Some(timer) = &timer {
            let expiry = CallbackSpec::of_timer(target.port(1), timer);
            builder.add_callback(event_loop, format!("{name}, timer"), expiry);
        }
        let source = builder.next_source();
        let (due, switches, events) = (None, 0, 0);
        let check = Check { condition, notifier, timer, due, switches, source, events };
        callback(check, builder, event_loop);
    }
}
