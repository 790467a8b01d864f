//! Whole graphs against rclpy, an independent ROS 2 peer in its own process: their messages, and
//! everything beside them (quality of service, the clock, the log, the nodes present).
//!
//! Nothing here sleeps to give something time: each wait is for an event, with a bound that only a
//! failure reaches.

#[path = "../../ros2/tests/common/peer.rs"]
mod peer;

mod actions;
mod clients;
mod clock;
mod endings;
mod events;
mod exits;
#[cfg(feature = "flight")]
mod flight;
mod hybrid;
mod lifecycle;
mod modes;
mod parameters;
mod processes;
mod queries;
mod raw;
#[cfg(all(feature = "bag", feature = "cli"))]
mod recordings;
mod rosout;
mod serialized;
mod services;
mod soak;
mod topics;
mod volume;

use peer::{Peer, domain, unique};
use ringspin::ros2::rcl::{ContextOptions, Node, NodeOptions, Reach};
use ringspin::ros2::{Builder, Ros2, Traffic, Types};
use ringspin::{Executor, StopHandle};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Both ways in which a graph takes part.
const LIVE: [Traffic; 2] = [Traffic::Direct, Traffic::Loopback];

/// Same as [`unique`], for one of several ways.
fn unique_to(traffic: Traffic, name: &str) -> String {
    unique(&format!("{name}_{traffic:?}"))
}

/// The way to make a separate connection, in the domain of this process.
fn builder(traffic: Traffic) -> Builder {
    let (domain, reach) = (Some(domain()), Reach::LocalHost);
    let options = ContextOptions { domain, reach, console: false, log_files: false };
    let mut types = Types::installed();
    ringspin_test_msgs::visit_types(&mut types);
    Ros2::builder().traffic(traffic).options(options).types(types)
}

/// A separate connection.
fn ros2(traffic: Traffic) -> Ros2 {
    builder(traffic).connect().unwrap()
}

/// A single-core executor with a separate connection.
fn executor(traffic: Traffic) -> Executor {
    on(&ros2(traffic), Executor::single_core())
}

/// `executor`, connected by `ros2`.
fn on(ros2: &Ros2, executor: Executor) -> Executor {
    executor.with_middleware(Arc::new(ros2.clone())).unwrap()
}

/// Waits until `ready`, which something in ROS's graph decides.
fn wait(ros2: &Ros2, what: &str, mut ready: impl FnMut() -> bool) {
    let node = Node::new(ros2.context(), "", "watcher", NodeOptions::default()).unwrap();
    assert!(node.wait_for(LONG, |_| Ok(ready())).unwrap(), "{what}");
}

/// An executor that spins on a new thread.
struct Spinning {
    handle: StopHandle,
    thread: Option<JoinHandle<Executor>>,
}

impl Spinning {
    fn start(mut executor: Executor) -> Self {
        executor.freeze().unwrap();
        let handle = executor.stop_handle();
        let spin = move || {
            executor.spin().unwrap();
            executor
        };
        Self { handle, thread: Some(std::thread::spawn(spin)) }
    }

    /// Stops it; it has not failed.
    fn stop(mut self) -> Executor {
        self.handle.stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Spinning {
    /// An earlier test failed.
    fn drop(&mut self) {
        self.handle.stop();
    }
}

/// Reports of callbacks, in order.
struct Heard<T> {
    sender: Sender<T>,
    receiver: Mutex<Receiver<T>>,
}

impl<T> Heard<T> {
    fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver: Mutex::new(receiver) }
    }

    fn sender(&self) -> Sender<T> {
        self.sender.clone()
    }

    /// The next one, if it is there.
    fn already(&self) -> Option<T> {
        self.receiver.lock().unwrap().try_recv().ok()
    }

    /// The next one that fits; those before it are forgotten.
    fn next(&self, what: &str, fits: impl Fn(&T) -> bool) -> T {
        let receiver = self.receiver.lock().unwrap();
        loop {
            let item = receiver.recv_timeout(LONG).unwrap_or_else(|_| panic!("{what}"));
            if fits(&item) {
                return item;
            }
        }
    }
}

/// Publishes by `publish` until the peer hears on `topic`: ROS has nothing to wait for that would
/// say so.
fn until_heard(peer: &mut Peer, topic: &str, mut publish: impl FnMut()) {
    let ask = json!({"do": "received", "topic": topic, "at_least": 0});
    for _ in 0..100_000 {
        publish();
        if !peer.ask(ask.clone()).as_array().unwrap().is_empty() {
            return;
        }
    }
    panic!("nothing on {topic} is heard");
}

/// The messages that the peer heard on `topic`, once there are `count`.
fn received(peer: &mut Peer, topic: &str, count: usize) -> Vec<Value> {
    let ask = json!({"do": "received", "topic": topic, "at_least": count, "timeout": 60});
    let Value::Array(received) = peer.ask(ask) else { panic!("it answers with a list") };
    received
}

/// Has the peer subscribe to `topic`.
fn subscribe(peer: &mut Peer, topic: &str, kind: &str, qos: Value) {
    peer.ask(json!({"do": "subscribe", "topic": topic, "type": kind, "qos": qos}));
}

/// Has the peer advertise `topic`, and waits until it has a subscription.
fn advertise(peer: &mut Peer, topic: &str, kind: &str, qos: Value) {
    peer.ask(json!({"do": "publisher", "topic": topic, "type": kind, "qos": qos}));
    peer.ask(json!({"do": "matched", "topic": topic}));
}
