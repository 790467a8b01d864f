//! Commands that look into recordings.

use ringspin_bag::{Definition, Topic, TopicId, WriteOptions, Writer};
use ringspin_cli::Program;
use ringspin_executor::{QoS, Time};
use ringspin_simulation::Registry;
use std::path::Path;

fn run(folder: &Path, line: &str) -> (u8, String, String) {
    let words = line.split_whitespace().map(|word| match word.strip_prefix('$') {
        Some(name) => folder.join(name).display().to_string(),
        None => word.into(),
    });
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["program".to_owned()].into_iter().chain(words);
    let code = Program::new(Registry::new()).run_from(words, &mut out, &mut err);
    let folder = format!("{}/", folder.display());
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&folder, "$");
    (code, text(out), text(err))
}

/// Writes a recording of `/count` with these values, one each second, and of `/other`.
fn write(path: &Path, values: &[i32]) {
    let topic = |name: &str| Topic {
        name: name.into(),
        type_name: "std_msgs/msg/Int32".into(),
        type_hash: None,
        definition: Some(Definition { encoding: "ros2msg".into(), text: "int32 data\n".into() }),
        serialization_format: "cdr".into(),
        offered_qos: vec![QoS::default()],
    };
    let mut writer = Writer::create(path, WriteOptions::default()).unwrap();
    let count = writer.add_topic(&topic("/count")).unwrap();
    assert_eq!(writer.add_topic(&topic("/other")).unwrap(), TopicId(1));
    for (second, value) in (0..).zip(values) {
        let time = Time::from_nanos(1_583_020_799_500_000_000 + 1_000_000_000 * second);
        let data = [&[0, 1, 0, 0], &value.to_le_bytes()[..]].concat();
        writer.write(count, time, time, second as u32, &data).unwrap();
        writer.write(TopicId(1), time, time, second as u32, &data[..8]).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn info_shows_files_times_and_topics_as_rosbag2_does() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("drive"), &[1, 2, 3]);
    let (code, out, err) = run(folder.path(), "bag info $drive");
    assert_eq!((code, &*err), (0, ""));
    let (start, rest) = out.split_once("Bag size:").unwrap();
    assert_eq!(start, "Files:             $drive/drive_0.mcap\n");
    let (_, rest) = rest.split_once('\n').unwrap();
    let expected = "\
Storage id:        mcap
ROS Distro:        jazzy
Duration:          2.000000000s
Start:             Feb 29 2020 23:59:59.500000000 (1583020799.500000000)
End:               Mar  1 2020 00:00:01.500000000 (1583020801.500000000)
Messages:          6
Topic information: Topic: /count | Type: std_msgs/msg/Int32 | Count: 3 | Serialization Format: cdr
                   Topic: /other | Type: std_msgs/msg/Int32 | Count: 3 | Serialization Format: cdr
";
    assert_eq!(rest, expected);
    let (code, out, err) = run(folder.path(), "bag info $none");
    assert_eq!((code, &*out), (2, ""));
    assert!(err.contains("$none"), "{err}");
}

#[test]
fn info_of_an_empty_recording_has_no_times() {
    let folder = tempfile::tempdir().unwrap();
    Writer::create(folder.path().join("x.mcap"), WriteOptions::default())
        .unwrap()
        .finish()
        .unwrap();
    let (code, out, _) = run(folder.path(), "bag info $x.mcap");
    assert_eq!(code, 0);
    assert!(
        out.contains("Start:             -\n") && out.contains("Messages:          0\n"),
        "{out}"
    );
    assert!(out.ends_with("Topic information:\n"), "{out}");
}

#[test]
fn check_shows_counts_and_ends_with_one_if_there_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("drive"), &[1, 2, 3]);
    let counts = "/count: 3 messages\n/other: 3 messages\n";
    assert_eq!(run(folder.path(), "bag check $drive"), (0, counts.into(), String::new()));
    // Fewer messages than the metadata has, and a file without its end.
    let path = folder.path().join("drive/metadata.yaml");
    let metadata = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, metadata.replace("message_count: 3", "message_count: 4")).unwrap();
    let (code, out, err) = run(folder.path(), "bag check $drive");
    assert_eq!((code, &*out), (1, counts));
    assert!(err.contains("metadata.yaml has 4 messages of topic /count, but 3 were read"), "{err}");
    let path = folder.path().join("drive/drive_0.mcap");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
    let (code, _, err) = run(folder.path(), "bag check $drive/drive_0.mcap");
    assert!(code == 1 && err.contains("drive_0.mcap: the end of the file is missing"), "{err}");
    std::fs::write(&path, &bytes[1..]).unwrap();
    assert_eq!(run(folder.path(), "bag check $drive").0, 2, "no recording");
}

