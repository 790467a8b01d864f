//! The events of quality of service.

use crate::{LONG, Peer, node, unique, wait};
use ringspin_executor::QoS;
use ringspin_messages::std_msgs::msg::Int32;
use ringspin_ros2::rcl::{
    Event, Locals, Node, Publisher, PublisherEvent, QosEvent, Subscription, SubscriptionEvent,
};
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
fn rung(bell: &Receiver<usize>, event: &Event, fits: impl Fn(&QosEvent) -> bool) -> QosEvent {
    loop {
        assert!(bell.recv_timeout(LONG).is_ok(), "an event comes");
        match event.take().unwrap() {
            Some(what) if fits(&what) => return what,
            _ => {}
        }
    }
}

/// The event, as soon as it `fits`.
fn happened(event: &Event, fits: impl Fn(&QosEvent) -> bool) -> QosEvent {
    let bell = bell(event);
    match event.take().unwrap() {
        Some(what) if fits(&what) => what,
        _ => rung(&bell, event, fits),
    }
}

#[test]
fn both_sides_hear_of_a_mismatch() {
    let node = node("mismatch");
    let mut peer = Peer::start("mismatch_peer");
    let kind = "std_msgs/msg/Int32";
    let (ours, theirs) = (unique("we_offer_less"), unique("they_offer_less"));

    let best_effort = publisher(&node, &ours, &QoS::sensor_data());
    let event = best_effort.event(PublisherEvent::IncompatibleQos).unwrap();
    peer.ask(json!({"do": "subscribe", "topic": ours, "type": kind, "events": true}));
    let heard = peer.ask(json!({"do": "event", "topic": ours, "name": "incompatible_qos"}));
    assert_eq!(heard["total_count"], 1, "{heard}");
    let what = happened(&event, |what| !matches!(what, QosEvent::IncompatibleQos { total: 0, .. }));
    assert_eq!(what, QosEvent::IncompatibleQos { total: 1, change: 1, policy: "reliability" });

    let latched = subscription(&node, &theirs, &QoS::default().transient_local());
    let event = latched.event(SubscriptionEvent::IncompatibleQos).unwrap();
    peer.ask(json!({"do": "publisher", "topic": theirs, "type": kind, "events": true}));
    let heard = peer.ask(json!({"do": "event", "topic": theirs, "name": "incompatible_qos"}));
    assert_eq!(heard["total_count"], 1, "{heard}");
    let what = happened(&event, |what| !matches!(what, QosEvent::IncompatibleQos { total: 0, .. }));
    assert_eq!(what, QosEvent::IncompatibleQos { total: 1, change: 1, policy: "durability" });
}

#[test]
fn matching_is_told_when_a_peer_comes_and_goes() {
    let node = node("matching");
    let topic = unique("matching");
    let talker = publisher(&node, &topic, &QoS::default());
    let of_talker = talker.event(PublisherEvent::Matched).unwrap();
    let listener = subscription(&node, &topic, &QoS::default());
    let of_listener = listener.event(SubscriptionEvent::Matched).unwrap();
    let has =
        |what: &QosEvent, n| matches!(*what, QosEvent::Matched { current, .. } if current == n);
    let came = QosEvent::Matched { total: 1, change: 1, current: 1, current_change: 1 };
    assert_eq!(happened(&of_talker, |what| has(what, 1)), came);
    assert_eq!(happened(&of_listener, |what| has(what, 1)), came);
    drop((listener, of_listener));
    let went = QosEvent::Matched { total: 1, change: 0, current: 0, current_change: -1 };
    assert_eq!(happened(&of_talker, |what| has(what, 0)), went);
}

#[test]
fn missed_deadlines_are_told_on_both_sides() {
    let node = node("late");
    let topic = unique("late");
    let qos = QoS::default().deadline(Duration::from_millis(50));
    let (talker, listener) = (publisher(&node, &topic, &qos), subscription(&node, &topic, &qos));
    wait(&node, "matched", || talker.subscription_count().unwrap() == 1);
    talker.publish(&Int32 { data: 1 }).unwrap();
    let missed = |what: &QosEvent| matches!(what, QosEvent::DeadlineMissed { total: 2.., .. });
    happened(&talker.event(PublisherEvent::DeadlineMissed).unwrap(), missed);
    happened(&listener.event(SubscriptionEvent::DeadlineMissed).unwrap(), missed);
}

/// The callbacks are set, and events taken, when nothing happens at the same time: rmw_fastrtps can
/// lock up in that (its pull request 890), and did here.
#[test]
fn lost_liveliness_is_reported_on_both_sides() {
    let node = node("faint");
    let topic = unique("faint");
    let qos = QoS::default().liveliness_manual_by_topic(Duration::from_millis(200));
    let listener = subscription(&node, &topic, &qos);
    let changed = listener.event(SubscriptionEvent::LivelinessChanged).unwrap();
    let of_listener = bell(&changed);
    let talker = publisher(&node, &topic, &qos);
    let lost = talker.event(PublisherEvent::LivelinessLost).unwrap();
    let of_talker = bell(&lost);
    wait(&node, "matched", || talker.subscription_count().unwrap() == 1);
    talker.assert_liveliness().unwrap();
    rung(&of_talker, &lost, |what| matches!(what, QosEvent::LivelinessLost { total: 1.., .. }));
    rung(&of_listener, &changed, |what| {
        matches!(what, QosEvent::LivelinessChanged { alive: 0, not_alive: 1, .. })
    });
}

#[test]
fn an_event_outlives_the_handle_that_it_came_from() {
    let node = node("orphan");
    let talker = publisher(&node, &unique("orphan"), &QoS::default());
    let event = talker.event(PublisherEvent::Matched).unwrap();
    drop((talker, node));
    assert!(matches!(event.take().unwrap(), None | Some(QosEvent::Matched { total: 0, .. })));
}
