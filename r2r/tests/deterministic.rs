//! Applications under simulated time: one result in every run.

use futures::StreamExt;
use r2r::std_msgs::msg::Int32;
use r2r::{Clock, ClockType, Context, Node, QosProfile};
use ringspin_simulated_threads::run;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

/// An example of this package, which `cargo test` has built.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.ancestors().nth(2).unwrap().join("examples").join(name);
    let mut command = Command::new(path);
    command.env("RINGSPIN_MODE", "deterministic");
    command
}

fn patrol() -> Command {
    let mut command = example("patrol");
    command.env("RINGSPIN_DURATION", "10");
    command
}

/// The outputs of a run, without its real time.
fn outputs(done: Output) -> (String, String) {
    assert!(done.status.success(), "{done:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = text(done.stderr);
    let (time, rest) = said.split_once(" in ").expect("the line at the end of a run");
    (text(done.stdout), format!("{time}, {}", rest.split_once(" s, ").unwrap().1))
}

/// Compares `RINGSPIN_TEST_RUNS` runs, or six, two at a time, so that they disturb each other;
/// returns their outputs.
fn compare(start: impl Fn() -> Command + Sync) -> (String, String) {
    let first = outputs(start().output().unwrap());
    let runs = std::env::var("RINGSPIN_TEST_RUNS").map_or(6, |runs| runs.parse().unwrap());
    let all = || (0..runs / 2).for_each(|_| assert_eq!(outputs(start().output().unwrap()), first));
    thread::scope(|scope| {
        scope.spawn(all);
        scope.spawn(all);
    });
    let seeded = outputs(start().env("RINGSPIN_SEED", "1").output().unwrap());
    assert_ne!(seeded, first);
    first
}

#[test]
fn runs_of_an_application_have_one_digest() {
    let first = compare(patrol);
    assert!(first.0.ends_with("200 commands, 84 of them to drive\n"), "{first:?}");
    assert!(first.1.starts_with("ringspin: 10.000000000 s of simulated time"), "{first:?}");
    // The parameter of the command line is part of the run.
    let parameter = ["--ros-args", "-p", "distance_min:=100.0"];
    let stopped = outputs(patrol().args(parameter).output().unwrap());
    assert!(stopped.0.ends_with("200 commands, 0 of them to drive\n"), "{stopped:?}");
}

#[test]
fn runs_of_odometry_on_one_thread_have_one_digest() {
    let (lines, _) = compare(|| example("odometry"));
    assert_eq!(lines.lines().count(), 10, "{lines}");
}

#[test]
fn runs_of_a_supervisor_of_robots_that_come_and_go_have_one_digest() {
    let (lines, _) = compare(|| example("supervisor"));
    let docks = |robot| lines.contains(&format!("\"robot_{robot} docks\""));
    assert!((0..8).all(docks), "{lines}");
}

#[test]
fn applications_run_in_the_live_modes_too() {
    thread::scope(|scope| {
        for mode in ["single", "multi"] {
            for (name, lines) in [("odometry", 10), ("supervisor", 8)] {
                scope.spawn(move || {
                    let done = example(name).env("RINGSPIN_MODE", mode).output().unwrap();
                    assert!(done.status.success(), "{name}, {mode}: {done:?}");
                    let said = String::from_utf8(done.stdout).unwrap();
                    assert_eq!(said.lines().count(), lines, "{name}, {mode}: {said}");
                });
            }
        }
    });
}

#[test]
fn each_world_has_a_context_of_its_own() {
    let count = || {
        let mut node = Node::create(Context::create().unwrap(), "counter", "").unwrap();
        let mut numbers = node.subscribe::<Int32>("numbers", QosProfile::default()).unwrap();
        let out = node.create_publisher::<Int32>("numbers", QosProfile::default()).unwrap();
        let mut clock = Clock::create(ClockType::SystemTime).unwrap();
        thread::spawn(move || {
            for data in 0..10 {
                thread::sleep(Duration::from_secs(60));
                out.publish(&Int32 { data }).unwrap();
            }
        });
        thread::spawn(move || {
            loop {
                node.spin_once(Duration::from_secs(1));
            }
        });
        let all = numbers.by_ref().take(10).map(|number| number.data).collect::<Vec<_>>();
        (futures::executor::block_on(all), clock.get_now().unwrap())
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (all, time) = run(count).unwrap();
                assert_eq!(all, (0..10).collect::<Vec<_>>());
                assert_eq!(time, Duration::from_secs(600));
            });
        }
    });
}

#[test]
fn deterministic_mode_needs_simulated_threads() {
    let done = patrol().env("RINGSPIN_THREADS", "real").output().unwrap();
    assert!(!done.status.success());
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("under simulated") && said.contains("RINGSPIN_THREADS"), "{said}");
}
