//! One model for several simulators: nodes with timers, each of which sends a message to the next.
//!
//! All nodes have distinct periods between 1 and 2 ms, so that the future event list holds as many
//! different deadlines as there are nodes, and the next event is at a different position each time.
//! An event is a timer's expiry or a message's arrival; the callbacks count, and the timers send.

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::Output;
use nexosim::simulation::{Mailbox, SimInit, Simulation as Nexosim};
use nexosim::time::MonotonicTime;
use ringspin_executor::{Message, QoS};
use ringspin_modes::{Cores, Executor, Simulation, TiePolicy};
use ringspin_ringbuf::Counter;
use ringspin_simulation::models::{Distribution, DurationRule, Durations};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The model, with its number of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Ring(pub usize);

impl Ring {
    /// The period of node `node`; its timer is first due one period after the start.
    fn period_ns(node: usize) -> u64 {
        // Multiples of a number coprime to the range are distinct.
        1_000_000 + node as u64 * 618_033 % 1_000_000
    }

    /// The node that receives the messages of `node`.
    fn next(self, node: usize) -> usize {
        (node + 1) % self.0
    }

    /// The number of events until `time`, inclusive.
    #[must_use]
    pub fn events_until(self, time: Duration) -> u64 {
        let time_ns = time.as_nanos() as u64;
        (0..self.0).map(|node| 2 * (time_ns / Self::period_ns(node))).sum()
    }

    /// The approximate simulated time of `events` events.
    fn span_of(self, events: u64) -> Duration {
        let per_ns: f64 = (0..self.0).map(|node| 2.0 / Self::period_ns(node) as f64).sum();
        Duration::from_nanos((events as f64 / per_ns).ceil() as u64)
    }
}

/// A simulator of a [`Ring`].
pub trait Simulator {
    /// Advances simulated time.
    fn advance(&mut self, span: Duration);

    /// The number of events so far.
    fn events(&mut self) -> u64;
}

/// A ring with its simulator and its current time.
pub struct Run<S> {
    ring: Ring,
    simulator: S,
    now: Duration,
    unfinished_max: u64,
}

impl<S: Simulator> Run<S> {
    /// Creates a run, and advances it until each timer has expired.
    pub fn new(ring: Ring, mut simulator: S) -> Self {
        let now = Duration::from_millis(5);
        simulator.advance(now);
        Self { ring, simulator, now, unfinished_max: 0 }
    }

    /// Allows so many events to wait for a callback that has begun when a span ends.
    #[must_use]
    pub fn with_unfinished(mut self, unfinished_max: u64) -> Self {
        self.unfinished_max = unfinished_max;
        self
    }

    /// Simulates about `events` events, and returns the nanoseconds per event.
    ///
    /// # Panics
    /// Panics if the number of simulated events is wrong.
    pub fn time(&mut self, events: u64) -> f64 {
        let span = self.ring.span_of(events);
        let before = self.simulator.events();
        let start = Instant::now();
        self.simulator.advance(span);
        let elapsed = start.elapsed();
        self.now += span;
        let seen = self.simulator.events();
        let all = self.ring.events_until(self.now);
        let is_complete = (all - self.unfinished_max..=all).contains(&seen);
        assert!(is_complete, "{seen} of {all} events up to {:?}", self.now);
        elapsed.as_nanos() as f64 / (seen - before) as f64
    }
}

/// The deterministic mode: a node with a timer, a publisher and a subscription for each model node.
pub struct Ringspin(Executor);

impl Ringspin {
    /// Builds and freezes the graph.
    ///
    /// # Errors
    /// The errors of the executor.
    pub fn new(ring: Ring) -> Result<Self, Box<dyn Error>> {
        Self::with(ring, Simulation::default())
    }

    /// Builds and freezes the graph, with this simulation.
    ///
    /// # Errors
    /// The errors of the executor.
    pub fn with(ring: Ring, simulation: Simulation) -> Result<Self, Box<dyn Error>> {
        let mut executor = Executor::deterministic(simulation);
        let topic = |node: usize| format!("to_{node}");
        for index in 0..ring.0 {
            let node = executor.create_node(&format!("node_{index}"), 0u64)?;
            let output = node.create_publisher(&topic(ring.next(index)), QoS::keep_last(1))?;
            node.create_timer(Duration::from_nanos(Ring::period_ns(index)), {
                move |seen: &mut u64, _| {
                    *seen += 1;
                    output.publish(*seen)
                }
            })?;
            node.create_subscription(&topic(index), QoS::keep_last(1), {
                |seen: &mut u64, _: &Message<u64>, _| *seen += 1
            })?;
        }
        executor.freeze()?;
        Ok(Self(executor))
    }
}

/// Simulations in which events do not just go in the order in which they became ready, by name.
#[must_use]
pub fn orders() -> Vec<(&'static str, Simulation)> {
    let with = |change: &dyn Fn(&mut Simulation)| {
        let mut simulation = Simulation::default();
        change(&mut simulation);
        simulation
    };
    let duration = |simulation: &mut Simulation| {
        let takes = Distribution::fixed(Duration::from_micros(1));
        let rule = DurationRule::new("/node_0").duration(takes);
        simulation.durations = Durations::new().rule(rule).into();
    };
    vec![
        ("default", Simulation::default()),
        ("a duration", with(&duration)),
        ("shuffled", with(&|simulation| simulation.ties = TiePolicy::Shuffle { seed: 7 })),
        (
            "a schedule",
            with(&|simulation| simulation.ties = TiePolicy::Scripted(Default::default())),
        ),
        (
            "one core, shuffled",
            with(&|simulation| {
                simulation.cores = Cores::Single;
                simulation.ties = TiePolicy::Shuffle { seed: 7 };
            }),
        ),
    ]
}

