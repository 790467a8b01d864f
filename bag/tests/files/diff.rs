//! The first difference of two recordings.

use ringspin_bag::diff::{DiffOptions, Difference, Side, first_difference};
use ringspin_bag::{Definition, MessageComparer, Record, Topic, TopicId};
use ringspin_executor::{Error, ErrorKind, Time};
use ringspin_messages::cdr;
use serde::Serialize;

#[derive(Clone, Serialize)]
struct Point {
    flag: bool,
    x: f64,
}

#[derive(Clone, Serialize)]
struct Track {
    frame: String,
    covariance: [f32; 3],
    points: Vec<Point>,
    nothing: Empty,
    data: Vec<u8>,
    last: i16,
}

/// A message without fields has one byte.
#[derive(Clone, Serialize)]
struct Empty {
    structure_needs_at_least_one_member: u8,
}

fn schema() -> String {
    let line = "=".repeat(80);
    format!(
        "string<=20 frame # of reference\nfloat32[3] covariance\nPoint[] points\nNothing nothing\n\
         uint8[<=9] data\nint16 last\nint16 LAST_MAX=7\n{line}\nMSG: my_msgs/Point\nbool flag\n\
         float64 x\n{line}\nMSG: my_msgs/Nothing\n"
    )
}

fn definition() -> Definition {
    Definition { encoding: "ros2msg".into(), text: schema() }
}

fn track() -> Track {
    let points = [0.0, 1.0].map(|x| Point { flag: true, x }).to_vec();
    let nothing = Empty { structure_needs_at_least_one_member: 0 };
    let (frame, data) = ("map".into(), vec![1, 2, 3]);
    Track { frame, covariance: [0.0; 3], points, nothing, data, last: -1 }
}

fn bytes(change: impl FnOnce(&mut Track)) -> Vec<u8> {
    let mut track = track();
    change(&mut track);
    cdr::to_bytes(&track).unwrap()
}

fn topic(name: &str, definition: Option<Definition>) -> Topic {
    Topic {
        name: name.into(),
        type_name: "my_msgs/msg/Track".into(),
        type_hash: None,
        definition,
        serialization_format: "cdr".into(),
        offered_qos: Vec::new(),
    }
}

fn record(topic: usize, second: u64, data: Vec<u8>) -> Record {
    let time = Time::from_secs(second);
    let (log_time, publish_time) = (time, time);
    Record { topic: TopicId(topic), log_time, publish_time, sequence: 0, data }
}

fn diff(
    left: (&[Topic], Vec<Record>),
    right: (&[Topic], Vec<Record>),
    options: &DiffOptions,
) -> Option<Difference> {
    let records = |records: Vec<Record>| records.into_iter().map(Ok::<_, Error>);
    first_difference((left.0, records(left.1)), (right.0, records(right.1)), options).unwrap()
}

/// The difference of two messages on one topic.
fn one(left: Vec<u8>, right: Vec<u8>) -> String {
    let topics = [topic("/track", Some(definition()))];
    let [left, right] = [left, right].map(|data| (&topics[..], vec![record(0, 1, data)]));
    diff(left, right, &DiffOptions::default()).map(|it| it.to_string()).unwrap_or_default()
}

#[test]
fn fields_that_differ_are_shown_with_their_paths() {
    let left = bytes(|_| ());
    let right = bytes(|track| {
        track.frame = "odom".into();
        track.covariance[1] = f32::NAN;
        track.points[1].x = -1.5;
        track.points[0].flag = false;
        track.data.push(4);
        track.last = 3;
    });
    let expected = "\
/track: message 0 (my_msgs/msg/Track) differs
  frame: \"map\" | \"odom\"
  covariance[1]: 0.0 | NaN (0x7fc00000)
  points[0].flag: true | false
  points[1].x: 1.0 | -1.5
  data: 3 elements | 4 elements
  last: -1 | 3";
    assert_eq!(one(left.clone(), right), expected);
    // The elements of the longer one are skipped.
    let longer = bytes(|track| track.points.insert(0, Point { flag: false, x: 7.0 }));
    let shown = one(left, longer);
    assert!(shown.contains("\n  points: 2 elements | 3 elements\n"), "{shown}");
    assert!(shown.contains("points[1].x: 1.0 | 0.0") && !shown.contains("last"), "{shown}");
}

