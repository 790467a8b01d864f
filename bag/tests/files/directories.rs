//! rosbag2 directories: several files, all versions of `metadata.yaml`, compression around files
//! and messages.

use std::fs;
use std::path::Path;

use crate::common::{Message, messages, read_all, topic, write};
use ringspin_bag::{Bag, ReadOptions, WriteOptions};
use ringspin_executor::{QoS, Time};

/// The text of QoS profiles in versions before 9.
const PROFILES: &str = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n  \
    deadline:\n    sec: 2147483647\n    nsec: 4294967295\n  lifespan:\n    sec: 2147483647\n    \
    nsec: 4294967295\n  liveliness: 1\n  liveliness_lease_duration:\n    sec: 2147483647\n    \
    nsec: 4294967295\n  avoid_ros_namespace_conventions: false";

/// A `metadata.yaml` with the members that `version` has, of files with these messages.
fn metadata(version: u32, files: &[&str], mode: &str, messages: &[Message]) -> String {
    let mut text = format!(
        "rosbag2_bagfile_information:\n  version: {version}\n  storage_identifier: mcap\n  \
         relative_file_paths:\n"
    );
    for file in files {
        text += &format!("    - {file}\n");
    }
    text += "  duration:\n    nanoseconds: 1\n  starting_time:\n    nanoseconds_since_epoch: 1\n  \
        message_count: 1\n  topics_with_message_count:\n    - topic_metadata:\n        name: \
        /quiet\n        type: std_msgs/msg/Empty\n        serialization_format: cdr\n";
    if version >= 9 {
        text += "        offered_qos_profiles:\n";
        text += &PROFILES
            .lines()
            .map(|line| format!("          {line}\n"))
            .collect::<String>()
            .replace("history: 1", "history: keep_last")
            .replace("reliability: 2", "reliability: best_effort")
            .replace("durability: 2", "durability: volatile")
            .replace("liveliness: 1", "liveliness: automatic");
    } else if version >= 4 {
        text += &format!("        offered_qos_profiles: {PROFILES:?}\n");
    }
    if version >= 7 {
        text += "        type_description_hash: RIHS01_0\n";
    }
    text += "      message_count: 0\n";
    for number in 0..3 {
        let count = messages.iter().filter(|message| message.topic.0 == number).count();
        text += &format!(
            "    - topic_metadata:\n        name: /topic{number}\n        type: \
             std_msgs/msg/String\n        serialization_format: cdr\n      message_count: {count}\n"
        );
    }
    if version >= 3 {
        let format = if mode.is_empty() { "" } else { "zstd" };
        text += &format!("  compression_format: \"{format}\"\n  compression_mode: \"{mode}\"\n");
    }
    if version >= 5 {
        text += "  files:\n    - path: bag_0.mcap\n      starting_time:\n        \
            nanoseconds_since_epoch: 1\n      duration:\n        nanoseconds: 1\n      \
            message_count: 1\n";
    }
    if version >= 6 {
        text += "  custom_data:\n    driver: somewhere\n";
    }
    if version >= 8 {
        text += "  ros_distro: iron\n";
    }
    text
}

/// Makes a directory `bag` of files `bag_0.mcap`, ..., and returns its messages by time.
fn split_bag(folder: &Path, files: usize) -> Vec<Message> {
    let directory = folder.join("bag");
    fs::create_dir(&directory).unwrap();
    let messages = messages(4_000, 100);
    // Times overlap at each border.
    for (number, part) in messages.chunks(messages.len().div_ceil(files)).enumerate() {
        write(&directory.join(format!("bag_{number}.mcap")), WriteOptions::default(), part);
    }
    let mut sorted = messages;
    sorted.sort_by_key(|message| message.log_time);
    sorted
}

