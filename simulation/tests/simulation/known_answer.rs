//! One job with everything that is drawn or computed (delays, durations, jitter, PCT, floating
//! point). Its digest is the same on every machine that runs this test.

use ringspin_executor::{BoxError, Graph, Message, QoS};
use ringspin_modes::{Jitter, Simulation, TiePolicy};
use ringspin_simulation::Job;
use ringspin_simulation::models::{Distribution, DurationRule, Durations, LinkRule, Links};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A state that any differing bit would change for good.
#[derive(Clone, Copy)]
struct Estimate([f64; 3]);

impl Estimate {
    /// As a filter does: with divisions, a root and functions of the crate `libm`.
    fn correct(&mut self, measured: f64, seconds: f64) -> f64 {
        let [position, speed, variance] = &mut self.0;
        let gain = *variance / (*variance + 0.5);
        let error = measured - (*position + *speed * seconds);
        *position += *speed * seconds + gain * error;
        *speed += 0.25 * gain * libm::tanh(error);
        *variance = ((1.0 - gain) * *variance + libm::exp(-seconds) * 0.01).sqrt();
        *position
    }
}

/// Two sensors of the same rate, a fusion of both, and a control loop with a service.
fn robot(graph: &Graph) -> Result<(), BoxError> {
    for (name, factor) in [("wheel", 1.0), ("lidar", 1.7)] {
        let sensor = graph.create_node(name, 0.0f64)?;
        let out = sensor.create_publisher::<f64>(name, QoS::default())?.digested();
        let mut noise = sensor.create_random("noise")?;
        sensor.create_timer(10 * MS, move |angle, _| {
            *angle += 0.1 * factor;
            let draw = ringspin_executor::rand_core::Rng::next_u64(&mut noise);
            let noise = (draw >> 11) as f64 / (1u64 << 53) as f64;
            out.publish(libm::sin(*angle) + 0.05 * noise)
        })?;
    }
    let fusion = graph.create_node("fusion", Estimate([0.0, 0.0, 1.0]))?;
    let out = fusion.create_publisher::<f64>("pose", QoS::default())?;
    for name in ["wheel", "lidar"] {
        let out = out.clone();
        fusion.create_subscription(name, QoS::keep_last(2), move |estimate, measured, cx| {
            let measured: &Message<f64> = measured;
            let seconds = cx.now().as_nanos() as f64 * 1e-9;
            let position = estimate.correct(**measured, seconds);
            cx.digest(&estimate.0[..]);
            out.publish(position)
        })?;
    }
    let planner = graph.create_node("planner", 0.0f64)?;
    planner.create_service("plan", QoS::services(), |sum, from: &f64, _| {
        *sum += from / 3.0;
        libm::cos(*sum)
    })?;
    let control = graph.create_node("control", 0.0f64)?;
    control.digest_state()?;
    let plan = control.create_client::<f64, f64>("plan", QoS::services())?;
    let plan = plan.with_timeout(15 * MS);
    control.create_subscription("pose", QoS::keep_last(1), move |_, pose: &Message<f64>, _| {
        plan.call(**pose, |command: &mut f64, reply, _| match reply {
            Ok(reply) => *command = 0.5 * (*command + *reply),
            Err(_) => *command = -*command,
        })
    })?;
    Ok(())
}

fn simulation() -> Simulation {
    let uniform = Distribution::uniform(MS, 9 * MS).expect("it has values");
    let recorded = Distribution::empirical([2 * MS, 3 * MS, 11 * MS]).expect("it has values");
    let links = Links::new()
        .rule(LinkRule::new("/wheel").delay(Distribution::normal(3 * MS, MS)).loss(0.05))
        .rule(LinkRule::new("/lidar").delay(uniform).duplication(0.1).reordering(0.1))
        .rule(LinkRule::new("/plan").delay(recorded));
    let durations = Durations::new()
        .rule(DurationRule::new("/fusion").duration(Distribution::normal(2 * MS, MS)).scale(1.3))
        .rule(DurationRule::new("/planner").duration(Distribution::fixed(MS)).logical(2 * MS));
    Simulation {
        seed: 2026,
        ties: TiePolicy::Pct { seed: 5, depth: 3, steps: 2000 },
        jitter: Jitter { max: MS / 3, seed: 6 },
        links: links.into(),
        durations: durations.into(),
        ..Simulation::default()
    }
}

#[test]
fn a_job_of_everything_random_has_one_digest_on_every_machine() {
    let job = Job::new(robot).with_simulation(simulation()).run_for(2000 * MS);
    let report = job.verify(2).unwrap();
    let statistics = report.statistics();
    assert!(statistics.lost() > 0 && statistics.overwritten() > 0, "{statistics:?}");
    assert!(report.choices() > 0 && !report.schedule().perturbations.is_empty());
    let digest = report.digest().to_string();
    assert_eq!((report.dispatches(), &*digest), (2166, "27664d4568b468a25f4c3bfb49ac24e3"));
}

/// So many nodes that their lines are fetched ahead, and that a deep heap orders time.
fn ring(graph: &Graph) -> Result<(), BoxError> {
    const NODES: u64 = 600;
    for n in 0..NODES {
        let node = graph.create_node(&format!("node_{n}"), 0u64)?;
        let next = format!("to_{}", (n + 1) % NODES);
        let out = node.create_publisher::<u64>(&next, QoS::keep_last(1))?;
        let period = Duration::from_nanos(1_000_000 + n * 618_033 % 1_000_000);
        node.create_timer(period, move |seen, _| {
            *seen += 1;
            out.publish(*seen)
        })?;
        node.create_subscription(&format!("to_{n}"), QoS::keep_last(1), {
            |seen: &mut u64, sent: &Message<u64>, cx| {
                *seen += **sent;
                cx.digest(seen);
            }
        })?;
    }
    Ok(())
}

#[test]
fn a_ring_of_many_nodes_has_one_digest_on_every_machine() {
    let report = Job::new(ring).run_for(20 * MS).run().unwrap();
    let digest = report.digest().to_string();
    assert_eq!((report.dispatches(), &*digest), (16066, "dedcf8717294816d0c53762afe2fc8c4"));
}
