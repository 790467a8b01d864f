//! The program of the guide: one digest in every run.

use std::path::PathBuf;
use std::process::Command;

/// An example of this package, which `cargo test` has built.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join(name)
}

/// Its outputs, without the real time.
fn run(seed: &str) -> (String, String) {
    let done = Command::new(example("threads_and_tokio"))
        .env("RINGSPIN_MODE", "deterministic")
        .env("RINGSPIN_SEED", seed)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = text(done.stderr);
    let (time, rest) = said.split_once(" in ").unwrap();
    let (_, rest) = rest.split_once(" s, ").unwrap();
    (text(done.stdout), format!("{time}, {rest}"))
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
}
