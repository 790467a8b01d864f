//! The reference system as ringspin nodes, identical in every mode.

use crate::chains::{self, Probe};
use crate::description::{
    AUTOWARE, BEHAVIOR_PLANNER, COLLISION_ESTIMATOR, Connection, Kind, NodeDescription, Workload,
};
use crate::kpi::{Collector, is_lidar};
use crate::lame;
use crate::message::{Message4kb, NodeName};
use crate::work::Cost;
use ringspin_conformance::sleep_up_to;
use ringspin_executor::{
    BoxError, Context, Graph, Message, Node, PublishError, Publisher, QoS, Time,
};
use std::sync::Arc;
use std::time::Duration;

/// The message of every topic.
type Sample = Message<Message4kb>;
/// The return value of a callback that publishes.
type Published = Result<(), PublishError<Message4kb>>;

/// The work of the nodes besides passing messages on.
#[derive(Clone, Debug)]
pub struct Work {
    /// The limit of the number cruncher; LaME has its own costs instead.
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
    let (workload, chains) = (Workload::Autoware, None);
    Builder { graph, workload, work, collector, chains }.build()
}

/// Declares the same nodes with the workload of LaME; the figures of its chains go to `chains`. The
/// nodes of the chains have priority: the shorter the deadline, the higher.
///
/// # Errors
/// The errors of [`build`].
pub fn build_lame(
    graph: &Graph,
    work: &Work,
    collector: &Arc<Collector>,
    chains: &Arc<chains::Collector>,
) -> Result<(), BoxError> {
    let (workload, chains) = (Workload::Lame, Some(chains));
    Builder { graph, workload, work, collector, chains }.build()
}

/// The work of one callback.
#[derive(Clone)]
struct Step {
    sleep_max: Duration,
    cost: Cost,
    probe: Probe,
}

impl Step {
    /// Runs at the start of a timer's callback, which sends the sample `sequence_number`.
    fn begin_sample(&self, sequence_number: u32, released: Time) {
        self.probe.started(sequence_number, released);
        sleep_up_to(self.sleep_max);
    }

    /// Runs at the start of a callback for `sample`.
    fn begin_with(&self, sample: &Message4kb, started: Time) {
        self.probe.reached_by(sample, started);
        sleep_up_to(self.sleep_max);
    }
}

/// Declares the nodes.
#[derive(Clone, Copy)]
struct Builder<'a> {
    graph: &'a Graph,
    workload: Workload,
    work: &'a Work,
    collector: &'a Arc<Collector>,
    chains: Option<&'a Arc<chains::Collector>>,
}

impl Builder<'_> {
    fn build(self) -> Result<(), BoxError> {
        AUTOWARE.iter().try_for_each(|description| self.node(description))
    }

    fn node(self, description: &'static NodeDescription) -> Result<(), BoxError> {
        let name = description.name;
        let priority = self.priority(description);
        match description.kind {
            Kind::Sensor { .. } => self.sensor(description)?.set_priority(priority)?,
            Kind::Transform { input } => {
                let node = self.graph.create_node(name, Stage::new(1))?;
                node.set_priority(priority)?;
                self.transform(&node, description, Connection { input, output: name })?;
            }
            Kind::Fusion { inputs, trigger } => {
                let inputs = self.workload.fusion_inputs(inputs, trigger);
                self.fusion(description, inputs)?.set_priority(priority)?;
            }
            Kind::Cyclic { inputs, period } => {
                self.cyclic(description, inputs, period)?.set_priority(priority)?;
            }
            Kind::Intersection { connections } => {
                let (first, others) =
                    connections.split_first().ok_or("an intersection of nothing")?;
                let node = self.graph.create_node(name, Stage::new(1))?;
                node.set_priority(priority)?;
                self.transform(&node, description, *first)?;
                for connection in others {
                    let lane = node.create_callback_group(connection.output, Stage::new(1))?;
                    self.transform(&lane, description, *connection)?;
                }
            }
            Kind::Command { input } => self.command(description, input)?.set_priority(priority)?,
        }
        Ok(())
    }

    fn priority(self, node: &NodeDescription) -> u8 {
        match self.workload {
            Workload::Autoware => u8::from(node.is_on_hot_path() || node.name == BEHAVIOR_PLANNER),
            Workload::Lame => lame::priority(node.name),
        }
    }

    /// The work of the callback of `node` for messages on `input`, or of its timer.
    fn step(self, node: &NodeDescription, input: Option<&str>) -> Step {
        let cost = match (self.workload, node.kind, input) {
            _ if !self.work.crunch => Cost::Nothing,
            (Workload::Lame, ..) => Cost::Busy(lame::cost(node, input)),
            (_, Kind::Sensor { .. } | Kind::Command { .. }, _)
            | (_, Kind::Cyclic { .. }, Some(_)) => Cost::Nothing,
            _ => Cost::Crunch(self.work.n),
        };
        let probe = self.chains.map(|chains| chains.probe(node.name, input)).unwrap_or_default();
        Step { sleep_max: self.work.sleep_max, cost, probe }
    }
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
        latest.sequence_number.wrapping_sub(expected)
    }
}

