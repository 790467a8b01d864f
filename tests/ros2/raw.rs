//! Serialized messages of types known by name, at the level of nodes.

use crate::{LIVE, LONG, Peer, Spinning, advertise, on, ros2, subscribe, unique_to};
use ringspin::ros2::RawMessage;
use ringspin::{Executor, Message, QoS};
use serde_json::json;
use std::sync::mpsc::channel;

const TEXT: &str = "std_msgs/msg/String";

/// "añ" in CDR: little-endian, then the length with the final NUL, then the text.
const BYTES: [u8; 12] = [0, 1, 0, 0, 4, 0, 0, 0, b'a', 0xc3, 0xb1, 0];

#[test]
fn bytes_go_both_ways_and_within_the_process() {
    for traffic in LIVE {
        let (there, back) = (unique_to(traffic, "raw"), unique_to(traffic, "raw_back"));
        let ros2 = ros2(traffic);
        for topic in [&there, &back] {
            ros2.carry_raw(topic, TEXT, None).unwrap();
        }
        let executor = on(&ros2, Executor::single_core());
        let node = executor.create_node("raw_echo", ()).unwrap();
        let out = node.create_publisher::<RawMessage>(&back, QoS::default()).unwrap();
        node.create_subscription(
            &there,
            QoS::default(),
            move |(), text: &Message<RawMessage>, _| {
                assert_eq!(text.0, BYTES);
                out.publish(RawMessage::clone(text))
            },
        )
        .unwrap();
        let (heard, hears) = channel();
        let inside = executor.create_node("raw_inside", ()).unwrap();
        inside
            .create_subscription(&back, QoS::default(), move |(), text: &Message<RawMessage>, _| {
                heard.send(text.0.clone())
            })
            .unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("raw_peer");
        subscribe(&mut peer, &back, TEXT, json!({}));
        advertise(&mut peer, &there, TEXT, json!({}));
        peer.ask(json!({"do": "matched", "topic": back}));
        // The peer knows of the publisher; the publisher may not know of the peer's subscription.
        let echo = (0..10_000).find_map(|_| {
            peer.ask(json!({"do": "publish", "topic": there, "value": {"data": "añ"}}));
            assert_eq!(hears.recv_timeout(LONG).as_deref(), Ok(&BYTES[..]));
            let received = json!({"do": "received", "topic": back, "at_least": 0});
            peer.ask(received).as_array_mut().unwrap().pop()
        });
        assert_eq!(echo.expect("the peer hears an echo")["data"], "añ");
        spinning.stop();
        assert!(hears.try_recv().is_err(), "{traffic:?}: once, not twice");
    }
}

#[test]
fn a_topic_of_bytes_needs_one_type_that_exists() {
    let topic = unique_to(LIVE[0], "raw_type");
    let ros2 = ros2(LIVE[0]);
    let executor = on(&ros2, Executor::single_core());
    let node = executor.create_node("raw_type", ()).unwrap();
    let create = || node.create_publisher::<RawMessage>(&topic, QoS::default());
    let untyped = create().unwrap_err().to_string();
    assert!(untyped.contains(&topic) && untyped.contains("`Ros2::carry_raw`"), "{untyped}");
    ros2.carry_raw(&topic, "std_msgs/msg/Strin", None).unwrap();
    let unknown = create().unwrap_err().to_string();
    assert!(unknown.contains("std_msgs/msg/Strin"), "{unknown}");
    let other = ros2.carry_raw(&topic, TEXT, None).unwrap_err().to_string();
    assert!(other.contains("std_msgs/msg/Strin") && other.contains(TEXT), "{other}");
}

#[test]
fn topic_of_bytes_is_refused_if_the_sourced_ros_has_another_hash() {
    let topic = unique_to(LIVE[0], "raw_hash");
    let ros2 = ros2(LIVE[0]);
    let executor = on(&ros2, Executor::single_core());
    let node = executor.create_node("raw_hash", ()).unwrap();
    ros2.carry_raw(&topic, TEXT, Some("RIHS01_old")).unwrap();
    let publisher = node.create_publisher::<RawMessage>(&topic, QoS::default());
    let subscription =
        node.create_subscription(&topic, QoS::default(), |(), _: &Message<RawMessage>, _| ());
    let installed = ringspin::ros2::rcl::type_hash(TEXT).unwrap().unwrap();
    let errors =
        [publisher.map(drop).unwrap_err().to_string(), subscription.unwrap_err().to_string()];
    for error in errors {
        let names = [TEXT, "RIHS01_old", &installed];
        assert!(names.iter().all(|name| error.contains(name)), "{error}");
    }
    ros2.carry_raw(&topic, TEXT, None).unwrap();
    let other = ros2.carry_raw(&topic, TEXT, Some(&installed)).unwrap_err().to_string();
    assert!(other.contains("RIHS01_old") && other.contains(&installed), "{other}");
}
