//! The graph as the connection sees it, and waiting for a peer.

use crate::{Heard, LONG, Peer, builder, unique};
use ringspin::ros2::Traffic;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_peer_is_waited_for_and_seen_with_what_it_has() {
    let ros2 = builder(Traffic::Direct).connect().unwrap();
    let (ins, outs, service) = (unique("query_in"), unique("query_out"), unique("query_service"));
    assert!(!ros2.wait_for_service(&service, Duration::from_millis(20)).unwrap());
    assert!(!ros2.wait_for_publishers(&outs, Duration::ZERO).unwrap());
    let heard: Heard<Peer> = Heard::new();
    let (tell, topics) = (heard.sender(), (ins.clone(), outs.clone(), service.clone()));
    std::thread::spawn(move || {
        let mut peer = Peer::start("queried");
        let (ins, outs, service) = topics;
        let kind = "std_msgs/msg/Int32";
        peer.ask(json!({"do": "subscribe", "topic": ins, "type": kind}));
        peer.ask(json!({"do": "publisher", "topic": outs, "type": kind,
            "qos": {"reliability": "best_effort"}}));
        peer.ask(json!({"do": "service", "name": service, "type": "std_srvs/srv/SetBool"}));
        tell.send(peer).unwrap_or_default();
    });
    assert!(ros2.wait_for_subscribers(&ins, LONG).unwrap());
    assert!(ros2.wait_for_publishers(&outs, LONG).unwrap());
    assert!(ros2.wait_for_service(&service, LONG).unwrap());
    let _peer = heard.next("the peer is ready", |_| true);
    assert!(!ros2.wait_for_node("/unknown", Duration::ZERO).unwrap());
    assert!(ros2.wait_for_node("/queried", LONG).unwrap());
    let names = ros2.node_names().unwrap();
    assert!(names.iter().any(|node| node.name == "queried" && node.namespace == "/"), "{names:?}");
    assert!(names.iter().all(|node| !node.name.starts_with('_')));
    let of =
        |(name, types): &(String, Vec<String>), kind: &str| types[..] == [kind] && *name == outs;
    let topics = ros2.topic_names_and_types().unwrap();
    assert!(topics.iter().any(|topic| of(topic, "std_msgs/msg/Int32")), "{topics:?}");
    let services = ros2.service_names_and_types().unwrap();
    assert!(services.contains(&(service, vec!["std_srvs/srv/SetBool".into()])));
    // The node of an end is known a moment after the end.
    let start = Instant::now();
    let publishers = loop {
        let publishers = ros2.publishers(&outs).unwrap();
        if publishers[0].node.name == "queried" || start.elapsed() > LONG {
            break publishers;
        }
    };
    assert_eq!((publishers.len(), &*publishers[0].node.name), (1, "queried"));
    assert_eq!(publishers[0].qos.reliability(), ringspin::qos::Reliability::BestEffort);
    assert_eq!(ros2.subscriptions(&ins).unwrap().len(), 1);
    assert!(ros2.publishers("no\0name").is_err());
}
