//! The parts of a random graph that callbacks create and destroy while it runs.
//!
//! A part is toggled: it is destroyed if it exists, and created otherwise. The events that follow
//! in the same instant (messages for a late joiner, calls that end) belong to its channels, so only
//! callbacks that may emit on these channels toggle it.

use super::callbacks::State;
use super::nodes::GraphBuilder;
use super::random_source::RandomSource;
use super::spec::{
    Channel, Emit, PERIODS, PartSpec, Receiver, Source, SourceKind, Spec, Subscriber,
    SubscriberForm, To,
};
use ringspin_executor::{BoxError, Node, Service, Subscription, Task, Timer};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The parts of a graph, shared by the callbacks that toggle them.
#[derive(Default)]
pub(super) struct Parts {
    existing: Mutex<Vec<Option<Part>>>,
    builder: Mutex<Option<GraphBuilder>>,
}

/// A part that exists.
enum Part {
    Node(Node<State>),
    Entities(Vec<Entity>),
}

/// A handle that destroys an entity.
pub(super) enum Entity {
    Subscription(Subscription),
    Timer(Timer),
    Task(Task),
    Service(Service),
}

impl Entity {
    fn destroy(&self) {
        match self {
            Self::Subscription(subscription) => subscription.destroy(),
            Self::Timer(timer) => timer.destroy(),
            Self::Task(task) => task.cancel(),
            Self::Service(service) => service.destroy(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Parts {
    /// Adds the server of a service, if a part has it.
    pub(super) fn add_server(&self, spec: &Spec, channel: usize, server: Service) {
        let mut existing = lock(&self.existing);
        existing.resize_with(spec.parts.len(), || None);
        if let Some(part) = spec.parts.iter().position(|part| part.server == Some(channel)) {
            existing[part] = Some(Part::Entities(vec![Entity::Service(server)]));
        }
    }

    /// Lets `builder` create parts from now on.
    pub(super) fn start(&self, builder: GraphBuilder) {
        lock(&self.existing).resize_with(builder.spec.parts.len(), || None);
        *lock(&self.builder) = Some(builder);
    }

    /// Destroys the part, or creates it.
    pub(super) fn toggle(&self, number: usize) -> Result<(), BoxError> {
        let part = lock(&self.existing)[number].take();
        match part {
            Some(Part::Node(node)) => node.destroy(),
            Some(Part::Entities(entities)) => entities.iter().for_each(Entity::destroy),
            None => {
                let builder = lock(&self.builder);
                let builder = builder.as_ref().expect("callbacks run after the graph is built");
                let part = builder.create_part(number)?;
                lock(&self.existing)[number] = Some(part);
            }
        }
        Ok(())
    }
}

impl GraphBuilder {
    fn create_part(&self, number: usize) -> Result<Part, BoxError> {
        let part = &self.spec.parts[number];
        if !part.is_node {
            let server = part.server.map(|channel| self.create_server(channel));
            let mut entities: Vec<_> =
                server.transpose()?.map(Entity::Service).into_iter().collect();
            self.create_entities(part, |in_loop| &self.nodes[in_loop], &mut entities)?;
            return Ok(Part::Entities(entities));
        }
        let node = self.graph.create_node(&format!("part_{number}"), State::new(200 + number))?;
        let group = node.create_callback_group("group", State::new(300 + number))?;
        let of = |in_loop: usize| if in_loop.is_multiple_of(2) { &node } else { &group };
        match self.create_entities(part, of, &mut Vec::new()) {
            Ok(()) => Ok(Part::Node(node)),
            Err(error) => {
                node.destroy();
                Err(error)
            }
        }
    }

    fn create_entities<'a>(
        &self,
        part: &PartSpec,
        node: impl Fn(usize) -> &'a Node<State>,
        created: &mut Vec<Entity>,
    ) -> Result<(), BoxError> {
        for (channel, subscriber) in &part.subscribers {
            created.push(self.subscribe(
                node(subscriber.receiver.in_loop),
                *channel,
                subscriber,
            )?);
        }
        for source in &part.sources {
            created.extend(self.create_source(node(source.in_loop), source)?);
        }
        Ok(())
    }
}

/// The effects of a callback, and the first channel that it may emit on.
type Ranked = (usize, usize);

/// Adds parts to `spec`, and effects that toggle them.
pub(super) fn draw(spec: &mut Spec, random: &mut RandomSource) {
    let mut emitters = ranked_emitters(spec);
    for number in 0..random.between(2, 8) {
        let mut part = PartSpec {
            is_node: random.happens(30),
            subscribers: Vec::new(),
            sources: Vec::new(),
            server: None,
        };
        let channel = random.below(spec.channels.len());
        let is_free = spec.parts.iter().all(|other| other.server != Some(channel));
        let mut rank = spec.channels.len();
        match &spec.channels[channel] {
            Channel::Topic(_) => {
                let subscriber = draw_subscriber(spec, random, channel, &mut emitters);
                part.subscribers.push((channel, subscriber));
                rank = channel;
            }
            Channel::Service { .. } if is_free && !part.is_node => {
                part.server = Some(channel);
                rank = channel;
            }
            _ => {}
        }
        if part.is_node || rank == spec.channels.len() || random.happens(30) {
            part.sources.push(draw_source(spec, random, &mut emitters));
        }
        for (is, feature) in [
            (part.is_node, "node that comes and goes"),
            (part.server.is_some(), "server that comes and goes"),
            (!part.subscribers.is_empty(), "subscription that comes and goes"),
            (!part.sources.is_empty(), "source that comes and goes"),
        ] {
            if is {
                spec.features.insert(feature);
            }
        }
        let may_toggle: Vec<_> = emitters.iter().filter(|(_, from)| *from <= rank).collect();
        for _ in 0..random.between(1, 3) {
            let (emits, _) = *random.pick(&may_toggle);
            let every = random.between(1, 5) as u64;
            spec.emits[emits].push(Emit { to: To::Toggle(number), every });
        }
        spec.parts.push(part);
    }
}

/// The effects of all callbacks so far.
fn ranked_emitters(spec: &Spec) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = Vec::new();
    let sources = spec.sources.iter().filter(|source| source.kind != SourceKind::Watchdog);
    ranked.extend(sources.map(|source| (source.emits, 0)));
    for (number, channel) in spec.channels.iter().enumerate() {
        let next = number + 1;
        match channel {
            Channel::Topic(topic) => {
                ranked.extend(topic.subscribers.iter().map(|of| (of.receiver.emits, next)));
            }
            Channel::Service { server: of, .. } | Channel::Guard(of) => {
                ranked.push((of.emits, next));
            }
        }
    }
    ranked.extend(spec.joins.iter().map(|join| (join.receiver.emits, join.rank)));
    for emit in spec.emits.iter().flatten() {
        if let To::Call { channel, then, .. } = emit.to {
            ranked.push((then, channel + 1));
        }
    }
    ranked
}

/// Effects on up to two of the channels from `rank` on.
fn draw_emits(
    spec: &mut Spec,
    random: &mut RandomSource,
    rank: usize,
    emitters: &mut Vec<Ranked>,
) -> usize {
    let mut emits = Vec::new();
    for _ in 0..random.between(0, 2) {
        let channel = rank + random.below(spec.channels.len() + 1 - rank);
        let to = match spec.channels.get(channel) {
            None => continue,
            Some(Channel::Service { .. }) => {
                let then = draw_emits(spec, random, channel + 1, emitters);
                let timeout = random.maybe(60, |random| random.micros(500, 8000));
                To::Call { channel, depth: random.between(1, 4), timeout, then }
            }
            Some(_) => To::Channel(channel),
        };
        emits.push(Emit { to, every: random.between(1, 3) as u64 });
    }
    spec.emits.push(emits);
    emitters.push((spec.emits.len() - 1, rank));
    spec.emits.len() - 1
}

fn draw_subscriber(
    spec: &mut Spec,
    random: &mut RandomSource,
    channel: usize,
    emitters: &mut Vec<Ranked>,
) -> Subscriber {
    let emits = draw_emits(spec, random, channel + 1, emitters);
    let in_loop = random.below(spec.loops.len());
    let is_stream = random.happens(25);
    Subscriber {
        receiver: Receiver { in_loop, emits, fails_at: None },
        depth: random.between(1, 3),
        keeps_all: random.happens(25),
        form: if is_stream { SubscriberForm::Stream } else { SubscriberForm::Plain },
    }
}

fn draw_source(spec: &mut Spec, random: &mut RandomSource, emitters: &mut Vec<Ranked>) -> Source {
    let kinds = [SourceKind::Timer, SourceKind::OneShot, SourceKind::Task, SourceKind::Changing(3)];
    let in_loop = random.below(spec.loops.len());
    let period = Duration::from_micros(random.pick(&PERIODS));
    let emits = draw_emits(spec, random, 0, emitters);
    Source { in_loop, period, kind: random.pick(&kinds), emits }
}
