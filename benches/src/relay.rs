//! The game between nodes: each subscribes to one topic and publishes on the next.

use crate::{Stopwatch, Token, per_hops};
use ringspin_executor::{Message, Monitor, Node, Publisher, QoS, StopHandle};
use ringspin_modes::{Executor, Simulation};
use std::error::Error;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A ring of nodes `/node_0`, `/node_1`, ... that pass a token; `/node_0` counts the laps.
pub struct Relay<const WORDS: usize> {
    executor: Executor,
    nodes: u64,
    start: Publisher<Token<WORDS>>,
    finished: mpsc::Receiver<Duration>,
    /// Of a relay between two executors.
    _second: Option<Beside>,
}

/// An executor that spins on a thread until this is dropped.
struct Beside {
    stop: StopHandle,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    fn spin(mut executor: Executor) -> Self {
        let stop = executor.stop_handle();
        let spin = move || executor.spin().expect("no callback fails");
        Self { stop, thread: Some(thread::spawn(spin)) }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.stop.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl<const WORDS: usize> Relay<WORDS> {
    /// Adds `nodes` nodes to `executor`, which has an empty graph, and freezes it.
    ///
    /// # Errors
    /// The errors of the executor; for example, its mapping may lack `/node_1` and further nodes.
    pub fn new(executor: Executor, nodes: usize) -> Result<Self, Box<dyn Error>> {
        Self::with_depth(executor, nodes, 1)
    }

    /// Like [`new`](Self::new), with queues of `depth` messages.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn with_depth(
        mut executor: Executor,
        nodes: usize,
        depth: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let qos = QoS::keep_last(depth);
        let (start, finished) = Self::first_node(&executor, nodes, qos)?;
        for n in 1..nodes {
            let node = executor.create_node(&format!("node_{n}"), ())?;
            forward::<WORDS>(&node, &topic(n), &topic((n + 1) % nodes), qos)?;
        }
        executor.freeze()?;
        Ok(Self { executor, nodes: nodes as u64, start, finished, _second: None })
    }

    /// A relay between two executors of one domain, which have empty graphs. The second one, with
    /// `/node_1`, spins on a thread until the relay is dropped.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn between(mut first: Executor, mut second: Executor) -> Result<Self, Box<dyn Error>> {
        let qos = QoS::keep_last(1);
        let (start, finished) = Self::first_node(&first, 2, qos)?;
        forward::<WORDS>(&second.create_node("node_1", ())?, &topic(1), &topic(0), qos)?;
        first.freeze()?;
        second.freeze()?;
        let _second = Some(Beside::spin(second));
        Ok(Self { executor: first, nodes: 2, start, finished, _second })
    }

    /// Creates `/node_0`; returns the publisher that starts a game, and the source of its time.
    fn first_node(
        executor: &Executor,
        nodes: usize,
        qos: QoS,
    ) -> Result<(Publisher<Token<WORDS>>, mpsc::Receiver<Duration>), Box<dyn Error>> {
        let (report, finished) = mpsc::channel();
        let first = executor.create_node("node_0", Stopwatch::default())?;
        let start = first.create_publisher(&topic(0), qos)?;
        let next = first.create_publisher(&topic(1 % nodes), qos)?;
        first.create_subscription(&topic(0), qos, {
            move |watch: &mut Stopwatch, token: &Message<Token<WORDS>>, cx| {
                watch.lap();
                if !token.is_home() {
                    return next.publish(token.next_lap());
                }
                // The receiver waits until this executor stops, so it exists.
                let _ = report.send(std::mem::take(watch).elapsed());
                cx.stop();
                Ok(())
            }
        })?;
        Ok((start, finished))
    }

    /// The monitor of the relay's graph.
    pub fn monitor(&self) -> Monitor {
        self.executor.monitor().expect("the graph is frozen")
    }

    /// The time of `hops` hops, each from one publish to the next, callback included.
    ///
    /// # Panics
    /// If the executor fails.
    pub fn time(&mut self, hops: u64) -> Duration {
        let laps = hops.div_ceil(self.nodes);
        self.start.publish(Token::new(laps)).expect("the graph is frozen");
        self.executor.spin().expect("no callback fails");
        self.executor.stop_handle().reset();
        let elapsed = self.finished.recv().expect("node_0 reports before it stops the executor");
        per_hops(elapsed, laps, self.nodes, hops)
    }
}

