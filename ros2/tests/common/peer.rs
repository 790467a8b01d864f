//! Spawns the rclpy peer of tests/peer.py and talks to it.
#![allow(dead_code)] // Not every test uses all of it.

use serde_json::{Value, json};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Longer than any wait of the peer's own, which tells more when it fails.
const ANSWER_WITHIN: Duration = Duration::from_secs(90);

/// Names the domain of a test's child, if that is to be its parent's.
pub(crate) const DOMAIN: &str = "RINGSPIN_TEST_DOMAIN";

/// The domain of this test process, at random: other tests on this machine are in another one.
pub(crate) fn domain() -> usize {
    static OWN: OnceLock<usize> = OnceLock::new();
    // Above 101 Fast DDS's ports overlap with those that Linux gives to any program.
    let random = || 1 + RandomState::new().hash_one(std::process::id()) as usize % 101;
    let own = || *OWN.get_or_init(random);
    std::env::var(DOMAIN).ok().and_then(|given| given.parse().ok()).unwrap_or_else(own)
}

/// A name that no other test, and no other process, uses.
pub(crate) fn unique(name: &str) -> String {
    format!("/t{}/{name}", std::process::id())
}

/// A process with one rclpy node. Killed when it is dropped.
pub(crate) struct Peer {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
    number: u64,
}

impl Peer {
    /// Starts a peer with the node `name`, and waits until it is there.
    pub(crate) fn start(name: &str) -> Self {
        Self::start_in(domain(), name)
    }

    /// Starts one in a domain.
    pub(crate) fn start_in(domain: usize, name: &str) -> Self {
        let python = std::env::var_os("RINGSPIN_ROS_PYTHON").unwrap_or("python3".into());
        // Tests of other packages have one, too.
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ["tests", "ros2/tests", "../ros2/tests"].map(|path| package.join(path));
        let folder = folders.iter().find(|path| path.join("peer.py").is_file()).expect("the peer");
        let mut child = Command::new(python)
            .arg(folder.join("peer.py"))
            .arg(name)
            .env("ROS_DOMAIN_ID", domain.to_string())
            // For LOCALHOST rmw_fastrtps would use shared memory, regardless of the profile.
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
            .env("FASTRTPS_DEFAULT_PROFILES_FILE", folder.join("common/local_udp.xml"))
            .env("ROS_LOG_DIR", std::env::temp_dir().join("ringspin-ros-log"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 with rclpy, or RINGSPIN_ROS_PYTHON that names one");
        let commands = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut peer = Self { child, commands, answers, number: 0 };
        peer.answer(0);
        peer
    }

    /// Has the peer `command` done, without waiting for its answer: see [`answer`](Self::answer).
    pub(crate) fn tell(&mut self, mut command: Value) -> u64 {
        self.number += 1;
        command["id"] = json!(self.number);
        writeln!(self.commands, "{command}").expect("the peer runs");
        self.number
    }

    /// The answer to command `number`, the oldest one without.
    pub(crate) fn answer(&mut self, number: u64) -> Value {
        let line = match self.answers.recv_timeout(ANSWER_WITHIN) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("the peer did not answer command {number}"),
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the peer ended: {:?}", self.child.wait())
            }
        };
        let mut answer: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(answer["id"], json!(number), "{line}");
        assert!(answer["error"].is_null(), "the peer: {}", answer["error"]);
        answer["ok"].take()
    }

    /// Has the peer `command` done, and returns its answer.
    pub(crate) fn ask(&mut self, command: Value) -> Value {
        let number = self.tell(command);
        self.answer(number)
    }

    /// Has it end in good order, and waits for that.
    pub(crate) fn leave(mut self) {
        self.ask(json!({"do": "leave"}));
        let status = self.child.wait().expect("a child that was started");
        assert!(status.success(), "{status}");
    }

    /// Has it kill itself, and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.tell(json!({"do": "kill"}));
        let status = self.child.wait().expect("a child that was started");
        assert!(!status.success(), "it ended by itself");
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
