//! Replays of recordings through the nodes of a program.

mod drive;

use drive::{Drive, START};
use ringspin_bag::{Bag, ReadOptions, Record, WriteOptions, Writer};
use ringspin_executor::Time;
use std::time::Duration;

/// The log times and numbers of the messages of `topic`.
fn numbers(bag: &Bag, topic: &str) -> Vec<(Time, i32)> {
    let id = bag.topic(topic).expect(topic);
    let options = ReadOptions { topics: Some(vec![id]), ..ReadOptions::default() };
    let number = |data: &[u8]| i32::from_le_bytes(data[4..8].try_into().unwrap());
    let records = bag.read(&options).unwrap().map(Result::unwrap);
    records.map(|record| (record.log_time, number(&record.data))).collect()
}

fn second(n: u64) -> Time {
    START + Duration::from_secs(n)
}

#[test]
fn every_message_is_played_and_recorded_with_the_results_of_the_nodes() {
    let drive = Drive::new(5);
    let (code, out, err) = drive.run("replay $drive --record $out --verify");
    assert_eq!((code, &*err), (0, ""));
    assert!(out.starts_with("$drive: ") && out.contains(", digest "), "{out}");
    assert!(out.contains("\n  5 messages played\n  10 messages recorded in $out\n"), "{out}");
    assert!(out.ends_with("  3 runs had the same dispatches and recordings\n"), "{out}");
    let out = drive.bag("out");
    let played: Vec<_> = (0..5).map(|n| (second(n), n as i32)).collect();
    assert_eq!(numbers(&out, "/number"), played);
    let sums = [0, 1, 3, 6, 10];
    let sums: Vec<_> = (0..5).map(|n| (second(n), sums[n as usize])).collect();
    assert_eq!(numbers(&out, "/sum"), sums);
    // The target is there now.
    let (code, _, err) = drive.run("replay $drive --record $out");
    assert!(code == 2 && err.contains("$out: it exists"), "{err}");
}

#[test]
fn recordings_of_two_replays_are_equal_byte_for_byte() {
    let drive = Drive::new(50);
    for name in ["a.mcap", "b.mcap"] {
        let line = format!("replay $drive --record ${name} --compression zstd");
        assert_eq!(drive.run(&line).0, 0);
    }
    let bytes = ["a.mcap", "b.mcap"].map(|name| std::fs::read(drive.path(name)).unwrap());
    assert!(bytes[0] == bytes[1] && !bytes[0].is_empty());
}

#[test]
fn a_part_of_the_recording_is_played_under_other_names() {
    let drive = Drive::new(10);
    let line = "replay $drive --record $out --remap number:=played --start-offset 3s \
        --playback-duration 4s";
    let (code, _, err) = drive.run(line);
    assert_eq!((code, &*err), (0, ""));
    let out = drive.bag("out");
    assert_eq!(out.topic("/number").map(|id| out.message_counts()[id.0]), Some(0));
    let expected: Vec<_> = (3..=7).map(|n| (second(n), n as i32)).collect();
    assert_eq!(numbers(&out, "/played"), expected);
    let (code, out, _) = drive.run("replay $drive --exclude number");
    assert!(code == 0 && out.contains("\n  0 messages played\n"), "{out}");
    // Rules of ROS rename the topics of nodes and player alike, and once.
    let line = "replay $drive --ros-args -r number:=/n -r /n:=/other";
    let (code, out, err) = drive.run(line);
    assert!((code, &*err) == (0, "") && out.starts_with("$drive: 10 dispatches"), "{out}{err}");
    let (code, _, err) = drive.run("replay $drive --topics /numbr");
    assert!(code == 2 && err.contains("/numbr") && err.contains("/number"), "{err}");
}

#[test]
fn the_clock_is_recorded_and_ends_with_the_last_message() {
    let drive = Drive::new(2);
    let line = "replay $drive --record $out --clock=2 --settle 1s --record-topics /clock";
    let (code, out, err) = drive.run(line);
    assert_eq!((code, &*err), (0, ""));
    assert!(out.contains("3 messages recorded"), "{out}");
    let bag = drive.bag("out");
    assert_eq!((bag.topics().len(), bag.start(), bag.end()), (1, Some(START), Some(second(1))));
}

