//! A LiDAR that drives through a street: scans with noise, and exact poses.
//!
//! The street winds between facades with relief, parked cars and poles. All randomness is from a
//! seed, all functions are those of [`geometry`](crate::geometry), so a seed gives equal scans on
//! every machine.

use crate::geometry::{Pose, Rotation, Vector};
use crate::odometry::ScanPoint;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::f64::consts::{PI, TAU};

/// The time between scans, and of each scan, in seconds.
pub const SCAN_S: f64 = 0.1;
/// The range of the sensor, in metres.
pub const RANGE_M: f64 = 60.0;

const BEAMS: u32 = 16;
const COLUMNS: u32 = 256;
const ELEVATION_MAX_RAD: f64 = PI / 12.0;
const SENSOR_HEIGHT_M: f64 = 1.8;
/// The standard deviation of measured ranges.
const NOISE_M: f64 = 0.015;

/// The motion: rest, constant acceleration, constant speed.
const REST_S: f64 = 1.0;
const ACCELERATION_M_S2: f64 = 1.0;
const SPEED_M_S: f64 = 6.0;
/// The sway of the moving vehicle, in radians, and its angular frequencies about the axes x and y.
const SWAY_RAD: f64 = 0.01;
const SWAY_RAD_S: (f64, f64) = (7.0, 9.0);

/// The middle of the street: lengths in metres and curvatures in 1/m. It continues straight.
const CURVES: [(f64, f64); 5] =
    [(25.0, 0.0), (30.0, 0.04), (12.0, 0.0), (40.0, -0.035), (10.0, 0.0)];
/// The greatest angle between a facade and the street, in radians.
const FACADE_YAW_RAD: f64 = 0.8;
/// The distances along the street between which there are facades, in metres.
const FACADES_M: (f64, f64) = (-70.0, 190.0);

/// A box that stands on the ground, in a local frame.
struct Block {
    center: Vector,
    inverse: Rotation,
    half: Vector,
}

impl Block {
    /// The distance along a ray at which it enters the block.
    fn hit(&self, origin: Vector, direction: Vector) -> Option<f64> {
        let origin = self.inverse.apply(origin - self.center);
        let direction = self.inverse.apply(direction);
        let (mut enter, mut leave) = (0.0, f64::INFINITY);
        for axis in 0..3 {
            let (start, slope, half) = (origin.0[axis], direction.0[axis], self.half.0[axis]);
            if slope == 0.0 {
                if start.abs() > half {
                    return None;
                }
                continue;
            }
            let (a, b) = ((-half - start) / slope, (half - start) / slope);
            enter = f64::max(enter, a.min(b));
            leave = f64::min(leave, a.max(b));
        }
        (enter > 0.0 && enter < leave).then_some(enter)
    }

    fn radius_m(&self) -> f64 {
        self.half.length()
    }
}

/// A scan with the exact pose of the sensor at its end, in the frame of the first scan's end.
pub struct Scan {
    /// The time of its end, in seconds; that of the first is [`SCAN_S`].
    pub time_s: f64,
    /// The exact pose.
    pub pose: Pose,
    /// The points, in the order of their times; times are relative to the end of the scan.
    pub points: Vec<ScanPoint>,
}

/// The scans, one after the other, without end.
pub struct Street {
    random: Xoshiro256PlusPlus,
    blocks: Vec<Block>,
    scans: u32,
}

impl Street {
    /// A street with the relief and noise of this seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let blocks = blocks(&mut random);
        Self { random, blocks, scans: 0 }
    }

    /// The measured point along a beam from `pose`, in the frame of the sensor.
    fn measure(&mut self, pose: Pose, direction: Vector, near: &[usize]) -> Option<Vector> {
        let world = pose.rotation.apply(direction);
        let ground = if world.0[2] < 0.0 { -SENSOR_HEIGHT_M / world.0[2] } else { f64::INFINITY };
        let hits = near.iter().filter_map(|block| self.blocks[*block].hit(pose.position, world));
        let range_m = hits.fold(ground, f64::min) + NOISE_M * normal(&mut self.random);
        (range_m < RANGE_M).then_some(direction * range_m)
    }
}

impl Iterator for Street {
    type Item = Scan;

    fn next(&mut self) -> Option<Scan> {
        self.scans += 1;
        let time_s = f64::from(self.scans) * SCAN_S;
        let end = pose_at(time_s);
        let is_near = |block: &Block| {
            (block.center - end.position).length() < RANGE_M + block.radius_m() + 1.0
        };
        let near: Vec<usize> =
            (0..self.blocks.len()).filter(|block| is_near(&self.blocks[*block])).collect();
        let mut points = Vec::with_capacity((BEAMS * COLUMNS) as usize);
        // The rotation is not synchronized with the scans.
        let phase = uniform(&mut self.random);
        for column in 1..=COLUMNS {
            let part = f64::from(column) / f64::from(COLUMNS);
            let relative_s = (part - 1.0) * SCAN_S;
            let pose = pose_at(time_s + relative_s);
            let azimuth = Rotation::about_z(-TAU * (part + phase));
            for beam in 0..BEAMS {
                let height = f64::from(beam) / f64::from(BEAMS - 1) * 2.0 - 1.0;
                let elevation_rad = height * ELEVATION_MAX_RAD;
                let (sine, cosine) = (libm::sin(elevation_rad), libm::cos(elevation_rad));
                let direction = azimuth.apply(Vector::new(-cosine, 0.0, sine));
                if let Some(point) = self.measure(pose, direction, &near) {
                    points.push(ScanPoint { point, time_s: relative_s });
                }
            }
        }
        Some(Scan { time_s, pose: end, points })
    }
}

