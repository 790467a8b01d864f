//! A vehicle simulator in closed loop with a node that follows a path.
//!
//! ```text
//! cargo run --features bag --example vehicle
//! RINGSPIN_MODE=deterministic cargo run --features bag --example vehicle
//! ```
//!
//! The simulator is a [`DataSource`]: it exchanges serialized ROS 2 messages with the graph, as a
//! program outside would. In deterministic mode it waits for the controller, so that twelve
//! simulated seconds take a few milliseconds and every run is the same; in the live modes it goes
//! at the pace of the clock. Trigonometric functions come from `libm`, which has the same results
//! on all machines.

use ringspin::bag::closed_loop::{self, DataSource, Offer};
use ringspin::bag::{MessageTypes, Record, Topic, TopicId};
use ringspin::messages::cdr;
use ringspin::messages::geometry_msgs::msg::Twist;
use ringspin::messages::nav_msgs::msg::Odometry;
use ringspin::prelude::*;
use ringspin::{BoxError, Graph};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(20);
const DRIVE: Duration = Duration::from_secs(12);
const WHEELBASE_M: f64 = 2.7;
const STEERING_MAX_RAD: f64 = 0.5;
const STEERING_RATE_RAD_S: f64 = 0.8;

/// The path: its lateral position at a longitudinal one.
fn path(x: f64) -> f64 {
    2.0 * libm::sin(x / 10.0)
}

/// The largest distance from the path, after the first seconds.
#[derive(Clone, Default)]
struct Deviation(Arc<Mutex<f64>>);

/// A vehicle with the kinematics of a bicycle, at constant speed.
struct Vehicle {
    time: Time,
    x: f64,
    y: f64,
    heading: f64,
    speed: f64,
    steering: f64,
    /// The steering angle for the commanded yaw rate.
    commanded: f64,
    deviation: Deviation,
    stop: StopHandle,
}

impl Vehicle {
    fn advance(&mut self) {
        let dt = STEP.as_secs_f64();
        let change = STEERING_RATE_RAD_S * dt;
        self.steering += (self.commanded - self.steering).clamp(-change, change);
        self.x += self.speed * libm::cos(self.heading) * dt;
        self.y += self.speed * libm::sin(self.heading) * dt;
        self.heading += self.speed / WHEELBASE_M * libm::tan(self.steering) * dt;
        self.time = self.time + STEP;
    }

    fn odometry(&self) -> Odometry {
        let mut odometry = Odometry::default();
        odometry.pose.pose.position.x = self.x;
        odometry.pose.pose.position.y = self.y;
        odometry.pose.pose.orientation.z = libm::sin(self.heading / 2.0);
        odometry.pose.pose.orientation.w = libm::cos(self.heading / 2.0);
        odometry.twist.twist.linear.x = self.speed;
        odometry
    }
}

impl DataSource for Vehicle {
    fn inputs(&self) -> Vec<Topic> {
        vec![Topic::of::<Odometry>("/odom", QoS::default())]
    }

    fn outputs(&self) -> Vec<String> {
        vec!["/cmd_vel".into()]
    }

    fn next(&mut self) -> Result<Option<Offer>, BoxError> {
        if self.time >= Time::ZERO + DRIVE {
            self.stop.stop();
            return Ok(None);
        }
        self.advance();
        if self.time > Time::ZERO + DRIVE / 4 {
            let mut deviation = self.deviation.0.lock().map_err(|_| "a panic")?;
            *deviation = deviation.max((self.y - path(self.x)).abs());
        }
        let data = cdr::to_bytes(&self.odometry())?;
        Ok(Some(Offer { time: self.time, topic: TopicId(0), data }))
    }

    fn quiet(&mut self, _now: Time, published: &[Record]) -> Result<(), BoxError> {
        if let Some(newest) = published.last() {
            let command: Twist = cdr::from_bytes(&newest.data)?;
            let steering = libm::atan(command.angular.z * WHEELBASE_M / self.speed);
            self.commanded = steering.clamp(-STEERING_MAX_RAD, STEERING_MAX_RAD);
        }
        Ok(())
    }
}

/// Follows the path by pure pursuit: it steers on a circle through a point ahead.
fn controller(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("controller", ())?;
    let commands = node.create_publisher("cmd_vel", QoS::default())?;
    node.create_subscription("odom", QoS::default(), move |_, odometry: &Message<Odometry>, _| {
        let (pose, speed) = (&odometry.pose.pose, odometry.twist.twist.linear.x);
        let heading = 2.0 * libm::atan2(pose.orientation.z, pose.orientation.w);
        let goal_x = pose.position.x + 5.0;
        let (dx, dy) = (goal_x - pose.position.x, path(goal_x) - pose.position.y);
        let lateral = -libm::sin(heading) * dx + libm::cos(heading) * dy;
        let curvature = 2.0 * lateral / (dx * dx + dy * dy);
        let mut command = Twist::default();
        command.linear.x = speed;
        command.angular.z = speed * curvature;
        commands.publish(command)
    })?;
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let mut executor = Executor::from_env()?;
    controller(executor.graph())?;
    let deviation = Deviation::default();
    let vehicle = Vehicle {
        time: Time::ZERO,
        x: 0.0,
        y: 1.0,
        heading: 0.0,
        speed: 8.0,
        steering: 0.0,
        commanded: 0.0,
        deviation: deviation.clone(),
        stop: executor.stop_handle(),
    };
    let types = MessageTypes::new().with::<Odometry>().with::<Twist>();
    closed_loop::connect(executor.graph(), "vehicle", &types, vehicle)?;
    executor.spin()?;
    let deviation = *deviation.0.lock().map_err(|_| "a panic")?;
    println!("the vehicle was at most {deviation:.3} m beside the path");
    if let Some((digest, dispatches)) = executor.digest() {
        println!(
            "{dispatches} dispatches, digest {digest}, deviation {:016x}",
            deviation.to_bits()
        );
    }
    match deviation < 1.0 {
        true => Ok(()),
        false => Err("the vehicle has left the path".into()),
    }
}