#[test]
fn padding_and_byte_order_are_no_difference() {
    let message = bytes(|_| ());
    let mut padded = message.clone();
    // The length of "map" and its text take 8 bytes, the numbers 12, the count 4, the first flag 1.
    let at = 4 + 8 + 12 + 4 + 1;
    assert_eq!(padded[at..at + 7], [0; 7]);
    padded[at..at + 7].fill(0xaa);
    padded.extend([0; 3]);
    assert_ne!(message, padded);
    assert_eq!(one(message.clone(), padded), "");
    let comparer = MessageComparer::new("my_msgs/msg/Track", &definition()).unwrap();
    let mut swapped = vec![0, 0, 0, 0];
    swapped.extend(cdr_encoding::to_vec::<_, byteorder::BigEndian>(&track()).unwrap());
    assert_eq!(comparer.differences(&message, &swapped, 9).unwrap(), Default::default());
}

#[test]
fn wide_strings_are_compared_as_text() {
    let definition = Definition { encoding: "ros2msg".into(), text: "wstring name\n".into() };
    let comparer = MessageComparer::new("my_msgs/msg/Name", &definition).unwrap();
    let message = |units: &[u32]| cdr::to_bytes(&units.to_vec()).unwrap();
    let (left, right) = (message(&[0x48, 0xe9]), message(&[0x48, 0xd83d, 0xde00]));
    let found = comparer.differences(&left, &right, 9).unwrap().fields;
    assert_eq!((&*found[0].left, &*found[0].right), ("\"Hé\"", "\"H😀\""));
    let error = comparer.differences(&left, &message(&[0x1_0000]), 9).unwrap_err();
    assert!(error.to_string().contains("0x10000"), "{error}");
}

#[test]
fn only_so_many_fields_are_described_as_asked_for() {
    let right = bytes(|track| track.covariance = [1.0; 3]);
    let topics = [topic("/track", Some(definition()))];
    let [left, right] = [bytes(|_| ()), right].map(|data| (&topics[..], vec![record(0, 1, data)]));
    let options = DiffOptions { fields_max: 1, ..Default::default() };
    let found = diff(left, right, &options).unwrap().to_string();
    assert!(found.ends_with("covariance[0]: 0.0 | 1.0\n  and 2 more fields"), "{found}");
}

#[test]
fn stamps_differ_unless_they_are_ignored() {
    let topics = [topic("/track", None)];
    let [left, right] = [1, 2].map(|second| vec![record(0, second, vec![0])]);
    let found = diff((&topics, left.clone()), (&topics, right.clone()), &DiffOptions::default());
    let found = found.unwrap().to_string();
    assert!(found.contains("(log time): 1.000000000 | 2.000000000"), "{found}");
    assert!(found.contains("(publish time): 1.000000000 | 2.000000000"), "{found}");
    let options = DiffOptions { stamps: false, ..Default::default() };
    assert_eq!(diff((&topics, left), (&topics, right), &options), None);
}

#[test]
fn topics_are_compared_by_name_whatever_their_order() {
    let [a, b] = ["/a", "/b"].map(|name| topic(name, None));
    let left = vec![record(0, 1, vec![1]), record(1, 1, vec![2]), record(1, 2, vec![3])];
    let right = vec![record(0, 1, vec![2]), record(0, 2, vec![3]), record(1, 1, vec![1])];
    let (left_topics, right_topics) = ([a.clone(), b.clone()], [b.clone(), a.clone()]);
    let options = DiffOptions::default();
    assert_eq!(diff((&left_topics, left.clone()), (&right_topics, right.clone()), &options), None);
    // A message more, and one less.
    let shorter = diff((&left_topics, left[..2].to_vec()), (&right_topics, right), &options);
    let expected = Difference::Message {
        topic: "/b".into(),
        index: 1,
        only_in: Side::Right,
        log_time: Time::from_secs(2),
    };
    assert_eq!(shorter, Some(expected));
    let alone = diff((&left_topics, left), (&right_topics[..1], vec![]), &options);
    assert_eq!(alone, Some(Difference::Topic { name: "/a".into(), only_in: Side::Left }));
    let typed = |hash: &str| [Topic { type_hash: Some(hash.into()), ..a.clone() }];
    assert_eq!(diff((&typed("x"), vec![]), (std::slice::from_ref(&a), vec![]), &options), None);
    let found = diff((&typed("x"), vec![]), (&typed("y"), vec![]), &options).unwrap().to_string();
    assert!(found.contains("left:  my_msgs/msg/Track (x)"), "{found}");
    // Without a recorded hash, that of the definition counts.
    let defined = [topic("/a", Some(definition()))];
    let hash = defined[0].hash().unwrap();
    assert_eq!(diff((&typed(&hash), vec![]), (&defined, vec![]), &options), None);
    let found = diff((&typed("x"), vec![]), (&defined, vec![]), &options).unwrap().to_string();
    assert!(found.contains(&format!("right: my_msgs/msg/Track ({hash})")), "{found}");
}