/// The exact pose of the sensor; the identity while it rests.
fn pose_at(time_s: f64) -> Pose {
    let moving_s = (time_s - REST_S).max(0.0);
    let accelerating_s = moving_s.min(SPEED_M_S / ACCELERATION_M_S2);
    let accelerated_m = 0.5 * ACCELERATION_M_S2 * accelerating_s * accelerating_s;
    let pose = middle(accelerated_m + SPEED_M_S * (moving_s - accelerating_s));
    let sway = |frequency: f64| SWAY_RAD * libm::sin(frequency * moving_s);
    let sway = Rotation::exp(Vector::new(sway(SWAY_RAD_S.0), sway(SWAY_RAD_S.1), 0.0));
    Pose { rotation: pose.rotation * sway, position: pose.position }
}

/// The pose on the middle of the street, at a distance along it.
fn middle(distance_m: f64) -> Pose {
    let arc = |length_m: f64, curvature: f64| {
        let turn = Vector::new(0.0, 0.0, length_m * curvature);
        Pose::exp([Vector::new(length_m, 0.0, 0.0), turn])
    };
    let mut pose = Pose::IDENTITY;
    let mut rest_m = distance_m;
    for (length_m, curvature) in CURVES {
        let part_m = rest_m.min(length_m);
        pose = pose * arc(part_m, curvature);
        rest_m -= part_m;
    }
    pose * arc(rest_m, 0.0)
}

/// A block beside the middle of the street; `left_m` is the distance of its front, negative on the
/// right side.
fn beside(
    distance_m: f64,
    left_m: f64,
    yaw_rad: f64,
    [length_m, depth_m, height_m]: [f64; 3],
) -> Block {
    let pose = middle(distance_m);
    let away_m = left_m + 0.5 * depth_m * left_m.signum();
    let up_m = 0.5 * height_m - SENSOR_HEIGHT_M;
    Block {
        center: pose.apply(Vector::new(0.0, away_m, up_m)),
        inverse: (pose.rotation * Rotation::about_z(yaw_rad)).inverse(),
        half: Vector::new(length_m, depth_m, height_m) * 0.5,
    }
}

fn blocks(random: &mut Xoshiro256PlusPlus) -> Vec<Block> {
    let mut blocks = Vec::new();
    for side in [1.0, -1.0] {
        let mut distance_m = FACADES_M.0;
        while distance_m < FACADES_M.1 {
            let length_m = 3.0 + 3.0 * uniform(random);
            distance_m += length_m;
            // Relief of up to 2.4 m; a gap now and then; long enough for the outer side of curves.
            let relief_m = f64::from((uniform(random) * 4.0) as u32) * 0.8;
            if uniform(random) > 0.06 {
                let height_m = 6.0 + 4.0 * uniform(random);
                let yaw_rad = FACADE_YAW_RAD * (2.0 * uniform(random) - 1.0);
                let center_m = distance_m - 0.5 * length_m;
                let size = [length_m * 1.4, 6.0, height_m];
                blocks.push(beside(center_m, side * (8.0 + relief_m), yaw_rad, size));
            }
            if uniform(random) > 0.6 {
                let left_m = side * (5.5 + 0.3 * uniform(random));
                blocks.push(beside(
                    distance_m,
                    left_m,
                    0.0,
                    [4.2, 1.8, 1.3 + 0.5 * uniform(random)],
                ));
            }
            if uniform(random) > 0.4 {
                blocks.push(beside(distance_m, side * 4.8, 0.0, [0.8, 0.8, 5.0]));
            }
        }
    }
    blocks
}

/// A number from 0 (included) to 1 (excluded).
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A number with nearly a normal distribution: the sum of twelve uniform ones.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensor_rests_then_drives_along_the_street() {
        assert_eq!(pose_at(0.9), Pose::IDENTITY);
        let driven = pose_at(REST_S + 4.0);
        assert!((driven.position.0[0] - 8.0).abs() < 1e-9, "1 m/s2 for 4 s: {driven:?}");
        let step = pose_at(14.0).position - pose_at(13.99).position;
        assert!((step.length() - 0.06).abs() < 1e-4, "6 m/s for 10 ms: {step:?}");
    }

    #[test]
    fn points_lie_on_the_ground_or_on_blocks() {
        let mut street = Street::new(2);
        let scan = street.by_ref().nth(40).unwrap();
        assert!(scan.points.len() > 3000, "{} points", scan.points.len());
        let (mut ground, mut facades) = (0, 0);
        for point in &scan.points {
            let world = pose_at(scan.time_s + point.time_s).apply(point.point);
            let inside = |block: &Block| {
                let offset = block.inverse.apply(world - block.center);
                (0..3).all(|axis| offset.0[axis].abs() < block.half.0[axis] + 6.0 * NOISE_M)
            };
            let on_ground = (world.0[2] + SENSOR_HEIGHT_M).abs() < 6.0 * NOISE_M;
            ground += usize::from(on_ground);
            facades += usize::from(!on_ground);
            assert!(on_ground || street.blocks.iter().any(inside), "{world:?} is in the air");
        }
        assert!(ground > 300 && facades > 1000, "{ground} on the ground, {facades} on blocks");
    }

    #[test]
    fn seeds_differ_and_equal_seeds_do_not() {
        let first = |seed| Street::new(seed).next().unwrap().points;
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
