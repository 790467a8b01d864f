//! Faults, and orders of threads, that a system, a schedule or an exploration injects.

use super::{ros, run, system};

/// Works with a lock file, which is left if it is killed meanwhile.
const WORKER: &str = "import os, sys, time
lock = sys.argv[1]
assert not os.path.exists(lock), 'locked'
open(lock, 'w').close()
print('begins')
time.sleep(1)
time.sleep(2)
os.remove(lock)
print('ends')
";

/// A system with such a worker, and with `more`.
fn worker(more: &str) -> (tempfile::TempDir, String) {
    let (folder, path) = system("");
    let text = format!(
        "for: 20 s
processes:
  - {{ name: init, command: rm -f lock }}
  - {{ name: worker, command: python3 worker.py lock, start: 1 ms }}
  - {{ name: other, command: [sleep, '9'] }}
{more}"
    );
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("worker.py"), WORKER).unwrap();
    (folder, path)
}

/// The schedule in the line that repeats a run.
fn schedule(out: &str) -> &str {
    let rest = out.split("run --schedule ").nth(1).expect(out);
    rest.split(' ').next().unwrap().trim_matches('\'')
}

#[test]
fn a_killed_process_starts_again_and_all_runs_are_equal() {
    let (_folder, path) = worker("fault: [{ kill: { process: worker, at: 4 s, restart: 1 s } }]");
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("fault 1 (kill of worker at 4s): it does not run then"), "{error}");

    let (_folder, path) = worker("fault: [{ kill: { process: worker, at: 2 s, restart: 1 s } }]");
    let (code, out, error) = run(&["verify", &path]);
    assert_eq!(code, 1, "{error}");
    assert_eq!(out.matches("[0.001000000 s worker] begins").count(), 3, "{out}");
    assert_eq!(error.matches("worker ended at 3.000000000 s").count(), 3, "{error}");

    let (_folder, path) = worker("fault: [{ loss: { from: init, to: other, message: 3 } }]");
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 2, "{error}");
    let loss = "fault 1 (loss of message 3 from init to other): there is no such message";
    assert!(error.contains(loss), "{error}");

    let (_folder, path) = worker("fault: [{ kill: { process: worker, at: 2 s } }]");
    let (code, _, error) = run(&["run", &path]);
    assert_eq!(code, 0, "{error}");
    assert!(error.starts_with("9.000000000 s up to the end of all processes"), "{error}");
}

#[test]
fn a_schedule_delays_starts_and_kills_before_a_turn() {
    let (_folder, path) = worker("");
    let (code, _, error) = run(&["run", "--schedule", "k1.1,d2+0.5", &path]);
    assert_eq!(code, 0, "{error}");
    assert!(error.starts_with("9.500000000 s up to the end of all processes"), "{error}");
    let (code, _, error) = run(&["run", "--schedule", "k1.1,k1.4,d7+1", &path]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("these entries of the schedule: k1.4,d7+1;"), "{error}");
    let (code, _, error) = run(&["run", "--schedule", "k1", &path]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("`k1` is not a deviation"), "{error}");
}

#[test]
fn a_process_that_cannot_restart_is_found_and_shrunk_to_the_kill() {
    let (_folder, path) = worker("");
    let (code, out, error) = run(&["explore", "--seeds", "0..10", &path]);
    assert_eq!(code, 0, "{out}{error}");
    let faults = "restart,late,kill:other";
    let (code, out, error) = run(&["explore", "--faults", faults, "--seeds", "0..20", &path]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("\n1 of "), "{out}");
    assert!(out.contains("\n  worker killed at 1.001000000 s, started again 1s later\n"), "{out}");
    for _ in 0..2 {
        let (code, _, error) = run(&["run", "--schedule", schedule(&out), &path]);
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("AssertionError: locked"), "{error}");
    }
    for (faults, problem) in [("kill:x", "`x`, which is no process"), ("kil", "`kil` is no fault")]
    {
        let (code, _, error) = run(&["explore", "--faults", faults, &path]);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(problem), "{error}");
    }
}

