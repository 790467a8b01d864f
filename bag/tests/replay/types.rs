//! Types of recordings and of nodes.

use crate::support::{Number, Stamped, numbers, replay, topic, types};
use ringspin_bag::{
    Definition, MemoryRecording, MessageTypes, PlayError, Player, RecordError, Recorder, Topic,
};
use ringspin_executor::{Graph, QoS, Time};
use ringspin_messages::sensor_msgs::msg::Temperature;
use ringspin_messages::{RawMessage, RosMessage};
use ringspin_simulation::Job;

/// A graph with a collector of messages of type `M` on `/n`.
fn graph_with<M: Send + Sync + 'static>() -> Graph {
    let graph = Graph::new();
    let probe = graph.create_node("probe", ()).unwrap();
    probe.create_collector::<M>("n", QoS::default()).unwrap();
    graph
}

#[test]
fn a_subscription_of_another_type_is_refused_by_name_and_hash() {
    let player = Player::new([numbers("/n", &[(0, 1)])]);
    let error = player.add_to(&graph_with::<Stamped>(), &types()).unwrap_err();
    assert!(matches!(error, PlayError::TypeMismatch { .. }));
    assert_eq!(
        error.to_string(),
        "failed to play topic /n: it was recorded with type test_msgs/msg/Number (RIHS01_aa), but \
         a node of the graph has type test_msgs/msg/Stamped (RIHS01_bb); build the node with the \
         recorded definition, or exclude or remap the topic"
    );
}

#[test]
fn a_subscription_of_another_version_of_the_type_is_refused_by_hash() {
    let mut recording = numbers("/n", &[(0, 1)]);
    recording.topics[0].type_hash = Some("RIHS01_old".into());
    let player = Player::new([recording.clone()]);
    let error = player.add_to(&graph_with::<Number>(), &types()).unwrap_err().to_string();
    assert!(error.contains("test_msgs/msg/Number (RIHS01_old), but"), "{error}");
    assert!(error.contains("has type test_msgs/msg/Number (RIHS01_aa)"), "{error}");
    // Without a subscription, and without a recorded hash, there is nothing to disagree about.
    player.add_to(&Graph::new(), &types()).unwrap();
    recording.topics[0].type_hash = None;
    Player::new([recording]).add_to(&graph_with::<Number>(), &types()).unwrap();
}

/// A recording of one topic without a hash, as ROS 2 wrote it before Iron.
fn without_hash(definition: Option<(&str, &str)>) -> MemoryRecording {
    let mut recording = numbers("/n", &[]);
    let topic = topic::<Temperature>("/n");
    let definition = definition
        .map(|(encoding, text)| Definition { encoding: encoding.into(), text: text.into() });
    recording.topics = vec![Topic { type_hash: None, definition, ..topic }];
    recording
}

#[test]
fn a_subscription_of_another_version_is_refused_by_the_hash_of_the_recorded_definition() {
    let play = |definition| {
        let player = Player::new([without_hash(definition)]);
        let types = types().with::<Temperature>();
        player.add_to(&graph_with::<Temperature>(), &types).map_err(Box::new)
    };
    play(Some(("ros2msg", Temperature::DEFINITION))).unwrap();
    // Comments and line ends are not part of the type.
    let text = format!("# A thermometer.\n{}", Temperature::DEFINITION.replace('\n', "\r\n"));
    play(Some(("ros2msg", &text))).unwrap();

    let other = Temperature::DEFINITION.replace("float64 temperature", "float32 temperature");
    assert_ne!(other, Temperature::DEFINITION);
    let error = play(Some(("ros2msg", &other))).unwrap_err();
    assert!(matches!(*error, PlayError::TypeMismatch { .. }), "{error}");
    let hash = without_hash(Some(("ros2msg", &other))).topics[0].hash().unwrap();
    let text = error.to_string();
    assert!(text.contains(&format!("with type sensor_msgs/msg/Temperature ({hash})")), "{text}");
    assert!(text.contains(Temperature::TYPE_HASH), "{text}");

    // A nested type has changed.
    let other = Temperature::DEFINITION.replace("uint32 nanosec", "uint64 nanosec");
    assert_ne!(other, Temperature::DEFINITION);
    assert!(play(Some(("ros2msg", &other))).is_err());
}

#[test]
fn two_recorded_versions_of_a_type_are_refused_by_the_hashes_of_their_definitions() {
    let other = Temperature::DEFINITION.replace("float64 temperature", "float32 temperature");
    let play = |other| {
        let definitions = [Temperature::DEFINITION, other].map(|text| Some(("ros2msg", text)));
        let player = Player::new(definitions.map(without_hash));
        player.add_to(&Graph::new(), &types()).map_err(Box::new)
    };
    play(Temperature::DEFINITION).unwrap();
    let error = play(&other).unwrap_err();
    assert!(matches!(*error, PlayError::TwoTypes { .. }), "{error}");
    assert!(error.to_string().contains(Temperature::TYPE_HASH), "{error}");
}

#[test]
fn names_alone_are_compared_where_the_recorded_definition_has_no_hash() {
    let sections = Temperature::DEFINITION.find("====").unwrap();
    for definition in [
        None,
        Some(("ros2msg", "")),
        Some(("ros2msg", "float64 [")),
        Some(("ros2msg", &Temperature::DEFINITION[..sections])), // without the types in it
        Some(("ros2idl", "struct Temperature { float temperature; };")),
    ] {
        let recording = without_hash(definition);
        assert_eq!(recording.topics[0].hash(), None, "{definition:?}");
        let player = Player::new([recording]);
        let graph = graph_with::<Temperature>();
        player.add_to(&graph, &types().with::<Temperature>()).unwrap();
    }
}