/// The events that may wait for a callback when a span ends: of the node with a duration.
pub fn unfinished_max(order: &str) -> u64 {
    if order == "a duration" { 2 } else { 0 }
}

impl Simulator for Ringspin {
    fn advance(&mut self, span: Duration) {
        self.0.spin_for(span).expect("no callback fails");
    }

    fn events(&mut self) -> u64 {
        self.0.digest().expect("the executor is deterministic and frozen").1
    }
}

/// The floor: the same events from a heap, in a loop, with a counter per node.
pub struct BareHeap {
    ring: Ring,
    now_ns: u64,
    /// Events as (time, sequence number, target). Targets below the number of nodes are timers; a
    /// message's arrival has the number of nodes added.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    created: u64,
    seen: Vec<u64>,
}

impl BareHeap {
    /// Creates a heap with the first expiry of each timer.
    #[must_use]
    pub fn new(ring: Ring) -> Self {
        let first = |node| Reverse((Ring::period_ns(node), node as u64, node));
        let events = (0..ring.0).map(first).collect();
        Self { ring, now_ns: 0, events, created: ring.0 as u64, seen: vec![0; ring.0] }
    }

    fn add(&mut self, time: u64, target: usize) {
        self.events.push(Reverse((time, self.created, target)));
        self.created += 1;
    }
}

impl Simulator for BareHeap {
    fn advance(&mut self, span: Duration) {
        let nodes = self.ring.0;
        self.now_ns += span.as_nanos() as u64;
        while let Some(&Reverse((time, _, target))) = self.events.peek()
            && time <= self.now_ns
        {
            self.events.pop();
            if target < nodes {
                self.seen[target] += 1;
                self.add(time, nodes + self.ring.next(target));
                self.add(time + Ring::period_ns(target), target);
            } else {
                self.seen[target - nodes] += 1;
            }
        }
    }

    fn events(&mut self) -> u64 {
        self.seen.iter().sum()
    }
}

/// `nexosim` on one thread: a model for each node, with its output connected to the next one's
/// input, and a periodic event that it schedules itself.
pub struct NexosimRing {
    simulation: Nexosim,
    seen: Arc<Counter>,
}

/// A node of the ring.
#[derive(Serialize, Deserialize)]
struct NexosimNode {
    output: Output<u64>,
    period: Duration,
    sent: u64,
    #[serde(skip)]
    seen: Arc<Counter>,
}

#[Model]
impl NexosimNode {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        cx.schedule_periodic_event(self.period, self.period, schedulable!(Self::expire), ())
            .expect("the period is in the future");
    }

    #[nexosim(schedulable)]
    async fn expire(&mut self) {
        self.seen.add_by_owner(1);
        self.sent += 1;
        self.output.send(self.sent).await;
    }

    fn receive(&mut self, _: u64) {
        self.seen.add_by_owner(1);
    }
}

impl NexosimRing {
    /// Assembles the models and initializes them.
    ///
    /// # Errors
    /// The errors of `nexosim`.
    pub fn new(ring: Ring) -> Result<Self, Box<dyn Error>> {
        let seen = Arc::new(Counter::default());
        let mailboxes: Vec<Mailbox<NexosimNode>> = (0..ring.0).map(|_| Mailbox::new()).collect();
        let inputs: Vec<_> = mailboxes.iter().map(Mailbox::address).collect();
        let mut init = SimInit::with_num_threads(1);
        for (index, mailbox) in mailboxes.into_iter().enumerate() {
            let mut output = Output::default();
            output.connect(NexosimNode::receive, &inputs[ring.next(index)]);
            let period = Duration::from_nanos(Ring::period_ns(index));
            let node = NexosimNode { output, period, sent: 0, seen: seen.clone() };
            init = init.add_model(node, mailbox, &format!("node_{index}"));
        }
        Ok(Self { simulation: init.init(MonotonicTime::EPOCH)?, seen })
    }
}

impl Simulator for NexosimRing {
    fn advance(&mut self, span: Duration) {
        self.simulation.step_until(span).expect("no model fails");
    }

    fn events(&mut self) -> u64 {
        self.seen.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `simulator` in two steps; a run asserts that it handles every event.
    fn sees_every_event(ring: Ring, simulator: impl Simulator) {
        sees_events(Run::new(ring, simulator));
    }

    fn sees_events(mut run: Run<impl Simulator>) {
        for events in [100, 10_000] {
            let _ = run.time(events);
        }
    }

    #[test]
    fn all_simulators_handle_the_same_events() {
        for ring in [Ring(1), Ring(2), Ring(37)] {
            sees_every_event(ring, BareHeap::new(ring));
            sees_every_event(ring, Ringspin::new(ring).unwrap());
            sees_every_event(ring, NexosimRing::new(ring).unwrap());
            for (order, simulation) in orders() {
                let run = Run::new(ring, Ringspin::with(ring, simulation).unwrap());
                sees_events(run.with_unfinished(unfinished_max(order)));
            }
        }
    }

    #[test]
    fn a_span_contains_the_requested_number_of_events() {
        for (ring, events) in [(Ring(10), 1_000), (Ring(1_000), 100_000)] {
            let there = ring.events_until(ring.span_of(events));
            // Timers start in phase, so at first up to one event per node is missing.
            assert!(there <= events + 2 && there + 2 * ring.0 as u64 >= events, "{there}");
        }
    }

    #[test]
    fn ten_thousand_periods_differ() {
        let mut periods: Vec<u64> = (0..10_000).map(Ring::period_ns).collect();
        periods.sort_unstable();
        periods.dedup();
        assert_eq!(periods.len(), 10_000);
        assert!((1_000_000..2_000_000).contains(&periods[0]));
    }
}
