//! Inputs: recordings, generators and simulators in closed loop wait for the graph.

use ringspin_executor::{
    BoxError, Collector, Delivery, ErrorKind, ExternalInput, FailurePolicy, Graph, Message,
    Publisher, QoS, Time,
};
use ringspin_modes::{Executor, Mode};
use ringspin_simulation::Job;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

/// Items with their times.
struct Recording {
    items: Vec<(Time, u32)>,
    out: Publisher<u32>,
    refusals: u32,
}

impl ExternalInput for Recording {
    fn next_time(&mut self) -> Option<Time> {
        self.items.first().map(|(time, _)| *time)
    }

    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError> {
        let (time, item) = self.items[0];
        assert!(time <= now);
        if self.out.publish(item).is_err() {
            self.refusals += 1;
            assert!(self.refusals < 1000, "it is not asked without end");
            return Ok(Delivery::Again);
        }
        self.items.remove(0);
        Ok(Delivery::Done)
    }
}

fn play(graph: &Graph, items: &[(Time, u32)]) -> Result<(), BoxError> {
    let player = graph.create_node("player", ())?;
    let out = player.create_publisher("in", QoS::default())?;
    graph.add_input("recording", Recording { items: items.to_vec(), out, refusals: 0 })?;
    Ok(())
}

#[test]
fn items_at_one_time_are_handled_one_by_one_so_that_none_is_overwritten() {
    let items = [(ms(1), 1), (ms(1), 2), (ms(1), 3), (ms(5), 4)];
    let job = Job::new(|graph| {
        play(graph, &items)?;
        let probe = graph.create_node("probe", ())?;
        Ok(probe.create_collector::<u32>("in", QoS::keep_last(1))?)
    });
    let mut session = job.start().unwrap();
    session.run_until(ms(10)).unwrap();
    let received = session.handles.take();
    let received: Vec<_> = received.iter().map(|(time, item)| (*time, **item)).collect();
    assert_eq!(received, items);
    assert_eq!(session.report().statistics().overwritten(), 0);
}

#[test]
fn a_full_subscription_makes_the_input_wait() {
    let job = Job::new(|graph| {
        let items: Vec<_> = (0..6).map(|n| (ms(0), n)).collect();
        play(graph, &items)?;
        let node = graph.create_node("slow", Vec::<u32>::new())?;
        let again = node.create_publisher::<()>("again", QoS::keep_all(10))?;
        let qos = QoS::keep_all(2);
        node.create_subscription("in", qos, move |seen, n: &Message<u32>, _| {
            seen.push(**n);
            again.publish(()).map_err(|_| "full")
        })?;
        node.create_subscription("again", QoS::keep_all(10), |_, _: &Message<()>, _| ())?;
        Ok(())
    });
    let mut session = job.start().unwrap();
    session.run_until(ms(1)).unwrap();
    assert_eq!(*session.state::<Vec<u32>>("/slow").unwrap(), [0, 1, 2, 3, 4, 5]);
}

/// A cart that is pushed: one step of physics each time the controller has answered.
struct Plant {
    position: f64,
    next: Time,
    out: Publisher<f64>,
    force: Collector<f64>,
    quiet: u32,
}

impl ExternalInput for Plant {
    fn next_time(&mut self) -> Option<Time> {
        Some(self.next)
    }

    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError> {
        self.out.publish(self.position)?;
        self.next = now + 10 * MS;
        Ok(Delivery::Done)
    }

    fn quiet(&mut self, _now: Time) -> Result<(), BoxError> {
        self.quiet += 1;
        if let Some((_, force)) = self.force.pop() {
            self.position += *force * 0.1;
        }
        Ok(())
    }
}

#[test]
fn a_simulator_in_closed_loop_sees_what_was_published_at_each_quiet_instant() {
    let job = Job::new(|graph: &Graph| {
        let plant = graph.create_node("plant", ())?;
        let out = plant.create_publisher::<f64>("position", QoS::default())?;
        let force = plant.create_collector::<f64>("force", QoS::default())?;
        graph.add_input("plant", Plant { position: 1.0, next: ms(10), out, force, quiet: 0 })?;
        let controller = graph.create_node("controller", 0.0)?;
        let force = controller.create_publisher("force", QoS::default())?;
        controller.create_subscription(
            "position",
            QoS::default(),
            move |last, m: &Message<f64>, _| {
                *last = **m;
                force.publish(-**m)
            },
        )?;
        Ok(())
    });
    let mut session = job.start().unwrap();
    session.run_until(ms(1000)).unwrap();
    let position = *session.state::<f64>("/controller").unwrap();
    let expected = (0..99).fold(1.0f64, |position, _| position + -position * 0.1);
    assert_eq!(position.to_bits(), expected.to_bits());
}

