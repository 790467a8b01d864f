//! Types of recordings and of nodes.

use crate::files::write;
use crate::support::{Number, Stamped, numbers, replay, topic, types};
use ringspin_bag::{
    Bag, Definition, MemoryRecording, MessageTypes, Player, ReadOptions, Recorder, TimeBase, Topic,
    WriteOptions, Writer,
};
use ringspin_executor::{ErrorKind, Graph, QoS, Time};
use ringspin_messages::sensor_msgs::msg::Temperature;
use ringspin_messages::{RawMessage, RosMessage};
use ringspin_simulation::Job;
use std::io::Write;
use std::sync::{Arc, Mutex};

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
    assert_eq!((error.kind(), error.topic()), (ErrorKind::TypeMismatch, Some("/n")));
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
        player.add_to(&graph_with::<Temperature>(), &types)
    };
    play(Some(("ros2msg", Temperature::DEFINITION))).unwrap();
    // Comments and line ends are not part of the type.
    let text = format!("# A thermometer.\n{}", Temperature::DEFINITION.replace('\n', "\r\n"));
    play(Some(("ros2msg", &text))).unwrap();

    let other = Temperature::DEFINITION.replace("float64 temperature", "float32 temperature");
    assert_ne!(other, Temperature::DEFINITION);
    let error = play(Some(("ros2msg", &other))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
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
        player.add_to(&Graph::new(), &types())
    };
    play(Temperature::DEFINITION).unwrap();
    let error = play(&other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    assert!(error.to_string().contains(" and with type "), "{error}");
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
        assert_eq!(error.kind(), ErrorKind::TypeMismatch);
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
        player.add_to(&Graph::new(), &types()).map(drop)
    };
    let (name, hash) = ("test_msgs/msg/Number", "RIHS01_aa");
    for other in [described("test_msgs/msg/Other", None), described(name, Some("RIHS01_old"))] {
        let error = add(other).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TypeMismatch);
        assert!(error.to_string().contains(" and with type "), "{error}");
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
    assert_eq!((error.kind(), error.topic()), (ErrorKind::Unsupported, Some("/n")));
    assert!(error.to_string().contains("serialized as \"protobuf\", not as \"cdr\""), "{error}");
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
    let [short, long, ten] = [3, 7, 10].map(QoS::keep_last);
    let ms = std::time::Duration::from_millis;
    for (offered, expected) in [
        (vec![], QoS::default()),
        (vec![short, long, short], long),
        (vec![QoS::keep_last(0)], QoS::default()),
        (vec![QoS::keep_last(1_000_000)], QoS::keep_last(1000)),
        (vec![short.best_effort()], short.best_effort()),
        (vec![short.best_effort(), short], short),
        (vec![short, short.transient_local()], short.transient_local()),
        (vec![short.transient_local(), long.transient_local()], ten.transient_local()),
        (vec![short.deadline(ms(5)), short.deadline(ms(3)), short], short.deadline(ms(3))),
    ] {
        assert_eq!(played_qos(offered.clone(), |player| player, "/n"), expected, "{offered:?}");
    }
}

#[test]
fn qos_is_overridden_by_the_name_in_the_graph_and_the_clock_is_reliable() {
    let chosen = QoS::keep_last(2).best_effort();
    let remapped = |player: Player| player.remap("/n", "/m").qos("/m", chosen);
    assert_eq!(played_qos(vec![], remapped, "/m"), chosen);
    let with_clock = |player: Player| player.clock(std::time::Duration::from_secs(1));
    assert_eq!(played_qos(vec![], with_clock, "/clock"), QoS::clock().reliable());
}

