//! Errors name the operation, the entity and the way out.

use crate::{Heard, LONG, context, domain, node, options, unique, wait};
use ringspin_executor::{Error, QoS};
use ringspin_messages::{CdrType, std_msgs, std_srvs};
use ringspin_ros2::rcl::{
    Client, Context, ContextOptions, Locals, Node, NodeOptions, Publisher, Service, Subscription,
};
use ringspin_test_msgs::test_msgs;

/// The text of an error, with all of `parts` in it.
fn says<T>(result: Result<T, Error>, parts: &[&str]) {
    let error = result.err().expect("an error");
    let text = error.to_string();
    assert!(format!("{error:?}").starts_with(&text));
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn bad_names_are_refused() {
    let context = context();
    let new = |space: &str, name: &str| Node::new(&context, space, name, NodeOptions::default());
    says(new("", "two words"), &["two words", "RCL_RET_NODE_INVALID_NAME", "valid ROS 2 name"]);
    says(new("/a//b", "n"), &["/a//b", "RCL_RET_NODE_INVALID_NAMESPACE"]);
    says(new("", "a\0b"), &["NUL", "leave it out"]);
    let node = new("", "named").unwrap();
    let qos = QoS::default();
    let publisher = Publisher::<std_msgs::msg::Int32>::new(&node, "a b", &qos);
    says(publisher.map(drop), &["publisher", "a b", "std_msgs/msg/Int32", "/named"]);
    let subscription =
        Subscription::<std_msgs::msg::Int32>::new(&node, "1x", &qos, Locals::Deliver);
    says(subscription.map(drop), &["subscription", "1x", "RCL_RET_TOPIC_NAME_INVALID"]);
    let service = Service::<std_srvs::srv::Empty::Service>::new(&node, "x/", &qos);
    says(service.map(drop), &["service", "std_srvs/srv/Empty", "RCL_RET_SERVICE_NAME_INVALID"]);
    let client = Client::<std_srvs::srv::Empty::Service>::new(&node, "{no}", &qos);
    says(client.map(drop), &["client", "{no}"]);
    says(node.count_publishers("a b").map(drop), &["/named"]);
}

#[test]
fn bad_ros_arguments_are_refused() {
    let arguments = ["--ros-args", "-r", "not a rule"].map(String::from);
    says(
        Context::new(&arguments),
        &["failed to initialize the context", "--ros-args", "not a rule"],
    );
    let far = ContextOptions { domain: Some(100_000), ..ContextOptions::default() };
    says(Context::with_options(&[], &far), &["100000", "0 to 232"]);
}

#[test]
fn messages_that_do_not_fit_their_type_are_refused_and_the_next_one_goes() {
    let node = node("strict");
    let topic = unique("strict");
    let qos = QoS::default();
    let publisher = Publisher::<std_msgs::msg::String>::new(&node, &topic, &qos).unwrap();
    let nul = std_msgs::msg::String { data: "a\0b".into() };
    says(
        publisher.publish(&nul),
        &[&topic, "data: a string has a NUL character at byte 1", "mend it"],
    );
    publisher.publish(&std_msgs::msg::String { data: "fine".into() }).unwrap();

    let bounded =
        Publisher::<test_msgs::msg::BoundedSequences>::new(&node, "bounded", &qos).unwrap();
    let long = test_msgs::msg::BoundedSequences { int32_values: vec![0; 4], ..Default::default() };
    says(
        bounded.publish(&long),
        &["/bounded", "`int32_values` of test_msgs/msg/BoundedSequences has length 4", "at most 3"],
    );
    let arrays = Publisher::<test_msgs::msg::Arrays>::new(&node, "arrays", &qos).unwrap();
    let short = test_msgs::msg::Arrays { bool_values: vec![true; 2], ..Default::default() };
    says(
        arrays.publish(&short),
        &["/arrays", "`bool_values` of test_msgs/msg/Arrays has length 2", "exactly 3"],
    );
    arrays.publish(&test_msgs::msg::Arrays::default()).unwrap();
}

#[test]
fn strings_that_ros_would_cut_off_are_refused() {
    use test_msgs::msg::{MultiNested, Nested, Strings, UnboundedSequences, WStrings};
    let node = node("walked");
    let qos = QoS::default();
    let publisher = Publisher::<UnboundedSequences>::new(&node, "walk", &qos).unwrap();
    let mut message = UnboundedSequences { string_values: vec!["a".into()], ..Default::default() };
    publisher.publish(&message).unwrap();
    message.string_values.push("b\0".into());
    says(
        publisher.publish(&message),
        &["/walk", "string_values[1]: a string has a NUL character at byte 1"],
    );
    let deep = Publisher::<MultiNested>::new(&node, "deep", &qos).unwrap();
    let mut message = MultiNested::default();
    message.array_of_arrays[2].string_values[1] = "\0".into();
    says(
        deep.publish(&message),
        &["array_of_arrays[2].string_values[1]: a string has a NUL character"],
    );
    // In 16-bit text, which has an explicit length, NUL is a character like any other.
    let wide = Publisher::<WStrings>::new(&node, "wide", &qos).unwrap();
    wide.publish(&WStrings { wstring_value: "a\0b".into(), ..Default::default() }).unwrap();
    let strings = Publisher::<Strings>::new(&node, "plain", &qos).unwrap();
    strings.publish(&Strings::default()).unwrap();
    Publisher::<Nested>::new(&node, "numbers", &qos).unwrap().publish(&Nested::default()).unwrap();
}

#[test]
fn bounds_of_text_and_of_sequences_of_messages_hold() {
    let node = node("bounds");
    let qos = QoS::default();
    let strings = Publisher::<test_msgs::msg::Strings>::new(&node, "strings", &qos).unwrap();
    let text = |length| test_msgs::msg::Strings {
        bounded_string_value: "x".repeat(length),
        ..Default::default()
    };
    strings.publish(&text(22)).unwrap();
    says(
        strings.publish(&text(23)),
        &[
            "/strings",
            "`bounded_string_value` of test_msgs/msg/Strings has length 23",
            "at most 22",
        ],
    );
    let bounded =
        Publisher::<test_msgs::msg::BoundedSequences>::new(&node, "bounded", &qos).unwrap();
    let many = |count| test_msgs::msg::BoundedSequences {
        basic_types_values: vec![Default::default(); count],
        ..Default::default()
    };
    bounded.publish(&many(3)).unwrap();
    says(
        bounded.publish(&many(4)),
        &["`basic_types_values` of test_msgs/msg/BoundedSequences has length 4", "at most 3"],
    );
    let nested = Publisher::<test_msgs::msg::MultiNested>::new(&node, "nested", &qos).unwrap();
    let mut message = test_msgs::msg::MultiNested::default();
    nested.publish(&message).unwrap();
    message.unbounded_sequence_of_bounded_sequences = vec![many(3), many(5)];
    let place = "unbounded_sequence_of_bounded_sequences[1].basic_types_values: ";
    says(nested.publish(&message), &["/nested", place, "has length 5"]);
}

#[test]
fn values_that_a_rust_message_cannot_hold_are_errors() {
    let node = node("garbled");
    let topic = unique("garbled");
    let kind = "std_msgs/msg/String";
    let raw = Publisher::named(&node, &topic, kind, &QoS::default()).unwrap();
    let subscription = Subscription::new(&node, &topic, &QoS::default(), Locals::Deliver).unwrap();
    let mut heard = Heard::<std_msgs::msg::String>::new(subscription);
    wait(&node, "matched", || raw.subscription_count().unwrap() == 1);
    // Not UTF-8; a length beyond the end; then one that is right.
    raw.publish_serialized(&[0, 1, 0, 0, 3, 0, 0, 0, b'a', 0xff, 0]).unwrap();
    raw.publish_serialized(&[0, 1, 0, 0, 0xff, 0xff, 0, 0, b'a', 0]).unwrap();
    raw.publish_serialized(&[0, 1, 0, 0, 2, 0, 0, 0, b'b', 0]).unwrap();
    let mut outcomes = Vec::new();
    while !matches!(outcomes.last(), Some(Ok(_))) {
        match heard.subscription.take() {
            Ok(None) => assert!(heard.bell.recv_timeout(LONG).is_ok(), "after {outcomes:?}"),
            Ok(Some((message, _))) => outcomes.push(Ok(message.data)),
            Err(error) => outcomes.push(Err(error.to_string())),
        }
    }
    let texts: Vec<_> = outcomes.iter().map(|o| o.as_ref().unwrap_or_else(|e| e)).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains(&topic) && texts[0].contains("UTF-8"), "{texts:?}");
    assert!(texts[1].contains(&topic) && texts[1].contains("damaged"), "{texts:?}");
    assert_eq!(texts[2], "b");
}

