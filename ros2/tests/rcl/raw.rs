//! Messages as bytes, of types known by name.

use crate::{LONG, Peer, node, unique, wait};
use ringspin_executor::{ErrorKind, QoS};
use ringspin_messages::std_msgs;
use ringspin_ros2::rcl::{Locals, Publisher, Subscription};
use serde_json::json;
use std::sync::mpsc::channel;

#[test]
fn bytes_go_both_ways() {
    let node = node("raw");
    let mut peer = Peer::start("raw_peer");
    let (to, from) = (unique("raw_to"), unique("raw_from"));
    let kind = "std_msgs/msg/String";
    let publisher = Publisher::named(&node, &to, kind, &QoS::default()).unwrap();
    let mut subscription =
        Subscription::named(&node, &from, kind, &QoS::default(), Locals::Deliver).unwrap();
    let (ring, bell) = channel();
    subscription.on_new_message(move |count| ring.send(count).unwrap()).unwrap();
    peer.ask(json!({"do": "subscribe", "topic": to, "type": kind, "only": "data"}));
    peer.ask(json!({"do": "publisher", "topic": from, "type": kind}));
    peer.ask(json!({"do": "matched", "topic": from}));
    wait(&node, "the peer listens", || publisher.subscription_count().unwrap() == 1);

    peer.ask(json!({"do": "publish", "topic": from, "value": {"data": "añ"}}));
    assert_eq!(bell.recv_timeout(LONG), Ok(1));
    let (bytes, info) = subscription.take_serialized().unwrap().unwrap();
    // CDR: little-endian, then the length with the final NUL, then the text.
    assert_eq!(bytes[..4], [0, 1, 0, 0]);
    assert_eq!(bytes[4..12], [4, 0, 0, 0, b'a', 0xc3, 0xb1, 0]);
    assert!(info.source_timestamp_ns > 0);
    let bytes = bytes.to_vec();
    assert!(subscription.take_serialized().unwrap().is_none());

    publisher.publish_serialized(&bytes).unwrap();
    assert_eq!(peer.ask(json!({"do": "received", "topic": to})), json!(["añ"]));
}

#[test]
fn typed_and_raw_ends_understand_each_other() {
    let node = node("half_raw");
    let topic = unique("half_raw");
    let kind = "std_msgs/msg/Int32";
    let publisher = Publisher::<std_msgs::msg::Int32>::new(&node, &topic, &QoS::default()).unwrap();
    let mut raw =
        Subscription::named(&node, &topic, kind, &QoS::default(), Locals::Deliver).unwrap();
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 1);
    publisher.publish(&std_msgs::msg::Int32 { data: 0x0102_0304 }).unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 9, 8, 7, 6]).unwrap();
    assert!(publisher.wait_for_acknowledgements(LONG).unwrap());
    assert_eq!(raw.take_serialized().unwrap().unwrap().0, [0, 1, 0, 0, 4, 3, 2, 1]);
    assert_eq!(raw.take_serialized().unwrap().unwrap().0, [0, 1, 0, 0, 9, 8, 7, 6]);
}

#[test]
fn an_unknown_type_is_refused_with_what_is_known() {
    let node = node("unknown");
    let refused = |kind: &str| match Publisher::named(&node, "t", kind, &QoS::default()).err() {
        Some(error) if error.kind() == ErrorKind::NotFound => error.to_string(),
        other => panic!("{kind}: {other:?}"),
    };
    let text = refused("std_msgs/msg/Strin");
    assert!(text.contains("std_msgs/msg/String, "), "{text}");
    let text = refused("my_msgs/msg/Thing");
    assert!(text.contains("my_msgs") && text.contains("known are"), "{text}");
    assert!(text.contains("sensor_msgs"), "{text}");
    for kind in ["", "String", "std_msgs/String", "std_msgs/msg/../x", "a/msg/b\0"] {
        assert!(refused(kind).contains("as in std_msgs/msg/String"));
    }
}

#[test]
fn a_message_of_an_action_comes_from_the_library_of_its_package() {
    use ringspin_test_msgs::test_msgs::action::Fibonacci::FeedbackMessage;
    let node = node("foreign_type");
    let topic = unique("feedback");
    let kind = "test_msgs/action/Fibonacci_FeedbackMessage";
    let mut raw =
        Subscription::named(&node, &topic, kind, &QoS::default(), Locals::Deliver).unwrap();
    let publisher = Publisher::<FeedbackMessage>::new(&node, &topic, &QoS::default()).unwrap();
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 1);
    let mut message = FeedbackMessage::default();
    message.feedback.sequence = vec![5];
    publisher.publish(&message).unwrap();
    assert!(publisher.wait_for_acknowledgements(LONG).unwrap());
    let (bytes, _) = raw.take_serialized().unwrap().unwrap();
    assert_eq!(bytes.len(), 4 + 16 + 4 + 4, "header, identity, length, one number");
    assert_eq!(bytes[20..], [1, 0, 0, 0, 5, 0, 0, 0]);
}
