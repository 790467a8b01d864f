//! MCAP recordings: written and read again, in the order of either time.

use crate::common::{Message, messages, read_all, topic, write};
use ringspin_bag::{Bag, Compression, Order, ReadOptions, TopicId, WriteOptions, Writer};
use ringspin_executor::{ErrorKind, QoS, Time};

const COMPRESSIONS: [Option<Compression>; 3] =
    [None, Some(Compression::Zstd), Some(Compression::Lz4)];

#[test]
fn recording_has_the_topics_and_messages_that_were_written() {
    let folder = tempfile::tempdir().unwrap();
    for (number, compression) in COMPRESSIONS.into_iter().enumerate() {
        for name in ["drive", "drive.mcap"] {
            let path = folder.path().join(format!("{number}{name}"));
            let written = messages(5_000, 300);
            write(&path, WriteOptions { compression }, &written);
            let bag = Bag::open(&path).unwrap();
            assert_eq!(bag.topics(), [topic(0), topic(1), topic(2)]);
            assert_eq!(bag.topic("/topic1"), Some(TopicId(1)));
            assert_eq!(bag.message_count(), 5_000);
            assert_eq!(bag.message_counts().iter().sum::<u64>(), 5_000);
            assert_eq!(bag.warnings(), [""; 0]);
            assert_eq!(bag.storage(), "mcap");
            assert_eq!(bag.start(), written.iter().map(|m| m.log_time).min());
            assert_eq!(bag.end(), written.iter().map(|m| m.log_time).max());
            let mut expected = written;
            expected.sort_by_key(|message| message.log_time);
            assert_eq!(read_all(&bag, &ReadOptions::default()), expected);
        }
    }
}

#[test]
fn equal_times_are_read_in_the_order_of_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ties.mcap");
    // Large messages: a chunk has only a few of them, and chunks overlap.
    let mut written = messages(400, 20_000);
    for (n, message) in written.iter_mut().enumerate() {
        message.log_time = Time::from_nanos([7, 3, 7, 5][n % 4]);
        message.publish_time = Time::from_nanos([4, 4, 2][n % 3]);
    }
    write(&path, WriteOptions::default(), &written);
    let bag = Bag::open(&path).unwrap();
    for order in [Order::LogTime, Order::PublishTime] {
        let key = |message: &Message| match order {
            Order::LogTime => message.log_time,
            Order::PublishTime => message.publish_time,
        };
        let mut expected = written.clone();
        expected.sort_by_key(key);
        assert_eq!(read_all(&bag, &ReadOptions { order, ..ReadOptions::default() }), expected);
    }
}

#[test]
fn chosen_topics_and_times_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chosen");
    let written = messages(3_000, 1_000);
    write(&path, WriteOptions::default(), &written);
    let bag = Bag::open(&path).unwrap();
    let (start, end) = (Time::from_nanos(400_000), Time::from_nanos(1_200_000));
    for order in [Order::LogTime, Order::PublishTime] {
        let time = |message: &Message| match order {
            Order::LogTime => message.log_time,
            Order::PublishTime => message.publish_time,
        };
        let topics = Some(vec![TopicId(0), TopicId(2)]);
        let options = ReadOptions {
            topics,
            start: Some(start),
            end: Some(end),
            order,
            skip_checksums: false,
        };
        let is_chosen = |m: &&Message| m.topic.0 != 1 && (start..=end).contains(&time(m));
        let mut expected: Vec<_> = written.iter().filter(is_chosen).cloned().collect();
        expected.sort_by_key(time);
        assert!(expected.len() > 100);
        assert_eq!(read_all(&bag, &options), expected);
    }
    let options = ReadOptions { topics: Some(vec![TopicId(3)]), ..ReadOptions::default() };
    let error = bag.read(&options).err().unwrap().to_string();
    assert!(error.contains("3 topics, but topic 3"), "{error}");
}

#[test]
fn recording_without_messages_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["empty", "empty.mcap"] {
        let path = folder.path().join(name);
        write(&path, WriteOptions::default(), &[]);
        let bag = Bag::open(&path).unwrap();
        assert_eq!((bag.start(), bag.end(), bag.message_count()), (None, None, 0));
        assert_eq!(bag.topics().len(), 3);
        assert_eq!(read_all(&bag, &ReadOptions::default()), []);
    }
}

#[test]
fn equal_calls_give_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for compression in COMPRESSIONS {
        let bytes = ["a", "b"].map(|parent| {
            let parent = folder.path().join(parent);
            std::fs::create_dir_all(&parent).unwrap();
            let path = parent.join("bag");
            write(&path, WriteOptions { compression }, &messages(2_000, 700));
            let read = |name| std::fs::read(path.join(name)).unwrap();
            let bytes = (read("bag_0.mcap"), read("metadata.yaml"));
            std::fs::remove_dir_all(&path).unwrap();
            bytes
        });
        assert!(bytes[0] == bytes[1], "{compression:?}");
    }
}

#[test]
fn metadata_is_that_of_jazzy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive");
    let mut writer = Writer::create(&path, WriteOptions::default()).unwrap();
    let mut topic = topic(0);
    topic.offered_qos = vec![QoS::sensor_data()];
    let id = writer.add_topic(&topic).unwrap();
    let [first, last] = [2, 5].map(Time::from_secs);
    writer.write(id, first, first, 1, b"one").unwrap();
    writer.write(id, last, last, 2, b"two").unwrap();
    writer.finish().unwrap();
    let text = std::fs::read_to_string(path.join("metadata.yaml")).unwrap();
    assert_eq!(text, include_str!("jazzy_metadata.yaml"));
}

#[test]
fn existing_target_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["drive", "drive.mcap"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "precious").unwrap();
        let error = Writer::create(&path, WriteOptions::default()).err().unwrap();
        assert_eq!((error.kind(), error.path()), (ErrorKind::AlreadyExists, Some(&*path)));
        assert!(error.to_string().ends_with("it exists; remove it, or choose another name"));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }
}

#[test]
fn target_that_cannot_be_created_is_an_error() {
    for path in ["/proc/drive", "/nonexistent/drive.mcap"] {
        let error = Writer::create(path, WriteOptions::default()).err().unwrap();
        assert!(error.to_string().contains(path), "{error}");
    }
}
