//! Messages of types that are known by name: their fields, their ends beside typed ones, errors.

mod common;

use common::{node, spin_until};
use rclrs::*;
use ringspin_rclrs_test_msgs::{my_msgs, test_msgs};
use ros_env::geometry_msgs;
use ros_env::std_msgs::msg::{Int32, String as Text};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Whether this process has the packages of the tests in its environment. If not, the test `name`
/// runs in another process that has, and passes there.
fn has_packages(name: &str) -> bool {
    if std::env::var_os("RINGSPIN_MESSAGES").is_some() {
        return true;
    }
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../messages/test_msgs");
    let bad = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_packages");
    let packages = std::env::join_paths([packages, bad]).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env("RINGSPIN_MESSAGES", packages);
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{done:?}");
    false
}

fn new(name: &str) -> DynamicMessage {
    DynamicMessage::new(name.try_into().unwrap()).unwrap()
}

/// The value of a field that has the given form.
macro_rules! field {
    ($message:expr, $name:literal, $kind:ident, $form:path) => {{
        let Some(Value::$kind($form(value))) = $message.get($name) else {
            panic!("{}: {:?}", $name, $message.get($name))
        };
        value
    }};
}

/// The value of a field that has the given form, which can be changed.
macro_rules! field_mut {
    ($message:expr, $name:literal, $kind:ident, $form:path) => {{
        let Some(ValueMut::$kind($form(value))) = $message.get_mut($name) else {
            panic!("{} has another form", $name)
        };
        value
    }};
}

#[test]
fn message_has_the_defaults_of_its_definition() {
    if !has_packages("message_has_the_defaults_of_its_definition") {
        return;
    }
    let message = new("my_msgs/msg/Obstacle");
    assert_eq!(field!(message, "type", Simple, SimpleValue::Uint8), &1);
    assert_eq!(field!(message, "range", Simple, SimpleValue::Float), &f32::INFINITY);
    let label = field!(message, "label", Simple, SimpleValue::BoundedString);
    assert_eq!((label.to_string().as_str(), label.upper_bound().get()), ("car", 8));
    let pair = field!(message, "self_pair", Simple, SimpleValue::Message);
    assert_eq!(pair.get("b"), Some(Value::Simple(SimpleValue::Int32(&2))));
    let typed: my_msgs::msg::rmw::Obstacle = message.convert_into_rmw_message().unwrap();
    assert_eq!(typed, my_msgs::msg::rmw::Obstacle::default());
    let wide = new("test_msgs/msg/WStrings");
    let text = field!(wide, "wstring_value_default2", Simple, SimpleValue::WString);
    assert_eq!(text.to_string(), "Hellö wörld!");
    let arrays = new("test_msgs/msg/Arrays");
    let values = field!(arrays, "int16_values_default", Array, ArrayValue::Int16Array);
    assert_eq!(values, [0, i16::MAX, i16::MIN]);
}

