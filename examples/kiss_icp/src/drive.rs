//! The recording of a drive: scans and exact poses, as a rosbag2 recording.

use crate::point_cloud::{to_message, to_odometry};
use crate::street::{Scan, Street};
use ringspin::bag::{Topic, WriteOptions, Writer};
use ringspin::messages::builtin_interfaces::msg::Time as Stamp;
use ringspin::messages::cdr;
use ringspin::messages::std_msgs::msg::Header;
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
    let points = writer.add_topic(&Topic::of::<PointCloud2>(POINTS, QoS::sensor_data()))?;
    let truth = writer.add_topic(&Topic::of::<Odometry>(GROUND_TRUTH, QoS::default()))?;
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
