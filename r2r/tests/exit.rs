//! Processes that end while their nodes are busy over ROS 2.

#![cfg(ros_is_sourced)]

use futures::StreamExt;
use r2r::std_msgs::msg::String as Text;
use r2r::{Context, Node, QosProfile};
use std::error::Error;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Publishes, receives and spins on threads that nothing ends.
#[test]
#[ignore = "a process of the test below"]
fn busy() -> Result<(), Box<dyn Error>> {
    let mut node = Node::create(Context::create()?, "robot", "")?;
    let publisher = node.create_publisher::<Text>("/exit", QosProfile::default())?;
    let mut messages = node.subscribe::<Text>("/exit", QosProfile::default())?;
    let message = Text { data: "x".repeat(100) };
    thread::spawn(move || {
        loop {
            node.spin_once(Duration::from_millis(1));
        }
    });
    thread::spawn(move || {
        // Without a pause, so that most exits come while it publishes.
        while publisher.publish(&message).is_ok() {}
    });
    let (heard, first) = std::sync::mpsc::channel();
    thread::spawn(move || {
        futures::executor::block_on(async {
            while messages.next().await.is_some() {
                let _ = heard.send(());
            }
        });
    });
    first.recv()?;
    Ok(())
}

#[test]
fn processes_that_exit_among_their_messages_end_in_order() -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let start = || {
        let mut command = Command::new(&program);
        command.args(["--exact", "busy", "--ignored"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    for _ in 0..10 {
        for process in [start()?, start()?, start()?] {
            let output = process.wait_with_output()?;
            assert!(output.status.success(), "{}: {output:?}", output.status);
        }
    }
    Ok(())
}