#[test]
fn recover_writes_the_messages_that_are_left_and_shows_the_lost_ones() {
    let folder = tempfile::tempdir().unwrap();
    // More than a chunk.
    write(&folder.path().join("drive"), &[7; 20_000]);
    assert_eq!(run(folder.path(), "bag check $drive").0, 0);
    let path = folder.path().join("drive/drive_0.mcap");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (code, _, err) = run(folder.path(), "bag check $drive");
    assert!(code == 1 && err.contains("`bag recover`"), "{err}");
    let (code, out, err) = run(folder.path(), "bag recover $drive $left");
    assert_eq!((code, &*err), (0, ""));
    let left = ringspin_bag::Bag::open(folder.path().join("left")).unwrap();
    let [count, other] = left.message_counts() else { panic!("{out}") };
    assert!((1..20_000).contains(count) && (1..20_000).contains(other), "{out}");
    let counts = format!("/count: {count} of 20000 messages\n/other: {other} of 20000 messages\n");
    assert!(out.starts_with(&counts), "{out}");
    assert!(out.ends_with("checksum; it has messages of /count, /other\n"), "{out}");
    assert_eq!(run(folder.path(), "bag check $left").0, 0);
}

/// The log times in seconds, sequence numbers and last bytes of the messages of `topic`.
fn messages(path: &Path, topic: &str) -> Vec<(u64, u32, u8)> {
    let bag = ringspin_bag::Bag::open(path).unwrap();
    let topics = bag.topic(topic).map(|topic| vec![topic]);
    let options = ringspin_bag::ReadOptions { topics, ..Default::default() };
    let record = |record: Result<ringspin_bag::Record, _>| {
        let record = record.unwrap();
        let seconds = record.log_time.as_nanos() / 1_000_000_000 - 1_583_020_799;
        (seconds, record.sequence, record.data[4])
    };
    bag.read(&options).unwrap().map(record).collect()
}

#[test]
fn convert_writes_the_chosen_messages_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    write(&path("drive"), &[1, 2, 3, 4, 5]);
    let (code, out, err) = run(folder.path(), "bag convert $drive -o $all --compression zstd");
    assert_eq!((code, &*out, &*err), (0, "10 messages written to $all\n", ""));
    assert_eq!(run(folder.path(), "bag diff $drive $all").0, 0);
    let line =
        "bag filter $drive -o $part.mcap --regex /c.* --start-offset 1 --playback-duration 2";
    assert_eq!(run(folder.path(), line).0, 0);
    let part = ringspin_bag::Bag::open(path("part.mcap")).unwrap();
    assert_eq!(part.topics().len(), 1);
    assert_eq!(messages(&path("part.mcap"), "/count"), [(1, 1, 2), (2, 2, 3), (3, 3, 4)]);
    let line = "bag convert $drive -o $until --topics count --remap count:=/n \
        --playback-until 1583020800.5";
    assert_eq!(run(folder.path(), line).0, 0);
    assert_eq!(messages(&path("until"), "/n"), [(0, 0, 1), (1, 1, 2)]);
    for (line, part) in [
        ("bag convert $drive -o $all", "$all: it exists"),
        ("bag convert $drive -o $x --topics /none", "/none: it is not in the recording"),
        ("bag convert $drive -o $x --playback-until 7", "use a later `--playback-until`"),
        ("bag convert $drive", "--output"),
    ] {
        let (code, _, err) = run(folder.path(), line);
        assert!(code == 2 && err.contains(part), "{line}: {err}");
    }
}