fn topic(n: usize) -> String {
    format!("/lap_{n}")
}

/// Makes `node` publish a copy on `to` of every token from `from`.
fn forward<const WORDS: usize>(
    node: &Node<()>,
    from: &str,
    to: &str,
    qos: QoS,
) -> Result<(), Box<dyn Error>> {
    let next = node.create_publisher::<Token<WORDS>>(to, qos)?;
    node.create_subscription(from, qos, {
        move |(): &mut (), token: &Message<Token<WORDS>>, _| next.publish(**token)
    })?;
    Ok(())
}

/// The two halves of a hop on one core: publishes a batch without spinning, then dispatches it.
pub struct Batch<const WORDS: usize> {
    executor: Executor,
    messages: u64,
    publisher: Publisher<Token<WORDS>>,
}

impl<const WORDS: usize> Batch<WORDS> {
    /// Creates the graph for batches of `messages` messages, on the calling thread.
    ///
    /// # Errors
    /// The errors of the executor.
    pub fn new(messages: usize) -> Result<Self, Box<dyn Error>> {
        let mut executor = Executor::single_core();
        let node = executor.create_node("sink", 0)?;
        let publisher = node.create_publisher("batch", QoS::keep_last(messages))?;
        node.create_subscription("batch", QoS::keep_last(messages), {
            move |seen: &mut usize, _: &Message<Token<WORDS>>, cx| {
                *seen += 1;
                if seen.is_multiple_of(messages) {
                    cx.stop();
                }
            }
        })?;
        executor.freeze()?;
        Ok(Self { executor, messages: messages as u64, publisher })
    }

    /// The times to publish and to dispatch `hops` messages.
    ///
    /// # Panics
    /// If the executor fails.
    pub fn time(&mut self, hops: u64) -> (Duration, Duration) {
        let batches = hops.div_ceil(self.messages);
        let (mut publishing, mut dispatching) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..batches {
            let start = Instant::now();
            for n in 0..self.messages {
                self.publisher.publish(Token::new(n)).expect("the graph is frozen");
            }
            let published = Instant::now();
            self.executor.spin().expect("no callback fails");
            dispatching += published.elapsed();
            publishing += published - start;
            self.executor.stop_handle().reset();
        }
        let scale = |elapsed| per_hops(elapsed, batches, self.messages, hops);
        (scale(publishing), scale(dispatching))
    }
}

/// A chain of nodes in deterministic mode; a timer of `/node_0` sends messages down the chain.
pub struct Chain {
    executor: Executor,
    nodes: u64,
}

impl Chain {
    const PERIOD: Duration = Duration::from_micros(1);

    /// Creates a chain of `nodes` nodes; the last one only receives.
    ///
    /// # Errors
    /// The errors of the executor.
    pub fn new(nodes: usize) -> Result<Self, Box<dyn Error>> {
        let mut executor = Executor::deterministic(Simulation::default());
        let first = executor.create_node("node_0", ())?;
        let start = first.create_publisher(&topic(1), QoS::keep_last(1))?;
        first
            .create_timer(Self::PERIOD, move |(): &mut (), _| start.publish(Token::<1>::new(0)))?;
        for n in 1..nodes {
            let node = executor.create_node(&format!("node_{n}"), ())?;
            forward::<1>(&node, &topic(n), &topic(n + 1), QoS::keep_last(1))?;
        }
        executor.freeze()?;
        Ok(Self { executor, nodes: nodes as u64 })
    }

    /// The time of `dispatches` dispatches.
    ///
    /// # Panics
    /// Panics if the executor fails, or if the number of dispatches does not match the chain.
    pub fn time(&mut self, dispatches: u64) -> Duration {
        let runs = dispatches.div_ceil(self.nodes);
        let before = self.dispatched();
        let start = Instant::now();
        self.executor.spin_for(Self::PERIOD * runs as u32).expect("no callback fails");
        let elapsed = start.elapsed();
        assert_eq!(self.dispatched() - before, runs * self.nodes);
        per_hops(elapsed, runs, self.nodes, dispatches)
    }

    fn dispatched(&mut self) -> u64 {
        self.executor.digest().expect("the executor is deterministic and frozen").1
    }
}
