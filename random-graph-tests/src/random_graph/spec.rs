//! The specification of a random graph, as data.
//!
//! Callbacks that trigger each other within one instant must not form a cycle. Everything that
//! carries an event (a topic, a service, a guard condition) is therefore a numbered **channel**,
//! and a callback called by one channel emits on later ones only.

use super::random_source::RandomSource;
use std::collections::BTreeSet;
use std::time::Duration;

/// The parts of a graph. Channels are in the order in which they may trigger each other.
#[derive(Debug, Default)]
pub(super) struct Spec {
    pub(super) loops: Vec<LoopSpec>,
    pub(super) channels: Vec<Channel>,
    pub(super) joins: Vec<Join>,
    pub(super) sources: Vec<Source>,
    /// The effects of callbacks, which refer to them by index.
    pub(super) emits: Vec<Vec<Emit>>,
    /// The parts that callbacks create and destroy.
    pub(super) parts: Vec<PartSpec>,
    /// The channels on which the input publishes: by time, and in response to messages.
    pub(super) input: Option<InputSpec>,
    /// The names of its features.
    pub(super) features: BTreeSet<&'static str>,
}

#[derive(Debug)]
pub(super) struct LoopSpec {
    pub(super) node: usize,
    /// Whether it is the second callback group of its node.
    pub(super) is_group: bool,
    pub(super) kind: Kind,
    pub(super) priority: u8,
}

/// The behaviour of a node after its callback failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    NeverFails,
    Restarts,
    IsIsolated,
}

/// A callback that receives from a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    pub(super) in_loop: usize,
    pub(super) emits: usize,
    /// The call at which it fails.
    pub(super) fails_at: Option<u64>,
}

#[derive(Debug)]
pub(super) enum Channel {
    Topic(TopicSpec),
    Service { server: Receiver, depth: usize, deferred: bool },
    Guard(Receiver),
}

#[derive(Debug, Default)]
pub(super) struct TopicSpec {
    /// The number of messages that its publishers keep for late joiners.
    pub(super) durability_depth: Option<usize>,
    pub(super) lifespan: Option<Duration>,
    pub(super) deadline: Option<Duration>,
    pub(super) is_intercepted: bool,
    pub(super) subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
pub(super) struct Subscriber {
    pub(super) receiver: Receiver,
    pub(super) depth: usize,
    pub(super) keeps_all: bool,
    pub(super) form: SubscriberForm,
}

/// The kind of receiver of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubscriberForm {
    Plain,
    /// A task that awaits messages.
    Stream,
    /// A subscription created at this time.
    Late(Duration),
}

impl SubscriberForm {
    pub(super) fn is_late(&self) -> bool {
        matches!(self, Self::Late(_))
    }
}

/// A synchronized subscription of two topics.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) receiver: Receiver,
    /// The number of channels before the first one that it may emit on.
    pub(super) rank: usize,
    pub(super) topics: [usize; 2],
    pub(super) policy: JoinPolicy,
    pub(super) depth: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum JoinPolicy {
    Exact,
    Approximate,
    LatestOfAll,
    LatestOfAny,
}

/// The start of a chain of events.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) in_loop: usize,
    pub(super) period: Duration,
    pub(super) kind: SourceKind,
    pub(super) emits: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    Timer,
    OneShot,
    /// A task with an interval.
    Task,
    /// A timer that changes its period after this number of calls.
    Changing(u64),
    /// A timer that sets a parameter of its node.
    Sets,
    /// A one-shot timer that other callbacks keep resetting.
    Watchdog,
}

/// An effect of a callback, besides its computation.
#[derive(Clone, Debug)]
pub(super) struct Emit {
    pub(super) to: To,
    /// Takes effect on about one call in `every`.
    pub(super) every: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    Channel(usize),
    /// Calls a service, with effects on its completion.
    Call {
        channel: usize,
        depth: usize,
        timeout: Option<Duration>,
        then: usize,
    },
    /// Resets the watchdog with this source number.
    Reset(usize),
    /// Creates the part with this number, or destroys it.
    Toggle(usize),
}

#[derive(Debug)]
pub(super) struct InputSpec {
    pub(super) items: Vec<Duration>,
    pub(super) out: usize,
    /// Publishes on the second topic in response to each message on the first one.
    pub(super) answers: Option<[usize; 2]>,
}

