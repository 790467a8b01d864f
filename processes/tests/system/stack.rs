//! The driving stack in `examples/stack`: eight processes of rclpy and Rust, in a closed loop.

use super::ros::{run, under_load};
use super::{build, built, system};
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/stack");

/// A system of the example, with the programs of this build and a recording.
fn example(name: &str, recording: &str) -> (tempfile::TempDir, String) {
    build(&["-p", "ringspin", "--features", "ros2", "--example", "ros2_detectors"]);
    let detectors = built().join("examples/ros2_detectors").display().to_string();
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
    let text = text
        .replace("stack.py", &format!("{FOLDER}/stack.py"))
        .replace("../../target/release/examples/ros2_detectors", &detectors)
        .replace("bag: drive.mcap", &format!("bag: {recording}"));
    system(&text)
}

/// How often a test repeats its run.
fn runs(default: usize) -> usize {
    std::env::var("RINGSPIN_TEST_RUNS").map_or(default, |text| text.parse().unwrap())
}

#[test]
#[ignore = "needs rclpy"]
fn driving_stack_reaches_its_goal_in_equal_runs_under_load() {
    let (_folder, path) = example("system.yaml", "");
    let runs = runs(3);
    let (code, out, error) = under_load(|| run(&["verify", "--runs", &runs.to_string(), &path]));
    assert_eq!(code, 0, "{out}{error}");
    for line in [
        "[0.500060000 s mission] speed: True",
        "mission] pause: True",
        "mission] drive: True [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,",
        "mission] at 20.2 m; the pedestrian was never closer than 3.4 m",
    ] {
        assert_eq!(out.matches(line).count(), runs, "{line}: {out}{error}");
    }
    assert_eq!(out.matches("mission] tracker: True").count(), 2 * runs, "{out}{error}");

    // Without the results of the fusion, the vehicle does not wait for the pedestrian.
    let text = std::fs::read_to_string(&path).unwrap();
    let (_folder, blind) = system(&format!("{text}link: [{{ topic: /obstacles, loss: 1.0 }}]\n"));
    let (code, out, error) = run(&["run", &blind]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.ends_with("m; the pedestrian was never closer than 0.0 m\n"), "{out}{error}");
}

#[test]
#[ignore = "needs rclpy"]
fn recording_of_the_driving_stack_gives_equal_recordings_when_it_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let drive = file("drive.mcap");
    let (_folder, path) = example("system.yaml", "");
    let (code, out, error) = run(&["run", "--record", &drive, &path]);
    assert_eq!(code, 0, "{out}{error}");

    let (_folder, path) = example("replay.yaml", &drive);
    let play = |n: usize| {
        let output = file(&format!("{n}.mcap"));
        let (code, out, error) = run(&["run", "--record", &output, &path]);
        assert_eq!(code, 0, "{out}{error}");
        std::fs::read(Path::new(&output)).unwrap()
    };
    let first = play(0);
    for n in 1..runs(3) {
        assert!(play(n) == first, "run {n} gives another recording");
    }
    // It gives the results of the recorded run, at their times. The fusion sleeps for other random
    // times, because it is another process of the run.
    for topic in ["/camera/bearings", "/lidar/distances", "/cmd_vel"] {
        let (code, out, error) = run(&["bag", "diff", &drive, &file("0.mcap"), "--topics", topic]);
        assert_eq!((code, out.starts_with("equal: ")), (0, true), "{topic}: {out}{error}");
    }
}
