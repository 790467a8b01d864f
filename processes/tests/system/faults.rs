//! Programs without ROS: simulated time, ends, and faults of a process.

use super::{results, ringspin, run, system};
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn programs_sleep_in_simulated_time_and_the_run_ends_with_them() {
    let (code, _, error) = run(&["run", "--", "sleep", "3000", "--", "sleep", "5000"]);
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("5000.0000"), "{error}");
    assert!(error.contains("the end of all processes"), "{error}");

    let (_, _, again) = run(&["run", "--", "sleep", "3000", "--", "sleep", "5000"]);
    assert_eq!(again, error);
    let (_, _, other) = run(&["run", "--", "sleep", "5000", "--", "sleep", "3000"]);
    assert_ne!(other, error);
}

#[test]
fn output_has_the_time_and_the_name_of_its_process() {
    let (_folder, path) = system(
        "processes:\n  - { name: late, command: echo hello, start: 1.5 s }\n  - name: err\n    \
         command: [sh, -c, 'echo one; echo two >&2']\n",
    );
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 0, "{error}");
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].ends_with(" err] one"), "{out}");
    assert_eq!(lines[1], "[1.500000000 s late] hello");
    assert!(error.contains(" err] two"), "{error}");
}

/// Enter takes the next event, a time those before it, and the end of the input all others.
#[test]
fn a_run_waits_for_the_keyboard_before_events() {
    let four = "import time\nfor n in range(4):\n time.sleep(1)\n print(n)";
    let sleeps = ["--", "python3", "-c", four, "--", "sleep", "9"];
    let (_, _, expected) = run(&[&["run"], &sleeps[..]].concat());
    let mut stepped = ringspin(&[&["run", "--step=1500ms"], &sleeps[..]].concat());
    stepped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut stepped = stepped.spawn().unwrap();
    stepped.stdin.take().unwrap().write_all(b"\n4 s\n").unwrap();
    let (code, out, error) = results(stepped.wait_with_output().unwrap());
    assert!(code == 0 && out.ends_with("[4.000000000 s python3] 3\n"), "{out}{error}");
    let prompts = error.matches(" s] next: the timeout of python3 (process ").count();
    assert_eq!(prompts, 3, "{error}");
    assert!(error.ends_with(&expected), "{error}\n{expected}");
}

#[test]
fn a_middleware_of_another_build_is_named() {
    let mut sleep = std::process::Command::new("sleep");
    sleep.arg("1").env("LD_PRELOAD", super::built().join("deps/librmw_ringspin.so"));
    let (code, _, error) = results(sleep.env("RINGSPIN_COORDINATOR", "1 2 3 4").output().unwrap());
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("of another build than the command"), "{error}");
}

#[test]
fn clocks_begin_at_the_date_of_the_system() {
    let tells = "import time\nfor n in range(3):\n print(time.time_ns())\n time.sleep(1)";
    let text = format!(
        "date: 1764201600 s
for: 2.5 s
processes: [{{ name: a, start: 250 ms, command: [python3, -u, -c, {tells:?}] }}]
fault: [{{ clock: {{ process: a, at: 2 s, by: 1 h }} }}]
"
    );
    let (_folder, path) = system(&text);
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 0, "{error}");
    let expected = "[0.250000000 s a] 1764201600250000000\n[1.250000000 s a] 1764201601250000000\n\
                    [2.250000000 s a] 1764205202250000000\n";
    assert_eq!(out, expected, "{error}");
    assert!(error.contains("2.500000000 s up to the end of its time"), "{error}");
}

#[test]
fn a_line_without_an_end_is_printed_at_the_end_of_the_run() {
    let tells = "import time\nfor n in range(9):\n print(n, end=' ')\n time.sleep(1)";
    let (code, out, error) = run(&["run", "--for", "2.5 s", "--", "python3", "-c", tells]);
    assert_eq!((code, &*out), (0, "[2.500000000 s python3] 0 1 2 \n"), "{error}");
}