/// A duration by the clock of the calendar fails once that is set back.
#[test]
fn a_process_that_cannot_bear_a_jump_of_its_clock_is_found() {
    let code = "import time
before = time.time()
for _ in range(40):
    time.sleep(0.1)
    assert before <= time.time(), 'time goes back'
    before = time.time()";
    let steady = code.replace("time.time()", "time.monotonic()");
    let (_folder, path) = system(&format!(
        "processes:\n  - {{ name: steady, command: [python3, -c, {steady:?}] }}\n  - {{ name: \
         lamp, command: [python3, -c, {code:?}] }}\n"
    ));
    let args = ["explore", "--faults", "clock,late", "--seeds", "0..20", &path];
    let (code, out, error) = run(&args);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("\n1 of ") && out.contains("\n  the clock of lamp jumps by -"), "{out}");
    for _ in 0..2 {
        let (code, _, error) = run(&["run", "--schedule", schedule(&out), &path]);
        assert!(code == 1 && error.contains("AssertionError: time goes back"), "{error}");
    }
    let (code, _, error) = run(&["run", "--schedule", "j5@1-1", &path]);
    assert!(code == 2 && error.contains("j5@1-1"), "{error}");
}

/// The fault makes a process wait for ever.
#[test]
fn a_run_that_does_not_end_is_found() {
    let code = "import os, sys, time
if sys.argv[1] == 'clean': os.path.exists('made') and os.remove('made')
if sys.argv[1] == 'make': time.sleep(1); open('made', 'w').close()
while sys.argv[1] == 'wait' and not os.path.exists('made'): time.sleep(0.1)
";
    let (folder, path) = system(
        "for: 5 s
end: wait
processes:
  - { name: clean, command: python3 a.py clean }
  - { name: make, command: python3 a.py make, start: 1 ms }
  - { name: wait, command: python3 a.py wait, start: 1 ms }
",
    );
    std::fs::write(folder.path().join("a.py"), code).unwrap();
    let args = ["explore", "--faults", "kill:make,late:wait", "--seeds", "0..20", &path];
    let (code, out, error) = run(&args);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("wait has not ended at 5.000000000 s"), "{out}");
    assert!(out.contains("\n1 of ") && out.contains("\n  make killed at 1.001"), "{out}");
    let (code, _, error) = run(&["run", "--schedule", schedule(&out), &path]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("wait has not ended at 5.000000000 s"), "{error}");
}

/// Systems of two rclpy processes, `sent` and `tested`, that fail by one fault only.
#[test]
#[ignore = "needs rclpy"]
fn a_bug_that_needs_one_fault_is_found_shrunk_and_repeated() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/fragile.py");
    let sensor = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system/sensor.py");
    for (processes, faults, cause, problem) in [
        (
            [
                format!("server, command: python3 {script} server"),
                format!("client, command: python3 {script} client"),
            ],
            "restart:server,late",
            ["server killed at ", ", started again 1s later"],
            "AssertionError: no response",
        ),
        (
            [
                format!("lidar, command: python3 {sensor} lidar"),
                format!("counter, command: python3 {script} counter"),
            ],
            "loss,late:lidar",
            ["message ", " of lidar on /lidar lost for counter"],
            "AssertionError: a message is missing",
        ),
    ] {
        let [one, two] = processes;
        let text = format!("for: 5 s\nprocesses:\n  - {{ name: {one} }}\n  - {{ name: {two} }}\n");
        let (_folder, path) = system(&text);
        let (code, out, error) =
            ros::run(&["explore", "--faults", faults, "--seeds", "0..30", &path]);
        assert_eq!(code, 1, "{out}{error}");
        assert!(out.contains("\n1 of "), "{out}");
        assert!(cause.iter().all(|part| out.contains(part)), "{out}");
        let again = ["run", "--schedule", schedule(&out), &path];
        let digests: Vec<_> = (0..2)
            .map(|_| {
                let (code, out, error) = ros::run(&again);
                assert_eq!(code, 1, "{out}{error}");
                assert!(error.contains(problem), "{out}{error}");
                error.split("digest ").nth(1).unwrap()[..16].to_owned()
            })
            .collect();
        assert_eq!(digests[0], digests[1]);
    }
}

