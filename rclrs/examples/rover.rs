//! A rover, written against rclrs as its users do: a driver on a thread that blocks, a worker with
//! the state of the controller as its payload, a service, an asynchronous client, parameters. Run
//! it as it is, and twice with `RINGSPIN_MODE=deterministic RINGSPIN_DURATION=10`.

use rclrs::*;
use ros_env::geometry_msgs::msg::{Twist, Vector3};
use ros_env::sensor_msgs::msg::Range;
use ros_env::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use std::error::Error;
use std::thread;
use std::time::Duration;

/// The state of the controller.
#[derive(Debug, Default)]
struct Controller {
    is_enabled: bool,
    /// The newest distance, in metres.
    distance: f32,
    commands: usize,
    driven: usize,
}

/// Publishes distances from a thread that blocks, as a serial driver does.
fn drive_sonar(node: &Node) -> Result<(), RclrsError> {
    let ranges = node.create_publisher::<Range>("sonar".sensor_data_qos())?;
    thread::spawn(move || {
        for step in 0.. {
            thread::sleep(Duration::from_millis(50));
            let noise = rand::random_range(0.0..0.2);
            let range = 2.0 + f32::sin(step as f32 / 10.0) + noise;
            if ranges.publish(Range { range, ..Range::default() }).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Enables and disables the rover every three seconds.
async fn supervise(node: Node) -> Result<(), RclrsError> {
    let client = node.create_client::<SetBool>("enable")?;
    let _ = client.notify_on_service_ready().await;
    for data in [true, false].into_iter().cycle() {
        let promise: Promise<SetBool_Response> = client.call(SetBool_Request { data })?;
        match promise.await {
            Ok(response) => log_info!(node.logger(), "enabled: {data}: {}", response.message),
            Err(_) => log_warn!(node.logger(), "no answer"),
        }
        let (wake, slept) = futures::channel::oneshot::channel::<()>();
        let mut wake = Some(wake);
        let _timer = node.create_timer_oneshot(Duration::from_secs(3), move || {
            drop(wake.take());
        })?;
        let _ = slept.await;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut executor = Context::default_from_env()?.create_basic_executor();
    let node = executor.create_node("rover")?;
    let limit = node.declare_parameter("distance_min").default(1.5).mandatory()?;
    let commands = node.create_publisher::<Twist>("cmd_vel")?;

    let controller = node.create_worker(Controller::default());
    let _ranges = controller.create_subscription(
        "sonar".sensor_data_qos(),
        |state: &mut Controller, range: Range| state.distance = range.range,
    )?;
    let _enable = controller.create_service::<SetBool, _>(
        "enable",
        |state: &mut Controller, request: SetBool_Request| {
            state.is_enabled = request.data;
            SetBool_Response { success: true, message: format!("after {}", state.commands) }
        },
    )?;
    let _timer = controller.create_timer_repeating(
        Duration::from_millis(50),
        move |state: &mut Controller| {
            let is_free = state.is_enabled && f64::from(state.distance) > limit.get();
            let linear = Vector3 { x: if is_free { 0.5 } else { 0.0 }, ..Vector3::default() };
            commands.publish(Twist { linear, ..Twist::default() }).unwrap();
            state.commands += 1;
            state.driven += usize::from(is_free);
            if state.commands.is_multiple_of(20) {
                println!("{} commands, {} of them to drive", state.commands, state.driven);
            }
        },
    )?;
    drive_sonar(&node)?;
    let supervisor = node.clone();
    let _supervising = executor.commands().run(async move {
        if let Err(error) = supervise(supervisor).await {
            log_error!("supervisor", "{error}");
        }
    });
    executor.spin(SpinOptions::default()).first_error()?;
    Ok(())
}