#[test]
fn bytes_are_compared_where_fields_cannot_be() {
    let (left, mut right) = (bytes(|_| ()), bytes(|_| ()));
    right[10] ^= 1;
    let differs = |definition: Option<Definition>, left: &[u8], right: &[u8]| {
        let topics = [topic("/track", definition)];
        let [left, right] =
            [left, right].map(|data| (&topics[..], vec![record(0, 1, data.to_vec())]));
        diff(left, right, &DiffOptions::default()).unwrap().to_string()
    };
    let found = differs(None, &left, &right);
    assert!(found.contains("(byte 10): 0x70, of") && found.contains("no definition"), "{found}");
    let idl = Definition { encoding: "ros2idl".into(), text: "module my_msgs {}".into() };
    let found = differs(Some(idl), &left, &right);
    for part in ["/track", "(byte 10)", "`ros2idl`"] {
        assert!(found.contains(part), "{found}");
    }
    let cycle = Definition { encoding: "ros2msg".into(), text: "my_msgs/Track again\n".into() };
    let found = differs(Some(cycle), &left, &right);
    assert!(found.contains("(byte 10)") && found.contains("my_msgs/msg/Track"), "{found}");
    let found = differs(Some(definition()), &left, &left[..30]);
    assert!(
        found.contains("end, after 30 bytes") && found.contains("the right message"),
        "{found}"
    );
    let parameter_list = [&[0, 3, 0, 0], &left[4..]].concat();
    let found = differs(Some(definition()), &left, &parameter_list);
    assert!(found.contains("its encapsulation [0, 3] is not CDR"), "{found}");
}

#[test]
fn damaged_messages_are_errors_or_differences() {
    let comparer = MessageComparer::new("my_msgs/msg/Track", &definition()).unwrap();
    let message = bytes(|_| ());
    for length in 0..message.len() {
        let error = comparer.differences(&message, &message[..length], 9).unwrap_err();
        assert!(error.to_string().starts_with("failed to decode the right message"), "{error}");
    }
    let mut harmless = 0;
    for bit in 0..message.len() * 8 {
        let mut damaged = message.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // Reserved bits of the header and padding are no difference.
        harmless +=
            usize::from(comparer.differences(&message, &damaged, 9) == Ok(Default::default()));
    }
    assert!(harmless < 40 * 8, "{harmless}");
}

#[test]
fn definitions_and_messages_of_any_size_end_soon() {
    let huge = "Bytes[4294967295] parts\n";
    let line = "=".repeat(80);
    let text = format!(
        "{huge}{line}\nMSG: my_msgs/Bytes\nNothing[4294967295] parts\n{line}\n\
        MSG: my_msgs/Nothing\n"
    );
    let definition = Definition { encoding: "ros2msg".into(), text };
    let comparer = MessageComparer::new("my_msgs/msg/Track", &definition).unwrap();
    let message = vec![0, 1, 0, 0, 0, 0, 0];
    let error = comparer.differences(&message, &message, 9).unwrap_err();
    assert!(error.to_string().contains("field `parts[0].parts[3]`: "), "{error}");
    let text = "uint64[] data\n".into();
    let definition = Definition { encoding: "ros2msg".into(), text };
    let comparer = MessageComparer::new("my_msgs/msg/Track", &definition).unwrap();
    let message = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3];
    let error = comparer.differences(&message, &message, 9).unwrap_err();
    assert!(error.to_string().contains("4294967295 elements, and 3 bytes"), "{error}");
}

