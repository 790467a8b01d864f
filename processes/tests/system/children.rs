//! Children of processes, which are processes of the run.

use super::{run, system};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/system/children.py");

/// Five equal runs, with what Python, libc and asyncio do with children, and when. The last child
/// would live on, and is ended with its parent.
#[test]
fn children_take_their_turns() {
    let (code, out, error) = run(&["verify", "--runs", "5", "--", "python3", SCRIPT]);
    assert_eq!(code, 0, "{out}{error}");
    let first = &out[..out.len() / 5];
    assert_eq!(out, first.repeat(5));
    for line in [
        "output hello at 0.0",
        "parent True at 0.0",
        "line b'now\\n' at 1.0",
        "status 3 at 2.0",
        "terminated -15 at 2.5",
        "timeout at 4.5",
        "killed -9 at 4.5",
        "handled 5 at 5.5",
        "pipeline x999 at 5.5",
        "written 100000 at 5.5",
        "asyncio b'in' 0 at 6.5",
        "popen b'of the shell\\n' 4 at 7.5",
        "system 6 at 8.5",
        "fork True at 9.5",
        "ended (0, 0) 7 at 10.5",
        "orphan at 11.5",
        "closed b'' at 12.5",
        "killed 9 at 12.5",
        "first True True at 13.0",
        "group -15 None at 13.5",
        "calls [17] at 14.0",
        "signal at 15.0",
        "spawned True at 17.0",
        "No child processes at 17.0",
        "No such file or directory at 17.0",
    ] {
        assert!(first.contains(&format!("] {line}\n")), "{line}: {first}");
    }
    assert!(error.contains(" 17.0"), "{error}");
    assert!(!lives(b"sleep\x0098765\0"));
}

/// Whether a program runs that was started by these words.
fn lives(words: &[u8]) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let mut commands = all.filter_map(|of| std::fs::read(of.path().join("cmdline")).ok());
    commands.any(|command| command == words)
}

/// The processes of Python's `multiprocessing`, with locks in shared memory, Unix sockets (also to
/// pass descriptors on), and a script that does not end with its last program.
#[test]
fn processes_of_multiprocessing_share_locks_and_sockets() {
    let code = "import multiprocessing, multiprocessing.connection, os, sys, time
def square(x):
    time.sleep(0.01)
    return x * x
def put(queue): queue.put(os.getpid() > 0)
def talk(address, known):
    known['child'] = 4
    with multiprocessing.connection.Client(address) as client:
        client.send(client.recv() + 1)
if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(2) as pool: print(pool.map(square, range(5)))
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=put, args=(queue,))
    child.start()
    print(queue.get(), child.join())
    with multiprocessing.Manager() as manager, multiprocessing.connection.Listener() as listener:
        known = manager.dict()
        child = multiprocessing.Process(target=talk, args=(listener.address, known))
        child.start()
        with listener.accept() as client:
            client.send(6)
            print(os.path.basename(listener.address)[:9], client.recv(), child.join(), known)
";
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("children.py").display().to_string();
    std::fs::write(&script, code).unwrap();
    for method in ["fork", "spawn", "forkserver"] {
        let shell = format!("python3 -W ignore {script} {method}; echo ended with $?");
        let mut commands = vec![vec!["python3", "-W", "ignore", &script, method]];
        if method == "fork" {
            commands.push(vec!["sh", "-c", &shell]);
        }
        for command in commands {
            let (code, out, error) = run(&[&["verify", "--runs", "3", "--"], &*command].concat());
            assert_eq!(code, 0, "{out}{error}");
            assert!(out.contains("] [0, 1, 4, 9, 16]\n"), "{out}{error}");
            assert!(out.contains("] True None\n"), "{out}{error}");
            assert!(out.contains("] listener- 7 None {'child': 4}\n"), "{out}{error}");
            assert_eq!(out.contains("] ended with 0\n"), command[0] == "sh", "{out}{error}");
            assert!(out.lines().all(|line| line.starts_with("[0.03")), "{out}");
        }
    }
}

/// Jobs, pipes, signals and variables of a script as launch files have them.
#[test]
fn a_shell_waits_in_simulated_time() {
    let script = "trap 'echo got it; exit 0' TERM
sleep 2 && echo two &
sleep 1 && echo one &
wait
x=$(sleep 1; seq 20000 | grep -c 7)
echo $x
env -i sh -c 'sleep 1; echo clean'
LD_PRELOAD=libm.so.6 sh -c 'sleep 1; echo math'
(sleep 1; kill $$) &
sleep 9
";
    let group = "trap 'echo ends' EXIT
sleep 30 & (sleep 40; echo never) & python3 -c 'import time; time.sleep(50)' &
sleep 16; trap '' TERM; kill 0; wait; echo $?";
    let ends = "trap 'echo first; exit 0' TERM
(trap 'echo second; exit 4' TERM; sleep 9 & wait; echo never) &
sleep 0.5; kill 0; echo never";
    let (_folder, path) = system(&format!(
        "processes:\n  - {{ name: a, command: [bash, -c, {script:?}] }}\n  - {{ name: b, command: \
         [bash, -c, {group:?}] }}\n  - {{ name: c, command: [bash, -c, {ends:?}] }}\n"
    ));
    let (code, out, error) = run(&["verify", "--runs", "4", &path]);
    assert_eq!(code, 0, "{out}{error}");
    let expected = "[0.500000000 s c] second\n[0.500000000 s c] first\n\
                    [1.000000000 s a] one\n[2.000000000 s a] two\n[3.000000000 s a] 6878\n\
                    [4.000000000 s a] clean\n[5.000000000 s a] math\n[14.000000000 s a] got it\n\
                    [16.000000000 s b] 0\n[16.000000000 s b] ends\n";
    assert!(out.starts_with(expected), "{out}{error}");
    assert!(error.contains("16.000000000 s up to the end of all processes"), "{error}");
}

