//! Serialization of messages: all types, both byte orders, limits of the definitions, damaged data.

use super::model::{Encoder, definitions};
use proptest::prelude::*;
use ringspin_message_generator::{Array, Definitions, Element, TypeName};
use ringspin_messages::cdr::{CdrError, check, from_bytes, to_bytes};
use ringspin_messages::{CdrType, MessageChecks, RawMessage};
use ringspin_messages::{
    GeneratedMessage, RosAction, RosMessage, RosService, TypeVisitor, visit_types,
};
use ringspin_messages::{
    builtin_interfaces, geometry_msgs, nav_msgs, sensor_msgs, std_msgs, std_srvs,
};
use ringspin_test_msgs::{my_msgs, test_msgs};
use std::any::TypeId;

/// Calls a function for each type, with its knowledge of the type.
struct EachType<'a> {
    definitions: &'a Definitions,
    seed: u64,
    types: usize,
}

impl TypeVisitor for EachType<'_> {
    fn message<M: GeneratedMessage>(&mut self) {
        let name = TypeName::parse(M::TYPE_NAME).unwrap();
        let [little, big] = Encoder::encode(self.definitions, &name, self.seed);
        for bytes in [&little, &big] {
            let message: M = from_bytes(bytes).unwrap();
            assert_eq!(to_bytes(&message).unwrap(), little, "{}", M::TYPE_NAME);
            assert_eq!(check(&message), Ok(()), "{}", M::TYPE_NAME);
        }
        let default = M::default();
        let bytes = to_bytes(&default).unwrap();
        assert_eq!(from_bytes::<M>(&bytes).unwrap(), default);
        let json = serde_json::to_string(&from_bytes::<M>(&little).unwrap()).unwrap();
        // JSON has no infinity, and its reader rounds the last bit of numbers.
        if !json.contains("null") {
            let message: M = serde_json::from_str(&json).unwrap();
            assert_eq!(to_bytes(&message).unwrap().len(), little.len(), "{json}");
        }
        self.types += 1;
    }
}

/// Compares the constants of each type with its definition.
struct Constants(Definitions);

impl TypeVisitor for Constants {
    fn message<M: GeneratedMessage>(&mut self) {
        let name = TypeName::parse(M::TYPE_NAME).unwrap();
        assert_eq!(self.0.type_hash(&name).as_deref(), Some(M::TYPE_HASH));
        assert_eq!(self.0.schema(&name).as_deref(), Some(M::DEFINITION));
    }

    fn service<S: RosService>(&mut self) {
        let name = TypeName::parse(S::TYPE_NAME).unwrap();
        assert_eq!(self.0.type_hash(&name).as_deref(), Some(S::TYPE_HASH));
        assert_eq!(S::Request::TYPE_NAME, format!("{name}_Request"));
        assert_eq!(S::Event::TYPE_NAME, format!("{name}_Event"));
    }

    fn action<A: RosAction>(&mut self) {
        let name = TypeName::parse(A::TYPE_NAME).unwrap();
        assert_eq!(self.0.type_hash(&name).as_deref(), Some(A::TYPE_HASH));
        assert_eq!(A::Goal::TYPE_NAME, format!("{name}_Goal"));
        assert_eq!(A::FeedbackMessage::TYPE_NAME, format!("{name}_FeedbackMessage"));
        assert_eq!(A::GetResult::TYPE_NAME, format!("{name}_GetResult"));
    }
}

#[test]
fn types_have_the_names_definitions_and_hashes_of_their_definitions() {
    let mut constants = Constants(definitions());
    visit_types(&mut constants);
    ringspin_test_msgs::visit_types(&mut constants);
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) }
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn all_types_are_serialized_as_their_definitions_say(seed: u64) {
        let definitions = &definitions();
        let mut each = EachType { definitions, seed, types: 0 };
        visit_types(&mut each);
        ringspin_test_msgs::visit_types(&mut each);
        prop_assert!(each.types > 330, "only {} types", each.types);
    }
}

