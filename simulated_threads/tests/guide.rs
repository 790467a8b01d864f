//! The programs of the guide: one digest in every run.

mod common;

use common::{example, run_of, uncontrolled};

/// The outputs of `program`, without the real time.
fn run_program(program: &str, seed: &str) -> (String, String) {
    let done = run_of(program).env("RINGSPIN_SEED", seed).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = text(done.stderr);
    let (time, rest) = said.split_once(" in ").unwrap();
    let (_, rest) = rest.split_once(" s, ").unwrap();
    (text(done.stdout), format!("{time}, {rest}"))
}

fn run(seed: &str) -> (String, String) {
    run_program("threads_and_tokio", seed)
}

/// A task of a node waits for a socket, and the program's runtime for the executor.
#[test]
fn task_that_reads_a_socket_of_tokio_is_repeatable() {
    let first = run_program("tokio_serial", "0");
    let expected = "0.000000000 s: 0 mm\n0.400000000 s: 400 mm\n0.800000000 s: 1600 mm\n50 lines \
                    until 0.980000000 s\n";
    assert_eq!(first.0, expected);
    assert!(first.1.starts_with("ringspin: 0.980000000 s of simulated time"), "{first:?}");
    (0..5).for_each(|_| assert_eq!(run_program("tokio_serial", "0"), first));
}

#[test]
fn twenty_runs_have_one_digest() {
    let first = run("0");
    assert!(first.0.contains("216 lines, 71 pauses"), "{first:?}");
    assert!(
        first
            .1
            .contains("ringspin: 5.000000000 s of simulated time, seed 0, 2 processors, 5 threads"),
        "{first:?}"
    );
    // Two at a time, so that they disturb each other.
    let all = || (0..10).for_each(|_| assert_eq!(run("0"), first));
    std::thread::scope(|scope| {
        scope.spawn(all);
        scope.spawn(all);
    });
    assert_ne!(run("1"), first);
    let path = example("threads_and_tokio");
    let (_, facts) = first.1.split_once(uncontrolled()).expect("a certificate");
    let (program, kernel) = facts.trim_end().split_once("; ").unwrap();
    let id = program.strip_prefix(&format!("{}, build id ", path.display())).expect("a build id");
    assert!(id.len() >= 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let expected = format!("Linux {} {}", release.trim(), std::env::consts::ARCH);
    assert_eq!(kernel, expected);
}
