//! A program that is built with instrumented atomic operations: bugs between two steps of plain
//! code are found, and repeated from the schedule.

use ringspin_planted_bugs::PROGRAMS;
use ringspin_simulated_threads::Settings;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The flags that the guide gives.
const FLAGS: &str =
    "--cfg ringspin_instrumented -Cpasses=tsan -Cllvm-args=-tsan-instrument-func-entry-exit=0";

/// Bugs that an exploration of the plain program misses, and a part of their failures.
const MISSED: [(&str, &str); 4] = [
    ("three-lock deadlock", "deadlock"),
    ("lost wake-up", "deadlock"),
    ("check-then-act", "taken twice"),
    ("lock upgrade", "an update was lost"),
];

/// Builds the planted bugs with the flags, in a folder beside that of this build.
fn build() -> PathBuf {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instrumented");
    let status = Command::new(env!("CARGO"))
        .current_dir(workspace)
        .args(["build", "--quiet", "--locked", "--offline", "-p", "ringspin-planted-bugs"])
        .args(["--target", &target, "--target-dir"])
        .arg(&folder)
        .env("RUSTFLAGS", FLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .unwrap();
    assert!(status.success(), "the planted bugs are not built");
    folder.join(target).join("debug/ringspin-planted-bugs")
}

fn start(program: &Path, arguments: &[&str], schedule: Option<&str>) -> (Output, String) {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("RINGSPIN_SCHEDULE").env_remove("RINGSPIN_MODE");
    command.envs(schedule.map(|schedule| ("RINGSPIN_SCHEDULE", schedule)));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

#[test]
#[ignore = "builds a program and its dependencies with other flags"]
fn slow_instrumented_program_shows_bugs_that_the_plain_one_hides() {
    let program = build();
    for (name, failure) in MISSED {
        let plain = PROGRAMS.iter().find(|(other, _)| *other == name).unwrap().1;
        Settings { seed: 300, ..Settings::default() }.explore(300, plain).unwrap();

        let (output, found) = start(&program, &[name], None);
        assert_eq!(output.status.code(), Some(1), "{name}: {found}");
        assert!(found.contains(failure), "{name}: {found}");
        let (_, schedule) = found.split_once("RINGSPIN_SCHEDULE='").unwrap();
        let schedule = schedule.split_once('\'').unwrap().0;
        for _ in 0..10 {
            let (output, repeated) = start(&program, &[name], Some(schedule));
            assert_eq!(output.status.code(), Some(1), "{name}, {schedule}: {repeated}");
            assert!(repeated.contains(failure) && repeated.contains("in run 1;"), "{repeated}");
        }
    }
}

/// Each atomic operation has its usual result, in a world and outside.
#[test]
#[ignore = "builds a program and its dependencies with other flags"]
fn slow_instrumented_atomics_keep_their_results() {
    let program = build();
    for arguments in [["live", "operations"], ["world", "operations"]] {
        let (output, _) = start(&program, &arguments, None);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
    }
}
