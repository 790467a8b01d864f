//! A simulator in closed loop: an inverted pendulum, its controller, and the delays between them.
//!
//! ```text
//! cargo run --example closed_loop
//! ```
//!
//! The physics are not a node but an [`ExternalInput`]: the executor asks for the time of its next
//! sample, and advances simulated time only when the graph is idle. The pendulum therefore neither
//! runs ahead of the controller nor waits for it in real time, and ten simulated seconds take a few
//! milliseconds.
//!
//! Message delays are data, in TOML. Each job runs three times, and the runs are compared dispatch
//! by dispatch: messages and the controller's state are part of the digest. The equations are
//! linear and need no function that differs between machines, so all machines give the same digest.

use ringspin::sim::models::Links;
use ringspin::sim::{Collector, Delivery, ExternalInput};
use ringspin::{BoxError, Digest, Graph, Job, Message, Publisher, QoS, Time};
use std::time::Duration;

const SAMPLING: Duration = Duration::from_millis(10);
/// The angle at which the pendulum has fallen, in radians.
const FALLEN_RAD: f64 = 0.5;

const DELAYS: &str = r#"
    [[link]]
    topic = "/angle"
    delay = { uniform = ["1ms", "4ms"] }
    loss = 0.02

    [[link]]
    topic = "/torque"
    delay = "ACTUATOR"
"#;

/// An inverted pendulum: its angular acceleration is 10 times the angle plus the torque.
struct Pendulum {
    angle_rad: f64,
    velocity_rad_s: f64,
    torque: f64,
    next: Time,
    angles: Publisher<f64>,
    torques: Collector<f64>,
}

impl ExternalInput for Pendulum {
    fn next_time(&mut self) -> Option<Time> {
        (self.angle_rad.abs() < FALLEN_RAD).then_some(self.next)
    }

    fn deliver(&mut self, now: Time) -> Result<Delivery, BoxError> {
        // The newest torque since the last sample applies from now on.
        if let Some((_, torque)) = self.torques.take().last() {
            self.torque = **torque;
        }
        let step_s = SAMPLING.as_secs_f64();
        self.velocity_rad_s += (10.0 * self.angle_rad + self.torque) * step_s;
        self.angle_rad += self.velocity_rad_s * step_s;
        self.next = now + SAMPLING;
        self.angles.publish(self.angle_rad)?;
        Ok(Delivery::Done)
    }
}

/// A controller of angle and velocity; it estimates the velocity from two samples.
#[derive(Default, Digest)]
struct Controller {
    last: Option<(Time, f64)>,
}

impl Controller {
    fn torque(&mut self, now: Time, angle_rad: f64) -> f64 {
        let velocity_rad_s = match self.last.replace((now, angle_rad)) {
            Some((time, before)) if time < now => (angle_rad - before) / (now - time).as_secs_f64(),
            _ => 0.0,
        };
        -30.0 * angle_rad - 6.0 * velocity_rad_s
    }
}

fn build(graph: &Graph) -> Result<Collector<f64>, BoxError> {
    let simulator = graph.create_node("simulator", ())?;
    let angles = simulator.create_publisher("angle", QoS::sensor_data())?.digested();
    let torques = simulator.create_collector("torque", QoS::default())?;
    let (angle_rad, velocity_rad_s, torque, next) = (0.1, 0.0, 0.0, Time::ZERO + SAMPLING);
    let pendulum = Pendulum { angle_rad, velocity_rad_s, torque, next, angles, torques };
    graph.add_input("pendulum", pendulum)?;

    let controller = graph.create_node("controller", Controller::default())?;
    controller.digest_state()?;
    let torques = controller.create_publisher("torque", QoS::default())?.digested();
    controller.create_subscription(
        "angle",
        QoS::sensor_data(),
        move |controller, angle_rad: &Message<f64>, cx| {
            torques.publish(controller.torque(cx.now(), **angle_rad))
        },
    )?;

    let probe = graph.create_node("probe", ())?;
    Ok(probe.create_collector("angle", QoS::sensor_data())?)
}

fn main() -> Result<(), BoxError> {
    for delay in ["5ms", "100ms", "200ms"] {
        let links = Links::from_toml(&DELAYS.replace("ACTUATOR", delay))?;
        let job = Job::new(build)
            .run_for(Duration::from_secs(10))
            .simulate(|simulation| (simulation.links, simulation.seed) = (links.into(), 7));
        let mut session = job.start()?;
        session.run_until(Time::MAX)?;
        let (report, angles) = (session.report(), session.handles.take());
        let (time, angle_rad) = angles.last().ok_or("no angle has arrived")?;
        let fallen = angle_rad.abs() >= FALLEN_RAD;
        println!(
            "torque after {delay}: the pendulum {} at {time}; {} events, {} messages lost",
            if fallen { "has fallen" } else { "stands" },
            report.dispatches(),
            report.statistics().lost(),
        );
        let verified = job.verify(3)?;
        println!("  three times the same, digest: {}", verified.digest());
    }
    Ok(())
}
