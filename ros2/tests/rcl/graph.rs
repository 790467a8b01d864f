//! Nodes, topics and services of the graph.

use crate::{Peer, context, node, options, unique, wait};
use ringspin_executor::{Durability, QoS, Reliability};
use ringspin_messages::std_msgs::msg::Int32;
use ringspin_ros2::rcl::{
    Client, Context, Locals, Node, NodeOptions, Publisher, Service, Subscription,
};
use serde_json::json;
use std::time::Duration;

#[test]
fn nodes_topics_and_endpoints_are_seen_both_ways() {
    let node = node("observer");
    let mut peer = Peer::start("observed");
    let (ours, theirs) = (unique("seen_ours"), unique("seen_theirs"));
    let kind = "std_msgs/msg/Int32";
    let lease = Duration::from_millis(2500);
    let qos = QoS::keep_last(3).transient_local().deadline(Duration::from_millis(1500));
    let qos = qos.lifespan(Duration::from_secs(7)).liveliness_manual_by_topic(lease);
    let publisher = Publisher::<Int32>::new(&node, &ours, &qos).unwrap();
    assert_eq!(publisher.qos(), qos);
    assert_eq!(publisher.topic(), ours);
    let given = json!({"depth": 5, "reliability": "best_effort"});
    peer.ask(json!({"do": "subscribe", "topic": theirs, "type": kind, "qos": given}));
    // An endpoint is found before its node is.
    let their_node = || {
        let seen = node.subscriptions(&theirs).unwrap();
        seen.first().map(|end| (end.node.namespace.clone(), end.node.name.clone()))
    };
    wait(&node, "seen", || their_node() == Some(("/".into(), "observed".into())));
    peer.ask(json!({"do": "wait_for_nodes", "name": "/observer"}));

    let seen = node.subscriptions(&theirs).unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].type_name, kind);
    assert_eq!(seen[0].qos.reliability(), Reliability::BestEffort);
    assert_eq!(seen[0].qos.durability(), Durability::Volatile);
    assert!(node.nodes().unwrap().iter().any(|seen| seen.name == "observed"));
    assert!(node.topics().unwrap().contains(&(theirs, vec![kind.into()])));

    peer.ask(json!({"do": "matched", "topic": ours}));
    let seen = peer.ask(json!({"do": "endpoints_of", "topic": ours, "node": "observer"}));
    let seen = &seen["publishers"][0];
    assert_eq!((&seen["node"], &seen["type"]), (&json!("observer"), &json!(kind)));
    assert_eq!(seen["reliability"], "reliable");
    assert_eq!(seen["durability"], "transient_local");
    assert_eq!(seen["deadline"], 1_500_000_000_u64);
    assert_eq!(seen["lifespan"], 7_000_000_000_u64);
    assert_eq!(
        (&seen["liveliness"], &seen["lease"]),
        (&json!("manual_by_topic"), &json!(2_500_000_000_u64))
    );
    drop((publisher, node));
    peer.ask(json!({"do": "wait_for_nodes", "name": "/observer", "count": 0}));
}

#[test]
fn services_are_listed() {
    use ringspin_messages::std_srvs::srv::Empty;
    let node = node("lister");
    let name = unique("listed");
    let _service = Service::<Empty::Service>::new(&node, &name, &QoS::services()).unwrap();
    let client = Client::<Empty::Service>::new(&node, &name, &QoS::services()).unwrap();
    wait(&node, "there", || client.is_available().unwrap());
    assert!(node.services().unwrap().contains(&(name, vec!["std_srvs/srv/Empty".into()])));
}

#[test]
fn names_are_relative_to_the_node_and_remapped_on_request() {
    let arguments = ["prog", "--ros-args", "-r", "scan:=/lidar", "-r", "__ns:=/robot"];
    let arguments = arguments.map(String::from);
    let context = Context::with_options(&arguments, &options(true)).unwrap();
    let topic = |use_global_arguments, name: &str| {
        let options = NodeOptions { use_global_arguments, rosout: false };
        let node = Node::new(&context, "/a", "n", options).unwrap();
        let publisher = Publisher::<Int32>::new(&node, name, &QoS::default()).unwrap();
        (node.fully_qualified_name().to_owned(), publisher.topic().to_owned())
    };
    assert_eq!(topic(true, "scan"), ("/robot/n".into(), "/lidar".into()));
    assert_eq!(topic(false, "scan"), ("/a/n".into(), "/a/scan".into()));
    assert_eq!(topic(false, "~/x"), ("/a/n".into(), "/a/n/x".into()));
}

#[test]
fn two_nodes_may_have_one_name() {
    let context = context();
    let make = || Node::new(&context, "/twin", "same", NodeOptions::default()).unwrap();
    let (first, second) = (make(), make());
    let topic = unique("same");
    let publisher = Publisher::<Int32>::new(&first, &topic, &QoS::default()).unwrap();
    let mut subscription =
        Subscription::<Int32>::new(&second, &topic, &QoS::default(), Locals::Deliver).unwrap();
    wait(&second, "matched", || publisher.subscription_count().unwrap() == 1);
    let twins = first.nodes().unwrap();
    assert_eq!(twins.iter().filter(|node| node.namespace == "/twin").count(), 2);
    drop(first); // Its publisher keeps it.
    publisher.publish(&Int32 { data: 4 }).unwrap();
    assert!(publisher.wait_for_acknowledgements(crate::LONG).unwrap());
    assert_eq!(subscription.take().unwrap().unwrap().0.data, 4);
}
