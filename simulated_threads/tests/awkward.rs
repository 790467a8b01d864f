//! A program that cannot continue under simulated time ends with a message: which thread, where it
//! waits, and the way out.

mod common;

use common::{program, run_of};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
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
fn blocking_read_of_a_pipe_from_elsewhere_is_named() {
    let mut command = program("input");
    command.env("RINGSPIN_BLOCKED_MAX_MS", "300").stdin(Stdio::piped());
    let mut run = command.spawn().unwrap();
    let input = run.stdin.take();
    let errors = text(&run.wait_with_output().unwrap().stderr);
    drop(input);
    for word in ["thread \"culprit\" waits in `read`", "give the program its input as a file"] {
        assert!(errors.contains(word), "{errors}");
    }
    assert!(errors.contains("backtrace of \"culprit\""), "{errors}");
    assert!(errors.contains("awkward::input"), "{errors}");
}

#[test]
fn read_of_a_pipe_within_the_program_that_none_writes_is_a_deadlock() {
    let words = ["deadlock at", "thread 1 (\"culprit\") waits for descriptors", "awkward::pipe"];
    assert_ends("pipe", &[], &words);
}

#[test]
fn socket_is_refused_with_the_option_that_allows_it() {
    let output = run("socket", &[]);
    let errors = text(&output.stderr);
    assert!(errors.contains("a socket (domain 1) was refused"), "{errors}");
    assert!(errors.contains("allow that with RINGSPIN_SOCKETS=allow"), "{errors}");
    assert!(errors.contains("; uncontrolled: nothing seen (not watched: "), "{errors}");
    assert!(text(&output.stdout).contains("Permission denied"), "{output:?}");
    assert!(output.status.success());
}

#[test]
fn refusals_of_one_kind_are_reported_once() {
    let output = run("sockets", &[]);
    assert_eq!(text(&output.stdout).matches("main: true").count(), 3, "{output:?}");
    assert_eq!(text(&output.stderr).matches("was refused").count(), 1, "{output:?}");
    assert!(text(&output.stderr).contains(" of the order of threads; "), "{output:?}");
}

#[test]
fn blocking_read_of_a_socket_is_named() {
    let words = ["thread \"culprit\" waits in a socket's call", "replace the other end"];
    assert_ends("socket", &[("RINGSPIN_SOCKETS", "allow")], &words);
}

#[test]
fn allowed_socket_is_noted_in_the_report() {
    let output = run("bound", &[("RINGSPIN_SOCKETS", "allow")]);
    let errors = text(&output.stderr);
    assert!(errors.contains("; uncontrolled: 1 sockets ("), "{errors}");
    assert!(output.status.success());
}

/// The lines on files that were read, in a run with these in a folder of its own.
fn files_read(content: &str) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("ringspin-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    for name in ["open", "openat", "opened", "stream"] {
        std::fs::write(folder.join(name), if name == "opened" { content } else { name }).unwrap();
    }
    let output = run("files", &[("RINGSPIN_TEST_FOLDER", folder.to_str().unwrap())]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success(), "{output:?}");
    let begin = format!("ringspin: read {}/", folder.display());
    text(&output.stderr).lines().filter_map(|l| Some(l.strip_prefix(&begin)?.into())).collect()
}

#[test]
fn files_that_are_read_are_listed_with_hashes_of_their_contents() {
    let [one, again, other] = ["1", "1", "2"].map(files_read);
    assert_eq!(one, again);
    let names: Vec<_> = one.iter().map(|line| line.split_once(", content ").unwrap().0).collect();
    assert_eq!(names, ["open", "openat", "opened", "stream"]);
    let differ: Vec<_> = (0..4).filter(|n| one[*n] != other[*n]).collect();
    assert_eq!(differ, [2], "{one:?} {other:?}");
}

#[test]
fn child_processes_are_noted_in_the_report() {
    let output = run("children", &[]);
    assert!(
        text(&output.stdout).contains("0ns main: 0\n0ns main: 0\n0ns main: true\n"),
        "{output:?}"
    );
    assert!(text(&output.stderr).contains("; uncontrolled: 3 child processes ("), "{output:?}");
}

