//! Processes that exit while their threads publish, create and spin, over a real ROS 2: each ends
//! in order. Without ROS 2 there is nothing to free.

#![cfg(ros_is_sourced)]

use rclrs::*;
use ros_env::std_msgs::msg::Int32;
use std::process::Command;
use std::thread;
use std::time::Duration;

const HOW: &str = "RINGSPIN_TEST_EXIT";

/// The test below runs this as a child process.
#[test]
#[ignore = "exits the process"]
fn exits_among_its_messages() {
    let how = std::env::var(HOW).unwrap();
    let mut executor = Context::default().create_basic_executor();
    let node = executor.create_node("exits").unwrap();
    let _subscription = node.create_subscription("numbers", |_: Int32| ()).unwrap();
    let publisher = node.create_publisher::<Int32>("numbers").unwrap();
    thread::spawn(move || {
        loop {
            let _ = publisher.publish(Int32 { data: 1 });
        }
    });
    thread::spawn(move || {
        loop {
            let _ = node.create_publisher::<Int32>("others");
        }
    });
    let short = Duration::from_millis(20);
    if how == "another thread" {
        thread::spawn(move || executor.spin(SpinOptions::new()));
        thread::sleep(short);
    } else {
        let _ = executor.spin(SpinOptions::new().timeout(short));
    }
    std::process::exit(0);
}

#[test]
fn processes_that_exit_among_their_messages_end_in_order() {
    for how in ["another thread", "this thread"] {
        for _ in 0..10 {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "--ignored", "exits_among_its_messages"]).env(HOW, how);
            let done = child.output().unwrap();
            assert!(done.status.success(), "{how}: {done:?}");
        }
    }
}
