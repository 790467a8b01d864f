//! Systems of rclpy processes. They need a ROS 2 with rclpy: `scripts/test-ros2` runs them.

use super::{build, built, results, ringspin, system};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system/system.yaml");

/// Runs the command where `python3` is the interpreter that has rclpy.
pub(super) fn run(args: &[&str]) -> (i32, String, String) {
    results(in_ros(args).output().unwrap())
}

pub(super) fn in_ros(args: &[&str]) -> std::process::Command {
    let python = std::env::var("RINGSPIN_ROS_PYTHON").expect("an interpreter with rclpy");
    let mut path = Path::new(&python).parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = ringspin(args);
    command.env("PATH", path);
    command
}

/// Runs `run` while all cores are busy.
pub(super) fn under_load<R>(run: impl FnOnce() -> R) -> R {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = run();
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
#[ignore = "needs rclpy"]
fn six_processes_have_one_result_under_any_load() {
    let runs = std::env::var("RINGSPIN_TEST_RUNS").unwrap_or("4".into());
    let args = ["verify", EXAMPLE, "--quiet", "--runs", &runs];
    let (code, _, error) = under_load(|| run(&args));
    assert_eq!(code, 0, "{error}");
    let digests = |text: &str| {
        let digests = text.lines().filter_map(|line| line.split("digest ").nth(1));
        digests.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(digests(&error).len(), 1, "{error}");
    let (_, _, other) = run(&["verify", EXAMPLE, "--quiet", "--runs", "2", "--seed", "8"]);
    assert_ne!(digests(&other), digests(&error));
}

#[test]
#[ignore = "needs rclpy"]
fn an_order_that_fails_is_found_shrunk_and_repeated() {
    let (code, out, error) = run(&["explore", EXAMPLE]);
    assert_eq!(code, 1, "{error}");
    assert!(out.contains("\n1 of "), "{out}");
    assert!(out.contains("the timeout of camera before the timeout of lidar"), "{out}");
    let schedule = out.split("--schedule '").nth(1).unwrap().split('\'').next().unwrap();
    for _ in 0..3 {
        let (code, _, error) = run(&["run", "--schedule", schedule, EXAMPLE]);
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("AssertionError: image"), "{error}");
    }
}

/// The results of the command where files may have so many blocks of 512 bytes: a write beyond
/// fails, as on a full disk.
fn with_file_limit(blocks: &str, args: &[&str]) -> (i32, String, String) {
    let command = in_ros(args);
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let mut limited = std::process::Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    limited.args(["-c", &script, "sh"]).args(words);
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    results(limited.output().unwrap())
}

#[test]
#[ignore = "needs rclpy"]
fn a_recording_that_cannot_be_written_ends_the_run() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/large.py");
    let (folder, system) = system(&format!(
        "for: 1000 s\nprocesses:\n  - {{ name: camera, command: python3 {script} camera }}\n"
    ));
    let recording = folder.path().join("run").display().to_string();
    let (code, out, error) = with_file_limit("4000", &["run", &system, "--record", &recording]);
    assert_eq!(code, 2, "{error}");
    let file = format!("failed to write recording {recording}/run_0.mcap: File too large");
    assert!(error.contains(&file), "{error}");
    assert!(out.contains("sent 2 ") && !out.contains("sent 9 "), "{out}");
    let (code, out, error) = run(&["bag", "check", &recording]);
    // It has the messages before, and says that the rest is missing.
    assert!(code == 1 && out.contains("/image: 1 message"), "{out}{error}");
}

