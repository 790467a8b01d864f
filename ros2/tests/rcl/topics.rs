//! Messages of every shape, both ways, and the effect of QoS on them.

use crate::{Heard, LONG, Peer, context, node, node_with_profile, unique, wait};
use ringspin_executor::QoS;
use ringspin_messages::{RosMessage, builtin_interfaces, sensor_msgs, std_msgs};
use ringspin_ros2::rcl::fast_dds::Profile;
use ringspin_ros2::rcl::{Locals, Node, NodeOptions, Publisher, Sequences, Subscription};
use ringspin_test_msgs::test_msgs;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn text(data: &str) -> std_msgs::msg::String {
    std_msgs::msg::String { data: data.into() }
}

/// Sends `messages` to the peer, and has it send them back; both must arrive as they went.
fn there_and_back<T>(name: &str, messages: &[T])
where
    T: RosMessage + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let node = node(name);
    let mut peer = Peer::start("shape_peer");
    let (to, from) = (unique(&format!("{name}_to")), unique(&format!("{name}_from")));
    let publisher = Publisher::<T>::new(&node, &to, &QoS::default()).unwrap();
    let subscription = Subscription::<T>::new(&node, &from, &QoS::default(), Locals::Deliver);
    let mut heard = Heard::new(subscription.unwrap());
    peer.ask(json!({"do": "subscribe", "topic": to, "type": T::TYPE_NAME}));
    peer.ask(json!({"do": "publisher", "topic": from, "type": T::TYPE_NAME}));
    peer.ask(json!({"do": "matched", "topic": from}));
    wait(&node, "the peer listens", || publisher.subscription_count().unwrap() == 1);
    for message in messages {
        publisher.publish(message).unwrap();
        let mut got = peer.ask(json!({"do": "received", "topic": to}));
        assert_eq!(&serde_json::from_value::<T>(got[0].take()).unwrap(), message);
        let value = serde_json::to_value(message).unwrap();
        peer.ask(json!({"do": "publish", "topic": from, "value": value}));
        assert_eq!(&heard.next().0, message);
    }
}

#[test]
fn strings_empty_unicode_and_long() {
    let long = "Grüße, 世界! 🤖 ".repeat(4000);
    there_and_back(
        "strings",
        &[text(""), text("plain"), text("tab\tquote\"\\ \u{7f}"), text(&long)],
    );
}

#[test]
fn wide_strings() {
    let message = |value: &str| test_msgs::msg::WStrings {
        wstring_value: value.into(),
        array_of_wstrings: vec!["".into(), value.into(), "x".into()],
        bounded_sequence_of_wstrings: vec![value.into()],
        unbounded_sequence_of_wstrings: vec![value.into(), "".into()],
        ..Default::default()
    };
    there_and_back("wide", &[message(""), message("ハローワールド, Grüße")]);
}

fn basic(n: u8) -> test_msgs::msg::BasicTypes {
    test_msgs::msg::BasicTypes {
        bool_value: n % 2 == 1,
        byte_value: n,
        char_value: n,
        float32_value: f32::from(n) + 0.125,
        float64_value: -f64::from(n) / 3.0,
        int8_value: -(n as i8),
        uint8_value: n,
        int16_value: i16::MIN + i16::from(n),
        uint16_value: u16::MAX - u16::from(n),
        int32_value: i32::MIN,
        uint32_value: u32::MAX,
        int64_value: i64::MIN,
        uint64_value: u64::MAX,
    }
}

fn bounded(n: u8) -> test_msgs::msg::BoundedSequences {
    let many = usize::from(n);
    test_msgs::msg::BoundedSequences {
        bool_values: vec![true; many],
        byte_values: vec![7; many],
        float64_values: vec![0.1; many],
        int64_values: vec![i64::MIN; many],
        string_values: vec!["ä".into(); many],
        basic_types_values: vec![basic(n); many],
        alignment_check: -5,
        ..Default::default()
    }
}

