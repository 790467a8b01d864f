//! The two detectors of the driving stack in `examples/stack`: one process, beside those of rclpy.
//!
//! The brightest column of an image gives a bearing, and the shortest ray of a scan a distance.

use ringspin::messages::geometry_msgs::msg::PointStamped;
use ringspin::messages::sensor_msgs::msg::{Image, LaserScan};
use ringspin::{Executor, FromEnv, Message, QoS};

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let (mut executor, _) = Executor::from_args_and_env()?;
    camera_detector(&executor)?;
    lidar_detector(&executor)?;
    executor.stop_on_ctrl_c()?;
    executor.spin()?;
    Ok(())
}

fn camera_detector(executor: &Executor) -> anyhow::Result<()> {
    let node = executor.create_node("camera_detector", ())?;
    let bearings = node.create_publisher::<PointStamped>("camera/bearings", QoS::default())?;
    node.create_subscription("image", QoS::sensor_data(), move |(), image: &Message<Image>, _| {
        let columns = image.data.iter().enumerate();
        let Some((column, 255)) = columns.max_by_key(|(_, pixel)| **pixel) else { return Ok(()) };
        let mut bearing = PointStamped { header: image.header.clone(), ..Default::default() };
        bearing.point.x = (column as f64 / 2.0 - 45.0).to_radians();
        bearings.publish(bearing)
    })?;
    Ok(())
}

fn lidar_detector(executor: &Executor) -> anyhow::Result<()> {
    let node = executor.create_node("lidar_detector", ())?;
    let distances = node.create_publisher::<PointStamped>("lidar/distances", QoS::default())?;
    node.create_subscription(
        "scan",
        QoS::sensor_data(),
        move |(), scan: &Message<LaserScan>, _| {
            let shortest = scan.ranges.iter().copied().fold(f32::INFINITY, f32::min);
            if shortest.is_infinite() {
                return Ok(());
            }
            let mut distance = PointStamped { header: scan.header.clone(), ..Default::default() };
            distance.point.x = f64::from(shortest);
            distances.publish(distance)
        },
    )?;
    Ok(())
}
