//! Types of recordings and of nodes.

use crate::support::{Number, Stamped, numbers, replay, topic, types};
use ringspin_bag::{MessageTypes, PlayError, Player, RecordError, Recorder};
use ringspin_executor::{Graph, QoS, Time};
use ringspin_messages::RawMessage;
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
    let mut other = numbers("/m", &[(0, 1)]);
    other.topics = vec![topic::<Stamped>("/m")];
    let player = Player::new([numbers("/n", &[(0, 1)]), other]).remap("/m", "/n");
    let error = player.add_to(&Graph::new(), &types()).unwrap_err();
    assert!(matches!(error, PlayError::TwoTypes { .. }), "{error}");
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
    let (sink, _) = ringspin_bag::MemoryRecording::sink();
    let recorder = Recorder::new(sink).topics(["/m"]);
    let error = recorder.add_to(&graph_with::<Number>(), &types()).unwrap_err();
    assert!(matches!(error, RecordError::UnknownTopic { .. }), "{error}");
    let (sink, _) = ringspin_bag::MemoryRecording::sink();
    let recorder = Recorder::new(sink).topics(["n"]);
    let error = recorder.add_to(&graph_with::<u32>(), &types()).unwrap_err();
    assert!(matches!(error, RecordError::UnknownType { .. }), "{error}");
    // One that is not chosen is left out, and named.
    let (sink, _) = ringspin_bag::MemoryRecording::sink();
    let recorder = Recorder::new(sink).add_to(&graph_with::<u32>(), &types()).unwrap();
    assert_eq!(recorder.finish().unwrap().unrecorded, ["/n"]);
}