#[test]
fn a_job_file_chooses_nodes_and_its_end_counts_from_the_first_message() {
    let drive = Drive::new(10);
    let job =
        "for = \"3 s\"\n[[node]]\ntype = \"sum\"\nname = \"total\"\nremap = { sum = \"/x\" }\n";
    std::fs::write(drive.path("job.toml"), job).unwrap();
    let (code, out, err) = drive.run("replay $drive --job $job.toml --record $out");
    assert_eq!((code, &*err), (0, ""));
    assert!(out.starts_with("$job.toml: ") && out.contains("\n  4 messages played\n"), "{out}");
    assert_eq!(numbers(&drive.bag("out"), "/x").len(), 4);
}

#[test]
fn exit_code_of_a_node_is_that_of_the_command() {
    let drive = Drive::new(10);
    std::fs::write(drive.path("job.toml"), "endless = true\n[[node]]\ntype = \"limit\"\n").unwrap();
    for (option, end) in [("", "code 7\n"), ("--verify", "same dispatches and recordings\n")] {
        let (code, out, _) = drive.run(&format!("replay $drive --job $job.toml {option}"));
        assert!(code == 7 && out.contains("a node ended it with exit code 7"), "{out}");
        assert!(out.contains(end), "{out}");
    }
    std::fs::write(drive.path("job.toml"), "endless = true\n[[node]]\ntype = \"fails\"\n").unwrap();
    let (code, _, err) = drive.run("replay $drive --job $job.toml");
    assert!(code == 1 && err.contains("four is too much"), "{err}");
}

#[test]
fn a_type_that_a_node_has_otherwise_is_refused_by_name_and_hash() {
    let drive = Drive::new(1);
    std::fs::write(drive.path("job.toml"), "endless = true\n[[node]]\ntype = \"other\"\n").unwrap();
    for option in ["", "--verify"] {
        let (code, _, err) = drive.run(&format!("replay $drive --job $job.toml {option}"));
        assert_eq!(code, 2, "{err}");
        for part in ["/number", "std_msgs/msg/Int32", "std_msgs/msg/Int64", "RIHS01_"] {
            assert!(err.contains(part), "{part}: {err}");
        }
    }
}

#[test]
fn runs_with_different_results_are_told_apart_by_their_recordings() {
    let drive = Drive::new(3);
    std::fs::write(drive.path("job.toml"), "endless = true\n[[node]]\ntype = \"leaks\"\n").unwrap();
    let (code, _, err) = drive.run("replay $drive --job $job.toml --verify --record $out");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("/leak: message 0 (std_msgs/msg/Int32) differs"), "{err}");
    // Nothing is digested, so the dispatches alone are the same.
    assert!(err.contains("differs from that of the first run"), "{err}");
}

#[test]
fn settings_that_do_not_fit_the_mode_and_unusable_files_are_refused() {
    let drive = Drive::new(1);
    for (line, part) in [
        ("replay", "<BAG>"),
        ("replay $none", "$none"),
        ("replay $drive --rate 2", "RINGSPIN_MODE=single"),
        ("replay $drive --remap /number", "/imu:=/imu/raw"),
        ("replay $drive --job $none.toml", "$none.toml"),
        ("replay $drive --qos-profile-overrides-path $none.yaml", "$none.yaml"),
        ("replay $drive --clock=0", "as 40"),
    ] {
        let (code, _, err) = drive.run(line);
        assert!(code == 2 && err.contains(part), "{line}: {err}");
    }
    let line = "replay $drive --qos-profile-overrides-path $qos.yaml --record $out";
    std::fs::write(drive.path("qos.yaml"), "/number: {reliability: best_effort}").unwrap();
    let (code, _, err) = drive.run(line);
    assert!(code == 2 && err.contains("the reliability offered is best effort"), "{err}");
    std::fs::write(drive.path("qos.yaml"), "/number:\n  depth: 3\n").unwrap();
    assert_eq!(drive.run(line).0, 0);
    let bag = drive.bag("out");
    let qos = bag.topics()[bag.topic("/number").unwrap().0].offered_qos[0];
    assert_eq!(qos, ringspin_executor::QoS::keep_last(3));
}

