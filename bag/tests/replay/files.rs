//! Replay from files to files.

use crate::support::{Number, ms, numbers, record, topic, types};
use ringspin_bag::{
    Bag, Compression, MemoryRecording, Player, RecordSink, RecordSource, Recorder, TopicId,
    WriteOptions, Writer,
};
use ringspin_executor::{DigestHasher, Graph, Message, QoS, Time};
use ringspin_simulation::Job;
use std::path::Path;

/// Writes a recording to a file.
pub(crate) fn write(recording: &MemoryRecording, path: &Path, compression: Option<Compression>) {
    let mut writer = Writer::create(path, WriteOptions { compression }).unwrap();
    let topics = recording.topics.iter().map(|topic| writer.add_topic(topic).unwrap());
    let topics: Vec<_> = topics.collect();
    for record in recording.records(&Default::default()).unwrap().map(Result::unwrap) {
        let (log_time, publish_time) = (record.log_time, record.publish_time);
        let topic = topics[record.topic.0];
        writer.write(topic, log_time, publish_time, record.sequence, &record.data).unwrap();
    }
    RecordSink::finish(Box::new(writer)).unwrap();
}

/// Replays `from` through a node that sums up, and records to `to`.
fn replay(from: &Path, to: &Path) {
    let player = Player::new([Bag::open(from).unwrap()]);
    let job = Job::new(|graph: &Graph| {
        let node = graph.create_node("sum", 0u32)?;
        let out = node.create_publisher("sum", QoS::default())?;
        node.create_subscription("n", QoS::default(), move |sum, n: &Message<Number>, _| {
            *sum += n.value;
            out.publish(Number { value: *sum })
        })?;
        let handle = player.add_to(graph, &types())?;
        let recorder = Recorder::new(Writer::create(to, WriteOptions::default())?);
        Ok(recorder.raw_topics(handle.raw_topics()).add_to(graph, &types())?)
    });
    let mut session = player.apply_times(job, &types()).unwrap().start().unwrap();
    session.run_until(Time::MAX).unwrap();
    assert_eq!(session.handles.finish().unwrap().lost(), 0);
}

#[test]
fn ten_replays_of_a_file_write_equal_bytes_and_every_build_the_same_messages() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("in.mcap");
    let items: Vec<_> = (0..500).map(|n| (u64::from(n / 3), n)).collect();
    write(&numbers("/n", &items), &from, Some(Compression::Zstd));
    let outputs: Vec<_> = (0..10)
        .map(|n| {
            // The name of the file is part of it.
            let to = folder.path().join(n.to_string());
            std::fs::create_dir(&to).unwrap();
            let to = to.join("out.mcap");
            replay(&from, &to);
            std::fs::read(to).unwrap()
        })
        .collect();
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    // Debug and release builds, and every platform, record this.
    let mut hasher = DigestHasher::new();
    let bag = Bag::open(folder.path().join("0/out.mcap")).unwrap();
    for record in bag.read(&Default::default()).unwrap().map(Result::unwrap) {
        let (log_time, publish_time) = (record.log_time, record.publish_time);
        let numbers = (record.topic.0 as u64, log_time, publish_time, record.sequence);
        hasher.write(format!("{numbers:?}").as_bytes());
        hasher.write(&record.data);
    }
    assert_eq!(hasher.finish(), 15_814_163_062_703_291_912);
}

#[test]
fn a_recorded_replay_is_read_with_its_sums() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("in"), folder.path().join("out"));
    write(&numbers("/n", &[(0, 1), (5, 2), (9, 3)]), &from, None);
    replay(&from, &to);
    let bag = Bag::open(&to).unwrap();
    let names: Vec<_> = bag.topics().iter().map(|topic| &*topic.name).collect();
    assert_eq!((names, bag.message_count()), (vec!["/n", "/sum"], 6));
    let sum = bag.topic("/sum").unwrap();
    let sums = bag.read(&Default::default()).unwrap().map(Result::unwrap);
    let sums = sums.filter(|record| record.topic == sum).map(|record| {
        assert_eq!(record.log_time, record.publish_time);
        let number: Number = ringspin_messages::cdr::from_bytes(&record.data).unwrap();
        (record.log_time, number.value)
    });
    assert_eq!(sums.collect::<Vec<_>>(), [(ms(0), 1), (ms(5), 3), (ms(9), 6)]);
}

/// Names without a slash are those of ROS's tutorial "Recording a bag from a node".
#[test]
fn topics_recorded_without_a_slash_reach_the_nodes_and_the_recorder() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("in"), folder.path().join("out"));
    let mut recording = numbers("n", &[(0, 1), (5, 2)]);
    recording.topics.push(topic::<Number>("unheard"));
    recording.records.push(record(1, ms(7), 0, &Number { value: 3 }));
    write(&recording, &from, None);
    replay(&from, &to);
    let bag = Bag::open(&to).unwrap();
    let names: Vec<_> = bag.topics().iter().map(|topic| &*topic.name).collect();
    assert_eq!((names, bag.message_counts()), (vec!["/n", "/sum", "/unheard"], &[2, 2, 1][..]));

    let bag = Bag::open(&from).unwrap();
    assert_eq!((bag.topic("n"), bag.topic("/n")), (Some(TopicId(0)), Some(TopicId(0))));
    let played = |change: fn(Player) -> Player| {
        let graph = Graph::new();
        change(Player::new([bag.clone()])).add_to(&graph, &types()).unwrap();
        graph.info().topics.iter().map(|topic| topic.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(played(|player| player.topics(["n"])), ["/n"]);
    assert_eq!(played(|player| player.exclude(["n"])), ["/unheard"]);
    assert_eq!(played(|player| player.remap("n", "m")), ["/m", "/unheard"]);
}
