//! The reference system as ringspin nodes: the same in every mode.

use crate::crunch::number_cruncher;
use crate::description::{
    AUTOWARE, BEHAVIOR_PLANNER, COLLISION_ESTIMATOR, Connection, Kind, NodeDescription,
};
use crate::kpi::Collector;
use crate::message::{Message4kb, NodeName};
use crate::sleep::sleep_up_to;
use ringspin_executor::{
    BoxError, Context, Graph, Message, Node, PublishError, Publisher, QoS, Time,
};
use std::sync::Arc;
use std::time::Duration;

/// The message of every topic.
type Sample = Message<Message4kb>;
/// What a callback that publishes returns.
type Published = Result<(), PublishError<Message4kb>>;

/// What the nodes do besides passing messages on.
#[derive(Clone, Debug)]
pub struct Work {
    /// The limit of the number cruncher.
    pub n: u64,
    /// Whether it runs at all; without it a message carries a count of zero.
    pub crunch: bool,
    /// Each callback first sleeps a random time up to this: results must not depend on it.
    pub sleep_max: Duration,
}

impl Work {
    /// Crunching up to `n`, without sleeps.
    pub fn crunching(n: u64) -> Self {
        Self { n, crunch: true, sleep_max: Duration::ZERO }
    }

    fn sleep(&self) {
        sleep_up_to(self.sleep_max);
    }

    fn run(&self) -> i64 {
        if self.crunch { number_cruncher(self.n) as i64 } else { 0 }
    }
}

/// Declares the 24 nodes in `graph`; their key figures go to `collector`. The nodes of the hot path
/// and the planner behind it have priority over the others of their worker.
///
/// # Errors
/// When the graph has nodes or topics of these names already.
pub fn build(graph: &Graph, work: &Work, collector: &Arc<Collector>) -> Result<(), BoxError> {
    for description in AUTOWARE {
        build_node(graph, description, work, collector)?;
    }
    Ok(())
}

fn build_node(
    graph: &Graph,
    description: &'static NodeDescription,
    work: &Work,
    collector: &Arc<Collector>,
) -> Result<(), BoxError> {
    let name = description.name;
    let priority = u8::from(description.is_on_hot_path() || name == BEHAVIOR_PLANNER);
    let work = work.clone();
    match description.kind {
        Kind::Sensor { period } => {
            let node = graph.create_node(name, 0)?;
            node.set_priority(priority)?;
            let output = Output::new(&node, name, name)?;
            node.create_timer(period, move |sequence_number, cx| {
                let started = cx.now();
                work.sleep();
                output.publish(Message4kb::new(), sequence_number, 0, started)
            })?;
        }
        Kind::Transform { input } => {
            let node = graph.create_node(name, Stage::new(1))?;
            node.set_priority(priority)?;
            transform(&node, name, Connection { input, output: name }, work, collector)?;
        }
        Kind::Fusion { inputs } => fusion(graph, name, inputs, &work)?.set_priority(priority)?,
        Kind::Cyclic { inputs, period } => {
            cyclic(graph, name, inputs, period, work, collector)?.set_priority(priority)?;
        }
        Kind::Intersection { connections } => {
            let (first, others) = connections.split_first().ok_or("an intersection of nothing")?;
            let node = graph.create_node(name, Stage::new(1))?;
            node.set_priority(priority)?;
            transform(&node, name, *first, work.clone(), collector)?;
            for connection in others {
                let lane = node.create_callback_group(connection.output, Stage::new(1))?;
                transform(&lane, name, *connection, work.clone(), collector)?;
            }
        }
        Kind::Command { input } => {
            let node = graph.create_node(name, ())?;
            let collector = collector.clone();
            let taken = move |_: &mut (), sample: &Sample, cx: &mut Context<'_>| {
                work.sleep();
                collector.sample_arrived(name, sample, cx.now().as_nanos());
            };
            node.create_subscription(input, QoS::keep_last(10), taken)?;
        }
    }
    Ok(())
}

/// A node's publishing side; callbacks of one node hold clones.
#[derive(Clone)]
struct Output {
    name: NodeName,
    publisher: Publisher<Message4kb>,
}

impl Output {
    fn new<S: Send + 'static>(node: &Node<S>, name: &str, topic: &str) -> Result<Self, BoxError> {
        let publisher = node.create_publisher(topic, QoS::keep_last(1))?;
        Ok(Self { name: NodeName::new(name)?, publisher })
    }

    /// Signs and publishes `message` under the node's next sequence number.
    fn publish(
        &self,
        mut message: Message4kb,
        sequence_number: &mut u32,
        dropped: u32,
        started: Time,
    ) -> Published {
        message.append(&self.name, *sequence_number, dropped, started.as_nanos());
        *sequence_number = sequence_number.wrapping_add(1);
        self.publisher.publish(message)
    }
}

/// What a node remembers of one of its inputs.
#[derive(Default)]
struct Input {
    last_sequence_number: Option<u32>,
    cached: Option<Sample>,
}