/// The text of the error of a message without a serialization.
#[track_caller]
fn refusal<M: RosMessage>(message: &M) -> String {
    let error = to_bytes(message).unwrap_err();
    assert_eq!(check(message), Err(error.clone()));
    error.to_string()
}

#[test]
fn lengths_that_the_definition_forbids_are_refused_by_the_name_of_the_field() {
    let imu =
        sensor_msgs::msg::Imu { angular_velocity_covariance: vec![0.0; 8], ..Default::default() };
    let error = refusal(&imu);
    assert!(
        error.contains("`angular_velocity_covariance` of sensor_msgs/msg/Imu has length 8"),
        "{error}"
    );
    assert!(error.ends_with("exactly 9"), "{error}");
    let refused = |change: fn(&mut my_msgs::msg::Obstacle), expected: &str| {
        let mut obstacle = my_msgs::msg::Obstacle::default();
        to_bytes(&obstacle).unwrap();
        change(&mut obstacle);
        let error = refusal(&obstacle);
        assert!(error.contains(expected), "{error}");
    };
    refused(|it| it.label = "123456789".into(), "`label` of my_msgs/msg/Obstacle has length 9");
    refused(|it| it.tags = vec![String::new(); 3], "`tags` of my_msgs/msg/Obstacle has length 3");
    refused(|it| it.tags = vec!["four".into()], "at most 3");
    refused(|it| it.wide = "😀😀a".into(), "`wide` of my_msgs/msg/Obstacle has length 5");
    refused(|it| it.corners.clear(), "exactly 4");
    refused(|it| it.some_bytes = vec![0; 5], "at most 4");
}

#[test]
fn bounds_hold_for_data_as_well() {
    let message = std_srvs::srv::SetBool::Event {
        request: vec![std_srvs::srv::SetBool::Request { data: true }],
        ..Default::default()
    };
    let mut bytes = to_bytes(&message).unwrap();
    let count = bytes.iter().rposition(|byte| *byte == 1).unwrap() - 4;
    assert_eq!(bytes[count], 1);
    bytes[count] = 2;
    let error = from_bytes::<std_srvs::srv::SetBool::Event>(&bytes).unwrap_err().to_string();
    assert!(error.contains("`request` of std_srvs/srv/SetBool_Event has length 2"), "{error}");
}

#[test]
fn defaults_and_constants_are_those_of_the_definition() {
    let defaults = test_msgs::msg::Defaults::default();
    assert_eq!((defaults.int64_value, defaults.float32_value), (-40_000_000, 1.125));
    let arrays = test_msgs::msg::Arrays::default();
    assert_eq!(arrays.uint64_values_default, [0, 1, u64::MAX]);
    assert_eq!(arrays.string_values_default, ["", "max value", "min value"]);
    assert_eq!(arrays.basic_types_values.len(), 3);
    let obstacle = my_msgs::msg::Obstacle::default();
    assert_eq!((obstacle.type_, &*obstacle.label), (my_msgs::msg::Obstacle::CAR, "car"));
    assert_eq!((obstacle.range, obstacle.corners.len()), (f32::INFINITY, 4));
    assert_eq!(my_msgs::msg::Obstacle::FRAME, "map");
    assert_eq!(geometry_msgs::msg::Quaternion::default().w, 1.0);
    assert_eq!(std_msgs::msg::Bool::default(), std_msgs::msg::Bool { data: false });
}

#[test]
fn unknown_encapsulations_are_refused() {
    for id in [2, 3, 6, 7, 8, 11, 255] {
        let refused = from_bytes::<std_msgs::msg::Bool>(&[0, id, 0, 0, 1]);
        assert_eq!(refused, Err(CdrError::Encapsulation(id.into())));
    }
    let refused = from_bytes::<std_msgs::msg::Bool>(&[1, 1, 0, 0, 1]);
    assert_eq!(refused, Err(CdrError::Encapsulation(0x101)));
}

