//! The reference: what ought to happen, by plain queues on one thread. It uses nothing of ringspin,
//! and is written to be read, not to be fast.

use crate::harness::{Outcome, Record};
use crate::spec::{self, CREATED_MAX, Op, Spec};
use std::collections::VecDeque;

/// How ready events are ordered.
pub(crate) enum Order {
    /// As they became ready.
    Fifo,
    /// By turns of up to four among the nodes, in this order of them.
    RoundRobin(Vec<usize>),
}

/// An entry of a ready queue.
#[derive(Clone, Copy, Debug)]
enum Token {
    Message(usize),
    Request,
    Response(usize),
    Guard(usize),
    TimerChanged(usize),
    Expiry(usize),
    Task(usize),
    /// The first event of every loop, at which it checks whether its node is out of service.
    Nothing,
}

/// The identity of an event.
type Event = (u32, u64);

struct Subscription {
    spec: spec::Subscription,
    callback: usize,
    is_gone: bool,
    queue: VecDeque<Event>,
}

#[derive(Default)]
struct Guard {
    node: usize,
    callback: usize,
    is_gone: bool,
    source: u32,
    triggers: u64,
    answered: u64,
    noticed: bool,
}

#[derive(Default)]
struct Client {
    sources: [u32; 2],
    made: u64,
    unanswered: usize,
    responses: VecDeque<Event>,
}

#[derive(Clone, Copy)]
enum Request {
    Cancel,
    At(u64),
}

#[derive(Default)]
struct Timer {
    node: usize,
    callback: usize,
    is_gone: bool,
    repeats: bool,
    created: u64,
    source: u32,
    fired: u64,
    /// As asked for, and as the worker has taken over.
    periods: [u64; 2],
    request: Option<Request>,
    noticed: bool,
    deadline: Option<u64>,
    /// Whether the expiry that is under way was withdrawn.
    withdrawn: bool,
    pending: bool,
    expired: bool,
}

#[derive(Default)]
struct Task {
    callback: usize,
    source: u32,
    polls: u64,
    /// Whether its future was polled: one that is cancelled before has no waker.
    has_waker: bool,
    noticed: bool,
    cancelled: bool,
    finished: bool,
}

pub(crate) struct Reference<'a> {
    spec: &'a Spec,
    order: Order,
    ready: Vec<VecDeque<Token>>,
    /// Of a sweep: whose turn it is, and how many events of it there were.
    turn: (usize, u32),
    now: u64,
    subscriptions: Vec<Subscription>,
    published: Vec<Vec<u64>>,
    refused: Vec<u64>,
    requests: VecDeque<(usize, u64)>,
    kept: VecDeque<(usize, u64)>,
    refused_calls: u64,
    clients: Vec<Client>,
    guards: Vec<Guard>,
    timers: Vec<Timer>,
    tasks: Vec<Task>,
    running: bool,
    stopped: bool,
    nodes_of: Vec<usize>,
    counts: Vec<usize>,
    outcome: Outcome,
    next_source: u32,
    /// The number of entities that callbacks have created.
    created: usize,
    /// The guard conditions and timers that a callback has created, and no worker knows yet.
    added: Vec<Added>,
    /// The counters of destroyed callbacks count together.
    gone: Vec<usize>,
}

enum Added {
    Guard(usize),
    Timer(usize),
}

const MS: u64 = 1_000_000;

