//! Events of quality of service, on both sides.

use crate::{Heard, LIVE, LONG, Peer, Spinning, executor, unique};
use ringspin::messages::sensor_msgs::msg::Image;
use ringspin::messages::std_msgs::msg::Int32;
use ringspin::qos::{
    IncompatibleQos, LivelinessChanged, Matched, MessageLost, PublisherEvents, QosPolicy,
    SubscriptionEvents,
};
use ringspin::ros2::Traffic;
use ringspin::{Message, QoS, StopHandle};
use serde_json::json;
use std::fmt::Debug;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{self, SubscriberExt};

/// The count of one misfit: Fast DDS counts twice if it discovers the peer while it creates the
/// endpoint.
const MISFITS: std::ops::RangeInclusive<u64> = 1..=2;

#[test]
fn both_sides_hear_of_a_mismatch_with_its_policy_and_peer() {
    for traffic in LIVE {
        let mut peer = Peer::start("other");
        let (ours, theirs) = (unique("misfit_in"), unique("misfit_out"));
        let best_effort = json!({"reliability": "best_effort"});
        peer.ask(json!({"do": "publisher", "topic": ours, "type": "std_msgs/msg/Int32",
            "qos": best_effort, "events": true}));
        peer.ask(json!({"do": "subscribe", "topic": theirs, "type": "std_msgs/msg/Int32",
            "qos": {"durability": "transient_local"}, "events": true}));
        let executor = executor(traffic);
        let (ins, outs) = (Heard::<IncompatibleQos>::new(), Heard::<IncompatibleQos>::new());
        let node = executor.create_node("ours", ()).unwrap();
        let tell = ins.sender();
        let events = SubscriptionEvents::new()
            .on_incompatible_qos(move |(), event, _| tell.send(event).unwrap_or_default());
        node.create_subscription_with_events(
            &ours,
            QoS::default(),
            events,
            |(), _: &Message<Int32>, _| {},
        )
        .unwrap();
        let tell = outs.sender();
        let events = PublisherEvents::new()
            .on_incompatible_qos(move |(), event, _| tell.send(event).unwrap_or_default());
        let _out =
            node.create_publisher_with_events::<Int32>(&theirs, QoS::default(), events).unwrap();
        let spinning = Spinning::start(executor);
        for (heard, policy) in [(&ins, QosPolicy::Reliability), (&outs, QosPolicy::Durability)] {
            let event = heard.next("a misfit", |event| event.last_policy == Some(policy));
            assert_eq!(event.total_count, event.total_count_change);
            assert!(MISFITS.contains(&event.total_count), "{event:?}");
            let misfit = event.last_peer.unwrap();
            assert_eq!(misfit.incompatibility.policy, policy);
            // An end may be found before its node is.
            assert!(misfit.node.is_none_or(|node| node == "/other"));
        }
        for topic in [&ours, &theirs] {
            let event =
                peer.ask(json!({"do": "event", "topic": topic, "name": "incompatible_qos"}));
            assert!(MISFITS.contains(&event["total_count"].as_u64().unwrap()), "{event}");
        }
        spinning.stop();
    }
}

/// Where no callback asks for the event, the log has it, with both ends and the policy.
#[test]
fn mismatch_without_a_callback_is_warned_of() {
    let (topic, said) = (unique("misfit"), Heard::<String>::new());
    let mut executor = executor(Traffic::Direct);
    let node = executor.create_node("ours", ()).unwrap();
    node.create_subscription(&topic, QoS::default(), |(), _: &Message<Int32>, _| {}).unwrap();
    let mut peer = Peer::start("other");
    peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/Int32",
        "qos": {"reliability": "best_effort"}}));
    let (tell, stop) = (said.sender(), executor.stop_handle());
    let log = tracing_subscriber::registry().with(Warnings(Mutex::new(tell), stop));
    tracing::subscriber::with_default(log, || executor.spin_for(LONG).unwrap());
    let warning = said.next("a warning", |text| text.contains(&topic));
    // An end may be found before its node is.
    assert!(warning.contains("/other") || warning.contains("not known yet"), "{warning}");
    assert!(warning.contains("/ours") && warning.contains("reliability"), "{warning}");
}

/// Tells each warning, and ends the run.
struct Warnings(Mutex<Sender<String>>, StopHandle);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: layer::Context<'_, S>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        if *event.metadata().level() == Level::WARN {
            let mut text = Text(String::new());
            event.record(&mut text);
            self.0.lock().unwrap().send(text.0).unwrap();
            self.1.stop();
        }
    }
}