/// Two receivers of each image, one of which starts late, and one that is killed.
#[test]
#[ignore = "needs rclpy"]
fn large_messages_go_by_memory_that_is_given_back() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/large.py");
    let (folder, system) = system(&format!(
        "for: 2 s
processes:
  - {{ name: camera, command: python3 {script} camera }}
  - {{ name: view, command: python3 {script} view }}
  - {{ name: late, command: python3 {script} view, start: 1 s }}
fault: [{{ kill: {{ process: view, at: 1.5 s, restart: 100 ms }} }}]
link: [{{ topic: /image, to: view, delay: 3 ms }}]
"
    ));
    let run_with = |limit: &str, name: &str| {
        let recording = folder.path().join(name);
        let args = ["run", &system, "--record", recording.to_str().unwrap()];
        let (code, out, error) = with_file_limit(limit, &args);
        assert_eq!(code, 0, "{error}");
        let digest = error.split("digest ").nth(1).unwrap().split(';').next().unwrap().to_owned();
        let messages = std::fs::read_dir(recording).unwrap().map(|file| file.unwrap().path());
        let messages = messages.filter(|path| path.extension().is_some_and(|of| of == "mcap"));
        (digest, out, messages.map(|path| std::fs::read(path).unwrap()).collect::<Vec<_>>())
    };
    let (digest, out, recording) = run_with("unlimited", "shared");
    assert!(!out.contains("False"), "{out}");
    let sent = |line: &str| Some(line.split_once("] sent ")?.1.split(' ').nth(1)?.to_owned());
    let sent: Vec<_> = out.lines().filter_map(sent).collect();
    let seen = |line: &&str| line.contains(" late] seen ") || line.contains(" view] seen ");
    let seen: Vec<_> = out.lines().filter(seen).collect();
    assert!(sent.len() >= 199 && seen.len() > 280, "{out}");
    assert!(seen.iter().all(|line| sent.iter().any(|digest| line.ends_with(&**digest))), "{out}");
    assert!(out.contains("] answer 200000 "), "{out}");
    // Files of a limited size have no place for them: they go through the sockets.
    let (other, _, same) = run_with("99999999", "sockets");
    assert_eq!(other, digest);
    assert!(recording.len() == 1 && recording == same);
}

#[test]
#[ignore = "needs rclpy"]
fn a_run_ends_with_the_first_message_on_the_topic_of_its_end() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system/sensor.py");
    let (_folder, path) = system(&format!(
        "for: 20 s\nend: /camera\nprocesses:\n  - {{ name: lidar, command: python3 {script} lidar \
         }}\n  - {{ name: camera, command: python3 {script} camera, start: 1 s }}\n"
    ));
    let (code, _, error) = run(&["verify", "--runs", "2", &path]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(error.matches("1.100050000 s up to a message on its topic").count(), 2, "{error}");
}

/// Services, actions, a late subscription, and questions about the graph, in two processes.
#[test]
#[ignore = "needs rclpy"]
fn services_actions_late_subscriptions_and_the_graph_work_across_processes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system");
    let text = format!(
        "for: 20 s\nend: client\nprocesses:\n  - {{ name: server, command: python3 \
         {folder}/server.py }}\n  - {{ name: client, command: python3 {folder}/client.py, start: \
         1 s }}\n"
    );
    let (_folder, path) = system(&text);
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 0, "{out}{error}");
    for expected in [
        "late subscription: ['kept 2', 'kept 3']",
        "service: 7",
        "feedback: [0, 1, 1, 2, 3]",
        "result: [0, 1, 1, 2, 3, 5]",
        "incompatible: 1 rmw_qos_policy_kind_t.RMW_QOS_POLICY_RELIABILITY",
        "matched: 1",
        "nodes: ['client', 'server']",
        "reliable: RELIABLE",
    ] {
        assert!(out.contains(expected), "{expected}: {out}{error}");
    }
}

/// A C++ program on rcl with an executor of events and threads, as rclcpp has them.
#[test]
#[ignore = "needs rclpy"]
fn cpp_programs_with_threads_and_event_callbacks_have_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("events.cpp", folder.path());
    let args = ["verify", "--runs", "5", "--", &program, "ping", "2000", "--", &program, "pong"];
    let (code, out, error) = run(&args);
    assert_eq!(code, 0, "{out}{error}");
    assert_eq!(out.matches("2000 echoes").count(), 5, "{out}{error}");

    // The messages of a burst that were handled before the end are heard all the same.
    let [ping, pong] = [&["ping", "2000", "100"][..], &["pong", "777"]];
    let logs = [&[][..], &["--schedule="]].map(|order| {
        let log = folder.path().join("log").display().to_string();
        let args = [&["run", "--for", "1 s", "--log", &log], order, &["--", &program], ping];
        let (code, _, error) = run(&[&args.concat()[..], &["--", &program], pong].concat());
        assert_eq!(code, 1, "{error}");
        std::fs::read_to_string(log).unwrap()
    });
    let difference = logs[0].lines().zip(logs[1].lines()).find(|(one, other)| one != other);
    assert_eq!((difference, logs[0].len()), (None, logs[1].len()));
    assert_eq!(logs[0].matches(" publishes /pong ").count(), 776, "{}", logs[0]);
}

