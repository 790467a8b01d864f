//! The layer over rcl against rclpy, an independent ROS 2 peer in its own process, and with itself.
//!
//! Nothing here sleeps to give something time: each wait is for an event, with a bound that only a
//! failure reaches.

#![cfg(ros_is_sourced)]

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
use ringspin_messages::RosMessage;
use ringspin_ros2::rcl::fast_dds::Profile;
use ringspin_ros2::rcl::{
    Context, ContextOptions, MessageInfo, Node, NodeOptions, Reach, Subscription,
};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// Options for the domain of this process, with log messages on the terminal or nowhere.
fn options(console: bool) -> ContextOptions {
    let (domain, reach) = (Some(domain()), Reach::LocalHost);
    ContextOptions { domain, reach, console, log_files: false }
}

/// A context in the domain of this process.
fn context() -> Context {
    Context::with_options(&[], &options(true)).unwrap()
}

/// A node in a new context.
fn node(name: &str) -> Node {
    Node::new(&context(), "", name, NodeOptions::default()).unwrap()
}

/// The same, with its own settings of Fast DDS.
fn node_with_profile(name: &str, profile: Profile) -> Node {
    let context = Context::with_profile(&[], &options(false), profile).unwrap();
    assert_eq!(context.profile(), Some(profile), "Fast DDS takes its settings");
    Node::new(&context, "", name, NodeOptions::default()).unwrap()
}

/// A subscription, and the counts of its callback.
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
