//! Recordings beside independent libraries: they write, and we read; we write, and they read.
//! `scripts/test-recordings` installs them and runs these tests. Values are compared after
//! decoding: padding bytes are not values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use ringspin_bag::{Bag, Compression, Definition, ReadOptions, Topic, WriteOptions, Writer};
use ringspin_executor::{Durability, QoS, Reliability, Time};
use ringspin_messages::{GeneratedMessage, TypeVisitor, cdr, visit_types};
use serde_json::Value;

/// A message type of ours.
struct Type {
    definition: &'static str,
    hash: &'static str,
    /// Decodes a message; returns its values, and the message encoded again.
    decode: fn(&[u8]) -> (Value, Vec<u8>),
}

#[derive(Default)]
struct Types(BTreeMap<&'static str, Type>);

impl TypeVisitor for Types {
    fn message<M: GeneratedMessage>(&mut self) {
        let decode = |data: &[u8]| {
            let message: M = cdr::from_bytes(data).unwrap();
            let values = serde_json::to_value(&message).unwrap();
            (values, cdr::to_bytes(&message).unwrap())
        };
        let (definition, hash) = (M::DEFINITION, M::TYPE_HASH);
        self.0.insert(M::TYPE_NAME, Type { definition, hash, decode });
    }
}

fn types() -> BTreeMap<&'static str, Type> {
    let mut types = Types::default();
    visit_types(&mut types);
    types.0
}

/// The folder with the installed libraries.
fn folder() -> PathBuf {
    std::env::var_os("RINGSPIN_RECORDINGS").expect("run scripts/test-recordings").into()
}

/// Runs a peer, and parses the messages that it prints.
fn peer(program: &Path, arguments: &[&Path]) -> Vec<Value> {
    let output = Command::new(program).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}: {errors}", program.display());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn python(arguments: &[&Path]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/recordings_peer.py");
    let arguments: Vec<_> = [&*script].iter().chain(arguments).copied().collect();
    peer(&folder().join("venv/bin/python"), &arguments)
}

fn node(file: &Path) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/recordings_peer.mjs");
    peer(Path::new("node"), &[&script, &folder().join("npm"), file])
}

/// Whether values are equal: numbers by their value, members by name.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            // Keywords have an underscore in some languages. An empty message has a dummy.
            let members = |object: &serde_json::Map<String, Value>| {
                let named = object
                    .iter()
                    .map(|(name, value)| (name.trim_matches('_').to_owned(), value.clone()));
                let kept = named.filter(|(name, _)| name != "structure_needs_at_least_one_member");
                kept.collect::<BTreeMap<_, _>>()
            };
            let (ours, theirs) = (members(ours), members(theirs));
            ours.len() == theirs.len()
                && ours.iter().all(|(name, value)| theirs.get(name).is_some_and(|v| same(value, v)))
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        (ours, theirs) => ours == theirs,
    }
}

fn text<'a>(message: &'a Value, member: &str) -> &'a str {
    message[member].as_str().unwrap()
}

/// The messages that a reader prints must be `written`.
fn check(reader: &str, written: &[Value], read: &[Value]) {
    assert_eq!(read.len(), written.len(), "{reader}");
    for (written, read) in written.iter().zip(read) {
        assert_eq!(text(read, "topic"), text(written, "topic"), "{reader}");
        assert_eq!(text(read, "type"), text(written, "type"), "{reader}");
        // JavaScript's numbers are too short for times.
        let time = |time: &Value| time.to_string().trim_matches('"').to_owned();
        assert_eq!(time(&read["log_time"]), time(&written["log_time"]), "{reader}");
        assert!(same(&written["values"], &read["values"]), "{reader}: {written}\n{read}");
        // rosbags does not read the hashes of a file without `metadata.yaml`.
        if let Some(hash) = read.get("hash").filter(|_| !reader.ends_with("one file")) {
            assert_eq!(hash, &written["hash"], "{reader}: {}", text(written, "type"));
        }
    }
}