#[test]
fn bytes_after_the_message_are_ignored() {
    let read = |bytes: &[u8]| from_bytes::<std_msgs::msg::Bool>(bytes);
    assert!(read(&[0, 1, 0, 0, 1, 0x55, 9, 9]).unwrap().data);
    assert!(read(&[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap().data);
    assert!(read(&[0, 1, 0]).unwrap_err().to_string().contains("no header"));
    assert!(from_bytes::<std_msgs::msg::Empty>(&[0, 1, 0, 0]).is_err());
    assert_eq!(to_bytes(&std_msgs::msg::Empty {}).unwrap(), [0, 1, 0, 0, 0]);
}

#[test]
fn wide_strings_are_those_of_fast_dds() {
    // Serialized by rclpy of ROS 2 Jazzy with rmw_fastrtps.
    let wide = test_msgs::msg::WStrings { wstring_value: "aé😀".into(), ..Default::default() };
    let expected = [4, 0, 0, 0, 0x61, 0, 0, 0, 0xe9, 0, 0, 0, 0x3d, 0xd8, 0, 0, 0, 0xde, 0, 0];
    assert_eq!(to_bytes(&wide).unwrap()[4..24], expected);
}

#[test]
fn damaged_text_is_refused() {
    let read = |bytes: &[u8]| from_bytes::<std_msgs::msg::String>(&[&[0, 1, 0, 0], bytes].concat());
    assert_eq!(read(&[2, 0, 0, 0, b'a', 0]).unwrap().data, "a");
    assert_eq!(read(&[0, 0, 0, 0]).unwrap().data, "", "some writers send no NUL");
    assert!(read(&[3, 0, 0, 0, b'a', 0xff, 0]).unwrap_err().to_string().contains("UTF-8"));
    assert!(read(&[9, 0, 0, 0, b'a', 0]).is_err());
}

#[test]
fn stamps_are_those_of_the_header() {
    use ringspin_executor::{Stamped, Time};
    let time = Time::from_nanos(7_000_000_009);
    let stamp = builtin_interfaces::msg::Time::from_time(time);
    assert_eq!(stamp, builtin_interfaces::msg::Time { sec: 7, nanosec: 9 });
    let header = std_msgs::msg::Header { stamp, ..Default::default() };
    let obstacle = my_msgs::msg::Obstacle { header, ..Default::default() };
    assert_eq!(obstacle.stamp(), time);
    let before = builtin_interfaces::msg::Time { sec: -1, nanosec: 5 };
    assert_eq!(before.to_time(), Time::ZERO);
    assert_eq!(builtin_interfaces::msg::Time::from_time(Time::MAX).sec, i32::MAX);
}

#[test]
fn strings_that_ros_would_cut_off_are_refused_by_the_name_of_the_field() {
    let mut nested = test_msgs::msg::MultiNested::default();
    to_bytes(&nested).unwrap();
    nested.array_of_arrays[2].string_values[1] = "ab\0".into();
    let error = refusal(&nested);
    assert!(error.contains("array_of_arrays[2].string_values[1]: a string has a NUL"), "{error}");
    assert!(error.contains("at byte 2"), "{error}");
    // In 16-bit text, which has an explicit length, NUL is a character like any other.
    let wide = test_msgs::msg::WStrings { wstring_value: "a\0b".into(), ..Default::default() };
    assert_eq!(check(&wide), Ok(()));
    assert_eq!(from_bytes::<test_msgs::msg::WStrings>(&to_bytes(&wide).unwrap()), Ok(wide));
}

#[test]
fn a_buffer_that_is_used_again_has_only_the_last_message_and_allocates_nothing() {
    let table = CdrType::of::<sensor_msgs::msg::Image>();
    let message = |length| sensor_msgs::msg::Image {
        data: vec![7; length],
        encoding: "mono8".into(),
        ..Default::default()
    };
    let (large, small, mut buffer) = (message(5000), message(3), Vec::new());
    table.serialize(&large, &mut buffer).unwrap();
    let allocated = allocation_counter::measure(|| {
        assert_eq!(table.serialize(&small, &mut buffer).map(<[u8]>::len), Ok(51));
        table.serialize(&large, &mut buffer).unwrap();
    });
    assert_eq!(allocated.count_total, 0);
    assert_eq!(buffer, to_bytes(&large).unwrap());
}

#[test]
fn a_check_of_numbers_allocates_nothing() {
    let map = nav_msgs::msg::OccupancyGrid { data: vec![-1; 5000], ..Default::default() };
    let allocated = allocation_counter::measure(|| assert_eq!(check(&map), Ok(())));
    assert_eq!(allocated.count_total, 0);
}

/// Compares the presence of checks with the definitions.
struct EachCheck<'a>(&'a Definitions, &'a MessageChecks, [usize; 2]);

impl TypeVisitor for EachCheck<'_> {
    fn message<M: GeneratedMessage>(&mut self) {
        let Self(definitions, checks, counts) = self;
        let name = TypeName::parse(M::TYPE_NAME).unwrap();
        let parts = definitions.dependencies(&name).into_iter().chain(definitions.get(&name));
        let is_limited = parts.flat_map(|message| &message.fields).any(|field| {
            let is_text = matches!(field.ty.element, Element::String(_) | Element::WString(_));
            is_text || matches!(field.ty.array, Array::Fixed(_) | Array::Bounded(_))
        });
        let is_checked = checks.check_of(TypeId::of::<M>()).is_some();
        assert!(is_checked || !is_limited, "{}", M::TYPE_NAME);
        assert_eq!(CdrType::of::<M>().check().is_some(), is_checked, "{}", M::TYPE_NAME);
        counts[usize::from(is_checked)] += 1;
    }
}

#[test]
fn each_type_with_a_string_or_a_limit_has_a_check_and_many_others_have_none() {
    let mut of_tests = MessageChecks::default();
    ringspin_test_msgs::visit_types(&mut of_tests);
    let definitions = definitions();
    let mut common = EachCheck(&definitions, MessageChecks::of_common_packages(), [0; 2]);
    visit_types(&mut common);
    let mut other = EachCheck(&definitions, &of_tests, [0; 2]);
    ringspin_test_msgs::visit_types(&mut other);
    for [unchecked, checked] in [common.2, other.2] {
        assert!(unchecked > 10 && checked > 10, "{unchecked} {checked}");
    }
}

#[test]
fn values_that_ros_does_not_have_are_refused() {
    let says = |error: Result<Vec<u8>, CdrError>, what: &str| {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    says(to_bytes(&Some(1)), "ROS 2 messages have no optional values");
    says(to_bytes(&std::collections::BTreeMap::from([(1, 2)])), "have no maps");
    let read = |bytes: &[u8]| from_bytes::<Option<u32>>(bytes).unwrap_err().to_string();
    assert!(read(&[0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]).contains("have no optional values"));
    assert!(from_bytes::<bool>(&[0, 1, 0, 0, 2]).unwrap_err().to_string().contains("neither true"));
    assert_eq!(to_bytes(&(true, 'x', 1.5_f32, ())).unwrap()[4..].len(), 12);
}

#[test]
fn raw_bytes_stay_as_they_are_and_other_types_are_refused() {
    let (table, message) = (CdrType::raw(), RawMessage(vec![0, 1, 0, 0, 7]));
    let mut buffer = Vec::new();
    let bytes = table.serialize(&message, &mut buffer).unwrap();
    assert!(std::ptr::eq(bytes, &*message.0), "not copied");
    let mut slot = None;
    assert!(table.fits_slot(&slot) && !table.fits_slot(&7u8));
    table.read(bytes, &mut slot).unwrap();
    assert_eq!(slot, Some(message));
    assert!(table.serialize(&7u8, &mut buffer).is_err() && table.read(&[], &mut 7u8).is_err());
}