#[test]
fn order_and_times_are_those_that_are_chosen() {
    let drive = Drive::new(3);
    let from = drive.bag("drive");
    let mut writer = Writer::create(drive.path("late"), WriteOptions::default()).unwrap();
    let topic = writer.add_topic(&from.topics()[0]).unwrap();
    // The second message is published last.
    let records = from.read(&ReadOptions::default()).unwrap().map(Result::unwrap);
    for (record, published) in records.zip([0, 2, 1]) {
        let Record { log_time, sequence, data, .. } = record;
        let published = second(published);
        writer.write(topic, log_time + second(3).since(START), published, sequence, &data).unwrap();
    }
    writer.finish().unwrap();
    let played = |options: &str, out: &str| {
        let (code, _, err) = drive.run(&format!("replay $late --record ${out} {options}"));
        assert_eq!((code, &*err), (0, ""));
        numbers(&drive.bag(out), "/number")
    };
    let at = |seconds: [u64; 3], numbers: [i32; 3]| -> Vec<_> {
        seconds.map(second).into_iter().zip(numbers).collect()
    };
    assert_eq!(played("", "a"), at([3, 4, 5], [0, 1, 2]));
    assert_eq!(played("--order publish", "b"), at([3, 5, 5], [0, 2, 1]));
    assert_eq!(played("--time-base publish", "c"), at([0, 1, 2], [0, 2, 1]));
}

#[test]
fn damaged_recording_ends_with_one() {
    let drive = Drive::new(5);
    let path = drive.path("drive/metadata.yaml");
    let metadata = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, metadata.replace("message_count: 5", "message_count: 6")).unwrap();
    for line in ["replay $drive", "replay $drive --verify", "replay $drive --clock --settle 1s"] {
        let (code, _, err) = drive.run(line);
        assert_eq!(code, 1, "{line}: {err}");
        assert!(err.contains("metadata.yaml has 6 messages of topic /number, but 5 were"), "{err}");
    }
    std::fs::write(&path, metadata).unwrap();
    // A bit of the first chunk.
    let path = drive.path("drive/drive_0.mcap");
    let mut bytes = std::fs::read(&path).unwrap();
    let time = START.as_nanos().to_le_bytes();
    let at = bytes.windows(8).position(|bytes| bytes == time).unwrap();
    bytes[at + 16] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (code, _, err) = drive.run("replay $drive");
    assert!(code == 1 && err.contains("drive_0.mcap: damaged at byte "), "{code} {err}");
}

#[test]
fn options_of_rosbag2_are_taken_or_refused_by_name() {
    let drive = Drive::new(10);
    let played = |options: &str| {
        let (code, out, err) = drive.run(&format!("replay $drive {options}"));
        assert_eq!((code, &*err), (0, ""), "{options}");
        out.lines().nth(1).unwrap().to_owned()
    };
    // Numbers without a unit are seconds.
    assert_eq!(played("--start-offset 2.5 --playback-duration 4"), "  4 messages played");
    assert_eq!(played("--start-offset 2s --playback-duration 4000ms"), "  5 messages played");
    assert_eq!(played("--playback-until-sec 1700000002.5"), "  3 messages played");
    // Each message of the clock counts.
    assert_eq!(played("--clock 2"), "  29 messages played");
    assert_eq!(played("--regex /n.*r"), "  10 messages played");
    assert_eq!(played("--exclude-regex .*umbe.*"), "  0 messages played");
    assert_eq!(played("--exclude-regex umbe"), "  10 messages played");
    for (line, part) in [
        ("replay --clock $drive", "recordings come before `--clock`"),
        ("replay $drive --regex umber", "no name matches `^(?:umber)$`; the recording has /number"),
        ("replay $drive --regex [", "unclosed character class"),
        ("replay $drive --start-paused", "are for the live modes"),
        ("replay $drive --storage mcap", "`--storage` of `ros2 bag` is not offered; leave it out"),
        ("bag reindex $drive", "`reindex` of `ros2 bag` is not offered; use `bag recover`"),
        ("replay $drive --playback-until 7", "use a later `--playback-until`"),
        ("play $drive", "use `replay BAG`"),
    ] {
        let (code, _, err) = drive.run(line);
        assert!(code == 2 && err.contains(part), "{line}: {err}");
    }
}

#[test]
fn hidden_topics_are_recorded_or_named() {
    let drive = Drive::new(2);
    let line = "replay $drive --remap number:=/add/_service_event --record";
    let (code, out, err) = drive.run(&format!("{line} $a"));
    assert_eq!((code, &*err), (0, ""));
    assert!(out.contains("  /add/_service_event was not recorded: it is hidden"), "{out}");
    let (_, out, _) = drive.run(&format!("{line} $b --include-hidden-topics"));
    assert!(out.contains("  2 messages recorded") && !out.contains("hidden"), "{out}");
}