/// A native graph, an application of r2r with this crate in the place of r2r, which has its own
/// copy of the simulated threads, and nodes of rclpy, in one order.
#[test]
#[ignore = "needs rclpy"]
fn native_graphs_and_applications_of_r2r_are_processes_beside_rclpy() {
    build(&["-p", "ringspin", "--features", "ros2", "--example", "ros2_camera"]);
    build(&["-p", "r2r", "--example", "patrol"]);
    let examples = built().join("examples").display().to_string();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let text = format!(
        "for: 5 s
end: operator
processes:
  - {{ name: camera, command: {examples}/ros2_camera }}
  - {{ name: patrol, command: {examples}/patrol, start: 1 s }}
  - {{ name: watch, command: python3 {tests}/watch.py }}
  - {{ name: operator, command: python3 {folder}/ros2_camera.py, start: 4 s }}
",
        tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system"),
    );
    let (_folder, path) = system(&text);
    let (code, out, error) = run(&["verify", "--runs", "3", &path]);
    assert_eq!(code, 0, "{out}{error}");
    for line in [
        "[2.000000000 s patrol] 20 commands, 20 of them to drive",
        "[2.000000000 s watch] 20 speeds of 1 publisher",
        " s operator] 5 images; the pilot drives, refuses 300 and stops",
    ] {
        assert_eq!(out.matches(line).count(), 3, "{line}: {out}{error}");
    }
    let deterministic = "env: { RINGSPIN_MODE: deterministic }, start";
    let (_folder, path) = system(&text.replacen("start", deterministic, 1));
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(error.contains("`ringspin run` orders all processes"), "{error}");
}

/// Compiles a C++ program of this folder against the sourced ROS 2.
fn compile(name: &str, folder: &Path) -> String {
    let prefix = std::env::var("AMENT_PREFIX_PATH").expect("a sourced ROS 2");
    let prefix = prefix.split(':').next().unwrap();
    let program = folder.join("program").display().to_string();
    let mut compiler = std::process::Command::new("g++");
    compiler.args(["-std=c++17", "-O2", "-pthread", "-o", &program]);
    compiler.arg(format!("{}/tests/system/{name}", env!("CARGO_MANIFEST_DIR")));
    for folder in std::fs::read_dir(format!("{prefix}/include")).unwrap().flatten() {
        compiler.arg(format!("-I{}", folder.path().display()));
    }
    let libraries = [
        "rcl",
        "rcutils",
        "rmw",
        "rosidl_runtime_c",
        "rosidl_typesupport_cpp",
        "std_msgs__rosidl_typesupport_cpp",
    ];
    compiler.arg(format!("-L{prefix}/lib")).arg("-Wl,--allow-shlib-undefined");
    compiler.args(libraries.map(|library| format!("-l{library}")));
    assert!(compiler.status().expect("g++").success());
    program
}

/// Deadlines and leases end to the nanosecond, and lost messages are counted: the talker is silent
/// from tick 4 to 9, and ticks 11 and 12 are lost.
#[test]
#[ignore = "needs rclpy"]
fn events_of_deadlines_liveliness_and_lost_messages_come_in_time() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/limits.py");
    let text = format!(
        "for: 0.75 s
processes:
  - {{ name: listener, command: python3 {script} listener }}
  - {{ name: talker, command: python3 {script} talker }}
link:
  - {{ topic: /ticks, loss: 1.0, since: 540 ms, until: 620 ms }}
"
    );
    let (_folder, path) = system(&text);
    let (code, out, error) = run(&["verify", "--runs", "2", &path]);
    assert_eq!(code, 0, "{out}{error}");
    // The first 50 us are those of readings of clocks.
    let line = |line: &str| {
        let (time, event) = line[1..].split_once(" s ").unwrap();
        let nanos = time.replace('.', "").parse::<u64>().unwrap() - 50_000;
        format!("{} {event}", nanos as f64 / 1e6)
    };
    let lines: Vec<_> = out.lines().map(line).collect();
    let expected = "0 listener] liveliness 1 1 0 0
