//! The layer over rcl against rclpy, an independent ROS 2 peer in its own process, and with itself.
//!
//! Nothing here sleeps to give something time: each wait is for an event, with a bound that only a
//! failure reaches.

#[path = "../common/peer.rs"]
mod peer;

mod errors;
mod events;
mod graph;
mod logging;
mod peers;
mod raw;
mod services;
mod threads;
mod topics;
mod types;
mod volume;

use peer::{Peer, domain, unique};
use ringspin_ros2::fast_dds;
use ringspin_ros2::rcl::{
    Context, ContextOptions, MessageInfo, Node, NodeOptions, Reach, RosMessage, Subscription,
};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// A context in the domain of this process.
fn context() -> Context {
    let (domain, reach) = (Some(domain()), Reach::LocalHost);
    let options = ContextOptions { domain, reach, log_files: false, ..ContextOptions::default() };
    Context::with_options(&[], &options).unwrap()
}

/// The same, without log messages on the terminal.
fn quiet_context() -> Context {
    let (domain, reach) = (Some(domain()), Reach::LocalHost);
    let options = ContextOptions { domain, reach, console: false, log_files: false };
    Context::with_options(&[], &options).unwrap()
}

/// A node in a context of its own.
fn node(name: &str) -> Node {
    Node::new(&context(), "", name, NodeOptions::default()).unwrap()
}

/// A subscription, and the bell that rings when something has come.
struct Heard<T> {
    subscription: Subscription<T>,
    bell: Receiver<usize>,
}

impl<T: RosMessage> Heard<T> {
    fn new(subscription: Subscription<T>) -> Self {
        let (ring, bell) = channel();
        subscription.on_new_message(move |count| ring.send(count).unwrap_or_default()).unwrap();
        Self { subscription, bell }
    }

    /// The next message, which has to come.
    fn next(&mut self) -> (T, MessageInfo) {
        loop {
            if let Some(taken) = self.subscription.take().unwrap() {
                return taken;
            }
            self.bell.recv_timeout(LONG).expect("a message comes");
        }
    }
}

/// Waits until `ready`.
fn wait(node: &Node, what: &str, mut ready: impl FnMut() -> bool) {
    assert!(node.wait_for(LONG, |_| Ok(ready())).unwrap(), "{what}");
}

/// Runs the test `name` in a process of its own, which gives Fast DDS `profile`; true in there.
fn with_profile(profile: &str, name: &str) -> bool {
    if std::env::var_os("RINGSPIN_TEST_CHILD").is_some() {
        fast_dds::restart_with(profile).unwrap();
        assert!(fast_dds::is_configured(), "it is started with the profile");
        return true;
    }
    let own = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(own);
    child.args(["--exact", name]).env("RINGSPIN_TEST_CHILD", "1");
    let status = child.env_remove(fast_dds::SETTING).status().unwrap();
    assert!(status.success(), "{name}");
    false
}
