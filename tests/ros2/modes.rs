//! ROS 2 in each mode of the executor.

use crate::{Peer, Spinning, advertise, on, received, ros2, subscribe, unique, unique_to};
use ringspin::messages::std_msgs::msg::Int64;
use ringspin::ros2::Traffic;
use ringspin::{CallError, Executor, Mapping, Message, QoS};
use serde_json::json;
use std::sync::mpsc::channel;
use std::thread::ThreadId;
use std::time::Duration;

const INT64: &str = "std_msgs/msg/Int64";

#[test]
fn nodes_on_two_cores_pass_on_what_comes_from_outside() {
    for traffic in crate::LIVE {
        let cores = ringspin::scheduler::allowed_cores();
        let mapping =
            Mapping::new().core(cores[0], ["first"]).core(cores[cores.len() - 1], ["second"]);
        let executor = on(&ros2(traffic), Executor::multi_core(mapping));
        let [there, between, back] =
            ["there", "between", "back"].map(|name| unique_to(traffic, name));
        let (seen, threads) = channel::<ThreadId>();
        for (name, from, to) in [("first", &there, &between), ("second", &between, &back)] {
            let node = executor.create_node(name, ()).unwrap();
            let qos = QoS::keep_last(1000).transient_local();
            let out = node.create_publisher::<Int64>(to, qos).unwrap();
            let seen = seen.clone();
            let qos = if name == "first" { QoS::keep_last(1000) } else { qos };
            node.create_subscription(from, qos, move |(), n: &Message<Int64>, _| {
                seen.send(std::thread::current().id()).unwrap();
                out.publish(Int64 { data: n.data + 1 })
            })
            .unwrap();
        }
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("beside");
        let latched = json!({"durability": "transient_local", "depth": 1000});
        subscribe(&mut peer, &back, INT64, latched);
        advertise(&mut peer, &there, INT64, json!({"depth": 1000}));
        peer.ask(json!({"do": "publish", "topic": there, "count": 500, "field": "data"}));
        let numbers = received(&mut peer, &back, 500);
        let numbers: Vec<_> = numbers.iter().map(|n| n["data"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (2..502).collect::<Vec<_>>());
        spinning.stop();
        let mut threads: Vec<_> = threads.try_iter().map(|id| format!("{id:?}")).collect();
        assert_eq!(threads.len(), 1000);
        threads.sort();
        threads.dedup();
        assert_eq!(threads.len(), if cores.len() > 1 { 2 } else { 1 });
    }
}

#[test]
fn the_deterministic_mode_refuses_what_comes_in() {
    for traffic in crate::LIVE {
        let mut executor = on(&ros2(traffic), Executor::deterministic(Default::default()));
        executor.create_node("isolated", ()).unwrap();
        let error = executor.freeze().unwrap_err().to_string();
        for part in ["ROS 2", "cannot be repeated", "only publish there"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn the_deterministic_mode_publishes_for_a_display() {
    let run = || {
        let ros2 = ros2(Traffic::PublishOnly);
        let mut executor = on(&ros2, Executor::deterministic(Default::default()));
        let topic = unique("display");
        let node = executor.create_node("simulated", 0).unwrap();
        let qos = QoS::keep_last(100).transient_local();
        let out = node.create_publisher::<Int64>(&topic, qos).unwrap();
        node.create_timer(Duration::from_secs(1), move |n, _| {
            *n += 1;
            out.publish(Int64 { data: *n })
        })
        .unwrap();
        let heard = executor.create_node("display", ()).unwrap();
        heard.create_subscription(&topic, qos, |(), _: &Message<Int64>, _| {}).unwrap();
        let client = heard.create_client::<Int64, Int64>("unknown", QoS::services()).unwrap();
        executor.spin_for(Duration::from_secs(50)).unwrap();
        let refused = client.call_and_wait(Int64::default(), Duration::ZERO).unwrap_err();
        assert_eq!(refused, CallError::NoService);
        let mut peer = Peer::start("display_peer");
        let latched = json!({"durability": "transient_local", "depth": 100});
        subscribe(&mut peer, &topic, INT64, latched);
        let numbers = received(&mut peer, &topic, 50);
        let numbers: Vec<_> = numbers.iter().map(|n| n["data"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..51).collect::<Vec<_>>());
        let seen = peer.ask(json!({"do": "endpoints", "topic": topic}));
        let subscriptions = seen["subscriptions"].as_array().unwrap();
        assert!(subscriptions.iter().all(|end| end["node"] == "display_peer"), "{seen}");
        assert_eq!(executor.statistics().of("/display").next().unwrap().dispatched, 50);
        executor.digest().unwrap()
    };
    assert_eq!(run(), run());
}
