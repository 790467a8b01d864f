//! Replays of a short drive.

use ringspin::DigestHasher;
use ringspin::bag::{Bag, WriteOptions, Writer};
use ringspin_kiss_icp::drive::{self, POINTS};
use ringspin_kiss_icp::odometry::Config;
use ringspin_kiss_icp::replay::{self, Replay, Trajectory};
use std::fs;
use std::path::Path;

const SCANS: usize = 16;
/// Digests of the drive and of its replay: the same on every machine, in debug and release builds.
const DRIVE: u64 = 0x22ff_c39b_40c4_4e32;
const POSES: u64 = 0xc2db_09ec_61d9_0aff;

fn digest(path: &Path) -> u64 {
    DigestHasher::of(&fs::read(path).unwrap())
}

fn replay_in(folder: &Path, name: &str, replay: Replay) -> (Trajectory, Vec<u8>) {
    let output = folder.join(name).with_extension("mcap");
    let config = Config::for_range(100.0);
    let trajectory =
        replay::run(&folder.join("drive.mcap"), POINTS, &output, config, replay).unwrap();
    (trajectory, fs::read(output).unwrap())
}

#[test]
fn ten_deterministic_replays_write_equal_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let drive = folder.path().join("drive.mcap");
    drive::write(&drive, 2, SCANS).unwrap();
    assert_eq!(format!("{:016x}", digest(&drive)), format!("{DRIVE:016x}"), "the drive");
    let (trajectory, first) = replay_in(folder.path(), "1", Replay::Deterministic);
    assert_eq!(trajectory.positions.len(), SCANS);
    assert!(trajectory.ape_rmse_m() < 0.2, "{} m", trajectory.ape_rmse_m());
    for number in 2..=10 {
        let name = number.to_string();
        let (_, recording) = replay_in(folder.path(), &name, Replay::Deterministic);
        assert!(recording == first, "recording {number} differs from the first");
    }
    assert_eq!(format!("{:016x}", DigestHasher::of(&first)), format!("{POSES:016x}"), "the poses");
}

#[test]
fn recordings_without_exact_poses_and_with_another_topic_of_scans_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let [drive, input, output] =
        ["drive.mcap", "input.mcap", "output.mcap"].map(|name| folder.path().join(name));
    drive::write(&drive, 2, 3).unwrap();
    let mut writer = Writer::create(&input, WriteOptions::default()).unwrap();
    let bag = Bag::open(&drive).unwrap();
    let scans = bag.topic(POINTS).unwrap();
    let mut topic = bag.topics()[scans.0].clone();
    topic.name = "/velodyne_points".into();
    let topic = writer.add_topic(&topic).unwrap();
    for scan in bag.read(&Default::default()).unwrap().map(Result::unwrap) {
        if scan.topic == scans {
            writer.write(topic, scan.log_time, scan.publish_time, 0, &scan.data).unwrap();
        }
    }
    writer.finish().unwrap();
    let replay = |points| {
        let config = Config::for_range(100.0);
        replay::run(&input, points, &output, config, Replay::Deterministic)
    };
    let error = replay(POINTS).unwrap_err().to_string();
    assert!(error.contains("/points") && error.contains("which has /velodyne_points"), "{error}");
    let trajectory = replay("/velodyne_points").unwrap();
    assert_eq!((trajectory.scans, trajectory.positions.len()), (3, 0));
    assert!(trajectory.ape_rmse_m().is_nan());
}

#[test]
fn live_replay_with_too_little_time_loses_scans() {
    let folder = tempfile::tempdir().unwrap();
    drive::write(&folder.path().join("drive.mcap"), 2, SCANS).unwrap();
    let (trajectory, _) = replay_in(folder.path(), "live", Replay::Live(1e6));
    let scans = trajectory.positions.len();
    assert!((1..SCANS).contains(&scans), "{scans} scans");
}
