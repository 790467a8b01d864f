//! Random programs: what each callback does in its first, second, third... dispatch.

use proptest::collection::vec;
use proptest::prelude::*;

/// An operation of a callback. Numbers are taken modulo the number of entities of that kind so far;
/// without any, the operation has no effect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Publishes by a publisher of the callback's own node.
    Publish(usize),
    /// Calls the service by a client of any node.
    Call(usize),
    /// Answers the oldest request that a deferred service keeps.
    Answer,
    Trigger(usize),
    CancelTimer(usize),
    ResetTimer(usize),
    SetPeriod(usize, u64),
    /// In a timer's callback, cancels that timer by its context.
    CancelSelf,
    /// Wakes a task that has been polled before.
    Wake(usize),
    CancelTask(usize),
    /// In a task, lets it end.
    Finish,
    Stop,
    /// Creates an entity, up to [`CREATED_MAX`] of them.
    Create(Entity),
    /// Ends an entity: a publisher or client by its handle, the others by `destroy`. It keeps its
    /// number.
    Destroy(Kind, usize),
}

/// Limit of the entities.
pub(crate) const CREATED_MAX: usize = 60;

/// The publishers and some subscriptions of this topic are transient-local.
pub(crate) const TRANSIENT_LOCAL_TOPIC: usize = 0;

/// The number of messages that a transient-local publisher keeps.
pub(crate) const KEPT: usize = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Entity {
    Node,
    Publisher { node: usize, topic: usize },
    Subscription(Subscription),
    Service(Service),
    Client { node: usize, depth: usize },
    Guard { node: usize },
    Timer(Timer),
    Task { node: usize },
}

/// The kinds of entities that can be destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node,
    Publisher,
    Subscription,
    Service,
    Client,
    Guard,
    Timer,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscription {
    pub(crate) node: usize,
    pub(crate) topic: usize,
    pub(crate) depth: usize,
    pub(crate) keep_all: bool,
    /// Of the topic that has such publishers.
    pub(crate) transient_local: bool,
}

/// The server of the only service, unless there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    pub(crate) node: usize,
    pub(crate) depth: usize,
    /// Whether it keeps its requests until an [`Op::Answer`].
    pub(crate) deferred: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub(crate) node: usize,
    pub(crate) period_ms: u64,
    pub(crate) repeats: bool,
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// The operations before the start, which are those of the first node.
    pub(crate) initial: Vec<Op>,
    /// The scripts of the callbacks, dealt out in turn.
    pub(crate) scripts: Vec<Vec<Vec<Op>>>,
    /// The operations after each stop, likewise those of the first node.
    pub(crate) between: Vec<Vec<Op>>,
    /// The operations of a thread beside the run, where there is one; it has no publishers.
    pub(crate) beside: Vec<Op>,
    pub(crate) start_ms: u64,
}

impl Spec {
    /// The operations of callback `index` in its `nth` dispatch.
    pub(crate) fn script(&self, index: usize, nth: usize) -> &[Op] {
        self.scripts[index % self.scripts.len()].get(nth).map_or(&[], |ops| ops)
    }

    /// The operations after the `nth` stop.
    pub(crate) fn between(&self, nth: usize) -> &[Op] {
        self.between.get(nth).map_or(&[], |ops| ops)
    }

    /// The same without anything that depends on time.
    pub(crate) fn without_time(mut self) -> Self {
        let is_timer = |op: &Op| matches!(op, Op::Create(Entity::Timer(_)));
        self.all_ops().for_each(|ops| ops.retain(|op| !is_timer(op)));
        self.start_ms = 0;
        self
    }

    /// The same with the nodes of the start only, to its end: the places of others in the turns are
    /// not specified.
    pub(crate) fn without_late_nodes(mut self) -> Self {
        let of_nodes =
            |op: &Op| matches!(op, Op::Create(Entity::Node) | Op::Destroy(Kind::Node, _));
        self.all_ops().skip(1).for_each(|ops| ops.retain(|op| !of_nodes(op)));
        self.initial.retain(|op| !matches!(op, Op::Destroy(Kind::Node, _)));
        self
    }

