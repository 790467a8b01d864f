//! The recording of a drive: scans and exact poses, as a rosbag2 recording.

use crate::point_cloud::{to_message, to_odometry};
use crate::street::{Scan, Street};
use ringspin::bag::{Definition, Topic, TopicId, WriteOptions, Writer};
use ringspin::messages::builtin_interfaces::msg::Time as Stamp;
use ringspin::messages::std_msgs::msg::Header;
use ringspin::messages::{RosMessage, cdr};
use ringspin::messages::{nav_msgs::msg::Odometry, sensor_msgs::msg::PointCloud2};
use ringspin::{BoxError, QoS, Time};
use std::path::Path;

/// The topic of the scans.
pub const POINTS: &str = "/points";
/// The topic of the exact poses.
pub const GROUND_TRUTH: &str = "/ground_truth";

/// The time of the recording's start.
const START: Time = Time::from_secs(1_700_000_000);

/// Writes the first `scans` scans of a drive through the street of this seed, and the exact poses.
///
/// # Errors
/// If there is a recording of this name, or it cannot be written.
pub fn write(path: &Path, seed: u64, scans: usize) -> Result<(), BoxError> {
    let mut writer = Writer::create(path, WriteOptions::default())?;
    let points = add_topic::<PointCloud2>(&mut writer, POINTS, QoS::sensor_data())?;
    let truth = add_topic::<Odometry>(&mut writer, GROUND_TRUTH, QoS::default())?;
    for (number, scan) in Street::new(seed).take(scans).enumerate() {
        let Scan { time_s, pose, points: scanned } = scan;
        let time = START + std::time::Duration::from_millis((time_s * 1000.0).round() as u64);
        let header = Header { stamp: Stamp::from_time(time), frame_id: "lidar".into() };
        let sequence = number as u32 + 1;
        let exact = cdr::to_bytes(&to_odometry(header.clone(), pose))?;
        writer.write(truth, time, time, sequence, &exact)?;
        let scan = cdr::to_bytes(&to_message(header, &scanned))?;
        writer.write(points, time, time, sequence, &scan)?;
    }
    Ok(writer.finish()?)
}

fn add_topic<M: RosMessage>(
    writer: &mut Writer,
    name: &str,
    qos: QoS,
) -> Result<TopicId, BoxError> {
    let definition = Definition { encoding: "ros2msg".into(), text: M::DEFINITION.into() };
    Ok(writer.add_topic(&Topic {
        name: name.into(),
        type_name: M::TYPE_NAME.into(),
        type_hash: Some(M::TYPE_HASH.into()),
        definition: Some(definition),
        serialization_format: "cdr".into(),
        offered_qos: vec![qos],
    })?)
}