#[test]
fn nested_bounded_and_fixed_sequences() {
    there_and_back("bounded", &[bounded(0), bounded(1), bounded(3)]);
    let unbounded = test_msgs::msg::UnboundedSequences {
        string_values: (0..100).map(|n| "s".repeat(n)).collect(),
        basic_types_values: (0..50).map(basic).collect(),
        ..Default::default()
    };
    let nested = test_msgs::msg::MultiNested {
        array_of_bounded_sequences: vec![bounded(1), bounded(2), bounded(3)],
        bounded_sequence_of_bounded_sequences: vec![bounded(2)],
        unbounded_sequence_of_unbounded_sequences: vec![unbounded],
        ..Default::default()
    };
    there_and_back("nested", &[nested]);
}

#[test]
fn images_and_point_clouds_up_to_four_megabytes() {
    const LEN: usize = 4 << 20;
    let node = node("large");
    let mut peer = Peer::start("large_peer");
    let counted = |first: usize| (0..LEN).map(|n| (n + first) as u8).collect::<Vec<u8>>();
    let (to, from) = (unique("image"), unique("cloud"));
    let publisher = Publisher::<sensor_msgs::msg::Image>::new(&node, &to, &QoS::default()).unwrap();
    let subscription = Subscription::new(&node, &from, &QoS::default(), Locals::Deliver).unwrap();
    let mut heard = Heard::<sensor_msgs::msg::PointCloud2>::new(subscription);
    peer.ask(json!({"do": "subscribe", "topic": to, "type": "sensor_msgs/msg/Image"}));
    peer.ask(json!({"do": "publisher", "topic": from, "type": "sensor_msgs/msg/PointCloud2"}));
    peer.ask(json!({"do": "matched", "topic": from}));
    wait(&node, "the peer listens", || publisher.subscription_count().unwrap() == 1);

    let stamp = builtin_interfaces::msg::Time { sec: -1, nanosec: 999_999_999 };
    let header = std_msgs::msg::Header { stamp, frame_id: "front/camera".into() };
    let image = sensor_msgs::msg::Image {
        header: header.clone(),
        height: 1024,
        width: 1024,
        encoding: "rgba8".into(),
        is_bigendian: 0,
        step: 4096,
        data: counted(5),
    };
    publisher.publish(&image).unwrap();
    let got = peer.ask(json!({"do": "received", "topic": to}));
    assert_eq!(got[0]["data"], json!({"len": LEN, "first": 5}));
    assert_eq!(got[0]["header"], serde_json::to_value(&header).unwrap());
    assert_eq!(got[0]["encoding"], "rgba8");

    let field = sensor_msgs::msg::PointField { name: "x".into(), offset: 4, datatype: 7, count: 1 };
    let value = json!({"header": header, "width": 7, "fields": [field], "is_dense": true,
        "data": {"len": LEN, "first": 9}});
    peer.ask(json!({"do": "publish", "topic": from, "value": value}));
    let (cloud, info) = heard.next();
    assert_eq!((cloud.width, cloud.is_dense, &cloud.header), (7, true, &header));
    assert_eq!(cloud.fields, [field]);
    assert!(cloud.data == counted(9), "the data differs");
    assert!(info.source_timestamp_ns > 0 && info.received_timestamp_ns >= info.source_timestamp_ns);
}

#[test]
fn numbers_of_messages_tell_how_many_were_not_taken() {
    let (sender, receiver) = (node("numbering"), node("counting"));
    let topic = unique("numbered");
    let qos = QoS::keep_last(10);
    let out = Publisher::<std_msgs::msg::String>::new(&sender, &topic, &qos).unwrap();
    let newest = QoS::keep_last(4);
    let mut subscription: Subscription<std_msgs::msg::String> =
        Subscription::new(&receiver, &topic, &newest, Locals::Deliver).unwrap();
    wait(&sender, "a match", || out.subscription_count().unwrap() == 1);
    let mut sequences = Sequences::default();
    let skipped = [0, 1, 2].map(|_| {
        (0..10).for_each(|_| out.publish(&text("numbered")).unwrap());
        assert!(out.wait_for_acknowledgements(LONG).unwrap());
        while let Some((_, info)) = subscription.take().unwrap() {
            sequences.note(&info);
        }
        sequences.skipped()
    });
    assert_eq!(skipped, [Some(0), Some(6), Some(12)]);
}

