//! The reference: what ought to happen, by plain queues on one thread. It uses nothing of ringspin,
//! and is written to be read, not to be fast.

mod calls;
mod notices;
mod timers;
mod topics;

use crate::harness::{Outcome, Record};
use crate::spec::{CREATED_MAX, Entity, Kind, Op, Spec};
use calls::{Call, Client, Service};
use notices::{Guard, Task};
use std::collections::VecDeque;
use timers::Timer;
use topics::{Publisher, Subscription};

/// How ready events are ordered.
pub(crate) enum Order {
    /// The order in which they became ready.
    Fifo,
    /// By turns of up to four among the nodes, in this order of them.
    RoundRobin(Vec<usize>),
}

/// An entry of a ready queue.
#[derive(Clone, Copy, Debug)]
enum Token {
    Message(usize),
    Request(usize),
    Response(usize),
    Guard(usize),
    TimerChanged(usize),
    Expiry(usize),
    Task(usize),
    /// The first event of a node of the start: it checks whether it is out of service.
    Nothing(usize),
}

/// A change that a callback has made, and the worker learns of when that returns.
enum Change {
    Guard(usize),
    Timer(usize),
    Task(usize),
    /// These calls waited for a server that was destroyed.
    Unanswered(VecDeque<Call>),
}

/// The identity of an event.
type Event = (u32, u64);

struct Callback {
    node: usize,
    is_gone: bool,
    /// Its script was run so often.
    runs: usize,
    dispatched: u64,
    overwritten: u64,
    missed: u64,
    coalesced: u64,
    discarded: u64,
}

pub(crate) struct Reference<'a> {
    spec: &'a Spec,
    order: Order,
    ready: Vec<VecDeque<Token>>,
    /// State of a sweep: the loop in turn, and the number of its events so far.
    turn: (usize, u32),
    now: u64,
    running: bool,
    stopped: bool,
    /// Whether each node was destroyed.
    nodes: Vec<bool>,
    publishers: Vec<Publisher>,
    subscriptions: Vec<Subscription>,
    services: Vec<Service>,
    clients: Vec<Client>,
    /// The requests that are not answered yet.
    kept: VecDeque<Call>,
    guards: Vec<Guard>,
    timers: Vec<Timer>,
    tasks: Vec<Task>,
    callbacks: Vec<Callback>,
    changes: Vec<Change>,
    next_source: u32,
    created: usize,
    outcome: Outcome,
}

/// Requests of a script to its own callback.
#[derive(Default)]
struct Asked {
    cancel_self: bool,
    finish: bool,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(spec: &'a Spec, order: Order) -> Self {
        let rings = match &order {
            Order::Fifo => 1,
            Order::RoundRobin(nodes) => nodes.len(),
        };
        Self {
            spec,
            order,
            ready: vec![VecDeque::new(); rings],
            turn: (0, 0),
            now: 0,
            running: false,
            stopped: false,
            nodes: Vec::new(),
            publishers: Vec::new(),
            subscriptions: Vec::new(),
            services: Vec::new(),
            clients: Vec::new(),
            kept: VecDeque::new(),
            guards: Vec::new(),
            timers: Vec::new(),
            tasks: Vec::new(),
            callbacks: Vec::new(),
            changes: Vec::new(),
            next_source: 0,
            created: 0,
            outcome: Outcome::default(),
        }
    }

    /// The outcome up to simulated time `end_ms`.
    pub(crate) fn run(mut self, end_ms: u32) -> Outcome {
        let spec = self.spec;
        self.do_all(&spec.initial, 0);
        self.start();
        let end = u64::from(end_ms) * timers::MS;
        loop {
            self.adopt();
            if let Some(token) = self.next_ready() {
                self.dispatch(token);
                if std::mem::take(&mut self.stopped) {
                    self.do_all(spec.between(self.outcome.stops.len()), 0);
                    self.stopped = false;
                    self.outcome.stops.push(self.outcome.dispatches.len());
                }
            } else if !self.expire_one() {
                match self.next_deadline() {
                    Some(deadline) if deadline <= end => self.now = deadline,
                    _ => break,
                }
            }
        }
        for of in self.callbacks {
            let counters = [of.dispatched, of.overwritten, of.missed, of.coalesced, of.discarded];
            match of.is_gone {
                false => self.outcome.counters.push(counters),
                true => (0..5).for_each(|n| self.outcome.removed[n] += counters[n]),
            }
        }
        self.outcome
    }

