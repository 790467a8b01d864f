//! Applications under simulated time: one result in every run.

use rclrs::*;
use ringspin_simulated_threads::run;
use ros_env::std_msgs::msg::Int32;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The outputs of ten simulated seconds of the example `rover`, which `cargo test` has built.
fn rover(seed: &str, args: &[&str]) -> (String, String) {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.ancestors().nth(2).unwrap().join("examples/rover");
    let mut command = Command::new(path);
    command.env("RINGSPIN_MODE", "deterministic").env("RINGSPIN_DURATION", "10");
    let done = command.env("RINGSPIN_SEED", seed).args(args).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = text(done.stderr);
    // Without its real time.
    let (time, rest) = said.split_once(" in ").expect("the line at the end of a run");
    (text(done.stdout), format!("{time}, {}", rest.split_once(" s, ").unwrap().1))
}

#[test]
fn runs_of_an_application_have_one_digest() {
    let first = rover("0", &[]);
    assert!(first.0.ends_with("200 commands, 86 of them to drive\n"), "{first:?}");
    // Two at a time, so that they disturb each other.
    let all = || (0..5).for_each(|_| assert_eq!(rover("0", &[]), first));
    thread::scope(|scope| {
        scope.spawn(all);
        scope.spawn(all);
    });
    assert_ne!(rover("1", &[]), first);
    // A parameter of the command line is part of the run.
    let stopped = rover("0", &["--ros-args", "-p", "distance_min:=100.0"]);
    assert!(stopped.0.ends_with("200 commands, 0 of them to drive\n"), "{stopped:?}");
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