#[test]
fn a_subscription_of_a_struct_without_a_ros_type_is_refused() {
    let player = Player::new([numbers("/n", &[(0, 1)])]);
    for (graph, rust_type) in
        [(graph_with::<u32>(), "u32"), (graph_with::<Number>(), "replay::support::Number")]
    {
        let error = player.add_to(&graph, &MessageTypes::new()).unwrap_err();
        assert!(matches!(error, PlayError::UnknownType { .. }), "{error}");
        assert!(error.to_string().contains(&format!("messages of type {rust_type}")), "{error}");
    }
}

#[test]
fn two_recorded_types_of_one_topic_are_refused() {
    let described = |type_name: &str, hash: Option<&str>| {
        let mut recording = numbers("/m", &[(0, 1)]);
        recording.topics[0].type_name = type_name.into();
        recording.topics[0].type_hash = hash.map(Into::into);
        recording
    };
    let add = |other| {
        let player = Player::new([numbers("/n", &[(0, 1)]), other]).remap("/m", "/n");
        player.add_to(&Graph::new(), &types()).map(drop).map_err(Box::new)
    };
    let (name, hash) = ("test_msgs/msg/Number", "RIHS01_aa");
    for other in [described("test_msgs/msg/Other", None), described(name, Some("RIHS01_old"))] {
        let error = add(other).unwrap_err();
        assert!(matches!(*error, PlayError::TwoTypes { .. }), "{error}");
    }
    for other in [described(name, None), described(name, Some(hash))] {
        add(other).unwrap();
    }
}

#[test]
fn topics_in_another_format_than_cdr_are_refused() {
    let mut recording = numbers("/n", &[(0, 1)]);
    recording.topics[0].serialization_format = "protobuf".into();
    let error = Player::new([recording]).add_to(&Graph::new(), &types()).unwrap_err();
    assert!(matches!(error, PlayError::Format { .. }), "{error}");
}

/// The QoS that a player offers for a topic with recorded offers.
fn played_qos(offered: Vec<QoS>, change: impl FnOnce(Player) -> Player, topic: &str) -> QoS {
    let mut recording = numbers("/n", &[(0, 1)]);
    recording.topics[0].offered_qos = offered;
    let graph = Graph::new();
    change(Player::new([recording])).add_to(&graph, &types()).unwrap();
    graph.offered_qos(topic)[0].1
}

#[test]
fn the_strongest_recorded_offers_are_offered_again() {
    let [short, long] = [3, 7].map(QoS::keep_last);
    let ms = std::time::Duration::from_millis;
    for (offered, expected) in [
        (vec![], QoS::default()),
        (vec![short, long, short], long),
        (vec![QoS::keep_last(0)], QoS::default()),
        (vec![QoS::keep_last(1_000_000)], QoS::keep_last(1000)),
        (vec![short.best_effort()], short.best_effort()),
        (vec![short.best_effort(), short], short),
        (vec![short, short.transient_local()], short.transient_local()),
        (vec![short.deadline(ms(5)), short.deadline(ms(3)), short], short.deadline(ms(3))),
    ] {
        assert_eq!(played_qos(offered.clone(), |player| player, "/n"), expected, "{offered:?}");
    }
}

#[test]
fn qos_is_overridden_by_the_name_in_the_graph_and_the_clock_is_reliable() {
    let chosen = QoS::keep_last(2).best_effort();
    let remapped =
        |player: Player| player.remap("/n", "/m").qos("/m", chosen).qos("/n", QoS::default());
    assert_eq!(played_qos(vec![], remapped, "/m"), chosen);
    let with_clock = |player: Player| player.clock(std::time::Duration::from_secs(1));
    assert_eq!(played_qos(vec![], with_clock, "/clock"), QoS::clock().reliable());
}

#[test]
fn a_raw_subscription_and_a_recorder_get_the_recorded_bytes() {
    let mut recording = numbers("/n", &[(0, 1), (3, 2)]);
    // A type that the program does not have, and bytes that no serializer writes.
    recording.topics[0].type_name = "other_msgs/msg/Unknown".into();
    recording.records[0].data = vec![0, 1, 0, 0, 0xde, 0xad];
    recording.records[1].data = vec![0, 1, 0, 0];
    let player = Player::new([recording.clone()]);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        let raw = probe.create_collector::<RawMessage>("n", QoS::default())?;
        Ok((raw, replay(graph, &player)?))
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let (raw, (_, recorder, recorded)) = &session.handles;
    let data: Vec<_> = recording.records.iter().map(|record| record.data.clone()).collect();
    assert_eq!(raw.values().into_iter().map(|raw| raw.0).collect::<Vec<_>>(), data);
    recorder.finish().unwrap();
    let recorded = recorded.get();
    assert_eq!(recorded.topics, recording.topics);
    assert_eq!(recorded.records.iter().map(|r| r.data.clone()).collect::<Vec<_>>(), data);
}

#[test]
fn a_chosen_topic_that_cannot_be_recorded_is_refused() {
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).topics(["/m"]);
    let error = recorder.add_to(&graph_with::<Number>(), &types()).unwrap_err();
    assert!(matches!(error, RecordError::UnknownTopic { .. }), "{error}");
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).topics(["n"]);
    let error = recorder.add_to(&graph_with::<u32>(), &types()).unwrap_err();
    assert!(matches!(error, RecordError::UnknownType { .. }), "{error}");
    // One that is not chosen is left out, and named.
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).add_to(&graph_with::<u32>(), &types()).unwrap();
    assert_eq!(recorder.finish().unwrap().unrecorded, ["/n"]);
}
