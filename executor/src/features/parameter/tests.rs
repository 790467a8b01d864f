//! Declaring and setting parameters while the graph is built; changes as events are tested with the
//! modes.

use super::*;
use crate::base::arguments::Arguments;
use crate::base::error::ErrorKind;
use crate::base::parameter_value::sealed::Variant;
use crate::running::graph::Graph;
use crate::running::node::Node;
use std::io::Write;

fn node() -> Node<()> {
    Graph::new().create_node("pilot", ()).unwrap()
}

/// A node `/ns/pilot` of a graph with these ROS arguments.
fn node_with(line: &[&str]) -> (Graph, Node<()>) {
    let (arguments, _) = Arguments::parse(["--ros-args"].iter().chain(line).copied()).unwrap();
    let graph = Graph::new();
    graph.set_arguments(arguments);
    let node = graph.create_node_in("/ns", "pilot", ()).unwrap();
    (graph, node)
}

#[test]
fn every_type_is_declared_read_set_and_listed() {
    fn there_and_back<T: Variant + ParameterVariant + PartialEq>(
        node: &Node<()>,
        first: T,
        second: T,
    ) {
        let name = format!("p{}", node.parameters().list().len());
        let parameter = node.declare_parameter(&name, first.clone()).unwrap();
        assert_eq!(parameter.get(), first);
        parameter.set(second.clone()).unwrap();
        assert_eq!(parameter.get(), second);
        let listed = node.parameters().list().pop().unwrap();
        assert_eq!(listed.value, second.to_value());
        assert_eq!(listed.value.parameter_type(), parameter.descriptor().parameter_type);
    }
    let node = node();
    there_and_back(&node, true, false);
    there_and_back(&node, i64::MIN, i64::MAX);
    there_and_back(&node, -0.5, f64::INFINITY);
    there_and_back(&node, String::from("a"), String::new());
    there_and_back(&node, vec![1u8], vec![]);
    there_and_back(&node, vec![true], vec![false, true]);
    there_and_back(&node, vec![1i64], vec![-1]);
    there_and_back(&node, vec![0.1], vec![0.2, 0.3]);
    there_and_back(&node, vec![String::from("x")], vec![]);
    assert_eq!(node.parameters().list().len(), 9);
}

#[test]
fn client_finds_parameters_by_name_and_lists_them_in_errors() {
    let (graph, node) = node_with(&[]);
    let gain = node.parameter("gain").default(1.0).description("unitless").declare().unwrap();
    node.declare_parameter("frame", String::from("map")).unwrap();
    let client = graph.parameter_client("/ns/pilot").unwrap();
    assert_eq!(client.node(), "/ns/pilot");
    assert!(graph.parameter_client("/pilot").is_none());
    client.set("gain", 2.0).unwrap();
    assert_eq!((gain.get(), client.get("gain").unwrap()), (2.0, ParameterValue::Double(2.0)));
    let names: Vec<_> = client.list().into_iter().map(|p| p.descriptor.name).collect();
    assert_eq!(names, ["frame", "gain"]);
    assert_eq!(client.list()[1].descriptor.description, "unitless");
    let error = client.set("gian", 1.0).unwrap_err().to_string();
    assert_eq!(error, "node /ns/pilot has no parameter `gian`; it has frame, gain");
    assert_eq!(client.get("gian").unwrap_err().to_string(), error);
}

#[test]
fn callback_groups_share_the_parameters_of_their_node() {
    let node = node();
    let lane = node.create_callback_group("lane", ()).unwrap();
    let gain = lane.declare_parameter("gain", 1.0).unwrap();
    node.parameters().set("gain", 2.0).unwrap();
    assert_eq!(gain.get(), 2.0);
    let error = node.declare_parameter("gain", 1.0).unwrap_err();
    assert_eq!((error.kind(), error.node()), (ErrorKind::AlreadyExists, Some("/pilot")));
    assert!(error.to_string().contains("already has a parameter `gain`"), "{error}");
}