#[test]
fn topics_without_a_definition_get_the_known_one() {
    let folder = tempfile::tempdir().unwrap();
    let of = |type_name: &str| Topic {
        name: format!("/{}", type_name.to_lowercase()),
        type_name: format!("std_msgs/msg/{type_name}"),
        type_hash: None,
        definition: None,
        serialization_format: "cdr".into(),
        offered_qos: Vec::new(),
    };
    let mut writer = Writer::create(folder.path().join("a"), WriteOptions::default()).unwrap();
    for name in ["Int32", "NotKnown"] {
        let topic = writer.add_topic(&of(name)).unwrap();
        let time = Time::from_secs(1);
        writer.write(topic, time, time, 0, &[0, 1, 0, 0, 7, 0, 0, 0]).unwrap();
    }
    writer.finish().unwrap();
    let (code, out, err) = run(folder.path(), "bag echo $a");
    assert!(out.ends_with("\"message\":{\"data\":7}}\n"), "{out}");
    let problem =
        "/notknown: the recording has no definition of std_msgs/msg/NotKnown; leave it out";
    assert!(code == 2 && err.contains(problem), "{err}");
    assert_eq!(run(folder.path(), "bag convert $a -o $b").0, 0);
    let bag = ringspin_bag::Bag::open(folder.path().join("b")).unwrap();
    let has = |topic: &Topic| topic.definition.as_ref().is_some_and(|of| !of.text.is_empty());
    assert_eq!(bag.topics().iter().map(has).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn convert_merges_recordings_by_time() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a"), &[1, 2]);
    write(&folder.path().join("b"), &[11, 12, 13]);
    let (code, out, err) = run(folder.path(), "bag merge $a $b -o $both --exclude other");
    assert_eq!((code, &*out, &*err), (0, "5 messages written to $both\n", ""));
    let both = folder.path().join("both");
    // The topic is in both, and is one.
    assert_eq!(ringspin_bag::Bag::open(&both).unwrap().topics().len(), 1);
    let expected = [(0, 0, 1), (0, 0, 11), (1, 1, 2), (1, 1, 12), (2, 2, 13)];
    assert_eq!(messages(&both, "/count"), expected);
}

#[test]
fn converted_recordings_are_split_by_size_and_time() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a"), &[1, 2, 3, 4, 5]);
    let whole = messages(&folder.path().join("a"), "/count");
    // A message has 8 bytes, and comes each second.
    for (out, option, files) in [
        ("b", "--max-bag-size 9", 3),
        ("c", "--max-bag-size 8", 5),
        ("d", "-d 3", 2),
        ("e", "-d 2s -b 100", 3),
        ("f", "-d 1000000000 -b 100", 1),
    ] {
        let line = format!("bag convert $a -o ${out} --topics count {option}");
        assert_eq!(run(folder.path(), &line).0, 0, "{line}");
        let path = folder.path().join(out);
        assert_eq!(messages(&path, "/count"), whole, "{line}");
        let name = |n: usize| path.join(format!("{out}_{n}.mcap"));
        let found = (0..).take_while(|n| name(*n).exists()).count();
        assert_eq!(found, files, "{line}");
        // Directory and files have what they count.
        for path in (0..files).map(name).chain([path.clone()]) {
            let line = format!("bag check {}", path.display());
            let (code, out, err) = run(folder.path(), &line);
            assert_eq!((code, &*err), (0, ""), "{line}: {out}");
        }
    }
    let (code, _, err) = run(folder.path(), "bag convert $a -o $g.mcap -d 1");
    assert_eq!(code, 2);
    assert!(err.contains("choose a name without `.mcap`, for a directory"), "{err}");
}

#[test]
fn a_converted_part_begins_with_the_latched_messages() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path().join("a"), WriteOptions::default()).unwrap();
    for (name, qos) in [("/map", QoS::default().transient_local()), ("/n", QoS::default())] {
        let topic = Topic {
            name: name.into(),
            type_name: "std_msgs/msg/UInt8".into(),
            type_hash: None,
            definition: Some(Definition { encoding: "ros2msg".into(), text: "uint8 data".into() }),
            serialization_format: "cdr".into(),
            offered_qos: vec![qos],
        };
        writer.add_topic(&topic).unwrap();
    }
    for (second, topic) in [(799, 0), (800, 1), (801, 1)] {
        let time = Time::from_secs(1_583_020_000 + second);
        writer.write(TopicId(topic), time, time, 0, &[0, 1, 0, 0, second as u8]).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(run(folder.path(), "bag convert $a -o $b --start-offset 2s").0, 0);
    let b = folder.path().join("b");
    assert_eq!(messages(&b, "/map"), [(2, 0, 799u32 as u8)]);
    assert_eq!(messages(&b, "/n"), [(2, 0, 801u32 as u8)]);
}

