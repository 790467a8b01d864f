//! Many messages at once: depth is a promise.

use crate::{Peer, Spinning, advertise, executor, received, subscribe, unique_to, until_heard};
use ringspin::messages::std_msgs::msg::Int64;
use ringspin::ros2::Traffic;
use ringspin::{Message, QoS};
use serde_json::{Value, json};
use std::sync::mpsc::channel;

const MANY: i64 = 10_000;

/// All numbers from a peer that has sent them before the first one is looked at.
fn all_come(traffic: Traffic) {
    let executor = executor(traffic);
    let topic = unique_to(traffic, "many_come");
    let ((begin, begun), (go, wait)) = (channel(), channel());
    let (all, heard) = channel();
    let node = executor.create_node("slow", Vec::new()).unwrap();
    let qos = QoS::keep_last(MANY as usize);
    node.create_subscription(&topic, qos, move |numbers: &mut Vec<i64>, n: &Message<Int64>, _| {
        if numbers.is_empty() {
            begin.send(()).unwrap();
            wait.recv().unwrap();
        }
        numbers.push(n.data);
        if n.data == MANY - 1 {
            all.send(std::mem::take(numbers)).unwrap();
        }
    })
    .unwrap();
    let spinning = Spinning::start(executor);
    let mut peer = Peer::start("eager");
    advertise(&mut peer, &topic, "std_msgs/msg/Int64", json!({"depth": MANY}));
    let publish = json!({"do": "publish", "topic": topic, "count": MANY, "field": "data"});
    let publish = peer.tell(publish);
    begun.recv_timeout(crate::LONG).expect("the first message comes");
    peer.answer(publish);
    let acknowledged = json!({"do": "acknowledged", "topic": topic, "timeout": 60});
    assert_eq!(peer.ask(acknowledged), true);
    go.send(()).unwrap();
    let heard = heard.recv_timeout(crate::LONG).expect("the last message comes");
    assert_eq!(heard, (0..MANY).collect::<Vec<_>>());
    let statistics = spinning.stop().statistics();
    assert_eq!((statistics.overwritten(), statistics.lost()), (0, 0));
}

#[test]
fn ten_thousand_from_a_peer_wait_for_a_slow_subscription() {
    all_come(Traffic::Direct);
    all_come(Traffic::Loopback);
}

/// All numbers to a peer that needs a while for each.
fn all_reach_the_peer(traffic: Traffic) {
    let executor = executor(traffic);
    let topic = unique_to(traffic, "many_go");
    let node = executor.create_node("fast", ()).unwrap();
    let qos = QoS::keep_last(MANY as usize);
    let out = node.create_publisher::<Int64>(&topic, qos).unwrap();
    let spinning = Spinning::start(executor);
    let mut peer = Peer::start("slow");
    subscribe(&mut peer, &topic, "std_msgs/msg/Int64", json!({"depth": MANY}));
    until_heard(&mut peer, &topic, || out.publish(Int64 { data: -1 }).unwrap());
    // It looks at nothing meanwhile.
    let sleep = peer.tell(json!({"do": "sleep", "seconds": 1}));
    (0..MANY).for_each(|data| out.publish(Int64 { data }).unwrap());
    peer.answer(sleep);
    let mut heard: Vec<Value> = Vec::new();
    while heard.len() < MANY as usize {
        let new = received(&mut peer, &topic, 1);
        heard.extend(new.into_iter().map(|n| n["data"].clone()).filter(|n| *n != -1));
    }
    assert_eq!(Value::Array(heard), json!((0..MANY).collect::<Vec<_>>()));
    spinning.stop();
}

#[test]
fn ten_thousand_reach_a_slow_peer() {
    all_reach_the_peer(Traffic::Direct);
}

#[test]
fn ten_thousand_reach_a_slow_peer_by_loopback() {
    all_reach_the_peer(Traffic::Loopback);
}
