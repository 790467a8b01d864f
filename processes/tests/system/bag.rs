//! A recording as a process.

use super::{run, system};
use ringspin_bag::{Bag, ReadOptions, Topic, WriteOptions, Writer};
use ringspin_executor::{QoS, Time};
use std::path::Path;

/// When each message of a recording was recorded, in milliseconds, with its topic and its contents.
fn messages(path: &Path) -> Vec<(u64, String, u8)> {
    let bag = Bag::open(path).unwrap();
    let all = bag.read(&ReadOptions::default()).unwrap().map(Result::unwrap);
    let message = |record: ringspin_bag::Record| {
        let name = bag.topics()[record.topic.0].name.clone();
        (record.log_time.as_nanos() / 1_000_000, name, record.data[4])
    };
    all.map(message).collect()
}

/// A recording of two topics, one of which is transient local, that begins at 1,000 s.
fn record(path: &Path) {
    let mut writer = Writer::create(path, WriteOptions::default()).unwrap();
    let qos = [QoS::keep_last(3).transient_local(), QoS::sensor_data()];
    let topics = ["/map", "/scan"].into_iter().zip(qos).map(|(name, qos)| Topic {
        name: name.into(),
        type_name: "std_msgs/msg/UInt8".into(),
        type_hash: Some(format!("RIHS01_{}", "ab".repeat(32))),
        definition: None,
        serialization_format: "cdr".into(),
        offered_qos: vec![qos],
    });
    let topics: Vec<_> = topics.map(|topic| writer.add_topic(&topic).unwrap()).collect();
    for (millis, topic) in [(0, 0), (0, 1), (50, 1), (120, 1)] {
        let time = Time::from_nanos((1_000_000 + millis) * 1_000_000);
        writer.write(topics[topic], time, time, 0, &[0, 1, 0, 0, millis as u8]).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_recording_is_a_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (drive, out) = (path("drive.mcap"), path("out.mcap"));
    record(&drive);
    let text = |settings: &str, more: &str| {
        format!(
            "{more}processes: [{{ name: drive, bag: {}, start: 2 s{settings} }}]\n",
            drive.display()
        )
    };
    let played = |settings: &str| {
        let (_folder, system) = system(&text(settings, "end: drive\n"));
        let _ = std::fs::remove_file(&out);
        let (code, _, error) = run(&["run", "--record", &out.display().to_string(), &system]);
        assert_eq!(code, 0, "{error}");
        assert!(error.contains("up to the end of its process"), "{error}");
        let of = |(time, name, value)| format!("{time} {name} {value}");
        messages(&out).into_iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(played(""), ["2000 /map 0", "2000 /scan 0", "2050 /scan 50", "2120 /scan 120"]);
    assert_eq!(
        played(", topics: [scan], remap: { /scan: /points }"),
        ["2000 /points 0", "2050 /points 50", "2120 /points 120"]
    );
    // The clock has the seconds of the recording: 1,000 and so on.
    let ticks = played(", topics: [/map], clock: 1 ms");
    assert_eq!(ticks, ["2000 /clock 232", "2000 /map 0"]);

    for (settings, named) in [
        (", topics: [/scam]", "not in the recording, which has /map, /scan"),
        (", command: ls", "leave out command and parameters"),
    ] {
        let (_folder, system) = super::system(&text(settings, ""));
        let (code, _, error) = run(&["run", &system]);
        assert!(code > 0 && error.contains(named), "{code} {error}");
    }
    // A recording that was cut off says so.
    let bytes = std::fs::read(&drive).unwrap();
    std::fs::write(&drive, &bytes[..bytes.len() - 100]).unwrap();
    let (_folder, system) = super::system(&text("", ""));
    let (_, _, error) = run(&["run", &system]);
    assert!(error.contains("drive] "), "{error}");
}
