//! Applications under simulated time: one result in every run.

use rclrs::*;
use ringspin_simulated_threads::run;
use ros_env::std_msgs::msg::Int32;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Runs of each program.
const RUNS: usize = 20;

/// An example, which `cargo test` has built.
fn example(name: &str, mode: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.ancestors().nth(2).unwrap().join("examples").join(name);
    let mut command = Command::new(path);
    command.env("RINGSPIN_MODE", mode).env("RINGSPIN_DURATION", "10");
    command
}

/// The output and the messages of a program that succeeds.
fn run_to_end(mut command: Command) -> (String, String) {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {done:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(done.stdout), text(done.stderr))
}

/// The output, and the messages without real time, of at most ten simulated seconds.
fn simulated(name: &str, seed: &str, args: &[&str]) -> (String, String) {
    let mut command = example(name, "deterministic");
    command.env("RINGSPIN_SEED", seed).args(args);
    let (output, said) = run_to_end(command);
    let (time, rest) = said.split_once(" of simulated time in ").expect("the line at the end");
    (output, format!("{time}, {}", rest.split_once(" s, ").unwrap().1))
}

/// The outputs of all runs of a program, which are equal.
fn one_result(name: &str) -> (String, String) {
    let first = simulated(name, "0", &[]);
    assert!(first.1.contains(" digest "), "{first:?}");
    // Two at a time, so that they disturb each other.
    let half = || (0..RUNS / 2).for_each(|_| assert_eq!(simulated(name, "0", &[]), first));
    thread::scope(|scope| {
        scope.spawn(half);
        scope.spawn(half);
    });
    first
}

#[test]
fn runs_of_an_application_have_one_digest() {
    let first = one_result("rover");
    assert!(first.0.ends_with("200 commands, 86 of them to drive\n"), "{first:?}");
    assert_ne!(simulated("rover", "1", &[]), first);
    // A parameter of the command line is part of the run.
    let stopped = simulated("rover", "0", &["--ros-args", "-p", "distance_min:=100.0"]);
    assert!(stopped.0.ends_with("200 commands, 0 of them to drive\n"), "{stopped:?}");
}

#[test]
fn goals_of_a_gripper_have_one_end_in_each_mode() {
    let (first, _) = one_result("gripper");
    let ends = "Ends { succeeded: 6, cancelled: 2, aborted: 4, rejected: 2 }\n";
    assert!(first.ends_with(ends), "{first}");
    assert!(first.contains("refused: node /gripper: parameter `speed` cannot be 100"), "{first}");
    for mode in ["single", "multi"] {
        let (output, said) = run_to_end(example("gripper", mode));
        assert!(output.ends_with(ends), "{mode}: {output}{said}");
        assert_eq!(output.lines().count(), first.lines().count(), "{mode}: {output}{said}");
    }
}

#[test]
fn frames_of_a_driver_on_tokio_arrive_in_each_mode() {
    let (first, _) = one_result("imu_driver");
    assert!(first.contains("after 147 samples: silent\n"), "{first}");
    for mode in ["deterministic", "single", "multi"] {
        let (output, said) = run_to_end(example("imu_driver", mode));
        // 12 of 600 are damaged.
        assert!(output.contains("\n588 of 600 frames, "), "{mode}: {output}{said}");
        assert!(output.contains("1 values for three axes\n"), "{mode}: {output}{said}");
    }
}

#[test]
fn rover_drives_in_each_live_mode() {
    for mode in ["single", "multi"] {
        let mut command = example("rover", mode);
        let mut rover = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(rover.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        rover.kill().unwrap();
        rover.wait().unwrap();
        assert!(first.starts_with("20 commands, "), "{mode}: {first}");
    }
}

/// The order in which the callbacks of many entities run that are ready before the first spin.
fn order() -> String {
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("node").unwrap();
    let worker = node.create_worker(Vec::<String>::new());
    let mut kept = Vec::<Box<dyn std::any::Any>>::new();
    for n in 0..5 {
        let topic = format!("topic_{n}");
        let note = move |seen: &mut Vec<String>, _: Int32| seen.push(format!("topic {n}"));
        kept.push(Box::new(worker.create_subscription(&*topic, note).unwrap()));
        let tick = move |seen: &mut Vec<String>| seen.push(format!("timer {n}"));
        let period = Duration::from_millis(1);
        kept.push(Box::new(worker.create_timer_repeating(period, tick).unwrap()));
        let publisher = node.create_publisher::<Int32>(&*topic).unwrap();
        publisher.publish(Int32 { data: n }).unwrap();
        kept.push(Box::new(publisher));
    }
    thread::sleep(Duration::from_millis(5));
    let all = worker.listen_until(|seen| (seen.len() >= 20).then(|| seen.join(", ")));
    let (mut all, notice) = executor.commands().create_notice(all);
    executor.spin(SpinOptions::new().until_promise_resolved(notice)).first_error().unwrap();
    all.try_recv().unwrap().unwrap()
}

#[test]
fn worlds_of_one_process_have_one_order_and_contexts_of_their_own() {
    let first = run(order).unwrap();
    for _ in 0..20 {
        assert_eq!(run(order).unwrap(), first);
    }
}

#[test]
fn an_hour_of_a_thread_is_simulated() {
    let counted = run(|| {
        let mut executor = Context::default().create_basic_executor();
        let node = executor.create_node("counter").unwrap();
        let worker = node.create_worker(0);
        let _minutes =
            worker.create_subscription("minutes", |sum: &mut i32, m: Int32| *sum += m.data);
        let minutes = node.create_publisher::<Int32>("minutes").unwrap();
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_secs(60));
                minutes.publish(Int32 { data: 1 }).unwrap();
            }
        });
        let hour = worker.listen_until(|sum| (*sum == 60).then_some(()));
        let (mut hour, notice) = executor.commands().create_notice(hour);
        executor.spin(SpinOptions::new().until_promise_resolved(notice)).first_error().unwrap();
        hour.try_recv().unwrap().unwrap();
        60
    });
    assert_eq!(counted.unwrap(), 60);
}