#[test]
fn output_of_child_processes_is_waited_for_in_real_time() {
    let output = run("captured", &[]);
    assert!(output.status.success(), "{output:?}");
    let expected = "0ns main: [111, 117, 116] [101, 114, 114]\n0ns main: [105, 110]\n";
    assert!(text(&output.stdout).contains(expected), "{output:?}");
    assert!(text(&output.stderr).contains("; uncontrolled: 2 child processes ("), "{output:?}");
    let output = run("tokio-captured", &[]);
    let expected = "0ns main: [111, 117, 116] exit status: 3\n0ns main: end\n";
    assert!(text(&output.stdout).contains(expected), "{output:?}");
}

#[test]
fn time_advances_if_a_child_process_runs_for_too_long() {
    let output = run("child-timeout", &[]);
    assert!(text(&output.stdout).contains("ms main: true\n"), "{output:?}");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn forked_child_runs_in_real_time_with_its_own_number() {
    let output = run("forked", &[]);
    let expected = "main: true\n0ns main: 7\n10ms main: end\n";
    assert!(text(&output.stdout).contains(expected), "{output:?}");
    assert_eq!(text(&output.stderr).matches("digest").count(), 1, "{output:?}");
}

#[test]
fn wait_for_a_child_process_is_named() {
    let words = ["thread \"culprit\" waits in a wait for a child process", "awkward::child"];
    assert_ends("child", &[], &words);
}

/// An option of `prctl` that the libc crate does not name.
const PR_SET_SYSCALL_USER_DISPATCH: i32 = 59;

#[test]
fn futex_by_an_instruction_is_named_where_the_kernel_does_not_catch_it() {
    let mut older = program("raw-futex");
    common::refuse(&mut older, PR_SET_SYSCALL_USER_DISPATCH);
    let errors = text(&older.env("RINGSPIN_BLOCKED_MAX_MS", "300").output().unwrap().stderr);
    for word in ["thread \"culprit\" waits in a futex", "--cfg rustix_use_libc", "raw_futex"] {
        assert!(errors.contains(word), "{errors}");
    }
    let mut older = program("status");
    common::refuse(&mut older, PR_SET_SYSCALL_USER_DISPATCH);
    let errors = text(&older.output().unwrap().stderr);
    assert!(errors.contains("(not watched: inline system calls, "), "{errors}");
}

#[test]
fn system_calls_by_instructions_are_simulated() {
    if common::uncontrolled().contains("inline system calls") {
        return;
    }
    let output = run("inline", &[]);
    let lines = "0ns main: begin\n3600.005s main: 0\n3600.005s main: 8\n";
    assert!(text(&output.stdout).starts_with(lines), "{output:?}");
    let lines = " 4194305\n3600.005s main: -9\n3600.005s main: 0\n3600.006s main: 1\n\
                 3600.006s -: 1 120\n3600.007s main: 1\n3600.007s -: 0\n3600.007s main: false\n";
    assert!(text(&output.stdout).contains(lines), "{output:?}");
    assert_eq!(output.stdout, run("inline", &[]).stdout);
    assert_ends("raw-futex", &[], &["deadlock", "thread 1 (\"culprit\") waits for a lock"]);
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
    let expected = "time does not advance at 0.000000000 s: threads ran 500 times at this instant; \
                    a loop that waits must sleep; for more work at one instant set \
                    RINGSPIN_INSTANT_";
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
        ("RINGSPIN_CLOCK_STEP_NS", "1001", "use a number of nanoseconds up to 1000"),
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
    assert!(ready.ends_with("ready true true"), "{ready}");
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
fn io_uring_and_timers_that_call_functions_are_refused_with_a_way_out() {
    let errors = text(&run("signal-timers", &[]).stderr);
    assert!(errors.contains("was refused: it would do so in real time; let it signal"), "{errors}");
    let errors = text(&run("clocks", &[]).stderr);
    assert!(errors.contains("io_uring was refused:") && errors.contains("on epoll"), "{errors}");
}

/// The watchdog has looked by then, if the machine is not slower than ten times its interval.
#[test]
fn addresses_do_not_depend_on_real_time() {
    let addresses = |millis| text(&program("late").arg(millis).output().unwrap().stdout);
    assert_eq!(addresses("0"), addresses("999"));
}

/// Ends a run that would start itself anew for ever.
fn limited(mut command: Command) -> Output {
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..1000 {
        if run.try_wait().unwrap().is_some() {
            return run.wait_with_output().unwrap();
        }
        thread::sleep(Duration::from_millis(10));
    }
    run.kill().unwrap();
    panic!("{:?}", run.wait_with_output());
}

#[test]
fn program_with_its_own_setenv_starts_once_more() {
    let output = limited(run_of("own-setenv"));
    assert_eq!(text(&output.stdout), "[(\"RINGSPIN_MODE\", \"deterministic\")]\n", "{output:?}");
    assert!(text(&output.stderr).contains("; uncontrolled: nothing seen"), "{output:?}");
}

#[test]
fn program_that_the_loader_starts_is_the_one_that_runs() {
    if common::uncontrolled().contains("addresses") {
        return; // an emulator has a loader of another system
    }
    let is_x86 = cfg!(target_arch = "x86_64");
    let loader = if is_x86 { "/lib64/ld-linux-x86-64.so.2" } else { "/lib/ld-linux-aarch64.so.1" };
    let mut command = Command::new(loader);
    command.arg(common::example("programs")).arg("status").env("RINGSPIN_MODE", "deterministic");
    let output = limited(command);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(text(&output.stderr).contains("examples/programs, build id"), "{output:?}");
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

#[test]
fn child_processes_and_the_next_program_may_read_the_counter() {
    let output = run("exec", &[]);
    let statuses = "main: exit status: 0\n0ns main: exit status: 0\n0ns main: 0\n0ns main: 0\n";
    assert!(text(&output.stdout).ends_with(statuses), "{output:?}");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn handler_of_a_fault_is_the_program_s() {
    let output = run("fault", &[]);
    assert!(text(&output.stdout).ends_with("main: 7\n0ns main: true\n"), "{output:?}");
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV));
    let output = run("overflow", &[]);
    assert!(text(&output.stderr).contains("has overflowed its stack"), "{output:?}");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT));
}

