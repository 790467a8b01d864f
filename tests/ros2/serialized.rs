//! Messages of Rust structs without a C struct, carried by their CDR bytes.

use crate::{LIVE, LONG, Peer, Spinning, advertise, builder, on, subscribe, unique_to};
use ringspin::messages::{RosMessage, cdr};
use ringspin::ros2::{RawMessage, Ros2, Traffic, Types};
use ringspin::{Executor, Message, QoS};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::mpsc::channel;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Point {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stamp {
    sec: i32,
    nanosec: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Header {
    stamp: Stamp,
    frame_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PointStamped {
    header: Header,
    point: Point,
}

impl RosMessage for PointStamped {
    const TYPE_NAME: &'static str = "geometry_msgs/msg/PointStamped";
    const DEFINITION: &'static str = "std_msgs/Header header\nPoint point\n";
    const TYPE_HASH: &'static str =
        "RIHS01_4c0296af86e01e562e9e0405d138a01537247580076c58ea38d7923ac1045897";
}

/// A message that the sourced ROS defines in another way.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Other {
    data: String,
}

impl RosMessage for Other {
    const TYPE_NAME: &'static str = "std_msgs/msg/String";
    const DEFINITION: &'static str = "string data\nstring more\n";
    const TYPE_HASH: &'static str =
        "RIHS01_0000000000000000000000000000000000000000000000000000000000000000";
}

/// A message of a package that is not installed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Unknown {
    data: u8,
}

impl RosMessage for Unknown {
    const TYPE_NAME: &'static str = "no_such_msgs/msg/Unknown";
    const DEFINITION: &'static str = "uint8 data\n";
    const TYPE_HASH: &'static str = "RIHS01_";
}

fn ros2(traffic: Traffic) -> Ros2 {
    let types = Types::installed()
        .with_message::<PointStamped>()
        .with_message::<Other>()
        .with_message::<Unknown>();
    builder(traffic).types(types).connect().unwrap()
}

#[test]
fn messages_without_a_c_struct_go_both_ways_and_within_the_process() {
    let kind = PointStamped::TYPE_NAME;
    for traffic in LIVE {
        let (there, back) = (unique_to(traffic, "cdr"), unique_to(traffic, "cdr_back"));
        let executor = on(&ros2(traffic), Executor::single_core());
        let node = executor.create_node("cdr_echo", ()).unwrap();
        let out = node.create_publisher::<PointStamped>(&back, QoS::default()).unwrap();
        node.create_subscription(&there, QoS::default(), move |(), point, _| {
            let mut point = PointStamped::clone(point);
            point.header.frame_id.push('ñ');
            point.point.z += 1.0;
            out.publish(point)
        })
        .unwrap();
        let (heard, hears) = channel();
        let inside = executor.create_node("cdr_inside", ()).unwrap();
        inside
            .create_subscription(&back, QoS::default(), move |(), p: &Message<PointStamped>, _| {
                heard.send(PointStamped::clone(p))
            })
            .unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("cdr_peer");
        subscribe(&mut peer, &back, kind, json!({}));
        advertise(&mut peer, &there, kind, json!({}));
        let value = json!({"header": {"stamp": {"sec": -3, "nanosec": 7}, "frame_id": "map"},
            "point": {"x": 0.5, "y": -2.0, "z": 1e300}});
        let expected = PointStamped {
            header: Header { stamp: Stamp { sec: -3, nanosec: 7 }, frame_id: "mapñ".into() },
            point: Point { x: 0.5, y: -2.0, z: 1e300 },
        };
        let publish = json!({"do": "publish", "topic": there, "value": value});
        let ask = json!({"do": "received", "topic": back, "at_least": 0});
        // The peer's subscription may be connected later than its publisher.
        let echo = (0..10_000).find_map(|_| {
            peer.ask(publish.clone());
            assert_eq!(hears.recv_timeout(LONG).as_ref(), Ok(&expected), "{traffic:?}");
            peer.ask(ask.clone()).as_array_mut().unwrap().pop()
        });
        assert_eq!(echo.expect("the peer hears an echo"), serde_json::to_value(&expected).unwrap());
        spinning.stop();
        assert!(hears.try_recv().is_err(), "{traffic:?}: once, not twice");
    }
}

#[test]
fn damaged_message_is_reported_and_the_next_one_comes() {
    let topic = unique_to(LIVE[0], "cdr_damaged");
    let (kind, ros2) = (PointStamped::TYPE_NAME, ros2(LIVE[0]));
    let executor = on(&ros2, Executor::single_core());
    let (heard, hears) = channel();
    let node = executor.create_node("cdr_damaged", ()).unwrap();
    node.create_subscription(&topic, QoS::default(), move |(), p: &Message<PointStamped>, _| {
        heard.send(p.point.x)
    })
    .unwrap();
    // Two connections: within one, messages would go directly.
    let sender = crate::ros2(LIVE[0]);
    sender.carry_raw(&topic, kind, Some(PointStamped::TYPE_HASH)).unwrap();
    let other = on(&sender, Executor::single_core());
    let node = other.create_node("cdr_sender", ()).unwrap();
    let out = node.create_publisher::<RawMessage>(&topic, QoS::default()).unwrap();
    let (spinning, sending) = (Spinning::start(executor), Spinning::start(other));
    let sent = PointStamped { point: Point { x: 1.5, ..Default::default() }, ..Default::default() };
    let good = cdr::to_bytes(&sent).unwrap();
    let damaged = &good[..20];
    let heard = (0..10_000_000).find_map(|_| {
        for bytes in [damaged, &good] {
            out.publish(RawMessage(bytes.to_vec())).unwrap();
        }
        std::thread::yield_now();
        hears.try_recv().ok()
    });
    assert_eq!(heard, Some(1.5));
    sending.stop();
    spinning.stop();
}

#[test]
fn type_of_another_definition_or_of_no_package_is_refused() {
    let topic = unique_to(LIVE[0], "cdr_type");
    let executor = on(&ros2(LIVE[0]), Executor::single_core());
    let node = executor.create_node("cdr_type", ()).unwrap();
    let other = node.create_publisher::<Other>(&topic, QoS::default()).unwrap_err().to_string();
    assert!(other.contains("std_msgs/msg/String") && other.contains(Other::TYPE_HASH), "{other}");
    assert!(other.contains("RIHS01_df668c740482bbd48fb39d76a70dfd4b"), "{other}");
    let topic = unique_to(LIVE[0], "cdr_unknown");
    let unknown = node.create_publisher::<Unknown>(&topic, QoS::default()).unwrap_err().to_string();
    assert!(unknown.contains("no_such_msgs"), "{unknown}");
}