50 listener] got 1
100 listener] got 2
150 listener] got 3
250.000001 listener] deadline 1 1
250.000001 talker] deadline 1 1
300.000001 listener] liveliness 0 -1 1 1
300.000001 talker] liveliness 1 1
350.000001 listener] deadline 2 1
350.000001 talker] deadline 2 1
450 listener] liveliness 1 1 0 -1
450.000001 listener] deadline 3 1
450.000001 talker] deadline 3 1
500 listener] got 10
600.000001 listener] deadline 4 1
650 listener] lost 2 2
650 listener] got 13
700 listener] got 14";
    let expected: Vec<_> = expected.lines().collect();
    assert_eq!(lines, [&expected[..], &expected[..]].concat());
}

/// Random messages of all types, each way between this middleware and Fast DDS.
#[test]
#[ignore = "needs rclpy"]
fn messages_are_those_of_fast_dds() {
    const COUNT: &str = "10000";
    let folder = tempfile::tempdir().unwrap();
    let [fast_dds, own, again] =
        ["fast_dds", "own", "again"].map(|name| folder.path().join(name).display().to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/cdr.py");
    let python = std::env::var("RINGSPIN_ROS_PYTHON").expect("an interpreter with rclpy");
    let alone = |args: &[&str]| {
        let output = std::process::Command::new(&python).arg(script).args(args).output().unwrap();
        let (code, out, error) = results(output);
        assert_eq!(code, 0, "{out}{error}");
    };
    alone(&[COUNT, &fast_dds]);
    let (code, out, error) = run(&["run", "--", "python3", script, COUNT, &own, &fast_dds]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("10000 messages of 1"), "{out}{error}");
    alone(&[COUNT, &again, &own]);
}

/// A launch file with a node of a package.
#[test]
#[ignore = "needs rclpy"]
fn launch_files_are_systems() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path();
    let index = "share/ament_index/resource_index/packages";
    for part in ["share/demo", "lib/demo", index] {
        std::fs::create_dir_all(prefix.join(part)).unwrap();
    }
    std::fs::write(prefix.join(index).join("demo"), "").unwrap();
    let node = "#!/bin/sh\nexec python3 \"$(dirname \"$0\")\"/talker.py \"$@\"\n";
    let program = prefix.join("lib/demo/talker");
    std::fs::write(&program, node).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let script = "import rclpy
from rclpy.node import Node
rclpy.init()
node = Node('unnamed')
print(node.get_fully_qualified_name(), node.declare_parameter('rate', 1.0).value)
print(node.resolve_topic_name('out'))
";
    std::fs::write(prefix.join("lib/demo/talker.py"), script).unwrap();
    let launch = prefix.join("a.launch.xml");
    let text = r#"<launch><arg name="rate" default="2.5"/>
        <node pkg="demo" exec="talker" name="t" namespace="/n">
            <param name="rate" value="$(var rate)"/><remap from="out" to="/other"/>
        </node></launch>"#;
    std::fs::write(&launch, text).unwrap();
    let installed = std::env::var("AMENT_PREFIX_PATH").unwrap();
    let installed = format!("{}:{installed}", prefix.display());
    let run = |launch: &Path, arguments: &[&str]| {
        let mut command = in_ros(&["run", &launch.display().to_string()]);
        command.env("AMENT_PREFIX_PATH", &installed).args(arguments);
        results(command.output().unwrap())
    };
    for (arguments, rate) in [(&[][..], "2.5"), (&["rate:=3.5"], "3.5")] {
        let (code, out, error) = run(&launch, arguments);
        assert_eq!(code, 0, "{out}{error}");
        let expected = out.contains(&format!(" t] /n/t {rate}\n")) && out.contains(" t] /other\n");
        assert!(expected, "{out}{error}");
    }
    let launch = prefix.join("a.launch.py");
    std::fs::write(&launch, PYTHON_LAUNCH).unwrap();
    let (code, out, error) = run(&launch, &["rate:=4.5"]);
    let python = std::env::var("RINGSPIN_ROS_PYTHON").unwrap();
    let mut python = std::process::Command::new(python);
    if !python.args(["-c", "import launch_ros"]).output().unwrap().status.success() {
        assert_eq!(code, 2, "{out}{error}"); // no registry has ROS's package
        return assert!(error.contains("package `launch`"), "{error}");
    }
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.starts_with("[0.25") && out.contains(" s t] /n/t 4.5\n"), "{out}{error}");
    assert!(out.contains(" s t] /other\n"), "{out}{error}");
    let other = PYTHON_LAUNCH.replace("Shutdown(),", "[Node(executable='x')],");
    std::fs::write(&launch, other).unwrap();
    let (code, out, error) = run(&launch, &[]);
    assert_eq!(code, 2, "{out}{error}");
    assert!(error.contains("the action Node has an `on_exit`"), "{error}");
}

