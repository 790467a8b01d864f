//! Log messages reach /rosout.

use crate::{Peer, node};
use ringspin_executor::LogLevel;
use ringspin_ros2::rcl::{LogLine, log};
use serde_json::json;

#[test]
fn a_peer_reads_our_log_on_rosout() {
    let node = node("chronicler");
    let mut peer = Peer::start("reader");
    let qos = json!({"depth": 1000, "durability": "transient_local"});
    let subscribe = json!({"do": "subscribe", "topic": "/rosout", "type": "rcl_interfaces/msg/Log",
        "qos": qos});
    peer.ask(subscribe);
    let line = LogLine {
        severity: LogLevel::Warn,
        message: "100 % of Grüße\0!",
        file: "camera.rs",
        function: "capture",
        line: 42,
    };
    assert!(node.context().logs(&node, LogLevel::Warn));
    assert!(!node.context().logs(&node, LogLevel::Debug));
    log(&node, &LogLine { severity: LogLevel::Debug, message: "too fine", ..line });
    log(&node, &line);
    log(&node, &LogLine { severity: LogLevel::Error, message: "last", ..line });
    // Other tests log too; these two have to come, in this order.
    let mut own = Vec::new();
    while own.len() < 2 {
        let got = peer.ask(json!({"do": "received", "topic": "/rosout"}));
        let got = got.as_array().unwrap().iter();
        own.extend(got.filter(|line| line["name"] == "chronicler").cloned());
    }
    assert_eq!(own[0]["msg"], "100 % of Grüße!");
    assert_eq!((&own[0]["level"], &own[0]["line"]), (&json!(30), &json!(42)));
    assert_eq!((&own[0]["file"], &own[0]["function"]), (&json!("camera.rs"), &json!("capture")));
    assert_eq!((&own[1]["msg"], &own[1]["level"]), (&json!("last"), &json!(40)));
}