struct Broken;

impl ExternalInput for Broken {
    fn next_time(&mut self) -> Option<Time> {
        Some(ms(3))
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        Err("truncated".into())
    }
}

/// Never gets rid of its item.
struct WatchdogTimeout;

impl ExternalInput for WatchdogTimeout {
    fn next_time(&mut self) -> Option<Time> {
        Some(ms(2))
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        Ok(Delivery::Again)
    }
}

#[test]
fn an_input_that_fails_or_is_stuck_ends_the_run_by_name() {
    let error = Job::new(|graph| Ok(graph.add_input("bag", Broken)?)).run().unwrap_err();
    assert_eq!(error.to_string(), "input \"bag\" failed at 0.003000000 s: truncated");
    let error = Job::new(|graph| Ok(graph.add_input("bag", WatchdogTimeout)?)).run().unwrap_err();
    assert!(
        error.to_string().starts_with("failed to continue at 0.002000000 s: no subscription takes"),
        "{error}"
    );
    let twice = |graph: &Graph| {
        graph.add_input("bag", Broken)?;
        Ok(graph.add_input("bag", Broken)?)
    };
    let error = Job::new(twice).run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to add input \"bag\": there is one of this name; give one another name"
    );
}

/// An input without end and without a subscription.
struct Endless;

impl ExternalInput for Endless {
    fn next_time(&mut self) -> Option<Time> {
        Some(ms(1))
    }

    fn deliver(&mut self, _: Time) -> Result<Delivery, BoxError> {
        Ok(Delivery::Done)
    }
}

#[test]
fn an_input_without_end_is_named() {
    let job = Job::new(|graph| Ok(graph.add_input("bag", Endless)?));
    let error = job.simulate(|s| s.instant_dispatches_max = 1000).run().unwrap_err();
    let expected = "input \"bag\" failed at 0.001000000 s: more than 1000 items at one instant: \
                    let its time advance, or raise `instant_dispatches_max`";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_input_is_refused_live() {
    let mut executor = Executor::single_core();
    executor.graph().add_input("bag", Broken).unwrap();
    let error = executor.spin().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("input \"bag\" needs simulated time"), "{error}");
}

/// The number of items of a [`Paced`] input.
const ITEMS: u32 = 20;

/// Items a millisecond apart, the first one refused once.
struct Paced {
    next: Time,
    left: u32,
    refuses: bool,
    out: Publisher<u32>,
}

impl ExternalInput for Paced {
    fn start_live(&mut self, now: Time) {
        self.next = now;
    }

    fn next_time(&mut self) -> Option<Time> {
        (self.left > 0).then_some(self.next)
    }

    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError> {
        assert!(self.next <= now);
        if std::mem::take(&mut self.refuses) {
            return Ok(Delivery::Again);
        }
        self.out.publish(self.left)?;
        (self.left, self.next) = (self.left - 1, self.next + MS);
        Ok(Delivery::Done)
    }
}

/// Items with the times of their reception.
type Received = Arc<Mutex<Vec<(Time, u32)>>>;

/// A node with an input of [`ITEMS`] items, and one that stops the executor at the last.
fn paced(graph: &Graph) -> Result<Received, BoxError> {
    let node = graph.create_node("sensor", ())?;
    let out = node.create_publisher("in", QoS::default())?;
    let refuses = true;
    node.create_input("sensor", Paced { next: ms(1), left: ITEMS, refuses, out })?;
    let received = Received::default();
    let probe = graph.create_node("probe", received.clone())?;
    // Room for all: a busy machine delays them.
    let qos = QoS::keep_last(ITEMS as usize);
    probe.create_subscription("in", qos, |received, left: &Message<u32>, cx| {
        received.lock().unwrap().push((cx.now(), **left));
        if **left == 1 {
            cx.stop();
        }
    })?;
    Ok(received)
}

