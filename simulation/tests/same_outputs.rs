//! A live run has the same outputs as a deterministic run if it gets the same inputs in the same
//! order: the modes differ in the next event and the time, not in the behaviour of nodes.
//!
//! Random graphs without timers. The deterministic run is recorded as a robot's would be, by a node
//! that subscribes to the inputs; the recording is then pushed into a single core, item by item.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use ringspin_executor::{
    BoxError, Client, Collector, Context, Delivery, DigestHasher, ExternalInput, Graph, Message,
    Publisher, QoS, ReadyOrder, Time,
};
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Duration;

const INPUTS: usize = 3;

/// A node subscribes to topics of inputs or earlier nodes, and publishes on another one.
#[derive(Clone, Debug)]
struct NodeSpec {
    /// Topic, modulo how many there are, and depth.
    subscriptions: Vec<(usize, usize)>,
    /// Up to how many messages it publishes for each that it gets.
    burst: u64,
    /// Whether it asks the service before it publishes.
    asks: bool,
}

#[derive(Clone, Debug)]
struct Spec {
    nodes: Vec<NodeSpec>,
    /// Input, value, and how many milliseconds after the item before.
    items: Vec<(usize, u64, u64)>,
}

fn spec() -> impl Strategy<Value = Spec> {
    let subscriptions = vec((0..100usize, 1..4usize), 1..4);
    let node = (subscriptions, 1..4u64, proptest::bool::weighted(0.3));
    let node =
        node.prop_map(|(subscriptions, burst, asks)| NodeSpec { subscriptions, burst, asks });
    let items = vec((0..INPUTS, any::<u64>(), 0..3u64), 1..20);
    (vec(node, 1..7), items).prop_map(|(nodes, items)| Spec { nodes, items })
}

/// The inputs' publishers, and what each node published.
type Handles = (Vec<Publisher<u64>>, Vec<Collector<u64>>);

/// Inputs in order, each with its number.
type Recording = Vec<(usize, u64)>;

fn build(graph: &Graph, spec: &Spec) -> Result<Handles, BoxError> {
    let driver = graph.create_node("driver", ())?;
    let recorder = graph.create_node("recorder", Recording::new())?;
    let mut topics: Vec<String> = (0..INPUTS).map(|n| format!("input{n}")).collect();
    let mut inputs = Vec::new();
    for (n, topic) in topics.iter().enumerate() {
        inputs.push(driver.create_publisher(topic, QoS::default())?);
        recorder.create_subscription(
            topic,
            QoS::default(),
            move |seen, value: &Message<u64>, _| seen.push((n, **value)),
        )?;
    }
    let server = graph.create_node("server", 0u64)?;
    server.create_service("ask", QoS::keep_all(1000), |state, value: &u64, _| {
        *state = DigestHasher::of(&(*state, *value));
        *state
    })?;
    let probe = graph.create_node("probe", ())?;
    let mut outputs = Vec::new();
    for (n, node) in spec.nodes.iter().enumerate() {
        let output = format!("output{n}");
        create_node(graph, node, &topics, &output)?;
        outputs.push(probe.create_collector(&output, QoS::keep_last(1000))?);
        topics.push(output);
    }
    Ok((inputs, outputs))
}

fn create_node(
    graph: &Graph,
    spec: &NodeSpec,
    topics: &[String],
    output: &str,
) -> Result<(), BoxError> {
    let node = graph.create_node(&format!("node_{output}"), 0u64)?;
    let out = node.create_publisher::<u64>(output, QoS::default())?;
    let client: Client<u64, u64, u64> = node.create_client("ask", QoS::keep_all(1000))?;
    for &(topic, depth) in &spec.subscriptions {
        let (out, client, burst, asks) = (out.clone(), client.clone(), spec.burst, spec.asks);
        let take = move |state: &mut u64, value: &Message<u64>, _: &mut Context<'_>| {
            *state = DigestHasher::of(&(*state, topic as u64, **value));
            if asks {
                return ask(&client, *state, out.clone());
            }
            (0..*state % (burst + 1)).try_for_each(|n| Ok(out.publish(state.wrapping_add(n))?))
        };
        node.create_subscription(&topics[topic % topics.len()], QoS::keep_last(depth), take)?;
    }
    Ok(())
}

/// Calls the service, and publishes the outcome.
fn ask(client: &Client<u64, u64, u64>, request: u64, out: Publisher<u64>) -> Result<(), BoxError> {
    let answered = client.call(request, move |state, reply, _| -> Result<(), BoxError> {
        *state = DigestHasher::of(&(*state, *reply?));
        Ok(out.publish(*state)?)
    });
    Ok(answered?)
}

/// Publishes the items of a spec at their times.
struct Player {
    items: VecDeque<(Time, usize, u64)>,
    inputs: Vec<Publisher<u64>>,
}

impl ExternalInput for Player {
    fn next_time(&mut self) -> Option<Time> {
        self.items.front().map(|(time, ..)| *time)
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        let (_, input, value) = self.items.pop_front().ok_or("nothing is left")?;
        self.inputs[input].publish(value)?;
        Ok(Delivery::Done)
    }
}

/// The outputs of each node in simulated time, and a recording of the inputs.
fn simulated(spec: &Spec) -> (Recording, Vec<Vec<u64>>, u64) {
    let job = Job::new(|graph| {
        let (inputs, outputs) = build(graph, spec)?;
        let mut time = Time::ZERO;
        let items = spec.items.iter().map(|&(input, value, after_ms)| {
            time = time + Duration::from_millis(after_ms);
            (time, input, value)
        });
        let player = Player { items: items.collect(), inputs };
        graph.add_input("player", player)?;
        Ok(outputs)
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let outputs = session.handles.iter().map(Collector::values).collect();
    let overwritten = session.report().statistics().overwritten();
    (session.state::<Recording>("/recorder").unwrap().clone(), outputs, overwritten)
}

/// The outputs of each node on a single core, live.
fn live(spec: &Spec, inputs: &Recording) -> (Vec<Vec<u64>>, u64) {
    let mut executor = Executor::single_core().with_ready_order(ReadyOrder::Fifo);
    let (publishers, outputs) = build(executor.graph(), spec).unwrap();
    executor.freeze().unwrap();
    for &(input, value) in inputs {
        publishers[input].publish(value).unwrap();
        // Until nothing is left, long before an hour has passed.
        executor.spin_all(Duration::from_secs(3600)).unwrap();
    }
    let overwritten = executor.statistics().overwritten();
    (outputs.iter().map(Collector::values).collect(), overwritten)
}

#[test]
fn a_live_run_with_the_recorded_inputs_puts_out_the_same() {
    let config = ProptestConfig {
        cases: 200,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261),
        ..ProptestConfig::default()
    };
    let (values, overwritten) = (Cell::new(0), Cell::new(0));
    let same = |spec: Spec| {
        let (recording, expected, lost) = simulated(&spec);
        let items: Recording = spec.items.iter().map(|&(input, value, _)| (input, value)).collect();
        prop_assert_eq!(&recording, &items, "an input lost an item");
        prop_assert_eq!(live(&spec, &recording), (expected.clone(), lost));
        values.set(values.get() + expected.iter().flatten().count());
        overwritten.set(overwritten.get() + lost);
        Ok(())
    };
    TestRunner::new(config).run(&spec(), same).unwrap_or_else(|error| panic!("{error}"));
    println!("{} outputs, {} messages overwritten", values.get(), overwritten.get());
    assert!(values.get() > 3_000 && overwritten.get() > 300, "little happens in these graphs");
}