#[test]
fn another_rust_type_is_refused() {
    let node = node("typed");
    let topic = unique("typed");
    let table = CdrType::of::<std_msgs::msg::Int32>();
    let qos = QoS::default();
    let publisher = Publisher::of_table(&node, table, &topic, &qos).unwrap();
    says(publisher.publish(&std_msgs::msg::Int64::default()), &[&topic, "another type"]);
    publisher.publish(&std_msgs::msg::Int32::default()).unwrap();
    let mut subscription =
        Subscription::of_table(&node, table, &topic, &qos, Locals::Deliver).unwrap();
    says(subscription.take(&mut None::<std_msgs::msg::Int64>), &[&topic, "another type"]);
    says(subscription.take(&mut std_msgs::msg::Int32::default()), &[&topic, "another type"]);
    assert!(subscription.take(&mut None::<std_msgs::msg::Int32>).unwrap().is_none());
}

#[test]
fn after_a_shutdown_everything_fails_and_nothing_hangs() {
    let context = context();
    let node = Node::new(&context, "", "ended", NodeOptions::default()).unwrap();
    let qos = QoS::default();
    let publisher = Publisher::<std_msgs::msg::Int32>::new(&node, "end", &qos).unwrap();
    assert!(context.is_valid());
    context.shutdown().unwrap();
    context.shutdown().unwrap();
    assert!(!context.is_valid() && !node.context().is_valid());
    let sent = publisher.publish(&std_msgs::msg::Int32::default());
    says(sent, &["/end", "was its context shut down?"]);
    says(publisher.subscription_count().map(drop), &["/end"]);
    says(Publisher::<std_msgs::msg::Int32>::new(&node, "more", &qos).map(drop), &["more"]);
    says(Node::new(&context, "", "again", NodeOptions::default()).map(drop), &["again"]);
    drop((publisher, node, context));
}

#[test]
fn contexts_come_and_go() {
    for _ in 0..3 {
        let context = Context::with_options(&[], &options(false)).unwrap();
        assert_eq!(context.domain(), domain());
        let _node = Node::new(&context, "/again", "and_again", NodeOptions::default()).unwrap();
    }
}