impl Input {
    /// The samples lost between the input's last handled sample and this one.
    fn dropped_before(&mut self, sample: &Message4kb) -> u32 {
        let Some(latest) = sample.last() else { return 0 };
        let expected = match self.last_sequence_number {
            Some(last) => last.wrapping_add(1),
            None => latest.sequence_number,
        };
        self.last_sequence_number = Some(latest.sequence_number);
        latest.sequence_number.wrapping_sub(expected)
    }
}

/// The state of a node with one or several inputs and one output.
#[derive(Default)]
struct Stage {
    inputs: Vec<Input>,
    /// Of the next message that it publishes.
    sequence_number: u32,
}

impl Stage {
    fn new(inputs: usize) -> Self {
        Self { inputs: (0..inputs).map(|_| Input::default()).collect(), sequence_number: 0 }
    }

    /// The merged history of the inputs that have a sample, which are thereby used up, and how many
    /// samples those inputs lost.
    fn merge_cached(&mut self) -> (Message4kb, u32) {
        let mut merged = Message4kb::new();
        let mut dropped = 0;
        for input in &mut self.inputs {
            if let Some(sample) = input.cached.take() {
                merged.merge(&sample);
                dropped += input.dropped_before(&sample);
            }
        }
        (merged, dropped)
    }
}

fn transform(
    node: &Node<Stage>,
    name: &'static str,
    connection: Connection,
    work: Work,
    collector: &Arc<Collector>,
) -> Result<(), BoxError> {
    let output = Output::new(node, name, connection.output)?;
    let collector = (name == COLLISION_ESTIMATOR).then(|| collector.clone());
    let callback = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
        let started = cx.now();
        work.sleep();
        let primes = work.run();
        let mut message = Message4kb::clone(sample);
        message.set_prime_count(primes);
        let dropped = stage.inputs[0].dropped_before(sample);
        let sequence_number = stage.sequence_number;
        let result = output.publish(message, &mut stage.sequence_number, dropped, started);
        if let Some(collector) = &collector {
            collector.collision_estimator_returned(sequence_number, cx.now().as_nanos());
        }
        result
    };
    Ok(node.create_subscription(connection.input, QoS::keep_last(1), callback)?)
}

fn fusion(
    graph: &Graph,
    name: &'static str,
    topics: [&'static str; 2],
    work: &Work,
) -> Result<Node<Stage>, BoxError> {
    let node = graph.create_node(name, Stage::new(topics.len()))?;
    let output = Output::new(&node, name, name)?;
    for (index, topic) in topics.into_iter().enumerate() {
        let (output, work) = (output.clone(), work.clone());
        let callback = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
            let started = cx.now();
            work.sleep();
            stage.inputs[index].cached = Some(sample.clone());
            if stage.inputs.iter().any(|input| input.cached.is_none()) {
                return Ok(());
            }
            let primes = work.run();
            let (mut message, dropped) = stage.merge_cached();
            message.set_prime_count(primes);
            output.publish(message, &mut stage.sequence_number, dropped, started)
        };
        node.create_subscription(topic, QoS::keep_last(1), callback)?;
    }
    Ok(node)
}

fn cyclic(
    graph: &Graph,
    name: &'static str,
    topics: &'static [&'static str],
    period: Duration,
    work: Work,
    collector: &Arc<Collector>,
) -> Result<Node<Stage>, BoxError> {
    let node = graph.create_node(name, Stage::new(topics.len()))?;
    let output = Output::new(&node, name, name)?;
    for (index, topic) in topics.iter().enumerate() {
        let work = work.clone();
        let cache = move |stage: &mut Stage, sample: &Sample, _: &mut Context<'_>| {
            work.sleep();
            stage.inputs[index].cached = Some(sample.clone());
        };
        node.create_subscription(topic, QoS::keep_last(1), cache)?;
    }
    let collector = (name == BEHAVIOR_PLANNER).then(|| collector.clone());
    let callback = move |stage: &mut Stage, cx: &mut Context<'_>| {
        let started = cx.now();
        if let Some(collector) = &collector {
            collector.planner_started(started.as_nanos());
        }
        work.sleep();
        let primes = work.run();
        let (mut message, dropped) = stage.merge_cached();
        message.set_prime_count(primes);
        output.publish(message, &mut stage.sequence_number, dropped, started)
    };
    node.create_timer(period, callback)?;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(sequence_number: u32) -> Message4kb {
        let mut message = Message4kb::new();
        message.append(&NodeName::new("a").unwrap(), sequence_number, 0, 0);
        message
    }

    #[test]
    fn gaps_in_the_sequence_are_drops_and_a_late_first_sample_is_not() {
        let mut input = Input::default();
        let dropped: Vec<_> = [4, 5, 8, 9].map(|n| input.dropped_before(&sample(n))).to_vec();
        assert_eq!(dropped, [0, 0, 2, 0]);
    }
}