const PYTHON_LAUNCH: &str = "from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, Shutdown, TimerAction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node, PushRosNamespace


def generate_launch_description():
    t = Node(
        package='demo',
        executable='talker',
        name='t',
        parameters=[{'rate': LaunchConfiguration('rate')}],
        remappings=[('out', '/other')],
        on_exit=Shutdown(),
    )
    return LaunchDescription([
        DeclareLaunchArgument('rate', default_value='2.5'),
        TimerAction(period=0.25, actions=[GroupAction([PushRosNamespace('n'), t])]),
    ])
";

/// Delays, losses and copies between processes, by their names and by those of nodes.
#[test]
#[ignore = "needs rclpy"]
fn links_delay_lose_and_copy_messages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system");
    let heard = |link: &str| {
        let text = format!(
            "for: 1.25 s
processes:
  - {{ name: ear, command: python3 {folder}/listener.py }}
  - {{ name: lidar, command: python3 {folder}/sensor.py lidar }}
link:
  - {link}
"
        );
        let (_folder, path) = system(&text);
        let (code, out, error) = run(&["run", &path]);
        assert_eq!(code, if link.contains("/other") { 2 } else { 0 }, "{out}{error}");
        out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let delayed = heard("{ topic: /lidar, from: lidar, to: /listener, delay: 30 ms }");
    assert_eq!(delayed.len(), 12, "{delayed:?}");
    assert!(delayed.iter().all(|line| line.contains("30 ms after")), "{delayed:?}");
    let all: [&str; 2] = ["{ topic: '*', to: ear, loss: 1.0 }", "{ topic: /lidar, loss: 1.0 }"];
    for lost in all {
        assert_eq!(heard(lost), [""; 0]);
    }
    let some = heard("{ topic: /lidar, loss: 0.5 }").len();
    assert!((1..12).contains(&some), "{some}");
    assert_eq!(heard("{ topic: /lidar, duplication: 1.0 }").len(), 24);
    assert_eq!(heard("{ topic: /lidar, from: /other, loss: 1.0 }").len(), 12);
    let late = heard("{ topic: /lidar, loss: 1.0, until: 600 ms }").len();
    assert!((6..8).contains(&late), "{late}");
}

/// Callbacks take their durations, and messages wait for the executor meanwhile.
#[test]
#[ignore = "needs rclpy"]
fn durations_occupy_the_executor() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system");
    let heard = |of_ear: &str| {
        let text = format!(
            "for: 0.75 s
processes:
  - {{ name: ear, command: python3 {folder}/listener.py }}
  - {{ name: lidar, command: python3 {folder}/sensor.py lidar }}
duration:
  - {{ process: lidar, callback: timer 100ms, duration: 5 ms }}
  - {{ process: ear, callback: {of_ear} }}
"
        );
        let (_folder, path) = system(&text);
        let (code, out, error) = run(&["verify", "--runs", "2", &path]);
        let lines: Vec<_> = out.lines().map(|line| line.split("] ").nth(1).unwrap()).collect();
        let (first, second) = lines.split_at(lines.len() / 2);
        assert_eq!(first, second, "{error}");
        (code, error, first.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
    };
    let (code, error, lines) = heard("subscription /lidar, duration: 10 ms");
    assert_eq!(code, 0, "{error}");
    assert_eq!(lines.len(), 7, "{lines:?}");
    assert!(lines.iter().all(|line| line.ends_with(": 15 ms after its timer")), "{lines:?}");
    // The second one begins when the first one ends: 5, 155, 305 and 455 ms after 100 ms.
    let (_, _, lines) = heard("subscription /lidar, duration: 150 ms");
    assert_eq!(
        lines,
        [
            "message 1: 55 ms after its timer",
            "message 2: 5 ms after its timer",
            "message 3: 55 ms after its timer",
            "message 4: 5 ms after its timer"
        ]
    );
    let (code, error, _) = heard("subscription /radar, duration: 10 ms");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("duration 2 (`subscription /radar` of ear)"), "{error}");
}