/// Between programs, shells and threads; an open waits for the other end, and takes no time.
#[test]
fn processes_talk_over_named_pipes() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/named_pipes.py");
    let pipes = tempfile::tempdir().unwrap();
    let pipes = pipes.path();
    for name in ["request", "answer", "bulk", "early", "shell", "output", "stream"] {
        nix::unistd::mkfifo(&pipes.join(name), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let pipes = pipes.display();
    let of = |role| format!("  - {{ name: {role}, command: python3 {script} {role} {pipes} }}\n");
    let roles = ["bridge", "driver", "bulk", "early", "lines", "stream"].map(of).concat();
    let shells = [
        format!("  - {{ name: sends, command: [bash, -c, 'echo from bash > {pipes}/shell'] }}\n"),
        format!("  - {{ name: cat, command: cat {pipes}/shell }}\n"),
        format!("  - {{ name: prints, command: [bash, -c, 'exec seq 3 > {pipes}/output'] }}\n"),
        format!("  - {{ name: reads, command: [bash, -c, 'exec cat < {pipes}/output'] }}\n"),
    ];
    let (_folder, path) = system(&format!("for: 2 s\nprocesses:\n{roles}{}", shells.concat()));
    let (code, out, error) = run(&["verify", "--runs", "5", &path]);
    assert_eq!(code, 0, "{error}");
    let first = &out[..out.len() / 5];
    assert_eq!(out, first.repeat(5));
    for line in [
        "bridge] opened 0.5\n",
        "driver] MEASURE 0 0.51\n",
        "driver] MEASURE 2 0.73\n",
        "bridge] closed 0.83\n",
        "bulk] 1000000 0.0\n",
        "lines] line of C 0.2\n",
        "lines] end 0.4 0\n",
        "early] No such device or address\n",
        "cat] from bash\n",
        "reads] 3\n",
    ] {
        assert!(first.contains(line), "{line}: {first}");
    }
}

/// Two processes that answer each other at once for ever.
#[test]
fn a_run_of_which_time_does_not_advance_ends() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/sockets.py");
    let of = |place| ["--", "python3", script, "cycle", place];
    let args = ["run", "--for", "2 s", "--instant-turns-max", "1000"];
    let (code, _, error) = run(&[&args[..], &of("first"), &of("second")].concat());
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("time does not advance: over 1000 turns at 0.5"), "{error}");
}

/// Other processes see the end of one that crashes when it happens, also if it said nothing before.
#[test]
fn a_crash_has_the_time_at_which_it_happens() {
    let code = "import os, time
for n in range(5): time.sleep(1)
os.write(1, b'dies\\n')
os.abort()";
    let crash = ["--", "python3", "-c", code];
    let (code, out, error) = run(&[&["run"], &crash[..], &["--", "sleep", "10"]].concat());
    assert_eq!((code, &*out), (1, "[5.000000000 s python3] dies\n"), "{error}");
    assert!(error.contains("python3 ended at 5.000000000 s: signal: 6"), "{error}");
}

/// A closed output is no output, however often the coordinator looks while the program computes.
#[test]
fn a_process_without_outputs_has_one_result() {
    let computes = "import os, time\nos.close(1)\nos.close(2)\nfor n in range(30):\n \
                    sum(range(30_000))\n time.sleep(1)";
    let (code, _, error) = run(&["verify", "--runs", "4", "--", "python3", "-c", computes]);
    assert_eq!(code, 0, "{error}");
}

/// Also if the program computes for longer than its output needs to be read, before it sleeps.
#[test]
fn lines_have_the_time_at_which_they_were_printed() {
    let computes = "import time\nfor n in range(3):\n print(n)\n sum(range(2_000_000))\n \
                    time.sleep(1)";
    let (code, out, error) = run(&["run", "--", "python3", "-c", computes]);
    assert_eq!(code, 0, "{error}");
    let lines: Vec<_> = out.lines().collect();
    let expected = [0, 1, 2].map(|n| format!("[{n}.000000000 s python3] {n}"));
    assert_eq!(lines, expected, "{error}");
}

/// Also if the first output is read while the program computes.
#[test]
fn lines_of_an_instant_are_those_of_standard_output_first() {
    let prints = "import sys\nprint('error', file=sys.stderr)\nsum(range(20_000_000))\n\
                  print('output')";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").display().to_string();
    let (code, _, error) = run(&["run", "--log", &log, "--", "python3", "-c", prints]);
    assert_eq!(code, 0, "{error}");
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<_> = log.lines().filter_map(|line| line.split_once("prints ")).collect();
    assert_eq!(lines.iter().map(|line| line.1).collect::<Vec<_>>(), ["\"output\"", "\"error\""]);
}