impl<'a> Reference<'a> {
    pub(crate) fn new(spec: &'a Spec, order: Order) -> Self {
        let rings = match &order {
            Order::Fifo => 1,
            Order::RoundRobin(nodes) => nodes.len(),
        };
        let (dispatches, counters, refused) = (vec![], vec![], vec![]);
        let outcome = Outcome { dispatches, counters, refused, removed: [0; 5], stops: vec![] };
        let mut new = Self {
            spec,
            order,
            ready: vec![VecDeque::new(); rings],
            turn: (0, 0),
            now: 0,
            subscriptions: Vec::new(),
            published: vec![vec![0; spec.topics]; spec.nodes],
            refused: vec![0; spec.topics],
            requests: VecDeque::new(),
            kept: VecDeque::new(),
            refused_calls: 0,
            clients: Vec::new(),
            guards: Vec::new(),
            timers: Vec::new(),
            tasks: Vec::new(),
            running: false,
            stopped: false,
            counts: Vec::new(),
            nodes_of: Vec::new(),
            outcome,
            next_source: (spec.nodes * spec.topics) as u32,
            created: 0,
            added: Vec::new(),
            gone: Vec::new(),
        };
        spec.subscriptions.iter().for_each(|of| new.subscribe(*of));
        if let Some(service) = &spec.service {
            new.callback(service.node);
        }
        for client in &spec.clients {
            new.callback(client.node);
            new.callback(client.node); // its timeouts
            let [request, response, _timeout] = [new.source(), new.source(), new.source()];
            new.clients.push(Client { sources: [request, response], ..Client::default() });
        }
        spec.guards.iter().for_each(|node| new.create_guard(*node));
        spec.timers.iter().for_each(|of| new.create_timer(of));
        for node in &spec.tasks {
            let task = Task {
                callback: new.callback(*node),
                source: new.source(),
                noticed: true,
                ..Task::default()
            };
            new.tasks.push(task);
        }
        new
    }

    /// Another callback of `node`.
    fn callback(&mut self, node: usize) -> usize {
        self.nodes_of.push(node);
        self.counts.push(0);
        self.outcome.counters.push([0; 4]);
        self.counts.len() - 1
    }

    fn source(&mut self) -> u32 {
        self.next_source += 1;
        self.next_source - 1
    }

    fn subscribe(&mut self, spec: spec::Subscription) {
        let callback = self.callback(spec.node);
        let queue = VecDeque::new();
        self.subscriptions.push(Subscription { spec, callback, is_gone: false, queue });
    }

    fn create_guard(&mut self, node: usize) {
        let (callback, source) = (self.callback(node), self.source());
        self.added.push(Added::Guard(self.guards.len()));
        self.guards.push(Guard { node, callback, source, noticed: true, ..Guard::default() });
    }

    fn create_timer(&mut self, of: &spec::Timer) {
        let (callback, source) = (self.callback(of.node), self.source());
        self.added.push(Added::Timer(self.timers.len()));
        self.timers.push(Timer {
            node: of.node,
            callback,
            repeats: of.repeats,
            created: self.now,
            source,
            periods: [of.period_ms * MS; 2],
            noticed: true,
            ..Timer::default()
        });
    }

    /// The worker learns of what the last callback has created.
    fn adopt(&mut self) {
        for added in std::mem::take(&mut self.added) {
            match added {
                Added::Guard(n) => self.push(Token::Guard(n)),
                Added::Timer(n) => {
                    let timer = &mut self.timers[n];
                    timer.noticed = false;
                    timer.request.get_or_insert(Request::At(timer.created + timer.periods[0]));
                    timer.apply();
                }
            }
        }
    }

    /// The outcome up to simulated time `end_ms`.
    pub(crate) fn run(mut self, end_ms: u32) -> Outcome {
        let spec = self.spec;
        for op in &spec.initial {
            self.do_one(*op, 0);
        }
        self.start();
        self.stopped = false;
        self.now = spec.start_ms * MS;
        let end = u64::from(end_ms) * MS;
        loop {
            self.adopt();
            if let Some(token) = self.next_ready() {
                self.dispatch(token);
                if std::mem::take(&mut self.stopped) {
                    self.outcome.stops.push(self.outcome.dispatches.len());
                }
            } else if !self.expire_one() {
                match self.next_deadline() {
                    Some(deadline) if deadline <= end => self.now = deadline,
                    _ => break,
                }
            }
        }
        let refused = (0..).zip(&self.refused).map(|(n, count)| (format!("/topic{n}"), *count));
        let calls = (String::from("service /service"), self.refused_calls);
        let refused = refused.chain([calls]).filter(|(_, count)| *count > 0);
        self.outcome.refused = refused.collect();
        self.gone.sort_unstable();
        for callback in self.gone.into_iter().rev() {
            let counters = self.outcome.counters.remove(callback);
            (0..4).for_each(|n| self.outcome.removed[n] += counters[n]);
        }
        self.outcome
    }

