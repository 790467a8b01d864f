//! Replay of messages that were recorded with another definition of their type.

use crate::support::{ms, record, topic};
use ringspin_bag::{Definition, MemoryRecording, MessageTypes, Migration, Player, Topic};
use ringspin_executor::{BoxError, ErrorKind, Graph, QoS};
use ringspin_messages::RosMessage;
use ringspin_messages::sensor_msgs::msg::Range;
use ringspin_simulation::Job;
use serde::{Deserialize, Serialize};

/// A recording of one message on `/n`, with the definition `text` of the type of `M`.
fn recorded<M: RosMessage>(text: &str, message: &impl Serialize) -> MemoryRecording {
    let definition = Some(Definition { encoding: "ros2msg".into(), text: text.into() });
    let topic = Topic { type_hash: Some("RIHS01_old".into()), definition, ..topic::<M>("/n") };
    MemoryRecording { topics: vec![topic], records: vec![record(0, ms(0), 0, message)] }
}

/// The message that a node receives, and how its topic was migrated.
fn play<M: RosMessage + Clone>(recording: MemoryRecording) -> Result<(M, Migration), BoxError> {
    let types = MessageTypes::new().with::<M>();
    let player = Player::new([recording]).allow_evolution();
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        let received = probe.create_collector::<M>("n", QoS::keep_last(1))?;
        Ok((received, player.add_to(graph, &types)?))
    });
    let mut session = player.apply_times(job, &types)?.start()?;
    session.run_until_true(|(_, player), _| player.is_finished())?;
    let statistics = session.executor().statistics();
    let (received, player) = &session.handles;
    Ok((received.values().remove(0), player.report(&statistics).migrations.remove(0)))
}

/// `sensor_msgs/msg/Range` of ROS 2 Humble, which has no variance.
fn humble_range() -> MemoryRecording {
    let lines = Range::DEFINITION.split_inclusive('\n');
    let text: String = lines.filter(|line| !line.contains("variance")).collect();
    let message = (1i32, 2u32, "sonar", 1u8, [0.5f32, 0.25, 8.0, 1.5]);
    recorded::<Range>(&text, &message)
}

#[test]
fn a_range_of_humble_is_played_without_variance() {
    let (range, migration) = play::<Range>(humble_range()).unwrap();
    assert_eq!((range.header.stamp.sec, &*range.header.frame_id), (1, "sonar"));
    assert_eq!((range.radiation_type, range.field_of_view, range.range), (1, 0.5, 1.5));
    assert_eq!((range.min_range, range.max_range, range.variance), (0.25, 8.0, 0.0));
    assert_eq!((&*migration.topic, &*migration.type_name), ("/n", Range::TYPE_NAME));
    assert_eq!((migration.defaulted, migration.left_out), (vec!["variance".into()], vec![]));
}