/// A process gets many messages of one instant at once, and all is as with one at a time.
#[test]
#[ignore = "needs rclpy"]
fn messages_that_come_at_once_are_handled_one_by_one() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/bursts.py");
    let of = |role| format!("  - {{ name: {role}, command: python3 {script} {role} }}\n");
    let roles = ["talker", "listener"].map(of).concat();
    let (folder, path) = system(&format!("for: 350 ms\nprocesses:\n{roles}"));
    // With a schedule, each event is a choice, and comes alone.
    let [first, second] = [&[][..], &["--schedule="]].map(|order| {
        let log = folder.path().join("log").display().to_string();
        let (code, out, error) = run(&[&["run", "--log", &log], order, &[&path]].concat());
        assert_eq!(code, 0, "{error}");
        (out, std::fs::read_to_string(log).unwrap())
    });
    assert!(first == second, "{}\n{}", first.0, second.0);
    assert_eq!(first.1.matches(" receives /numbers").count(), 900);
    let of = |text| first.0.matches(text).count();
    assert_eq!([of("listener] number"), of("talker] answer")], [3 * 5, 3 * 6]);
}

/// Callbacks of two processes share the core of their host, which has half the speed then.
#[test]
#[ignore = "needs rclpy"]
fn callbacks_share_the_cores_of_their_host() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system");
    for (host, late) in [("cores: 1", 25), ("cores: 2", 5), ("cores: 1, speed: 0.5", 50)] {
        let text = format!(
            "for: 0.78 s
hosts: {{ robot: {{ {host} }} }}
processes:
  - {{ name: ear, command: python3 {folder}/listener.py }}
  - {{ name: camera, command: python3 {folder}/sensor.py camera, host: robot }}
  - {{ name: lidar, command: python3 {folder}/sensor.py lidar, host: robot }}
duration:
  - {{ process: camera, callback: timer 100ms, duration: 20 ms }}
  - {{ process: lidar, callback: timer 100ms, duration: 5 ms }}
"
        );
        let (_folder, path) = system(&text);
        let (code, out, error) = run(&["verify", "--runs", "2", &path]);
        assert_eq!(code, 0, "{error}");
        let expected = format!(": {late} ms after its timer");
        assert_eq!(out.matches(&expected).count(), 14, "{host}: {out}");
    }
}

/// The measured durations of a run are those of another one, which is the same each time.
#[test]
#[ignore = "needs rclpy"]
fn durations_are_measured_and_repeated() {
    let text = format!(
        "for: 2.05 s
processes:
  - {{ name: ear, command: python3 {0}/listener.py }}
  - {{ name: lidar, command: python3 {0}/sensor.py lidar }}
",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system")
    );
    let (folder, path) = system(&text);
    let profile = folder.path().join("profile.yaml").display().to_string();
    let (code, out, error) = run(&["run", "--echo", "lidar", "--profile", &profile, &path]);
    let (_, _, unmeasured) = run(&["run", &path]);
    assert_eq!((code, error), (0, unmeasured.clone()), "a look from outside changes nothing");
    assert!(out.contains("[2.000050000 s lidar] /lidar {\"data\":20}"), "{out}");
    let measured = std::fs::read_to_string(&profile).unwrap();
    for callback in ["subscription /lidar", "timer 100ms"] {
        assert!(measured.contains(callback), "{measured}");
    }
    std::fs::write(&path, format!("profile: profile.yaml\n{text}")).unwrap();
    let (code, out, error) = run(&["verify", &path]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(out.matches(" ms after its timer").count(), 3 * 20, "{out}");
    assert_ne!(error.lines().last(), unmeasured.lines().last());
}

