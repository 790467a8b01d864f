//! SQLite3 recordings: the tables of all versions of rosbag2, and left-over write-ahead logs.

mod common;

use std::path::Path;

use common::{Message, messages, read_all};
use ringspin_bag::{Bag, Definition, Order, ReadOptions, TopicId};
use ringspin_executor::{QoS, Time};
use rusqlite::Connection;

const QOS: &str = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n  deadline: \
    {sec: 0, nsec: 0}\n  lifespan: {sec: 0, nsec: 0}\n  liveliness: 1\n  \
    liveliness_lease_duration: {sec: 0, nsec: 0}\n  avoid_ros_namespace_conventions: false";

/// The tables of a version of rosbag2.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Version {
    /// Without QoS.
    Foxy,
    Galactic,
    /// With table `schema` and `metadata`.
    Humble,
    /// With hashes and definitions.
    Jazzy,
}

const VERSIONS: [Version; 4] = [Version::Foxy, Version::Galactic, Version::Humble, Version::Jazzy];

fn create(path: &Path, version: Version, messages: &[Message]) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    let mut topics = "id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, \
        serialization_format TEXT NOT NULL"
        .to_owned();
    if version >= Version::Galactic {
        topics += ", offered_qos_profiles TEXT NOT NULL";
    }
    if version == Version::Jazzy {
        topics += ", type_description_hash TEXT NOT NULL";
    }
    let mut tables = format!(
        "CREATE TABLE topics({topics}); CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id \
         INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL); \
         CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
    );
    if version >= Version::Humble {
        tables += "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT \
            NULL); CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT \
            NULL, metadata TEXT NOT NULL); INSERT INTO schema VALUES (4, 'jazzy');";
    }
    if version == Version::Jazzy {
        tables += "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT \
            NULL, encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL, \
            type_description_hash TEXT NOT NULL); INSERT INTO message_definitions VALUES \
            (1, 'std_msgs/msg/String', 'ros2msg', 'string data', 'RIHS01_0');";
    }
    connection.execute_batch(&tables).unwrap();
    for topic in 0..3 {
        let mut values = format!("{}, '/topic{topic}', 'std_msgs/msg/String', 'cdr'", topic + 10);
        if version >= Version::Galactic {
            values += &format!(", '{QOS}'");
        }
        if version == Version::Jazzy {
            values += ", 'RIHS01_0'";
        }
        connection.execute(&format!("INSERT INTO topics VALUES ({values})"), []).unwrap();
    }
    connection.execute_batch("BEGIN").unwrap();
    for message in messages {
        let row = (message.topic.0 as i64 + 10, message.log_time.as_nanos() as i64, &message.data);
        let insert = "INSERT INTO messages (topic_id, timestamp, data) VALUES (?1, ?2, ?3)";
        connection.prepare(insert).unwrap().execute(row).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    connection
}

/// The messages as SQLite stores them: without publication times and numbers.
fn stored(count: u64) -> Vec<Message> {
    let mut messages = messages(count, 200);
    for message in &mut messages {
        message.sequence = 0;
        message.publish_time = message.log_time;
    }
    messages
}

fn sorted(mut messages: Vec<Message>) -> Vec<Message> {
    messages.sort_by_key(|message| message.log_time);
    messages
}

#[test]
fn recordings_of_all_versions_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for version in VERSIONS {
        let path = folder.path().join(format!("{version:?} #?.db3"));
        let written = stored(3_000);
        drop(create(&path, version, &written));
        let bag = Bag::open(&path).unwrap();
        let topic = &bag.topics()[2];
        assert_eq!(
            (topic.name.as_str(), topic.type_name.as_str()),
            ("/topic2", "std_msgs/msg/String")
        );
        let has_qos = version >= Version::Galactic;
        let qos = if has_qos { vec![QoS::sensor_data()] } else { Vec::new() };
        assert_eq!(topic.offered_qos, qos);
        let is_jazzy = version == Version::Jazzy;
        assert_eq!(topic.type_hash.as_deref(), is_jazzy.then_some("RIHS01_0"));
        let definition = Definition { encoding: "ros2msg".into(), text: "string data".into() };
        assert_eq!(topic.definition, is_jazzy.then_some(definition));
        assert_eq!((bag.storage(), bag.warnings().len()), ("sqlite3", 0));
        assert_eq!(bag.message_count(), 3_000);
        for order in [Order::LogTime, Order::PublishTime] {
            let options = ReadOptions { order, ..ReadOptions::default() };
            assert_eq!(read_all(&bag, &options), sorted(written.clone()));
        }
    }
}

