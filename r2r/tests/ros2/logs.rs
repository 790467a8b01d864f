//! The log: on the terminal, and on `/rosout`.

use crate::{Result, node, peer, unique};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const NAME: &str = "RINGSPIN_TEST_LOG_NAME";

/// The test below runs this as a child process.
#[test]
#[ignore = "logs until its standard input ends"]
fn logs_in_a_process_of_its_own() -> Result {
    r2r::log_info!("early", "before the context");
    let node = node(&std::env::var(NAME)?)?;
    r2r::log_debug!(node.logger(), "a detail");
    r2r::log_info!(node.logger(), "{} parts", 3);
    r2r::log_error!(node.logger(), "100 % broken");
    r2r::log_warn!("elsewhere", "no node's");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// The log of a process.
struct Logged {
    node: String,
    /// The levels and texts of the node's lines.
    on_rosout: Vec<(Value, Value)>,
    printed: String,
}

/// Runs the process with the ROS `arguments`. Each `node` of the tests, which run at the same time,
/// needs another name.
fn logged(node: &str, arguments: &str) -> Result<Logged> {
    let name = unique(node).replace('/', "_");
    let mut peer = peer("log_reader");
    peer.ask(json!({"do": "subscribe", "topic": "/rosout", "type": "rcl_interfaces/msg/Log",
        "qos": {"durability": "transient_local", "depth": 1000}}));
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--exact", "--ignored", "--nocapture", "logs::logs_in_a_process_of_its_own"])
        .env("RINGSPIN_ROS_ARGS", arguments)
        .env(NAME, &name)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut lines = Vec::new();
    while lines.len() < 3 {
        let heard = peer.ask(json!({"do": "received", "topic": "/rosout"}));
        let heard = heard.as_array().unwrap().iter().filter(|line| line["name"] == name.as_str());
        lines.extend(heard.map(|line| (line["level"].clone(), line["msg"].clone())));
    }
    drop(child.stdin.take());
    let printed = String::from_utf8(child.wait_with_output()?.stderr)?;
    Ok(Logged { node: name, on_rosout: lines, printed })
}

/// The severities and texts of a logger on the terminal.
fn lines_of(logger: &str, printed: &str) -> Vec<String> {
    let line = |line: &str| {
        let (severity, rest) = line.split_once(" [")?;
        let (_time, message) = rest.split_once(&format!("] [{logger}]: "))?;
        Some(format!("{severity} {message}"))
    };
    printed.lines().filter_map(line).collect()
}

#[test]
fn logs_reach_rosout_and_the_terminal_once() -> Result {
    let Logged { node, on_rosout, printed } = logged("logs", "--log-level debug")?;
    let lines = [(10, "a detail"), (20, "3 parts"), (40, "100 % broken")];
    assert_eq!(on_rosout, lines.map(|(level, msg)| (json!(level), json!(msg))));
    assert_eq!(lines_of("early", &printed), ["[INFO] before the context"], "{printed}");
    let own = ["[DEBUG] a detail", "[INFO] 3 parts", "[ERROR] 100 % broken"];
    assert_eq!(lines_of(&node, &printed), own);
    assert_eq!(lines_of("elsewhere", &printed), ["[WARN] no node's"]);
    Ok(())
}

#[test]
fn logging_arguments_reach_the_log_of_ros() -> Result {
    let arguments = "--log-level debug --disable-stdout-logs";
    let Logged { node, on_rosout, printed } = logged("quiet", arguments)?;
    assert_eq!(on_rosout.len(), 3);
    assert!(lines_of(&node, &printed).is_empty(), "{printed}");
    Ok(())
}
