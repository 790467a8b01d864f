//! A simulator outside of the graph.

use crate::support::{MS, Number, Stamped, ms, topic, types};
use ringspin_bag::closed_loop::{DataSource, Offer, connect};
use ringspin_bag::{Record, Topic, TopicId};
use ringspin_executor::{BoxError, ErrorKind, Graph, Message, QoS, Time};
use ringspin_messages::{RawMessage, cdr};
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::Job;
use ringspin_simulation::models::{Durations, Links};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The times at which the simulator was told something, and the numbers that it was told.
type Told = Arc<Mutex<Vec<(Time, Vec<u32>)>>>;

/// Offers a number every 10 ms, the next one only when it has the answer to the one before.
struct Questions {
    next: u32,
    /// The number of messages per step.
    burst: u32,
    answered: bool,
    offered: u32,
    told: Told,
}

impl Questions {
    fn new(burst: u32, told: &Told) -> Self {
        Self { next: 0, burst, answered: true, offered: 0, told: told.clone() }
    }
}

impl DataSource for Questions {
    fn inputs(&self) -> Vec<Topic> {
        vec![topic::<Number>("/question")]
    }

    fn outputs(&self) -> Vec<String> {
        vec!["/answer".into()]
    }

    fn next(&mut self) -> Result<Option<Offer>, BoxError> {
        if self.next == 5 || (self.offered == self.burst && !self.answered) {
            return Ok(None);
        }
        if self.offered == self.burst {
            (self.offered, self.next) = (0, self.next + 1);
        }
        (self.offered, self.answered) = (self.offered + 1, false);
        let data = cdr::to_bytes(&Number { value: self.next })?;
        let time = ms(10 * u64::from(self.next));
        Ok((self.next < 5).then_some(Offer { time, topic: TopicId(0), data }))
    }

    fn quiet(&mut self, now: Time, published: &[Record]) -> Result<(), BoxError> {
        let values = published.iter().map(|record| -> Result<u32, BoxError> {
            Ok(cdr::from_bytes::<Number>(&record.data)?.value)
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        self.answered |= !values.is_empty();
        if !values.is_empty() {
            self.told.lock().unwrap().push((now, values));
        }
        Ok(())
    }
}

/// A node that answers with the square.
fn squares(graph: &Graph, depth: usize) -> Result<(), BoxError> {
    let node = graph.create_node("square", ())?;
    let out = node.create_publisher("answer", QoS::default())?;
    node.create_subscription(
        "question",
        QoS::keep_all(depth),
        move |_, n: &Message<Number>, cx| {
            if n.value == 4 {
                cx.stop();
            }
            out.publish(Number { value: n.value * n.value })
        },
    )?;
    Ok(())
}

#[test]
fn the_simulator_is_told_the_answers_before_it_is_asked_again() {
    let told = Told::default();
    let job = Job::new(|graph: &Graph| {
        squares(graph, 10)?;
        Ok(connect(graph, "simulator", &types(), Questions::new(1, &told))?)
    });
    let job = job.start_at(ms(0)).simulate(|simulation| {
        // Answers take longer than the questions are apart: later questions are late.
        let durations = "[[execution]]\nnode = \"/square\"\nduration = \"15ms\"\n";
        simulation.durations = Durations::from_toml(durations).unwrap().into();
    });
    let report = job.run().unwrap();
    let told = told.lock().unwrap().clone();
    let expected = [0, 1, 2, 3].map(|n| (ms(15 + 15 * u64::from(n)), vec![n * n]));
    assert_eq!(told[..4], expected);
    assert_eq!(report.statistics().lost(), 0);
}

#[test]
fn each_message_of_a_burst_waits_for_room() {
    let told = Told::default();
    let job = Job::new(|graph: &Graph| {
        squares(graph, 1)?;
        Ok(connect(graph, "simulator", &types(), Questions::new(3, &told))?)
    });
    job.start_at(ms(0)).run().unwrap();
    let told = told.lock().unwrap();
    let values: Vec<_> = told.iter().flat_map(|(_, values)| values.clone()).collect();
    assert_eq!(values[..12], [0, 0, 0, 1, 1, 1, 4, 4, 4, 9, 9, 9]);
}

#[test]
fn the_loop_runs_live_at_the_pace_of_the_clock() {
    for mut executor in [Executor::single_core(), Executor::new(Mode::MultiCore(None))] {
        let told = Told::default();
        squares(executor.graph(), 10).unwrap();
        let source = Questions::new(1, &told);
        connect(executor.graph(), "simulator", &types(), source).unwrap();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        let told = told.lock().unwrap();
        let values: Vec<_> = told.iter().flat_map(|(_, values)| values.clone()).collect();
        assert_eq!(values[..4], [0, 1, 4, 9]);
        // In the time of the simulator, in which no answer is earlier than its question.
        for (n, (time, _)) in told.iter().enumerate() {
            assert!(*time >= ms(10 * n as u64) && *time < ms(0) + 60_000 * MS, "{told:?}");
        }
    }
}

#[test]
fn a_topic_of_another_type_is_refused_by_name_and_hash() {
    let graph = Graph::new();
    let node = graph.create_node("node", ()).unwrap();
    node.create_collector::<Stamped>("question", QoS::default()).unwrap();
    let source = Questions::new(1, &Told::default());
    let error = connect(&graph, "simulator", &types(), source).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to connect topic /question: the simulator has type test_msgs/msg/Number \
         (RIHS01_aa), but a node of the graph has type test_msgs/msg/Stamped (RIHS01_bb); use one \
         type"
    );
    let source = Questions::new(1, &Told::default());
    let error = connect(&Graph::new(), "simulator", &types(), source).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::TypeMismatch, Some("/answer")));
    assert!(error.to_string().contains("no node publishes it with a known type"), "{error}");
}