#[test]
fn equal_times_are_read_in_the_order_of_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ties.db3");
    let mut written = stored(2_000);
    for (n, message) in written.iter_mut().enumerate() {
        message.log_time = Time::from_nanos([7, 3, 7][n % 3]);
        message.publish_time = message.log_time;
    }
    let connection = create(&path, Version::Jazzy, &written);
    assert_eq!(
        read_all(&Bag::open(&path).unwrap(), &ReadOptions::default()),
        sorted(written.clone())
    );
    // Without an index, the messages are sorted first.
    connection.execute_batch("DROP INDEX timestamp_idx").unwrap();
    assert_eq!(read_all(&Bag::open(&path).unwrap(), &ReadOptions::default()), sorted(written));
}

#[test]
fn chosen_topics_and_times_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chosen.db3");
    let written = stored(3_000);
    drop(create(&path, Version::Humble, &written));
    let (start, end) = (Time::from_nanos(1_400_000), Time::from_nanos(2_000_000));
    let options = ReadOptions {
        topics: Some(vec![TopicId(0), TopicId(2)]),
        start: Some(start),
        end: Some(end),
        order: Order::LogTime,
        skip_checksums: false,
    };
    let is_chosen = |m: &Message| m.topic.0 != 1 && (start..=end).contains(&m.log_time);
    let expected: Vec<_> = sorted(written).into_iter().filter(is_chosen).collect();
    assert!(expected.len() > 100);
    assert_eq!(read_all(&Bag::open(&path).unwrap(), &options), expected);
}

#[test]
fn messages_in_a_write_ahead_log_are_read_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (live, copy) = (folder.path().join("live.db3"), folder.path().join("copy"));
    let written = stored(500);
    let connection = create(&live, Version::Jazzy, &written);
    // A recorder that was killed leaves its log behind.
    std::fs::create_dir(&copy).unwrap();
    for suffix in ["", "-wal"] {
        let from = folder.path().join(format!("live.db3{suffix}"));
        std::fs::copy(from, copy.join(format!("bag.db3{suffix}"))).unwrap();
    }
    drop(connection);
    let bytes = |suffix| std::fs::read(copy.join(format!("bag.db3{suffix}"))).unwrap();
    let before = (bytes(""), bytes("-wal"));
    assert!(before.0.len() < 10_000 && before.1.len() > 10_000, "the log has the messages");
    for name in ["bag.db3", "."] {
        let bag = Bag::open(copy.join(name)).unwrap();
        assert_eq!(read_all(&bag, &ReadOptions::default()), sorted(written.clone()));
    }
    assert!((bytes(""), bytes("-wal")) == before);
    assert_eq!(std::fs::read_dir(&copy).unwrap().count(), 2, "no further file");
}

#[test]
fn tables_that_are_not_rosbag2s_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = [
        ("CREATE TABLE topics(id INTEGER PRIMARY KEY)", "no column `name` in a table `topics`"),
        (
            "CREATE TABLE topics(id, name, type, serialization_format); CREATE VIEW messages AS \
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) \
             SELECT id, 1 AS topic_id, id AS timestamp, 'x' AS data FROM n",
            "no column `id` in a table `messages`",
        ),
        (
            "CREATE TABLE topics(id, name, type, serialization_format); CREATE TABLE \
             messages(id, topic_id, timestamp, data); INSERT INTO messages VALUES (1, 7, 1, 'x')",
            "unknown topic 7",
        ),
    ];
    for (number, (tables, problem)) in refused.into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.db3"));
        Connection::open(&path).unwrap().execute_batch(tables).unwrap();
        let error = Bag::open(&path).err().unwrap().to_string();
        assert!(error.contains(problem), "{error}");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
    }
}
