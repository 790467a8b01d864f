//! Processes that compute at the same time: the run is that of one after the other.

use ringspin_executor::Time;
use ringspin_processes::{Options, Report, System, run};
use std::path::Path;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/busy.py");

/// A camera, three detectors, what joins their results, and a planner that hears all.
const PROCESSES: [&str; 6] = [
    "camera 1 -- image",
    "left 3 image -- objects",
    "right 3 image -- objects",
    "third 3 image -- objects",
    "fusion 2 objects -- fused",
    "plan 1 objects fused image -- plan",
];

fn system(seconds: f64, more: &str) -> (tempfile::TempDir, System) {
    let python = std::env::var("RINGSPIN_ROS_PYTHON").expect("an interpreter with rclpy");
    let process = |arguments: &&str| {
        let name = arguments.split(' ').next().unwrap();
        format!("  - {{ name: {name}, command: {python} {SCRIPT} {arguments} }}\n")
    };
    let processes: String = PROCESSES.iter().map(process).collect();
    let (folder, path) = super::system(&format!("for: {seconds} s\nprocesses:\n{processes}{more}"));
    (folder, System::load(path.as_ref(), &[]).unwrap())
}

/// The run on so many cores, with its record and its output.
fn run_on(cores: usize, system: &System, record: &Path) -> (Report, String, Vec<String>) {
    let mut lines = Vec::new();
    let mut print = |time: Time, process: &str, _: bool, line: &str| {
        lines.push(format!("{time} {process} {line}"));
    };
    let options = Options { cores, record: Some(record.to_owned()), ..Options::default() };
    let report = run(system, options, &mut print).unwrap();
    (report, std::fs::read_to_string(record).unwrap(), lines)
}

#[test]
#[ignore = "needs rclpy"]
fn record_on_several_cores_is_that_on_one() {
    let folder = tempfile::tempdir().unwrap();
    let links = [
        "",
        "link: [{ topic: '*', delay: 2 ms }]",
        "link: [{ topic: '*', delay: { uniform: [1 ms, 9 ms] } }, \
         { topic: /image, to: left, delay: 0 ms }]",
        "link: [{ topic: '*', delay: 12 ms, loss: 0.1 }, { topic: '*', from: fusion, delay: 1 ms }]
duration: [{ process: right, callback: subscription /image, duration: { uniform: [1 ms, 3 ms] } }]",
    ];
    for more in links {
        let (_folder, system) = system(0.3, more);
        let record = |name: &str| folder.path().join(name);
        let (one, expected, shown) = run_on(1, &system, &record("one"));
        assert_eq!(one.turns_ahead, 0);
        assert!(shown.iter().any(|line| line.contains(" plan ")), "{shown:?}");
        let (report, found, lines) = run_on(3, &system, &record("more"));
        let difference = expected.lines().zip(found.lines()).find(|(one, other)| one != other);
        assert_eq!(difference, None, "{more}");
        assert_eq!((report.digest, report.turns, &lines), (one.digest, one.turns, &shown));
        assert!(report.turns_ahead > 20, "{more}: {} turns ahead", report.turns_ahead);
    }
}