    fn start(&mut self) {
        self.running = true;
        self.added.clear();
        for timer in &mut self.timers {
            timer.noticed = false;
            // Periodic timers keep the phase of time zero; others count from the start.
            let anchor = if timer.repeats { 0 } else { self.spec.start_ms * MS };
            timer.request.get_or_insert(Request::At(anchor + timer.periods[0]));
            timer.apply();
        }
        let guards = self.guards.iter().enumerate().filter(|(_, guard)| !guard.is_gone);
        let guards = guards.map(|(n, guard)| (guard.callback, Token::Guard(n)));
        let tasks = self.tasks.iter().enumerate().map(|(n, task)| (task.callback, Token::Task(n)));
        let mut starts: Vec<_> = guards.chain(tasks).collect();
        starts.sort_by_key(|(callback, _)| *callback);
        starts.into_iter().for_each(|(_, token)| self.push(token));
        // All loops have their nodes' numbers: there is one for each node.
        (0..self.ready.len()).for_each(|ring| self.ready[ring].push_back(Token::Nothing));
    }

    fn push(&mut self, token: Token) {
        let node = match token {
            Token::Message(n) => self.subscriptions[n].spec.node,
            Token::Request => self.spec.service.as_ref().unwrap().node,
            Token::Response(n) => self.spec.clients[n].node,
            Token::Guard(n) => self.guards[n].node,
            Token::TimerChanged(n) | Token::Expiry(n) => self.timers[n].node,
            Token::Task(n) => self.spec.tasks[n],
            Token::Nothing => unreachable!("it is pushed to every ring"),
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
        let ring = around.find(|ring| !self.ready[*ring].is_empty())?;
        let count = if ring == start { count + 1 } else { 1 };
        self.turn = if count == 4 { (ring + 1, 0) } else { (ring, count) };
        self.ready[ring].pop_front()
    }

    fn dispatch(&mut self, token: Token) {
        let spec = self.spec;
        let first_client = spec.subscriptions.len() + usize::from(spec.service.is_some());
        match token {
            Token::Nothing => {}
            Token::Message(n) => {
                let Subscription { queue, callback, is_gone, .. } = &mut self.subscriptions[n];
                if !*is_gone {
                    let event = queue.pop_front().expect("one token, one message");
                    let callback = *callback;
                    self.call_back(callback, event);
                }
            }
            Token::Request => {
                let (client, sequence) = self.requests.pop_front().unwrap();
                let source = self.clients[client].sources[0];
                self.call_back(spec.subscriptions.len(), (source, sequence));
                match spec.service.as_ref().unwrap().deferred {
                    true => self.kept.push_back((client, sequence)),
                    false => self.respond((client, sequence)),
                }
            }
            Token::Response(n) => {
                let event = self.clients[n].responses.pop_front().unwrap();
                self.clients[n].unanswered -= 1;
                self.call_back(first_client + 2 * n, event);
            }
            Token::Guard(n) if self.guards[n].is_gone => {}
            Token::Guard(n) => self.answer_triggers(n, self.guards[n].callback),
            Token::TimerChanged(n) | Token::Expiry(n) if self.timers[n].is_gone => {}
            Token::TimerChanged(n) => {
                self.timers[n].noticed = false;
                self.timers[n].apply();
            }
            Token::Expiry(n) => {
                let timer = &mut self.timers[n];
                timer.pending = false;
                if std::mem::take(&mut timer.withdrawn) {
                    return;
                }
                timer.fired += 1;
                let event = (timer.source, timer.fired - 1);
                let callback = timer.callback;
                let (cancel_self, _) = self.call_back(callback, event);
                if cancel_self {
                    self.request(n, Request::Cancel);
                }
            }
            Token::Task(n) => self.poll(n, self.tasks[n].callback),
        }
    }

    fn answer_triggers(&mut self, n: usize, callback: usize) {
        let guard = &mut self.guards[n];
        guard.noticed = false;
        if guard.triggers == guard.answered {
            return;
        }
        let coalesced = guard.triggers - guard.answered - 1;
        guard.answered = guard.triggers;
        let event = (guard.source, guard.triggers - 1);
        self.outcome.counters[callback][3] += coalesced;
        self.call_back(callback, event);
    }

    fn poll(&mut self, n: usize, callback: usize) {
        let task = &mut self.tasks[n];
        task.noticed = false;
        if task.finished {
            return;
        }
        let event = (task.source, task.polls);
        task.polls += 1;
        if task.cancelled {
            task.finished = true;
            self.record(callback, event);
            return;
        }
        task.has_waker = true;
        let (_, finish) = self.call_back(callback, event);
        self.tasks[n].finished = finish;
    }

    fn record(&mut self, callback: usize, (source, sequence): Event) {
        let record: Record = (callback as u32, source, sequence, self.now);
        self.outcome.dispatches.push(record);
        self.outcome.counters[callback][0] += 1;
    }

    /// Runs a callback's script; what it asks of its own timer or task.
    fn call_back(&mut self, callback: usize, event: Event) -> (bool, bool) {
        self.record(callback, event);
        let nth = self.counts[callback];
        self.counts[callback] += 1;
        let node = self.nodes_of[callback];
        let script = self.spec.script(callback, nth);
        let asked: Vec<_> = script.iter().map(|op| self.do_one(*op, node)).collect();
        (asked.iter().any(|asked| asked.0), asked.iter().any(|asked| asked.1))
    }

    fn do_one(&mut self, op: Op, node: usize) -> (bool, bool) {
        match op {
            Op::Publish(topic) => self.publish(node, topic % self.spec.topics),
            Op::Call(n) => of(n, self.clients.len(), |n| self.call(n)),
            Op::Answer => {
                if let Some(request) = self.kept.pop_front() {
                    self.respond(request);
                }
            }
            Op::Trigger(n) => of(n, self.guards.len(), |n| {
                self.guards[n].triggers += 1;
                if !std::mem::replace(&mut self.guards[n].noticed, true) {
                    self.push(Token::Guard(n));
                }
            }),
            Op::CancelTimer(n) => of(n, self.timers.len(), |n| self.request(n, Request::Cancel)),
            Op::ResetTimer(n) => of(n, self.timers.len(), |n| {
                let now = if self.running { self.now } else { 0 };
                let at = now + self.timers[n].periods[0];
                self.request(n, Request::At(at));
            }),
            Op::SetPeriod(n, ms) => of(n, self.timers.len(), |n| {
                self.timers[n].periods[0] = ms * MS;
                self.notice_timer(n);
            }),
            Op::CancelSelf => return (true, false),
            Op::Wake(n) => of(n, self.tasks.len(), |n| {
                if self.tasks[n].has_waker {
                    self.notice_task(n);
                }
            }),
            Op::CancelTask(n) => of(n, self.tasks.len(), |n| {
                self.tasks[n].cancelled = true;
                self.notice_task(n);
            }),
            Op::Finish => return (false, true),
            Op::Stop => self.stopped = true,
            Op::Subscribe(_) | Op::CreateGuard(_) | Op::CreateTimer(_) => self.create(op),
            Op::Unsubscribe(n) => of(n, self.subscriptions.len(), |n| self.unsubscribe(n)),
            Op::DestroyGuard(n) => of(n, self.guards.len(), |n| {
                if !std::mem::replace(&mut self.guards[n].is_gone, true) {
                    self.gone.push(self.guards[n].callback);
                }
            }),
            Op::DestroyTimer(n) => of(n, self.timers.len(), |n| {
                if !std::mem::replace(&mut self.timers[n].is_gone, true) {
                    self.gone.push(self.timers[n].callback);
                }
            }),
        }
        (false, false)
    }

    fn create(&mut self, op: Op) {
        self.created += 1;
        match op {
            _ if self.created > CREATED_MAX => {}
            Op::Subscribe(of) => self.subscribe(of),
            Op::CreateGuard(node) => self.create_guard(node),
            Op::CreateTimer(of) => self.create_timer(&of),
            _ => unreachable!("{op:?} creates nothing"),
        }
    }

    /// Destroys a subscription: the messages that wait are discarded.
    fn unsubscribe(&mut self, n: usize) {
        let Subscription { callback, is_gone, queue, .. } = &mut self.subscriptions[n];
        if !std::mem::replace(is_gone, true) {
            self.outcome.removed[4] += queue.len() as u64;
            self.gone.push(*callback);
        }
    }

    fn publish(&mut self, node: usize, topic: usize) {
        if !self.running {
            return;
        }
        let is_of = |of: &Subscription| of.spec.topic == topic && !of.is_gone;
        let is_full = |of: &Subscription| of.spec.keep_all && of.queue.len() == of.spec.depth;
        if self.subscriptions.iter().any(|of| is_of(of) && is_full(of)) {
            self.refused[topic] += 1;
            return;
        }
        let sequence = self.published[node][topic];
        self.published[node][topic] += 1;
        let event = ((node * self.spec.topics + topic) as u32, sequence);
        for n in 0..self.subscriptions.len() {
            let of = &mut self.subscriptions[n];
            if !is_of(of) {
                continue;
            }
            of.queue.push_back(event);
            if of.queue.len() > of.spec.depth {
                of.queue.pop_front();
                self.outcome.counters[of.callback][1] += 1;
            } else {
                self.push(Token::Message(n));
            }
        }
    }

    fn call(&mut self, n: usize) {
        let Some(service) = self.spec.service.as_ref().filter(|_| self.running) else { return };
        let client = &mut self.clients[n];
        if client.unanswered == self.spec.clients[n].depth {
            return;
        }
        if self.requests.len() == service.depth {
            self.refused_calls += 1;
            return;
        }
        client.unanswered += 1;
        client.made += 1;
        self.requests.push_back((n, client.made - 1));
        self.push(Token::Request);
    }

    fn respond(&mut self, (n, sequence): (usize, u64)) {
        let client = &mut self.clients[n];
        client.responses.push_back((client.sources[1], sequence));
        self.push(Token::Response(n));
    }

    fn request(&mut self, n: usize, request: Request) {
        self.timers[n].request = Some(request);
        self.timers[n].withdrawn = self.timers[n].pending;
        self.notice_timer(n);
    }

    fn notice_timer(&mut self, n: usize) {
        if !std::mem::replace(&mut self.timers[n].noticed, true) {
            self.push(Token::TimerChanged(n));
        }
    }

    fn notice_task(&mut self, n: usize) {
        if !std::mem::replace(&mut self.tasks[n].noticed, true) {
            self.push(Token::Task(n));
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        let timers = self.timers.iter().filter(|timer| !timer.is_gone);
        timers.filter_map(|timer| timer.deadline).min()
    }

    /// Makes the first due timer ready: by deadline, then creation.
    fn expire_one(&mut self) -> bool {
        let due = self.timers.iter().enumerate().filter(|(_, timer)| !timer.is_gone);
        let due = due.filter_map(|(n, timer)| timer.deadline.map(|deadline| (deadline, n)));
        let Some((deadline, n)) = due.min().filter(|(deadline, _)| *deadline <= self.now) else {
            return false;
        };
        let timer = &mut self.timers[n];
        timer.deadline = None;
        if timer.repeats {
            let mut next = deadline + timer.periods[1];
            let mut skipped = 0;
            while next <= self.now {
                next += timer.periods[1];
                skipped += 1;
            }
            timer.deadline = Some(next);
            if timer.expired {
                self.outcome.counters[timer.callback][2] += skipped;
            }
        }
        timer.expired = true;
        assert!(!timer.pending, "in one sequence an expiry is handled before the next");
        timer.pending = true;
        self.push(Token::Expiry(n));
        true
    }
}

impl Timer {
    fn apply(&mut self) {
        self.periods[1] = self.periods[0];
        match self.request.take() {
            None => {}
            Some(Request::Cancel) => self.deadline = None,
            Some(Request::At(time)) => {
                self.deadline = Some(time);
                self.expired = false;
            }
        }
    }
}

/// Calls `f` with the one of `count` that `index` means, if there are any.
fn of(index: usize, count: usize, f: impl FnOnce(usize)) {
    if let Some(n) = index.checked_rem(count) {
        f(n);
    }
}