/// Timers that send signals, also in `timeout`; a program that is started with a list of arguments,
/// and one that opens `/dev/urandom` by a function of fortified code.
#[test]
fn signals_of_timers_come_in_simulated_time() {
    let shell = "timeout 2 sleep 10; echo $?
timeout -k 1 2 sh -c 'trap : TERM; sleep 30; sleep 30'; echo $?
timeout 5 sleep 1; echo $?
awk 'BEGIN { \"sleep 1; date +%s\" | getline d; print d }'
perl -e 'print rand(), \"\\n\"'";
    let python = "import signal, threading, time
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.25)
time.sleep(1.1)
signal.setitimer(signal.ITIMER_REAL, 0)
signal.alarm(3)
signal.pause()
signal.signal(signal.SIGALRM, lambda *_: exit('late'))
signal.alarm(2)
threading.Event().wait(100)";
    let (_folder, path) = system(&format!(
        "processes:\n  - {{ name: a, command: [sh, -c, {shell:?}] }}\n  - {{ name: b, command: \
         [python3, -c, {python:?}] }}\n  - {{ name: c, command: [perl, -e, 'alarm 8; sleep 20'] \
         }}\n"
    ));
    let (code, out, error) = run(&["verify", "--runs", "3", &path]);
    assert_eq!(code, 1, "{out}{error}");
    let has = |line: &str| assert!(out.contains(line), "{line}: {out}{error}");
    for time in ["0.500", "0.750", "1.000", "4.100"] {
        has(&format!("[{time}000000 s b] alarm\n"));
    }
    for line in ["2.000000000 s a] 124", "5.000000000 s a] 137", "6.000000000 s a] 0"] {
        has(&format!("[{line}\n"));
    }
    has("[7.000000000 s a] 7\n"); // of the command in awk
    assert!(error.contains("[6.100000000 s b] late\n"), "{error}");
    assert!(!error.contains("differs") && !error.contains("refused"), "{error}");
    let ended = "b ended at 6.100000000 s: exit status: 1\n\
                 c ended at 8.000000000 s: signal: 14 (SIGALRM)";
    assert!(error.contains(ended), "{error}");
}

/// Locks of files order processes: of `flock`, also with a timeout, and those of POSIX.
#[test]
fn processes_wait_for_locks_of_files() {
    let python = "import fcntl, sys, time
file = open('lock', 'w')
time.sleep(float(sys.argv[1]))
fcntl.lockf(file, fcntl.LOCK_EX)
print('has it')
time.sleep(1)
fcntl.lockf(file, fcntl.LOCK_UN)";
    let (_folder, path) = system(&format!(
        "processes:
  - {{ name: a, command: [sh, -c, 'exec flock other sleep 2'] }}
  - {{ name: b, command: [sh, -c, 'sleep 0.5; flock other echo mine'] }}
  - {{ name: c, command: [sh, -c, 'sleep 0.6; flock -w 1 other echo; echo $?'] }}
  - {{ name: d, command: [python3, -c, {python:?}, '0'] }}
  - {{ name: e, command: [python3, -c, {python:?}, '0.25'] }}
  - {{ name: f, command: [python3, -c, {python:?}, '0.5'] }}
fault: [{{ kill: {{ process: e, at: 1.5 s }} }}]
"
    ));
    let (code, out, error) = run(&["verify", "--runs", "3", &path]);
    assert_eq!(code, 0, "{out}{error}");
    let expected = "[0.000000000 s d] has it\n[1.000000000 s e] has it\n[1.500000000 s f] has it\n\
                    [1.600000000 s c] 1\n[2.000000000 s b] mine\n";
    assert!(out.starts_with(expected), "{out}{error}");
}

/// A kill ends the children as well; the next start has others.
#[test]
fn children_end_with_a_process_that_a_fault_kills() {
    let code = "import subprocess, time
child = subprocess.Popen(['sleep', '98766'])
print(child.pid)
time.sleep(3)";
    let (folder, path) = system(&format!(
        "processes:\n  - {{ name: a, command: [python3, -c, {code:?}] }}\n  - {{ name: b, command: \
         sleep 1 }}\nfault: [{{ kill: {{ process: a, at: 2 s, restart: 1 s }} }}]\n"
    ));
    let (code, out, error) = run(&["verify", "--runs", "3", &path]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.starts_with("[0.000000000 s a] 4227073\n[3.000000000 s a] 4292609\n"), "{out}");
    assert!(error.contains("6.000000000 s up to the end of all processes"), "{error}");
    assert!(!lives(b"sleep\x0098766\0"));
    let log = folder.path().join("log").display().to_string();
    run(&["run", "--log", &log, &path]);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("2.000000000 s a is killed by a fault\n2.000000000 s a/2 ends\n"),
        "{log}"
    );
}