#[test]
fn fields_of_all_kinds_are_read_and_changed() {
    let mut message =
        DynamicMessage::convert_from_rmw_message(my_msgs::msg::rmw::Obstacle::default()).unwrap();
    let mut corners = field_mut!(message, "corners", Array, ArrayValueMut::MessageArray);
    *field_mut!(corners[3], "y", Simple, SimpleValueMut::Double) = 0.5;
    let header = &mut field_mut!(message, "header", Simple, SimpleValueMut::Message);
    *field_mut!(header, "frame_id", Simple, SimpleValueMut::String) = "map".into();
    let mut label = field_mut!(message, "label", Simple, SimpleValueMut::BoundedString);
    label.try_assign("truck").unwrap();
    let error = label.try_assign("motorcycle").unwrap_err();
    assert_eq!((error.len, error.upper_bound, label.to_string().as_str()), (10, 8, "truck"));
    let mut tags = field_mut!(
        message,
        "tags",
        BoundedSequence,
        BoundedSequenceValueMut::BoundedStringBoundedSequence
    );
    tags.try_reset(1).unwrap();
    tags[0].try_assign("big").unwrap();
    assert!(tags.try_reset(3).is_err());
    assert_eq!((tags.upper_bound(), tags[0].to_string().as_str()), (2, "big"));
    let mut wide = field_mut!(message, "wide", Simple, SimpleValueMut::BoundedWString);
    wide.try_assign("Größ").unwrap();
    assert!(wide.try_assign("Größe").is_err());
    *field_mut!(message, "image", Sequence, SequenceValueMut::Uint8Sequence) = vec![1, 2].into();
    let mut some = field_mut!(
        message,
        "some_bytes",
        BoundedSequence,
        BoundedSequenceValueMut::OctetBoundedSequence
    );
    some.try_reset(4).unwrap();
    some.as_mut_slice()[3] = 9;
    let typed: my_msgs::msg::rmw::Obstacle = message.clone().convert_into_rmw_message().unwrap();
    assert_eq!((typed.corners[3].y, &*typed.header.frame_id.to_string()), (0.5, "map"));
    assert_eq!(typed.label.to_string(), "truck");
    assert_eq!((typed.tags.len(), typed.tags[0].to_string().as_str()), (1, "big"));
    assert_eq!((typed.wide.to_string().as_str(), &*typed.image), ("Größ", &[1, 2][..]));
    assert_eq!(&*typed.some_bytes, [0, 0, 0, 9]);
    assert_eq!(DynamicMessage::convert_from_rmw_message(typed).unwrap(), message);
    assert_eq!(message.get("lidar"), None);
    assert!(message.get_mut("lidar").is_none());
}

#[test]
fn sequence_of_messages_is_reset_while_it_is_borrowed() {
    let typed = test_msgs::msg::rmw::UnboundedSequences::default();
    let mut message = DynamicMessage::convert_from_rmw_message(typed).unwrap();
    let before = message.clone();
    let mut values =
        field_mut!(message, "defaults_values", Sequence, SequenceValueMut::MessageSequence);
    values.reset(3);
    *field_mut!(values[2], "int32_value", Simple, SimpleValueMut::Int32) = 7;
    values.reset(2);
    *field_mut!(values[1], "int32_value", Simple, SimpleValueMut::Int32) = 8;
    for (message, len) in [(&message, 2), (&message.clone(), 2), (&before, 0)] {
        let values = field!(message, "defaults_values", Sequence, SequenceValue::MessageSequence);
        assert_eq!(values.len(), len);
        for (value, expected) in values.iter().zip([-30000, 8]) {
            assert_eq!(field!(value, "int32_value", Simple, SimpleValue::Int32), &expected);
        }
    }
    assert_ne!(message, before);
    // The values of the first borrow are those of the next one.
    let mut values =
        field_mut!(message, "defaults_values", Sequence, SequenceValueMut::MessageSequence);
    assert_eq!(*field_mut!(values[1], "int32_value", Simple, SimpleValueMut::Int32), 8);
    values.clear();
    (0..100_000).for_each(|_| values.reset(1)); // neither recursion nor loss
    assert_eq!(values.len(), 1);
}

#[test]
fn messages_are_visited_field_by_field() {
    let mut message = new("geometry_msgs/msg/TwistStamped");
    assert_eq!(message.structure().namespace, "geometry_msgs__msg");
    // The size in C: 8 bytes of the time, 24 of the string, six numbers of 8.
    assert_eq!((message.size, &*message.type_name), (80, "TwistStamped"));
    let names: Vec<_> = message.iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["header", "twist"]);
    for (name, value) in message.iter_mut() {
        if let ("twist", ValueMut::Simple(SimpleValueMut::Message(twist))) = (name, value) {
            for (_, value) in twist.iter_mut() {
                let ValueMut::Simple(SimpleValueMut::Message(mut vector)) = value else { panic!() };
                *field_mut!(vector, "z", Simple, SimpleValueMut::Double) = 1.5;
            }
        }
    }
    let typed: geometry_msgs::msg::rmw::TwistStamped = message.convert_into_rmw_message().unwrap();
    assert_eq!((typed.twist.linear.z, typed.twist.angular.z), (1.5, 1.5));
    let BaseType::Message(inner) = &new("geometry_msgs/msg/Pose").fields[0].base_type else {
        panic!()
    };
    assert_eq!(inner.get_field_info("x").unwrap().base_type, BaseType::Double);
}

