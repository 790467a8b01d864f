//! LiDAR odometry by KISS-ICP, written from its publication.
//!
//! I. Vizzo et al., "KISS-ICP: In Defense of Point-to-Point ICP", RA-L 2023. The steps and the
//! constants are those of its implementation; equal points give equal poses on every machine. The
//! scan is registered to a local map, starting at the pose that constant velocity predicts.

use crate::geometry::{Pose, Vector, solve};
use crate::voxel_map::{VoxelMap, downsample};

/// Parameters. The defaults are those of the implementation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The range from which points are left out, in metres; also the radius of the local map.
    pub range_max_m: f64,
    /// The range up to which points are left out, in metres.
    pub range_min_m: f64,
    /// Moves points to where the end of the scan would have seen them.
    pub deskew: bool,
    /// The size of the local map's cells, in metres.
    pub voxel_m: f64,
    /// The number of points in each cell of the local map.
    pub voxel_points_max: usize,
    /// The expected deviation from the predicted pose before any is known, in metres.
    pub threshold_m: f64,
    /// The smallest deviation that counts, in metres.
    pub motion_min_m: f64,
    /// The number of iterations for each scan.
    pub iterations_max: usize,
    /// The length of a step that ends the iterations.
    pub convergence: f64,
}

impl Config {
    /// Parameters for a sensor of this range, in metres.
    pub fn for_range(range_max_m: f64) -> Self {
        Self {
            range_max_m,
            range_min_m: 0.0,
            deskew: true,
            voxel_m: range_max_m / 100.0,
            voxel_points_max: 20,
            threshold_m: 2.0,
            motion_min_m: 0.1,
            iterations_max: 500,
            convergence: 1e-4,
        }
    }
}

/// A measured point and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanPoint {
    /// The point in the frame of the sensor at that time.
    pub point: Vector,
    /// The time in seconds, from any origin.
    pub time_s: f64,
}

/// The estimator: takes scan after scan, gives pose after pose.
#[derive(Clone, Debug)]
pub struct Odometry {
    config: Config,
    map: VoxelMap,
    pose: Pose,
    /// The motion during the last scan.
    delta: Pose,
    /// The sum of squared deviations from predicted poses, and their number.
    deviations: (f64, f64),
}