#[test]
fn invalid_values_are_refused_and_change_nothing() {
    let node = node();
    let speed = node.parameter("speed").default(1.0).range(0.0..=3.0).step(0.5).declare().unwrap();
    let count = node.parameter("count").default(3).range(1..=9).step(2).declare().unwrap();
    let mode = node
        .parameter::<String>("mode")
        .default("fast".into())
        .choices(["fast", "slow"])
        .declare()
        .unwrap();
    let port = node.parameter("port").default(7i64).read_only().declare().unwrap();
    let even = node
        .parameter("even")
        .default(2i64)
        .constraint(|n| if n % 2 == 0 { Ok(()) } else { Err(format!("{n} is odd")) })
        .declare()
        .unwrap();
    let before = node.parameters().list();
    let cases = [
        (speed.set(3.5).unwrap_err(), "cannot be 3.5; use 0.0 to 3.0 in steps of 0.5"),
        (speed.set(f64::NAN).unwrap_err(), "cannot be .nan"),
        (count.set(4).unwrap_err(), "cannot be 4; use 1 to 9 in steps of 2"),
        (mode.set("slower".into()).unwrap_err(), "use one of \"fast\", \"slow\""),
        (port.set(8).unwrap_err(), "read-only"),
        (even.set(3).unwrap_err(), "cannot be 3: 3 is odd"),
        (node.parameters().set("speed", 1i64).unwrap_err(), "double, not integer; write it"),
        (node.parameters().set("mode", true).unwrap_err(), "string, not bool; put it into"),
    ];
    for (error, text) in cases {
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.to_string().contains("/pilot"), "{error}");
    }
    assert_eq!(node.parameters().list(), before);
}

#[test]
fn several_parameters_are_set_all_or_none() {
    let node = node();
    let (a, b) = (node.declare_parameter("a", 1i64), node.declare_parameter("b", 1i64));
    let (a, b) = (a.unwrap(), b.unwrap());
    let set = |changes: &[(&str, ParameterValue)]| node.parameters().set_all(changes.to_vec());
    set(&[("a", 2.into()), ("b", 3.into())]).unwrap();
    assert_eq!((a.get(), b.get()), (2, 3));
    let wrong = set(&[("a", 4.into()), ("b", true.into())]).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::TypeMismatch);
    let unknown = set(&[("a", 4.into()), ("c", 4.into())]).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    assert_eq!(unknown.to_string(), "node /pilot has no parameter `c`; it has a, b");
    let twice = set(&[("a", 4.into()), ("b", 5.into()), ("a", 6.into())]).unwrap_err();
    assert!(twice.to_string().contains("parameter `a` is set twice at once"), "{twice}");
    assert_eq!((a.get(), b.get()), (2, 3));
    set(&[]).unwrap();
}

/// ros2/rclcpp#824 hangs and #1789 throws when a callback that checks parameters uses them.
#[test]
fn a_constraint_may_read_and_set_other_parameters() {
    let node = node();
    let low = node.declare_parameter("low", 0i64).unwrap();
    let calls = node.declare_parameter("calls", 0i64).unwrap();
    let high = node
        .parameter("high")
        .default(10i64)
        .constraint(move |high| {
            calls.set(calls.get() + 1).unwrap();
            if *high >= low.get() { Ok(()) } else { Err("it is below `low`".into()) }
        })
        .declare()
        .unwrap();
    high.set(5).unwrap();
    node.parameters().set("low", 7i64).unwrap();
    let refused = high.set(6).unwrap_err();
    assert!(refused.to_string().ends_with("`high` cannot be 6: it is below `low`"), "{refused}");
    assert_eq!(node.parameters().get("calls"), Ok(ParameterValue::Integer(3)));
}

#[test]
fn inconsistent_declarations_are_refused() {
    let node = node();
    let int = || node.parameter("n").default(1i64);
    let refused = |builder: ParameterBuilder<i64>| builder.declare().unwrap_err();
    assert_eq!(refused(node.parameter("a b").default(1)).kind(), ErrorKind::InvalidName);
    let empty = int().range(std::ops::RangeInclusive::new(5, 4));
    for builder in [empty, int().range(0..=4).step(0)] {
        let error = refused(builder);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("the range of parameter `n` is empty"), "{error}");
    }
    let error = refused(int().range(2..=4)).to_string();
    assert!(error.starts_with("the default does not fit: node /pilot"), "{error}");
    let error = refused(node.parameter("n"));
    assert_eq!(
        error.to_string(),
        "node /pilot: parameter `n` (integer) has no default; give it a value, for example \
         `--ros-args -p n:=...`"
    );
    assert!(node.parameters().list().is_empty());
}

#[test]
fn an_override_takes_the_place_of_the_default() {
    let line = ["-p", "gain:=2.5", "-p", "pilot:limits.speed:=3", "-p", "other:gain:=9.0"];
    let (_, node) = node_with(&line);
    assert_eq!(node.declare_parameter("gain", 1.0).unwrap().get(), 2.5);
    assert_eq!(node.declare_parameter("limits.speed", 1i64).unwrap().get(), 3);
    assert_eq!(node.declare_parameter("other", 1i64).unwrap().get(), 1);
    let (_, node) = node_with(&["-p", "port:=8"]);
    let port = node.parameter::<i64>("port").read_only().declare().unwrap();
    assert_eq!(port.get(), 8, "no default is needed, and read-only does not hinder");
}

