//! The recorder.

use crate::support::{MS, Number, ms, numbers, replay, topic, types};
use ringspin_bag::{
    Definition, MemoryRecording, Player, RecordSink, Recorder, RingFull, Topic, TopicId,
    WriterThread,
};
use ringspin_executor::{BoxError, Graph, Message, QoS, Time};
use ringspin_messages::RosMessage;
use ringspin_messages::sensor_msgs::msg::Temperature;
use ringspin_modes::Executor;
use ringspin_simulation::Job;
use ringspin_simulation::models::{Durations, Links};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Doubles the numbers of `/n` on `/doubled`.
fn doubler(graph: &Graph) -> Result<(), BoxError> {
    let node = graph.create_node("doubler", ())?;
    let out = node.create_publisher("doubled", QoS::default())?;
    node.create_subscription("n", QoS::default(), move |_, n: &Message<Number>, _| {
        out.publish(Number { value: 2 * n.value })
    })?;
    Ok(())
}

/// Replays through the doubler, with links and durations; returns the recording.
fn recorded(player: &Player) -> MemoryRecording {
    let job = Job::new(|graph: &Graph| {
        doubler(graph)?;
        replay(graph, player)
    });
    let job = player.apply_times(job, &types()).unwrap().simulate(|simulation| {
        simulation.end = None;
        let delays = "[[link]]\ntopic = \"/n\"\ndelay = { uniform = [\"1ms\", \"4ms\"] }\n";
        simulation.links = Links::from_toml(delays).unwrap().into();
        let durations = "[[execution]]\nnode = \"/doubler\"\nduration = \"2ms\"\n";
        simulation.durations = Durations::from_toml(durations).unwrap().into();
    });
    let mut session = job.start().unwrap();
    session.run_until(Time::MAX).unwrap();
    let (_, recorder, recording) = &session.handles;
    let report = recorder.finish().unwrap();
    assert_eq!(report.lost(), 0);
    let recording = recording.get();
    assert_eq!(report.messages(), recording.records.len() as u64);
    recording
}

#[test]
fn ten_replays_write_the_same_recording() {
    let items: Vec<_> = (0..200).map(|n| (u64::from(n / 3) * 10, n)).collect();
    let player = Player::new([numbers("/n", &items)]);
    let first = recorded(&player);
    assert_eq!(first.records.len(), 400);
    assert!((1..10).all(|_| recorded(&player) == first));
}

#[test]
fn a_recording_of_a_replay_has_simulated_times_and_can_be_played_again() {
    let player = Player::new([numbers("/n", &[(0, 1), (10, 2)])]);
    let recording = recorded(&player);
    let doubled = recording.topics.iter().position(|topic| topic.name == "/doubled").unwrap();
    let doubled = recording.records.iter().filter(|record| record.topic == TopicId(doubled));
    let times: Vec<_> = doubled.map(|record| (record.publish_time, record.sequence)).collect();
    // The times are after the link and the callback.
    let (earliest, latest) = ((ms(10) + 3 * MS), (ms(10) + 6 * MS));
    assert!(times[1].0 >= earliest && times[1].0 <= latest && times[1].1 == 1, "{times:?}");
    let again = Player::new([recording.clone()]);
    let job = Job::new(|graph: &Graph| {
        let probe = graph.create_node("probe", ())?;
        let numbers = probe.create_collector::<Number>("doubled", QoS::default())?;
        again.add_to(graph, &types())?;
        Ok(numbers)
    });
    let mut session = again.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    assert_eq!(session.handles.values(), [Number { value: 2 }, Number { value: 4 }]);
}

#[test]
fn recorded_topics_have_type_definition_and_offered_qos() {
    let recording = recorded(&Player::new([numbers("/n", &[(0, 1)])]));
    let doubled = recording.topics.iter().find(|topic| topic.name == "/doubled").unwrap();
    assert_eq!(doubled.type_name, "test_msgs/msg/Number");
    assert_eq!(doubled.type_hash.as_deref(), Some("RIHS01_aa"));
    let definition = doubled.definition.as_ref().unwrap();
    assert_eq!((&*definition.encoding, &*definition.text), ("ros2msg", "uint32 value"));
    assert_eq!(doubled.offered_qos, [QoS::default()]);
}

#[test]
fn messages_kept_from_before_the_start_are_recorded() {
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("map", ())?;
        let map = node.create_publisher("map", QoS::keep_last(1).transient_local())?;
        map.publish(Number { value: 7 }).map_err(|error| error.to_string())?;
        let (sink, recording) = MemoryRecording::sink();
        Ok((Recorder::new(sink).add_to(graph, &types())?, recording, map))
    });
    let mut session = job.start().unwrap();
    session.settle().unwrap();
    assert_eq!(session.handles.0.finish().unwrap().messages(), 1);
}