/// The state of a node with one or several inputs and one output.
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
    fn sensor(self, description: &'static NodeDescription) -> Result<Node<u32>, BoxError> {
        let name = description.name;
        let node = self.graph.create_node(name, 0)?;
        let output = Output::new(&node, name, name)?;
        let step = self.step(description, None);
        let period = self.workload.period(description).ok_or("a sensor without a period")?;
        let collector = is_lidar(name).then(|| self.collector.clone());
        node.create_timer(period, move |sequence_number, cx| {
            let (started, released) = (cx.now(), cx.scheduled_time().unwrap_or(cx.now()));
            if let Some(collector) = &collector {
                collector.lidar_released(name, *sequence_number, released.as_nanos());
            }
            step.begin_sample(*sequence_number, released);
            let mut message = Message4kb::new();
            message.set_prime_count(step.cost.spend());
            output.publish(message, sequence_number, 0, started)
        })?;
        Ok(node)
    }

    fn transform(
        self,
        node: &Node<Stage>,
        description: &'static NodeDescription,
        connection: Connection,
    ) -> Result<(), BoxError> {
        let name = description.name;
        let output = Output::new(node, name, connection.output)?;
        let step = self.step(description, Some(connection.input));
        let collector = (name == COLLISION_ESTIMATOR).then(|| self.collector.clone());
        let callback = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
            let started = cx.now();
            step.begin_with(sample, started);
            let primes = step.cost.spend();
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

    /// Declares a fusion. In LaME, the first input triggers, and the others cost their caching.
    fn fusion(
        self,
        description: &'static NodeDescription,
        topics: [&'static str; 2],
    ) -> Result<Node<Stage>, BoxError> {
        let name = description.name;
        let node = self.graph.create_node(name, Stage::new(topics.len()))?;
        let output = Output::new(&node, name, name)?;
        let waits = self.workload == Workload::Autoware;
        for (index, topic) in topics.into_iter().enumerate() {
            let (output, step) = (output.clone(), self.step(description, Some(topic)));
            let callback = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
                let started = cx.now();
                step.begin_with(sample, started);
                stage.inputs[index].cached = Some(sample.clone());
                if waits && stage.inputs.iter().any(|input| input.cached.is_none()) {
                    return Ok(());
                }
                let primes = step.cost.spend();
                if !waits && index > 0 {
                    return Ok(());
                }
                let (mut message, dropped) = stage.merge_cached();
                message.set_prime_count(primes);
                output.publish(message, &mut stage.sequence_number, dropped, started)
            };
            node.create_subscription(topic, QoS::keep_last(1), callback)?;
        }
        Ok(node)
    }

    fn cyclic(
        self,
        description: &'static NodeDescription,
        topics: &'static [&'static str],
        period: Duration,
    ) -> Result<Node<Stage>, BoxError> {
        let name = description.name;
        let node = self.graph.create_node(name, Stage::new(topics.len()))?;
        let output = Output::new(&node, name, name)?;
        for (index, topic) in topics.iter().enumerate() {
            let step = self.step(description, Some(topic));
            let cache = move |stage: &mut Stage, sample: &Sample, cx: &mut Context<'_>| {
                step.begin_with(sample, cx.now());
                step.cost.spend();
                stage.inputs[index].cached = Some(sample.clone());
            };
            node.create_subscription(topic, QoS::keep_last(1), cache)?;
        }
        let step = self.step(description, None);
        let collector = (name == BEHAVIOR_PLANNER).then(|| self.collector.clone());
        let callback = move |stage: &mut Stage, cx: &mut Context<'_>| {
            let started = cx.now();
            if let Some(collector) = &collector {
                collector.planner_started(started.as_nanos());
            }
            let released = cx.scheduled_time().unwrap_or(started);
            step.begin_sample(stage.sequence_number, released);
            let primes = step.cost.spend();
            let (mut message, dropped) = stage.merge_cached();
            message.set_prime_count(primes);
            output.publish(message, &mut stage.sequence_number, dropped, started)
        };
        node.create_timer(period, callback)?;
        Ok(node)
    }

    fn command(
        self,
        description: &'static NodeDescription,
        input: &'static str,
    ) -> Result<Node<()>, BoxError> {
        let name = description.name;
        let node = self.graph.create_node(name, ())?;
        let (step, collector) = (self.step(description, Some(input)), self.collector.clone());
        let taken = move |_: &mut (), sample: &Sample, cx: &mut Context<'_>| {
            step.begin_with(sample, cx.now());
            step.cost.spend();
            collector.sample_arrived(name, sample, cx.now().as_nanos());
        };
        node.create_subscription(input, QoS::keep_last(10), taken)?;
        Ok(node)
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
        let dropped: Vec<_> = [4, 5, 8, 9].map(|n| input.dropped_before(&sample(n))).to_vec();
        assert_eq!(dropped, [0, 0, 2, 0]);
    }
}
