//! SQLite3 recordings: the tables of all versions of rosbag2, and left-over write-ahead logs.

use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::common::{Message, messages, read_all};
use ringspin_bag::{Bag, Definition, Order, ReadOptions, TopicId};
use ringspin_executor::{QoS, Time};
use rusqlite::Connection;

const QOS: &str = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n  deadline: \
    {sec: 0, nsec: 0}\n  lifespan: {sec: 0, nsec: 0}\n  liveliness: 1\n  \
    liveliness_lease_duration: {sec: 0, nsec: 0}\n  avoid_ros_namespace_conventions: false";

/// The tables of a version of rosbag2.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Version {
    /// Its topics have no QoS.
    Foxy,
    Galactic,
    /// It adds the tables `schema` and `metadata`.
    Humble,
    /// It adds hashes and definitions.
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

#[test]
fn flipped_bit_of_an_index_is_an_error_or_leaves_all_messages() {
    flip_index_bits(101);
}

#[test]
#[ignore = "slow: every fifth bit"]
fn slow_flipped_bit_of_an_index_is_an_error_or_leaves_all_messages() {
    flip_index_bits(5);
}

/// Creates a file; returns the pages of the index or table `name`.
fn create_small_pages(path: &Path, written: &[Message], name: &str) -> Vec<i64> {
    let connection = create(path, Version::Jazzy, written);
    // Small pages: the index has inner nodes and leaves.
    let small = "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM";
    connection.execute_batch(small).unwrap();
    let query = "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype != 'overflow'";
    let mut statement = connection.prepare(query).unwrap();
    let pages = statement.query_map([name], |row| row.get(0)).unwrap();
    let pages: Vec<i64> = pages.map(Result::unwrap).collect();
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

/// Flips each bit of the index at a multiple of `step`.
fn flip_index_bits(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.db3");
    let written = sorted(stored(518));
    let pages = create_small_pages(&path, &written, "timestamp_idx");
    let bytes = std::fs::read(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let bits = pages.iter().flat_map(|page| (page - 1) * 4096..page * 4096);
    let (mut errors, mut whole) = (0, 0);
    for bit in bits.step_by(step) {
        let at = bit as usize / 8;
        let flip = |byte: u8| file.write_all_at(&[byte], at as u64).unwrap();
        flip(bytes[at] ^ 1 << (bit % 8));
        // The messages of all times, and of a part of them.
        let bag = Bag::open(&path).unwrap();
        for first in [0, 200] {
            let start = Some(written[first].log_time);
            let options = ReadOptions { start, ..ReadOptions::default() };
            let read: Result<Vec<_>, _> = bag.read(&options).unwrap().collect();
            match read {
                Ok(read) => {
                    assert!(read == written[first..], "bit {bit} from {first}");
                    whole += 1;
                }
                Err(_) => errors += 1,
            }
        }
        flip(bytes[at]);
    }
    assert!(errors * step > 7_400 && whole * step > 740, "{errors} errors, {whole} whole");
}

#[test]
fn damaged_pages_are_left_out_of_a_damaged_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db3");
    let written = sorted(stored(518));
    for (name, lost_max) in [("messages", 10), ("timestamp_idx", 0)] {
        let pages = create_small_pages(&path, &written, name);
        let bytes = std::fs::read(&path).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let mut lost = 0;
        // The first page is the root.
        for page in &pages[1..] {
            let at = (page - 1) as usize * 512;
            let is_leaf = matches!(bytes[at], 10 | 13);
            file.write_all_at(&[0xff; 8], at as u64).unwrap();
            let bag = Bag::open_damaged(&path).unwrap();
            let read = read_all(&bag, &ReadOptions::default());
            assert!(read.iter().all(|message| written.contains(message)), "page {page}");
            let few = written.len() - if is_leaf { lost_max } else { 200 };
            assert!(read.len() >= few, "{} read of {name}, page {page}", read.len());
            assert_eq!(bag.warnings().len(), usize::from(read.len() < written.len()));
            lost += written.len() - read.len();
            file.write_all_at(&bytes[at..at + 8], at as u64).unwrap();
        }
        assert_eq!(lost > 0, name == "messages");
        std::fs::remove_file(&path).unwrap();
    }
}