/// Offers a list of messages, each as soon as it is asked, and keeps the records that it is told.
struct Script {
    inputs: Vec<Topic>,
    offers: std::vec::IntoIter<Result<Offer, BoxError>>,
    told: Arc<Mutex<Vec<Record>>>,
    /// Fails when it is told more records than that.
    told_max: usize,
}

impl Script {
    /// Numbers on `/in`, by the milliseconds of their times.
    fn new(items: &[(u64, u32)]) -> (Self, Arc<Mutex<Vec<Record>>>) {
        let offer = |(at, value): &(u64, u32)| {
            let data = cdr::to_bytes(&Number { value: *value })?;
            Ok(Offer { time: ms(*at), topic: TopicId(0), data })
        };
        let offers = items.iter().map(offer).collect::<Vec<_>>().into_iter();
        let (inputs, told) = (vec![topic::<Number>("/in")], Arc::default());
        (Self { inputs, offers, told: Arc::clone(&told), told_max: usize::MAX }, told)
    }

    fn offer(self, offer: Result<Offer, BoxError>) -> Self {
        Self { offers: vec![offer].into_iter(), ..self }
    }
}

impl DataSource for Script {
    fn inputs(&self) -> Vec<Topic> {
        self.inputs.clone()
    }

    fn outputs(&self) -> Vec<String> {
        vec!["/copy".into(), "/raw".into()]
    }

    fn next(&mut self) -> Result<Option<Offer>, BoxError> {
        self.offers.next().transpose()
    }

    fn quiet(&mut self, _now: Time, published: &[Record]) -> Result<(), BoxError> {
        let mut told = self.told.lock().unwrap();
        told.extend_from_slice(published);
        if told.len() > self.told_max { Err("the physics diverged".into()) } else { Ok(()) }
    }
}

/// A node that publishes each number twice on `/copy` and once, as bytes, on `/raw`.
fn copies(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("copies", ())?;
    let copy = node.create_publisher("copy", QoS::default())?;
    let raw = node.create_publisher("raw", QoS::default())?;
    node.create_subscription("in", QoS::keep_all(1), move |_, n: &Message<Number>, _| {
        copy.publish(Number { value: n.value })?;
        raw.publish(RawMessage(cdr::to_bytes(&**n)?))?;
        copy.publish(Number { value: n.value })?;
        Ok::<_, BoxError>(())
    })?;
    Ok(())
}

/// Runs the copies with a simulator until `end`.
fn run(source: Script, change: impl FnOnce(&mut ringspin_modes::Simulation)) -> Option<String> {
    let source = Mutex::new(Some(source));
    let job = Job::new(|graph: &Graph| {
        copies(graph)?;
        let source = source.lock().unwrap().take().expect("one run");
        Ok(connect(graph, "simulator", &types(), source)?)
    });
    let job = job.start_at(ms(0)).simulate(change);
    job.run().err().map(|error| error.to_string())
}

