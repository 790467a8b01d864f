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