#[test]
fn qos_of_a_topic_that_no_recording_has_is_an_error() {
    let add = |change: fn(Player) -> Player| {
        change(Player::new([numbers("/n", &[(0, 1)])])).add_to(&Graph::new(), &types()).map(drop)
    };
    let error = add(|player| player.remap("/n", "/m").qos("/n", QoS::default())).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::NotFound, Some("/n")));
    let text = "failed to set the QoS of topic /n: it is not played; use its name in the graph, \
        one of /m";
    assert_eq!(error.to_string(), text);
    // One file of overrides serves replays of other topics, and the clock.
    add(|player| player.exclude(["/n"]).qos("/n", QoS::default())).unwrap();
    add(|p| p.clock(std::time::Duration::from_secs(1)).qos("clock", QoS::default())).unwrap();
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
    assert_eq!((error.kind(), error.topic()), (ErrorKind::NotFound, Some("/m")));
    assert!(error.to_string().contains("no node publishes it or subscribes to it"), "{error}");
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).topics(["n"]);
    let error = recorder.add_to(&graph_with::<u32>(), &types()).unwrap_err();
    assert_eq!((error.kind(), error.topic()), (ErrorKind::TypeMismatch, Some("/n")));
    assert!(error.to_string().contains("its messages of type u32 are no known"), "{error}");
    // One that is not chosen is left out, and named.
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).add_to(&graph_with::<u32>(), &types()).unwrap();
    assert_eq!(recorder.finish().unwrap().unrecorded, ["/n"]);
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The warnings of a player that is added to `graph`.
fn warnings(player: &Player, graph: &Graph, types: &MessageTypes) -> Vec<String> {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false);
    let subscriber = subscriber.with_writer(move || writer.clone()).finish();
    let add = || drop(player.add_to(graph, types).unwrap());
    tracing::subscriber::with_default(subscriber, add);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    text.lines().filter(|line| line.contains("WARN")).map(str::to_owned).collect()
}

#[test]
fn checks_that_need_an_idl_definition_are_warned_of_by_topic_and_encoding() {
    let player = |encoding| Player::new([without_hash(Some((encoding, "module my_msgs {};")))]);
    let known = types().with::<Temperature>();
    let warned = warnings(&player("ros2idl"), &graph_with::<Temperature>(), &known);
    assert_eq!(warned.len(), 1, "{warned:?}");
    for part in ["/n", "sensor_msgs/msg/Temperature", "ros2idl", "compared by its name only"] {
        assert!(warned[0].contains(part), "{warned:?}");
    }
    let by_stamp = player("ros2idl").time_base(TimeBase::Stamp);
    let warned = warnings(&by_stamp, &Graph::new(), &types());
    assert_eq!(warned.len(), 1, "{warned:?}");
    for part in ["/n", "sensor_msgs/msg/Temperature", "ros2idl", "messages have their log times"] {
        assert!(warned[0].contains(part), "{warned:?}");
    }
    // The struct says where the stamp is; nothing else needs a definition.
    assert_eq!(warnings(&by_stamp, &Graph::new(), &known), [""; 0]);
    assert_eq!(warnings(&player("ros2idl"), &Graph::new(), &types()), [""; 0]);
}

#[test]
fn messages_with_an_idl_definition_are_copied_with_it() {
    let mut recording = numbers("/n", &[(0, 1), (1, 2)]);
    let text = "module test_msgs { module msg { struct Number { unsigned long value; }; }; };";
    let definition = Definition { encoding: "ros2idl".into(), text: text.into() };
    recording.topics[0].definition = Some(definition.clone());
    let folder = tempfile::tempdir().unwrap();
    let paths = ["in.mcap", "out.mcap"].map(|name| folder.path().join(name));
    write(&recording, &paths[0], None);
    let player = Player::new([Bag::open(&paths[0]).unwrap()]);
    let job = Job::new(|graph: &Graph| {
        let handle = player.add_to(graph, &types())?;
        let recorder = Recorder::new(Writer::create(&paths[1], WriteOptions::default())?);
        Ok(recorder.raw_topics(handle.raw_topics()).add_to(graph, &types())?)
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    session.handles.finish().unwrap();
    let copied = Bag::open(&paths[1]).unwrap();
    let topic = copied.topics().iter().find(|topic| topic.name == "/n").unwrap();
    assert_eq!(topic.definition.as_ref(), Some(&definition));
    let records = copied.read(&ReadOptions::default()).unwrap().map(|record| record.unwrap().data);
    let sent = recording.records.iter().map(|record| record.data.clone());
    assert_eq!(records.collect::<Vec<_>>(), sent.collect::<Vec<_>>());
}
