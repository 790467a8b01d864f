//! Messages that rclpy serializes, read and written back: needs a real ROS 2.

use ringspin_messages::cdr::{from_bytes, to_bytes};
use ringspin_messages::{GeneratedMessage, TypeVisitor, visit_types};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Reads and writes a message.
type Echo = fn(&[u8]) -> Vec<u8>;

#[derive(Default)]
struct Types(BTreeMap<&'static str, Echo>);

impl TypeVisitor for Types {
    fn message<M: GeneratedMessage>(&mut self) {
        let echo: Echo = |bytes| to_bytes(&from_bytes::<M>(bytes).unwrap()).unwrap();
        self.0.insert(M::TYPE_NAME, echo);
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|it| u8::from_str_radix(str::from_utf8(it).unwrap(), 16).unwrap()).collect()
}

#[test]
#[ignore = "needs ROS 2: run scripts/test-ros2"]
fn messages_of_rclpy_are_read_and_written() {
    let mut types = Types::default();
    visit_types(&mut types);
    ringspin_test_msgs::visit_types(&mut types);
    let python = std::env::var("RINGSPIN_ROS_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rclpy_peer.py"));
    let mut peer = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut answers = peer.stdin.take().unwrap();
    let mut seen = BTreeMap::<String, usize>::new();
    for line in BufReader::new(peer.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let (name, hex) = line.split_once(' ').unwrap();
        let bytes = from_hex(hex);
        let echo = types.0.get(name).unwrap_or_else(|| panic!("no struct of {name}"));
        let ours = echo(&bytes);
        // Theirs may be longer than the message, and bytes between fields have any value: so it is
        // rclpy that compares the values.
        assert!(bytes.len() >= ours.len(), "{name}: {bytes:?}, {ours:?}");
        let hex: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(answers, "{hex}").unwrap();
        *seen.entry(name.into()).or_default() += 1;
    }
    assert!(peer.wait().unwrap().success(), "rclpy did not read the same: see above");
    assert!(seen.len() > 200, "only {} types", seen.len());
    println!("{} messages of {} types", seen.values().sum::<usize>(), seen.len());
}