/// Best effort over a network that cannot keep up: the peer publishes bursts until one of its
/// messages is missing in the middle.
#[test]
fn lost_messages_are_counted_and_told() {
    for traffic in LIVE {
        let (topic, heard) = (unique("lossy"), Heard::<MessageLost>::new());
        let executor = executor(traffic);
        let node = executor.create_node("ours", ()).unwrap();
        let tell = heard.sender();
        let events = SubscriptionEvents::new()
            .on_message_lost(move |(), event, _| tell.send(event).unwrap_or_default());
        let qos = QoS::keep_last(1).best_effort();
        node.create_subscription_with_events(&topic, qos, events, |(), _: &Message<Image>, _| {})
            .unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("floods");
        peer.ask(json!({"do": "publisher", "topic": topic, "type": "sensor_msgs/msg/Image",
            "qos": {"reliability": "best_effort", "depth": 1}}));
        peer.ask(json!({"do": "matched", "topic": topic}));
        let burst = json!({"do": "publish", "topic": topic, "count": 50,
            "value": {"data": {"len": 4_000_000, "first": 0}}});
        let lost = (0..100).find_map(|_| {
            peer.ask(burst.clone());
            heard.already()
        });
        let lost = lost.expect("5000 messages of 4 MB do not all fit");
        assert_eq!(lost.total_count, lost.total_count_change, "{traffic:?}: the first news");
        assert!(lost.total_count > 0);
        spinning.stop();
    }
}

#[test]
fn peers_that_come_and_go_are_told_beside_those_of_the_process() {
    for traffic in LIVE {
        let (topic, heard) = (unique("matched"), Heard::<Matched>::new());
        let executor = executor(traffic);
        let node = executor.create_node("ours", ()).unwrap();
        let tell = heard.sender();
        let events =
            PublisherEvents::new().on_matched(move |(), event, _| tell.send(event).unwrap());
        let _out =
            node.create_publisher_with_events::<Int32>(&topic, QoS::default(), events).unwrap();
        node.create_subscription(&topic, QoS::default(), |(), _: &Message<Int32>, _| {}).unwrap();
        let spinning = Spinning::start(executor);
        let inside = heard.next("that of the process", |event| event.current_count == 1);
        assert_eq!(inside.current_count_change, 1, "{traffic:?}");
        let mut peer = Peer::start("comes");
        peer.ask(json!({"do": "subscribe", "topic": topic, "type": "std_msgs/msg/Int32"}));
        let came = heard.next("one more", |event| event.current_count == 2);
        assert_eq!((came.total_count, came.total_count_change), (2, 1));
        peer.ask(json!({"do": "unsubscribe", "topic": topic}));
        let left = heard.next("one less", |event| event.current_count == 1);
        assert_eq!((left.total_count, left.current_count_change), (2, -1));
        spinning.stop();
    }
}

#[test]
fn liveliness_of_a_remote_publisher_is_reported() {
    for traffic in LIVE {
        let (topic, heard) = (unique("alive"), Heard::<LivelinessChanged>::new());
        let executor = executor(traffic);
        let node = executor.create_node("ours", ()).unwrap();
        let tell = heard.sender();
        let events = SubscriptionEvents::new()
            .on_liveliness_changed(move |(), event, _| tell.send(event).unwrap());
        let qos = QoS::default().liveliness_manual_by_topic(Duration::from_millis(300));
        node.create_subscription_with_events(&topic, qos, events, |(), _: &Message<Int32>, _| {})
            .unwrap();
        let spinning = Spinning::start(executor);
        let mut peer = Peer::start("lives");
        peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/Int32", "qos":
            {"liveliness": "manual_by_topic", "liveliness_lease_duration": 0.3}}));
        peer.ask(json!({"do": "matched", "topic": topic}));
        // Again and again: an assertion is lost on a subscription that has not matched yet, and a
        // life that ends before it is looked at is told as its death only.
        let alive = (0..10_000).find_map(|_| {
            peer.ask(json!({"do": "assert_liveliness", "topic": topic}));
            heard.already().filter(|event| event.alive_count == 1)
        });
        alive.unwrap_or_else(|| panic!("{traffic:?}: life"));
        heard.next("death", |event| event.alive_count == 0 && event.not_alive_count == 1);
        spinning.stop();
    }
}

#[test]
fn deadlines_count_what_comes_from_outside_and_are_told_on_both_sides() {
    for traffic in LIVE {
        let (topic, missed) = (unique("deadline"), Arc::<Mutex<u64>>::default());
        let executor = executor(traffic);
        let heard: Heard<u64> = Heard::new();
        let node = executor.create_node("ours", ()).unwrap();
        let (tell, count) = (heard.sender(), missed.clone());
        let events = SubscriptionEvents::new().on_deadline_missed(move |(), event, _| {
            *count.lock().unwrap() += event.total_count_change;
            assert_eq!(*count.lock().unwrap(), event.total_count, "none is told twice");
            tell.send(event.total_count).unwrap();
        });
        let qos = QoS::default().deadline(Duration::from_millis(200));
        node.create_subscription_with_events(&topic, qos, events, |(), _: &Message<Int32>, _| {})
            .unwrap();
        let spinning = Spinning::start(executor);
        heard.next("a miss before anybody is there", |_| true);
        let mut peer = Peer::start("late");
        peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/Int32",
            "qos": {"deadline": 0.1}, "events": true}));
        peer.ask(json!({"do": "matched", "topic": topic}));
        peer.ask(json!({"do": "publish", "topic": topic}));
        let event = peer.ask(json!({"do": "event", "topic": topic, "name": "deadline_missed"}));
        assert!(event["total_count"].as_u64().unwrap() >= 1, "{event}");
        let before = *missed.lock().unwrap();
        heard.next("silence after the message", |total| *total > before);
        spinning.stop();
    }
}
