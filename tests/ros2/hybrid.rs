//! Subscriptions inside and outside of the process on one topic: each gets every message once.

use crate::{Peer, Spinning, advertise, on, received, ros2, subscribe, unique_to, until_heard};
use ringspin::messages::std_msgs::msg::Int64;
use ringspin::ros2::Traffic;
use ringspin::{Context, Executor, Message, Mode, QoS};
use ringspin_test_msgs::test_msgs::msg::BoundedSequences;
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const MANY: i64 = 1000;
const INT64: &str = "std_msgs/msg/Int64";

/// A node that forwards its messages, up to a negative number at the end.
fn listener(executor: &Executor, name: &str, topic: &str) -> Receiver<Vec<i64>> {
    let (tell, told) = channel();
    let node = executor.create_node(name, Vec::new()).unwrap();
    let qos = QoS::keep_last(4 * MANY as usize);
    node.create_subscription(topic, qos, move |all: &mut Vec<i64>, n: &Message<Int64>, _| {
        all.push(n.data);
        if n.data == MANY - 1 || n.data == 2 * MANY - 1 {
            tell.send(std::mem::take(all)).unwrap();
        }
    })
    .unwrap();
    told
}

/// Numbers from inside, then from outside, to two subscriptions inside and one outside.
fn each_message_comes_once(executor: Executor, traffic: Traffic, name: &str) {
    let executor = on(&ros2(traffic), executor);
    let topic = unique_to(traffic, name);
    let inside = [1, 2].map(|n| listener(&executor, &format!("listener{n}"), &topic));
    let node = executor.create_node("talker", ()).unwrap();
    let qos = QoS::keep_last(4 * MANY as usize);
    let out = node.create_publisher::<Int64>(&topic, qos).unwrap();
    let spinning = Spinning::start(executor);

    let mut peer = Peer::start("outside");
    subscribe(&mut peer, &topic, INT64, json!({"depth": 4 * MANY}));
    let mut early = 0;
    until_heard(&mut peer, &topic, || {
        early += 1;
        out.publish(Int64 { data: -1 }).unwrap();
    });
    (0..MANY).for_each(|data| out.publish(Int64 { data }).unwrap());
    let mut outside: Vec<Value> = Vec::new();
    while outside.len() < MANY as usize {
        let new = received(&mut peer, &topic, 1);
        outside.extend(new.into_iter().map(|n| n["data"].clone()).filter(|n| *n != -1));
    }
    let all: Vec<_> = (0..MANY).collect();
    assert_eq!(Value::Array(outside), json!(all), "{traffic:?}");
    let next = |told: &Receiver<Vec<i64>>| -> (Vec<i64>, Vec<i64>) {
        let heard = told.recv_timeout(crate::LONG).expect("the last one comes");
        heard.into_iter().partition(|n| *n < 0)
    };
    // The early ones are many; on a busy machine some are overwritten.
    let mut overwritten = 0;
    for told in &inside {
        let (heard_early, heard) = next(told);
        assert_eq!(heard, all, "{traffic:?}");
        overwritten += early - heard_early.len() as u64;
    }

    // With the same profile it would not hear itself.
    peer.ask(json!({"do": "unsubscribe", "topic": topic}));
    advertise(&mut peer, &topic, INT64, json!({"depth": 4 * MANY}));
    peer.ask(json!({"do": "matched", "topic": topic, "at_least": 2}));
    let numbers = json!({"do": "publish", "topic": topic, "first": MANY, "count": MANY,
        "field": "data"});
    peer.ask(numbers);
    let all: Vec<_> = (MANY..2 * MANY).collect();
    inside.iter().for_each(|told| assert_eq!(next(told), (Vec::new(), all.clone()), "{traffic:?}"));
    let executor = spinning.stop();
    assert!(inside.iter().all(|told| told.try_recv().is_err()), "nothing comes twice");
    let statistics = executor.statistics();
    assert_eq!((statistics.overwritten(), statistics.lost()), (overwritten, 0));
}

#[test]
fn each_message_comes_once_directly() {
    each_message_comes_once(Executor::single_core(), Traffic::Direct, "direct");
}

#[test]
fn each_message_comes_once_by_loopback() {
    each_message_comes_once(Executor::single_core(), Traffic::Loopback, "loopback");
}

#[test]
fn each_message_comes_once_on_several_cores() {
    for traffic in crate::LIVE {
        each_message_comes_once(Executor::new(Mode::MultiCore(None)), traffic, "cores");
    }
}

#[test]
fn a_message_that_ros_could_not_send_reaches_no_subscription() {
    for traffic in crate::LIVE {
        let mut executor = on(&ros2(traffic), Executor::single_core());
        let topic = unique_to(traffic, "refused");
        let node = executor.create_node("talker", ()).unwrap();
        let out = node.create_publisher::<BoundedSequences>(&topic, QoS::default()).unwrap();
        let stop = |_: &mut (), message: &Message<BoundedSequences>, cx: &mut Context<'_>| {
            assert_eq!(message.byte_values, [1; 3]);
            cx.stop();
        };
        let listener = executor.create_node("listener", ()).unwrap();
        listener.create_subscription(&topic, QoS::default(), stop).unwrap();
        let sequences = |bytes: &[u8]| BoundedSequences {
            byte_values: bytes.to_vec(),
            ..BoundedSequences::default()
        };
        let publish = move |_: &mut (), _: &mut Context<'_>| {
            let refused = out.publish(sequences(&[1; 4])).unwrap_err();
            let limit = "field `byte_values` of test_msgs/msg/BoundedSequences has length 4, but \
                         its definition says at most 3";
            assert!(refused.to_string().ends_with(limit), "{refused}");
            assert_eq!(refused.into_message().unwrap().byte_values, [1; 4]);
            out.publish(sequences(&[1; 3])).unwrap();
        };
        // By loopback an early message may come before the subscription is found.
        node.create_timer(Duration::from_millis(10), publish).unwrap();
        executor.spin().unwrap();
    }
}