#[test]
fn an_input_of_a_node_is_never_early_in_live_modes() {
    for mut executor in [Executor::single_core(), Executor::new(Mode::MultiCore(None))] {
        let received = paced(executor.graph()).unwrap();
        executor.freeze().unwrap();
        let start = executor.now();
        executor.spin_for(Duration::from_secs(60)).unwrap();
        let received = received.lock().unwrap();
        let values: Vec<_> = received.iter().map(|(_, left)| *left).collect();
        assert_eq!(values, (1..=ITEMS).rev().collect::<Vec<_>>());
        for (n, (time, _)) in (0..).zip(received.iter()) {
            assert!(*time >= start + n * MS, "{received:?} from {start}");
        }
    }
}

#[test]
fn an_input_of_a_node_is_an_input_in_deterministic_mode() {
    let mut executor = Executor::deterministic(Default::default());
    let node = executor.create_node("busy", ()).unwrap();
    // The item that is refused is offered again after a dispatch.
    node.create_timer(MS, |_, _| ()).unwrap();
    let received = paced(executor.graph()).unwrap();
    executor.spin_for(Duration::from_millis(30)).unwrap();
    let expected: Vec<_> = (1..=ITEMS).map(|n| (ms(n.into()), ITEMS + 1 - n)).collect();
    assert_eq!(*received.lock().unwrap(), expected);
}

/// Items that are all due; the last one fails.
struct Burst {
    left: u32,
    delivered: Arc<Mutex<u32>>,
    out: Publisher<u32>,
    /// Shows whether the input is dropped.
    _alive: Arc<()>,
}

impl ExternalInput for Burst {
    fn next_time(&mut self) -> Option<Time> {
        (self.left > 0).then_some(Time::ZERO)
    }

    fn deliver(&mut self, _now: Time) -> Result<Delivery, BoxError> {
        self.left -= 1;
        if self.left == 0 {
            return Err("the sensor is unplugged".into());
        }
        *self.delivered.lock().unwrap() += 1;
        self.out.publish(self.left)?;
        Ok(Delivery::Done)
    }
}

/// Adds a node with a burst of `items`, and a probe of the deliveries at its first message.
fn burst(graph: &Graph, items: u32, alive: &Arc<()>) -> Result<Arc<Mutex<u32>>, BoxError> {
    let node = graph.create_node("sensor", ())?;
    let (out, delivered) = (node.create_publisher("in", QoS::default())?, Arc::default());
    let input = Burst { left: items, delivered, out, _alive: alive.clone() };
    let (probe, delivered) = (graph.create_node("probe", ())?, input.delivered.clone());
    let at_first = Arc::<Mutex<u32>>::default();
    let seen = at_first.clone();
    probe.create_subscription("in", QoS::default(), move |(), _: &Message<u32>, _| {
        let (mut seen, delivered) = (seen.lock().unwrap(), *delivered.lock().unwrap());
        *seen = if *seen == 0 { delivered } else { *seen };
    })?;
    node.create_input("sensor", input)?;
    Ok(at_first)
}

#[test]
fn a_failing_input_of_a_node_ends_a_live_run_and_lets_other_nodes_run_before() {
    let mut executor = Executor::single_core();
    let at_first = burst(executor.graph(), 1000, &Arc::default()).unwrap();
    let error = executor.spin_for(Duration::from_secs(60)).unwrap_err().to_string();
    assert!(error.contains("/sensor") && error.contains("the sensor is unplugged"), "{error}");
    assert!(error.contains("input sensor"), "{error}");
    // The probe does not wait for the whole burst.
    assert!((1..500).contains(&*at_first.lock().unwrap()), "{at_first:?}");
}

#[test]
fn an_input_is_dropped_when_its_node_is_isolated() {
    let executor = Executor::single_core();
    let alive = Arc::new(());
    burst(executor.graph(), 1, &alive).unwrap();
    let mut executor = executor.with_failure_policy(FailurePolicy::IsolateNode);
    executor.freeze().unwrap();
    for _ in 0..60_000 {
        if Arc::strong_count(&alive) == 1 {
            break;
        }
        executor.spin_for(MS).unwrap();
    }
    assert_eq!(Arc::strong_count(&alive), 1);
}
