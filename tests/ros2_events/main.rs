//! What goes on beside messages, against rclpy in its own process: events of quality of service,
//! the clock, the log, bytes, and who is there.
//!
//! Nothing here sleeps to give something time: each wait is for an event, with a bound that only a
//! failure reaches.

#[path = "../../ros2/tests/common/peer.rs"]
mod peer;

mod clock;
mod events;
mod queries;
mod rosout;

use peer::{Peer, domain, unique};
use ringspin::ros2::rcl::{ContextOptions, Reach};
use ringspin::ros2::{Builder, Ros2, Traffic};
use ringspin::{Executor, StopHandle};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Both ways in which a graph takes part.
const LIVE: [Traffic; 2] = [Traffic::Direct, Traffic::Loopback];

/// A connection of its own, in the domain of this process.
fn builder(traffic: Traffic) -> Builder {
    let (domain, reach) = (Some(domain()), Reach::LocalHost);
    let options = ContextOptions { domain, reach, console: false, log_files: false };
    Ros2::builder().traffic(traffic).options(options)
}

/// A single-core executor with a connection of its own.
fn executor(traffic: Traffic) -> Executor {
    let ros2 = builder(traffic).connect().unwrap();
    Executor::single_core().with_middleware(Arc::new(ros2)).unwrap()
}

/// An executor that spins on a thread of its own.
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
    fn drop(&mut self) {
        self.handle.stop();
    }
}

/// What callbacks say, in order.
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
