//! Many messages at once: depth is a promise.

use crate::{Heard, Peer, node, unique, wait};
use ringspin_executor::QoS;
use ringspin_messages::std_msgs::msg::Int64;
use ringspin_ros2::rcl::{Locals, Node, Publisher, Subscription};
use serde_json::json;

const MANY: i64 = 10_000;

/// All numbers, in order, and nothing else.
fn assert_complete(heard: &mut Heard<Int64>) {
    for n in 0..MANY {
        let (message, _) = heard.next();
        assert_eq!(message.data, n);
    }
    assert!(heard.subscription.take().unwrap().is_none());
}

/// A subscription with room for all messages.
fn deep(node: &Node, topic: &str) -> Heard<Int64> {
    let qos = QoS::keep_last(MANY as usize);
    Heard::new(Subscription::new(node, topic, &qos, Locals::Deliver).unwrap())
}

#[test]
fn ten_thousand_wait_for_a_subscriber_that_takes_none_until_the_end() {
    let (node, other) = (node("deep"), node("deep_talker"));
    let topic = unique("deep");
    let qos = QoS::keep_last(MANY as usize);
    let mut heard = deep(&node, &topic);
    let publisher = Publisher::<Int64>::new(&other, &topic, &qos).unwrap();
    wait(&other, "matched", || publisher.subscription_count().unwrap() == 1);
    for data in 0..MANY {
        publisher.publish(&Int64 { data }).unwrap();
    }
    assert_complete(&mut heard);
}

#[test]
fn ten_thousand_from_a_peer_and_to_a_slow_one() {
    let node = node("deep_peered");
    let mut peer = Peer::start("deep_peer");
    let (from, to) = (unique("deep_from"), unique("deep_to"));
    let (kind, qos) = ("std_msgs/msg/Int64", json!({"depth": MANY}));
    let mut heard = deep(&node, &from);
    peer.ask(json!({"do": "publisher", "topic": from, "type": kind, "qos": qos}));
    peer.ask(json!({"do": "matched", "topic": from}));
    peer.ask(json!({"do": "publish", "topic": from, "field": "data", "count": MANY}));
    assert_complete(&mut heard);

    let all = QoS::keep_last(MANY as usize);
    let publisher = Publisher::<Int64>::new(&node, &to, &all).unwrap();
    // rclpy needs a millisecond for each.
    let slow = json!({"do": "subscribe", "topic": to, "type": kind, "qos": qos, "only": "data"});
    peer.ask(slow);
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 1);
    for data in 0..MANY {
        publisher.publish(&Int64 { data }).unwrap();
    }
    let ask = json!({"do": "received", "topic": to, "at_least": MANY, "timeout": 60});
    assert_eq!(peer.ask(ask), json!((0..MANY).collect::<Vec<_>>()));
    assert!(publisher.wait_for_acknowledgements(crate::LONG).unwrap());
}

#[test]
fn keep_last_one_gives_the_newest() {
    let node = node("newest");
    let topic = unique("newest");
    let last = QoS::keep_last(1);
    let publisher = Publisher::<Int64>::new(&node, &topic, &last).unwrap();
    let mut subscription =
        Subscription::<Int64>::new(&node, &topic, &last, Locals::Deliver).unwrap();
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 1);
    for data in 0..100 {
        publisher.publish(&Int64 { data }).unwrap();
    }
    assert!(publisher.wait_for_acknowledgements(crate::LONG).unwrap());
    assert_eq!(subscription.take().unwrap().unwrap().0.data, 99);
    assert!(subscription.take().unwrap().is_none());
}
