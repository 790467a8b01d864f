//! Random graphs and scripts: what each callback does in its first, second, third... dispatch.

use proptest::collection::vec;
use proptest::prelude::*;

/// An operation of a callback. Numbers are taken modulo the number of entities; without any, the
/// operation has no effect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Publishes on a topic, as the callback's own node.
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
    Subscribe(Subscription),
    CreateGuard(usize),
    CreateTimer(Timer),
    /// Destroys an entity, if that was not done. Its handle stays in the list.
    Unsubscribe(usize),
    DestroyGuard(usize),
    DestroyTimer(usize),
}

/// Limit of the entities that callbacks create.
pub(crate) const CREATED_MAX: usize = 12;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscription {
    pub(crate) node: usize,
    pub(crate) topic: usize,
    pub(crate) depth: usize,
    pub(crate) keep_all: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) node: usize,
    pub(crate) depth: usize,
    /// Whether it keeps its requests until an [`Op::Answer`].
    pub(crate) deferred: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) node: usize,
    pub(crate) depth: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub(crate) node: usize,
    pub(crate) period_ms: u64,
    pub(crate) repeats: bool,
}

/// A graph and what happens in it. Its parts are created in the order of these fields.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) nodes: usize,
    pub(crate) topics: usize,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) service: Option<Service>,
    pub(crate) clients: Vec<Client>,
    /// Each guard condition's node.
    pub(crate) guards: Vec<usize>,
    pub(crate) timers: Vec<Timer>,
    /// Each task's node.
    pub(crate) tasks: Vec<usize>,
    /// The operations before the graph is frozen.
    pub(crate) initial: Vec<Op>,
    /// The scripts of the callbacks, dealt out in turn.
    pub(crate) scripts: Vec<Vec<Vec<Op>>>,
    pub(crate) start_ms: u64,
}

impl Spec {
    /// The operations of callback `index` in its `nth` dispatch.
    pub(crate) fn script(&self, index: usize, nth: usize) -> &[Op] {
        self.scripts[index % self.scripts.len()].get(nth).map_or(&[], |ops| ops)
    }

    /// The same without anything that depends on time.
    pub(crate) fn without_time(mut self) -> Self {
        self.timers.clear();
        let scripts = self.scripts.iter_mut().flatten().chain([&mut self.initial]);
        scripts.for_each(|ops| ops.retain(|op| !matches!(op, Op::CreateTimer(_))));
        self.start_ms = 0;
        self
    }
}

fn op(nodes: usize, topics: usize) -> impl Strategy<Value = Op> {
    let any = || 0..100usize;
    prop_oneof![
        8 => any().prop_map(Op::Publish),
        3 => any().prop_map(Op::Call),
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
        2 => subscription(nodes, topics).prop_map(Op::Subscribe),
        1 => (0..nodes).prop_map(Op::CreateGuard),
        1 => timer(nodes).prop_map(Op::CreateTimer),
        2 => any().prop_map(Op::Unsubscribe),
        1 => any().prop_map(Op::DestroyGuard),
        1 => any().prop_map(Op::DestroyTimer),
    ]
}

fn subscription(nodes: usize, topics: usize) -> impl Strategy<Value = Subscription> {
    (0..nodes, 0..topics, 1..=4usize, any::<bool>())
        .prop_map(|(node, topic, depth, keep_all)| Subscription { node, topic, depth, keep_all })
}

fn timer(nodes: usize) -> impl Strategy<Value = Timer> {
    (0..nodes, 1..8u64, any::<bool>()).prop_map(|(node, period_ms, repeats)| Timer {
        node,
        period_ms,
        repeats,
    })
}

/// Graphs of up to five nodes, all of whose callbacks together do at most a few hundred things, so
/// that every run ends.
pub(crate) fn spec() -> impl Strategy<Value = Spec> {
    (2..=5usize, 1..=3usize).prop_flat_map(|(nodes, topics)| {
        let node = 0..nodes;
        let depth = 1..=4usize;
        let service = (node.clone(), depth.clone(), any::<bool>())
            .prop_map(|(node, depth, deferred)| Service { node, depth, deferred });
        let client = (node.clone(), depth).prop_map(|(node, depth)| Client { node, depth });
        let parts = (
            vec(subscription(nodes, topics), 1..7),
            prop::option::of(service),
            vec(client, 0..3),
            vec(node.clone(), 1..4),
            vec(timer(nodes), 0..4),
            vec(node, 0..3),
        );
        let op = || op(nodes, topics);
        let scripts = vec(vec(vec(op(), 0..5), 0..6), 1..12);
        let happenings = (vec(op(), 0..6), scripts, 0..20u64);
        (parts, happenings).prop_map(move |(parts, (initial, scripts, start_ms))| {
            let (subscriptions, service, clients, guards, timers, tasks) = parts;
            Spec {
                nodes,
                topics,
                subscriptions,
                service,
                clients,
                guards,
                timers,
                tasks,
                initial,
                scripts,
                start_ms,
            }
        })
    })
}