#[test]
fn message_equals_itself_with_a_nan() {
    let mut message = new("std_msgs/msg/Float64");
    *field_mut!(message, "data", Simple, SimpleValueMut::Double) = f64::NAN;
    assert_eq!(message, message.clone());
    assert_eq!(format!("{message:?}"), "Float64 { data: Simple(Double(NaN)) }");
    assert_ne!(message, new("std_msgs/msg/Float64"));
    assert_ne!(new("std_msgs/msg/Float64"), new("std_msgs/msg/Float32"));
}

/// The message `std_msgs/msg/Int32` with this value.
fn int32(value: i32) -> DynamicMessage {
    DynamicMessage::convert_from_rmw_message(Int32 { data: value }).unwrap()
}

#[test]
fn dynamic_and_typed_ends_meet_on_one_topic() {
    let (mut executor, node) = node();
    let worker = node.create_worker(Vec::<(&str, i32)>::new());
    let int = || MessageTypeName::try_from("std_msgs/msg/Int32").unwrap();
    let _dynamic = worker.create_dynamic_subscription(
        int(),
        "numbers",
        |seen: &mut Vec<(&str, i32)>, message, info: MessageInfo| {
            assert!(info.source_timestamp.is_some());
            seen.push(("dynamic", *field!(message, "data", Simple, SimpleValue::Int32)));
        },
    );
    let _typed = worker
        .create_subscription("numbers", |seen: &mut Vec<(&str, i32)>, message: Int32| {
            seen.push(("typed", message.data))
        });
    let dynamic = node.create_dynamic_publisher(int(), "numbers".keep_last(5)).unwrap();
    let typed = node.create_publisher::<Int32>("numbers").unwrap();
    assert_eq!(
        (dynamic.topic_name(), dynamic.get_subscription_count()),
        ("/numbers".into(), Ok(2))
    );
    dynamic.publish(int32(1)).unwrap();
    typed.publish(Int32 { data: 2 }).unwrap();
    let done = worker.listen_until(|seen| (seen.len() == 4).then_some(()));
    spin_until(&mut executor, done);
    let seen = worker.run(std::mem::take);
    let (mut seen, notice) = executor.commands().create_notice(seen);
    spin_until(&mut executor, notice);
    let mut seen = seen.try_recv().unwrap().unwrap();
    seen.sort();
    assert_eq!(seen, [("dynamic", 1), ("dynamic", 2), ("typed", 1), ("typed", 2)]);
    let topics = node.get_topic_names_and_types().unwrap();
    assert_eq!(topics["/numbers"], ["std_msgs/msg/Int32"]);
}

#[test]
fn callbacks_of_a_node_run_at_once_or_as_futures() {
    let (mut executor, node) = node();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (sender, done) = futures::channel::oneshot::channel();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let note = move |form: &'static str, message: &DynamicMessage| {
        let mut seen = seen.lock().unwrap();
        seen.push(format!("{form} {}", field!(message, "data", Simple, SimpleValue::Int32)));
        if seen.len() == 2 {
            seen.sort();
            assert_eq!(**seen, ["later 3", "plain 3"]);
            sender.lock().unwrap().take().unwrap().send(()).unwrap();
        }
    };
    let (plain, later) = (note.clone(), note);
    let int = || MessageTypeName::try_from("std_msgs/msg/Int32").unwrap();
    let plain =
        node.create_dynamic_subscription(int(), "numbers", move |m, _| plain("plain", &m)).unwrap();
    assert_eq!((&*plain.topic_name(), plain.structure().fields.len()), ("/numbers", 1));
    let _later = node.create_async_dynamic_subscription(int(), "numbers", move |m, _| {
        let later = later.clone();
        Box::pin(async move { later("later", &m) })
    });
    let publisher = node.create_dynamic_publisher(int(), "numbers").unwrap();
    publisher.publish(int32(3)).unwrap();
    spin_until(&mut executor, done);
}