/// ros2/rclcpp#979 and #1009: an integer is no double. The message says so, and where it is.
#[test]
fn an_override_of_another_type_names_argument_node_parameter_and_types() {
    let (_, node) = node_with(&["-p", "gain:=1"]);
    let error = node.declare_parameter("gain", 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`-p gain:=1`: node /ns/pilot: parameter `gain` is of type double, not integer; write \
         it with a dot, as in `1.0`"
    );
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"/ns/pilot:\n  ros__parameters:\n    name: 7\n").unwrap();
    let path = file.path().to_str().unwrap();
    let (_, node) = node_with(&["--params-file", path]);
    let error = node.declare_parameter("name", String::new()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{path}:3:5: node /ns/pilot")), "{error}");
    assert!(error.ends_with("is of type string, not integer; put it into quotes"), "{error}");
}

#[test]
fn an_override_has_to_be_in_range() {
    let (_, node) = node_with(&["-p", "speed:=9.0"]);
    let error = node.parameter("speed").default(1.0).range(0.0..=3.0).declare().unwrap_err();
    assert!(error.to_string().starts_with("`-p speed:=9.0`: "), "{error}");
    assert!(error.to_string().ends_with("cannot be 9.0; use 0.0 to 3.0"), "{error}");
}

/// rclcpp ends with "No parameter value set" on an empty list, which has no type in YAML.
#[test]
fn an_empty_list_is_an_array_of_any_type_and_integers_may_be_bytes() {
    let (_, node) =
        node_with(&["-p", "/**:empty:=[]", "-p", "bytes:=[0, 255]", "-p", "big:=[256]"]);
    assert_eq!(node.declare_parameter("empty", vec![1.0]).unwrap().get(), Vec::<f64>::new());
    assert_eq!(node.declare_parameter("bytes", vec![1u8]).unwrap().get(), [0, 255]);
    let error = node.declare_parameter("big", vec![1u8]).unwrap_err().to_string();
    assert!(error.contains("bytes are 0 to 255"), "{error}");
    let (_, node) = node_with(&["-p", "empty:=[]"]);
    assert!(node.declare_parameter("empty", 1.0).is_err(), "but no scalar");
}

/// rclcpp silently ignores a file for a node of another name.
#[test]
fn undeclared_overrides_are_listed_with_their_place() {
    let line = ["-p", "gain:=1.0", "-p", "gian:=2.0", "-p", "pilto:speed:=1", "-p", "gain:=3.0"];
    let (graph, node) = node_with(&[&line[..], &["-p", "use_sim_time:=true"]].concat());
    node.declare_parameter("gain", 0.0).unwrap();
    node.declare_parameter("speed", 0i64).unwrap();
    let expected = ["`-p gian:=2.0`: `gian`", "`-p pilto:speed:=1`: `speed`"];
    assert_eq!(graph.unused_overrides(), expected);
}

#[test]
fn names_are_remapped_where_they_are_used() {
    let (graph, node) = node_with(&["-r", "pilot:__node:=captain", "-r", "a:=/b"]);
    assert_eq!(node.full_name(), "/ns/captain");
    assert_eq!(node.resolve_topic_name("a").unwrap(), "/b");
    assert_eq!(node.resolve_service_name("~/get").unwrap(), "/ns/captain/get");
    let out = node.create_publisher::<u8>("a", crate::QoS::default()).unwrap();
    assert_eq!(out.topic(), "/b");
    // Substitutions are those of the name and namespace after remapping, and precede it.
    assert_eq!(node.resolve_service_name("{node}/get").unwrap(), "/ns/captain/get");
    assert_eq!(node.resolve_topic_name("{ns}/a").unwrap(), "/b");
    let error = graph.create_node_in("ns", "pilot", ()).unwrap_err().to_string();
    assert!(error.contains("`pilot:__node:=captain`"), "{error}");
    assert!(error.contains("/ns/pilot") && error.contains("/ns/captain"), "{error}");
}

#[test]
fn optional_parameter_begins_without_a_value_and_can_be_unset() {
    let (_graph, node) = node_with(&["-p", "given:=5"]);
    let rate = node.parameter::<Option<i64>>("rate").declare().unwrap();
    assert_eq!(rate.get(), None);
    assert_eq!(rate.descriptor().parameter_type, ParameterType::Integer);
    assert_eq!(node.parameters().get("rate").unwrap(), ParameterValue::NotSet);
    rate.set(Some(3)).unwrap();
    assert_eq!(node.parameters().get("rate").unwrap(), ParameterValue::Integer(3));
    let error = node.parameters().set("rate", 1.5).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    node.parameters().set("rate", ParameterValue::NotSet).unwrap();
    assert_eq!(rate.get(), None);
    let given = node.parameter::<Option<i64>>("given").default(Some(1)).declare().unwrap();
    assert_eq!(given.get(), Some(5));
}

