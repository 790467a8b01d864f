//! Valid and invalid contents of parameter files.

use super::*;
use crate::base::parameter_value::ParameterType;
use proptest::prelude::*;
use std::fmt::Write;

fn parse(text: &str) -> Result<Vec<Override>, YamlError> {
    parse_file(text, "file.yaml")
}

/// The strongest value for a parameter of a node.
fn value(text: &str, node: &str, parameter: &str) -> Option<ParameterValue> {
    let overrides = parse(text).unwrap();
    overrides.into_iter().rev().find(|given| given.is_for(node, parameter)).map(|given| given.value)
}

const FILE: &str = "\
# A comment.
/**:
  ros__parameters:
    everywhere: true
  camera:
    ros__parameters: {rate: 30}
/ns/lidar:
  ros__parameters:
    filter:
      size: 3
      shape.kind: box
    ranges: [0.5, 100.0]
    name: '7'
    tagged: !!str 7
    label: \"two\\nlines\"
    text: |
      5
robot:
  arm:
    ros__parameters:
      joints: [a, b]
  /*:
    ros__parameters:
---
/ns/lidar:
  ros__parameters:
    ranges: [1.0]
";

#[test]
fn nodes_names_and_types_are_read_as_by_rcl() {
    use ParameterValue as V;
    let cases: &[(&str, &str, Option<V>)] = &[
        ("/x/y", "everywhere", Some(V::Bool(true))),
        ("/a/camera", "rate", Some(V::Integer(30))),
        ("/lidar", "rate", None),
        ("/ns/lidar", "filter.size", Some(V::Integer(3))),
        ("/ns/lidar", "filter.shape.kind", Some("box".into())),
        ("/ns/lidar", "ranges", Some(V::DoubleArray(vec![1.0]))),
        ("/ns/lidar", "name", Some("7".into())),
        ("/ns/lidar", "tagged", Some("7".into())),
        ("/ns/lidar", "label", Some("two\nlines".into())),
        ("/ns/lidar", "text", Some("5\n".into())),
        ("/robot/arm", "joints", Some(V::StringArray(vec!["a".into(), "b".into()]))),
    ];
    for (node, parameter, expected) in cases {
        assert_eq!(value(FILE, node, parameter), *expected, "{node} {parameter}");
    }
}

/// ros2/rcl#1252: whether the wildcard's own parameters come before or after the nodes below it.
#[test]
fn parameters_and_nodes_below_one_key_come_in_any_order() {
    let own = "  ros__parameters:\n    a: 1\n";
    let below = "  node:\n    ros__parameters:\n      a: 2\n";
    for (text, node) in [(format!("/**:\n{own}{below}"), 2), (format!("/**:\n{below}{own}"), 1)] {
        assert_eq!(value(&text, "/other", "a"), Some(ParameterValue::Integer(1)));
        assert_eq!(value(&text, "/ns/node", "a"), Some(ParameterValue::Integer(node)));
    }
}

#[test]
fn a_file_may_have_no_parameters() {
    for text in ["", "# nothing\n", "---\n", "/a:\n  ros__parameters:\n", "/a: {}", "{}"] {
        assert_eq!(parse(text), Ok(vec![]), "{text:?}");
    }
}

#[test]
fn refusals_give_line_and_column_and_what_to_do() {
    let below = |yaml: &str| format!("n:\n  ros__parameters:\n    {yaml}\n");
    let cases = [
        ("gain: 1".into(), 1, 7, "ros__parameters"),
        ("- gain".into(), 1, 1, "expected nodes"),
        ("ros__parameters: {a: 1}".into(), 1, 1, "/**:"),
        ("/a*:\n  ros__parameters: {a: 1}".into(), 1, 1, "whole tokens"),
        ("*: {}".into(), 1, 1, ""),
        ("n: {ros__parameters: 5}".into(), 1, 22, "names below"),
        (below("a:"), 3, 6, "\"\""),
        (below("a: 1\n    a: 2"), 4, 5, "after line 3"),
        (below("a: [1, [2]]"), 3, 12, "scalars"),
        (below("a: [1, x]"), 3, 12, "integer array"),
        (below("a: [1.0, 2]"), 3, 14, "with a dot"),
        (below("a: [x, 2]"), 3, 12, "quotes"),
        (below("a: [{b: 1}]"), 3, 9, "scalars"),
        (below("a: &x 1\n    b: *x"), 4, 8, "aliases"),
        (below("a: !!int 1"), 3, 14, "!!str"),
        (below("a: 99999999999999999999"), 3, 8, "64 bits"),
        (below("a b: 1"), 3, 5, "space"),
        (below("a:\n      '': 1"), 4, 7, "empty part"),
        (below("? [a]\n    : 1"), 3, 7, "a key is a name"),
        ("n:\n\tros__parameters: {}".into(), 2, 2, "tabs"),
        (format!("n: {}", "{a: ".repeat(40)), 1, 132, "recursion"),
        (below(&format!("? {}\n    : 1", "k".repeat(300))), 3, 7, "255 bytes"),
    ];
    for (text, line, column, way_out) in cases {
        let error = parse(&text).unwrap_err();
        let is_right = (error.line, error.column) == (line, column);
        assert!(is_right && error.reason.contains(way_out), "{text:?}: {error:?}");
    }
}

#[test]
fn a_file_has_a_limited_number_of_parameters() {
    let mut text = String::from("n:\n  ros__parameters:\n");
    (0..=PARAMETERS_MAX).for_each(|n| writeln!(text, "    p{n}: 1").unwrap());
    assert_eq!(parse(&text).unwrap_err().line, PARAMETERS_MAX + 3);
}

fn any_value() -> impl Strategy<Value = ParameterValue> {
    use ParameterValue as V;
    let vec = |n| 1..n;
    prop_oneof![
        any::<bool>().prop_map(V::Bool),
        any::<i64>().prop_map(V::Integer),
        any::<f64>().prop_map(V::Double),
        any::<String>().prop_map(V::String),
        prop::collection::vec(any::<bool>(), vec(4)).prop_map(V::BoolArray),
        prop::collection::vec(any::<i64>(), vec(4)).prop_map(V::IntegerArray),
        prop::collection::vec(any::<f64>(), vec(4)).prop_map(V::DoubleArray),
        prop::collection::vec(any::<String>(), 0..4).prop_map(V::StringArray),
    ]
}

proptest! {
    #[test]
    fn written_values_are_read_back(value in any_value()) {
        prop_assert_eq!(parse_value(&value.to_string()), Ok(value.clone()));
        let text = format!("/ns/node:\n  ros__parameters:\n    a:\n      b: {value}\n");
        let read = parse(&text).unwrap();
        prop_assert_eq!(&read[0].value, &value);
        prop_assert!(read[0].is_for("/ns/node", "a.b"));
    }

    #[test]
    fn bytes_are_read_back_as_integers_that_fit(bytes in prop::collection::vec(any::<u8>(), 0..5)) {
        let value = ParameterValue::ByteArray(bytes);
        let read = parse_value(&value.to_string()).unwrap();
        prop_assert_eq!(read.fit(ParameterType::ByteArray), Some(value));
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = parse(&text);
        let _ = parse_value(&text);
    }

    #[test]
    fn no_text_of_yaml_signs_panics(
        text in "([a/*]{1,3}|ros__parameters|[:\\-?&*!|>%@`'\"#{}\\[\\],~. \n]|: |\n  |- ){0,40}",
    ) {
        let _ = parse(&text);
        let _ = parse_value(&text);
    }

    #[test]
    fn no_cut_of_a_file_panics(from in 0..FILE.len(), to in 0..FILE.len()) {
        let _ = parse(&FILE[from.min(to)..to.max(from)]);
    }
}

/// With dots or nested, and for every position of the node's name.
#[test]
fn parameter_with_two_values_is_refused_however_it_is_written() {
    let below = |parameters: &str| format!("/ns/node:\n  ros__parameters:\n{parameters}");
    for (text, line) in [
        (below("    a.b: 1\n    a: {b: 2}\n"), 4),
        (below("    a: {b: 2}\n    a.b: 1\n"), 4),
        (below("    a.b: {c: 1}\n    a: {b.c: 1}\n"), 4),
        (below("    a: {b: {c: 1}, b.c: 1}\n"), 3),
        (below("    a.b: 1\n") + "ns:\n  node:\n    ros__parameters: {a: {b: 1}}\n", 6),
        (below("    a.b: 1\n") + "ns/node:\n  ros__parameters: {a: {b: 1}}\n", 5),
    ] {
        let error = parse(&text).unwrap_err();
        assert_eq!(error.line, line, "{text}{error:?}");
        assert!(error.reason.contains("here a second time, after line 3"), "{text}{error:?}");
    }
    for text in [
        below("    a.b: 1\n    a: {c: 2}\n    a.b.c: 3\n"),
        below("    a: 1\n") + "/**:\n  ros__parameters: {a: 2}\n",
        below("    a: 1\n") + "---\n" + &below("    a: 2\n"),
    ] {
        assert!(parse(&text).is_ok(), "{text}");
    }
}