/// A part that callbacks create and destroy while the graph runs.
#[derive(Debug)]
pub(super) struct PartSpec {
    /// Whether its entities belong to a separate node.
    pub(super) is_node: bool,
    /// Subscriptions, each with its channel.
    pub(super) subscribers: Vec<(usize, Subscriber)>,
    pub(super) sources: Vec<Source>,
    /// The channel of a service with a server that exists from the start.
    pub(super) server: Option<usize>,
}

/// Periods that often coincide, in microseconds, and one that rarely does.
pub(super) const PERIODS: [u64; 10] =
    [1000, 2000, 2000, 4000, 5000, 5000, 10_000, 10_000, 20_000, 3700];

/// A specification under construction: effects are assigned channel by channel.
pub(super) struct SpecGenerator<'a> {
    pub(super) spec: Spec,
    pub(super) random: &'a mut RandomSource,
    /// The callbacks generated so far that may emit on the next channel.
    emitters: Vec<usize>,
    horizon: Duration,
}

impl Spec {
    /// Generates the graph of `random`, with sources that are active up to `horizon`.
    pub(super) fn draw(random: &mut RandomSource, horizon: Duration) -> Self {
        let spec = Self::default();
        let mut generator = SpecGenerator { spec, random, emitters: Vec::new(), horizon };
        generator.draw_loops();
        generator.draw_sources();
        for _ in 0..generator.random.between(3, 12) {
            generator.draw_channel();
            if generator.random.happens(20) {
                generator.draw_join();
            }
        }
        generator.draw_input();
        generator.spec
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = usize> + '_ {
        let numbers = self.channels.iter().enumerate();
        numbers.filter(|(_, channel)| matches!(channel, Channel::Topic(_))).map(|(n, _)| n)
    }
}

