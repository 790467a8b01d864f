//! The order of threads, written by one run and compared by another.

mod common;

use common::program;
use std::path::PathBuf;
use std::process::Output;

/// A file of this test that is removed in the end.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ringspin-{}-{name}", std::process::id())))
    }

    /// Runs `sensors` with these arguments, and with `variable` naming this file.
    fn run(&self, variable: &str, arguments: [&str; 2]) -> Output {
        let mut run = program("sensors");
        run.args(arguments).env(variable, &self.0).output().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn trace_has_the_time_and_the_thread_of_each_switch() {
    let file = File::new("times");
    let written = file.run("RINGSPIN_TRACE", ["2", "3"]);
    assert!(written.status.success(), "{written:?}");
    let lines = std::fs::read_to_string(&file.0).unwrap();
    let expected = "0.000000000 s thread 1
0.000000000 s thread 2
0.002000000 s thread 2 (\"imu\")
0.003000000 s thread 1 (\"lidar\")
0.004000000 s thread 2 (\"imu\")
0.006000000 s thread 1 (\"lidar\")
0.006000000 s thread 0 (\"robot\")
";
    assert_eq!(lines, expected);
    assert!(errors(&written).contains(" 7 switches, "), "{written:?}");
}

#[test]
fn first_thread_whose_switch_differs_is_named() {
    let file = File::new("differs");
    let written = file.run("RINGSPIN_TRACE", ["2", "3"]);
    let again = file.run("RINGSPIN_COMPARE", ["2", "3"]);
    let digest = |output| errors(output).split_once("digest ").unwrap().1.to_owned();
    assert_eq!(digest(&again), digest(&written));
    for (arguments, difference) in [
        (
            ["2", "5"],
            "at switch 4: 0.004000000 s thread 2 (\"imu\") here, 0.003000000 s thread 1 \
             (\"lidar\") there, after 0.002000000 s thread 2 (\"imu\") in both",
        ),
        (
            ["1", "3"],
            "at switch 5: 0.003000000 s thread 0 (\"robot\") here, 0.004000000 s thread 2 \
             (\"imu\") there, after 0.003000000 s thread 1 (\"lidar\") in both",
        ),
    ] {
        let other = file.run("RINGSPIN_COMPARE", arguments);
        assert_eq!(other.status.code(), Some(101));
        let path = file.0.display();
        let expected =
            format!("ringspin: the order of threads differs from that in {path} {difference}");
        assert_eq!(errors(&other).lines().last(), Some(&*expected));
    }
}

#[test]
fn shorter_and_longer_runs_differ_at_the_end() {
    let file = File::new("end");
    file.run("RINGSPIN_TRACE", ["2", "3"]);
    let all = std::fs::read_to_string(&file.0).unwrap();
    let without_last = all.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(&file.0, format!("{without_last}\n")).unwrap();
    let longer = errors(&file.run("RINGSPIN_COMPARE", ["2", "3"]));
    assert!(
        longer.contains("switch 7: 0.006000000 s thread 0 (\"robot\") here, the end there, after")
    );
    std::fs::write(&file.0, format!("{all}{all}")).unwrap();
    let shorter = errors(&file.run("RINGSPIN_COMPARE", ["2", "3"]));
    assert!(shorter.contains("switch 8: the end here, 0.000000000 s thread 1 there"));
}

#[test]
fn trace_of_a_deadlock_is_complete() {
    let file = File::new("deadlock");
    let run = program("deadlock").env("RINGSPIN_TRACE", &file.0).output().unwrap();
    assert_eq!(run.status.code(), Some(101));
    let lines = std::fs::read_to_string(&file.0).unwrap();
    assert!(lines.ends_with("0.001000000 s thread 2 (\"two\")\n"), "{lines}");
}

#[test]
fn trace_that_cannot_be_opened_is_named() {
    let other = program("sensors").env("RINGSPIN_COMPARE", "/no/such/file").output().unwrap();
    assert!(errors(&other).contains("failed to open the trace /no/such/file: No such file"));
    let both = [("RINGSPIN_COMPARE", "/tmp/a"), ("RINGSPIN_TRACE", "/tmp/b")];
    let both = program("sensors").envs(both).output().unwrap();
    assert!(errors(&both).contains("use the path of a file, and one of RINGSPIN_TRACE, RINGSPIN"));
}

/// Whether a program has as much memory after so many switches as after a tenth of them, but for
/// some pages: without a trace, and with one.
fn memory_stays_flat(switches: &str) {
    let file = File::new(&format!("relay-{switches}"));
    let traced = [("RINGSPIN_TRACE", &file.0)];
    for trace in [&traced[1..], &traced] {
        let relay = program("relay").arg(switches).envs(trace.iter().copied()).output().unwrap();
        let lines = String::from_utf8(relay.stdout).unwrap();
        let resident =
            lines.lines().filter_map(|line| line.split_once("VmRSS:")?.1.split_once("kB"));
        let kibibytes: Vec<u64> = resident.map(|(size, _)| size.trim().parse().unwrap()).collect();
        println!("{kibibytes:?} KiB after a tenth of {switches} switches and after all: {trace:?}");
        assert!(kibibytes.len() == 2 && kibibytes[1] < kibibytes[0] + 128, "{lines}");
    }
    let lines = std::fs::read(&file.0).unwrap().iter().filter(|byte| **byte == b'\n').count();
    assert!(lines >= switches.parse().unwrap(), "{lines} lines of the trace");
}

#[test]
fn memory_does_not_grow_with_switches() {
    memory_stays_flat("20000");
}

#[test]
#[ignore = "slow: a million switches, twice"]
fn slow_memory_does_not_grow_with_a_million_switches() {
    memory_stays_flat("1000000");
}