impl Odometry {
    /// An estimator at the origin, with an empty map.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            map: VoxelMap::new(config.voxel_m, config.voxel_points_max),
            pose: Pose::IDENTITY,
            delta: Pose::IDENTITY,
            deviations: (config.threshold_m * config.threshold_m, 1.0),
        }
    }

    /// Registers a scan and returns the pose of the sensor at its end.
    pub fn register(&mut self, scan: &[ScanPoint]) -> Pose {
        let points = self.preprocess(scan);
        let mapped = downsample(&points, self.config.voxel_m * 0.5);
        let source = downsample(&mapped, self.config.voxel_m * 1.5);

        let prediction = self.pose * self.delta;
        let sigma = (self.deviations.0 / self.deviations.1).sqrt();
        let pose = self.align(&source, prediction, sigma);

        let error_m = self.deviation_m(prediction.inverse() * pose);
        if error_m > self.config.motion_min_m {
            self.deviations.0 += error_m * error_m;
            self.deviations.1 += 1.0;
        }
        self.map.insert(mapped.into_iter().map(|point| pose.apply(point)));
        self.map.remove_far(pose.position, self.config.range_max_m);
        self.delta = self.pose.inverse() * pose;
        self.pose = pose;
        pose
    }

    /// The points within range, moved to the frame of the sensor at the end of the scan.
    fn preprocess(&self, scan: &[ScanPoint]) -> Vec<Vector> {
        let times = || scan.iter().map(|point| point.time_s);
        let (first, last) =
            (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
        let twist = self.delta.log();
        let deskewed = scan.iter().map(|&ScanPoint { point, time_s }| {
            if !self.config.deskew || last <= first {
                return point;
            }
            let part = (time_s - first) / (last - first) - 1.0;
            Pose::exp(twist.map(|v| v * part)).apply(point)
        });
        let in_range = |point: &Vector| {
            let range_m = point.length();
            range_m > self.config.range_min_m && range_m < self.config.range_max_m
        };
        deskewed.filter(in_range).collect()
    }

    /// The pose at which the points fit the map best, by iterated least squares from `start`.
    fn align(&self, points: &[Vector], start: Pose, sigma: f64) -> Pose {
        if self.map.is_empty() {
            return start;
        }
        let mut points: Vec<_> = points.iter().map(|point| start.apply(*point)).collect();
        let mut correction = Pose::IDENTITY;
        for _ in 0..self.config.iterations_max {
            let step = self.step(&points, sigma);
            let motion = Pose::exp(step);
            for point in &mut points {
                *point = motion.apply(*point);
            }
            correction = motion * correction;
            let [linear, angular] = step.map(Vector::length_squared);
            if (linear + angular).sqrt() < self.config.convergence {
                break;
            }
        }
        correction * start
    }

    /// The twist that moves each point towards its neighbour in the map, by weighted least squares.
    fn step(&self, points: &[Vector], sigma: f64) -> [Vector; 2] {
        let reach_squared = (3.0 * sigma) * (3.0 * sigma);
        let mut matrix = [[0.0; 6]; 6];
        let mut right = [0.0; 6];
        for point in points {
            let Some((target, distance_squared)) = self.map.nearest(*point) else { continue };
            if distance_squared >= reach_squared {
                continue;
            }
            // Geman-McClure: far neighbours count less.
            let root = sigma / (sigma + distance_squared);
            let weight = root * root;
            let residual = *point - target;
            let [x, y, z] = point.0;
            // The rows of the Jacobian: translation, then rotation.
            let jacobian = [
                [1.0, 0.0, 0.0, 0.0, z, -y],
                [0.0, 1.0, 0.0, -z, 0.0, x],
                [0.0, 0.0, 1.0, y, -x, 0.0],
            ];
            for (row, residual) in jacobian.iter().zip(residual.0) {
                for i in 0..6 {
                    right[i] -= weight * row[i] * residual;
                    for j in 0..=i {
                        matrix[i][j] += weight * row[i] * row[j];
                    }
                }
            }
        }
        let [a, b, c, d, e, f] = solve(&matrix, right);
        [Vector::new(a, b, c), Vector::new(d, e, f)]
    }

    /// The largest displacement of a point within range by this motion, in metres.
    fn deviation_m(&self, motion: Pose) -> f64 {
        let half_angle = 0.5 * motion.rotation.angle_rad();
        2.0 * self.config.range_max_m * libm::sin(half_angle) + motion.position.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::street::Street;

    /// Greatest distance from the exact positions over `scans` scans, in metres.
    fn error_max_m(config: Config, scans: usize) -> f64 {
        let mut odometry = Odometry::new(config);
        let errors = Street::new(2)
            .take(scans)
            .map(|scan| (odometry.register(&scan.points).position - scan.pose.position).length());
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn estimate_follows_a_moving_sensor() {
        // The sensor is driven 4.5 m.
        let error_m = error_max_m(Config::for_range(100.0), 40);
        assert!(error_m < 0.4, "{error_m} m");
    }

    #[test]
    fn points_out_of_range_are_left_out() {
        let config = Config { range_min_m: 2.0, ..Config::for_range(10.0) };
        let mut odometry = Odometry::new(config);
        let at = |x: f64| ScanPoint { point: Vector::new(x, 0.0, 0.0), time_s: 0.0 };
        odometry.register(&[at(1.9), at(2.1), at(9.9), at(10.1)]);
        let points: Vec<_> = odometry.map.points().map(|point| point.0[0]).collect();
        assert_eq!(points, [2.1, 9.9]);
    }

    #[test]
    fn deskewing_moves_points_to_the_end_of_the_scan() {
        let mut odometry = Odometry::new(Config::for_range(100.0));
        odometry.delta.position = Vector::new(2.0, 0.0, 0.0);
        let point = |time_s| ScanPoint { point: Vector::new(10.0, 0.0, 0.0), time_s };
        let moved = odometry.preprocess(&[point(0.0), point(0.05), point(0.1)]);
        assert_eq!(along_x(&moved), [8.0, 9.0, 10.0]);
        odometry.config.deskew = false;
        let kept = odometry.preprocess(&[point(0.0), point(0.05), point(0.1)]);
        assert_eq!(along_x(&kept), [10.0; 3]);
    }

    fn along_x(points: &[Vector]) -> Vec<f64> {
        points.iter().map(|point| point.0[0]).collect()
    }

    #[test]
    fn scan_without_points_keeps_the_predicted_pose() {
        let mut odometry = Odometry::new(Config::for_range(100.0));
        for scan in Street::new(2).take(2) {
            odometry.register(&scan.points);
        }
        let before = odometry.pose * odometry.delta;
        let moved = odometry.register(&[]).position - before.position;
        assert!(moved.length() < 1e-12, "{moved:?}");
    }
}
