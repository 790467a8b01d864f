//! A patrolling robot, written against r2r as its users do: `#[tokio::main]`, a driver on a thread
//! that blocks, tasks, a service, parameters. Run it as it is, and twice with
//! `RINGSPIN_MODE=deterministic RINGSPIN_DURATION=10`.

use futures::StreamExt;
use r2r::geometry_msgs::msg::{Twist, Vector3};
use r2r::sensor_msgs::msg::Range;
use r2r::std_srvs::srv::SetBool;
use r2r::{Context, Node, QosProfile};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;

/// Publishes distances from a thread that blocks, as a serial driver does.
fn drive_sonar(node: &mut Node) -> r2r::Result<()> {
    let ranges = node.create_publisher::<Range>("sonar", QosProfile::sensor_data())?;
    std::thread::spawn(move || {
        for step in 0.. {
            std::thread::sleep(Duration::from_millis(50));
            let noise = rand::random_range(0.0..0.2);
            let range =
                Range { range: 2.0 + f32::sin(step as f32 / 10.0) + noise, ..Range::default() };
            if ranges.publish(&range).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut node = Node::create(Context::create()?, "patrol", "")?;
    let limit = node.get_parameter::<Option<f64>>("distance_min")?.unwrap_or(1.5) as f32;
    let mut ranges = node.subscribe::<Range>("sonar", QosProfile::sensor_data())?;
    let commands = node.create_publisher::<Twist>("cmd_vel", QosProfile::default())?;
    let mut speeds = node.subscribe::<Twist>("cmd_vel", QosProfile::default())?;
    let mut requests =
        node.create_service::<SetBool::Service>("enable", QosProfile::services_default())?;
    let client =
        node.create_client::<SetBool::Service>("enable", QosProfile::services_default())?;
    let available = Node::is_available(&client)?;
    let mut timer = node.create_wall_timer(Duration::from_secs(3))?;
    drive_sonar(&mut node)?;

    let is_enabled = Arc::new(AtomicBool::new(false));
    let enabled = is_enabled.clone();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            enabled.store(request.message.data, Ordering::Relaxed);
            let response = SetBool::Response { success: true, ..Default::default() };
            request.respond(response).unwrap();
        }
    });
    tokio::spawn(async move {
        available.await.unwrap();
        for data in [true, false].into_iter().cycle() {
            client.request(&SetBool::Request { data }).unwrap().await.unwrap();
            timer.tick().await.unwrap();
        }
    });
    tokio::spawn(async move {
        loop {
            let Ok(Some(range)) = timeout(Duration::from_millis(200), ranges.next()).await else {
                break;
            };
            let is_free = is_enabled.load(Ordering::Relaxed) && range.range > limit;
            let linear = Vector3 { x: if is_free { 0.5 } else { 0.0 }, ..Vector3::default() };
            commands.publish(&Twist { linear, ..Twist::default() }).unwrap();
        }
    });
    tokio::task::spawn_blocking(move || {
        loop {
            node.spin_once(Duration::from_millis(100));
        }
    });
    let (mut all, mut driven) = (0, 0);
    while let Some(speed) = speeds.next().await {
        all += 1;
        driven += u32::from(speed.linear.x > 0.0);
        if all % 20 == 0 {
            println!("{all} commands, {driven} of them to drive");
        }
    }
    Ok(())
}
