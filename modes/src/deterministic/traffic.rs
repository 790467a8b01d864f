//! The network of a simulation: the links' delays, and jitter on top.
//!
//! The thread that publishes asks for the outcome of each message, under the lock of the simulated
//! network. The link decides about loss and delay, jitter adds to the delay, and the addition is
//! noted in a list that the sequencer reads for the schedule; the list has a lock, because the
//! network owns one handle of it and the sequencer the other. Random delays come from a stream for
//! each edge, by the number of the message: with one stream for all, another publisher would change
//! the delays on every edge. Jitter keeps the order of messages on an edge, unless the link itself
//! changes it.

use super::models::ResolvedLinks;
use super::simulation::Jitter;
use crate::names::publisher_names;
use crate::random::{Purpose, Stream};
use crate::schedule::{DelayPerturbation, Kept, Loss, Schedule};
use ringspin_executor::{
    CallbackId, DeliveryOutcome, EventId, GraphInfo, InFlight, LoopId, Network, SourceId, Table,
    Time, TopicInfo,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The perturbations of a run so far.
#[derive(Clone, Debug)]
pub(super) struct Perturbations {
    messages: Arc<Mutex<Messages>>,
    keeps_links: bool,
}

#[derive(Debug)]
struct Messages {
    delays: Kept<DelayPerturbation>,
    /// The losses that a schedule asked for.
    losses: Vec<Loss>,
    /// The effects of the links, if these are kept.
    links: Vec<LinkEffect>,
}

/// The effect of a link on a message for one callback: a delay in nanoseconds, or `None` for a
/// loss.
pub type LinkEffect = (EventId, CallbackId, Option<u64>);

impl Perturbations {
    /// Keeps `max` delays, and with `keeps_links` the effects of the links.
    pub(super) fn new(max: usize, keeps_links: bool) -> Self {
        let messages = Messages { delays: Kept::new(max), losses: Vec::new(), links: Vec::new() };
        Self { messages: Arc::new(Mutex::new(messages)), keeps_links }
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kept perturbations, and the number of all.
    pub(super) fn all(&self) -> (Vec<DelayPerturbation>, u64) {
        let messages = self.messages();
        let mut perturbations = messages.delays.items().to_vec();
        perturbations.sort_unstable();
        (perturbations, messages.delays.count())
    }

    /// The losses that a schedule asked for.
    pub(super) fn losses(&self) -> Vec<Loss> {
        let mut losses = self.messages().losses.clone();
        losses.sort_unstable();
        losses
    }

    /// The effects of the links, if these were kept.
    pub(super) fn links(&self) -> Vec<LinkEffect> {
        self.messages().links.clone()
    }

    fn push(&self, perturbation: DelayPerturbation) {
        self.messages().delays.push(perturbation);
    }

    /// Notes the effect of the link of a message.
    fn note_link(&self, in_flight: &InFlight, outcome: &DeliveryOutcome) {
        if !self.keeps_links {
            return;
        }
        let delay_ns = match outcome {
            DeliveryOutcome::Lost | DeliveryOutcome::Held => None,
            DeliveryOutcome::Once(time) | DeliveryOutcome::Twice(time, _) => {
                Some(time.since(in_flight.departure).as_nanos() as u64)
            }
        };
        self.messages().links.push((in_flight.event, in_flight.callback, delay_ns));
    }
}

pub(super) enum PerturbationSource {
    None,
    /// Random ones up to a limit.
    Random {
        seed: u64,
        max_ns: u64,
    },
    /// The perturbations of a schedule; `None` for a loss.
    Scripted(BTreeMap<(EventId, CallbackId), Option<u64>>),
}

impl PerturbationSource {
    pub(super) fn new(jitter: Jitter) -> Self {
        match u64::try_from(jitter.max.as_nanos()).unwrap_or(u64::MAX) {
            0 => Self::None,
            max_ns => Self::Random { seed: jitter.seed, max_ns },
        }
    }

    pub(super) fn scripted(schedule: &Schedule) -> Self {
        let delays = schedule.perturbations.iter();
        let delays = delays.map(|delay| ((delay.event, delay.callback), Some(delay.delay_ns)));
        let losses = schedule.losses.iter().map(|loss| ((loss.event, loss.callback), None));
        let all: BTreeMap<_, _> = delays.chain(losses).collect();
        if all.is_empty() { Self::None } else { Self::Scripted(all) }
    }

    /// Whether a schedule has the message lost.
    fn loses(&self, in_flight: &InFlight) -> bool {
        let key = (in_flight.event, in_flight.callback);
        matches!(self, Self::Scripted(of) if of.get(&key) == Some(&None))
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The delay of a message on an edge with this seed.
    fn delay_ns(&self, in_flight: &InFlight, stream: Option<Stream>) -> u64 {
        match self {
            Self::None => 0,
            Self::Random { max_ns, .. } => stream.map_or(0, |stream| {
                let limit = max_ns.saturating_add(1);
                stream.below(in_flight.event.sequence, Purpose::Jitter, limit)
            }),
            Self::Scripted(perturbations) => {
                let key = (in_flight.event, in_flight.callback);
                perturbations.get(&key).copied().flatten().unwrap_or(0)
            }
        }
    }

    /// The random numbers of an edge, which do not change with other edges.
    fn stream(&self, in_flight: &InFlight, info: &GraphInfo) -> Option<Stream> {
        let Self::Random { seed, .. } = self else { return None };
        let by = info.publisher(in_flight.event.source);
        let by = by.map_or_else(String::new, |(topic, _)| publisher_of(info, topic, in_flight));
        Some(Stream::new(*seed, &format!("jitter {by} -> {}", info.name_of(in_flight.callback))))
    }
}

/// The node that sent a message, and which of its publishers on the topic, unless that is the first
/// one without a name.
fn publisher_of(info: &GraphInfo, topic: &TopicInfo, in_flight: &InFlight) -> String {
    let node = |(by, _): &(LoopId, SourceId)| info.loops[*by].node_index;
    let nodes: Vec<_> = topic.publishers.iter().map(node).collect();
    let names = publisher_names(topic, &nodes).into_iter().zip(&topic.publishers);
    let mut names = names.filter(|(_, (_, source))| *source == in_flight.event.source);
    match names.next() {
        None => String::new(),
        Some((name, (by, _))) => match (&*info.loops[*by].node, &*name) {
            (node, "#0") => node.into(),
            (node, name) => format!("{node} {name}"),
        },
    }
}

/// Links and jitter of one run.
pub(super) struct Traffic {
    links: Option<Box<dyn ResolvedLinks>>,
    jitter: PerturbationSource,
    perturbations: Perturbations,
    /// The callbacks that receive messages with jitter.
    jittered: Table<CallbackId, ()>,
    edges: BTreeMap<(CallbackId, SourceId), Edge>,
    info: GraphInfo,
}

struct Edge {
    stream: Option<Stream>,
    /// When the latest message so far arrives by its link.
    linked: Time,
    /// When it arrives with jitter.
    late: Time,
}

impl Traffic {
    pub(super) fn new(
        links: Option<Box<dyn ResolvedLinks>>,
        jitter: PerturbationSource,
        perturbations: Perturbations,
        info: &GraphInfo,
    ) -> Self {
        let (jittered, edges) = (Table::new(), BTreeMap::new());
        let mut traffic =
            Self { links, jitter, perturbations, jittered, edges, info: info.clone() };
        traffic.add_jittered(info);
        traffic
    }

    fn add_jittered(&mut self, info: &GraphInfo) {
        if !self.jitter.is_none() {
            self.jittered = Table::new();
            for id in info.topics.iter().flat_map(|topic| topic.subscriptions.iter()) {
                self.jittered.insert(*id, ());
            }
        }
    }
}

impl Network for Traffic {
    fn follows_changes(&self) -> bool {
        self.links.is_some() || !self.jitter.is_none()
    }

    fn extend(&mut self, info: &GraphInfo) {
        if let Some(links) = &mut self.links {
            links.extend(info);
        }
        self.edges.retain(|(callback, _), _| info.callbacks.contains(*callback));
        self.add_jittered(info);
        self.info = info.clone();
    }

    fn is_linked(&self, callback: CallbackId) -> bool {
        self.jittered.contains(callback)
            || self.links.as_ref().is_some_and(|links| links.is_linked(callback))
    }

    fn outcome(&mut self, in_flight: &InFlight) -> DeliveryOutcome {
        let InFlight { event, callback, departure, bytes } = *in_flight;
        let outcome = match &mut self.links {
            Some(links) => links.outcome(callback, event, departure, bytes),
            None => DeliveryOutcome::Once(departure),
        };
        self.perturbations.note_link(in_flight, &outcome);
        if self.jitter.loses(in_flight) {
            self.perturbations.messages().losses.push(Loss { event, callback });
            return DeliveryOutcome::Lost;
        }
        if !self.jittered.contains(callback) {
            return outcome;
        }
        let (base, last) = match outcome {
            DeliveryOutcome::Lost | DeliveryOutcome::Held => return outcome,
            DeliveryOutcome::Once(base) => (base, base),
            DeliveryOutcome::Twice(base, copy) => (base, base.max(copy)),
        };
        let Self { jitter, perturbations, edges, info, .. } = self;
        let edge = edges.entry((callback, event.source)).or_insert_with(|| Edge {
            stream: jitter.stream(in_flight, info),
            linked: Time::ZERO,
            late: Time::ZERO,
        });
        let delay_ns = jitter.delay_ns(in_flight, edge.stream);
        if delay_ns > 0 {
            perturbations.push(DelayPerturbation { event, callback, delay_ns });
        }
        let delay = Duration::from_nanos(delay_ns);
        // It overtakes none, unless the link itself has it do so.
        let floor = if base >= edge.linked { edge.late } else { Time::ZERO };
        let late = |time: Time| (time + delay).max(floor);
        let outcome = match outcome {
            DeliveryOutcome::Lost | DeliveryOutcome::Held => outcome,
            DeliveryOutcome::Once(time) => DeliveryOutcome::Once(late(time)),
            DeliveryOutcome::Twice(time, again) => DeliveryOutcome::Twice(late(time), late(again)),
        };
        (edge.linked, edge.late) = (last.max(edge.linked), late(last).max(edge.late));
        outcome
    }
}