#[test]
fn metadata_of_all_versions_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let messages = split_bag(folder.path(), 1);
    let directory = folder.path().join("bag");
    for version in 1..=9 {
        // Up to version 3, paths begin at the parent directory.
        let file = if version <= 3 { "bag/bag_0.mcap" } else { "bag_0.mcap" };
        fs::write(directory.join("metadata.yaml"), metadata(version, &[file], "", &messages))
            .unwrap();
        let bag = Bag::open(&directory).unwrap();
        assert_eq!(bag.warnings(), [""; 0], "version {version}");
        let quiet = &bag.topics()[bag.topic("/quiet").unwrap().0];
        assert_eq!(quiet.type_name, "std_msgs/msg/Empty");
        let qos = if version >= 4 { vec![QoS::sensor_data()] } else { Vec::new() };
        assert_eq!(quiet.offered_qos, qos, "version {version}");
        assert_eq!(quiet.type_hash.as_deref(), (version >= 7).then_some("RIHS01_0"));
        assert_eq!(bag.ros_distro(), (version >= 8).then_some("iron"));
        assert_eq!(bag.message_counts()[3], 0);
        assert_eq!(read_all(&bag, &ReadOptions::default()), messages);
    }
}

#[test]
fn broken_metadata_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    split_bag(folder.path(), 1);
    let path = folder.path().join("bag/metadata.yaml");
    for text in ["", "no: bag", "rosbag2_bagfile_information: [", "\u{0}", "&a [*a, *a]"] {
        fs::write(&path, text).unwrap();
        let error = Bag::open(path.parent().unwrap()).err().unwrap().to_string();
        assert!(error.contains("metadata.yaml: "), "{error}");
    }
    fs::write(&path, metadata(9, &["bag_7.mcap"], "", &[])).unwrap();
    let error = Bag::open(path.parent().unwrap()).err().unwrap().to_string();
    assert!(error.contains("bag_7.mcap: No such file"), "{error}");
    // A thousand million topics in 300 bytes.
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..9 {
        let last = n - 1;
        bomb += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{last}"); 10].join(", "));
    }
    fs::write(&path, bomb + "rosbag2_bagfile_information: {relative_file_paths: *a8}").unwrap();
    assert!(Bag::open(path.parent().unwrap()).is_err());
}

#[test]
fn files_of_a_split_recording_are_merged_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let messages = split_bag(folder.path(), 12);
    let directory = folder.path().join("bag");
    // Without metadata, in the order of their numbers.
    let bag = Bag::open(&directory).unwrap();
    assert_eq!(bag.warnings(), ["metadata.yaml is missing: the files are read by name"]);
    assert_eq!(bag.files().len(), 12);
    assert!(bag.files()[11].path.ends_with("bag_11.mcap"));
    assert_eq!(bag.topics(), [topic(0), topic(1), topic(2)]);
    assert_eq!(bag.message_count(), 4_000);
    let counts: u64 = bag.files().iter().map(|file| file.message_count).sum();
    assert_eq!(counts, 4_000);
    assert_eq!(read_all(&bag, &ReadOptions::default()), messages);
    let start = messages[3_000].log_time;
    let options = ReadOptions { start: Some(start), ..ReadOptions::default() };
    let expected: Vec<_> = messages.into_iter().filter(|m| m.log_time >= start).collect();
    assert_eq!(read_all(&bag, &options), expected);
}

#[test]
fn channels_of_one_topic_are_one_topic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.mcap");
    let mut writer = ringspin_bag::Writer::create(&path, WriteOptions::default()).unwrap();
    // Two recorded publishers with different QoS, and a type of the same name.
    let (first, mut second, mut other) = (topic(0), topic(0), topic(0));
    second.offered_qos = vec![QoS::sensor_data()];
    other.type_name = "std_msgs/msg/Bool".into();
    for (n, topic) in [&first, &second, &other].into_iter().enumerate() {
        let id = writer.add_topic(topic).unwrap();
        writer.write(id, Time::from_secs(1), Time::ZERO, n as u32, b"data").unwrap();
    }
    writer.finish().unwrap();
    let bag = Bag::open(&path).unwrap();
    let mut merged = topic(0);
    merged.offered_qos.push(QoS::sensor_data());
    assert_eq!(bag.topics(), [merged, other]);
    assert_eq!(bag.message_counts(), [2, 1]);
    let topics: Vec<_> =
        read_all(&bag, &ReadOptions::default()).iter().map(|record| record.topic.0).collect();
    assert_eq!(topics, [0, 0, 1]);
}

