//! Messages of all kinds, both ways: the peer's messages are sent back.

use crate::{
    Heard, LIVE, LONG, Peer, Spinning, advertise, executor, on, received, ros2, subscribe, unique,
    unique_to,
};
use ringspin::message::MessageTimes;
use ringspin::messages::nav_msgs::msg::Path;
use ringspin::messages::sensor_msgs::msg::{Image, PointCloud2};
use ringspin::messages::std_msgs::msg::{Int64, String as Text};
use ringspin::ros2::RawMessage;
use ringspin::ros2::Traffic;
use ringspin::ros2::rcl::{Node, NodeOptions, Publisher};
use ringspin::{Executor, Message, QoS, Time};
use ringspin_test_msgs::test_msgs::msg::BoundedSequences;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{SystemTime, UNIX_EPOCH};

/// A topic of the test, its way back, and its type.
struct Echo {
    there: String,
    back: String,
    kind: &'static str,
}

/// A node that sends back the messages of a topic. Its messages stay there for late subscriptions.
fn echo<M: Clone + Send + Sync + 'static>(
    executor: &Executor,
    traffic: Traffic,
    name: &str,
    kind: &'static str,
) -> Echo {
    let (there, back) = (unique_to(traffic, name), unique_to(traffic, &format!("{name}_back")));
    let node = executor.create_node(name, ()).unwrap();
    let qos = QoS::default().transient_local();
    let out = node.create_publisher::<M>(&back, qos).unwrap();
    node.create_subscription(&there, QoS::default(), move |(), message: &Message<M>, _| {
        out.publish(M::clone(message))
    })
    .unwrap();
    Echo { there, back, kind }
}

/// Sends each of `values` there and gets it back.
fn goes_and_comes(peer: &mut Peer, echo: &Echo, values: &[Value]) {
    subscribe(peer, &echo.back, echo.kind, json!({"durability": "transient_local"}));
    advertise(peer, &echo.there, echo.kind, json!({}));
    for value in values {
        peer.ask(json!({"do": "publish", "topic": echo.there, "value": value}));
        let back = &received(peer, &echo.back, 1)[0];
        assert_holds(back, value);
    }
}

/// Asserts that `whole` has all that `part` has.
fn assert_holds(whole: &Value, part: &Value) {
    match part {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| assert_holds(&whole[name], value));
        }
        Value::Array(parts) => {
            let elements = whole.as_array().unwrap();
            assert_eq!(elements.len(), parts.len(), "{whole}");
            elements.iter().zip(parts).for_each(|(whole, part)| assert_holds(whole, part));
        }
        _ => assert_eq!(whole, part),
    }
}

#[test]
fn messages_of_all_kinds_go_both_ways() {
    const CLOUD: &str = "sensor_msgs/msg/PointCloud2";
    const BOUNDED: &str = "test_msgs/msg/BoundedSequences";
    for traffic in LIVE {
        let executor = executor(traffic);
        let text = echo::<Text>(&executor, traffic, "text", "std_msgs/msg/String");
        let cloud = echo::<PointCloud2>(&executor, traffic, "cloud", CLOUD);
        let image = echo::<Image>(&executor, traffic, "image", "sensor_msgs/msg/Image");
        let path = echo::<Path>(&executor, traffic, "path", "nav_msgs/msg/Path");
        let bounded = echo::<BoundedSequences>(&executor, traffic, "bounded", BOUNDED);
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("kinds");
        let texts = ["", "Grüße, 世界 🌍", "a\nb\t\"c\""].map(|data| json!({"data": data}));
        goes_and_comes(&mut peer, &text, &texts);
        let field = |name: &str, offset: u32| {
            let (datatype, count) = (7, 1);
            json!({"name": name, "offset": offset, "datatype": datatype, "count": count})
        };
        let stamp = json!({"sec": 12, "nanosec": 34});
        let points = json!({
            "header": {"frame_id": "lidar", "stamp": stamp}, "height": 1, "width": 2_000,
            "fields": [field("x", 0), field("y", 4), field("z", 8)], "point_step": 12,
            "row_step": 24_000, "is_dense": true, "data": {"len": 24_000, "first": 3},
        });
        let none = json!({"header": {"frame_id": ""}, "fields": [], "data": []});
        goes_and_comes(&mut peer, &cloud, &[points, none]);
        let pixels = json!({"encoding": "mono8", "height": 2048, "width": 2048,
            "data": {"len": 4 << 20, "first": 9}});
        goes_and_comes(&mut peer, &image, &[pixels]);
        let pose = |x: f64| {
            json!({"header": {"frame_id": "pose"},
            "pose": {"position": {"x": x}, "orientation": {"w": 0.5}}})
        };
        let poses = json!({"header": {"frame_id": "map"}, "poses": [pose(1.5), pose(-2.25)]});
        goes_and_comes(&mut peer, &path, &[poses]);
        let sequences = json!({"int32_values": [i32::MIN, 0, i32::MAX], "bool_values": [true],
            "string_values": ["", "ß"], "float64_values": []});
        goes_and_comes(&mut peer, &bounded, &[sequences]);
        assert_eq!(spinning.stop().statistics().lost(), 0);
    }
}

