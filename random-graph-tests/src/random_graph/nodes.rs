//! Construction of the nodes from the specification of a random graph.

use super::Handles;
use super::callbacks::{Call, Emitter, Sample, State};
use super::external::{Input, answer_later};
use super::parts::{Entity, Parts};
use super::spec::{
    Channel, Emit, Join, JoinPolicy, Kind, LoopSpec, Receiver, Source, SourceKind, Spec,
    Subscriber, SubscriberForm, To, TopicSpec,
};
use ringspin_executor::{
    ApproximateTime, BoxError, Context, ExactTime, FailurePolicy, Graph, GuardCondition,
    Input as JoinInput, Latest, Message, Node, Publisher, QoS, Responder, Result, Service,
    SubscriptionEvents, Time, Timer, Trigger, Verdict,
};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The callback of a receiver.
trait OnCall: FnMut(&mut State, &Sample, &Context<'_>) -> Result<(), String> + Send + 'static {}

impl<F> OnCall for F where
    F: FnMut(&mut State, &Sample, &Context<'_>) -> Result<(), String> + Send + 'static
{
}

/// Creates a subscription.
type Creation = Box<dyn FnOnce() -> Result<()> + Send>;

/// A graph under construction.
pub(super) struct GraphBuilder {
    pub(super) graph: Graph,
    pub(super) spec: Arc<Spec>,
    pub(super) nodes: Vec<Node<State>>,
    handles: Handles,
    guards: Vec<Option<GuardCondition>>,
    /// Watchdog timers, by source.
    watchdogs: Vec<Option<Timer>>,
    /// The creation of subscriptions that join late, and its time.
    late: Vec<(Creation, Duration)>,
    /// The time at which sources stop.
    end: Time,
    is_live: bool,
    /// The parts that callbacks create and destroy.
    parts: Weak<Parts>,
}

/// Declares the graph of `spec`, which runs from `start`, or live, without its input and
/// interceptors; its sources stop at `end`.
pub(super) fn build(
    spec: &Arc<Spec>,
    graph: &Graph,
    start: Option<Time>,
    end: Time,
) -> Result<Handles, BoxError> {
    let parts = Arc::<Parts>::default();
    let mut builder = GraphBuilder {
        graph: graph.clone(),
        spec: spec.clone(),
        nodes: Vec::new(),
        handles: Handles::new(spec.channels.len()),
        guards: vec![None; spec.channels.len()],
        watchdogs: vec![None; spec.sources.len()],
        late: Vec::new(),
        end,
        is_live: start.is_none(),
        parts: Arc::downgrade(&parts),
    };
    for event_loop in &spec.loops {
        let node = builder.create_loop(event_loop)?;
        builder.nodes.push(node);
    }
    builder.create_watchdogs()?;
    for (number, channel) in spec.channels.iter().enumerate().rev() {
        for join in spec.joins.iter().filter(|join| join.rank == number + 1) {
            builder.create_join(join)?;
        }
        builder.create_channel(number, channel)?;
    }
    for source in &spec.sources {
        builder.create_source(&builder.nodes[source.in_loop], source)?;
    }
    builder.create_late_subscriptions()?;
    if let Some(start) = start {
        builder.add_input(start)?;
    }
    let handles = builder.handles.clone();
    parts.start(builder);
    Ok(handles)
}

pub(super) fn topic_name(channel: usize) -> String {
    format!("topic_{channel}")
}

pub(super) fn service_name(channel: usize) -> String {
    format!("service_{channel}")
}

/// The QoS that publishers of a topic offer.
fn offered(topic: &TopicSpec) -> QoS {
    let mut qos = topic
        .durability_depth
        .map_or(QoS::keep_last(1), |depth| QoS::keep_last(depth).transient_local());
    if let Some(age) = topic.lifespan {
        qos = qos.lifespan(age);
    }
    match topic.deadline {
        Some(period) => qos.deadline(period),
        None => qos,
    }
}

/// The QoS that subscriptions of a topic request.
fn requested(topic: &TopicSpec, depth: usize, keeps_all: bool) -> QoS {
    let mut qos = if keeps_all { QoS::keep_all(depth) } else { QoS::keep_last(depth) };
    if topic.durability_depth.is_some() && depth > 1 {
        qos = qos.transient_local();
    }
    match topic.deadline {
        Some(period) => qos.deadline(period),
        None => qos,
    }
}

impl GraphBuilder {
    fn create_loop(&self, spec: &LoopSpec) -> Result<Node<State>, BoxError> {
        let name = format!("node_{}", spec.node);
        let node = match spec.kind {
            _ if spec.is_group => {
                let own = |other: &&LoopSpec| other.node == spec.node && !other.is_group;
                let place = self.spec.loops.iter().position(|other| own(&other));
                let node = &self.nodes[place.expect("a node comes before its groups")];
                node.create_callback_group("group", State::new(spec.node + 100))?
            }
            Kind::Restarts => {
                let number = spec.node;
                self.graph.create_restartable_node(&name, 3, move || State::new(number))?
            }
            Kind::NeverFails | Kind::IsIsolated => {
                self.graph.create_node(&name, State::new(spec.node))?
            }
        };
        if spec.kind != Kind::NeverFails && !spec.is_group {
            node.set_failure_policy(FailurePolicy::IsolateNode)?;
        }
        node.set_priority(spec.priority)?;
        node.digest_state()?;
        Ok(node)
    }

    pub(super) fn topic(&self, channel: usize) -> &TopicSpec {
        match &self.spec.channels[channel] {
            Channel::Topic(topic) => topic,
            other => unreachable!("{other:?} is no topic"),
        }
    }

    fn publisher(&self, node: &Node<State>, channel: usize) -> Result<Publisher<Sample>, BoxError> {
        let publisher =
            node.create_publisher(&topic_name(channel), offered(self.topic(channel)))?;
        Ok(if channel.is_multiple_of(2) { publisher.digested() } else { publisher })
    }

    fn parts(&self) -> Arc<Parts> {
        self.parts.upgrade().expect("it builds for the parts, or is one of them")
    }

    /// The effects of a callback of `node`.
    fn emitters(&self, node: &Node<State>, emits: usize) -> Result<Arc<[Emitter]>, BoxError> {
        self.spec.emits[emits].iter().map(|emit| self.emitter(node, emit)).collect()
    }

    fn emitter(&self, node: &Node<State>, emit: &Emit) -> Result<Emitter, BoxError> {
        let call = match emit.to {
            To::Channel(channel) => match &self.guards[channel] {
                Some(guard) => Call::Trigger(guard.clone()),
                None => {
                    let published = self.handles.published.clone();
                    Call::Publish(self.publisher(node, channel)?, channel, published)
                }
            },
            To::Call { channel, depth, timeout, then } => {
                let client = node.create_client(&service_name(channel), QoS::keep_all(depth))?;
                let client = match timeout {
                    Some(timeout) => client.with_timeout(timeout),
                    None => client,
                };
                Call::Service(client, self.emitters(node, then)?)
            }
            To::Reset(watchdog) => {
                let timer = self.watchdogs[watchdog].clone();
                Call::Reset(timer.expect("watchdogs come first"))
            }
            To::Toggle(part) => Call::Toggle(self.parts(), part),
        };
        Ok(Emitter { every: emit.every, call })
    }

    /// Creates the function that runs at each call of a receiver's callback.
    fn on_call(
        &self,
        node: &Node<State>,
        receiver: &Receiver,
    ) -> Result<impl OnCall + use<>, BoxError> {
        let emitters = self.emitters(node, receiver.emits)?;
        let (fails_at, mut calls) = (receiver.fails_at, 0);
        Ok(move |state: &mut State, sample: &Sample, cx: &Context<'_>| {
            calls += 1;
            state.take(sample);
            emitters.iter().for_each(|emitter| emitter.emit(state, cx));
            match fails_at {
                Some(call) if call == calls => Err(format!("call {call} fails")),
                _ => Ok(()),
            }
        })
    }

    fn create_watchdogs(&mut self) -> Result<(), BoxError> {
        for (n, source) in self.spec.sources.iter().enumerate() {
            if source.kind == SourceKind::Watchdog {
                let node = &self.nodes[source.in_loop];
                let bite = |state: &mut State, cx: &mut Context<'_>| state.begin(cx.now());
                self.watchdogs[n] = Some(node.create_one_shot_timer(source.period, bite)?);
            }
        }
        Ok(())
    }

    fn create_channel(&mut self, number: usize, channel: &Channel) -> Result<(), BoxError> {
        match channel {
            Channel::Topic(topic) => {
                if topic.is_intercepted && !self.is_live {
                    self.graph.intercept(&topic_name(number), intercept)?;
                }
                topic
                    .subscribers
                    .iter()
                    .try_for_each(|subscriber| self.create_subscriber(number, topic, subscriber))
            }
            Channel::Guard(receiver) => {
                let node = &self.nodes[receiver.in_loop];
                let mut on_call = self.on_call(node, receiver)?;
                let name = format!("guard_{number}");
                let guard = node.create_guard_condition(&name, move |state, cx| {
                    on_call(state, &Sample::at(cx.now()), cx)
                })?;
                self.guards[number] = Some(guard);
                Ok(())
            }
            Channel::Service { .. } => {
                let server = self.create_server(number)?;
                self.parts().add_server(&self.spec, number, server);
                Ok(())
            }
        }
    }

    /// Creates the server of a service.
    pub(super) fn create_server(&self, number: usize) -> Result<Service, BoxError> {
        let Channel::Service { server, depth, deferred } = &self.spec.channels[number] else {
            unreachable!("channel {number} is no service")
        };
        let (node, deferred) = (&self.nodes[server.in_loop], *deferred);
        let mut on_call = self.on_call(node, server)?;
        let mut held: Option<Responder<Sample>> = None;
        Ok(node.create_deferred_service(
            &service_name(number),
            QoS::keep_all(*depth),
            move |state: &mut State, request: &Sample, responder, cx: &mut Context<'_>| {
                let result = on_call(state, request, cx);
                answer_later(&mut held, deferred, responder, state.sample());
                result
            },
        )?)
    }

    fn create_subscriber(
        &mut self,
        number: usize,
        topic: &TopicSpec,
        subscriber: &Subscriber,
    ) -> Result<(), BoxError> {
        let node = &self.nodes[subscriber.receiver.in_loop];
        let SubscriberForm::Late(after) = subscriber.form else {
            return self.subscribe(node, number, subscriber).map(drop);
        };
        let mut on_call = self.on_call(node, &subscriber.receiver)?;
        let qos = requested(topic, subscriber.depth, subscriber.keeps_all).transient_local();
        let (node, name) = (node.clone(), topic_name(number));
        let callback = move |state: &mut State, sample: &Message<Sample>, cx: &mut Context<'_>| {
            on_call(state, sample, cx)
        };
        let create = move || node.create_subscription(&name, qos, callback).map(drop);
        self.late.push((Box::new(create), after));
        Ok(())
    }

    /// Subscribes to topic `number` at once.
    pub(super) fn subscribe(
        &self,
        node: &Node<State>,
        number: usize,
        subscriber: &Subscriber,
    ) -> Result<Entity, BoxError> {
        let Subscriber { receiver, depth, keeps_all, form } = subscriber;
        let mut callback = self.on_call(node, receiver)?;
        let (name, qos) = (topic_name(number), requested(self.topic(number), *depth, *keeps_all));
        if *form != SubscriberForm::Stream {
            let missed = |state: &mut State, _, cx: &mut Context<'_>| state.begin(cx.now());
            let events = SubscriptionEvents::new().on_deadline_missed(missed);
            let on_message =
                move |state: &mut State, sample: &Message<Sample>, cx: &mut Context<'_>| {
                    callback(state, sample, cx)
                };
            let subscription = node.create_subscription_with_events(&name, qos, events, on_message);
            return Ok(Entity::Subscription(subscription?));
        }
        let mut callback = self.on_call(node, receiver)?;
        let mut stream = node.create_stream::<Sample>(&name, qos)?;
        let task = node.spawn_with_state(&format!("stream_{number}"), |access| async move {
            loop {
                let sample = stream.next().await;
                let step = move |state: &mut State, cx: &mut Context<'_>| {
                    let result = callback(state, &sample, cx);
                    (callback, result)
                };
                let result;
                (callback, result) = access.with(step).await;
                match result {
                    Ok(()) => {}
                    failed => break failed,
                }
            }
        })?;
        Ok(Entity::Task(task))
    }

    fn create_join(&self, join: &Join) -> Result<(), BoxError> {
        let node = &self.nodes[join.receiver.in_loop];
        let mut on_call = self.on_call(node, &join.receiver)?;
        let input = |channel: usize| {
            let qos = requested(self.topic(channel), join.depth, false);
            JoinInput::<Sample>::new(&topic_name(channel), qos)
        };
        let inputs = (input(join.topics[0]), input(join.topics[1]));
        let mut on_pair = move |state: &mut State, a: &Sample, b: &Sample, cx: &mut Context<'_>| {
            on_call(state, &a.and(b), cx)
        };
        macro_rules! join {
            ($policy:expr) => {
                node.create_synchronized_subscription(inputs, $policy, move |state, (a, b), cx| {
                    on_pair(state, a, b, cx)
                })?
            };
        }
        match join.policy {
            JoinPolicy::Exact => join!(ExactTime::new(join.depth)),
            JoinPolicy::Approximate => join!(ApproximateTime::new(join.depth)),
            JoinPolicy::LatestOfAll => join!(Latest::new(Trigger::All)),
            JoinPolicy::LatestOfAny => join!(Latest::new(Trigger::Any).holding()),
        };
        Ok(())
    }

    pub(super) fn create_source(
        &self,
        node: &Node<State>,
        source: &Source,
    ) -> Result<Option<Entity>, BoxError> {
        let Source { period, kind, emits, .. } = *source;
        let (emitters, end) = (self.emitters(node, emits)?, self.end);
        let fire = move |state: &mut State, cx: &Context<'_>| {
            state.begin(cx.now());
            emitters.iter().for_each(|emitter| emitter.emit(state, cx));
        };
        Ok(Some(match kind {
            SourceKind::Watchdog => return Ok(None),
            SourceKind::Timer | SourceKind::Changing(_) => {
                let changes_at = if let SourceKind::Changing(n) = kind { n } else { u64::MAX };
                let (slot, mut calls) = (Arc::new(std::sync::OnceLock::<Timer>::new()), 0);
                let own = slot.clone();
                let timer = node.create_timer(period, move |state, cx| {
                    calls += 1;
                    if cx.now() >= end {
                        cx.cancel_timer();
                    } else if calls == changes_at
                        && let Some(timer) = own.get()
                    {
                        timer.set_period(period * 2).expect("a period of some microseconds");
                    }
                    fire(state, cx);
                })?;
                slot.set(timer.clone()).expect("it is set once");
                Entity::Timer(timer)
            }
            SourceKind::OneShot => {
                let fire = move |state: &mut State, cx: &mut Context<'_>| fire(state, cx);
                Entity::Timer(node.create_one_shot_timer(period, fire)?)
            }
            SourceKind::Sets => {
                let name = format!("gain_{}", node.parameters().list().len());
                let gain = node.declare_parameter(&name, 1i64)?;
                node.on_parameter_change(|state: &mut State, changes, cx: &mut Context<'_>| {
                    state.value = state.value.wrapping_add(changes.len() as u64);
                    state.begin(cx.now());
                })?;
                Entity::Timer(node.create_timer(period, move |state: &mut State, cx| {
                    if cx.now() >= end {
                        cx.cancel_timer();
                    }
                    gain.set(gain.get() + 1)?;
                    state.value ^= gain.get() as u64;
                    fire(state, cx);
                    Ok::<_, BoxError>(())
                })?)
            }
            SourceKind::Task => {
                let mut interval = node.create_interval(period)?;
                Entity::Task(node.spawn_with_state("beat", |access| async move {
                    let mut fire = fire;
                    loop {
                        let tick = interval.tick().await;
                        if tick.time >= end {
                            interval.timer().cancel();
                            return;
                        }
                        fire = access.with(move |state, cx| (fire(state, cx), fire).1).await;
                    }
                })?)
            }
        }))
    }

    /// Creates a node with timers that create the late subscriptions.
    fn create_late_subscriptions(&mut self) -> Result<(), BoxError> {
        if self.late.is_empty() {
            return Ok(());
        }
        let activator = self.graph.create_node("activator", ())?;
        for (create, after) in self.late.drain(..) {
            let mut create = Some(create);
            activator.create_one_shot_timer(after, move |_, _| match create.take() {
                Some(create) => create(),
                None => Ok(()),
            })?;
        }
        Ok(())
    }

    fn add_input(&self, start: Time) -> Result<(), BoxError> {
        let Some(spec) = &self.spec.input else { return Ok(()) };
        let node = self.graph.create_node("world", State::new(1000))?;
        let answers = match spec.answers {
            None => None,
            Some([seen, answered]) => {
                let qos = requested(self.topic(seen), 4, false);
                let seen = node.create_collector::<Sample>(&topic_name(seen), qos)?;
                Some((seen, self.publisher(&node, answered)?, answered))
            }
        };
        let items: Vec<Time> = spec.items.iter().map(|item| start + *item).collect();
        let out = (self.publisher(&node, spec.out)?, spec.out);
        let published = self.handles.published.clone();
        self.graph.add_input("world", Input::new(items, out, answers, published))?;
        Ok(())
    }
}

/// Drops, changes and delays some messages.
fn intercept(sample: &Message<Sample>, in_flight: &ringspin_executor::InFlight) -> Verdict<Sample> {
    match in_flight.event.sequence % 7 {
        2 => Verdict::Drop,
        4 => Verdict::Replace(Sample { value: !sample.value, ..**sample }),
        5 => Verdict::Delay(Duration::from_micros(300)),
        _ => Verdict::Pass,
    }
}