#[test]
fn echo_shows_messages_as_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("drive"), &[1, -2]);
    let (code, out, err) = run(folder.path(), "bag echo $drive --topics count");
    assert_eq!((code, &*err), (0, ""));
    let line = |second: u64, data: i32| {
        let time = 1_583_020_799_500_000_000 + 1_000_000_000 * second;
        format!(
            "{{\"topic\":\"/count\",\"type\":\"std_msgs/msg/Int32\",\"log_time_ns\":{time},\
             \"publish_time_ns\":{time},\"message\":{{\"data\":{data}}}}}\n"
        )
    };
    assert_eq!(out, line(0, 1) + &line(1, -2));
    // The values are those of the message, nested and of every kind.
    let text = format!(
        "bool[] set\nfloat32[3] f\nfloat64 d\nwstring w\nB[] all\n{}\nMSG: a_msgs/B\nstring s\n",
        "=".repeat(80)
    );
    let topic = Topic {
        name: "/a".into(),
        type_name: "a_msgs/msg/A".into(),
        type_hash: None,
        definition: Some(Definition { encoding: "ros2msg".into(), text }),
        serialization_format: "cdr".into(),
        offered_qos: Vec::new(),
    };
    let mut data = vec![0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0];
    for float in [0.1f32, f32::NAN, f32::NEG_INFINITY] {
        data.extend(float.to_le_bytes());
    }
    data.extend([0; 4]);
    data.extend(0.1f64.to_le_bytes());
    data.extend([1, 0, 0, 0, 233, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, b'"', b'\n', 0]);
    let mut writer = Writer::create(folder.path().join("a"), WriteOptions::default()).unwrap();
    let id = writer.add_topic(&topic).unwrap();
    writer.write(id, Time::from_secs(1), Time::ZERO, 0, &data).unwrap();
    writer.write(id, Time::from_secs(2), Time::ZERO, 0, &data[..9]).unwrap();
    writer.finish().unwrap();
    let (code, out, err) = run(folder.path(), "bag echo $a");
    let message = "\"message\":{\"set\":[true,false],\"f\":[0.1,\"NaN\",\"-Infinity\"],\
        \"d\":0.1,\"w\":\"é\",\"all\":[{\"s\":\"\\\"\\n\"}]}}\n";
    assert!(out.ends_with(message), "{out}");
    let problem = "topic /a at 2.000000000 s: failed to decode the recorded message at byte 8, \
        field `set`";
    assert!(code == 1 && err.starts_with(problem), "{err}");
}

#[test]
fn diff_shows_the_first_message_that_differs_and_ends_with_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, values) in [("a", [1, 2, 3]), ("b.mcap", [1, 2, 3]), ("c", [1, -2, 4])] {
        write(&folder.path().join(name), &values);
    }
    let equal = (0, "equal: $a and $b.mcap\n".into(), String::new());
    assert_eq!(run(folder.path(), "bag diff $a $b.mcap"), equal);
    let (code, out, _) = run(folder.path(), "bag diff $a $c");
    let expected = "left: $a, right: $c\n\
        /count: message 1 (std_msgs/msg/Int32) differs\n  data: 2 | -2\n";
    assert_eq!((code, &*out), (1, expected));
    let (code, out, _) = run(folder.path(), "bag diff $a $c --fields 0");
    assert!(code == 1 && out.ends_with("differs\n  and 1 more fields\n"), "{out}");
    let (code, out, _) = run(folder.path(), "bag diff $a $c --topics /other");
    assert!(code == 1 && out.contains("/other: message 1"), "{out}");
    let (code, _, err) = run(folder.path(), "bag diff $a $c --topics /none");
    assert!(code == 2 && err.contains("topic /none; see `bag info`"), "{err}");
    let (code, _, err) = run(folder.path(), "bag diff $a $none");
    assert!(code == 2 && err.contains("$none"), "{err}");
}

#[test]
fn diff_of_equal_messages_at_other_times_is_equal_without_stamps() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a"), &[1]);
    let (bag, mut writer) = (
        ringspin_bag::Bag::open(folder.path().join("a")).unwrap(),
        Writer::create(folder.path().join("b"), WriteOptions::default()).unwrap(),
    );
    let topics = bag.topics().iter().map(|topic| writer.add_topic(topic).unwrap());
    assert_eq!(topics.count(), 2);
    for record in bag.read(&ringspin_bag::ReadOptions::default()).unwrap() {
        let record = record.unwrap();
        let time = Time::from_secs(7);
        writer.write(record.topic, time, record.publish_time, 0, &record.data).unwrap();
    }
    writer.finish().unwrap();
    let (code, out, _) = run(folder.path(), "bag diff $a $b");
    assert!(code == 1 && out.contains("(log time): 1583020799.500000000 | 7.000000000"), "{out}");
    assert_eq!(run(folder.path(), "bag diff $a $b --ignore-stamps").0, 0);
}