/// The numbers of `received`.
fn numbers(received: &[Value]) -> Vec<i64> {
    received.iter().map(|message| message["data"].as_i64().unwrap()).collect()
}

const INT64: &str = "std_msgs/msg/Int64";

#[test]
fn latched_messages_reach_a_late_peer() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let topic = unique_to(traffic, "latched");
        let node = executor.create_node("latching", ()).unwrap();
        let qos = QoS::keep_last(3).transient_local();
        let out = node.create_publisher::<Int64>(&topic, qos).unwrap();
        let spinning = Spinning::start(executor);
        (0..5).for_each(|data| out.publish(Int64 { data }).unwrap());
        let mut peer = Peer::start("late");
        let latched = json!({"durability": "transient_local", "depth": 10});
        subscribe(&mut peer, &topic, INT64, latched);
        assert_eq!(numbers(&received(&mut peer, &topic, 3)), [2, 3, 4]);
        out.publish(Int64 { data: 5 }).unwrap();
        assert_eq!(numbers(&received(&mut peer, &topic, 1)), [5]);
        spinning.stop();
    }
}

#[test]
fn latched_messages_of_a_peer_reach_a_late_subscription() {
    let mut peer = Peer::start("early");
    let topic = unique("early");
    let qos = json!({"durability": "transient_local", "depth": 3});
    peer.ask(json!({"do": "publisher", "topic": topic, "type": INT64, "qos": qos}));
    peer.ask(json!({"do": "publish", "topic": topic, "count": 5, "field": "data"}));
    for traffic in LIVE {
        let executor = executor(traffic);
        let (hear, heard) = channel();
        let hear_late = hear.clone();
        let node = executor.create_node("listener", ()).unwrap();
        let latched = QoS::keep_last(10).transient_local();
        node.create_subscription(&topic, latched, move |(), n: &Message<Int64>, _| {
            hear.send(("started with it", n.data)).unwrap();
        })
        .unwrap();
        let spinning = Spinning::start(executor);
        let next = || heard.recv_timeout(LONG).expect("a message comes");
        for n in 2..5 {
            assert_eq!(next(), ("started with it", n));
        }
        node.create_subscription(&topic, latched, move |(), n: &Message<Int64>, _| {
            hear_late.send(("joined later", n.data)).unwrap();
        })
        .unwrap();
        for n in 2..5 {
            assert_eq!(next(), ("joined later", n));
        }
        spinning.stop();
        assert!(heard.try_recv().is_err());
    }
}

/// A type that ROS does not have.
#[derive(Clone)]
struct Own(u64);

