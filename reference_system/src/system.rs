//! The reference system as ringspin nodes, identical in every mode.

use crate::crunch::number_cruncher;
use crate::description::{
    AUTOWARE, BEHAVIOR_PLANNER, COLLISION_ESTIMATOR, Connection, Kind, NodeDescription,
};
use crate::kpi::{Collector, LIDARS};
use crate::message::{Message4kb, NodeName};
use ringspin_executor::{
    BoxError, Context, Graph, Message, Node, PublishError, Publisher, QoS, Time,
};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// The message of every topic.
type Sample = Message<Message4kb>;
/// The return value of a callback that publishes.
type Published = Result<(), PublishError<Message4kb>>;

/// The work of the nodes besides passing messages on.
#[derive(Clone, Debug)]
pub struct Work {
    /// The limit of the number cruncher.
    pub n: u64,
    /// Whether callbacks crunch; otherwise messages carry a count of zero.
    pub crunch: bool,
    /// The longest random sleep at the start of each callback, which must not affect results.
    pub sleep_max: Duration,
}

impl Work {
    /// Crunching up to `n`, without sleeps.
    pub fn crunching(n: u64) -> Self {
        Self { n, crunch: true, sleep_max: Duration::ZERO }
    }
}

/// Declares the 24 nodes in `graph`; their key figures go to `collector`. The nodes of the hot path
/// and the planner behind it have priority over the others of their worker.
///
/// # Errors
/// An error if the graph already has nodes or topics of these names.
pub fn build(graph: &Graph, work: &Work, collector: &Arc<Collector>) -> Result<(), BoxError> {
    build_part(graph, work, collector, |_| true)
}

/// Declares the nodes with names that are `here`. The others are in other processes.
///
/// # Errors
/// An error if the graph already has nodes or topics of these names.
pub fn build_part(
    graph: &Graph,
    work: &Work,
    collector: &Arc<Collector>,
    here: impl Fn(&str) -> bool,
) -> Result<(), BoxError> {
    let builder = Builder { graph, work, collector };
    let mut nodes = AUTOWARE.iter().filter(|description| here(description.name));
    nodes.try_for_each(|description| builder.node(description))
}

/// The work of one callback.
#[derive(Clone, Copy)]
struct Step {
    sleep_max: Duration,
    /// The limit of the crunch, if the callback crunches.
    crunch: Option<u64>,
}

impl Step {
    fn begin(self) {
        if !self.sleep_max.is_zero() {
            // Seeded by the operating system on purpose: no two runs sleep alike.
            let random = RandomState::new().build_hasher().finish();
            std::thread::sleep(self.sleep_max.mul_f64(random as f64 / u64::MAX as f64));
        }
    }

    /// Crunches; returns the number of primes found, for the message.
    fn crunch(self) -> i64 {
        self.crunch.map_or(0, |n| number_cruncher(n) as i64)
    }
}

/// Declares the nodes.
#[derive(Clone, Copy)]
struct Builder<'a> {
    graph: &'a Graph,
    work: &'a Work,
    collector: &'a Arc<Collector>,
}

impl Builder<'_> {
    fn node(self, description: &'static NodeDescription) -> Result<(), BoxError> {
        let name = description.name;
        let node = self.graph.create_node(name, Stage::new(description.inputs().len()))?;
        node.set_priority(u8::from(description.is_on_hot_path() || name == BEHAVIOR_PLANNER))?;
        match description.kind {
            Kind::Sensor { period } => self.sensor(&node, name, period),
            Kind::Transform { input } => {
                self.transform(&node, name, Connection { input, output: name })
            }
            Kind::Fusion { inputs } => self.fusion(&node, name, inputs),
            Kind::Cyclic { inputs, period } => self.cyclic(&node, name, inputs, period),
            Kind::Intersection { connections } => {
                let (first, others) =
                    connections.split_first().ok_or("an intersection of nothing")?;
                self.transform(&node, name, *first)?;
                for connection in others {
                    let lane = node.create_callback_group(connection.output, Stage::new(1))?;
                    self.transform(&lane, name, *connection)?;
                }
                Ok(())
            }
            Kind::Command { input } => self.command(&node, input),
        }
    }

    /// The work of a callback that crunches, or of one that only passes a message on.
    fn step(self, crunches: bool) -> Step {
        let crunch = (crunches && self.work.crunch).then_some(self.work.n);
        Step { sleep_max: self.work.sleep_max, crunch }
    }
}

/// A node's publishing side; callbacks of one node hold clones.
#[derive(Clone)]
struct Output {
    name: NodeName,
    publisher: Publisher<Message4kb>,
}