impl SpecGenerator<'_> {
    fn has(&mut self, feature: &'static str) {
        self.spec.features.insert(feature);
    }

    fn draw_loops(&mut self) {
        let nodes = self.random.between(1, 20);
        for node in 0..nodes {
            let kind = match self.random.below(10) {
                0 => Kind::Restarts,
                1 => Kind::IsIsolated,
                _ => Kind::NeverFails,
            };
            for is_group in [false, true] {
                if !is_group || self.random.happens(30) {
                    let priority = self.random.below(3) as u8;
                    self.spec.loops.push(LoopSpec { node, is_group, kind, priority });
                }
            }
        }
    }

    fn emits(&mut self) -> usize {
        self.spec.emits.push(Vec::new());
        self.spec.emits.len() - 1
    }

    fn draw_sources(&mut self) {
        use SourceKind as Is;
        for _ in 0..self.random.between(2, 8) {
            let (kind, feature) = match self.random.below(8) {
                0 => (Is::OneShot, "one-shot timer"),
                1 => (Is::Task, "task with an interval"),
                2 => (Is::Changing(self.random.between(2, 9) as u64), "changing period"),
                3 => (Is::Sets, "parameter"),
                4 => (Is::Watchdog, "watchdog"),
                _ => (Is::Timer, "timer"),
            };
            self.has(feature);
            let in_loop = self.random.below(self.spec.loops.len());
            let period = Duration::from_micros(self.random.pick(&PERIODS));
            let emits = self.emits();
            self.spec.sources.push(Source { in_loop, period, kind, emits });
            if kind == Is::Watchdog {
                let watchdog = self.spec.sources.len() - 1;
                let every = self.random.between(1, 3) as u64;
                if let Some(&emitter) = self.emitters.last() {
                    self.spec.emits[emitter].push(Emit { to: To::Reset(watchdog), every });
                }
            } else {
                self.emitters.push(emits);
            }
        }
        // Adds a timer that repeats, so that there is at least one.
        let emits = self.emits();
        let period = Duration::from_micros(self.random.pick(&PERIODS));
        self.spec.sources.push(Source { in_loop: 0, period, kind: Is::Timer, emits });
        self.emitters.push(emits);
    }

    fn receiver(&mut self) -> Receiver {
        let in_loop = self.random.below(self.spec.loops.len());
        let kind = self.spec.loops[in_loop].kind;
        let fails = kind != Kind::NeverFails && self.random.happens(60);
        let fails_at = fails.then(|| self.random.between(3, 30) as u64);
        if fails {
            self.has(if kind == Kind::Restarts { "restart" } else { "isolation" });
        }
        Receiver { in_loop, emits: self.emits(), fails_at }
    }

    fn draw_channel(&mut self) {
        let number = self.spec.channels.len();
        let (channel, receivers) = match self.random.below(10) {
            0 | 1 => self.draw_service(),
            2 => {
                self.has("guard condition");
                let receiver = self.receiver();
                (Channel::Guard(receiver), vec![receiver.emits])
            }
            _ => self.draw_topic(),
        };
        let mut later = receivers;
        for _ in 0..1 + usize::from(self.random.happens(40)) {
            let emitter = self.random.pick(&self.emitters);
            let to = match &channel {
                Channel::Service { .. } => {
                    let then = self.emits();
                    later.push(then);
                    let timeout = self.random.maybe(60, |random| random.micros(500, 8000));
                    if timeout.is_some() {
                        self.has("timeout");
                    }
                    let depth = self.random.between(1, 4);
                    To::Call { channel: number, depth, timeout, then }
                }
                _ => To::Channel(number),
            };
            let every = self.random.between(1, 3) as u64;
            self.spec.emits[emitter].push(Emit { to, every });
        }
        self.spec.channels.push(channel);
        self.emitters.extend(later);
    }

    fn draw_service(&mut self) -> (Channel, Vec<usize>) {
        self.has("service");
        let deferred = self.random.happens(40);
        if deferred {
            self.has("deferred service");
        }
        let (server, depth) = (self.receiver(), self.random.between(1, 4));
        (Channel::Service { server, depth, deferred }, vec![server.emits])
    }

    fn draw_topic(&mut self) -> (Channel, Vec<usize>) {
        let mut topic = TopicSpec {
            durability_depth: self.random.maybe(30, |random| random.between(1, 4)),
            lifespan: self.random.maybe(15, |random| random.micros(500, 4000)),
            deadline: self.random.maybe(10, |random| random.micros(3000, 20_000)),
            is_intercepted: self.random.happens(8),
            subscribers: Vec::new(),
        };
        let features = [
            (topic.durability_depth.is_some(), "transient local"),
            (topic.lifespan.is_some(), "lifespan"),
            (topic.deadline.is_some(), "deadline"),
            (topic.is_intercepted, "interceptor"),
        ];
        features.iter().filter(|(is, _)| *is).for_each(|(_, feature)| self.has(feature));
        for _ in 0..self.random.between(1, 3) {
            let form = match self.random.below(6) {
                0 => SubscriberForm::Stream,
                1 | 2 if topic.durability_depth.is_some() => {
                    let last = self.horizon.as_micros() as usize;
                    SubscriberForm::Late(self.random.micros(1, last))
                }
                _ => SubscriberForm::Plain,
            };
            let keeps_all = self.random.happens(25);
            for (is, feature) in [
                (keeps_all, "keep all"),
                (form == SubscriberForm::Stream, "stream"),
                (form.is_late(), "late subscription"),
            ] {
                if is {
                    self.has(feature);
                }
            }
            let depth = self.random.between(1, 3);
            let receiver = self.receiver();
            topic.subscribers.push(Subscriber { receiver, depth, keeps_all, form });
        }
        let emits = topic.subscribers.iter().map(|subscriber| subscriber.receiver.emits).collect();
        (Channel::Topic(topic), emits)
    }

    fn draw_join(&mut self) {
        use JoinPolicy as Is;
        let topics: Vec<usize> = self.spec.topics().collect();
        let Some((last, others)) = topics.split_last().filter(|(_, others)| !others.is_empty())
        else {
            return;
        };
        let topics = [self.random.pick(others), *last];
        let policies = [
            (Is::Exact, "exact time"),
            (Is::Approximate, "approximate time"),
            (Is::LatestOfAll, "latest of all"),
            (Is::LatestOfAny, "latest of any"),
        ];
        let (policy, feature) = self.random.pick(&policies);
        self.has(feature);
        let (receiver, depth) = (self.receiver(), self.random.between(1, 4));
        let rank = self.spec.channels.len();
        self.spec.joins.push(Join { receiver, rank, topics, policy, depth });
        self.emitters.push(receiver.emits);
    }

    fn draw_input(&mut self) {
        let topics: Vec<usize> = self.spec.topics().collect();
        if topics.is_empty() || !self.random.happens(40) {
            return;
        }
        self.has("input");
        let last = self.horizon.as_millis() as usize;
        let items = (0..self.random.between(1, 30)).map(|_| self.random.between(0, last));
        let mut items: Vec<_> = items.map(|ms| Duration::from_millis(ms as u64)).collect();
        items.sort_unstable();
        let out = self.random.pick(&topics);
        let answers = match &topics[..] {
            [first, .., last] if self.random.happens(50) => {
                self.has("input in closed loop");
                Some([*first, *last])
            }
            _ => None,
        };
        self.spec.input = Some(InputSpec { items, out, answers });
    }
}