/// Writes nothing until it is allowed to, and fails at a message with value `broken`.
struct Gate {
    allowed: Receiver<()>,
    written: Sender<usize>,
    broken: Option<usize>,
    count: usize,
}

impl RecordSink for Gate {
    fn add_topic(&mut self, _topic: &Topic) -> Result<TopicId, BoxError> {
        Ok(TopicId(0))
    }

    fn write(&mut self, _: TopicId, _: Time, _: Time, _: u32, _: &[u8]) -> Result<(), BoxError> {
        let _ = self.allowed.recv();
        if self.broken == Some(self.count) {
            return Err("no space left on device".into());
        }
        self.count += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), BoxError> {
        self.written.send(self.count).unwrap();
        Ok(())
    }
}

fn gate(broken: Option<usize>) -> (Gate, Sender<()>, Receiver<usize>) {
    let ((allow, allowed), (written, count)) = (channel(), channel());
    (Gate { allowed, written, broken, count: 0 }, allow, count)
}

#[test]
fn simulated_time_waits_for_a_slow_disk() {
    let (sink, allow, count) = gate(None);
    let mut executor = Executor::deterministic(Default::default());
    let items: Vec<_> = (0..50).map(|n| (u64::from(n), n)).collect();
    doubler(executor.graph()).unwrap();
    let player = Player::new([numbers("/n", &items)]);
    player.add_to(executor.graph(), &types()).unwrap();
    let recorder = Recorder::new(sink).topics(["doubled"]).ring_capacity(4);
    let recorder = recorder.add_to(executor.graph(), &types()).unwrap();
    let disk = std::thread::spawn(move || {
        std::thread::sleep(20 * MS); // until the ring is full
        (0..50).for_each(|_| allow.send(()).unwrap());
    });
    executor.spin().unwrap();
    let report = recorder.finish().unwrap();
    disk.join().unwrap();
    assert_eq!((report.messages(), report.lost(), count.recv().unwrap()), (50, 0, 50));
}

#[test]
fn an_error_of_the_disk_ends_the_run() {
    let (sink, allow, _count) = gate(Some(3));
    drop(allow); // no write waits
    let mut executor = Executor::deterministic(Default::default());
    let player = Player::new([numbers("/n", &(0..5000).map(|n| (0, n)).collect::<Vec<_>>())]);
    doubler(executor.graph()).unwrap();
    player.add_to(executor.graph(), &types()).unwrap();
    let recorder = Recorder::new(sink).topics(["doubled"]).ring_capacity(4);
    let recorder = recorder.add_to(executor.graph(), &types()).unwrap();
    let error = executor.spin().unwrap_err().to_string();
    assert!(error.contains("/rosbag2_recorder"), "{error}");
    assert!(error.contains("failed to write the recording: no space left on device"), "{error}");
    let error = recorder.finish().unwrap_err().to_string();
    assert_eq!(error, "failed to write the recording: no space left on device");
}

#[test]
fn a_live_recorder_counts_what_a_slow_disk_cannot_take() {
    let (sink, allow, count) = gate(None);
    let mut executor = Executor::single_core();
    let node = executor.create_node("talker", 0u32).unwrap();
    let out = node.create_publisher("n", QoS::default()).unwrap();
    node.create_timer(MS / 10, move |sent, cx| {
        *sent += 1;
        if *sent == 50 {
            cx.stop();
        }
        out.publish(Number { value: *sent })
    })
    .unwrap();
    let recorder = Recorder::new(sink).ring_capacity(4);
    let recorder = recorder.add_to(executor.graph(), &types()).unwrap();
    executor.spin().unwrap();
    executor.stop_handle().reset();
    executor.spin_some().unwrap();
    drop(allow);
    let report = recorder.finish().unwrap();
    assert_eq!(count.recv().unwrap() as u64, report.messages());
    // The ring has room for four, and the thread holds one.
    assert!((4..=5).contains(&report.messages()), "{report:?}");
    assert_eq!(report.topics[0].overflow + report.messages(), 50);
    assert_eq!(report.lost() + report.messages(), 50);
    assert_eq!(report.topics[0].missed, 0);
}

#[test]
fn messages_that_overflow_the_queue_of_the_recorder_are_counted() {
    let mut executor = Executor::deterministic(Default::default());
    let node = executor.create_node("burst", ()).unwrap();
    let out = node.create_publisher("n", QoS::default()).unwrap();
    node.create_one_shot_timer(MS, move |_, _| {
        (0..10).try_for_each(|value| out.publish(Number { value }))
    })
    .unwrap();
    let (sink, _) = MemoryRecording::sink();
    let recorder = Recorder::new(sink).queue_depth(4);
    let recorder = recorder.add_to(executor.graph(), &types()).unwrap();
    executor.spin().unwrap();
    let report = recorder.finish().unwrap();
    assert_eq!((report.messages(), report.topics[0].missed), (4, 6));
    assert_eq!((report.lost(), recorder.lost()), (6, 6));
}