#[test]
fn evolution_is_refused_unless_it_is_allowed() {
    let graph = Graph::new();
    let probe = graph.create_node("probe", ()).unwrap();
    probe.create_collector::<Range>("n", QoS::default()).unwrap();
    let player = Player::new([humble_range()]);
    let error = player.add_to(&graph, &MessageTypes::new().with::<Range>()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    assert!(error.to_string().contains("allow the evolution of definitions"), "{error}");
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pose {
    quality: u8,
    x: f32,
    covariance: [f64; 2],
}

/// A message with every kind of field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Path {
    last: f64,
    level: i32,
    unit: String,
    range: [f32; 2],
    poses: Vec<Pose>,
    color: Vec<u8>,
    /// The units of a wide string.
    title: Vec<u32>,
    name: String,
    nothing: u8,
    origin: (i64, u8),
    flags: Vec<bool>,
    few: Vec<i16>,
}

fn delimited(sections: &[&str]) -> String {
    sections.join(&format!("\n{}\n", "=".repeat(80)))
}

impl RosMessage for Path {
    const TYPE_NAME: &'static str = "test_msgs/msg/Path";
    const DEFINITION: &'static str = "float64 last\nint32 level -7\nstring unit \"m\"\n\
        float32[2] range [1.5, -2.0]\nPose[] poses\nuint8[] color\nwstring title\nstring name\n\
        std_msgs/Empty nothing\nOrigin origin\nbool[] flags [true, false]\nint16[<=2] few\n\
        ================================================================================\n\
        MSG: test_msgs/Pose\nuint8 quality 9\nfloat32 x\nfloat64[2] covariance\n\
        ================================================================================\n\
        MSG: test_msgs/Origin\nint64 a 5\nstd_msgs/Empty e\n\
        ================================================================================\n\
        MSG: std_msgs/Empty\n";
    const TYPE_HASH: &'static str = "RIHS01_new";
}

/// The definition before `Path` evolved, with another type of `last`.
fn old_path(last: &str) -> String {
    let fields = format!(
        "string<=20 name\nPose[<=9] poses\nuint8[3] color\nwstring title\nint16[] gone\n\
         std_msgs/Empty nothing\nint16[] few\n{last} last"
    );
    let pose = "MSG: test_msgs/Pose\nfloat32 x\nbool valid";
    delimited(&[&fields, pose, "MSG: std_msgs/Empty\n"])
}

type OldPath = (&'static str, Vec<(f32, bool)>, [u8; 3], Vec<u32>, Vec<i16>, u8, Vec<i16>, f64);

fn old_message(few: Vec<i16>) -> OldPath {
    let poses = vec![(0.5, true), (-0.5, false)];
    ("loop", poses, [1, 2, 3], vec![0x41, 0x1F600 - 0x10000], vec![8; 5], 0, few, 2.5)
}

#[test]
fn fields_are_matched_by_name_at_every_depth() {
    let recording = recorded::<Path>(&old_path("float64"), &old_message(vec![4, 5]));
    let (path, migration) = play::<Path>(recording).unwrap();
    let pose = |x| Pose { quality: 9, x, covariance: [0.0; 2] };
    let expected = Path {
        last: 2.5,
        level: -7,
        unit: "m".into(),
        range: [1.5, -2.0],
        poses: vec![pose(0.5), pose(-0.5)],
        color: vec![1, 2, 3],
        title: vec![0x41, 0xF600],
        name: "loop".into(),
        nothing: 0,
        origin: (5, 0),
        flags: vec![true, false],
        few: vec![4, 5],
    };
    assert_eq!(path, expected);
    let defaulted =
        ["level", "unit", "range", "poses[].quality", "poses[].covariance", "origin", "flags"];
    assert_eq!(migration.defaulted, defaulted);
    assert_eq!(migration.left_out, ["poses[].valid", "gone"]);
}

#[test]
fn big_endian_messages_are_migrated() {
    let mut recording = recorded::<Path>("float64 last\nuint8[] color", &0u8);
    recording.records[0].data =
        [vec![0, 0, 0, 0], 2.5f64.to_be_bytes().into(), vec![0, 0, 0, 2, 7, 8]].concat();
    let (path, _) = play::<Path>(recording).unwrap();
    assert_eq!((path.last, path.color, path.level), (2.5, vec![7, 8], -7));
}

#[test]
fn messages_that_cannot_be_migrated_are_errors_with_the_field() {
    let error = |recording| play::<Path>(recording).unwrap_err().to_string();
    let message = old_message(vec![]);
    let retyped = error(recorded::<Path>(&old_path("float32"), &message));
    let expected = "failed to play topic /n: field `last` was recorded as float32, and is float64 \
        in the program; build the node with the recorded definition";
    assert!(retyped.ends_with(expected), "{retyped}");
    let too_long = error(recorded::<Path>(&old_path("float64"), &old_message(vec![1; 3])));
    assert!(too_long.contains("field `few`: it has 3 elements, and 2 are possible"), "{too_long}");
    let mut cut = recorded::<Path>(&old_path("float64"), &message);
    let bytes = cut.records[0].data.len();
    for length in 0..bytes {
        cut.records[0].data.truncate(bytes - 1 - length);
        let cut = error(cut.clone());
        assert!(cut.contains("failed to decode the recorded message at byte"), "{cut}");
    }
    let mut undefined = recorded::<Path>("", &message);
    undefined.topics[0].definition = None;
    assert!(error(undefined).contains("the recording has no definition of test_msgs/msg/Path"));
}