#[test]
#[ignore = "needs rclpy"]
fn messages_are_lost_by_index_and_by_partitions() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/system");
    let heard = |fault: &str| {
        let text = format!(
            "for: 0.75 s
processes:
  - {{ name: ear, command: python3 {folder}/listener.py }}
  - {{ name: lidar, command: python3 {folder}/sensor.py lidar }}
fault:
  - {fault}
"
        );
        let (_folder, path) = system(&text);
        let (code, out, error) = ros::run(&["run", &path]);
        let number = |line: &str| line.split_once("message ").unwrap().1[..1].parse().unwrap();
        (code, error, out.lines().map(number).collect::<Vec<u32>>())
    };
    let (code, error, numbers) = heard("loss: { from: lidar, to: ear, message: 2 }");
    assert_eq!((code, &numbers[..]), (0, &[1, 2, 4, 5, 6, 7][..]), "{error}");
    let cut = "partition: { between: [/listener, lidar], since: 250 ms, until: 450 ms }";
    let (code, error, numbers) = heard(cut);
    assert_eq!((code, &numbers[..]), (0, &[1, 2, 5, 6, 7][..]), "{error}");
    let (code, error, _) = heard("partition: { between: [/nose, lidar] }");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("fault 1 (partition between /nose and lidar): no message"), "{error}");
}

#[test]
fn the_clock_of_the_calendar_jumps_and_the_monotonic_one_does_not() {
    let code = "import ctypes, threading, time
lock = threading.Lock()
lock.acquire()
def show(): print(time.time_ns() // 1000000, (time.monotonic_ns() // 1000000) % 86400000)
for _ in range(3): show(); time.sleep(2)
lock.acquire(timeout=1.0)
show()
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(32)
libc.sem_init(semaphore, 0, 0)
libc.sem_timedwait(semaphore, (ctypes.c_long * 2)(time.time_ns() // 10**9 + 1, 0))
show()
";
    let (folder, path) = system(
        "processes: [{ name: a, command: python3 a.py, start: 10 s }]
fault:
  - clock: { process: a, at: 11 s, by: 5 s }
  - clock: { process: a, at: 13 s, by: -3 s }
",
    );
    std::fs::write(folder.path().join("a.py"), code).unwrap();
    let (code, out, error) = run(&["run", &path]);
    assert_eq!(code, 0, "{out}{error}");
    let readings: Vec<_> = out.lines().map(|line| line.split("] ").nth(1).unwrap()).collect();
    let expected = ["10000 10000", "17000 12000", "16000 14000", "19000 17000", "20000 18000"];
    assert_eq!(readings, expected);
}

/// Adds to a number in two threads. Python's lock is free while a thread prints.
const ADDERS: &str = "import sys, threading
count = 0
def add():
    global count
    for _ in range(2):
        before = count
        print('adds', flush=True)
        count = before + 1
threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(0 if count == 4 else f'the count is {count}')
";

#[test]
fn a_bug_that_needs_another_order_of_threads_is_found_shrunk_and_repeated() {
    let (folder, path) = system(
        "processes: [{ name: a, command: sleep 1 }, { name: add, command: python3 add.py }]\n",
    );
    std::fs::write(folder.path().join("add.py"), ADDERS).unwrap();
    let (code, out, error) = run(&["explore", "--seeds", "2..20", &path]);
    assert!(code == 1 && out.contains("add ended at 0.000000000 s"), "{out}{error}");
    assert!(out.contains(": thread ") && out.contains(" in add\n"), "{out}");
    let schedule = schedule(&out);
    assert!(schedule.starts_with("h1@0:") && !schedule.contains('t'), "{out}");
    let (code, _, failed) = run(&["run", "--schedule", schedule, &path]);
    assert!(code == 1 && failed.contains("the count is"), "{failed}");
    let digest = |error: &str| error.split("digest ").nth(1).expect(error)[..16].to_owned();
    let (_, _, again) = run(&["run", "--schedule", schedule, &path]);
    assert_eq!(digest(&failed), digest(&again));
    let (code, _, error) = run(&["run", "--schedule", "h1@0:9999>1", &path]);
    assert!(code == 2 && error.contains("h1@0:9999>1"), "{error}");

    // With the usual order of threads, the run is that without an exploration.
    let (_, _, usual) = run(&["run", &path]);
    let (code, _, same) = run(&["run", "--schedule", "", &path]);
    assert_eq!((code, same), (0, usual));
}
