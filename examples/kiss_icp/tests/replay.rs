//! Replays of a short drive.

use ringspin::DigestHasher;
use ringspin_kiss_icp::drive;
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
    let trajectory = replay::run(&folder.join("drive.mcap"), &output, config, replay).unwrap();
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
fn live_replay_with_too_little_time_loses_scans() {
    let folder = tempfile::tempdir().unwrap();
    drive::write(&folder.path().join("drive.mcap"), 2, SCANS).unwrap();
    let (trajectory, _) = replay_in(folder.path(), "live", Replay::Live(1e6));
    let scans = trajectory.positions.len();
    assert!((1..SCANS).contains(&scans), "{scans} scans");
}