/// libc writes the rest of the standard output after the process has said that it ends.
#[test]
fn last_lines_of_a_process_have_one_order() {
    let prints = "import ctypes, os\nos.write(2, b'error\\n')\nctypes.CDLL(None).puts(b'output')";
    let (code, out, error) = run(&["verify", "--runs", "20", "--", "python3", "-c", prints]);
    assert_eq!(code, 0, "{out}{error}");
}

#[test]
fn a_failed_process_is_named_and_decides_the_exit_code() {
    let (code, _, error) = run(&["run", "--for", "2 s", "--", "false", "--", "sleep", "1"]);
    assert_eq!(code, 1);
    assert!(error.contains("false ended at 0"), "{error}");

    let text = "end: b\nprocesses:\n  - { name: a, command: sleep 9 }\n  - name: b\n    command: \
                [sh, -c, 'exit 42']\n";
    let (_folder, path) = system(text);
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 42, "{error}");
    assert!(error.contains("the end of its process, with code 42"), "{error}");
}

#[test]
fn a_topic_that_has_to_have_a_message_fails_the_run_without_one() {
    let text = "end: /arrived\nprocesses: [{ name: a, command: sleep 9 }]\n";
    let (_folder, path) = system(text);
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("/arrived has had no message at 9.000000000 s"), "{error}");
    let (_folder, path) = system(&text.replace("/arrived", "arrived"));
    let (code, _, error) = run(&["run", &path]);
    assert!(code == 2 && error.contains("no topic, such as \"/arrived\""), "{error}");
}

#[test]
fn a_process_that_has_to_end_fails_if_the_run_is_over_before() {
    let text = "for: 5 s\nend: b\nprocesses:\n  - { name: a, command: 'true' }\n  - { name: b, \
                command: sleep 9 }\n";
    let (_folder, path) = system(text);
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("b has not ended at 5.000000000 s"), "{error}");
    for (time, expected) in [("4 s", 0), ("10 s", 0)] {
        let (code, _, error) = run(&["run", "--for", time, &path]);
        assert_eq!(code, expected, "{error}");
    }
}

#[test]
fn a_process_is_started_again_a_second_after_its_end() {
    let text = "for: 3.5 s\nprocesses:\n  - { name: a, command: [sh, -c, 'echo up; exit 3'], \
                restart: on-failure }\n  - { name: b, command: 'true', restart: on-failure }\n";
    let (_folder, path) = system(text);
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 1, "{error}");
    let times: Vec<_> = out.lines().map(|line| line.split('.').next().unwrap()).collect();
    assert_eq!(times, ["[0", "[1", "[2", "[3"], "{out}");
}

/// Streams and datagrams on the loopback interface, with threads and with an event loop.
#[test]
fn processes_talk_over_sockets() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/sockets.py");
    let of = |role| format!("  - {{ name: {role}, command: python3 {script} {role} }}\n");
    let roles = ["client", "server", "datagrams", "echo", "versions"].map(of).concat();
    let (_folder, path) = system(&format!("for: 2 s\nprocesses:\n{roles}"));
    let (code, out, error) = run(&["verify", "--runs", "5", &path]);
    assert_eq!(code, 0, "{error}");
    let first = &out[..out.len() / 5];
    assert_eq!(out, first.repeat(5));
    for line in [
        "client] refused",
        "server] accepted ('127.0.0.1', 32769) ('127.0.0.1', 5000)",
        "client] ('127.0.0.1', 5000) AF_INET\n",
        "client] b'HELLO 2' 0.08",
        "client] timeout 0.18",
        "client] [Errno 101] Network is unreachable",
        "server] closed",
        "echo] b'echo line\\n'",
        "datagrams] True",
        "versions] True\n",
        "versions] refused ('::1', 7001)\n",
        "versions] refused ('127.0.0.1', 7002)\n",
        "versions] 1 0\n",
    ] {
        assert!(first.contains(line), "{line}: {first}");
    }
    assert!(error.contains("a socket to 192.0.2.7:80 was refused"), "{error}");
}

