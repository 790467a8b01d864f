//! A camera, a node that looks at its images, and a pilot with a service and a parameter: nodes
//! that do not know whether they talk to each other only, or to the whole robot.
//!
//! ```text
//! eval "$(scripts/ros2-env)"        # or source an installed ROS 2
//! RINGSPIN_MIDDLEWARE=ros2 cargo run --features ros2 --example ros2_camera
//! ${RINGSPIN_ROS_PYTHON:-python3} examples/ros2_camera.py # in another shell, or by hand:
//! ros2 topic echo /brightness
//! ros2 param set /pilot threshold 200
//! ros2 service call /stop std_srvs/srv/SetBool '{data: true}'
//! ```
//! `RINGSPIN_ROS_PYTHON` names the Python that has rclpy: the script sets it, and with an installed
//! ROS 2 it is `python3`. The other shell needs the first line, too.
//!
//! Without `RINGSPIN_MIDDLEWARE` it runs the same in this process alone. `--seconds 3` ends it.

use anyhow::Context as _;
use ringspin::messages::sensor_msgs::msg::Image;
use ringspin::messages::std_msgs::msg::{String as Text, UInt8};
use ringspin::messages::std_srvs::srv::SetBool;
use ringspin::{Executor, FromEnv, Message, QoS};
use std::time::Duration;

/// Pictures that get brighter and dark again.
fn camera(executor: &Executor) -> anyhow::Result<()> {
    let node = executor.create_node("camera", 0u8)?;
    let images = node.create_publisher::<Image>("image", QoS::sensor_data())?;
    node.create_timer(Duration::from_millis(50), move |brightness: &mut u8, cx| {
        *brightness = brightness.wrapping_add(5);
        let now = cx.now().as_nanos();
        let mut image = images.loan()?;
        image.header.stamp.sec = (now / 1_000_000_000) as i32;
        image.header.stamp.nanosec = (now % 1_000_000_000) as u32;
        image.header.frame_id.replace_range(.., "camera");
        (image.width, image.height, image.step) = (64, 48, 64);
        image.encoding.replace_range(.., "mono8");
        image.data.clear();
        image.data.resize(64 * 48, *brightness);
        image.publish()?;
        anyhow::Ok(())
    })?;
    Ok(())
}

/// The mean brightness of each picture.
fn processing(executor: &Executor) -> anyhow::Result<()> {
    let node = executor.create_node("processing", ())?;
    let out = node.create_publisher::<UInt8>("brightness", QoS::default())?;
    node.create_subscription("image", QoS::sensor_data(), move |(), image: &Message<Image>, _| {
        let sum: u64 = image.data.iter().map(|&pixel| u64::from(pixel)).sum();
        let mean = sum / image.data.len().max(1) as u64;
        out.publish(UInt8 { data: mean as u8 })
    })?;
    Ok(())
}

/// Drives while it is bright enough, unless it was told to stop.
fn pilot(executor: &Executor) -> anyhow::Result<()> {
    let node = executor.create_node("pilot", false)?;
    let threshold = node.parameter("threshold").default(100).range(0..=255).declare()?;
    let commands = node.create_publisher::<Text>("command", QoS::default().transient_local())?;
    node.create_subscription(
        "brightness",
        QoS::default(),
        move |is_stopped, light: &Message<UInt8>, _| {
            let drives = !*is_stopped && i64::from(light.data) >= threshold.get();
            commands.publish(Text { data: if drives { "drive" } else { "halt" }.into() })
        },
    )?;
    node.create_service("stop", QoS::services(), |is_stopped, request: &SetBool::Request, _| {
        let was_stopped = std::mem::replace(is_stopped, request.data);
        let message = format!("was {}", if was_stopped { "stopped" } else { "free" });
        SetBool::Response { success: true, message }
    })?;
    Ok(())
}

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let (mut executor, arguments) = Executor::from_args_and_env()?;
    camera(&executor)?;
    processing(&executor)?;
    pilot(&executor)?;
    executor.stop_on_ctrl_c()?;
    match arguments.iter().position(|argument| argument == "--seconds") {
        None => executor.spin()?,
        Some(at) => {
            let seconds = arguments.get(at + 1).context("--seconds needs a number")?;
            executor.spin_for(Duration::from_secs(seconds.parse()?))?;
        }
    }
    println!("{} callbacks", executor.statistics().dispatched());
    Ok(())
}
