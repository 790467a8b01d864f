//! The commands `record` and `replay` over ROS 2, with rclpy on the other side.

use crate::peer::DOMAIN;
use crate::{Peer, domain, received, subscribe, unique};
use ringspin::bag::{Bag, Definition, MessageTypes, ReadOptions, Topic, WriteOptions, Writer};
use ringspin::cli::Program;
use ringspin::messages::geometry_msgs::msg::PointStamped;
use ringspin::messages::std_msgs::msg::Float64;
use ringspin::messages::{RosMessage, cdr};
use ringspin::sim::Registry;
use ringspin::{Message, QoS, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The command line of a twin.
const LINE: &str = "RINGSPIN_TEST_LINE";

/// Runs `twin` in a child process, with this command line. Killed when it is dropped.
struct Running(Child);

impl Running {
    fn start(line: &[&str]) -> Self {
        Self(Self::command(line).spawn().unwrap())
    }

    /// The exit code and the errors that it prints.
    fn run(line: &[&str]) -> (Option<i32>, String) {
        let output = Self::command(line).stderr(Stdio::piped()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    fn command(line: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "recordings::twin", "--nocapture"]);
        command.env(LINE, line.join(" ")).env(DOMAIN, domain().to_string());
        command.env("ROS_DOMAIN_ID", domain().to_string());
        command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command.env("RINGSPIN_MODE", "single").env("RINGSPIN_MIDDLEWARE", "ros2");
        command.stdin(Stdio::null());
        command
    }

    fn exit_code(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The child of the other tests; nothing by itself.
#[test]
fn twin() {
    let Ok(line) = std::env::var(LINE) else { return };
    // Passes on the height of each point; its topics are remapped.
    let registry = Registry::new().node("height", |graph, place| {
        let node = place.create_node(graph, ())?;
        let qos = QoS::default().transient_local();
        let out = node.create_publisher("height", qos)?;
        node.create_subscription(
            "point",
            QoS::default(),
            move |_, p: &Message<PointStamped>, _| out.publish(Float64 { data: p.point.z }),
        )?;
        Ok(())
    });
    let types = MessageTypes::new().with::<PointStamped>().with::<Float64>();
    let program = Program::new(registry).messages(types);
    let words = ["twin"].into_iter().chain(line.split_whitespace());
    let code = program.run_from(words, &mut std::io::stdout(), &mut std::io::stderr());
    std::process::exit(code.into());
}

/// A folder of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ringspin-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn point(x: i32) -> PointStamped {
    let mut point = PointStamped::default();
    point.header.stamp.sec = x;
    point.header.frame_id = "map".into();
    (point.point.x, point.point.z) = (f64::from(x), f64::from(2 * x));
    point
}

fn definition<M: RosMessage>() -> Option<Definition> {
    Some(Definition { encoding: "ros2msg".into(), text: M::DEFINITION.into() })
}

#[test]
fn topics_of_a_peer_are_recorded_as_they_come() {
    let (folder, topic) = (Folder::new("record"), unique("recorded"));
    let kind = PointStamped::TYPE_NAME;
    let out = folder.0.join("out");
    let mut peer = Peer::start("recorded");
    let qos = json!({"depth": 7, "durability": "transient_local"});
    peer.ask(json!({"do": "publisher", "topic": topic, "type": kind, "qos": qos}));
    let value = |x: i32| serde_json::to_value(point(x)).unwrap();
    for x in 0..3 {
        peer.ask(json!({"do": "publish", "topic": topic, "value": value(x)}));
    }
    let line = ["record", &topic, "--output", &out.display().to_string(), "--messages", "5"];
    let running = Running::start(&line);
    for x in 3..5 {
        peer.ask(json!({"do": "publish", "topic": topic, "value": value(x)}));
    }
    assert_eq!(running.exit_code(), Some(0));
    let bag = Bag::open(&out).unwrap();
    let [recorded] = bag.topics() else { panic!("{:?}", bag.topics()) };
    assert_eq!((&*recorded.name, &*recorded.type_name), (&*topic, kind));
    assert_eq!(recorded.type_hash.as_deref(), Some(PointStamped::TYPE_HASH));
    // Comments differ between distributions.
    let fields = |definition: &Option<Definition>| {
        let lines = definition.as_ref().unwrap().text.lines();
        let lines = lines.map(|line| line.split('#').next().unwrap().trim());
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(fields(&recorded.definition), fields(&definition::<PointStamped>()));
    // Only the peer itself knows its depth.
    assert_eq!(recorded.offered_qos.len(), 1);
    assert_eq!(recorded.offered_qos[0].durability(), ringspin::qos::Durability::TransientLocal);
    let records: Vec<_> = bag.read(&ReadOptions::default()).unwrap().map(Result::unwrap).collect();
    let points = records.iter().map(|record| cdr::from_bytes::<PointStamped>(&record.data));
    let points: Vec<_> = points.map(Result::unwrap).collect();
    assert_eq!(points, (0..5).map(point).collect::<Vec<_>>());
    for record in records {
        assert!(record.publish_time <= record.log_time && record.publish_time > Time::ZERO);
    }
}

/// Writes a recording of points on two topics.
fn write(path: &Path, topics: [&str; 2], type_hash: &str) {
    let mut writer = Writer::create(path, WriteOptions::default()).unwrap();
    let topics = topics.map(|name| {
        let topic = Topic {
            name: name.into(),
            type_name: PointStamped::TYPE_NAME.into(),
            type_hash: Some(type_hash.into()),
            definition: definition::<PointStamped>(),
            serialization_format: "cdr".into(),
            offered_qos: vec![QoS::default().transient_local()],
        };
        writer.add_topic(&topic).unwrap()
    });
    for x in 0..5 {
        let time = Time::from_secs(1_700_000_000) + Duration::from_millis(10) * x;
        for topic in topics {
            let data = cdr::to_bytes(&point(x as i32)).unwrap();
            writer.write(topic, time, time, x, &data).unwrap();
        }
    }
    writer.finish().unwrap();
}

#[test]
fn recording_is_played_to_a_peer_and_through_nodes() {
    let folder = Folder::new("replay");
    let [raw, typed, height] = ["raw_point", "point", "height"].map(unique);
    let drive = folder.0.join("drive");
    write(&drive, [&raw, &typed], PointStamped::TYPE_HASH);
    let remap = [format!("point:={typed}"), format!("height:={height}")];
    // It runs until it is killed: the peer may subscribe late.
    let running = Running::start(&[
        "replay",
        &drive.display().to_string(),
        "--settle",
        "600s",
        "--ros-args",
        "-r",
        &remap[0],
        "-r",
        &remap[1],
    ]);
    let mut peer = Peer::start("replayed");
    let latched = json!({"durability": "transient_local"});
    for (topic, kind) in [
        (&raw, PointStamped::TYPE_NAME),
        (&typed, PointStamped::TYPE_NAME),
        (&height, Float64::TYPE_NAME),
    ] {
        subscribe(&mut peer, topic, kind, latched.clone());
    }
    let points: Vec<Value> = (0..5).map(|x| serde_json::to_value(point(x)).unwrap()).collect();
    assert_eq!(received(&mut peer, &raw, 5), points);
    assert_eq!(received(&mut peer, &typed, 5), points);
    let heights: Vec<_> = (0..5).map(|x| json!({"data": f64::from(2 * x)})).collect();
    assert_eq!(received(&mut peer, &height, 5), heights);
    drop(running);
}

#[test]
fn recording_of_another_definition_than_the_sourced_one_is_refused() {
    let folder = Folder::new("other_definition");
    let [raw, typed] = ["other_raw", "other_typed"].map(unique);
    let drive = folder.0.join("drive");
    write(&drive, [&raw, &typed], "RIHS01_old");
    let bag = drive.display().to_string();
    // The program's struct has another definition than the recording.
    let remap = format!("point:={typed}");
    let line = ["replay", &bag, "--topics", &typed, "--ros-args", "-r", &remap];
    // No node of the program has the topic: the definition of the sourced ROS counts.
    let raw_line = ["replay", &bag, "--topics", &raw];
    for (line, topic) in [(&line[..], &typed), (&raw_line[..], &raw)] {
        let (code, errors) = Running::run(line);
        let names = [topic, PointStamped::TYPE_NAME, "RIHS01_old", PointStamped::TYPE_HASH];
        assert_eq!(code, Some(2), "{errors}");
        assert!(names.iter().all(|name| errors.contains(name)), "{errors}");
    }
}

/// Types that rosbags and the sourced ROS 2 have.
const COMMON: [&str; 6] = [
    "geometry_msgs/msg/PoseArray",
    "nav_msgs/msg/Odometry",
    "sensor_msgs/msg/Imu",
    "sensor_msgs/msg/JointState",
    "sensor_msgs/msg/PointCloud2",
    "std_msgs/msg/String",
];

/// Runs scripts/recordings_peer.py with rosbags; returns the messages that it prints.
fn rosbags(arguments: &[&Path]) -> Vec<Value> {
    let installed = std::env::var_os("RINGSPIN_RECORDINGS").expect("run scripts/test-recordings");
    let mut command = Command::new(PathBuf::from(installed).join("venv/bin/python"));
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/recordings_peer.py"));
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The type of each topic, and its values in order.
fn by_topic(messages: &[Value]) -> BTreeMap<String, (String, Vec<Value>)> {
    let mut topics = BTreeMap::<_, (String, Vec<Value>)>::new();
    for message in messages {
        let text = |member: &str| message[member].as_str().unwrap().to_owned();
        let (kind, values) = topics.entry(text("topic")).or_default();
        *kind = text("type");
        values.push(message["values"].clone());
    }
    topics
}

#[test]
#[ignore = "needs rosbags, which scripts/test-recordings installs"]
fn recordings_of_rosbags_are_played_to_a_peer() {
    let folder = Folder::new("from_rosbags");
    let [types, theirs] = ["types", "theirs"].map(|name| folder.0.join(name));
    std::fs::write(&types, COMMON.join("\n")).unwrap();
    let written = by_topic(&rosbags(&["write".as_ref(), &theirs, &types]));
    assert_eq!(written.len(), COMMON.len());
    for recording in ["mcap_9_none", "mcap_9_storage", "sqlite3_8_none"] {
        let name = |topic: &String| unique(&format!("{recording}{topic}"));
        // The peer may subscribe late, but the recorded publishers were best effort.
        let qos = folder.0.join(format!("{recording}.yaml"));
        let latched = "{reliability: reliable, durability: transient_local}";
        let lines = written.keys().map(|topic| format!("{}: {latched}\n", name(topic)));
        std::fs::write(&qos, lines.collect::<String>()).unwrap();
        let (bag, qos) = (theirs.join(recording).display().to_string(), qos.display().to_string());
        let remapped: Vec<_> =
            written.keys().map(|topic| format!("{topic}:={}", name(topic))).collect();
        let mut line = vec!["replay", &bag, "--rate", "50", "--settle", "600s"];
        line.extend(["--qos-profile-overrides-path", &qos, "--remap"]);
        line.extend(remapped.iter().map(String::as_str));
        let running = Running::start(&line);
        let mut peer = Peer::start(recording);
        for (topic, (kind, _)) in &written {
            subscribe(&mut peer, &name(topic), kind, json!({"durability": "transient_local"}));
        }
        for (topic, (kind, values)) in &written {
            assert_eq!(&received(&mut peer, &name(topic), values.len()), values, "{kind}");
        }
        drop(running);
    }
}

#[test]
#[ignore = "needs rosbags, which scripts/test-recordings installs"]
fn recordings_of_a_peer_are_read_by_rosbags() {
    let folder = Folder::new("to_rosbags");
    let [types, theirs, out] = ["types", "theirs", "out"].map(|name| folder.0.join(name));
    std::fs::write(&types, COMMON.join("\n")).unwrap();
    // Values of every type.
    let written = rosbags(&["write".as_ref(), &theirs, &types]);
    let hashes: Vec<_> =
        written.iter().map(|message| (message["type"].clone(), message["hash"].clone())).collect();
    let published: BTreeMap<_, _> = by_topic(&written)
        .into_iter()
        .map(|(topic, of)| (unique(&format!("to_rosbags{topic}")), of))
        .collect();
    let mut peer = Peer::start("to_rosbags");
    for (topic, (kind, values)) in &published {
        let qos = json!({"durability": "transient_local"});
        peer.ask(json!({"do": "publisher", "topic": topic, "type": kind, "qos": qos}));
        for value in values {
            peer.ask(json!({"do": "publish", "topic": topic, "value": value}));
        }
    }
    let (messages, output) = (written.len().to_string(), out.display().to_string());
    let mut line = vec!["record", "--output", &output, "--messages", &messages];
    line.extend(published.keys().map(String::as_str));
    assert_eq!(Running::start(&line).exit_code(), Some(0));
    let read = rosbags(&["rosbags".as_ref(), &out]);
    assert_eq!(by_topic(&read), published);
    for message in read {
        let of_type = (message["type"].clone(), message["hash"].clone());
        assert!(hashes.contains(&of_type), "{of_type:?}");
    }
}