#[test]
fn a_late_joiner_gets_what_was_latched() {
    let node = node("latch");
    let (ours, theirs) = (unique("our_map"), unique("their_map"));
    let latched = QoS::keep_last(2).transient_local();
    let publisher = Publisher::<std_msgs::msg::String>::new(&node, &ours, &latched).unwrap();
    for name in ["one", "two", "three"] {
        publisher.publish(&text(name)).unwrap();
    }
    let mut peer = Peer::start("latch_peer");
    let (kind, qos) = ("std_msgs/msg/String", json!({"depth": 2, "durability": "transient_local"}));
    peer.ask(json!({"do": "subscribe", "topic": ours, "type": kind, "qos": qos, "only": "data"}));
    let got = peer.ask(json!({"do": "received", "topic": ours, "at_least": 2}));
    assert_eq!(got, json!(["two", "three"]));

    peer.ask(json!({"do": "publisher", "topic": theirs, "type": kind, "qos": qos}));
    peer.ask(json!({"do": "publish", "topic": theirs, "field": "data", "count": 5}));
    let late = Subscription::new(&node, &theirs, &latched, Locals::Deliver).unwrap();
    let mut late = Heard::<std_msgs::msg::String>::new(late);
    assert_eq!([late.next().0, late.next().0], [text("3"), text("4")]);
    // A subscription that does not ask for it does not get it.
    let plain = Subscription::new(&node, &theirs, &QoS::keep_last(2), Locals::Deliver).unwrap();
    let mut plain = Heard::<std_msgs::msg::String>::new(plain);
    peer.ask(json!({"do": "matched", "topic": theirs, "at_least": 2}));
    peer.ask(json!({"do": "publish", "topic": theirs, "value": {"data": "new"}}));
    assert_eq!(plain.next().0, text("new"));
}

#[test]
fn a_publisher_that_was_killed_comes_back() {
    let node = node("survivor");
    let topic = unique("restarts");
    let subscription = Subscription::new(&node, &topic, &QoS::default(), Locals::Deliver).unwrap();
    let mut heard = Heard::<std_msgs::msg::Int32>::new(subscription);
    let mut identities = Vec::new();
    for round in 0..2 {
        let mut peer = Peer::start("restarting_peer");
        peer.ask(json!({"do": "publisher", "topic": topic, "type": "std_msgs/msg/Int32"}));
        peer.ask(json!({"do": "matched", "topic": topic}));
        peer.ask(json!({"do": "publish", "topic": topic, "field": "data", "count": 5}));
        let got: Vec<_> = (0..5).map(|_| heard.next()).collect();
        assert!(got.iter().enumerate().all(|(n, (message, _))| message.data == n as i32));
        identities.push(got[0].1.publisher);
        if round == 0 {
            peer.kill();
        }
    }
    assert_ne!(identities[0], identities[1]);
}

#[test]
fn local_publications_can_be_ignored() {
    let context = context();
    let node = Node::new(&context, "", "self_talker", NodeOptions::default()).unwrap();
    let other = crate::node("other_talker");
    let topic = unique("locals");
    let qos = QoS::keep_last(100);
    let open = Subscription::new(&node, &topic, &qos, Locals::Deliver).unwrap();
    let deaf = Subscription::new(&node, &topic, &qos, Locals::Ignore).unwrap();
    let (mut open, mut deaf) = (Heard::<std_msgs::msg::String>::new(open), Heard::new(deaf));
    let own = Publisher::<std_msgs::msg::String>::new(&node, &topic, &qos).unwrap();
    let foreign = Publisher::<std_msgs::msg::String>::new(&other, &topic, &qos).unwrap();
    for publisher in [&own, &foreign] {
        wait(&node, "matched", || publisher.subscription_count().unwrap() == 2);
    }
    own.publish(&text("own")).unwrap();
    foreign.publish(&text("foreign")).unwrap();
    own.publish(&text("own again")).unwrap();
    foreign.publish(&text("last")).unwrap();
    let data = |(message, _): (std_msgs::msg::String, _)| message.data;
    let mut all: Vec<_> = (0..4).map(|_| data(open.next())).collect();
    all.sort();
    assert_eq!(all, ["foreign", "last", "own", "own again"]);
    assert_eq!([data(deaf.next()), data(deaf.next())], ["foreign", "last"]);
    assert_eq!(deaf.subscription.take().unwrap().map(data), None);
}

