//! Types, defaults and bounds of fields.

use ringspin_executor::{Stamped, Time};
use ringspin_messages::cdr::{from_bytes, to_bytes};
use ringspin_messages::{GeneratedMessage, RosMessage};
use ringspin_rclrs_test_msgs::my_msgs::msg::{Obstacle, rmw as my_rmw};
use ringspin_rclrs_test_msgs::test_msgs::{action, msg, srv};
use ros_env::geometry_msgs::msg::{Point, PoseWithCovariance, rmw as geometry_rmw};
use ros_env::std_msgs::msg::{Header, rmw as std_rmw};
use ros_env::std_srvs::srv::{
    Empty_Request, SetBool, SetBool_Request, SetBool_Response, Trigger, rmw as srv_rmw,
};
use rosidl_runtime_rs::{
    BoundedSequence, BoundedString, BoundedWString, RmwServiceResponse, Sequence, WString, seq,
};
use std::any::TypeId;

#[test]
fn idiomatic_fields_have_types_of_the_standard_library() {
    let arrays = msg::Arrays::default();
    let _: (&[bool; 3], &[String; 3]) = (&arrays.bool_values, &arrays.string_values);
    assert_eq!(arrays.uint64_values_default, [0, 1, u64::MAX]);
    assert_eq!(arrays.string_values_default, ["", "max value", "min value"]);
    let _: [f64; 36] = PoseWithCovariance::default().covariance;
    let sequences = msg::UnboundedSequences::default();
    assert_eq!(sequences.int16_values_default, vec![0, i16::MAX, i16::MIN]);
    let bounded: BoundedSequence<rosidl_runtime_rs::String, 3> =
        msg::BoundedSequences::default().string_values_default;
    assert_eq!(bounded.iter().map(ToString::to_string).collect::<Vec<_>>()[1], "max value");
    let strings = msg::Strings::default();
    let _: (&String, &BoundedString<22>) = (&strings.string_value, &strings.bounded_string_value);
    assert_eq!(strings.bounded_string_value_default1.to_string(), "Hello world!");
    let wide = msg::WStrings::default();
    let _: (&String, &[String; 3]) = (&wide.wstring_value, &wide.array_of_wstrings);
    assert_eq!(Empty_Request::default().structure_needs_at_least_one_member, 0);
}

#[test]
fn rmw_fields_have_types_of_the_runtime() {
    let arrays = msg::rmw::Arrays::default();
    assert_eq!(arrays.string_values_default[1], "max value".into());
    let sequences = msg::rmw::UnboundedSequences::default();
    assert_eq!(sequences.int16_values_default, seq![0, i16::MAX, i16::MIN]);
    let _: Sequence<rosidl_runtime_rs::String> = sequences.string_values_default;
    let _: WString = msg::rmw::WStrings::default().wstring_value;
    let wide: BoundedWString<4> = my_rmw::Obstacle::default().wide;
    assert!(wide.is_empty());
    let _: RmwServiceResponse<SetBool> = srv_rmw::SetBool_Response::default();
}

#[test]
fn a_message_without_strings_and_sequences_is_its_rmw_form() {
    fn same<A: 'static, B: 'static>() -> bool {
        TypeId::of::<A>() == TypeId::of::<B>()
    }
    assert!(same::<Point, geometry_rmw::Point>());
    assert!(same::<PoseWithCovariance, geometry_rmw::PoseWithCovariance>());
    assert!(same::<SetBool_Request, srv_rmw::SetBool_Request>());
    assert!(!same::<Header, std_rmw::Header>());
    assert!(!same::<SetBool_Response, srv_rmw::SetBool_Response>());
    assert!(!same::<Trigger, srv_rmw::Trigger>());
    assert!(same::<srv::Empty, srv::rmw::Empty>());
    assert!(same::<action::Fibonacci_Goal, action::rmw::Fibonacci_Goal>());
}

#[test]
fn defaults_and_constants_are_those_of_the_definition() {
    let defaults = msg::Defaults::default();
    assert_eq!((defaults.int64_value, defaults.float32_value), (-40_000_000, 1.125));
    let (obstacle, rmw) = (Obstacle::default(), my_rmw::Obstacle::default());
    assert_eq!((obstacle.type_, obstacle.label.to_string()), (Obstacle::CAR, "car".into()));
    assert_eq!((rmw.type_, rmw.range), (my_rmw::Obstacle::CAR, f32::INFINITY));
    assert_eq!((Obstacle::FRAME, my_rmw::Obstacle::FRAME), ("map", "map"));
}

#[test]
fn stamps_are_those_of_the_header() {
    let mut obstacle = Obstacle::default();
    (obstacle.header.stamp.sec, obstacle.header.stamp.nanosec) = (2, 3);
    assert_eq!(obstacle.stamp(), Time::from_nanos(2_000_000_003));
    let rmw: my_rmw::Obstacle = from_bytes(&to_bytes(&obstacle).unwrap()).unwrap();
    assert_eq!(rmw.stamp(), obstacle.stamp());
}

/// Data of an `Obstacle` with these values in its bounded fields.
fn obstacle(label: &str, tags: &[&str], wide: &str, some_bytes: usize) -> Vec<u8> {
    let empty = Obstacle::default();
    let wide: Vec<_> = wide.encode_utf16().map(u32::from).collect();
    let start = (empty.header, empty.corners, empty.type_, label, tags, wide);
    let end = (empty.self_pair, empty.nothing, empty.image, vec![0u8; some_bytes], empty.range);
    to_bytes(&(start, end)).unwrap()
}

#[track_caller]
fn refused<M: GeneratedMessage>(bytes: &[u8], expected: &str) {
    let error = from_bytes::<M>(bytes).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn values_beyond_a_bound_are_refused_by_the_name_of_the_field() {
    let valid = obstacle("12345678", &["123", "456"], "😀ab", 4);
    assert_eq!(to_bytes(&from_bytes::<Obstacle>(&valid).unwrap()).unwrap(), valid);
    for (bytes, field, limit) in [
        (obstacle("123456789", &[], "", 0), "label", "length 9, but its definition says at most 8"),
        (obstacle("", &["1"; 3], "", 0), "tags", "length 3, but its definition says at most 2"),
        (obstacle("", &["1234"], "", 0), "tags", "length 4, but its definition says at most 3"),
        (obstacle("", &[], "😀😀a", 0), "wide", "length 5, but its definition says at most 4"),
        (obstacle("", &[], "", 5), "some_bytes", "length 5, but its definition says at most 4"),
    ] {
        let expected = format!("field `{field}` of {} has {limit}", Obstacle::TYPE_NAME);
        refused::<Obstacle>(&bytes, &expected);
        refused::<my_rmw::Obstacle>(&bytes, &expected);
    }
}