#[test]
fn types_that_are_unknown_or_not_valid_are_errors() {
    if !has_packages("types_that_are_unknown_or_not_valid_are_errors") {
        return;
    }
    for name in ["Int32", "std_msgs/Int32", "std_msgs/srv/Int32", "std_msgs/msg/Int32/x", ""] {
        let error = MessageTypeName::try_from(name).unwrap_err();
        assert_eq!(error, DynamicMessageError::InvalidMessageTypeSyntax { input: name.into() });
    }
    let of = |name: &str| {
        DynamicMessage::new(name.try_into().unwrap()).err().map(|error| (error.to_string(), error))
    };
    let (text, error) = of("robot_msgs/msg/Arm").unwrap();
    let package = "robot_msgs".to_owned();
    assert_eq!(error, DynamicMessageError::RequiredPrefixNotSourced { package });
    assert!(text.contains("robot_msgs") && text.contains("RINGSPIN_MESSAGES"), "{text}");
    for name in ["std_msgs/msg/Int33", "my_msgs/msg/Obstacle2", "my_msgs/msg/a b"] {
        assert_eq!(of(name).unwrap().1, DynamicMessageError::InvalidMessageType, "{name}");
    }
    for name in ["../msg/Obstacle", "/msg/x", "my msgs/msg/x"] {
        let error = of(name).unwrap().1;
        assert!(matches!(error, DynamicMessageError::RequiredPrefixNotSourced { .. }), "{name}");
    }
    // Three files that a program would not build with.
    for (name, expected) in [
        ("Line", "Line.msg:2: invalid bound in `int32[<=0]`"),
        ("Open", "Open.msg:1: unknown type `nowhere_msgs/msg/Nothing`"),
        ("Large", "bad_msgs/msg/Large is too large"),
    ] {
        let (text, error) = of(&format!("bad_msgs/msg/{name}")).unwrap();
        assert!(matches!(error, DynamicMessageError::LibraryLoadingError(_)));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn package_cache_knows_packages() {
    let mut cache = get_dynamic_message_package_cache().lock().unwrap();
    assert!(cache.get_or_load("std_msgs").is_ok());
    assert!(cache.get_or_load("robot_msgs").is_err());
    assert!(cache.unload("std_msgs"));
    assert!(!cache.unload("std_msgs"));
}

#[test]
fn messages_that_do_not_fit_are_errors() {
    let (_executor, node) = node();
    let text = || MessageTypeName::try_from("std_msgs/msg/String").unwrap();
    let publisher = node.create_dynamic_publisher(text(), "texts").unwrap();
    let error = publisher.publish(int32(1)).unwrap_err();
    let mismatch =
        RclrsError::DynamicMessageError { err: DynamicMessageError::MessageTypeMismatch };
    assert_eq!(error, mismatch);
    let mut message = new("std_msgs/msg/String");
    *field_mut!(message, "data", Simple, SimpleValueMut::String) = "a\0b".into();
    let error = publisher.publish(message.clone()).unwrap_err().to_string();
    assert!(error.contains("/texts") && error.contains("std_msgs/msg/String: data: "), "{error}");
    assert!(message.clone().convert_into_rmw_message::<Int32>().is_err());
    let same = message.clone().convert_into_rmw_message::<ros_env::std_msgs::msg::rmw::String>();
    assert_eq!(same.unwrap_err(), message);
    // The topic has a type.
    let _typed = node.create_publisher::<Text>("texts").unwrap();
    let int = MessageTypeName::try_from("std_msgs/msg/Int32").unwrap();
    let error = node.create_dynamic_publisher(int.clone(), "texts").unwrap_err().to_string();
    assert!(error.contains("/texts") && error.contains("std_msgs/msg/String"), "{error}");
    let error = node.create_dynamic_subscription(int, "texts", |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("/texts"), "{error}");
    let unknown = MessageTypeName::try_from("robot_msgs/msg/Arm").unwrap();
    let error = node.create_dynamic_subscription(unknown, "arms", |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("robot_msgs"), "{error}");
}
