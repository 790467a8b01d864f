//! Several inputs of one node, with and without synchronization.

use ringspin_executor::{
    ApproximateTime, ExactTime, Input, Message, Node, Publisher, QoS, Stamped, Time,
};
use ringspin_modes::Executor;
use std::error::Error;
use std::time::{Duration, Instant};

/// A message that consists of a stamp only.
type Stamp = Time;

/// The synchronization of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// None: a subscription for each input.
    Plain,
    /// [`ExactTime`].
    Exact,
    /// [`ApproximateTime`].
    Approximate,
}

/// The number of rounds per batch, and thus of messages per input.
const ROUNDS: u64 = 64;

/// Nanoseconds between two rounds.
const PERIOD: u64 = 1000;

/// A node with some inputs, fed in batches from outside and drained in single-core mode.
pub struct Joint {
    executor: Executor,
    join: Join,
    inputs: Vec<Publisher<Stamp>>,
    last: Publisher<()>,
    round: u64,
}

impl Joint {
    /// Creates a node with 2 or 4 inputs.
    ///
    /// # Errors
    /// The errors of the executor.
    ///
    /// # Panics
    /// Panics for another number of inputs.
    pub fn new(join: Join, inputs: usize) -> Result<Self, Box<dyn Error>> {
        let mut executor = Executor::single_core();
        let node = executor.create_node("joint", 0)?;
        subscribe(&node, join, inputs)?;
        node.create_subscription("last", QoS::keep_last(1), |_, _: &Message<()>, cx| cx.stop())?;
        let publisher = |n| node.create_publisher(&topic(n), QoS::default());
        let inputs = (0..inputs).map(publisher).collect::<Result<_, _>>()?;
        let last = node.create_publisher("last", QoS::default())?;
        executor.freeze()?;
        Ok(Self { executor, join, inputs, last, round: 0 })
    }

    /// The time to publish and dispatch `messages` messages, over all inputs.
    ///
    /// # Panics
    /// If the executor fails.
    pub fn time(&mut self, messages: u64) -> Duration {
        let per_batch = ROUNDS * self.inputs.len() as u64;
        let batches = messages.div_ceil(per_batch);
        self.batch(); // warm-up
        let started = Instant::now();
        (0..batches).for_each(|_| self.batch());
        let elapsed = started.elapsed();
        assert_eq!(self.executor.statistics().overwritten(), 0, "nothing was skipped");
        assert_eq!(self.executor.statistics().unmatched(), 0, "everything was joined");
        elapsed.mul_f64(messages as f64 / (batches * per_batch) as f64)
    }

    fn batch(&mut self) {
        for _ in 0..ROUNDS {
            self.round += 1;
            for (input, n) in self.inputs.iter().zip(0..) {
                let offset = if self.join == Join::Exact { 0 } else { 10 * n };
                let stamp = Time::from_nanos(self.round * PERIOD + offset);
                input.publish(stamp).expect("the graph is frozen");
            }
        }
        self.last.publish(()).expect("the graph is frozen");
        self.executor.spin().expect("no callback fails");
        self.executor.stop_handle().reset();
    }
}

fn topic(n: usize) -> String {
    format!("in_{n}")
}

fn subscribe(node: &Node<u64>, join: Join, inputs: usize) -> Result<(), Box<dyn Error>> {
    let qos = QoS::keep_last(ROUNDS as usize);
    let input = |n| Input::<Stamp>::new(&topic(n), qos);
    let add = |sum: &mut u64, message: &Message<Stamp>| *sum += message.stamp().as_nanos();
    let (two, four) = (|| (input(0), input(1)), || (input(0), input(1), input(2), input(3)));
    let (exact, approximate) = (ExactTime::new(10), ApproximateTime::new(10));
    match (join, inputs) {
        (Join::Plain, _) => {
            for n in 0..inputs {
                node.create_subscription(&topic(n), qos, move |sum, m: &Message<Stamp>, _| {
                    add(sum, m);
                })?;
            }
        }
        (Join::Exact, 2) => {
            node.create_synchronized_subscription(two(), exact, move |sum, (a, b), _| {
                [a, b].into_iter().for_each(|message| add(sum, message));
            })?;
        }
        (Join::Exact, 4) => {
            node.create_synchronized_subscription(four(), exact, move |sum, (a, b, c, d), _| {
                [a, b, c, d].into_iter().for_each(|message| add(sum, message));
            })?;
        }
        (Join::Approximate, 2) => {
            node.create_synchronized_subscription(two(), approximate, move |sum, (a, b), _| {
                [a, b].into_iter().for_each(|message| add(sum, message));
            })?;
        }
        (Join::Approximate, 4) => {
            let join = four();
            node.create_synchronized_subscription(
                join,
                approximate,
                move |sum, (a, b, c, d), _| {
                    [a, b, c, d].into_iter().for_each(|message| add(sum, message));
                },
            )?;
        }
        (_, inputs) => panic!("there is no cell with {inputs} inputs"),
    }
    Ok(())
}
