//! Odometry of a robot with two driven wheels, written against r2r as its users do: on one thread
//! with a `LocalPool`, parameters that can be changed, transforms, and an action of tf2.
//!
//! It ends after ten goals. Run it as it is, and twice with `RINGSPIN_MODE=deterministic`.

use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, SinkExt, StreamExt};
use r2r::geometry_msgs::msg::{Quaternion, Transform, TransformStamped, Vector3};
use r2r::nav_msgs::msg::Odometry;
use r2r::sensor_msgs::msg::JointState;
use r2r::std_msgs::msg::Header;
use r2r::tf2_msgs::action::LookupTransform::{Action, Goal, Result as Found};
use r2r::tf2_msgs::msg::{TF2Error, TFMessage};
use r2r::{Clock, ClockType, Context, GoalStatus, Node, QosProfile, RosParams};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::error::Error;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(RosParams, Default)]
struct Settings {
    /// Of the wheels, in metres.
    radius: f64,
    /// Between the wheels, in metres.
    track: f64,
}

#[derive(Clone, Copy, Default)]
struct Pose {
    x: f64,
    y: f64,
    heading: f64,
}

impl Pose {
    /// Moves by the angles that the wheels have turned.
    fn advance(&mut self, [left, right]: [f64; 2], settings: &Settings) {
        let distance = settings.radius * (left + right) / 2.0;
        self.heading += settings.radius * (right - left) / settings.track;
        self.x += distance * self.heading.cos();
        self.y += distance * self.heading.sin();
    }

    fn transform(self, header: Header) -> TransformStamped {
        let rotation = Quaternion {
            z: (self.heading / 2.0).sin(),
            w: (self.heading / 2.0).cos(),
            ..Quaternion::default()
        };
        let translation = Vector3 { x: self.x, y: self.y, z: 0.0 };
        let transform = Transform { translation, rotation };
        TransformStamped { header, child_frame_id: "base_link".into(), transform }
    }
}

/// The latest transforms.
#[derive(Default)]
struct Buffer(VecDeque<TransformStamped>);

impl Buffer {
    /// The first transform that is not older than a stamp.
    fn find(&self, goal: &Goal) -> Option<TransformStamped> {
        let stamp = |transform: &TransformStamped| {
            (transform.header.stamp.sec, transform.header.stamp.nanosec)
        };
        let wanted = (goal.source_time.sec, goal.source_time.nanosec);
        self.0.iter().find(|transform| stamp(transform) >= wanted).cloned()
    }
}