#[test]
fn what_is_not_usable_is_named() {
    let (code, _, error) = run(&["run", "--", "/no/such/program"]);
    assert_eq!(code, 2);
    assert!(error.contains("`program`") && error.contains("/no/such/program"), "{error}");

    let link = "processes: [{ name: a, command: 'true' }]\nlink: [{ topic: /lidr, delay: 1 ms }]\n";
    let (_folder, path) = system(link);
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 2);
    assert!(error.contains("link 1 (`/lidr`): no message took it"), "{error}");

    let (code, _, error) = run(&["run", "/no/such/system.yaml"]);
    assert_eq!(code, 2);
    assert!(error.contains("/no/such/system.yaml"), "{error}");

    let (_folder, path) = system("processes:\n  - { name: a, comand: x }\n");
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 2);
    assert!(error.contains(&path) && error.contains("comand"), "{error}");
}

#[test]
fn rubbish_on_the_socket_ends_the_process() {
    let (code, _, error) = run(&["run", "--", "bash", "-c", "echo rubbish >&700; sleep 9"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("bash was killed: it wrote to the coordinator's socket"), "{error}");
}

#[test]
fn words_in_the_name_of_another_process_end_the_process() {
    // A turn of three bytes: the endpoint 1 of process 9 disappears.
    let forged = r"printf '\3\0\0\0\0\0\0\0\1\11\1' >&700; sleep 9";
    let (code, _, error) = run(&["run", "--", "bash", "-c", forged]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("bash was killed: it sent something in the name of"), "{error}");
}

#[test]
fn contents_that_were_not_written_end_the_process() {
    // A turn of eight bytes: a message with nine bytes of the shared memory, which has none.
    let forged = r"printf '\10\0\0\0\0\0\0\0\3\0\1\2\0\1\0\11' >&700; sleep 9";
    let (code, _, error) = run(&["run", "--", "bash", "-c", forged]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("bash was killed: it sent contents that it has not"), "{error}");
}

/// Whether the process of this number has ended.
fn has_ended(process: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
    state.map_or(true, |state| state.contains(") Z "))
}

#[test]
fn nothing_is_left_of_a_process_that_leaves_a_child() {
    let script = "sleep 1000 & echo $!; exit 0";
    let (code, out, error) = run(&["run", "--", "sh", "-c", script]);
    assert_eq!(code, 0, "{error}");
    let child = out.trim_end().rsplit(' ').next().unwrap();
    assert!(child.parse::<u32>().is_ok(), "{out}");
    // The kernel ends it after the signal.
    let ended = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        has_ended(child)
    });
    assert!(ended, "{child} still runs");
}

#[test]
fn a_signal_ends_the_run_and_all_of_its_processes() {
    // A process that ignores the signal and never waits.
    let script = "trap '' INT TERM HUP; echo begun; while :; do :; done";
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("run.mcap").display().to_string();
    let mut command = ringspin(&["run", "--record", &recording, "--", "sh", "-c", script]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let parent_number = child.id().to_string();
    let group = || -> Vec<String> {
        let of = |name: std::ffi::OsString| {
            let name = name.into_string().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.to_owned();
            (parent == parent_number).then_some(name)
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| of(entry.file_name())).collect()
    };
    while group().is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(10));
    }
    let processes = group();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(child.id() as i32),
        nix::sys::signal::Signal::SIGINT,
    )
    .unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(processes.iter().all(|process| has_ended(process)), "{processes:?}");
    let (code, out, error) = run(&["bag", "check", &recording]);
    assert_eq!(code, 0, "{out}{error}"); // it is complete up to the signal
}

#[test]
fn two_runs_that_differ_are_shown() {
    let (code, _, error) = run(&["verify", "--quiet", "--", "cat", "/proc/self/stat"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("run 2 differs from run 1"), "{error}");
    assert_eq!(error.matches("cat prints").count(), 2, "{error}");

    let (code, _, error) = run(&["verify", "--quiet", "--", "cat", "/proc/self/comm"]);
    assert_eq!(code, 0, "{error}");
}

#[test]
fn the_log_has_a_line_for_each_event() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").display().to_string();
    let (code, _, error) = run(&["run", "--log", &log, "--", "echo", "hello"]);
    assert_eq!(code, 0, "{error}");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("0.000000000 s echo starts as process 0\n"), "{text}");
    assert!(text.contains(" echo prints \"hello\"\n"), "{text}");
    assert!(text.ends_with(" echo ends, exit status: 0\n"), "{text}");

    let (code, _, error) = run(&["run", "--log", "/no/such/folder/log", "--", "true"]);
    assert_eq!(code, 2);
    assert!(error.contains("/no/such/folder/log"), "{error}");
}
