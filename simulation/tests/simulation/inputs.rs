//! Inputs: recordings, generators and simulators in closed loop wait for the graph.

use ringspin_executor::{
    BoxError, Collector, Delivery, ExternalInput, FreezeError, Graph, Message, Publisher, QoS, Time,
};
use ringspin_modes::{Executor, Mode, SpinError};
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
        error.to_string().starts_with("failed to go on at 0.002000000 s: no subscription takes"),
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
                    let its time go on, or raise `instant_dispatches_max`";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_input_is_refused_live() {
    let mut executor = Executor::single_core();
    executor.graph().add_input("bag", Broken).unwrap();
    let error = executor.spin().unwrap_err();
    assert!(matches!(&error, SpinError::Freeze(FreezeError::NeedsSimulation(_))), "{error}");
    assert!(error.to_string().contains("input \"bag\" needs simulated time"), "{error}");
}

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

/// A node with an input of three items, and one that stops the executor at the last.
fn paced(graph: &Graph) -> Result<Received, BoxError> {
    let node = graph.create_node("sensor", ())?;
    let out = node.create_publisher("in", QoS::default())?;
    let refuses = true;
    node.create_input("sensor", Paced { next: ms(1), left: 3, refuses, out })?;
    let received = Received::default();
    let probe = graph.create_node("probe", received.clone())?;
    probe.create_subscription("in", QoS::default(), |received, left: &Message<u32>, cx| {
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
        executor.spin_for(Duration::from_secs(60)).unwrap();
        let received: Vec<_> = received.lock().unwrap().iter().map(|(_, left)| *left).collect();
        assert_eq!(received, [3, 2, 1]);
    }
}

#[test]
fn an_input_of_a_node_is_an_input_in_deterministic_mode() {
    let mut executor = Executor::deterministic(Default::default());
    let node = executor.create_node("busy", ()).unwrap();
    // The item that is refused is offered again after a dispatch.
    node.create_timer(MS, |_, _| ()).unwrap();
    let received = paced(executor.graph()).unwrap();
    executor.spin_for(Duration::from_millis(10)).unwrap();
    assert_eq!(*received.lock().unwrap(), [(ms(1), 3), (ms(2), 2), (ms(3), 1)]);
}
