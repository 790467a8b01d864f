//! The programs that tests start.

#![allow(dead_code, reason = "each test uses some of it")]

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An example of this package: of the build in the folder `RINGSPIN_TEST_EXAMPLES`, otherwise the
/// one that cargo builds beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("RINGSPIN_TEST_EXAMPLES").map(PathBuf::from).unwrap_or_else(|| {
            let test = std::env::current_exe().unwrap();
            test.ancestors().nth(2).unwrap().join("examples")
        });
    let example = folder.join(name);
    assert!(example.exists(), "`cargo test -p ringspin-simulated-threads` builds {name}");
    example
}

/// The emulator and its arguments, if there is one.
fn emulator() -> Option<String> {
    std::env::var("RINGSPIN_TEST_RUNNER").ok().filter(|runner| !runner.is_empty())
}

/// The part of a report that says what is uncontrolled in a run without sockets and children.
/// Emulators keep addresses random.
pub(crate) fn uncontrolled() -> &'static str {
    if emulator().is_some() { "; uncontrolled: addresses; " } else { "; uncontrolled: nothing; " }
}

/// Whether a program depends on addresses, which are random.
pub(crate) fn is_random(name: &str) -> bool {
    let depends = matches!(name, "addresses" | "hash-order") || name.starts_with("parking-lot");
    depends && emulator().is_some()
}

/// Starts a program, in the emulator if there is one.
pub(crate) fn command(program: PathBuf) -> Command {
    let emulator = emulator().unwrap_or_default();
    let mut words = emulator.split_whitespace().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// A run of an example under simulated time.
pub(crate) fn run_of(name: &str) -> Command {
    let mut command = command(example(name));
    command.env("RINGSPIN_MODE", "deterministic");
    command
}

/// A run of one of the example `programs`.
pub(crate) fn program(name: &str) -> Command {
    let mut command = run_of("programs");
    command.arg(name);
    let use_default = || {
        // A shell has commands in the background ignore SIGINT, and `nohup` has them ignore SIGHUP.
        for signal in [libc::SIGINT, libc::SIGHUP] {
            // SAFETY: takes numbers.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the function calls only what a signal handler may.
    unsafe { command.pre_exec(use_default) };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