#[test]
fn the_simulator_is_told_every_message_in_order_with_topic_times_and_number() {
    // The first three at once, faster than the node takes them.
    let (source, told) = Script::new(&[(0, 1), (0, 2), (0, 3), (50, 4), (60, 5)]);
    let error = run(source, |simulation| {
        let durations = "[[execution]]\nnode = \"/copies\"\nduration = \"2ms\"\n";
        simulation.durations = Durations::from_toml(durations).unwrap().into();
        let delay = |topic| format!("[[link]]\ntopic = \"{topic}\"\ndelay = \"1ms\"\n");
        let delay = ["/copy", "/raw"].map(delay).concat();
        simulation.links = Links::from_toml(&delay).unwrap().into();
    });
    assert_eq!(error, None);
    let told = told.lock().unwrap();
    let mut expected = Vec::new();
    for (n, published) in [2, 4, 6, 52, 62].into_iter().enumerate() {
        let (n, value) = (n as u32, n as u32 + 1);
        let (first, second) = (2 * n, 2 * n + 1);
        for (topic, sequence) in [(0, first), (1, n), (0, second)] {
            expected.push((topic, sequence, value, ms(published), ms(published + 1)));
        }
    }
    let told = told.iter().map(|record| {
        let number: Number = cdr::from_bytes(&record.data).unwrap();
        let Record { topic, sequence, publish_time, log_time, .. } = *record;
        (topic.0, sequence, number.value, publish_time, log_time)
    });
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn errors_of_the_simulator_and_its_messages_end_the_run() {
    let end = |source| run(source, |_| ()).expect("the run fails");
    let (mut source, _) = Script::new(&[(0, 1)]);
    source.told_max = 2;
    assert!(end(source).contains("the physics diverged"));
    let (source, _) = Script::new(&[]);
    let error = end(source.offer(Err("connection lost".into())));
    assert!(error.contains("\"simulator\"") && error.contains("connection lost"), "{error}");
    let offer = |topic, data| Ok(Offer { time: ms(1), topic: TopicId(topic), data });
    let (source, _) = Script::new(&[]);
    let error = end(source.offer(offer(0, vec![0, 1, 0])));
    assert!(error.contains("failed to deserialize 3 bytes"), "{error}");
    let (source, _) = Script::new(&[]);
    let error = end(source.offer(offer(7, Vec::new())));
    assert!(error.contains("the simulator has no topic 7; offer one of its inputs"), "{error}");
}

#[test]
fn inputs_offer_the_qos_of_the_simulator_and_need_its_version_of_the_type() {
    let graph = Graph::new();
    copies(&graph).unwrap();
    let (mut source, _) = Script::new(&[]);
    source.inputs[0].offered_qos = vec![QoS::keep_last(3), QoS::keep_last(5)];
    connect(&graph, "simulator", &types(), source).unwrap();
    assert_eq!(graph.offered_qos("/in")[0].1, QoS::keep_last(3));
    let graph = Graph::new();
    copies(&graph).unwrap();
    let (mut source, _) = Script::new(&[]);
    source.inputs[0].type_hash = Some("RIHS01_old".into());
    let error = connect(&graph, "simulator", &types(), source).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    assert!(error.to_string().contains("RIHS01_old"), "{error}");
}

#[test]
fn a_live_simulator_is_told_each_burst_whole() {
    let mut executor = Executor::single_core();
    copies(executor.graph()).unwrap();
    let items: Vec<_> = (1..=20).map(|value| (0, value)).collect();
    let (source, told) = Script::new(&items);
    connect(executor.graph(), "simulator", &types(), source).unwrap();
    let (mut waited, done) = (0, executor.stop_handle());
    while told.lock().unwrap().len() < 60 && waited < 60_000 {
        done.reset();
        executor.spin_for(MS).unwrap();
        waited += 1;
    }
    let told = told.lock().unwrap();
    let values = told.iter().map(|record| cdr::from_bytes::<Number>(&record.data).unwrap().value);
    assert_eq!(values.collect::<Vec<_>>(), (1..=20).flat_map(|n| [n; 3]).collect::<Vec<_>>());
}