#[test]
fn counter_of_cycles_shows_simulated_time() {
    let is_watched = |output: &Output| {
        assert!(output.status.success(), "{output:?}");
        !text(&output.stderr).contains("rdtsc, ")
    };
    let output = run("counter", &[]);
    if is_watched(&output) {
        let lines = "main: 86400000000000 86400000000000 [86400001000000, 86400001000000]\n\
                     4.154149ms main: loop\n\
                     4.154149ms -: [86400004154149, 86400004154149]\n";
        assert!(text(&output.stdout).contains(lines), "{output:?}");
    }
    let mut older = program("counter");
    common::refuse(&mut older, libc::PR_SET_TSC);
    assert!(!is_watched(&older.output().unwrap()));
}

#[test]
fn readings_of_clocks_differ_if_each_takes_a_step() {
    let still = text(&run("readings", &[]).stdout);
    assert!(still.contains("0ns main: false\n0ns main: false\n"), "{still}");
    let stepped = text(&run("readings", &[("RINGSPIN_CLOCK_STEP_NS", "1")]).stdout);
    assert_eq!(stepped.matches("main: true\n").count(), 3, "{stepped}");
    assert!(stepped.contains("ns main: joined\n"), "{stepped}");
    assert_eq!(stepped, text(&run("readings", &[("RINGSPIN_CLOCK_STEP_NS", "1")]).stdout));
}

#[test]
fn wait_for_a_queue_of_system_v_is_named() {
    let output = run("queue", &[]);
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    let queue = shown.lines().find_map(|line| line.strip_prefix("queue ")).unwrap();
    // SAFETY: removes the queue of the run.
    unsafe { libc::msgctl(queue.parse().unwrap(), libc::IPC_RMID, std::ptr::null_mut()) };
    let words = "thread \"culprit\" waits in a queue or a semaphore of System V";
    assert!(errors.contains(words), "{errors}");
    assert_eq!(output.status.code(), Some(101));
}

#[test]
fn only_the_copy_whose_functions_are_called_has_worlds() {
    for threads in ["real", "simulated"] {
        let output = run("plugin", &[("RINGSPIN_THREADS", threads)]);
        assert!(text(&output.stdout).contains("main: -1\n"), "{output:?}");
        assert!(text(&output.stderr).contains("link it into the program itself"), "{output:?}");
        let is_in_a_world = text(&output.stderr).contains("of simulated time in");
        assert_eq!(is_in_a_world, threads == "simulated", "{output:?}");
    }
}

/// The loader has its lock until the library is loaded, and the functions of libc are found without
/// it.
#[test]
fn threads_of_a_library_that_is_being_loaded_call_libc() {
    let variables = [("RINGSPIN_THREADS", "simulated"), ("PLUGIN_FORKS", "1")];
    let output = run("plugin", &variables);
    assert!(text(&output.stdout).contains("loaded\n"), "{output:?}");
}
