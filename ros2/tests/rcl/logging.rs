//! Log messages reach /rosout.

use crate::{Peer, context, node};
use ringspin_executor::LogLevel;
use ringspin_ros2::rcl::{LogLine, Node, NodeOptions, log, set_log_level};
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

#[test]
fn a_logger_has_the_level_of_its_next_ancestor() {
    use LogLevel::{Debug, Error, Info, Warn};
    let node = Node::new(&context(), "/level", "sensor", NodeOptions::default()).unwrap();
    let least = || [Debug, Info, Warn, Error].into_iter().find(|l| node.context().logs(&node, *l));
    let set = |logger, level| set_log_level(logger, level).unwrap();
    assert_eq!(least(), Some(Info));
    set("level", Some(Debug));
    assert_eq!(least(), Some(Debug));
    set("level.sensor", Some(Error));
    set("level.sensor.driver", Some(Info));
    assert_eq!(least(), Some(Error));
    set("level.sensor", None);
    assert_eq!(least(), Some(Debug));
    set("level", None);
    assert_eq!(least(), Some(Info));
    let text = set_log_level("a\0b", None).unwrap_err().to_string();
    assert_eq!(text, r#"the logger "a\0b" has a NUL character in it; leave it out"#);
}
