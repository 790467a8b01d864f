//! The programs that tests start.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The example `programs`, which cargo builds beside the tests, under simulated time.
pub(crate) fn program(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = folder.join("examples/programs");
    assert!(program.exists(), "`cargo test -p ringspin-simulated-threads` builds it");
    // Under emulation: the emulator and its arguments.
    let runner = std::env::var("RINGSPIN_TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).arg(name).env("RINGSPIN_MODE", "deterministic");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