impl Output {
    fn new(node: &Node<Stage>, name: &str, topic: &str) -> Result<Self, BoxError> {
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

/// The state of a node's input.
#[derive(Default)]
struct Input {
    last_sequence_number: Option<u32>,
    cached: Option<Sample>,
}

impl Input {
    /// The number of samples lost between the input's last handled sample and this one.
    fn dropped_before(&mut self, sample: &Message4kb) -> u32 {
        let Some(latest) = sample.last() else { return 0 };
        let expected = match self.last_sequence_number {
            Some(last) => last.wrapping_add(1),
            None => latest.sequence_number,
        };
        self.last_sequence_number = Some(latest.sequence_number);
        // A publisher that was started anew counts from zero again.
        latest.sequence_number.saturating_sub(expected)
    }
}

/// The state of a node: its inputs and the number of its messages.
#[derive(Default)]
struct Stage {
    inputs: Vec<Input>,
    /// The sequence number of its next message.
    sequence_number: u32,
}

impl Stage {
    fn new(inputs: usize) -> Self {
        Self { inputs: (0..inputs).map(|_| Input::default()).collect(), sequence_number: 0 }
    }

    /// Merges and clears the inputs that have a sample; returns the merged history and the number
    /// of samples lost on them.
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

impl Builder<'_> {
    fn sensor(
        self,
        node: &Node<Stage>,
        name: &'static str,
        period: Duration,
    ) -> Result<(), BoxError> {
        let output = Output::new(node, name, name)?;
        let step = self.step(false);
        let collector = LIDARS.contains(&name).then(|| self.collector.clone());
        node.create_timer(period, move |stage, cx| {
            let (started, released) = (cx.now(), cx.scheduled_time().unwrap_or(cx.now()));
            if let Some(collector) = &collector {
                collector.lidar_released(name, stage.sequence_number, released.as_nanos());
            }
            step.begin();
            let mut message = Message4kb::new();
            message.set_prime_count(0);
            output.publish(message, &mut stage.sequence_number, 0, started)
        })?;
        Ok(())
    }

    fn transform(
        self,
        node: &Node<Stage>,
        name: &'static str,
        connection: Connection,
    ) -> Result<(), BoxError> {
        let output = Output::new(node, name, connection.output)?;
        let step = self.step(true);
        let collector = (name == COLLISION_ESTIMATOR).then(|| self.collector.clone());
        let callback = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
            let started = cx.now();
            step.begin();
            let primes = step.crunch();
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
        node.create_subscription(connection.input, QoS::keep_last(1), callback)?;
        Ok(())
    }

    fn fusion(
        self,
        node: &Node<Stage>,
        name: &'static str,
        topics: [&'static str; 2],
    ) -> Result<(), BoxError> {
        let output = Output::new(node, name, name)?;
        let step = self.step(true);
        for (index, topic) in topics.into_iter().enumerate() {
            let output = output.clone();
            let callback = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
                let started = cx.now();
                step.begin();
                stage.inputs[index].cached = Some(sample.clone());
                if stage.inputs.iter().any(|input| input.cached.is_none()) {
                    return Ok(());
                }
                let primes = step.crunch();
                let (mut message, dropped) = stage.merge_cached();
                message.set_prime_count(primes);
                output.publish(message, &mut stage.sequence_number, dropped, started)
            };
            node.create_subscription(topic, QoS::keep_last(1), callback)?;
        }
        Ok(())
    }

    fn cyclic(
        self,
        node: &Node<Stage>,
        name: &'static str,
        topics: &'static [&'static str],
        period: Duration,
    ) -> Result<(), BoxError> {
        let output = Output::new(node, name, name)?;
        for (index, topic) in topics.iter().enumerate() {
            let step = self.step(false);
            let cache = move |stage: &mut Stage, sample: &Sample, _: &mut Context<'_>| {
                step.begin();
                stage.inputs[index].cached = Some(sample.clone());
            };
            node.create_subscription(topic, QoS::keep_last(1), cache)?;
        }
        let step = self.step(true);
        let collector = (name == BEHAVIOR_PLANNER).then(|| self.collector.clone());
        let callback = move |stage: &mut Stage, cx: &mut Context<'_>| {
            let started = cx.now();
            if let Some(collector) = &collector {
                collector.planner_started(started.as_nanos());
            }
            step.begin();
            let primes = step.crunch();
            let (mut message, dropped) = stage.merge_cached();
            message.set_prime_count(primes);
            output.publish(message, &mut stage.sequence_number, dropped, started)
        };
        node.create_timer(period, callback)?;
        Ok(())
    }

    fn command(self, node: &Node<Stage>, input: &'static str) -> Result<(), BoxError> {
        let (step, collector) = (self.step(false), self.collector.clone());
        let taken = move |_: &mut Stage, sample: &Sample, _: &mut Context<'_>| {
            step.begin();
            collector.sample_arrived(sample);
        };
        node.create_subscription(input, QoS::keep_last(10), taken)?;
        Ok(())
    }
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
    fn sequence_gaps_count_as_drops_except_before_the_first_sample() {
        let mut input = Input::default();
        let dropped = [4, 5, 8, 9, 0, 2].map(|n| input.dropped_before(&sample(n)));
        assert_eq!(dropped, [0, 0, 2, 0, 0, 1]);
    }
}
