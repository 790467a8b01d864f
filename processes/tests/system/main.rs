//! The command `ringspin` with programs of the machine, and with ROS 2 where one is sourced.

mod bag;
mod certificates;
mod children;
mod determinism;
mod faults;
mod injected;
mod parallel;
mod ros;
mod stack;

use std::path::Path;
use std::process::{Command, Output};

/// The folder of the command.
fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ringspin")).parent().unwrap()
}

/// Builds this, in the profile of the command.
fn build(args: &[&str]) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "--quiet"]).args(args);
    if built().ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
}

/// The programs that processes find: Python first, and no script of pyenv that would start it.
fn programs() -> &'static std::ffi::OsStr {
    static PROGRAMS: std::sync::OnceLock<std::ffi::OsString> = std::sync::OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let asks = ["-c", "import sys; print(sys.executable)"];
        let python = Command::new("python3").args(asks).output().unwrap().stdout;
        let python = std::path::PathBuf::from(String::from_utf8(python).unwrap().trim());
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::env::split_paths(&path);
        std::env::join_paths([python.parent().unwrap().into()].into_iter().chain(folders)).unwrap()
    })
}

/// The command, with these arguments.
fn ringspin(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringspin"));
    // Built with the tests, as a dependency of them.
    command.args(args).env("RINGSPIN_RMW", built().join("deps/librmw_ringspin.so"));
    command.env("PATH", programs());
    command
}

/// Its exit code, standard output and standard error, without the real time in the last line.
fn run(args: &[&str]) -> (i32, String, String) {
    results(ringspin(args).output().unwrap())
}

fn results(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let error = text(output.stderr);
    let error = match error.trim_end().rsplit_once("; ") {
        Some((before, time)) if time.ends_with(" s") => before.to_owned(),
        _ => error,
    };
    (output.status.code().unwrap_or(-1), text(output.stdout), error)
}

/// A file with this system.
fn system(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("system.yaml");
    std::fs::write(&path, text).unwrap();
    (folder, path.display().to_string())
}
