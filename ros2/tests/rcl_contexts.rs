//! Contexts that are created and destroyed on four threads at a time, beside peers that are killed.
//!
//! The contexts live in a separate process, so that a crash in there is a failure here. Of the
//! peers, every other one uses shared memory, as peers do by default. Set `RINGSPIN_STRESS_ROUNDS`
//! for another number of rounds; with `FASTDDS_BUILTIN_TRANSPORTS=DEFAULT`, which brings shared
//! memory back, Fast DDS 2.14 crashes in about one of three runs of 100 rounds.

#![cfg(ros_is_sourced)]

#[path = "common/peer.rs"]
mod peer;

use peer::{DOMAIN, domain};
use ringspin_executor::QoS;
use ringspin_messages::std_msgs::msg::String as Text;
use ringspin_ros2::rcl::fast_dds::Profile;
use ringspin_ros2::rcl::{
    Context, ContextOptions, Locals, Node, NodeOptions, Publisher, Reach, Subscription,
};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The role of a child of this test program.
const ROLE: &str = "RINGSPIN_TEST_ROLE";
const ROUNDS: &str = "RINGSPIN_STRESS_ROUNDS";
const TOPIC: &str = "/contexts";
const THREADS: usize = 4;
/// Peers alive at a time.
const PEERS: usize = 2;
/// Much longer than a peer needs to start.
const UP_WITHIN: Duration = Duration::from_secs(60);

fn rounds() -> usize {
    std::env::var(ROUNDS).map_or(20, |rounds| rounds.parse().expect("a number of rounds"))
}

/// One node with a publisher and a subscription, in a new context.
struct Connection {
    publisher: Publisher<Text>,
    subscription: Subscription<Text>,
    node: Node,
}

impl Connection {
    fn open(name: &str, shared_memory: bool) -> Self {
        let (domain, reach) = (Some(domain()), Reach::LocalHost);
        let options = ContextOptions { domain, reach, console: false, log_files: false };
        let profile = Profile { shared_memory, ..Profile::default() };
        let context = Context::with_profile(&[], &options, profile).unwrap();
        let node = Node::new(&context, "", name, NodeOptions::default()).unwrap();
        let publisher = Publisher::new(&node, TOPIC, &QoS::default()).unwrap();
        let subscription =
            Subscription::new(&node, TOPIC, &QoS::default(), Locals::Ignore).unwrap();
        Self { publisher, subscription, node }
    }

    /// Publishes, and takes the received messages.
    fn talk(&mut self) {
        self.publisher.publish(&Text { data: "a message".repeat(100) }).unwrap();
        while self.subscription.take().unwrap().is_some() {}
    }
}

/// Opens and closes contexts until the rounds are over.
fn worker() {
    let rounds = rounds();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for round in 0..rounds {
                    let mut connection = Connection::open(&format!("worker_{thread}"), false);
                    // Sometimes closed before any peer is found, sometimes in mid-stream.
                    for _ in 0..(round * 7 + thread * 5) % 40 {
                        connection.talk();
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
    });
}

/// Fails if a context with the default settings maps a port in shared memory.
fn assert_no_shared_memory() {
    if std::env::var_os("FASTDDS_BUILTIN_TRANSPORTS").is_some() {
        return; // the user chose other transports
    }
    let _connection = Connection::open("plain", false);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().find(|line| line.contains("/dev/shm/fastrtps_"));
    assert_eq!(mapped, None, "Fast DDS has taken its settings");
}

/// Talks until it is killed.
fn victim() {
    let mut connection = Connection::open("victim", std::process::id().is_multiple_of(2));
    let matched = |_: &Node| Ok(connection.publisher.subscription_count()? > 0);
    let _ = connection.node.wait_for(Duration::from_secs(5), matched).unwrap();
    println!("up");
    std::io::stdout().flush().unwrap();
    let end = Instant::now() + Duration::from_secs(600);
    while Instant::now() < end {
        connection.talk();
    }
}

/// A child that plays `role`.
fn child(role: &str) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "contexts_end_beside_killed_peers", "--nocapture"]);
    command.env(ROLE, role).env(DOMAIN, domain().to_string()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

/// A peer that is killed when it is dropped.
struct Victim(Child, Receiver<()>);

impl Victim {
    fn start() -> Self {
        let (child, lines) = child("victim");
        let (up, is_up) = channel();
        std::thread::spawn(move || {
            if lines.lines().any(|line| line.is_ok_and(|line| line == "up")) {
                let _ = up.send(());
            }
        });
        Self(child, is_up)
    }

    /// Waits until it talks with a peer. It may hang instead: Fast DDS 2.14 waits without end for a
    /// port in shared memory that a killed peer has left half initialized.
    fn talks(&mut self) {
        match self.1.recv_timeout(UP_WITHIN) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => println!("a peer hangs, and is killed"),
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the victim ended: {:?}", self.0.wait());
            }
        }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn contexts_end_beside_killed_peers() {
    match std::env::var(ROLE).as_deref() {
        Ok("worker") => return worker(),
        Ok("victim") => return victim(),
        _ => assert_no_shared_memory(),
    }
    let (mut worker, _lines) = child("worker");
    let mut killed = 0;
    let mut victims: Vec<_> = (0..PEERS).map(|_| Victim::start()).collect();
    let status = loop {
        let mut next = victims.remove(0);
        next.talks();
        drop(next);
        killed += 1;
        victims.push(Victim::start());
        if let Some(status) = worker.try_wait().unwrap() {
            break status;
        }
    };
    drop(victims);
    println!("{} contexts, {killed} peers killed: {status}", THREADS * rounds());
    assert!(status.success(), "the process with the contexts: {status}");
}