    /// The initial operations, and the others.
    fn all_ops(&mut self) -> impl Iterator<Item = &mut Vec<Op>> {
        let Self { initial, scripts, between, beside, .. } = self;
        let scripts = scripts.iter_mut().flatten();
        [initial].into_iter().chain(scripts).chain(between).chain([beside])
    }
}

fn op() -> impl Strategy<Value = Op> {
    let any = || 0..100usize;
    prop_oneof![
        8 => any().prop_map(Op::Publish),
        4 => any().prop_map(Op::Call),
        2 => Just(Op::Answer),
        3 => any().prop_map(Op::Trigger),
        1 => any().prop_map(Op::CancelTimer),
        1 => any().prop_map(Op::ResetTimer),
        1 => (any(), 1..8u64).prop_map(|(timer, ms)| Op::SetPeriod(timer, ms)),
        1 => Just(Op::CancelSelf),
        3 => any().prop_map(Op::Wake),
        1 => any().prop_map(Op::CancelTask),
        1 => Just(Op::Finish),
        1 => Just(Op::Stop),
        1 => Just(Op::Create(Entity::Node)),
        7 => entity().prop_map(Op::Create),
        5 => (kind(), any()).prop_map(|(kind, n)| Op::Destroy(kind, n)),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::Node),
        2 => Just(Kind::Publisher),
        4 => Just(Kind::Subscription),
        2 => Just(Kind::Service),
        2 => Just(Kind::Client),
        2 => Just(Kind::Guard),
        2 => Just(Kind::Timer),
    ]
}

/// An entity of a node.
fn entity() -> impl Strategy<Value = Entity> {
    let (node, topic, depth) = (0..20usize, 0..3usize, 1..=4usize);
    let subscription = (node.clone(), topic.clone(), depth.clone(), any::<[bool; 2]>());
    let service = (node.clone(), depth.clone(), any::<bool>());
    let timer = (node.clone(), 1..8u64, any::<bool>());
    prop_oneof![
        2 => (node.clone(), topic).prop_map(|(node, topic)| Entity::Publisher { node, topic }),
        6 => subscription.prop_map(|(node, topic, depth, [keep_all, transient_local])| {
            let transient_local = transient_local && topic == TRANSIENT_LOCAL_TOPIC;
            let of = Subscription { node, topic, depth, keep_all, transient_local };
            Entity::Subscription(of)
        }),
        3 => service.prop_map(|(node, depth, deferred)| {
            Entity::Service(Service { node, depth, deferred })
        }),
        4 => (node.clone(), depth).prop_map(|(node, depth)| Entity::Client { node, depth }),
        2 => node.clone().prop_map(|node| Entity::Guard { node }),
        2 => timer.prop_map(|(node, period_ms, repeats)| {
            Entity::Timer(Timer { node, period_ms, repeats })
        }),
        2 => node.prop_map(|node| Entity::Task { node }),
    ]
}

/// Programs that start with up to five nodes, each with publishers, and with callbacks that
/// together act a limited number of times, so that every run ends: each acts in its first
/// dispatches, up to `dispatches`.
pub(crate) fn spec(dispatches: usize) -> impl Strategy<Value = Spec> {
    let scripts = vec(vec(vec(op(), 0..5), 0..dispatches), 1..12);
    let initial = (2..=5usize, 1..=3usize, vec(entity(), 4..20), vec(op(), 0..6));
    let others = (vec(vec(op(), 0..4), 0..3), vec(op(), 0..40));
    let parts = (initial, scripts, others, 0..20u64);
    parts.prop_map(|((nodes, topics, entities, ops), scripts, (between, beside), start_ms)| {
        let publishers = (0..nodes).flat_map(|node| {
            (0..topics).map(move |topic| Op::Create(Entity::Publisher { node, topic }))
        });
        let initial = std::iter::repeat_n(Op::Create(Entity::Node), nodes).chain(publishers);
        let initial = initial.chain(entities.into_iter().map(Op::Create)).chain(ops);
        Spec { initial: initial.collect(), scripts, between, beside, start_ms }
    })
}