#[test]
fn other_parameters_keep_a_value() {
    let node = node();
    node.declare_parameter("gain", 1.0).unwrap();
    node.declare_parameter("any", ParameterValue::Bool(true)).unwrap();
    for name in ["gain", "any"] {
        let error = node.parameters().set(name, ParameterValue::NotSet).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TypeMismatch);
        assert!(error.to_string().ends_with("has to have a value"), "{error}");
    }
}

#[test]
fn dynamic_parameter_takes_any_type_and_lists_the_type_of_its_value() {
    let node = node();
    let any = node.declare_parameter("any", ParameterValue::Bool(true)).unwrap();
    node.parameters().set("any", 2.5).unwrap();
    assert_eq!(any.get(), ParameterValue::Double(2.5));
    let listed = node.parameters().list().remove(0).descriptor;
    assert!(listed.dynamic_typing);
    assert_eq!(listed.parameter_type, ParameterType::Double);
}

#[test]
fn type_and_limits_can_be_known_at_run_time_only() {
    let (_graph, node) = node_with(&["-p", "bytes:=[1, 2]"]);
    let limits = ParameterRange::Integer { from: 0, to: 4, step: 2 };
    let builder = node.parameter("n").default(ParameterValue::Integer(4)).limits(limits);
    let n = builder.of_type(ParameterType::Integer).declare().unwrap();
    assert!(!n.descriptor().dynamic_typing);
    let kind = |value: ParameterValue| n.set(value).unwrap_err().kind();
    assert_eq!(kind(ParameterValue::Double(2.0)), ErrorKind::TypeMismatch);
    assert_eq!(kind(ParameterValue::Integer(3)), ErrorKind::InvalidArgument);
    let bytes = node.parameter::<ParameterValue>("bytes").of_type(ParameterType::ByteArray);
    assert_eq!(bytes.declare().unwrap().get(), ParameterValue::ByteArray(vec![1, 2]));
}

#[test]
fn undeclared_parameters_are_set_only_where_the_node_allows_it() {
    let (_graph, node) = node_with(&["-p", "layer.gain:=9.0"]);
    let client = node.parameters();
    assert_eq!(client.set("layer.gain", 2.5).unwrap_err().kind(), ErrorKind::NotFound);
    node.allow_undeclared_parameters();
    assert_eq!(client.set("two words", 2.5).unwrap_err().kind(), ErrorKind::InvalidName);
    client.set("layer.gain", true).unwrap();
    client.set("layer.gain", 2.5).unwrap();
    let builder = node.parameter::<f64>("layer.gain");
    assert_eq!(builder.undeclared_value(), Some(ParameterValue::Double(2.5)));
    assert_eq!(builder.override_value(), Some(ParameterValue::Double(9.0)));
    let error = node.declare_parameter("layer.gain", 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    let gain = node.declare_parameter("layer.gain", 1.0).unwrap();
    assert_eq!(gain.get(), 2.5);
    assert_eq!(node.parameter::<f64>("layer.gain").undeclared_value(), None);
    assert_eq!(client.set("layer.gain", true).unwrap_err().kind(), ErrorKind::TypeMismatch);
    gain.undeclare();
    let again = node.parameter("layer.gain").default(1.0).ignore_overrides().declare().unwrap();
    assert_eq!(again.get(), 1.0);
}

#[test]
fn one_request_sets_and_adds_parameters_or_does_neither() {
    let node = node();
    let gain = node.declare_parameter("gain", 1.0).unwrap();
    node.allow_undeclared_parameters();
    let request = |gain: ParameterValue| [("first", 1.into()), ("gain", gain), ("last", 2.into())];
    assert!(node.parameters().set_all(request(true.into())).is_err());
    assert_eq!(node.parameters().list().len(), 1);
    node.parameters().set_all(request(2.0.into())).unwrap();
    assert_eq!((node.parameters().list().len(), gain.get()), (3, 2.0));
}

#[test]
fn observer_is_called_after_each_set_on_the_thread_that_sets() {
    let node = node();
    let (sender, seen) = std::sync::mpsc::channel();
    let client = node.parameters();
    let observe = move |value: &i64| {
        // The value is in place, and no lock is held.
        sender.send((*value, client.get("n").unwrap())).unwrap();
    };
    let only_even = |n: &i64| if n % 2 == 0 { Ok(()) } else { Err("odd".to_owned()) };
    let builder = node.parameter("n").default(0).constraint(only_even).on_set(observe);
    let n = builder.declare().unwrap();
    let error = n.set(1).unwrap_err();
    let reason = RefusedByConstraint("odd".into());
    assert_eq!(error.cause::<RefusedByConstraint>(), Some(&reason));
    n.set(2).unwrap();
    node.parameters().set("n", 4).unwrap();
    let expected = [(2, ParameterValue::Integer(2)), (4, ParameterValue::Integer(4))];
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), expected);
}