#[test]
fn a_type_that_ros_does_not_have_stays_in_the_process() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let (own, known) = (unique_to(traffic, "own"), unique_to(traffic, "known"));
        let node = executor.create_node("private", ()).unwrap();
        let out = node.create_publisher::<Own>(&own, QoS::default()).unwrap();
        let _known = node.create_publisher::<Int64>(&known, QoS::default()).unwrap();
        let (hear, heard) = channel();
        node.create_subscription(&own, QoS::default(), move |(), own: &Message<Own>, _| {
            hear.send(own.0).unwrap();
        })
        .unwrap();
        node.create_service(&own, QoS::services(), |(), own: &Own, _| own.clone()).unwrap();
        let spinning = Spinning::start(executor);
        out.publish(Own(7)).unwrap();
        let mut peer = Peer::start("outside");
        peer.ask(json!({"do": "wait_for_nodes", "name": "/private"}));
        let seen = peer.ask(json!({"do": "topics"}));
        assert_eq!((&seen[&known][0], &seen[&own]), (&json!(INT64), &Value::Null), "{traffic:?}");
        assert_eq!(heard.recv_timeout(LONG), Ok(7));
        spinning.stop();
    }
}

#[test]
fn keep_last_1_gives_a_slow_subscription_the_newest_and_counts_the_others() {
    for traffic in [Traffic::Direct, Traffic::Loopback] {
        let executor = executor(traffic);
        let topic = unique_to(traffic, "newest");
        let ((begin, begun), (go, wait)) = (channel(), channel());
        let node = executor.create_node("slow", Vec::new()).unwrap();
        let (hear, heard) = channel();
        node.create_subscription(&topic, QoS::keep_last(1), move |all: &mut Vec<i64>, n, _| {
            let n: &Message<Int64> = n;
            if all.is_empty() {
                begin.send(()).unwrap();
                wait.recv().unwrap();
            }
            all.push(n.data);
            hear.send(n.data).unwrap();
        })
        .unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("fast");
        advertise(&mut peer, &topic, INT64, json!({"depth": 1000}));
        peer.ask(json!({"do": "publish", "topic": topic, "value": {"data": -1}}));
        begun.recv_timeout(LONG).expect("the first message comes");
        peer.ask(json!({"do": "publish", "topic": topic, "count": 100, "field": "data"}));
        assert_eq!(peer.ask(json!({"do": "acknowledged", "topic": topic})), true);
        go.send(()).unwrap();
        let next = || heard.recv_timeout(LONG).expect("a message comes");
        assert_eq!([next(), next()], [-1, 99]);
        let mut executor = spinning.stop();
        // It may have been stopped before it looked for the next one.
        executor.stop_handle().reset();
        executor.spin_all(LONG).unwrap();
        assert!(heard.try_recv().is_err());
        let statistics = executor.statistics();
        assert_eq!((statistics.overwritten(), statistics.lost()), (99, 0), "{traffic:?}");
    }
}

/// Each call brings three messages, so the middleware never runs out of them.
#[test]
fn every_message_is_accounted_for_while_a_subscription_is_behind() {
    const DEPTH: u64 = 4;
    for traffic in LIVE {
        let sending = ros2(traffic);
        let sender = Node::new(sending.context(), "", "fast", NodeOptions::default()).unwrap();
        let topic = unique_to(traffic, "flood");
        let (qos, depth) = (QoS::keep_last(100), QoS::keep_last(DEPTH as usize));
        let out = Arc::new(Publisher::<Int64>::new(&sender, &topic, &qos).unwrap());
        let send = move |count| {
            (0..count).for_each(|data| out.publish(&Int64 { data }).unwrap());
            assert!(out.wait_for_acknowledgements(LONG).unwrap());
            out.subscription_count().unwrap()
        };
        let first = send.clone();
        let (hear, heard) = channel();
        let mut executor = executor(traffic);
        executor.freeze().unwrap();
        let monitor = executor.monitor().unwrap();
        let node = executor.create_node("slow", 0).unwrap();
        node.create_subscription(&topic, depth, move |calls: &mut u64, _: &Message<Int64>, _| {
            let announced = 5 + 3 * *calls;
            *calls += 1;
            let overwritten = monitor.statistics().overwritten();
            // The middleware holds the others.
            hear.send((announced, *calls + overwritten + DEPTH - 1)).unwrap();
            if *calls < 100 {
                send(3);
            }
        })
        .unwrap();
        let matched = |_: &Node| Ok(first(0) == 1);
        assert!(sender.wait_for(LONG, matched).unwrap());
        first(5);
        let spinning = Spinning::start(executor);
        for _ in 0..100 {
            let (announced, accounted) = heard.recv_timeout(LONG).expect("a message comes");
            assert_eq!(announced, accounted, "{traffic:?}");
        }
        spinning.stop();
    }
}

