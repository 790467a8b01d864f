//! The odometry node: the same live, replayed, and over ROS 2.

use crate::drive::POINTS;
use crate::odometry::{Config, Odometry};
use crate::point_cloud::{from_message, to_odometry};
use ringspin::messages::{nav_msgs, sensor_msgs::msg::PointCloud2};
use ringspin::{BoxError, Graph, Message, QoS};

/// The topic of the estimated poses.
pub const ODOMETRY: &str = "/odometry";

/// Creates the node `/kiss_icp`: subscribes to `/points`, and publishes the pose at the end of each
/// scan on `/odometry`. It takes the newest scan; live, scans that arrive meanwhile are lost.
///
/// # Errors
/// If the graph has such a node, or other types on the topics.
pub fn create(graph: &Graph, config: Config) -> Result<(), BoxError> {
    let node = graph.create_node("kiss_icp", Odometry::new(config))?;
    let poses = node.create_publisher::<nav_msgs::msg::Odometry>(ODOMETRY, QoS::default())?;
    node.create_subscription(
        POINTS,
        QoS::keep_last(1).best_effort(),
        move |odometry, scan: &Message<PointCloud2>, _| -> Result<(), BoxError> {
            let pose = odometry.register(&from_message(scan)?);
            Ok(poses.publish(to_odometry(scan.header.clone(), pose))?)
        },
    )?;
    Ok(())
}
