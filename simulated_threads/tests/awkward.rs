//! A program that cannot go on under simulated time ends with a message: which thread, where it
//! waits, and the way out.

mod common;

use common::program;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::thread;
use std::time::Duration;

/// A run with short limits of the watchdog, and these variables of the environment.
fn run(name: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = program(name);
    command.env("RINGSPIN_BLOCKED_MAX_MS", "300").env("RINGSPIN_BUSY_MAX_MS", "600");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Whether a run ends with status 101, and all of these words are in its message.
fn assert_ends(name: &str, variables: &[(&str, &str)], words: &[&str]) {
    let output = run(name, variables);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{name}: {errors}");
    for word in words {
        assert!(errors.contains(word), "{name}: no {word:?} in\n{errors}");
    }
}

#[test]
fn loop_without_a_yield_is_named() {
    let words = ["thread \"culprit\" has run for 600ms", "yield_now", "backtrace", "awkward::spin"];
    assert_ends("spin", &[], &words);
}

#[test]
fn blocking_read_of_a_pipe_is_named() {
    let words = ["thread \"culprit\" waits in `read`", "give the program its input as a file"];
    assert_ends("pipe", &[], &words);
    assert_ends("pipe", &[], &["backtrace of \"culprit\"", "awkward::pipe"]);
}

#[test]
fn socket_is_refused_with_the_option_that_allows_it() {
    let output = run("socket", &[]);
    let errors = text(&output.stderr);
    assert!(errors.contains("a socket (domain 2) was refused"), "{errors}");
    assert!(errors.contains("allow that with RINGSPIN_SOCKETS=allow"), "{errors}");
    assert!(errors.contains("; uncontrolled: nothing; "), "{errors}");
    assert!(text(&output.stdout).contains("Permission denied"), "{output:?}");
    assert!(output.status.success());
}

#[test]
fn blocking_read_of_a_socket_is_named() {
    let words = ["thread \"culprit\" waits in a socket's call", "replace what is at the other end"];
    assert_ends("socket", &[("RINGSPIN_SOCKETS", "allow")], &words);
}

#[test]
fn allowed_socket_is_noted_in_the_report() {
    let output = run("bound", &[("RINGSPIN_SOCKETS", "allow")]);
    let errors = text(&output.stderr);
    assert!(errors.contains("; uncontrolled: 1 sockets; "), "{errors}");
    assert!(output.status.success());
}

#[test]
fn child_processes_are_noted_in_the_report() {
    let output = run("children", &[]);
    assert!(
        text(&output.stdout).contains("0ns main: 0\n0ns main: 0\n0ns main: true\n"),
        "{output:?}"
    );
    assert!(text(&output.stderr).contains("; uncontrolled: 3 child processes; "), "{output:?}");
}

#[test]
fn wait_for_a_child_process_is_named() {
    let words = ["thread \"culprit\" waits in a wait for a child process", "awkward::child"];
    assert_ends("child", &[], &words);
}

#[test]
fn futex_by_a_raw_system_call_is_named() {
    let words = ["thread \"culprit\" waits in a futex", "--cfg rustix_use_libc", "raw_futex"];
    assert_ends("raw-futex", &[], &words);
}

#[test]
fn deadlock_names_each_thread_and_where_it_waits() {
    let words = [
        "deadlock at 0.001000000 s",
        "thread 0 (\"main\") waits for the end of thread 2",
        "thread 1 (\"one\") waits for a lock",
        "thread 2 (\"two\") waits for a lock",
        "backtrace of \"one\"",
        "backtrace of \"two\"",
        "awkward::deadlock",
    ];
    assert_ends("deadlock", &[], &words);
    let words = ["thread 1 (\"culprit\") waits for a lock of C code", "awkward::c_deadlock"];
    assert_ends("c-deadlock", &[], &words);
    assert_ends("channel", &[], &["thread 1 (\"culprit\") waits for a lock, a channel"]);
}

#[test]
fn loop_of_threads_that_wake_each_other_is_named() {
    let run = |max| {
        let mut run = program("relay");
        run.arg("1000").env("RINGSPIN_INSTANT_SWITCHES_MAX", max).output().unwrap()
    };
    let errors = text(&run("500").stderr);
    let expected = "time does not go on at 0.000000000 s: threads ran 500 times at this instant; a \
                    loop that waits must sleep; for more work at one instant set RINGSPIN_INSTANT_";
    assert!(errors.contains(expected), "{errors}");
    assert!(errors.contains("thread 0 (\"main\") waits for a lock, a channel"), "{errors}");
    assert!(run("2000").status.success());
    // More switches in all, but few at each instant.
    let mut other = program("sensors");
    let other = other.args(["100", "3"]).env("RINGSPIN_INSTANT_SWITCHES_MAX", "10");
    assert!(other.output().unwrap().status.success());
}

#[test]
fn bad_values_in_the_environment_are_named() {
    for (name, value, expected) in [
        ("RINGSPIN_MODE", "determinstic", "use `single`, `multi` or `deterministic`"),
        ("RINGSPIN_THREADS", "virtual", "use `real` or `simulated`"),
        ("RINGSPIN_SEED", "-1", "use a whole number"),
        ("RINGSPIN_START", "today", "use whole seconds since 1970"),
        ("RINGSPIN_PROCESSORS", "0", "use a number from 1 to 1024"),
        ("RINGSPIN_PROCESSORS", "1025", "use a number from 1 to 1024"),
        ("RINGSPIN_SOCKETS", "yes", "use `allow` or `refuse`"),
        ("RINGSPIN_BLOCKED_MAX_MS", "3 s", "use a number of milliseconds"),
        ("RINGSPIN_BUSY_MAX_MS", "", "use a number of milliseconds"),
        ("RINGSPIN_INSTANT_SWITCHES_MAX", "1e6", "use a whole number"),
    ] {
        assert_ends("machine", &[(name, value)], &[&format!("{name} is {value:?}: {expected}")]);
    }
}

#[test]
fn settings_in_the_environment_are_used() {
    let variables = [("RINGSPIN_START", "1000"), ("RINGSPIN_PROCESSORS", "7")];
    let shown = text(&run("machine", &variables).stdout);
    assert!(shown.contains("SystemTime { tv_sec: 1000, tv_nsec: 0 }"), "{shown}");
    assert!(shown.contains("main: 7\n") && shown.contains("7 processors, on 0"), "{shown}");
    let random = |seed| text(&run("c-random", &[("RINGSPIN_SEED", seed)]).stdout);
    assert_ne!(random("1"), random("2"));
    let ended = run("forever", &[("RINGSPIN_DURATION", "0.0025")]);
    assert!(ended.status.success());
    assert!(text(&ended.stderr).contains("ringspin: 0.002500000 s of simulated time"), "{ended:?}");
    let real = run("machine", &[("RINGSPIN_THREADS", "real")]);
    assert_eq!(text(&real.stderr), "");
    assert!(!text(&real.stdout).contains("tv_sec: 0"));
}

#[test]
fn full_output_is_waited_for() {
    let mut command = program("output");
    let mut run = command.env("RINGSPIN_BLOCKED_MAX_MS", "100").spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let mut shown = String::new();
    run.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert_eq!(shown.lines().count(), 2002);
    assert!(run.wait().unwrap().success());
}

#[test]
fn interrupt_ends_a_run() {
    // In the end it stops by itself.
    let mut run = program("forever").env("RINGSPIN_DURATION", "10000").spawn().unwrap();
    let ready = BufReader::new(run.stdout.take().unwrap()).lines().nth(1).unwrap().unwrap();
    assert!(ready.ends_with("ready true"), "{ready}");
    // SAFETY: a process that this test has started and not waited for.
    unsafe { libc::kill(run.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(run.wait().unwrap().signal(), Some(libc::SIGINT));
}

#[test]
fn signals_that_end_a_run_have_no_handlers() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let run = program("raise").arg(signal.to_string()).output().unwrap();
        assert_eq!(run.status.signal(), Some(signal), "{run:?}");
    }
    let other = program("raise").arg(libc::SIGUSR1.to_string()).output().unwrap();
    assert!(other.status.success(), "{other:?}");
}

#[test]
fn timers_that_send_signals_and_io_uring_are_refused_with_a_way_out() {
    let errors = text(&run("clocks", &[]).stderr);
    for refused in ["`alarm`", "`setitimer`", "`timer_create`"] {
        let expected = format!("{refused} was refused: its signals come in real time; wait with");
        assert!(errors.contains(&expected), "{errors}");
    }
    assert!(errors.contains("io_uring was refused:") && errors.contains("on epoll"), "{errors}");
}

/// The watchdog has looked by then, if the machine is not slower than ten times its interval.
#[test]
fn addresses_do_not_depend_on_real_time() {
    let addresses = |millis| text(&program("late").arg(millis).output().unwrap().stdout);
    assert_eq!(addresses("0"), addresses("999"));
}

#[test]
fn output_before_the_end_of_a_stuck_run_is_kept() {
    for name in ["spin", "deadlock"] {
        assert!(text(&run(name, &[]).stdout).ends_with("main: begin\n"), "{name}");
    }
}

#[test]
fn other_signals_and_statuses_are_the_program_s() {
    let output = run("signals", &[]);
    assert!(text(&output.stdout).contains("main: exit status: 0\n"), "{output:?}");
    assert!(text(&output.stdout).contains("main: 2\n"), "{output:?}");
    assert_eq!(run("status", &[]).status.code(), Some(3));
}