#[test]
fn the_recording_is_completed_with_the_executor() {
    let (sink, allow, count) = gate(None);
    drop(allow);
    let mut executor = Executor::deterministic(Default::default());
    let player = Player::new([numbers("/n", &[(0, 1), (1, 2)])]);
    doubler(executor.graph()).unwrap();
    player.add_to(executor.graph(), &types()).unwrap();
    Recorder::new(sink).topics(["doubled"]).add_to(executor.graph(), &types()).unwrap();
    executor.spin().unwrap();
    drop(executor);
    assert_eq!(count.recv().unwrap(), 2);
}

#[test]
fn writer_thread_refuses_what_does_not_fit_while_the_disk_is_slow() {
    let (sink, allow, count) = gate(None);
    let mut writer = WriterThread::new(sink, 4).unwrap();
    let topic = writer.add_topic(&topic::<Number>("/n")).unwrap();
    // The disk does not move: a call that waits for it would not return.
    let write = |n| writer.write(topic, Time::ZERO, Time::ZERO, n, Vec::new());
    let refused = (0..50).map(write).filter(|written| *written == Err(RingFull)).count();
    // The ring has room for four, and the thread holds one, or the topic.
    assert!((45..=47).contains(&refused), "{refused}");
    drop(allow);
    writer.finish().unwrap();
    assert_eq!(count.recv().unwrap(), 50 - refused);
}

#[test]
fn topics_added_to_a_writer_thread_while_it_writes_have_their_messages() {
    let (sink, recording) = MemoryRecording::sink();
    let mut writer = WriterThread::new(sink, 64).unwrap();
    for n in 0..3u8 {
        let topic = writer.add_topic(&topic::<Number>(&format!("/n{n}"))).unwrap();
        writer.write(topic, ms(2), ms(1), n.into(), vec![n]).unwrap();
    }
    writer.finish().unwrap();
    let recording = recording.get();
    let names: Vec<_> = recording.topics.iter().map(|topic| &*topic.name).collect();
    assert_eq!(names, ["/n0", "/n1", "/n2"]);
    for (n, record) in recording.records.iter().enumerate() {
        assert_eq!((record.topic, &*record.data), (TopicId(n), &[n as u8][..]));
        assert_eq!((record.log_time, record.publish_time), (ms(2), ms(1)));
    }
    assert_eq!(recording.records.len(), 3);
}

#[test]
fn failed_writer_thread_reports_the_error_of_the_disk() {
    let (sink, allow, _count) = gate(Some(0));
    drop(allow);
    let mut writer = WriterThread::new(sink, 4).unwrap();
    let topic = writer.add_topic(&topic::<Number>("/n")).unwrap();
    writer.write(topic, Time::ZERO, Time::ZERO, 0, Vec::new()).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert_eq!(error, "failed to write the recording: no space left on device");
}

#[test]
fn types_without_a_recorded_definition_are_recorded_with_a_known_one() {
    let of = |type_name: &str, type_hash: Option<&str>, definition: &str| Topic {
        type_name: type_name.into(),
        type_hash: type_hash.map(Into::into),
        definition: Some(Definition { encoding: "ros2msg".into(), text: definition.into() }),
        ..topic::<Number>("/n")
    };
    let temperature = Temperature::TYPE_NAME;
    for (recorded, expected) in [
        (of(temperature, None, ""), Temperature::DEFINITION),
        (Topic { definition: None, ..of(temperature, None, "") }, Temperature::DEFINITION),
        (of(temperature, Some(Temperature::TYPE_HASH), ""), Temperature::DEFINITION),
        // Another version of the type, a definition of its own, and an unknown type.
        (of(temperature, Some("RIHS01_old"), ""), ""),
        (of(temperature, None, "float32 t"), "float32 t"),
        (of(Number::TYPE_NAME, None, ""), Number::DEFINITION),
        (of("test_msgs/msg/Unknown", None, ""), ""),
    ] {
        let player =
            Player::new([MemoryRecording { topics: vec![recorded.clone()], records: vec![] }]);
        let (_, _, recording) = replay(&Graph::new(), &player).unwrap();
        let [topic] = &recording.get().topics[..] else { panic!("one topic") };
        assert_eq!(topic.definition.as_ref().unwrap().text, expected, "{recorded:?}");
        assert_eq!(topic.type_hash, recorded.type_hash);
    }
}