    fn start(&mut self) {
        self.running = true;
        self.stopped = false;
        self.now = self.spec.start_ms * timers::MS;
        self.start_publishers();
        // Ordered by creation.
        for change in std::mem::take(&mut self.changes) {
            match change {
                Change::Timer(n) => self.start_timer(n),
                Change::Guard(n) if self.is_gone(self.guards[n].callback) => {}
                change => self.adopt_one(change),
            }
        }
        for node in 0..self.nodes.len() {
            self.push(Token::Nothing(node));
        }
    }

    /// The worker learns of the last callback's changes.
    fn adopt(&mut self) {
        std::mem::take(&mut self.changes).into_iter().for_each(|change| self.adopt_one(change));
    }

    fn adopt_one(&mut self, change: Change) {
        match change {
            Change::Guard(n) => self.push(Token::Guard(n)),
            Change::Timer(n) => self.timers[n].count_from_creation(),
            Change::Task(n) => self.push(Token::Task(n)),
            Change::Unanswered(calls) => {
                calls.into_iter().for_each(|call| self.respond(call, false));
            }
        }
    }

    fn push(&mut self, token: Token) {
        let callback = match token {
            Token::Message(n) => self.subscriptions[n].callback,
            Token::Request(n) => self.services[n].callback,
            Token::Response(n) => self.clients[n].callback,
            Token::Guard(n) => self.guards[n].callback,
            Token::TimerChanged(n) | Token::Expiry(n) => self.timers[n].callback,
            Token::Task(n) => self.tasks[n].callback,
            Token::Nothing(_) => usize::MAX,
        };
        let node = match token {
            Token::Nothing(node) => node,
            _ => self.callbacks[callback].node,
        };
        let ring = match &self.order {
            Order::Fifo => 0,
            Order::RoundRobin(nodes) => nodes.iter().position(|n| *n == node).unwrap(),
        };
        self.ready[ring].push_back(token);
    }

    fn next_ready(&mut self) -> Option<Token> {
        let (start, count) = self.turn;
        let rings = self.ready.len();
        let mut around = (0..rings).map(|n| (start + n) % rings);
        let Some(ring) = around.find(|ring| !self.ready[*ring].is_empty()) else {
            self.turn = (0, 0);
            return None;
        };
        let count = if ring == start { count + 1 } else { 1 };
        self.turn = if count == 4 { (ring + 1, 0) } else { (ring, count) };
        self.ready[ring].pop_front()
    }

    /// Handles an event, unless its callback was destroyed.
    fn dispatch(&mut self, token: Token) {
        match token {
            Token::Nothing(_) => {}
            Token::Message(n) => self.take_message(n),
            Token::Request(n) => self.serve(n),
            Token::Response(n) => self.end_call(n),
            Token::Guard(n) => self.answer_triggers(n),
            Token::TimerChanged(n) => self.timers[n].apply(),
            Token::Expiry(n) => self.fire(n),
            Token::Task(n) => self.poll(n),
        }
    }

    fn record(&mut self, callback: usize, (source, sequence): Event) {
        let record: Record = (callback as u32, source, sequence, self.now);
        self.outcome.dispatches.push(record);
        self.callbacks[callback].dispatched += 1;
    }

    /// Runs a callback's script.
    fn call_back(&mut self, callback: usize, event: Event) -> Asked {
        self.record(callback, event);
        let of = &mut self.callbacks[callback];
        of.runs += 1;
        let (node, nth) = (of.node, of.runs - 1);
        let spec = self.spec;
        self.do_all(spec.script(callback, nth), node)
    }

    fn do_all(&mut self, ops: &[Op], node: usize) -> Asked {
        let mut asked = Asked::default();
        ops.iter().for_each(|op| self.do_one(*op, node, &mut asked));
        asked
    }

    fn do_one(&mut self, op: Op, node: usize, asked: &mut Asked) {
        match op {
            Op::Publish(n) => self.publish(node, n),
            Op::Call(n) => of(n, self.clients.len(), |n| self.call(n)),
            Op::Answer => {
                if let Some(call) = self.kept.pop_front() {
                    self.respond(call, true);
                }
            }
            Op::Trigger(n) => of(n, self.guards.len(), |n| self.trigger(n)),
            Op::CancelTimer(n) => of(n, self.timers.len(), |n| self.cancel_timer(n)),
            Op::ResetTimer(n) => of(n, self.timers.len(), |n| self.reset_timer(n)),
            Op::SetPeriod(n, ms) => of(n, self.timers.len(), |n| self.set_period(n, ms)),
            Op::CancelSelf => asked.cancel_self = true,
            Op::Wake(n) => of(n, self.tasks.len(), |n| self.wake(n)),
            Op::CancelTask(n) => of(n, self.tasks.len(), |n| self.cancel_task(n)),
            Op::Finish => asked.finish = true,
            Op::Stop => self.stopped = true,
            Op::Create(entity) => {
                self.created += 1;
                if self.created <= CREATED_MAX {
                    self.create(entity);
                }
            }
            Op::Destroy(kind, n) => self.destroy(kind, n),
        }
    }

