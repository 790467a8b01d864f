//! The log: on the terminal, and on `/rosout`.

use crate::{Result, node, peer, unique};
use serde_json::json;
use std::process::{Command, Stdio};

const NAME: &str = "RINGSPIN_TEST_LOG_NAME";

/// Run by the test below, as a process of its own.
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

#[test]
fn logs_reach_rosout_and_the_terminal_once() -> Result {
    let name = unique("logs").replace('/', "_");
    let mut peer = peer("log_reader");
    peer.ask(json!({"do": "subscribe", "topic": "/rosout", "type": "rcl_interfaces/msg/Log",
        "qos": {"durability": "transient_local", "depth": 1000}}));
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--exact", "--ignored", "--nocapture", "logs::logs_in_a_process_of_its_own"])
        .env("RINGSPIN_ROS_ARGS", "--log-level debug")
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
    let on_rosout = [(10, "a detail"), (20, "3 parts"), (40, "100 % broken")];
    assert_eq!(lines, on_rosout.map(|(level, msg)| (json!(level), json!(msg))));
    let own = |logger: &str| {
        let line = |line: &str| {
            let (severity, rest) = line.split_once(" [")?;
            let (_time, message) = rest.split_once(&format!("] [{logger}]: "))?;
            Some(format!("{severity} {message}"))
        };
        printed.lines().filter_map(line).collect::<Vec<_>>()
    };
    assert_eq!(own("early"), ["[INFO] before the context"], "{printed}");
    assert_eq!(own(&name), ["[DEBUG] a detail", "[INFO] 3 parts", "[ERROR] 100 % broken"]);
    assert_eq!(own("elsewhere"), ["[WARN] no node's"]);
    Ok(())
}
