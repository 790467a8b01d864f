//! The events of quality of service.

use crate::{LONG, Peer, node, unique, wait};
use ringspin_executor::{QoS, QosPolicy, RemoteEventKind, RemoteStatus};
use ringspin_messages::std_msgs::msg::Int32;
use ringspin_ros2::rcl::{Event, Locals, Node, Publisher, Subscription};
use serde_json::json;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

fn publisher(node: &Node, topic: &str, qos: &QoS) -> Publisher<Int32> {
    Publisher::new(node, topic, qos).unwrap()
}

fn subscription(node: &Node, topic: &str, qos: &QoS) -> Subscription<Int32> {
    Subscription::new(node, topic, qos, Locals::Deliver).unwrap()
}

/// Receives a count whenever the event happens, and once if it has happened already.
fn bell(event: &Event) -> Receiver<usize> {
    let (ring, bell) = channel();
    event.on_event(move |count| ring.send(count).unwrap_or_default()).unwrap();
    bell
}

/// The next event that `fits`.
fn rung(
    bell: &Receiver<usize>,
    event: &Event,
    fits: impl Fn(&RemoteStatus) -> bool,
) -> RemoteStatus {
    loop {
        assert!(bell.recv_timeout(LONG).is_ok(), "an event comes");
        match event.take().unwrap() {
            Some(what) if fits(&what) => return what,
            _ => {}
        }
    }
}

/// The event, as soon as it `fits`.
fn happened(event: &Event, fits: impl Fn(&RemoteStatus) -> bool) -> RemoteStatus {
    let bell = bell(event);
    match event.take().unwrap() {
        Some(what) if fits(&what) => what,
        _ => rung(&bell, event, fits),
    }
}

fn incompatible(policy: QosPolicy) -> RemoteStatus {
    RemoteStatus::IncompatibleQos { total: 1, last_policy: Some(policy), last_peer: None }
}

#[test]
fn both_sides_hear_of_a_mismatch() {
    let node = node("mismatch");
    let mut peer = Peer::start("mismatch_peer");
    let kind = "std_msgs/msg/Int32";
    let (ours, theirs) = (unique("we_offer_less"), unique("they_offer_less"));

    let best_effort = publisher(&node, &ours, &QoS::sensor_data());
    let event = best_effort.event(RemoteEventKind::IncompatibleQos).unwrap().unwrap();
    peer.ask(json!({"do": "subscribe", "topic": ours, "type": kind, "events": true}));
    let heard = peer.ask(json!({"do": "event", "topic": ours, "name": "incompatible_qos"}));
    assert_eq!(heard["total_count"], 1, "{heard}");
    let what =
        happened(&event, |what| !matches!(what, RemoteStatus::IncompatibleQos { total: 0, .. }));
    assert_eq!(what, incompatible(QosPolicy::Reliability));

    let latched = subscription(&node, &theirs, &QoS::default().transient_local());
    let event = latched.event(RemoteEventKind::IncompatibleQos).unwrap();
    peer.ask(json!({"do": "publisher", "topic": theirs, "type": kind, "events": true}));
    let heard = peer.ask(json!({"do": "event", "topic": theirs, "name": "incompatible_qos"}));
    assert_eq!(heard["total_count"], 1, "{heard}");
    let what =
        happened(&event, |what| !matches!(what, RemoteStatus::IncompatibleQos { total: 0, .. }));
    assert_eq!(what, incompatible(QosPolicy::Durability));
}

#[test]
fn matching_is_told_when_a_peer_comes_and_goes() {
    let node = node("matching");
    let topic = unique("matching");
    let talker = publisher(&node, &topic, &QoS::default());
    let of_talker = talker.event(RemoteEventKind::Matched).unwrap().unwrap();
    let listener = subscription(&node, &topic, &QoS::default());
    let of_listener = listener.event(RemoteEventKind::Matched).unwrap();
    let has = |what: &RemoteStatus, n: u64| match what {
        RemoteStatus::Matched { current, .. } => *current == n,
        _ => false,
    };
    let came = RemoteStatus::Matched { total: 1, current: 1 };
    assert_eq!(happened(&of_talker, |what| has(what, 1)), came);
    assert_eq!(happened(&of_listener, |what| has(what, 1)), came);
    drop((listener, of_listener));
    let went = RemoteStatus::Matched { total: 1, current: 0 };
    assert_eq!(happened(&of_talker, |what| has(what, 0)), went);
}

/// The callbacks are set, and events taken, when nothing happens at the same time: rmw_fastrtps can
/// lock up in that (its pull request 890), and did here.
#[test]
fn lost_liveliness_is_reported() {
    let node = node("faint");
    let topic = unique("faint");
    let qos = QoS::default().liveliness_manual_by_topic(Duration::from_millis(200));
    let listener = subscription(&node, &topic, &qos);
    let changed = listener.event(RemoteEventKind::LivelinessChanged).unwrap();
    let of_listener = bell(&changed);
    let talker = publisher(&node, &topic, &qos);
    wait(&node, "matched", || talker.subscription_count().unwrap() == 1);
    talker.assert_liveliness().unwrap();
    rung(&of_listener, &changed, |what| {
        matches!(what, RemoteStatus::Liveliness { alive: 0, not_alive: 1, .. })
    });
}

#[test]
fn an_event_outlives_the_handle_that_it_came_from() {
    let node = node("orphan");
    let talker = publisher(&node, &unique("orphan"), &QoS::default());
    let event = talker.event(RemoteEventKind::Matched).unwrap().unwrap();
    drop((talker, node));
    assert!(matches!(event.take().unwrap(), None | Some(RemoteStatus::Matched { total: 0, .. })));
}