#[test]
fn compressed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let messages = split_bag(folder.path(), 3);
    let directory = folder.path().join("bag");
    for number in 0..3 {
        let path = directory.join(format!("bag_{number}.mcap"));
        let bytes = zstd::encode_all(&*fs::read(&path).unwrap(), 3).unwrap();
        fs::write(directory.join(format!("bag_{number}.mcap.zstd")), bytes).unwrap();
        fs::remove_file(path).unwrap();
    }
    let files = ["bag_0.mcap.zstd", "bag_1.mcap.zstd", "bag_2.mcap.zstd"];
    let metadata = metadata(5, &files, "FILE", &messages);
    fs::write(directory.join("metadata.yaml"), metadata).unwrap();
    let bag = Bag::open(&directory).unwrap();
    let reader = bag.read(&ReadOptions::default()).unwrap();
    // The reader keeps the decompressed files.
    drop(bag);
    assert!(reader.map(Result::unwrap).eq(messages));
    let single = Bag::open(directory.join("bag_1.mcap.zstd")).unwrap();
    assert_eq!(single.files()[0].message_count, 1334);
}

#[test]
fn compressed_messages_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("bag");
    fs::create_dir(&directory).unwrap();
    let mut messages = messages(500, 2_000);
    messages.sort_by_key(|message| message.log_time);
    let mut compressed = messages.clone();
    for message in &mut compressed {
        message.data = zstd::encode_all(&*message.data, 1).unwrap();
    }
    write(&directory.join("bag_0.mcap"), WriteOptions::default(), &compressed);
    let metadata = metadata(6, &["bag_0.mcap"], "MESSAGE", &messages);
    fs::write(directory.join("metadata.yaml"), metadata).unwrap();
    assert_eq!(read_all(&Bag::open(&directory).unwrap(), &ReadOptions::default()), messages);
    // CDR never begins like zstd, so a file without its metadata is read as well.
    let single = Bag::open(directory.join("bag_0.mcap")).unwrap();
    assert_eq!(read_all(&single, &ReadOptions::default()), messages);
}

#[test]
fn count_that_is_not_that_of_the_metadata_is_an_error_after_the_last_message() {
    let folder = tempfile::tempdir().unwrap();
    let messages = split_bag(folder.path(), 2);
    let directory = folder.path().join("bag");
    let files = ["bag_0.mcap", "bag_1.mcap"];
    let metadata = |messages| metadata(9, &files, "", messages);
    let (all, fewer) = (metadata(&messages), metadata(&messages[1..]));
    let lost = messages[0].topic;
    fs::write(directory.join("metadata.yaml"), all).unwrap();
    Bag::open(&directory).unwrap().read(&ReadOptions::default()).unwrap().for_each(|read| {
        read.unwrap();
    });
    fs::write(directory.join("metadata.yaml"), fewer).unwrap();
    let bag = Bag::open(&directory).unwrap();
    let mut reader = bag.read(&ReadOptions::default()).unwrap();
    assert!(reader.by_ref().take(messages.len()).map(Result::unwrap).eq(messages.clone()));
    let error = reader.next().unwrap().unwrap_err();
    let count = bag.message_counts()[lost.0];
    let text = format!(
        "metadata.yaml has {} messages of topic /topic{}, but {count} were read",
        count - 1,
        lost.0
    );
    assert!(error.to_string().contains(&text), "{error}");
    assert_eq!(error.kind(), ringspin_executor::ErrorKind::Parse);
    assert!(reader.next().is_none(), "the reader ends after an error");
    // A part of the recording has no number to compare with, and other topics are complete.
    let part = ReadOptions { end: messages[9].log_time.into(), ..ReadOptions::default() };
    read_all(&bag, &part);
    let others = (0..3).filter(|topic| *topic != lost.0).map(ringspin_bag::TopicId).collect();
    read_all(&bag, &ReadOptions { topics: Some(others), ..ReadOptions::default() });
}