#[test]
fn values_are_shown_on_their_sides_whichever_recording_is_ahead() {
    let topics = ["/a", "/b"].map(|name| topic(name, None));
    // The right recording is ahead on /b, the left one on /a.
    let left = vec![record(0, 1, vec![1]), record(1, 1, vec![2])];
    let right = vec![record(1, 1, vec![3]), record(0, 1, vec![1])];
    let found = diff((&topics, left), (&topics, right), &DiffOptions::default()).unwrap();
    let expected = "(byte 0): 0x02, of 1 bytes | 0x03, of 1 bytes";
    assert!(found.to_string().contains(expected), "{found}");
}

#[test]
fn the_earliest_message_without_a_counterpart_is_named_then_the_first_topic() {
    let topics = ["/c", "/a", "/b"].map(|name| topic(name, None));
    let only = |left: Vec<Record>| {
        let found = diff((&topics, left), (&topics, vec![]), &DiffOptions::default());
        let Some(Difference::Message { topic, only_in, .. }) = found else { panic!("{found:?}") };
        assert_eq!(only_in, Side::Left);
        topic
    };
    let at = |topic, second| record(topic, second, vec![0]);
    assert_eq!(only(vec![at(1, 3), at(2, 2)]), "/b");
    assert_eq!(only(vec![at(0, 2), at(2, 2)]), "/b");
}

#[test]
fn a_topic_or_type_of_one_recording_is_a_difference() {
    let (a, other) =
        (topic("/a", None), Topic { type_name: "my_msgs/msg/Other".into(), ..topic("/a", None) });
    let found = |left: &[Topic], right: &[Topic]| {
        diff((left, vec![]), (right, vec![]), &DiffOptions::default())
    };
    let expected = Difference::Topic { name: "/a".into(), only_in: Side::Right };
    assert_eq!(found(&[], std::slice::from_ref(&a)), Some(expected));
    let expected = Difference::Type {
        topic: "/a".into(),
        left: "my_msgs/msg/Track".into(),
        right: "my_msgs/msg/Other".into(),
    };
    assert_eq!(found(&[a], &[other]), Some(expected));
}

#[test]
fn a_recording_that_cannot_be_read_is_an_error() {
    let topics = [topic("/a", None)];
    let damaged = Error::new(ErrorKind::Parse, "checksum differs");
    let error = first_difference(
        (&topics, [Ok(record(0, 1, vec![1])), Err(damaged.clone())].into_iter()),
        (&topics, [Ok(record(0, 1, vec![1]))].into_iter()),
        &DiffOptions::default(),
    );
    assert_eq!(error, Err(damaged));
}

#[test]
fn messages_differ_even_if_no_field_is_to_be_described() {
    let topics = [topic("/track", Some(definition()))];
    let right = bytes(|track| track.last = 3);
    let [left, right] = [bytes(|_| ()), right].map(|data| (&topics[..], vec![record(0, 1, data)]));
    let options = DiffOptions { fields_max: 0, ..Default::default() };
    let found = diff(left, right, &options).unwrap().to_string();
    assert!(found.ends_with("differs\n  and 1 more fields"), "{found}");
}

#[test]
fn equal_bytes_in_other_byte_orders_are_different_numbers() {
    let definition = Definition { encoding: "ros2msg".into(), text: "uint16[2] data\n".into() };
    let comparer = MessageComparer::new("my_msgs/msg/Pair", &definition).unwrap();
    let (little, big) = ([0, 1, 0, 0, 1, 0, 2, 0], [0, 0, 0, 0, 1, 0, 2, 0]);
    let found = comparer.differences(&little, &big, 9).unwrap().fields;
    assert_eq!((found.len(), &*found[0].left, &*found[0].right), (2, "1", "256"));
}

#[test]
fn only_messages_that_wait_for_counterparts_take_memory() {
    const MESSAGE: usize = 16 << 20;
    let topics = ["/a", "/b"].map(|name| topic(name, None));
    let messages = |topic| (0..17).map(move |second| Ok(record(topic, second, vec![0; MESSAGE])));
    let compare = |right| {
        let (left, right) = ((&topics[..], messages(0)), (&topics[..], messages(right)));
        first_difference(left, right, &DiffOptions::default())
    };
    assert!(matches!(compare(0), Ok(None)));
    assert_eq!(compare(1).unwrap_err().kind(), ErrorKind::LimitReached);
}