/// A child with nodes, as `ros2 run` and scripts have it: a program, a fork, jobs of a shell.
#[test]
#[ignore = "needs rclpy"]
fn children_with_nodes_are_processes_of_the_run() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/family.py");
    let of = |how: &str| ["python3", script, how].map(str::to_owned).to_vec();
    let node = |name| format!("python3 {script} alone {name}");
    let jobs = format!("{} & sleep 0.05; {}; wait; echo ended 0", node("child"), node("parent"));
    let shell = vec!["bash".to_owned(), "-c".to_owned(), jobs];
    for command in [of("program"), of("fork"), of("spawn"), shell] {
        let command: Vec<_> = command.iter().map(String::as_str).collect();
        let args = [&["verify", "--runs", "3", "--"], &command[..]].concat();
        let (code, out, error) = under_load(|| run(&args));
        assert_eq!(code, 0, "{out}{error}");
        for (name, other) in [("child", "parent"), ("parent", "child")] {
            let line = |words: &str| out.contains(&format!("] {name} {words}"));
            assert!(line("nodes ['child', 'parent']\n"), "{command:?}: {out}");
            assert!(line(&format!("heard {other} 3 at 0.3")), "{command:?}: {out}");
        }
        assert!(out.contains("] ended "), "{command:?}: {out}");
    }
}

/// Two runs give two equal recordings, with all topics.
#[test]
#[ignore = "needs rclpy"]
fn recordings_of_equal_runs_are_equal() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| {
        let file = folder.path().join(format!("{name}.mcap")).display().to_string();
        let (code, _, error) = run(&["run", "--quiet", "--record", &file, EXAMPLE]);
        assert_eq!(code, 0, "{error}");
        file
    });
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap());
    let (code, out, error) = run(&["bag", "info", &one]);
    assert_eq!(code, 0, "{error}");
    for topic in ["/camera", "/fused", "std_msgs/msg/UInt64"] {
        assert!(out.contains(topic), "{topic}: {out}");
    }
    let (code, out, _) = run(&["bag", "echo", &one, "--topics", "/lidar"]);
    assert_eq!((code, out.lines().next().unwrap().contains("\"data\":1")), (0, true), "{out}");

    // The recording is a process for a node that takes its time from /clock.
    let node = "import rclpy; from std_msgs.msg import UInt64; from rclpy.parameter import \
                Parameter; rclpy.init(); node = rclpy.create_node('n', \
                parameter_overrides=[Parameter('use_sim_time', value=True)]); \
                node.create_subscription(UInt64, '/lidar', lambda message: print(message.data, \
                node.get_clock().now().nanoseconds), 10); rclpy.spin(node)";
    let text = format!(
        "end: drive
processes:
  - {{ name: n, command: [python3, -c, \"{node}\"] }}
  - {{ name: drive, bag: {one}, topics: [/lidar], clock: 1 ms, start: 3 s }}
"
    );
    let (_folder, path) = system(&text);
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("[3.000000000 s n] 1 100050000\n"), "{out}{error}");
}

/// The first run of the guide prints the lines that it shows.
#[test]
#[ignore = "needs rclpy"]
fn the_guide_shows_the_output_of_its_first_run() {
    let page = include_str!("../../../docs/processes.md");
    let begin = page.find("$ target/release/ringspin run ").unwrap();
    let block = page[begin..].split("```").next().unwrap();
    let (command, shown) = block.split_once('\n').unwrap();
    let words: Vec<_> = command.split(' ').skip(2).collect();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let (code, out, error) = results(in_ros(&words).current_dir(root).output().unwrap());
    assert_eq!(code, 0, "{error}");
    let (lines, summary): (Vec<_>, Vec<_>) = shown.lines().partition(|line| line.starts_with('['));
    assert_eq!(out.lines().collect::<Vec<_>>(), lines);
    // Without the digest, which other builds of the libraries change.
    let (summary, _) = summary[0].split_once(" digest").unwrap();
    assert!(error.contains(summary), "{error}");
}
