//! A simulator outside of the graph.

use crate::support::{MS, Number, Stamped, ms, topic, types};
use ringspin_bag::closed_loop::{ClosedLoopError, DataSource, Offer, connect};
use ringspin_bag::{Record, Topic, TopicId};
use ringspin_executor::{BoxError, Graph, Message, QoS, Time};
use ringspin_messages::cdr;
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::Job;
use ringspin_simulation::models::Durations;
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
    assert!(matches!(error, ClosedLoopError::UnknownOutput(topic) if topic == "/answer"));
}
