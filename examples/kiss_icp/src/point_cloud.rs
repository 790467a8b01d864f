//! Scans and poses as ROS messages.

use crate::geometry::{Pose, Vector};
use crate::odometry::ScanPoint;
use ringspin::BoxError;
use ringspin::messages::geometry_msgs::msg::{Point, Quaternion};
use ringspin::messages::nav_msgs::msg::Odometry;
use ringspin::messages::sensor_msgs::msg::{PointCloud2, PointField};
use ringspin::messages::std_msgs::msg::Header;

/// The fields of a point, each a `float32`: its place, and its time relative to the stamp of the
/// message, which is the end of the scan, as Velodyne's driver has it.
const FIELDS: [&str; 4] = ["x", "y", "z", "time"];
const FIELD_BYTES: usize = 4;

/// The message for points with times relative to the stamp of `header`.
pub fn to_message(header: Header, points: &[ScanPoint]) -> PointCloud2 {
    let field = |(index, name): (usize, &&str)| PointField {
        name: (*name).into(),
        offset: (index * FIELD_BYTES) as u32,
        datatype: PointField::FLOAT32,
        count: 1,
    };
    let values = points.iter().flat_map(|point| {
        let [x, y, z] = point.point.0;
        [x, y, z, point.time_s]
    });
    let point_step = (FIELDS.len() * FIELD_BYTES) as u32;
    PointCloud2 {
        header,
        height: 1,
        width: points.len() as u32,
        fields: FIELDS.iter().enumerate().map(field).collect(),
        is_bigendian: false,
        point_step,
        row_step: points.len() as u32 * point_step,
        data: values.flat_map(|value| (value as f32).to_le_bytes()).collect(),
        is_dense: true,
    }
}

/// The points of a message with `float32` fields x, y, z and perhaps `time`.
///
/// # Errors
/// If a field is missing or of another type, or the sizes do not agree.
pub fn from_message(message: &PointCloud2) -> Result<Vec<ScanPoint>, BoxError> {
    let offset = |name: &str| {
        let field = message.fields.iter().find(|field| field.name == name);
        field.map(|field| (field.datatype == PointField::FLOAT32).then_some(field.offset as usize))
    };
    let required = |name: &str| {
        let problem = || format!("failed to read a point cloud: no field `{name}` of type float32");
        offset(name).flatten().ok_or_else(problem)
    };
    let offsets = [required("x")?, required("y")?, required("z")?];
    let time = offset("time").flatten();
    let step = message.point_step as usize;
    let end = offsets.iter().chain(&time).max().map_or(0, |last| last + FIELD_BYTES);
    if step < end || !message.data.len().is_multiple_of(step) || message.is_bigendian {
        let bytes = message.data.len();
        return Err(format!(
            "failed to read a point cloud: {bytes} bytes, points of {step} bytes with fields up to \
             byte {end}; little-endian data without padding is required"
        )
        .into());
    }
    let value = |point: &[u8], offset: usize| {
        let bytes = point[offset..].first_chunk().expect("within the point, as checked");
        f64::from(f32::from_le_bytes(*bytes))
    };
    let read = |point: &[u8]| ScanPoint {
        point: Vector(offsets.map(|offset| value(point, offset))),
        time_s: time.map_or(0.0, |offset| value(point, offset)),
    };
    Ok(message.data.chunks_exact(step).map(read).collect())
}

/// The message for a pose of the sensor in the frame `odom`, at the stamp of `header`.
pub fn to_odometry(mut header: Header, pose: Pose) -> Odometry {
    header.frame_id = "odom".into();
    let mut message = Odometry { header, child_frame_id: "lidar".into(), ..Odometry::default() };
    let [x, y, z] = pose.position.0;
    message.pose.pose.position = Point { x, y, z };
    let [x, y, z] = pose.rotation.vector.0;
    message.pose.pose.orientation = Quaternion { x, y, z, w: pose.rotation.w };
    message
}

/// The position in a message.
pub fn position(message: &Odometry) -> Vector {
    let Point { x, y, z } = message.pose.pose.position;
    Vector([x, y, z])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan() -> [ScanPoint; 2] {
        let point = |x: f64| ScanPoint { point: Vector::new(x, 2.0, -0.5), time_s: -0.25 * x };
        [point(0.5), point(1.0)]
    }

    #[test]
    fn points_come_back_from_their_message() {
        let message = to_message(Header::default(), &scan());
        assert_eq!(from_message(&message).unwrap(), scan());
    }

    #[test]
    fn fields_are_found_by_name() {
        let mut message = to_message(Header::default(), &scan());
        message.fields.swap(0, 3);
        message.fields.remove(0);
        let without_time = scan().map(|point| ScanPoint { time_s: 0.0, ..point });
        assert_eq!(from_message(&message).unwrap(), without_time);
        message.fields.pop();
        let error = from_message(&message).unwrap_err().to_string();
        assert!(error.contains("no field `x`"), "{error}");
    }

    #[test]
    fn data_of_another_size_is_refused() {
        let cut = |bytes: usize, step: u32| {
            let mut message = to_message(Header::default(), &scan());
            message.data.truncate(bytes);
            message.point_step = step;
            from_message(&message)
        };
        assert!(cut(32, 16).is_ok());
        for (bytes, step) in [(31, 16), (32, 0), (32, 8)] {
            assert!(cut(bytes, step).is_err(), "{bytes} bytes in steps of {step}");
        }
    }
}