/// As in the first program of README.
#[test]
fn primitive_types_go_as_messages_of_std_msgs() {
    for traffic in LIVE {
        let executor = executor(traffic);
        let [numbers, texts] = ["numbers", "texts"].map(|name| unique_to(traffic, name));
        let (tell, told) = channel();
        let node = executor.create_node("talker", ()).unwrap();
        let qos = QoS::default().transient_local();
        let out = node.create_publisher::<u64>(&numbers, qos).unwrap();
        node.create_subscription(&texts, QoS::default(), move |(), text: &Message<String>, _| {
            tell.send(String::clone(text)).unwrap();
        })
        .unwrap();
        let spinning = Spinning::start(executor);
        out.publish(u64::MAX).unwrap();
        let mut peer = Peer::start("plain");
        subscribe(
            &mut peer,
            &numbers,
            "std_msgs/msg/UInt64",
            json!({"durability": "transient_local"}),
        );
        assert_eq!(received(&mut peer, &numbers, 1), [json!({"data": u64::MAX})]);
        advertise(&mut peer, &texts, "std_msgs/msg/String", json!({}));
        peer.ask(json!({"do": "publish", "topic": texts, "value": {"data": "Grüße"}}));
        assert_eq!(told.recv_timeout(LONG).unwrap(), "Grüße");
        spinning.stop();
    }
}

#[test]
fn messages_have_the_times_at_which_the_peer_published_them() {
    let wall = || Time::ZERO + SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for traffic in LIVE {
        let [typed, raw] = ["stamped", "stamped_raw"].map(|name| unique_to(traffic, name));
        let ros2 = ros2(traffic);
        ros2.carry_raw(&raw, "std_msgs/msg/Int64", None).unwrap();
        let mut executor = on(&ros2, Executor::single_core());
        let heard = Heard::<(bool, MessageTimes)>::new();
        let node = executor.create_node("stamped", ()).unwrap();
        let qos = QoS::default().message_times();
        let tell = heard.sender();
        node.create_subscription(&typed, qos, move |(), message: &Message<Int64>, _| {
            tell.send((false, message.times().unwrap())).unwrap();
        })
        .unwrap();
        let tell = heard.sender();
        node.create_subscription(&raw, qos, move |(), message: &Message<RawMessage>, _| {
            tell.send((true, message.times().unwrap())).unwrap();
        })
        .unwrap();
        executor.freeze().unwrap();
        let mut peer = Peer::start("stamping");
        for topic in [&typed, &raw] {
            advertise(&mut peer, topic, "std_msgs/msg/Int64", json!({}));
        }
        let before = wall();
        for topic in [&typed, &raw] {
            peer.ask(json!({"do": "publish", "topic": topic}));
        }
        let after = wall();
        // Messages are taken from here on: a time of the take is too late.
        let spinning = Spinning::start(executor);
        let mut subscriptions = Vec::new();
        for _ in 0..2 {
            let (is_raw, times) = heard.next("a message", |_| true);
            subscriptions.push(is_raw);
            let MessageTimes { source_timestamp: source, received_timestamp: received } = times;
            assert!((before..=after).contains(&source), "{traffic:?}: {source}");
            assert!((source..=wall()).contains(&received), "{traffic:?}: {received}");
        }
        subscriptions.sort_unstable();
        assert_eq!(subscriptions, [false, true], "one message of each, in any order");
        spinning.stop();
    }
}
