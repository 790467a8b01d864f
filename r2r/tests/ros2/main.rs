//! The API over a real ROS 2, with rclpy as the peer.
//!
//! Nothing here sleeps to give something time: each wait is for a condition, with a bound that only
//! a failure reaches.

#![cfg(ros_is_sourced)]

#[path = "../../../ros2/tests/common/peer.rs"]
mod peer;

mod actions;
mod graph;
mod logs;
mod together;
mod untyped;

use peer::{Peer, unique};
use r2r::{Context, Node};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// A node of this process, which is in the domain of the environment.
fn node(name: &str) -> Result<Node> {
    Ok(Node::create(Context::create()?, name, "")?)
}

/// A peer with the node `name`, in the same domain.
fn peer(name: &str) -> Peer {
    let domain = std::env::var("ROS_DOMAIN_ID").ok().and_then(|domain| domain.parse().ok());
    Peer::start_in(domain.unwrap_or(0), name)
}

/// The output of `future`.
async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(LONG, future).await.expect("it comes in time")
}

/// Waits until `ready` returns something.
fn until<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        match ready() {
            Some(result) => return result,
            None if start.elapsed() > LONG => panic!("{what}"),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// A node that a thread spins until this is dropped.
struct Spinning {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn spin(mut node: Node) -> Spinning {
    let ends = Arc::<AtomicBool>::default();
    let is_over = ends.clone();
    let thread = std::thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            node.spin_once(Duration::from_millis(20));
        }
    });
    Spinning { ends, thread: Some(thread) }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