    /// Creates an entity, unless its node is destroyed.
    fn create(&mut self, entity: Entity) {
        match entity {
            Entity::Node => self.nodes.push(false),
            Entity::Publisher { node, topic } => {
                self.in_node(node, |it, node| it.create_publisher(node, topic));
            }
            Entity::Subscription(of) => self.in_node(of.node, |it, node| it.subscribe(node, of)),
            Entity::Service(of) => self.in_node(of.node, |it, node| it.create_service(node, of)),
            Entity::Client { node, depth } => {
                self.in_node(node, |it, node| it.create_client(node, depth));
            }
            Entity::Guard { node } => self.in_node(node, Self::create_guard),
            Entity::Timer(of) => self.in_node(of.node, |it, node| it.create_timer(node, of)),
            Entity::Task { node } => self.in_node(node, Self::spawn),
        }
    }

    fn in_node(&mut self, node: usize, create: impl FnOnce(&mut Self, usize)) {
        let node = node % self.nodes.len();
        if !self.nodes[node] {
            create(self, node);
        }
    }

    /// Another callback of `node`.
    fn callback(&mut self, node: usize) -> usize {
        self.callbacks.push(Callback {
            node,
            is_gone: false,
            runs: 0,
            dispatched: 0,
            overwritten: 0,
            missed: 0,
            coalesced: 0,
            discarded: 0,
        });
        self.callbacks.len() - 1
    }

    fn source(&mut self) -> u32 {
        self.next_source += 1;
        self.next_source - 1
    }

    fn is_gone(&self, callback: usize) -> bool {
        self.callbacks[callback].is_gone
    }

    fn destroy(&mut self, kind: Kind, n: usize) {
        let callback = match kind {
            Kind::Node => return of(n, self.nodes.len(), |n| self.destroy_node(n)),
            Kind::Publisher => {
                return of(n, self.publishers.len(), |n| self.publishers[n].is_gone = true);
            }
            Kind::Subscription => pick(&self.subscriptions, n).map(|of| of.callback),
            Kind::Service => pick(&self.services, n).map(|of| of.callback),
            Kind::Client => {
                return of(n, self.clients.len(), |n| {
                    self.clients[n].is_held = false;
                    self.end_client(n);
                });
            }
            Kind::Guard => pick(&self.guards, n).map(|of| of.callback),
            Kind::Timer => pick(&self.timers, n).map(|of| of.callback),
        };
        self.destroy_all(|it| Some(it) == callback);
    }

    /// Destroys a node with all it owns. Its publishers stay as long as their handles.
    fn destroy_node(&mut self, node: usize) {
        self.nodes[node] = true;
        let of_node: Vec<_> = self.callbacks.iter().map(|of| of.node == node).collect();
        self.destroy_all(|callback| of_node[callback]);
    }

    /// Destroys the entities with such callbacks: their waiting events are discarded.
    fn destroy_all(&mut self, is_meant: impl Fn(usize) -> bool) {
        let Self { callbacks, subscriptions, services, clients, changes, outcome, .. } = self;
        let mut end = |callback: usize, waiting: usize| {
            let of = &mut callbacks[callback];
            let ends = is_meant(callback) && !of.is_gone;
            if ends {
                of.discarded += waiting as u64;
            }
            ends
        };
        for of in subscriptions {
            end(of.callback, of.queue.len());
        }
        for of in services {
            if end(of.callback, of.requests.len()) {
                changes.push(Change::Unanswered(std::mem::take(&mut of.requests)));
            }
        }
        for of in clients {
            if end(of.callback, of.responses.len()) {
                outcome.calls.stopped += of.unanswered as u64;
            }
        }
        let meant = callbacks.iter_mut().enumerate().filter(|(n, _)| is_meant(*n));
        meant.for_each(|(_, of)| of.is_gone = true);
    }
}

/// Of `all`, the one that a script means.
fn pick<T>(all: &[T], index: usize) -> Option<&T> {
    all.get(index.checked_rem(all.len())?)
}

/// Calls `f` with the one of `count` that `index` means, if there are any.
fn of(index: usize, count: usize, f: impl FnOnce(usize)) {
    if let Some(n) = index.checked_rem(count) {
        f(n);
    }
}
