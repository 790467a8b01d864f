//! The reference: what ought to happen, by plain queues on one thread. It uses nothing of ringspin,
//! and is written to be read, not to be fast.

use crate::harness::{Outcome, Record};
use crate::spec::{Op, Spec};
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

#[derive(Default)]
struct Guard {
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
    source: u32,
    polls: u64,
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
    queues: Vec<VecDeque<Event>>,
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
}

const MS: u64 = 1_000_000;

impl<'a> Reference<'a> {
    pub(crate) fn new(spec: &'a Spec, order: Order) -> Self {
        let mut sources = (spec.nodes * spec.topics) as u32..;
        let mut source = || sources.next().unwrap();
        let mut nodes_of: Vec<usize> = spec.subscriptions.iter().map(|s| s.node).collect();
        nodes_of.extend(spec.service.iter().map(|service| service.node));
        nodes_of.extend(spec.clients.iter().flat_map(|client| [client.node; 2]));
        nodes_of.extend(&spec.guards);
        nodes_of.extend(spec.timers.iter().map(|timer| timer.node));
        nodes_of.extend(&spec.tasks);
        let client = |_| {
            let [request, response, _timeout] = [source(), source(), source()];
            Client { sources: [request, response], ..Client::default() }
        };
        let clients = spec.clients.iter().map(client).collect();
        let guard = |_| Guard { source: source(), noticed: true, ..Guard::default() };
        let guards = spec.guards.iter().map(guard).collect();
        let timer = |timer: &crate::spec::Timer| Timer {
            source: source(),
            periods: [timer.period_ms * MS; 2],
            noticed: true,
            ..Timer::default()
        };
        let timers = spec.timers.iter().map(timer).collect();
        let task = |_| Task { source: source(), noticed: true, ..Task::default() };
        let tasks = spec.tasks.iter().map(task).collect();
        let rings = match &order {
            Order::Fifo => 1,
            Order::RoundRobin(nodes) => nodes.len(),
        };
        let counters = vec![[0; 4]; nodes_of.len()];
        Self {
            spec,
            order,
            ready: vec![VecDeque::new(); rings],
            turn: (0, 0),
            now: 0,
            queues: vec![VecDeque::new(); spec.subscriptions.len()],
            published: vec![vec![0; spec.topics]; spec.nodes],
            refused: vec![0; spec.topics],
            requests: VecDeque::new(),
            kept: VecDeque::new(),
            refused_calls: 0,
            clients,
            guards,
            timers,
            tasks,
            running: false,
            stopped: false,
            counts: vec![0; nodes_of.len()],
            nodes_of,
            outcome: Outcome { dispatches: vec![], counters, refused: vec![], stops: vec![] },
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
            if let Some(token) = self.next_ready() {
                self.dispatch(token);
                if std::mem::take(&mut self.stopped) {
                    self.outcome.stops.push(self.outcome.dispatches.len());
                }
            } else if !self.expire_one() {
                match self.timers.iter().filter_map(|timer| timer.deadline).min() {
                    Some(deadline) if deadline <= end => self.now = deadline,
                    _ => break,
                }
            }
        }
        let refused = (0..).zip(&self.refused).map(|(n, count)| (format!("/topic{n}"), *count));
        let calls = (String::from("service /service"), self.refused_calls);
        let refused = refused.chain([calls]).filter(|(_, count)| *count > 0);
        self.outcome.refused = refused.collect();
        self.outcome
    }

    fn start(&mut self) {
        self.running = true;
        for (timer, spec) in self.timers.iter_mut().zip(&self.spec.timers) {
            timer.noticed = false;
            // Periodic timers keep the phase of time zero; others count from the start.
            let anchor = if spec.repeats { 0 } else { self.spec.start_ms * MS };
            timer.request.get_or_insert(Request::At(anchor + timer.periods[0]));
            timer.apply();
        }
        (0..self.guards.len()).for_each(|guard| self.push(Token::Guard(guard)));
        (0..self.tasks.len()).for_each(|task| self.push(Token::Task(task)));
        // All loops have their nodes' numbers: there is one for each node.
        (0..self.ready.len()).for_each(|ring| self.ready[ring].push_back(Token::Nothing));
    }

    fn push(&mut self, token: Token) {
        let node = match token {
            Token::Message(n) => self.spec.subscriptions[n].node,
            Token::Request => self.spec.service.as_ref().unwrap().node,
            Token::Response(n) => self.spec.clients[n].node,
            Token::Guard(n) => self.spec.guards[n],
            Token::TimerChanged(n) | Token::Expiry(n) => self.spec.timers[n].node,
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
        let first_guard = first_client + 2 * spec.clients.len();
        let first_timer = first_guard + spec.guards.len();
        let first_task = first_timer + spec.timers.len();
        match token {
            Token::Nothing => {}
            Token::Message(n) => {
                let event = self.queues[n].pop_front().expect("one token, one message");
                self.call_back(n, event);
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
            Token::Guard(n) => self.answer_triggers(n, first_guard + n),
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
                let (cancel_self, _) = self.call_back(first_timer + n, event);
                if cancel_self {
                    self.request(n, Request::Cancel);
                }
            }
            Token::Task(n) => self.poll(n, first_task + n),
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
                if self.tasks[n].polls > 0 {
                    self.notice_task(n);
                }
            }),
            Op::CancelTask(n) => of(n, self.tasks.len(), |n| {
                self.tasks[n].cancelled = true;
                self.notice_task(n);
            }),
            Op::Finish => return (false, true),
            Op::Stop => self.stopped = true,
        }
        (false, false)
    }

    fn publish(&mut self, node: usize, topic: usize) {
        if !self.running {
            return;
        }
        let spec = self.spec;
        let all = || spec.subscriptions.iter().enumerate().filter(|(_, s)| s.topic == topic);
        if all().any(|(n, s)| s.keep_all && self.queues[n].len() == s.depth) {
            self.refused[topic] += 1;
            return;
        }
        let sequence = self.published[node][topic];
        self.published[node][topic] += 1;
        let event = ((node * spec.topics + topic) as u32, sequence);
        for (n, subscription) in all() {
            self.queues[n].push_back(event);
            if self.queues[n].len() > subscription.depth {
                self.queues[n].pop_front();
                self.outcome.counters[n][1] += 1;
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

    /// Makes the first due timer ready: by deadline, then creation.
    fn expire_one(&mut self) -> bool {
        let due = self.timers.iter().enumerate();
        let due = due.filter_map(|(n, timer)| timer.deadline.map(|deadline| (deadline, n)));
        let Some((deadline, n)) = due.min().filter(|(deadline, _)| *deadline <= self.now) else {
            return false;
        };
        let timer = &mut self.timers[n];
        timer.deadline = None;
        if self.spec.timers[n].repeats {
            let mut next = deadline + timer.periods[1];
            let mut skipped = 0;
            while next <= self.now {
                next += timer.periods[1];
                skipped += 1;
            }
            timer.deadline = Some(next);
            if timer.expired {
                let callback = self.counts.len() - self.tasks.len() - self.spec.timers.len() + n;
                self.outcome.counters[callback][2] += skipped;
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