/// Reads a recording of the peer: its messages must be `written`. Returns them encoded again.
fn read(path: &Path, types: &BTreeMap<&'static str, Type>, written: &[Value]) -> Vec<Vec<u8>> {
    let bag = Bag::open(path).unwrap();
    assert_eq!(bag.warnings(), [""; 0], "{}", path.display());
    assert_eq!(bag.message_count(), written.len() as u64);
    let mut encoded = Vec::new();
    for (written, record) in written.iter().zip(bag.read(&ReadOptions::default()).unwrap()) {
        let record = record.unwrap();
        let topic = &bag.topics()[record.topic.0];
        assert_eq!(topic.name, text(written, "topic"));
        assert_eq!(topic.type_name, text(written, "type"));
        assert_eq!(Value::from(record.log_time.as_nanos()), written["log_time"]);
        let known = &types[topic.type_name.as_str()];
        assert_eq!(topic.type_hash.as_deref(), Some(known.hash), "{}", topic.type_name);
        assert!(topic.definition.as_ref().is_some_and(|d| d.encoding == "ros2msg"));
        let qos = topic.offered_qos[0];
        assert_eq!((qos.depth(), qos.reliability()), (7, Reliability::BestEffort));
        assert_eq!(qos.durability(), Durability::TransientLocal);
        assert_eq!(qos.lifespan_age().unwrap().as_millis(), 1500);
        assert_eq!((qos.deadline_period(), qos.lease()), (None, None));
        let (values, bytes) = (known.decode)(&record.data);
        assert!(same(&values, &written["values"]), "{written}\n{values}");
        encoded.push(bytes);
    }
    assert_eq!(encoded.len(), written.len(), "{}", path.display());
    encoded
}

#[test]
#[ignore = "needs the libraries that scripts/test-recordings installs"]
fn peers_read_what_we_write_and_we_read_what_peers_write() {
    let directory = tempfile::tempdir().unwrap();
    let mut types = types();
    // rosbags takes `char` for a signed number, so that it expects another hash than ROS 2.
    let has_char = |definition: &str| definition.lines().any(|line| line.starts_with("char"));
    types.retain(|_, known| !has_char(known.definition));
    let names = directory.path().join("types");
    std::fs::write(&names, types.keys().copied().collect::<Vec<_>>().join("\n")).unwrap();
    let theirs = directory.path().join("theirs");
    let written = python(&["write".as_ref(), &theirs, &names]);
    assert!(written.len() > 400, "{} messages: the types are missing", written.len());
    let mut recordings: Vec<_> =
        std::fs::read_dir(&theirs).unwrap().map(|entry| entry.unwrap().path()).collect();
    recordings.sort();
    assert_eq!(recordings.len(), 14, "MCAP and SQLite3, versions 8 and 9, compressions");
    let mut encoded = Vec::new();
    for recording in &recordings {
        encoded = read(recording, &types, &written);
    }
    for compression in [None, Some(Compression::Zstd), Some(Compression::Lz4)] {
        let ours = directory.path().join(format!("ours_{compression:?}"));
        let file = ours.join(format!("ours_{compression:?}_0.mcap"));
        write(&ours, compression, &types, &written, &encoded);
        let by_rosbags = python(&["rosbags".as_ref(), &ours]);
        check("rosbags", &written, &by_rosbags);
        let qos = serde_json::json!([9, "reliable", "transient_local", 2]);
        assert!(by_rosbags.iter().all(|message| message["qos"] == qos));
        check("rosbags, one file", &written, &python(&["rosbags".as_ref(), &file]));
        let by_mcap = python(&["mcap".as_ref(), &file]);
        check("mcap-ros2-support", &written, &by_mcap);
        for (n, message) in by_mcap.iter().enumerate() {
            assert_eq!(message["sequence"], Value::from(n));
            let published = message["log_time"].as_u64().unwrap() - 5;
            assert_eq!(message["publish_time"], Value::from(published));
        }
        check("@mcap/core", &written, &node(&file));
    }
    println!("{} types, {} recordings", written.len() / 4, recordings.len());
}

/// Writes the messages that the peer wrote.
fn write(
    path: &Path,
    compression: Option<Compression>,
    types: &BTreeMap<&'static str, Type>,
    written: &[Value],
    encoded: &[Vec<u8>],
) {
    let mut writer = Writer::create(path, WriteOptions { compression }).unwrap();
    for (n, (written, data)) in written.iter().zip(encoded).enumerate() {
        let known = &types[text(written, "type")];
        let topic = Topic {
            name: text(written, "topic").to_owned(),
            type_name: text(written, "type").to_owned(),
            type_hash: Some(known.hash.to_owned()),
            definition: Some(Definition {
                encoding: "ros2msg".to_owned(),
                text: known.definition.to_owned(),
            }),
            serialization_format: "cdr".to_owned(),
            offered_qos: vec![
                QoS::keep_last(9).transient_local().lifespan(std::time::Duration::from_secs(2)),
            ],
        };
        let topic = writer.add_topic(&topic).unwrap();
        let time = written["log_time"].as_u64().unwrap();
        let [log_time, publish_time] = [time, time - 5].map(Time::from_nanos);
        writer.write(topic, log_time, publish_time, n as u32, data).unwrap();
    }
    writer.finish().unwrap();
}
