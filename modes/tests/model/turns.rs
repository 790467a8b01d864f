//! The turns of event loops with one priority, against an oracle, while a clock advances that only
//! the callbacks and the driver of the test move: each dispatch, and the wait of each due timer.

use proptest::prelude::*;
use ringspin_executor::{
    Clock, Context, Graph, LoopId, Message, Plan, Publisher, QoS, ReadyOrder, SimClock, Time,
    TimeSource,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Events in a row from one loop.
const TURN: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Message(usize),
    Timer(usize),
}

/// A dispatch: its start, its node, its event.
type Dispatch = (u64, usize, Event);

/// Times in nanoseconds, nodes by index.
#[derive(Debug)]
struct Program {
    /// The duration of a callback of each node.
    durations: Vec<u64>,
    /// When a message for which node arrives, in the order of time.
    messages: Vec<(u64, usize)>,
    /// When a one-shot timer of which node is due.
    timers: Vec<(u64, usize)>,
}

fn program() -> impl Strategy<Value = Program> {
    (1usize..7).prop_flat_map(|nodes| {
        let durations = proptest::collection::vec(1u64..50, nodes);
        let messages = proptest::collection::vec((0u64..600, 0..nodes), 0..60);
        let timers = proptest::collection::vec((1u64..600, 0..nodes), 0..10);
        (durations, messages, timers).prop_map(|(durations, mut messages, timers)| {
            messages.sort_by_key(|(time, _)| *time);
            Program { durations, messages, timers }
        })
    })
}

/// The dispatches of a worker, as a thread in a live mode drives it.
fn run(program: &Program) -> Vec<Dispatch> {
    let (graph, clock) = (Graph::new(), Arc::new(SimClock::default()));
    let log = Arc::new(Mutex::new(Vec::new()));
    let driver = graph.create_node("driver", ()).unwrap();
    let mut loops: Vec<LoopId> = Vec::new();
    let mut outs: Vec<Publisher<usize>> = Vec::new();
    for (n, duration) in program.durations.iter().copied().enumerate() {
        let handle = {
            let (clock, log) = (clock.clone(), log.clone());
            move |event| {
                let now = clock.now();
                log.lock().unwrap().push((now.as_nanos(), n, event));
                clock.set(now + Duration::from_nanos(duration));
            }
        };
        let node = graph.create_node(&format!("node_{n}"), ()).unwrap();
        loops.push(node.event_loop());
        let topic = format!("topic_{n}");
        let on_message = handle.clone();
        let hear = move |_: &mut (), m: &Message<usize>, _: &mut Context<'_>| {
            on_message(Event::Message(**m));
        };
        node.create_subscription(&topic, QoS::keep_all(100), hear).unwrap();
        outs.push(driver.create_publisher(&topic, QoS::keep_all(100)).unwrap());
        for (index, (delay, _)) in program.timers.iter().enumerate().filter(|(_, of)| of.1 == n) {
            let handle = handle.clone();
            let delay = Duration::from_nanos(*delay);
            node.create_one_shot_timer(delay, move |_, _| handle(Event::Timer(index))).unwrap();
        }
    }
    loops.push(driver.event_loop());
    let plan = Plan::new(vec![loops], ReadyOrder::RoundRobin);
    let time = TimeSource::Live(clock.clone());
    let frozen = graph.freeze(&plan, &Default::default(), Default::default(), &time).unwrap();
    let mut worker = frozen.workers.into_iter().next().unwrap();
    let _thread = worker.enter();
    worker.start(Time::ZERO);
    while worker.dispatch_next().is_some() || worker.has_ready() {} // the start marks each loop
    let mut arriving = program.messages.iter().enumerate().peekable();
    loop {
        while let Some((index, (_, node))) =
            arriving.next_if(|(_, (time, _))| *time <= clock.now().as_nanos())
        {
            outs[*node].publish(index).unwrap();
        }
        while worker.expire_one(clock.now()) {}
        if worker.dispatch_next().is_some() || worker.has_ready() {
            continue;
        }
        let arrival = arriving.peek().map(|(_, (time, _))| Time::from_nanos(*time));
        match arrival.into_iter().chain(worker.next_deadline()).min() {
            Some(next) => clock.set(next),
            None => return log.lock().unwrap().clone(),
        }
    }
}

/// A round of nodes with their queues. The front of the round has the turn.
struct Oracle {
    queues: Vec<VecDeque<Event>>,
    round: VecDeque<usize>,
    /// How many events the front has had.
    had: usize,
}

impl Oracle {
    /// The nodes from the front to the one before `node` go to the end.
    fn give_turn(&mut self, node: usize) {
        while self.round[0] != node {
            self.pass();
        }
    }

    fn pass(&mut self) {
        self.round.rotate_left(1);
        self.had = 0;
    }

    fn next(&mut self) -> Option<(usize, Event)> {
        let ready = self.round.iter().copied().find(|node| !self.queues[*node].is_empty());
        let Some(node) = ready else {
            self.had = 0;
            self.round.make_contiguous().sort_unstable();
            return None;
        };
        self.give_turn(node);
        self.had += 1;
        if self.had == TURN {
            self.pass();
        }
        self.queues[node].pop_front().map(|event| (node, event))
    }
}

/// The dispatches, and how long each timer waited with how many events of each other node, if its
/// node had nothing else to do.
fn expected(program: &Program) -> (Vec<Dispatch>, Vec<Vec<usize>>) {
    let nodes = program.durations.len();
    let (queues, round) = (vec![VecDeque::new(); nodes], (0..=nodes).collect());
    let mut oracle = Oracle { queues, round, had: 0 };
    oracle.queues.push(VecDeque::new()); // of the driver
    let mut timers: Vec<_> = program.timers.iter().copied().enumerate().collect();
    timers.sort_by_key(|(_, (due, _))| *due);
    let (mut timers, mut messages) =
        (timers.into_iter().peekable(), program.messages.iter().copied().enumerate().peekable());
    let (mut now, mut log, mut waits, mut waiting) = (0, Vec::new(), Vec::new(), Vec::new());
    loop {
        while let Some((index, (_, node))) = messages.next_if(|(_, (time, _))| *time <= now) {
            oracle.queues[node].push_back(Event::Message(index));
        }
        while let Some((index, (_, node))) = timers.next_if(|(_, (due, _))| *due <= now) {
            if oracle.queues[node].is_empty() {
                waiting.push((index, vec![0; nodes]));
            }
            oracle.queues[node].push_back(Event::Timer(index));
        }
        let Some((node, event)) = oracle.next() else {
            let times = messages.peek().map(|of| of.1.0).into_iter();
            match times.chain(timers.peek().map(|of| of.1.0)).min() {
                Some(next) => now = next,
                None => return (log, waits),
            }
            continue;
        };
        log.push((now, node, event));
        now += program.durations[node];
        waits.extend(
            waiting.extract_if(.., |(index, _)| event == Event::Timer(*index)).map(|of| of.1),
        );
        waiting.iter_mut().for_each(|(_, events)| events[node] += 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]
    #[test]
    fn due_timer_waits_for_one_turn_of_each_other_loop(program in program()) {
        let (log, waits) = expected(&program);
        prop_assert_eq!(&run(&program), &log);
        prop_assert_eq!(log.len(), program.messages.len() + program.timers.len());
        for events in waits {
            prop_assert!(events.iter().all(|events| *events <= TURN), "{events:?}");
        }
    }
}