/// The message that a subscription of depth one that ignores locals takes, after one from elsewhere
/// and then a local one; and how many subscriptions the local publisher has.
fn foreign_then_own(ignore_local_endpoints: bool) -> (Option<i32>, usize) {
    use std_msgs::msg::Int32;
    let profile = Profile { ignore_local_endpoints, ..Profile::default() };
    let (own_node, foreign_node) = (node_with_profile("own", profile), node("foreign"));
    let topic = unique(&format!("pushed_{ignore_local_endpoints}"));
    let qos = QoS::keep_last(1);
    let own = Publisher::<Int32>::new(&own_node, &topic, &qos).unwrap();
    let foreign = Publisher::<Int32>::new(&foreign_node, &topic, &qos).unwrap();
    let mut deaf = Subscription::<Int32>::new(&own_node, &topic, &qos, Locals::Ignore).unwrap();
    wait(&own_node, "matched", || foreign.subscription_count().unwrap() == 1);
    let count = own.subscription_count().unwrap();
    for (publisher, data) in [(&foreign, 1), (&own, 2)] {
        publisher.publish(&Int32 { data }).unwrap();
        assert!(publisher.wait_for_acknowledgements(crate::LONG).unwrap());
    }
    (deaf.take().unwrap().map(|(message, _)| message.data), count)
}

#[test]
fn ignored_local_message_takes_room_unless_fast_dds_ignores_local_endpoints() {
    assert_eq!(foreign_then_own(true), (Some(1), 0));
    assert_eq!(foreign_then_own(false), (None, 1), "Fast DDS has mended it: see fast_dds.rs");
}

#[test]
fn many_threads_share_a_publisher() {
    const EACH: usize = 250;
    let node = node("crowd");
    let topic = unique("crowd");
    let qos = QoS::keep_last(4 * EACH);
    let publisher = Publisher::<std_msgs::msg::String>::new(&node, &topic, &qos).unwrap();
    let subscription = Subscription::new(&node, &topic, &qos, Locals::Deliver).unwrap();
    let mut heard = Heard::<std_msgs::msg::String>::new(subscription);
    wait(&node, "matched", || publisher.subscription_count().unwrap() == 1);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let publisher = &publisher;
            scope.spawn(move || {
                for n in 0..EACH {
                    publisher.publish(&text(&format!("{thread} {n}"))).unwrap();
                }
            });
        }
    });
    let mut next = [0; 4];
    for _ in 0..4 * EACH {
        let (message, _) = heard.next();
        let (thread, n) = message.data.split_once(' ').unwrap();
        let thread: usize = thread.parse().unwrap();
        assert_eq!(n, next[thread].to_string(), "of thread {thread}");
        next[thread] += 1;
    }
    assert_eq!(next, [EACH; 4]);
}

#[test]
fn a_subscription_can_be_dropped_while_its_callback_runs() {
    let node = node("hasty");
    let topic = unique("hasty");
    let publisher = Publisher::<std_msgs::msg::Int32>::new(&node, &topic, &QoS::default()).unwrap();
    let done = AtomicUsize::new(0);
    let calls = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 {
                publisher.publish(&std_msgs::msg::Int32 { data: 1 }).unwrap();
            }
        });
        for _ in 0..30 {
            let subscription = Subscription::<std_msgs::msg::Int32>::new(
                &node,
                &topic,
                &QoS::default(),
                Locals::Deliver,
            );
            let subscription = subscription.unwrap();
            let (before, counter) = (calls.load(Ordering::Relaxed), calls.clone());
            let alive = Arc::new(());
            let held = Arc::downgrade(&alive);
            let count = move |_| {
                // The closure's captures must be there for as long as it may run.
                assert_eq!(Arc::strong_count(&alive), 1);
                counter.fetch_add(1, Ordering::Relaxed);
            };
            subscription.on_new_message(count).unwrap();
            wait(&node, "a call", || calls.load(Ordering::Relaxed) > before);
            drop(subscription);
            assert!(held.upgrade().is_none(), "the closure is freed");
        }
        done.store(1, Ordering::Relaxed);
    });
}