/// Reads the wheels' encoders on a thread that blocks, as a driver does.
fn drive(node: &mut Node) -> r2r::Result<()> {
    let joints = node.create_publisher::<JointState>("joint_states", QosProfile::sensor_data())?;
    std::thread::spawn(move || {
        let mut clock = Clock::create(ClockType::RosTime).unwrap();
        let mut position = vec![0.0, 0.0];
        loop {
            std::thread::sleep(Duration::from_millis(20));
            for wheel in &mut position {
                *wheel += 0.1 + rand::random_range(0.0..0.02);
            }
            let stamp = Clock::to_builtin_time(&clock.get_now().unwrap());
            let header = Header { stamp, frame_id: String::new() };
            let name = vec!["left".to_owned(), "right".to_owned()];
            let state =
                JointState { header, name, position: position.clone(), ..Default::default() };
            if joints.publish(&state).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Integrates the wheels' angles, and publishes the odometry and its transform.
fn integrate(
    node: &mut Node,
    settings: Arc<Mutex<Settings>>,
) -> r2r::Result<impl Future<Output = ()> + use<>> {
    let mut joints = node.subscribe::<JointState>("joint_states", QosProfile::sensor_data())?;
    let odometry = node.create_publisher::<Odometry>("odom", QosProfile::default())?;
    let transforms = node.create_publisher::<TFMessage>("/tf", QosProfile::default())?;
    Ok(async move {
        let (mut pose, mut last) = (Pose::default(), None::<[f64; 2]>);
        while let Some(state) = joints.next().await {
            let angles = [state.position[0], state.position[1]];
            let last = last.replace(angles).unwrap_or(angles);
            let turned = [angles[0] - last[0], angles[1] - last[1]];
            pose.advance(turned, &settings.lock().unwrap());
            let header = Header { stamp: state.header.stamp, frame_id: "odom".into() };
            let transform = pose.transform(header.clone());
            let mut message = Odometry { header, ..Default::default() };
            message.child_frame_id.clone_from(&transform.child_frame_id);
            message.pose.pose.position.x = pose.x;
            message.pose.pose.position.y = pose.y;
            message.pose.pose.orientation = transform.transform.rotation.clone();
            odometry.publish(&message).unwrap();
            transforms.publish(&TFMessage { transforms: vec![transform] }).unwrap();
        }
    })
}

/// Keeps the transforms, and answers goals that ask for one as soon as it is there.
fn answer(node: &mut Node) -> r2r::Result<impl Future<Output = ()> + use<>> {
    let mut transforms = node.subscribe::<TFMessage>("/tf", QosProfile::default())?;
    let mut requests = node.create_action_server::<Action>("lookup")?;
    let buffer = Rc::new(RefCell::new(Buffer::default()));
    let (mut sender, mut changes) = futures::channel::mpsc::channel::<()>(1);
    let filled = buffer.clone();
    let fill = async move {
        while let Some(message) = transforms.next().await {
            let transforms = &mut filled.borrow_mut().0;
            transforms.extend(message.transforms);
            let surplus = transforms.len().saturating_sub(100);
            transforms.drain(..surplus);
            let _ = sender.try_send(());
        }
        let _ = sender.close().await;
    };
    let serve = async move {
        while let Some(request) = requests.next().await {
            let (mut goal, _cancel) = request.accept().unwrap();
            let transform = loop {
                let found = buffer.borrow().find(&goal.goal);
                if let Some(found) = found {
                    break found;
                }
                if changes.next().await.is_none() {
                    return;
                }
            };
            goal.succeed(Found { transform, error: TF2Error::default() }).unwrap();
        }
    };
    Ok(async move {
        futures::join!(fill, serve);
    })
}

/// Asks for the next transform every 100 ms, ten times.
fn ask(node: &mut Node) -> r2r::Result<impl Future<Output = r2r::Result<()>> + use<>> {
    let client = node.create_action_client::<Action>("lookup")?;
    let available = Node::is_available(&client)?;
    let mut timer = node.create_wall_timer(Duration::from_millis(100))?;
    let mut clock = Clock::create(ClockType::RosTime)?;
    Ok(async move {
        available.await?;
        for _ in 0..10 {
            timer.tick().await?;
            let source_time = Clock::to_builtin_time(&clock.get_now()?);
            let goal = Goal { source_time, source_frame: "base_link".into(), ..Goal::default() };
            let (_goal, result, _feedback) = client.send_goal_request(goal)?.await?;
            let (status, Found { transform, .. }) = result.await?;
            assert_eq!(status, GoalStatus::Succeeded);
            println!("at {:.6} m", transform.transform.translation.x);
        }
        Ok(())
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::create()?;
    let mut base = Node::create(context.clone(), "base", "")?;
    let mut frames = Node::create(context.clone(), "frames", "")?;
    let mut planner = Node::create(context, "planner", "")?;
    let settings = Arc::new(Mutex::new(Settings { radius: 0.1, track: 0.5 }));
    let (parameters, _) = base.make_derived_parameter_handler(settings.clone())?;
    drive(&mut base)?;
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    spawner.spawn_local(parameters)?;
    spawner.spawn_local(integrate(&mut base, settings)?)?;
    spawner.spawn_local(answer(&mut frames)?)?;
    let mut end = spawner.spawn_local_with_handle(ask(&mut planner)?)?;
    loop {
        for node in [&mut base, &mut frames, &mut planner] {
            node.spin_once(Duration::from_millis(1));
        }
        pool.run_until_stalled();
        if let Some(end) = (&mut end).now_or_never() {
            return Ok(end?);
        }
    }
}
