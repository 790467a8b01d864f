//! The command line: output, files and exit codes. No test depends on timing.

mod bench;
mod determinism;
mod interrupt;
mod optimize;
mod run;
mod small;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reference-system"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn output(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// The stdout of a successful call.
pub(crate) fn stdout(arguments: &[&str]) -> String {
    let output = output(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The report of a run with these options.
pub(crate) fn report(options: &str) -> Value {
    let line = format!("run {options} --json -");
    serde_json::from_str(&stdout(&line.split(' ').collect::<Vec<_>>())).unwrap()
}

/// The line `digest: <32 hexadecimal digits>` of a deterministic run with these options.
pub(crate) fn digest(options: &str) -> String {
    let line = format!("run --mode deterministic {options}");
    let text = stdout(&line.split(' ').collect::<Vec<_>>());
    let mut digests = text.lines().filter_map(|line| line.strip_prefix("digest: "));
    let digest = digests.next().unwrap_or_else(|| panic!("no digest in {text}")).to_owned();
    assert_eq!(digests.next(), None);
    assert!(digest.len() == 32 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{digest}");
    digest
}

pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
